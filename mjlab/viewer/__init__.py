"""Viewers of a policy: a player that steps the worlds, and the displays."""

import importlib
from typing import TYPE_CHECKING, Any

from mjlab.extras import missing

if TYPE_CHECKING:
    from mjlab.viewer.drive import VelocityDrive as VelocityDrive
    from mjlab.viewer.marks import add_velocities as add_velocities
    from mjlab.viewer.native import NativeViewer as NativeViewer
    from mjlab.viewer.player import Player as Player
    from mjlab.viewer.player import PolicyMenu as PolicyMenu
    from mjlab.viewer.player import ViewerError as ViewerError
    from mjlab.viewer.policy_video import PolicyVideo as PolicyVideo
    from mjlab.viewer.policy_video import record_video as record_video
    from mjlab.viewer.teleop import TeleopPolicy as TeleopPolicy
    from mjlab.viewer.web import WebViewer as WebViewer

_LAZY = {
    "TeleopPolicy": "teleop",
    "VelocityDrive": "drive",
    "PolicyVideo": "policy_video",
    "record_video": "policy_video",
    "add_velocities": "marks",
    "NativeViewer": "native",
    "Player": "player",
    "PolicyMenu": "player",
    "ViewerError": "player",
    "WebViewer": "web",
}


def __getattr__(name: str) -> Any:
    """Import a part at its first use: each viewer needs its own extra."""
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        module = importlib.import_module(f"{__name__}.{_LAZY[name]}")
    except ModuleNotFoundError as error:
        if error.name in ("viser", "mjviser"):
            from mjlab.viewer.player import ViewerError

            raise ViewerError(
                missing("The web viewer", error.name, "viewer")
            ) from error
        raise
    return getattr(module, name)
