"""Fields of a simulation: their names, stages and tensor shapes.

Model fields are not listed: each engine reports at run time which fields can vary per
world. Data fields are listed, because no engine reports which stage of the forward
dynamics computes them.
"""

from collections.abc import Sequence
from enum import IntEnum
from typing import Any

import mujoco
import numpy as np
import torch

from mjlab.names import suggest
from mjlab.tensors.masks import write_where


class Stage(IntEnum):
    """Stages of the forward dynamics, numbered as MuJoCo's mjtStage."""

    NONE = 0
    POSITION = 1
    VELOCITY = 2
    ACCELERATION = 3


STATE_FIELDS = tuple(
    "time qpos qvel act history plastic qacc_warmstart ctrl qfrc_applied xfrc_applied "
    "eq_active mocap_pos mocap_quat userdata".split()
)
"""State fields. They determine the future of a world, and the framework can write
them."""

INPUT_FIELDS = frozenset(
    "ctrl qfrc_applied xfrc_applied eq_active mocap_pos mocap_quat userdata".split()
)
"""State fields that a physics step does not modify."""

FORWARD_FIELDS = tuple("qpos qvel act plastic eq_active mocap_pos mocap_quat".split())
"""State fields whose modification makes the results of `forward()` stale."""

_POSITION = """
    xpos xquat xmat xipos ximat xanchor xaxis geom_xpos geom_xmat site_xpos site_xmat
    cam_xpos cam_xmat light_xpos light_xdir subtree_com cdof cinert crb
    ten_length ten_J actuator_length wrap_xpos flexvert_xpos flexedge_length M
    nefc ne nf nl
"""
_VELOCITY = """
    cvel cdof_dot ten_velocity actuator_velocity qfrc_bias qfrc_spring qfrc_damper
    qfrc_gravcomp qfrc_fluid qfrc_passive subtree_linvel subtree_angmom
    flexedge_velocity energy
"""
_ACCELERATION = """
    act_dot actuator_force qfrc_actuator qfrc_smooth qacc_smooth qacc qfrc_constraint
    cacc cfrc_int cfrc_ext sensordata
"""

STAGE_OF: dict[str, Stage] = {
    **dict.fromkeys(STATE_FIELDS, Stage.NONE),
    **dict.fromkeys(_POSITION.split(), Stage.POSITION),
    **dict.fromkeys(_VELOCITY.split(), Stage.VELOCITY),
    **dict.fromkeys(_ACCELERATION.split(), Stage.ACCELERATION),
}
"""Stage of the forward dynamics that computes each data field."""


class UnknownFieldError(AttributeError):
    """Raised for a field that the simulation does not have."""


def unknown_field(kind: str, name: str, valid: list[str]) -> UnknownFieldError:
    """Return the error for an unknown field name, with suggestions."""
    return UnknownFieldError(f"{kind} has no field {name!r}. {suggest(name, valid)}")


def surface_shape(name: str, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape of a field in one world. Rotation matrices are 3x3, not 9."""
    is_matrix = name.endswith("mat") or name.endswith("mat0")
    if is_matrix and shape[-1:] == (9,):
        return (*shape[:-1], 3, 3)
    return shape


def place_of(model: Any, name: str) -> tuple[Any, str]:
    """Return the object that holds a field, and the name of its attribute.

    Args:
        model: Model of MuJoCo or of MuJoCo Warp.
        name: Name of the field; `opt.<name>` for an option.
    """
    if name.startswith("opt."):
        return model.opt, name.removeprefix("opt.")
    return model, name


def model_value(model: mujoco.MjModel, name: str) -> np.ndarray:
    """Return the compiled value of a model field."""
    try:
        value = np.asarray(getattr(*place_of(model, name)))
    except AttributeError:
        raise unknown_field("sim.model", name, model_field_names(model)) from None
    return value.reshape(surface_shape(name, value.shape))


def assign_field(model: mujoco.MjModel, name: str, value: np.ndarray) -> None:
    """Set a model field in place."""
    old = getattr(*place_of(model, name))
    if np.shape(old):
        old[...] = value.reshape(np.shape(old))
    else:
        setattr(*place_of(model, name), value.item())


def model_field_names(model: mujoco.MjModel) -> list[str]:
    """Return the names of the array fields of a model and of all its options."""
    fields = [
        name
        for name in dir(model)
        if not name.startswith("_")
        and isinstance(getattr(model, name, None), np.ndarray)
    ]
    options = [f"opt.{name}" for name in dir(model.opt) if not name.startswith("_")]
    return fields + options


def surface_dtype(name: str, dtype: np.dtype) -> np.dtype:
    """Return the tensor type of a field: float32, int32 or bool.

    MuJoCo's batch stores `eq_active` in its float64 state.
    """
    if name == "eq_active" or dtype in (np.dtype(np.uint8), np.dtype(bool)):
        return np.dtype(bool)
    if dtype.kind == "f":
        return np.dtype(np.float32)
    return np.dtype(np.int32)


class ModelTable:
    """Rows of a model field, with their values for each variant of an entity."""

    def __init__(
        self, owner: str, field: str, rows: Sequence[int], values: np.ndarray
    ) -> None:
        """Create a table of compiled values.

        Args:
            owner: Name of the entity that the rows belong to.
            field: Name of the model field.
            rows: Indices of the rows, without repetition.
            values: Values of each variant, shape (num_choices, len(rows), ...).
        """
        self.owner = owner
        self.field = field
        self.rows = np.array(rows, dtype=np.int64)
        """Indices of the rows, shape (len,)."""
        self.values = values
        """Values of each variant, shape (num_choices, len, ...), in MuJoCo's dtype."""
        self._on_device: tuple[torch.Tensor, torch.Tensor] | None = None

    def write_array(
        self, array: np.ndarray, worlds: np.ndarray, choice: np.ndarray
    ) -> None:
        """Write the rows of the listed worlds, exactly as compiled.

        Args:
            array: The whole field, shape (num_envs, ...).
            worlds: Indices of the worlds.
            choice: Index of the variant of each listed world.
        """
        array[np.ix_(worlds, self.rows)] = self.values[choice]

    def write_tensor(
        self, live: torch.Tensor, choice: torch.Tensor, mask: torch.Tensor
    ) -> None:
        """Write the variants' values in the worlds of `mask`, with torch operations.

        A CUDA graph can capture this method.

        Args:
            live: The whole field, shape (num_envs, ...), float32 or int32.
            choice: Index of the variant of each world, shape (num_envs,), int64.
            mask: Worlds to write, shape (num_envs,), bool.
        """
        if self._on_device is None:
            self._on_device = self._tensors(live.device)
        rows, values = self._on_device
        written = live.index_select(1, rows)
        write_where(written, mask, values.index_select(0, choice))
        live.index_copy_(1, rows, written)

    def _tensors(self, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
        shape = surface_shape(self.field, self.values.shape[2:])
        values = self.values.astype(surface_dtype(self.field, self.values.dtype))
        values = values.reshape(*self.values.shape[:2], *shape)
        return (
            torch.from_numpy(self.rows).to(device),
            torch.from_numpy(values).to(device),
        )
