"""Camera sensors, and image observations of vision-based policies."""

from collections.abc import Mapping

from mjlab.envs import mdp
from mjlab.managers import (
    EventTermCfg,
    ObservationGroupCfg,
    ObservationTermCfg,
    SceneEntityCfg,
)
from mjlab.mdp.randomize.distributions import Range
from mjlab.render import RayRendererCfg, camera_bytes, camera_depth, camera_mask
from mjlab.sensor import CameraSensorCfg
from mjlab.sensor.camera import DataType

EYE = "eye"
"""Name of the camera sensor."""

CAMERA = "camera"
"""Name of the observation group with the camera's images."""

PIXELS = 32
"""Width and height of an image, in pixels."""

WRIST = "camera_d405"
"""Camera mounted on the arm."""


def eye(
    *data_types: DataType, farthest: float = 20.0, **place: object
) -> CameraSensorCfg:
    """Return a camera sensor of 32 by 32 pixels.

    Args:
        *data_types: Data types to render.
        farthest: Maximum depth, m. Smaller values increase the contrast.
        **place: Fields of `CameraSensorCfg` that define the camera's pose.
    """
    return CameraSensorCfg(
        name=EYE,
        width=PIXELS,
        height=PIXELS,
        data_types=data_types,
        max_distance=farthest,
        renderer=RayRendererCfg(),
        **place,  # type: ignore[arg-type]
    )


def depth(farthest: float) -> ObservationTermCfg:
    """Return the observation of a depth image, white at `farthest`, m."""
    seen = {"sensor_name": EYE, "cutoff": farthest, "as_bytes": True}
    return ObservationTermCfg(func=camera_depth, params=seen)


def colors() -> ObservationTermCfg:
    """Return the observation of a colour image."""
    return ObservationTermCfg(func=camera_bytes, params={"sensor_name": EYE})


def mask(entity: str) -> ObservationTermCfg:
    """Return the observation of a mask image, white where the entity is visible."""
    seen = {"sensor_name": EYE, "asset_cfg": SceneEntityCfg(entity), "as_bytes": True}
    return ObservationTermCfg(func=camera_mask, params=seen)


def seeing(
    groups: dict[str, ObservationGroupCfg | None],
    pictures: Mapping[str, ObservationTermCfg],
    *,
    instead_of: tuple[str, ...],
    **more: ObservationTermCfg,
) -> dict[str, ObservationGroupCfg | None]:
    """Return groups with images for the actor; the critic keeps the state terms.

    Args:
        groups: Groups "actor" and "critic".
        pictures: Terms that form the channels of one image.
        instead_of: State terms to remove from the actor.
        **more: Terms to add to the actor.
    """
    actor = groups["actor"]
    assert actor is not None
    kept = {name: term for name, term in actor.terms.items() if name not in instead_of}
    return {
        **groups,
        "actor": ObservationGroupCfg(terms={**kept, **more}, enable_corruption=True),
        CAMERA: ObservationGroupCfg(terms={**pictures}, concatenate_dim=0),
    }


def wrist_variety() -> dict[str, EventTermCfg | None]:
    """Return startup events that randomise the wrist camera's pose and focal length.

    The ranges correspond to the errors of a calibrated camera. One degree displaces the
    cube in the image by about half a centimetre.
    """
    draws: dict[str, tuple[type, Range]] = {
        "camera_pos": (mdp.randomize.cam_pos, (-0.002, 0.002)),
        "camera_turn": (mdp.randomize.cam_quat, (-0.005, 0.005)),
        "camera_focus": (mdp.randomize.cam_intrinsic, (0.99, 1.01)),
    }
    camera = SceneEntityCfg("robot", camera_names=(WRIST,))
    return {
        name: EventTermCfg(
            func=term, mode="startup", params={"asset_cfg": camera, "ranges": bounds}
        )
        for name, (term, bounds) in draws.items()
    }


def lamp_variety() -> dict[str, EventTermCfg | None]:
    """Return startup events that randomise the lamp's position and colour."""
    draws: dict[str, tuple[type, Range]] = {
        "lamp_pos": (mdp.randomize.light_pos, (-0.3, 0.3)),
        "lamp_color": (mdp.randomize.light_diffuse, (0.4, 0.9)),
    }
    lamp = SceneEntityCfg("table", light_names=("lamp",))
    return {
        name: EventTermCfg(
            func=term, mode="startup", params={"asset_cfg": lamp, "ranges": bounds}
        )
        for name, (term, bounds) in draws.items()
    }
