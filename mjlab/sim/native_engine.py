"""The native engine: MuJoCo C, many worlds on a pool of threads."""

import copy
import logging
from collections.abc import Callable, Collection, Sequence

import mujoco
import numpy as np
import torch
from mujoco import batch as mj_batch

from mjlab.sim.engine import Control, EngineError, SensePass, Use
from mjlab.sim.fields import INPUT_FIELDS, STATE_FIELDS, Stage
from mjlab.sim.sizes import data_size
from mjlab.sim.surface import Surface

_log = logging.getLogger(__name__)

# Warnings that mean "no room"; the others report numbers that are not finite, which
# `Health` finds in the state itself.
_OVERFLOWS = {
    "contacts": mujoco.mjtWarning.mjWARN_CONTACTFULL,
    "constraints": mujoco.mjtWarning.mjWARN_CNSTRFULL,
}
_CONSTANT_INPUTS = frozenset(mujoco.MjModel._setconst_inputs)
_CONSTANTS = frozenset(mujoco.MjModel._setconst_outputs) & mj_batch.MODEL_FIELDS


class NativeEngine:
    """Worlds of one model in `mujoco.batch`, bit-identical at any number of threads.

    The batch is persistent: one MjData per world. Without it a derived field that a
    call does not compute would show another world's value (mujoco 4.0.0).
    """

    name = "native"

    def __init__(
        self,
        model: mujoco.MjModel,
        num_envs: int,
        *,
        num_threads: int | None,
        vary: Collection[str] = (),
    ) -> None:
        self.device = torch.device("cpu")
        self.num_envs = num_envs
        self.mj_model = _without_auto_reset(model)
        self.variable_fields = mj_batch.MODEL_FIELDS
        _silence_warnings()
        self.batch = mj_batch.Batch(
            self.mj_model, num_envs, num_threads or 0, persistent=True
        )
        arrays = {name: self.batch.bind(name) for name in STATE_FIELDS}
        inputs = {name: arrays.pop(name) for name in INPUT_FIELDS}
        # Apart, because they are more than half of the state, and only written here.
        self._inputs = Surface(inputs, writable=True)
        self._state = Surface(arrays, writable=True)
        self._derived: dict[str, Surface] = {}
        self._models: list[Surface] = []
        self._model_tensors: dict[str, torch.Tensor] = {}
        self._constants_vary = False
        self._overflow = {
            kind: torch.zeros(num_envs, dtype=torch.int64) for kind in _OVERFLOWS
        }
        self._warned = np.zeros((num_envs, len(_OVERFLOWS)), np.int64)
        self.expand(vary)

    # Fields.

    def data(self, name: str) -> torch.Tensor:
        """The live tensor of a data field; derived fields are bound when first read."""
        for state in (self._state, self._inputs):
            if name in state.tensors:
                return state.tensors[name]
        if name not in self._derived:
            array = self.batch.bind(name)
            self._derived[name] = Surface({name: array}, writable=False)
        return self._derived[name].tensors[name]

    def model(self, name: str) -> torch.Tensor | None:
        """The live tensor of a per-world model field, or None while it is shared."""
        if self._constants_vary and name in _CONSTANTS:
            self.expand((name,))
        return self._model_tensors.get(name)

    def expand(self, names: Collection[str]) -> None:
        """Give model fields a value per world."""
        new = sorted(set(names) - set(self._model_tensors))
        if not new:
            return
        surface = Surface({n: self.batch.expand(n) for n in new}, writable=True)
        self._models.append(surface)
        self._model_tensors |= surface.tensors
        self._constants_vary |= bool(set(new) & _CONSTANT_INPUTS)

    # Verbs.

    def step(self, control: Control | None, resume: bool) -> None:
        """Advance every world by one timestep.

        `resume` changes nothing: a persistent batch continues by itself from stages
        that are already computed for the state.
        """
        self._collect()
        if control is not None:
            self._advance(self.batch.forward, int(Stage.VELOCITY))
            self._publish()
            control()
            self._collect()
        finite = np.isfinite(self.batch.bind("ctrl"))
        bad_control = np.logical_not(np.all(finite, axis=1, keepdims=True)[:, 0])
        self._advance(self.batch.step, int(Stage.NONE))
        if bad_control.any():
            self._poison(bad_control)
            # MuJoCo has set these controls to zero.
            self._inputs.publish()
        self._publish()
        self._count_warnings()

    def forward(self, stage: Stage) -> None:
        """Compute derived quantities up to `stage`."""
        self._collect()
        self._advance(self.batch.forward, int(stage))
        self._publish()
        self._count_warnings()

    def reset(self, mask: torch.Tensor) -> None:
        """Return the worlds of `mask` to the model's defaults."""
        self._collect()
        ids = np.flatnonzero(mask.numpy())
        if ids.size == 0:
            return
        self.batch.reset(ids, stage=int(Stage.NONE))
        self._warned[ids] = 0
        self._inputs.publish()
        self._publish()

    def sense(self, passes: Sequence[SensePass]) -> None:
        """Run the sense passes."""
        self._collect()
        for sense_pass in passes:
            sense_pass.prepare()
            sense_pass.launch()
            sense_pass.finish()

    def recompute_constants(self, mask: torch.Tensor) -> None:
        """Derive constants anew from the model fields of the worlds of `mask`.

        A derived constant that was shared becomes per-world by this.
        """
        self._collect()
        ids = np.flatnonzero(mask.numpy())
        if ids.size == 0:
            return
        self.batch.set_const(ids)
        for surface in self._models:
            surface.publish()

    # Health.

    def overflow(self) -> dict[str, torch.Tensor]:
        """Events of missing room by kind, counted per world, shape (num_envs,)."""
        return self._overflow

    def advice(self, kind: str) -> str:
        """What a user can set when `overflow()[kind]` is not zero."""
        size = self.mj_model.narena / 2**20
        return (
            f"{kind} found no room in a world's memory of {size:.1f} MB: "
            f"set sim.mujoco.memory to more, such as '{max(1, int(2 * size))}M'"
        )

    def bytes_per_world(self) -> int:
        """About how much memory one more world takes.

        Contacts and constraints use as much of a world's memory as in a short rollout.
        """
        surfaces = [self._state, *self._derived.values(), *self._models]
        arrays = sum(surface.nbytes for surface in surfaces)
        return data_size(self.mj_model) + arrays // self.num_envs

    def use(self) -> dict[str, Use]:
        """Nothing: a world's memory serves all kinds, and MuJoCo hands it out."""
        return {}

    def _advance(self, call: Callable[..., None], stage: int) -> None:
        try:
            call(stage=stage)
        except mj_batch.SimulationError as error:
            hint = f" ({self.advice('memory')})" if "memory" in str(error) else ""
            worlds = [int(world) for world in getattr(error, "ids", ())]
            raise EngineError(f"{error}{hint}", worlds) from error

    def _warnings(self) -> np.ndarray:
        columns = [self.batch.warning[:, int(w), 1] for w in _OVERFLOWS.values()]
        return np.stack(columns, axis=1)

    def _count_warnings(self) -> None:
        counts = self._warnings()
        if not counts.any():
            return
        new = counts - self._warned
        for column, total in enumerate(self._overflow.values()):
            total += torch.from_numpy(new[:, column])
        self._warned = counts.astype(np.int64)

    def _poison(self, worlds: np.ndarray) -> None:
        """Let a control that is not finite reach the state, as it does on Warp.

        MuJoCo C sets such controls to zero and goes on, so that nobody would know.
        """
        for name in ("qpos", "qvel"):
            self.batch.bind(name)[worlds] = np.nan

    # Snapshots and pictures.

    def snapshot(self) -> dict[str, torch.Tensor]:
        """The float64 state, the model fields, and published derived fields."""
        self._collect()
        held = {"state": self.batch.state}
        held |= {f"model.{n}": self.batch.expand(n) for n in self._expanded()}
        tensors = {name: torch.from_numpy(a.copy()) for name, a in held.items()}
        for name, surface in self._derived.items():
            tensors[f"derived.{name}"] = surface.tensors[name].clone()
        for kind, total in self._overflow.items():
            tensors[f"overflow.{kind}"] = total.clone()
        return tensors

    def restore(self, snapshot: dict[str, torch.Tensor]) -> None:
        """Continue as if from the moment of `snapshot`."""
        self.batch.state[...] = snapshot["state"].numpy()
        # The batch goes on counting from where it is.
        self._warned = self._warnings().astype(np.int64)
        for name, value in snapshot.items():
            if name.startswith("model."):
                self.batch.expand(name.removeprefix("model."))[...] = value.numpy()
            if name.startswith("overflow."):
                self._overflow[name.removeprefix("overflow.")].copy_(value)
        self._inputs.publish()
        self._publish()
        for surface in self._models:
            surface.publish()
        for name, value in snapshot.items():
            if name.startswith("derived."):
                self.data(name.removeprefix("derived.")).copy_(value)

    def mj_model_of(self, world: int) -> mujoco.MjModel:
        """The model of one world, with its own values, for drawing."""
        self._collect()
        return self.batch.get_model(world)

    def mj_data_of(self, world: int) -> mujoco.MjData:
        """The state of one world, with its kinematics, for drawing."""
        self._collect()
        data = self.batch.get_data(world)
        mujoco.mj_fwdPosition(self.mj_model_of(world), data)
        return data

    # The two directions between tensors and engine.

    def _collect(self) -> None:
        for surface in (self._state, self._inputs, *self._models):
            surface.collect()

    def _publish(self) -> None:
        self._state.publish()
        for surface in self._derived.values():
            surface.publish()

    def _expanded(self) -> list[str]:
        return [
            name
            for name in sorted(mj_batch.MODEL_FIELDS)
            if self.batch.expanded(name) is not None
        ]


def _without_auto_reset(model: mujoco.MjModel) -> mujoco.MjModel:
    """A copy of `model` that MuJoCo C does not reset when its state is not finite.

    The framework has to see such a world. With the automatic reset it would find a
    healthy one at time zero.
    """
    model = copy.copy(model)
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)
    return model


def _silence_warnings() -> None:
    """Send MuJoCo's warnings to the log of this module.

    By default they go to stderr and to a file in the working directory. Health is
    counted per world instead, and reported where the user asked for it. A handler
    that the user installed is left alone.
    """
    if mujoco.get_mju_user_warning() is None:
        mujoco.set_mju_user_warning(_log.debug)
