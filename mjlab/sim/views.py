"""`sim.data` and `sim.model`: fields as torch tensors, one row per world."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import mujoco
import torch

from mjlab.sim.engine import Engine
from mjlab.sim.fields import STAGE_OF, Stage, model_value, surface_dtype, unknown_field


class StaleReadError(RuntimeError):
    """Raised on reading a quantity that `forward()` did not compute."""


class SharedFieldError(RuntimeError):
    """Raised on writing a model field that all worlds share."""


class Reads:
    """Record of data reads, which determines the stage that `forward()` computes."""

    def __init__(self) -> None:
        self.needed = Stage.VELOCITY
        """Last stage that `forward()` must compute, because its fields are read."""
        self.fresh = Stage.ACCELERATION
        """Latest stage whose derived fields are current."""
        self.sealed = False
        """True if reading a stage after `fresh` raises; False computes the stage."""
        self._counts = True
        self._recorders: list[set[str]] = []

    def before_forward(self) -> AbstractContextManager[None]:
        """Exclude reads between a physics step and `forward()` in trial steps.

        The physics step has computed every stage, so these reads do not affect the
        stage that `forward()` computes.
        """
        return self._uncounted(sealed=self.sealed)

    def note(self, name: str, stage: Stage) -> bool:
        """Record a read; return True if the stage must be computed first."""
        for recorder in self._recorders:
            recorder.add(name)
        late = stage > self.fresh
        if late and self.sealed:
            raise StaleReadError(
                f"{name!r} belongs to the {stage.name.lower()} stage, which forward() "
                "skipped because no term reads it. To read it once, use "
                "`with sim.reads.allow_late():`; to compute it every step, set "
                "sim.forward_stage='acceleration'."
            )
        if late or (self._counts and not self.sealed):
            self.needed = max(self.needed, stage)
        return late

    def allow_late(self) -> AbstractContextManager[None]:
        """Compute stages after `fresh` when read, such as in a reset outside a step."""
        return self._uncounted(sealed=False)

    @contextmanager
    def _uncounted(self, *, sealed: bool) -> Iterator[None]:
        before = (self.sealed, self._counts, self.needed)
        self.sealed, self._counts = sealed, False
        try:
            yield
        finally:
            self.sealed, self._counts, needed = before
            # Reads between two steps do not add stages to later steps.
            self.needed = needed if self.sealed else self.needed

    @contextmanager
    def record(self) -> Iterator[set[str]]:
        """Collect the names of the fields that are read within the block."""
        recorder: set[str] = set()
        self._recorders.append(recorder)
        try:
            yield recorder
        finally:
            self._recorders.remove(recorder)


def _refuse_rebinding(view: str, name: str) -> None:
    """Raise for `sim.data.qvel = value`, which would not change the engine."""
    raise AttributeError(
        f"{view}.{name} cannot be replaced. Write in place: {view}.{name}[...] = value."
    )


class DataView:
    """`sim.data.<field>`: the live tensor of MjData's field, shape (num_envs, ...).

    The same tensor is returned every time, and the engine updates it in place. After
    `step()`, derived fields describe the state before the step's integration, as in
    MuJoCo; after `forward()`, the current state.
    """

    def __init__(self, engine: Engine, reads: Reads) -> None:
        self._engine = engine
        self._reads = reads

    def __getattr__(self, name: str) -> torch.Tensor:
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in STAGE_OF:
            raise unknown_field("sim.data", name, list(STAGE_OF))
        if self._reads.note(name, STAGE_OF[name]):
            self._compute(STAGE_OF[name])
        return self._engine.data(name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("_"):
            super().__setattr__(name, value)
        elif value is not self._engine.data(name):  # Allows `sim.data.qvel += 1.0`.
            _refuse_rebinding("sim.data", name)

    def sensor(self, sensor_id: int) -> torch.Tensor:
        """Return the readings of one MuJoCo sensor, shape (num_envs, dim).

        Only the sensor's own stage is recorded as read, not the last stage of all
        sensors.
        """
        model = self._engine.mj_model
        stage = Stage(int(model.sensor_needstage[sensor_id]))
        self.require(model.sensor(sensor_id).name, stage)
        start = int(model.sensor_adr[sensor_id])
        end = start + int(model.sensor_dim[sensor_id])
        return self._engine.data("sensordata")[:, start:end]

    def require(self, name: str, stage: Stage) -> None:
        """Compute `stage` if necessary, before `name` is read."""
        if self._reads.note(name, stage):
            self._compute(stage)

    def _compute(self, stage: Stage) -> None:
        self._engine.forward(stage)
        self._reads.fresh = stage


class ModelView:
    """`sim.model.<field>`: MjModel's field, shape (num_envs, ...).

    A field that `expand` made per-world is live: the engine uses the values written to
    it. Any other field is one value that all worlds share. Writing to it is an error,
    which the next step raises.
    """

    def __init__(self, engine: Engine, prefix: str = "") -> None:
        self._engine = engine
        self._prefix = prefix
        self._shared: dict[str, tuple[torch.Tensor, int]] = {}
        self._options = ModelView(engine, "opt.") if not prefix else None

    def __getattr__(self, name: str) -> torch.Tensor:
        if name.startswith("_"):
            raise AttributeError(name)
        field = self._prefix + name
        live = self._engine.model(field)
        if live is not None:
            return live
        if field not in self._shared:
            self._shared[field] = self._show_shared(field)
        base = self._shared[field][0]
        return base.expand(self._engine.num_envs, *base.shape[1:])

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("_"):
            super().__setattr__(name, value)
        elif value is not self._engine.model(self._prefix + name):
            _refuse_rebinding("sim.model", self._prefix + name)

    def __getitem__(self, field: str) -> torch.Tensor:
        """Return the field by its full name; options are named `opt.<name>`."""
        if field.startswith("opt."):
            return getattr(self.opt, field.removeprefix("opt."))
        return getattr(self, field)

    @property
    def opt(self) -> "ModelView":
        """Options, such as `sim.model.opt.gravity`."""
        if self._options is None:
            raise AttributeError("opt")
        return self._options

    def check_shared(self) -> None:
        """Raise if a field that all worlds share was written."""
        for field, (base, version) in self._shared.items():
            if base._version != version:
                raise SharedFieldError(
                    f"sim.model.{field} was written, but all worlds share it. Name it "
                    f"in the events that vary it, or call sim.expand({field!r}) first."
                )
        if self._options is not None:
            self._options.check_shared()

    def _show_shared(self, field: str) -> tuple[torch.Tensor, int]:
        tensor = compiled_value(self._engine.mj_model, field, self._engine.device)
        return tensor[None], tensor._version


def compiled_value(
    model: mujoco.MjModel, field: str, device: torch.device
) -> torch.Tensor:
    """Return the value of a model field as compiled, without a leading dimension."""
    value = model_value(model, field)
    with torch.inference_mode(False):
        typed = value.astype(surface_dtype(field, value.dtype))
        return torch.from_numpy(typed).to(device)
