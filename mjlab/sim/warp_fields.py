"""Model and data of MuJoCo Warp, and their fields as zero-copy torch tensors."""

import copy
import dataclasses
import functools
import operator
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import mujoco
import mujoco_warp as mjw
import numpy as np
import torch
import warp as wp
from mujoco_warp._src.types import BroadphaseFilter, BroadphaseType

from mjlab.sim.config import SimulationCfg
from mjlab.sim.fields import (
    STATE_FIELDS,
    assign_field,
    model_value,
    place_of,
    surface_shape,
)
from mjlab.sim.sizes import Sizes
from mjlab.tensors.masks import write_where

CONSTANTS = frozenset(mujoco.MjModel._setconst_outputs)
_CONSTANT_INPUTS = frozenset(mujoco.MjModel._setconst_inputs)
# Poses of static geoms, and the fields that determine these poses. Warp computes the
# poses only together with derived constants, not in a step.
_STATIC_PLACES = ("geom_xpos", "geom_xmat")
_PLACE_FIELDS = {"geom_pos", "geom_quat", "body_pos", "body_quat"}
_BROADPHASES = {
    "nxn": BroadphaseType.NXN,
    "sap_tile": BroadphaseType.SAP_TILE,
    "sap_segmented": BroadphaseType.SAP_SEGMENTED,
}
_FILTERS = {
    "plane": BroadphaseFilter.PLANE,
    "sphere": BroadphaseFilter.SPHERE,
    "aabb": BroadphaseFilter.AABB,
    "obb": BroadphaseFilter.OBB,
}
_NO_FILTER = BroadphaseFilter(0)


