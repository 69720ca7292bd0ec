"""The Warp engine: MuJoCo Warp on a CUDA device, or on Warp's CPU device."""

from collections.abc import Callable, Collection, Mapping, Sequence

import mujoco
import mujoco_warp as mjw
import torch
import warp as wp

from mjlab.sim.config import SimulationCfg
from mjlab.sim.engine import Control, Launch, SensePass, Use
from mjlab.sim.fields import STATE_FIELDS, ModelTable, Stage
from mjlab.sim.graphs import Graphs, on_torch_stream
from mjlab.sim.sizes import choose_sizes
from mjlab.sim.warp_fields import VARIABLE_FIELDS, WarpFields
from mjlab.sim.warp_launches import WarpLaunches
from mjlab.tensors.masks import write_where

_OVERFLOWS = {
    "constraints": (mjw.OverflowType.NEFC, "njmax"),
    "constraint_nonzeros": (mjw.OverflowType.NJMAX_NNZ, "njmax_nnz"),
    "contact_candidates": (mjw.OverflowType.BROADPHASE, "nconmax"),
    "contacts": (mjw.OverflowType.NARROWPHASE, "nconmax"),
    "convex_pairs": (mjw.OverflowType.CCD, "nccdmax"),
    "height_field": (mjw.OverflowType.HFIELD, "nconmax"),
    "contact_sensor": (mjw.OverflowType.CONTACT_MATCH, "contact_sensor_maxmatch"),
    "epa_horizon": (mjw.OverflowType.EPA_HORIZON, "mujoco.ccd_iterations"),
}


