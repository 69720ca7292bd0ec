"""Simulation of many worlds of one model, on either engine."""

import numbers
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NoReturn

import mujoco
import torch

from mjlab.memory import require_room
from mjlab.names import suggest
from mjlab.sim.backend import Backend, resolve_backend
from mjlab.sim.compile import native_model, require_warp_support
from mjlab.sim.config import SimulationCfg
from mjlab.sim.engine import Control, Engine, SensePass
from mjlab.sim.fields import ModelTable, Stage
from mjlab.sim.health import Health
from mjlab.sim.sizes import least_data_size
from mjlab.sim.views import DataView, ModelView, Reads, compiled_value


class FieldError(ValueError):
    """Raised for a model field that cannot vary per world."""


_HEIGHT_FIELDS = (
    "All worlds share the height fields. For other ground in each world, generate "
    "several tiles with `TerrainGeneratorCfg` and use the event "
    "`mdp.randomize_terrain`."
)


class SimulationUseError(RuntimeError):
    """Raised on use of a simulation that is closed or was built in another process."""


class Simulation:
    """Physics of `num_envs` worlds, each a copy of one model.

    Worlds are independent: an operation on one world does not change any bit of another
    world. State, derived quantities and model fields are torch tensors whose first
    dimension is the world.
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        num_envs: int,
        cfg: SimulationCfg | None = None,
        *,
        device: str | None = None,
        vary: Collection[str] = (),
    ) -> None:
        """Build the engine.

        Args:
            model: The compiled model, from `compile_model`.
            num_envs: Number of worlds.
            cfg: Engine and buffer sizes. `model` must be compiled with this
                configuration.
            device: Device of the tensors. None lets the backend choose.
            vary: Model fields that will vary per world, as known from the
                configuration.
        """
        self.cfg = cfg if cfg is not None else SimulationCfg()
        self.num_envs = num_envs = check_num_envs(num_envs, "num_envs")
        self.backend = resolve_backend(self.cfg.backend, device)
        self.process = os.getpid()
        """Id of the process that can step the simulation; 0 after `close()`."""
        self.engine: Engine = _build_engine(model, num_envs, self.cfg, self.backend)
        """The engine, for packages with engine-specific code."""
        self.mj_model = self.engine.mj_model
        """Compiled model with the initial values of all worlds."""
        self.timestep = float(self.mj_model.opt.timestep)
        """Duration of a physics step as compiled, in seconds."""
        self.device = self.engine.device
        self.reads = Reads()
        """Record of the data fields that were read."""
        self.data = DataView(self.engine, self.reads)
        self.model = ModelView(self.engine)
        self.health = Health(self.engine, self.cfg.max_velocity)
        self._sense_passes: list[SensePass] = []
        self._owners: dict[str, dict[int, str]] = {}
        # True if the last call was a `forward()`, from which a step can continue.
        self._is_forward = False
        self._everyone = torch.ones(num_envs, dtype=torch.bool, device=self.device)
        self.expand(*vary)
        self.forward(Stage.ACCELERATION)

    def step(self, control: Control | None = None) -> None:
        """Advance every world by one timestep.

        Args:
            control: Control law that runs between the velocity and the actuation stage:
                it can read `sim.data` of stages up to velocity, and writes
                `sim.data.ctrl`.
        """
        if self.process != os.getpid():
            self.refuse_use()
        self.model.check_shared()
        self.engine.step(control)
        self.reads.fresh = Stage.ACCELERATION
        self._is_forward = False

    def finish_step(self, control: Control | None = None) -> None:
        """Advance every world by one timestep, reusing the results of `forward()`.

        The state must not have been written since the last `forward()`. If another
        engine method was called in between, this is a whole `step()`.

        Args:
            control: A control law; see `step`.
        """
        if not self._is_forward:
            self.step(control)
            return
        if self.process != os.getpid():
            self.refuse_use()
        self.model.check_shared()
        self.engine.finish_step(control)
        self.reads.fresh = Stage.ACCELERATION
        self._is_forward = False

    def step_many(
        self, number: int, after_each: Callable[[], None] | None = None
    ) -> None:
        """Advance every world by several timesteps with the same controls.

        Args:
            number: Number of timesteps.
            after_each: Called once per timestep. It can only read `sim.data.sensordata`
                of that timestep, because the native engine runs all timesteps before
                the first call.
        """
        if self.process != os.getpid():
            self.refuse_use()
        self.model.check_shared()
        self.reads.fresh = Stage.ACCELERATION
        self._is_forward = False
        self.engine.step_many(number, after_each)

    def forward(self, stage: Stage | None = None) -> None:
        """Recompute derived quantities.

        Args:
            stage: Last stage to compute. None computes the stages required by the
                fields read so far, and at least the velocity stage, from which the next
                step continues.
        """
        if self.process != os.getpid():
            self.refuse_use()
        self.model.check_shared()
        stage = self.forward_stage if stage is None else stage
        self.engine.forward(stage)
        self.reads.fresh = stage
        self._is_forward = stage >= Stage.VELOCITY

    def reset(self, mask: torch.Tensor | None = None) -> None:
        """Reset worlds to the model's defaults: qpos0, zero velocity, no forces.

        Derived quantities of these worlds are stale until `forward()`.

        Args:
            mask: Worlds, shape (num_envs,). None means all.
        """
        if self.process != os.getpid():
            self.refuse_use()
        self.engine.reset(self._everyone if mask is None else self.check_mask(mask))
        self._is_forward = False

    def sense(self) -> None:
        """Update ray and camera sensors."""
        self.engine.sense(self._sense_passes)

    def expand(self, *fields: str) -> None:
        """Allocate per-world values for model fields, initially equal in all worlds.

        Pass known fields to the constructor instead: a later expansion drops captured
        graphs.
        """
        for field in fields:
            valid = self.engine.variable_fields
            if field not in valid:
                is_shared = field.startswith("hfield_")
                hint = _HEIGHT_FIELDS if is_shared else suggest(field, sorted(valid))
                raise FieldError(
                    f"Model field {field!r} cannot vary per world on the "
                    f"{self.engine.name} engine. {hint}"
                )
        self.engine.expand(fields)

    def write_model(
        self, tables: Sequence[ModelTable], choice: torch.Tensor, mask: torch.Tensor
    ) -> None:
        """Write the values of each world's variant into the model fields.

        Args:
            tables: Values of the variants by model field, with all constants derived
                from them.
            choice: Index of each world's variant, shape (num_envs,), int64.
            mask: Worlds to write, shape (num_envs,), bool.
        """
        for table in tables:
            owners = self._owners.setdefault(table.field, {})
            owners.update(dict.fromkeys(table.rows.tolist(), table.owner))
        self.engine.write_model(tables, choice, self.check_mask(mask))
        self._is_forward = False

    def chosen_by(self, field: str, row: int) -> str | None:
        """Return the entity whose variants determine a row of a model field, or None.

        Other code must not write such a row, because it has no single default value.
        """
        return self._owners.get(field, {}).get(row)

    def recompute_constants(self, mask: torch.Tensor | None = None) -> None:
        """Recompute MuJoCo's derived constants after model fields were written.

        MuJoCo itself computes them only at compilation (`mj_setConst`), from masses,
        inertias, lengths and other fields.

        Args:
            mask: Worlds, shape (num_envs,). None means all.
        """
        mask = self._everyone if mask is None else self.check_mask(mask)
        self.engine.recompute_constants(mask)
        # The results of `forward()` depend on the fields that were written.
        self._is_forward = False

    def default(self, field: str) -> torch.Tensor:
        """Return the compiled value of a model field, without a world dimension."""
        return compiled_value(self.mj_model, field, self.device)

    def add_sense_pass(self, sense_pass: SensePass) -> None:
        """Register `sense_pass` to run in `sense()`, after earlier passes."""
        self._sense_passes.append(sense_pass)

    @property
    def needs_graphs(self) -> bool:
        """True if the engine launches kernels, so that graphs save time."""
        return self.backend.engine == "warp"

    @property
    def joins_steps(self) -> bool:
        """True if the engine runs the timesteps of `step_many` in one call."""
        return self.backend.engine == "native"

    @property
    def may_branch(self) -> bool:
        """True if a step can read a mask on the host, and skip work if it is empty.

        The native engine's tensors are on the host, so this is cheap. During the trial
        steps after building, it is False, so that the trial steps read every quantity
        that a later step reads.
        """
        return self.backend.engine == "native" and self.reads.sealed

    @property
    def forward_stage(self) -> Stage:
        """Stage that `forward()` currently computes."""
        if self.cfg.forward_stage == "auto":
            return self.reads.needed
        return Stage[self.cfg.forward_stage.upper()]

    def snapshot(self, *, model: bool = True) -> dict[str, torch.Tensor]:
        """Return the complete state of the worlds.

        Args:
            model: Whether model fields, which rarely change, are included.
        """
        return self.engine.snapshot(model=model)

    def restore(
        self, snapshot: Mapping[str, torch.Tensor], mask: torch.Tensor | None = None
    ) -> None:
        """Restore the state of `snapshot`; later steps are bitwise equal on the CPU.

        Args:
            snapshot: State returned by `snapshot`.
            mask: Worlds to restore, shape (num_envs,), bool. Other worlds are
                bitwise unchanged. None means all.
        """
        kept = None if mask is None else self.engine.snapshot()
        self.engine.restore(snapshot, mask)
        # A snapshot contains only the derived fields that had been read. All others are
        # recomputed from its state.
        self.engine.forward(Stage.ACCELERATION)
        if mask is not None and kept is not None:
            self.engine.restore(kept, ~mask)
        else:
            self.reads.fresh = Stage.ACCELERATION
        self.engine.restore(snapshot, mask)
        self._is_forward = False

    def copy_rows(
        self, snapshot: Mapping[str, torch.Tensor], mask: torch.Tensor
    ) -> None:
        """Copy the state of a snapshot into the worlds of `mask`, within a step.

        The derived quantities of these worlds are stale until `forward()`.

        Args:
            snapshot: State returned by `snapshot`, without counters and derived fields.
            mask: Worlds, shape (num_envs,), bool.
        """
        self.engine.restore(snapshot, mask)
        self._is_forward = False

    def close(self) -> None:
        """Disable all further steps and resets. Can be called repeatedly."""
        self.process = 0

    def refuse_use(self) -> NoReturn:
        """Raise because the simulation is closed, or belongs to another process."""
        if not self.process:
            raise SimulationUseError(
                "The simulation is closed: it can be read, but not stepped or reset. "
                "Build a new one."
            )
        raise SimulationUseError(
            f"The simulation was built in process {self.process} and its threads do "
            f"not exist in the forked process {os.getpid()}. Build it in the new "
            "process, or start that process with "
            "multiprocessing.get_context('spawn')."
        )

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "A simulation cannot be pickled or copied. Build another one with the same "
            "model, and copy the state: other.restore(sim.snapshot())."
        )

    def check_mask(self, mask: torch.Tensor) -> torch.Tensor:
        """Return `mask`, or raise unless it is a bool tensor of shape (num_envs,)."""
        if not isinstance(mask, torch.Tensor):
            raise TypeError(
                f"mask is a {type(mask).__name__}; it has to be a bool tensor of shape "
                f"({self.num_envs},): torch.tensor(mask)."
            )
        if mask.dtype != torch.bool or mask.shape != (self.num_envs,):
            raise ValueError(
                f"mask has shape {tuple(mask.shape)} and type {mask.dtype}; it has to "
                f"be a bool tensor of shape ({self.num_envs},)."
            )
        return mask


def check_num_envs(value: Any, name: str) -> int:
    """Return a number of worlds as an int, or raise unless it is an integer above 0.

    Args:
        value: The number. NumPy integers are accepted.
        name: Name of the value, for messages.
    """
    if not isinstance(value, numbers.Integral) or isinstance(value, bool):
        raise TypeError(f"{name}={value!r} has to be an integer, 1 or more.")
    if value < 1:
        raise ValueError(f"{name}={value} has to be 1 or more.")
    return int(value)


def _build_engine(
    model: mujoco.MjModel, num_envs: int, cfg: SimulationCfg, backend: Backend
) -> Engine:
    if backend.engine == "native":
        from mjlab.sim.native_engine import NativeEngine

        require_room(num_envs, least_data_size(model))
        return NativeEngine(native_model(model, cfg), num_envs, cfg.num_threads)
    require_warp_support(model)
    # Imported only here, so that the native engine does not require Warp.
    from mjlab.sim.warp_engine import WarpEngine

    return WarpEngine(model, num_envs, cfg, device=backend.device)