class WarpFields:
    """`wp_model` and `wp_data`, and the model fields that vary per world."""

    def __init__(
        self,
        model: mujoco.MjModel,
        num_envs: int,
        cfg: SimulationCfg,
        sizes: Sizes,
        device: torch.device,
    ) -> None:
        self.mj_model = model
        self.num_envs = num_envs
        self.device = device
        self._cfg = cfg
        self.varied: tuple[str, ...] = ()
        """Model fields with per-world values."""
        self._views: dict[str, torch.Tensor] = {}
        self._read: set[str] = set()
        with wp.ScopedDevice(str(device)):
            self.wp_model = self._put_model({})
            self.wp_data = make_data(model, num_envs, sizes)

    @property
    def nbytes(self) -> int:
        """Memory of the data and of the per-world model fields, in bytes."""
        varied = sum(self.array(name).capacity for name in self.varied)
        return _capacity(self.wp_data) + varied

    def data(self, name: str) -> torch.Tensor:
        """Return the live tensor of a data field, shape (num_envs, ...)."""
        if name not in self._views:
            mj_shape = np.shape(getattr(mujoco.MjData(self.mj_model), name))
            view = wp.to_torch(getattr(self.wp_data, name), requires_grad=False)
            shape = surface_shape(name, mj_shape)
            self._views[name] = view.view(self.num_envs, *shape)
        self._read.add(name)
        return self._views[name]

    def model(self, name: str) -> torch.Tensor | None:
        """Return the live tensor of a model field, or None if all worlds share it."""
        if name not in self.varied:
            return None
        key = f"model.{name}"
        if key not in self._views:
            shape = model_value(self.mj_model, name).shape
            view = wp.to_torch(self.array(name), requires_grad=False)
            self._views[key] = view.view(self.num_envs, *shape)
        return self._views[key]

    def varied_tensors(self, names: Iterable[str]) -> dict[str, torch.Tensor]:
        """Return the live tensors of the fields in `names` that vary per world."""
        tensors = {name: self.model(name) for name in names}
        return {name: t for name, t in tensors.items() if t is not None}

    def expand(self, names: Collection[str]) -> bool:
        """Allocate per-world values for model fields; return False if all had them.

        Constants derived from these fields also become per-world, because `set_const`
        writes only world 0's result to a shared constant (mujoco-warp 4.0.0).
        """
        wanted = set(names)
        if wanted & _CONSTANT_INPUTS:
            wanted |= CONSTANTS & VARIABLE_FIELDS
        new = wanted - set(self.varied)
        if not new:
            return False
        kept = {name: self.array(name) for name in self.varied}
        self.varied = tuple(sorted({*self.varied, *new}))
        with wp.ScopedDevice(str(self.device)):
            self.wp_model = self._put_model(kept)
        return True

    def exchangeable_arrays(self) -> tuple[wp.array, ...]:
        """Return the arrays that can be replaced after a graph was captured.

        Checking these arrays takes 7 microseconds per engine call. Checking the arrays
        of all fields would take 30.
        """
        return (
            *(getattr(self.wp_model, name) for name in _MODEL_ARRAYS),
            *(getattr(self.wp_model.opt, name) for name in _OPTION_ARRAYS),
            *(getattr(self.wp_data, name) for name in STATE_FIELDS),
        )

    def snapshot(self, *, model: bool = True) -> dict[str, torch.Tensor]:
        """Return the state, the model fields, and the derived fields read so far."""
        placed = _STATIC_PLACES if _PLACE_FIELDS & set(self.varied) else ()
        fields = sorted({*STATE_FIELDS, *self._read, *placed})
        tensors = {f"data.{name}": self.data(name).clone() for name in fields}
        for name, live in self.varied_tensors(self.varied if model else ()).items():
            tensors[f"model.{name}"] = live.clone()
        return tensors

    def restore(self, snapshot: Mapping[str, torch.Tensor], mask: torch.Tensor) -> None:
        """Restore a snapshot in the worlds of `mask`.

        The model fields in the snapshot must already vary per world.
        """
        for key, value in snapshot.items():
            kind, _, name = key.partition(".")
            if kind == "data":
                write_where(self.data(name), mask, value)
            elif kind == "model":
                write_where(self.varied_tensors([name])[name], mask, value)

    def model_of(self, world: int) -> mujoco.MjModel:
        """Return an MjModel with the values of one world."""
        model = copy.copy(self.mj_model)
        for name, live in self.varied_tensors(self.varied).items():
            assign_field(model, name, live[world].cpu().numpy())
        return model

    def _put_model(self, kept: Mapping[str, wp.array]) -> mjw.Model:
        """Build Warp's model with per-world arrays for the varied fields.

        Warp omits the kernels of features that are zero in the model that it is given:
        drag, surface velocity, adhesion, tendon damping and others (mujoco-warp 4.0.0).
        Varied fields can become non-zero later, so Warp is given a model in which they
        are non-zero, and the true values are written afterwards.

        Args:
            kept: Arrays of fields that already varied; they are reused, so that their
                tensor views remain live.
        """
        varied = {name for name in self.varied if not name.startswith("opt.")}
        sizes = dict.fromkeys(varied, self.num_envs)
        true = mjw.put_model(self.mj_model, batch_sizes=sizes)
        shown = mjw.put_model(_with_features(self.mj_model, self.varied), sizes)
        for field in _MODEL_ARRAYS:
            setattr(shown, field, getattr(true, field))
        for field in _OPTION_ARRAYS:
            setattr(shown.opt, field, getattr(true.opt, field))
        for name in self.varied:
            if name.startswith("opt."):
                shared = getattr(*place_of(true, name))
                value = np.repeat(shared.numpy(), self.num_envs, axis=0)
                setattr(*place_of(shown, name), wp.array(value, dtype=shared.dtype))
        for name, array in kept.items():
            setattr(*place_of(shown, name), array)
        option = shown.opt
        option.warn_overflow = 0
        if self._cfg.broadphase is not None:
            option.broadphase = _BROADPHASES[self._cfg.broadphase]
        if self._cfg.broadphase_filter is not None:
            volumes = [_FILTERS[name] for name in self._cfg.broadphase_filter]
            option.broadphase_filter = functools.reduce(
                operator.or_, volumes, _NO_FILTER
            )
        option.contact_sensor_maxmatch = self._cfg.contact_sensor_maxmatch
        option.graph_conditional = _has_conditional_graphs(self.device)
        return shown

    def array(self, name: str) -> wp.array:
        """Return Warp's array of a model field, shared or per-world."""
        return getattr(*place_of(self.wp_model, name))


