"""Contract entries of cameras: pose, intrinsics and image format."""

from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor

from mjlab import mdp
from mjlab.managers.managed_env import ManagedEnv
from mjlab.managers.term import BoundTerm
from mjlab.render import camera_bytes, camera_depth, camera_mask, depth_frame
from mjlab.sensor import CameraSensor
from mjlab.sensor.patterns import camera_intrinsics
from mjlab.sensor.vision import NEAR

CHANNELS: Mapping[Any, Sequence[str]] = {
    mdp.camera_image: ("red", "green", "blue"),
    camera_bytes: ("red", "green", "blue"),
    camera_depth: ("depth",),
    depth_frame: ("depth",),
    camera_mask: ("mask",),
}
"""Channels of an image in order, by the function or class of its observation term."""


def camera_facts(env: ManagedEnv, term: BoundTerm, value: Tensor) -> dict[str, Any]:
    """Return the contract entry of an observation term's camera."""
    name = term.params["sensor_name"]
    sensor = env.scene.sensor(name)
    assert isinstance(sensor, CameraSensor), "The term validated its sensor."
    cfg = sensor.cfg
    model = env.sim.mj_model
    camera = cfg.view(model).camera_id
    far = term.params.get("cutoff", cfg.max_distance)
    fx, fy, cx, cy = camera_intrinsics(model, camera, cfg.width, cfg.height)
    return {
        "name": model.camera(camera).name,
        "body": model.body(model.cam_bodyid[camera]).name,
        "pos": model.cam_pos[camera].tolist(),
        "quat": model.cam_quat[camera].tolist(),
        "size": [cfg.width, cfg.height],
        "focal": [fx, fy],
        "center": [cx, cy],
        "clip": [NEAR, float(far)],
        "channels": list(CHANNELS[term.cfg.func]),
        "geom_groups": list(cfg.geom_groups),
        "full": 255.0 if not value.is_floating_point() else 1.0,
    }