class WarpEngine:
    """Worlds of one model in MuJoCo Warp, with zero-copy torch views.

    The results of a world are bit-identical for any number of worlds from four on. With
    fewer worlds, Warp sums the Hessian of each world in parts (mujoco-warp 4.0.0,
    `solver._jtdaj_groups_per_world`).
    """

    name = "warp"
    batch = None

    def __init__(
        self,
        model: mujoco.MjModel,
        num_envs: int,
        cfg: SimulationCfg,
        *,
        device: str,
    ) -> None:
        self.device = torch.device(device)
        self.num_envs = num_envs
        self.mj_model = model
        self.variable_fields = VARIABLE_FIELDS
        self.sizes = choose_sizes(model, cfg)
        """Buffer sizes of contacts and constraints."""
        self._fields = WarpFields(model, num_envs, cfg, self.sizes, self.device)
        self._launches = WarpLaunches(self._fields)
        self.graphs = Graphs(
            device, self._fields.exchangeable_arrays, enabled=cfg.graphs
        )
        """Recordings (captured launches) of the engine's methods."""
        self._overflow = wp.to_torch(self._fields.wp_data.overflow, requires_grad=False)
        self._everyone = torch.ones(num_envs, dtype=torch.bool, device=self.device)

    @property
    def wp_model(self) -> mjw.Model:
        """MuJoCo Warp's model. A later `expand` replaces it."""
        return self._fields.wp_model

    @property
    def wp_data(self) -> mjw.Data:
        """MuJoCo Warp's data."""
        return self._fields.wp_data

    def data(self, name: str) -> torch.Tensor:
        """Return the live tensor of a data field, shape (num_envs, ...)."""
        return self._fields.data(name)

    def model(self, name: str) -> torch.Tensor | None:
        """Return the live tensor of a model field, or None if all worlds share it."""
        return self._fields.model(name)

    def expand(self, names: Collection[str]) -> None:
        """Allocate per-world values for model fields."""
        if self._fields.expand(names):
            self.graphs.drop()

    # Engine methods.

    def step(self, control: Control | None) -> None:
        """Advance every world by one timestep."""
        if control is None:
            self._run("step", self._launches.step)
            return
        self._run("begin", self._launches.begin)
        control()
        self._run("rest", self._launches.rest)

    def finish_step(self, control: Control | None) -> None:
        """Advance every world by one timestep, reusing the results of `forward()`.

        If sleep is enabled or sensors have a history, this is a whole step: trees fall
        asleep and wake, and histories are sampled, at the start of a step.
        """
        starts_anew = self._launches.sleeps or self._launches.samples_sensors
        if control is None and starts_anew:
            self._run("step", self._launches.step)
            return
        if starts_anew:
            self._run("begin", self._launches.begin)
        if control is not None:
            control()
        self._run("rest", self._launches.rest)

    def step_many(self, number: int, after_each: Callable[[], None] | None) -> None:
        """Advance every world by several timesteps, one by one."""
        for _ in range(number):
            self.step(None)
            if after_each is not None:
                after_each()

    def forward(self, stage: Stage) -> None:
        """Compute derived quantities up to `stage`. Later stages are unchanged."""
        if stage > Stage.NONE:
            name = f"forward.{stage.name.lower()}"
            self._run(name, lambda: self._launches.forward(stage))

    def reset(self, mask: torch.Tensor) -> None:
        """Reset the worlds of `mask` to the model's defaults."""
        self._launches.mask.copy_(mask)
        self._run("reset", self._launches.reset)

    def sense(self, passes: Sequence[SensePass]) -> None:
        """Run the sense passes: torch, then all launches, then torch again."""
        for sense_pass in passes:
            sense_pass.prepare()
        if passes:
            key = "sense." + ".".join(str(id(p)) for p in passes)
            self._run(key, lambda: _launch_all(passes))
        for sense_pass in passes:
            sense_pass.finish()

    def write_model(
        self, tables: Sequence[ModelTable], choice: torch.Tensor, mask: torch.Tensor
    ) -> None:
        """Write rows of model fields, after expanding them to per-world values."""
        self.expand([table.field for table in tables])
        for table in tables:
            live = self._fields.varied_tensors([table.field])[table.field]
            table.write_tensor(live, choice, mask)

    def recompute_constants(self, mask: torch.Tensor) -> None:
        """Recompute constants from the model fields of the worlds of `mask`.

        If no world of `mask` is set, only the kernel that tests the mask is launched.
        """
        with on_torch_stream(str(self.device)):
            self._launches.prepare_constants()
        self._launches.constants_mask.copy_(mask)
        self._run("constants", self._launches.constants)

    def _run(self, key: str, launch: Launch) -> None:
        with on_torch_stream(str(self.device)):
            self.graphs.run(key, launch)

    # Health.

    def overflow(self) -> dict[str, torch.Tensor]:
        """Return the number of episodes with an overflow, by kind, shape (num_envs,).

        Warp's overflow bits remain set until the world is reset, so each episode is
        counted once.
        """
        counts = self._launches.counts
        return {
            kind: counts[:, int(flag).bit_length() - 1]
            + ((self._overflow & int(flag)) != 0)
            for kind, (flag, _) in _OVERFLOWS.items()
        }

    def advice(self, kind: str) -> str:
        """Return the setting to change when `overflow()[kind]` is not zero."""
        setting = _OVERFLOWS[kind][1]
        value = getattr(self.sizes, setting, None)
        now = "" if value is None else f" (now {value})"
        return f"{kind} overflowed: increase sim.{setting}{now}"

    def bytes_per_world(self) -> int:
        """Return the approximate memory of one additional world, in bytes.

        Temporary arrays of kernels add half of the allocated memory.
        """
        return 3 * self._fields.nbytes // (2 * self.num_envs)

    def use(self) -> dict[str, Use]:
        """Return the maximum use so far. Synchronises with the device.

        All worlds share one contact buffer, so contacts are averaged over worlds.
        """
        contacts = int(self._launches.most_contacts) / self.num_envs
        rows = float(self._launches.most_rows.max())
        return {
            "contacts": Use(contacts, self.sizes.nconmax),
            "rows": Use(rows, self.sizes.njmax),
        }

    # Snapshots and rendering.

    def snapshot(self, *, model: bool = True) -> dict[str, torch.Tensor]:
        """Return the complete state of the engine."""
        counters = {"counts": self._launches.counts, "overflow": self._overflow}
        copies = {name: tensor.clone() for name, tensor in counters.items()}
        return self._fields.snapshot(model=model) | copies

    def restore(
        self, snapshot: Mapping[str, torch.Tensor], mask: torch.Tensor | None = None
    ) -> None:
        """Restore the state of `snapshot` in the worlds of `mask`."""
        model_fields = [n for n in snapshot if n.startswith("model.")]
        self.expand([name.removeprefix("model.") for name in model_fields])
        mask = self._everyone if mask is None else mask
        self._fields.restore(snapshot, mask)
        if "counts" in snapshot:
            write_where(self._launches.counts, mask, snapshot["counts"])
        if "overflow" in snapshot:
            write_where(self._overflow, mask, snapshot["overflow"])

    def mj_model_of(self, world: int) -> mujoco.MjModel:
        """Return an MjModel with the values of one world, for rendering."""
        return self._fields.model_of(world)

    def mj_data_of(self, world: int) -> mujoco.MjData:
        """Return an MjData with the state and poses of one world, for rendering."""
        data = mujoco.MjData(self.mj_model)
        for name in STATE_FIELDS:
            value = self.data(name)[world].cpu().numpy()
            if name == "time":
                data.time = float(value)
            else:
                getattr(data, name)[...] = value
        mujoco.mj_fwdPosition(self.mj_model_of(world), data)
        return data


def _launch_all(passes: Sequence[SensePass]) -> None:
    for sense_pass in passes:
        sense_pass.launch()