def make_data(model: mujoco.MjModel, num_envs: int, sizes: Sizes) -> mjw.Data:
    """Create Warp's data for `num_envs` worlds, at the model's default state."""
    return mjw.make_data(
        model,
        nworld=num_envs,
        nconmax=sizes.nconmax,
        njmax=sizes.njmax,
        njmax_nnz=sizes.njmax_nnz,
        nccdmax=sizes.nccdmax,
    )


def _batched(cls: type) -> list[str]:
    """Return the fields of a Warp type that are indexed by world."""
    return [
        field.name
        for field in dataclasses.fields(cls)
        if getattr(field.type, "shape", ())[:1] == ("*",)
    ]


_MODEL_ARRAYS = _batched(mjw.Model)
_OPTION_ARRAYS = _batched(mjw.Option)


def _variable_fields() -> frozenset[str]:
    """Return Warp's per-world model fields that have the same name in MuJoCo C."""
    options = [f"opt.{name}" for name in _OPTION_ARRAYS]
    known = set(dir(mujoco.MjModel)) | {f"opt.{n}" for n in dir(mujoco.MjOption)}
    return frozenset(name for name in [*_MODEL_ARRAYS, *options] if name in known)


VARIABLE_FIELDS = _variable_fields()


_JOINT_TRANSMISSIONS = (
    mujoco.mjtTrn.mjTRN_JOINT,
    mujoco.mjtTrn.mjTRN_JOINTINPARENT,
)
_TINY = 1e-9


def _wraps_geoms(model: mujoco.MjModel) -> np.ndarray:
    """Mask of tendons that wrap around a sphere or cylinder, shape (ntendon,)."""
    wraps = np.zeros(model.ntendon, dtype=bool)
    shapes = (mujoco.mjtWrap.mjWRAP_SPHERE, mujoco.mjtWrap.mjWRAP_CYLINDER)
    for tendon in range(model.ntendon):
        start, length = model.tendon_adr[tendon], model.tendon_num[tendon]
        wraps[tendon] = np.isin(model.wrap_type[start : start + length], shapes).any()
    return wraps


def _with_features(model: mujoco.MjModel, varied: Iterable[str]) -> mujoco.MjModel:
    """Return a copy of `model` in which no varied numeric field is entirely zero.

    For armature and damping of actuators on joints, each zero element is replaced,
    because Warp records for each joint if an actuator adds armature or damping. Tendons
    that wrap around geoms keep zero armature.
    """
    shown = copy.copy(model)
    for name in varied:
        value = np.array(getattr(*place_of(shown, name)))
        if value.dtype.kind != "f" or name in CONSTANTS:
            continue
        if name in ("actuator_armature", "actuator_damping"):
            on_joint = np.isin(model.actuator_trntype, _JOINT_TRANSMISSIONS)
            value[(value == 0.0) & on_joint] = _TINY
        elif name == "tendon_armature":
            value[(value == 0.0) & ~_wraps_geoms(model)] = _TINY
        elif not value.any():
            value = np.full(value.shape, _TINY)
        assign_field(shown, name, value)
    mujoco.mj_setConst(shown, mujoco.MjData(shown))
    return shown


def _has_conditional_graphs(device: torch.device) -> bool:
    """Return True if the driver supports conditional graph nodes (CUDA 12.4)."""
    return device.type != "cuda" or wp.is_conditional_graph_supported()


def _capacity(owner: Any) -> int:
    """Return the memory of all arrays in a (nested) MuJoCo Warp dataclass."""
    total = 0
    for field in dataclasses.fields(owner):
        value = getattr(owner, field.name)
        if isinstance(value, wp.array):
            total += value.capacity
        elif dataclasses.is_dataclass(value):
            total += _capacity(value)
    return total
