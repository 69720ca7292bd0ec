"""Poses of target frames relative to a source frame, computed by MuJoCo's sensors."""

import mujoco
import torch

from mjlab.sensor.native import MujocoSensorCfg, SensorBlock
from mjlab.sensor.objects import ObjRef, OffsetCfg, SensorError, add_site
from mjlab.sensor.sensor import Sensor, SensorCfg, SensorContext
from mjlab.settings import Config

_TYPES = {
    "source_pos_w": "framepos",
    "source_quat_w": "framequat",
    "target_pos_w": "framepos",
    "target_quat_w": "framequat",
    "target_pos_source": "framepos",
    "target_quat_source": "framequat",
}
"""MuJoCo's sensor type of each quantity."""


class FrameCfg(Config):
    """Target frame whose pose is measured relative to the source frame."""

    frame: ObjRef
    """Body (its link frame) or site."""

    name: str | None = None
    """Name of the target. None uses the name of the body or site."""

    offset: OffsetCfg = OffsetCfg()
    """Pose of the target in the link frame. A site must not have an offset."""

    @property
    def label(self) -> str:
        """Name of the target in the readings."""
        return self.frame.name if self.name is None else self.name


class FrameTransformerCfg(SensorCfg):
    """Measures poses of target frames in a source frame, such as feet in the trunk."""

    source_frame: ObjRef
    """Body (its link frame) or site that target poses are relative to."""

    source_frame_offset: OffsetCfg = OffsetCfg()
    """Pose of the source in the link frame. A site must not have an offset."""

    target_frames: tuple[FrameCfg, ...]
    """Target frames, in the order of the readings."""

    @property
    def target_frame_names(self) -> tuple[str, ...]:
        """Names of the target frames."""
        return tuple(target.label for target in self.target_frames)

    def edit_spec(self, spec: mujoco.MjSpec) -> None:
        """Add sites for the frames, and MuJoCo's sensors of their poses."""
        names = self.target_frame_names
        twice = [name for name in names if names.count(name) > 1]
        if not names or twice:
            found = f"contains {twice[0]!r} twice" if twice else "is empty"
            raise SensorError(
                f"Sensor {self.name!r}: target_frames {found}. Give each target its "
                "own name."
            )
        place, offset = f"{self.name}_source", self.source_frame_offset
        source = add_site(spec, place, self.source_frame, offset, self.name)
        targets = [
            add_site(
                spec, f"{self.name}_{each.label}", each.frame, each.offset, self.name
            )
            for each in self.target_frames
        ]
        for quantity, kind in _TYPES.items():
            of_source = quantity.startswith("source")
            ref = source if quantity.endswith("source") else None
            objects = [source] if of_source else targets
            for name, obj in zip(self.parts(quantity), objects, strict=True):
                part = MujocoSensorCfg(name=name, sensor_type=kind, obj=obj, ref=ref)
                part.edit_spec(spec)

    def parts(self, quantity: str) -> list[str]:
        """Return the names of the MuJoCo sensors that measure a quantity."""
        if quantity.startswith("source"):
            return [f"{self.name}_{quantity}"]
        return [f"{self.name}_{name}_{quantity}" for name in self.target_frame_names]

    def bind(self, context: SensorContext) -> "FrameTransformer":
        return FrameTransformer(self, context)


class FrameTransformerData:
    """Readings of a frame transformer with T targets. All tensors are live."""

    def __init__(self, cfg: FrameTransformerCfg, context: SensorContext) -> None:
        """Find the sensors in the compiled model."""
        self.target_frame_names = cfg.target_frame_names
        """Names of the target frames."""
        self._blocks = {q: SensorBlock(cfg.parts(q), context.sim) for q in _TYPES}

    @property
    def source_pos_w(self) -> torch.Tensor:
        """Position of the source in the world, shape (num_envs, 3), m."""
        return self._blocks["source_pos_w"].read()[:, 0]

    @property
    def source_quat_w(self) -> torch.Tensor:
        """Orientation of the source in the world, wxyz, shape (num_envs, 4)."""
        return self._blocks["source_quat_w"].read()[:, 0]

    @property
    def target_pos_w(self) -> torch.Tensor:
        """Positions of the targets in the world, shape (num_envs, T, 3), m."""
        return self._blocks["target_pos_w"].read()

    @property
    def target_quat_w(self) -> torch.Tensor:
        """Orientations of the targets in the world, wxyz, shape (num_envs, T, 4)."""
        return self._blocks["target_quat_w"].read()

    @property
    def target_pos_source(self) -> torch.Tensor:
        """Positions of the targets in the source frame, shape (num_envs, T, 3), m."""
        return self._blocks["target_pos_source"].read()

    @property
    def target_quat_source(self) -> torch.Tensor:
        """Orientations of the targets in the source frame, wxyz, (num_envs, T, 4)."""
        return self._blocks["target_quat_source"].read()


class FrameTransformer(Sensor):
    """Poses of targets in a source frame, computed in `step()` and `forward()`."""

    def __init__(self, cfg: FrameTransformerCfg, context: SensorContext) -> None:
        """Find the sensors in the compiled model."""
        self.name = cfg.name
        self._data = FrameTransformerData(cfg, context)

    @property
    def data(self) -> FrameTransformerData:
        """Poses of source and targets, updated by the engine."""
        return self._data

    def state(self) -> dict[str, torch.Tensor]:
        """Return an empty dict: the engine's snapshot holds the readings."""
        return {}
