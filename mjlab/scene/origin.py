"""Frame that the camera of a view follows."""

from enum import Enum, auto


class OriginType(Enum):
    """Frame that the camera of a view follows."""

    AUTO = auto()
    """The view's `entity`, if set; else `lookat`, if it is not the origin; else the
    entity of the first body with a joint."""

    WORLD = auto()
    """The world frame: the camera looks at `lookat`, and follows no entity."""

    ASSET_ROOT = auto()
    """The root body of `entity`."""

    ASSET_BODY = auto()
    """The body `body` of `entity`."""
