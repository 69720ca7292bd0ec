"""The Warp engine: MuJoCo Warp on a CUDA device, or on Warp's CPU device."""

import copy
import dataclasses
from collections.abc import Collection, Iterable, Sequence

import mujoco
import mujoco_warp as mjw
import numpy as np
import torch
import warp as wp
from mujoco_warp._src.types import BroadphaseType

from mjlab.sim import kernels
from mjlab.sim.config import SimulationCfg
from mjlab.sim.engine import Control, Launch, SensePass
from mjlab.sim.fields import STATE_FIELDS, Stage, model_value, surface_shape
from mjlab.sim.graphs import Graphs, on_torch_stream
from mjlab.sim.sizes import Sizes, choose_sizes

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
_CONSTANT_INPUTS = frozenset(mujoco.MjModel._setconst_inputs)
_CONSTANTS = frozenset(mujoco.MjModel._setconst_outputs)
_BROADPHASES = {
    "nxn": BroadphaseType.NXN,
    "sap_tile": BroadphaseType.SAP_TILE,
    "sap_segmented": BroadphaseType.SAP_SEGMENTED,
}


class WarpEngine:
    """Worlds of one model in MuJoCo Warp, seen through zero-copy torch views."""

    name = "warp"

    def __init__(
        self,
        model: mujoco.MjModel,
        num_envs: int,
        cfg: SimulationCfg,
        *,
        device: str,
        vary: Collection[str] = (),
    ) -> None:
        self.device = torch.device(device)
        self.num_envs = num_envs
        self.mj_model = model
        self.variable_fields = _variable_fields()
        self._cfg = cfg
        self.sizes = choose_sizes(model, cfg)
        self._varied: tuple[str, ...] = ()
        self._views: dict[str, torch.Tensor] = {}
        self._read: set[str] = set()
        with wp.ScopedDevice(device):
            self.wp_model = self._put_model(())
            self.wp_data = _make_data(model, num_envs, self.sizes)
            self._mask = wp.ones(num_envs, dtype=wp.bool)
            self._counts = wp.zeros((num_envs, 16), dtype=wp.int64)
            self._acceleration_columns, self._earlier_columns = _sensor_columns(model)
        self._constants_data: mjw.Data | None = None
        self._graphs = Graphs(device, self._array_identities, enabled=cfg.graphs)
        self.expand(vary)

    # Fields.

    def data(self, name: str) -> torch.Tensor:
        """The live tensor of a data field, shape (num_envs, ...)."""
        if name not in self._views:
            array = getattr(self.wp_data, name)
            shape = surface_shape(name, _mj_data_shape(self.mj_model, name))
            view = wp.to_torch(array, requires_grad=False)
            self._views[name] = view.view(self.num_envs, *shape)
        self._read.add(name)
        return self._views[name]

    def model(self, name: str) -> torch.Tensor | None:
        """The live tensor of a per-world model field, or None while it is shared."""
        if name not in self._varied:
            return None
        key = f"model.{name}"
        if key not in self._views:
            shape = model_value(self.mj_model, name).shape
            view = wp.to_torch(self._model_array(name), requires_grad=False)
            self._views[key] = view.view(self.num_envs, *shape)
        return self._views[key]

    def expand(self, names: Collection[str]) -> None:
        """Give model fields a value per world.

        Constants derived from them become per-world too: `set_const` writes world 0's
        result into an output that is shared (mujoco-warp 4.0.0).
        """
        wanted = set(names)
        if wanted & _CONSTANT_INPUTS:
            wanted |= _CONSTANTS & self.variable_fields
        new = wanted - set(self._varied)
        if not new:
            return
        kept = {name: self._model_array(name) for name in self._varied}
        self._varied = tuple(sorted({*self._varied, *new}))
        with wp.ScopedDevice(str(self.device)):
            self.wp_model = self._put_model(kept)
        self._constants_data = None
        self._graphs.drop()

    def _put_model(self, kept: dict[str, wp.array] | tuple[()]) -> mjw.Model:
        """Build Warp's model with the varied fields of full size.

        Warp leaves out kernels whose features are zero in the model that it is given:
        drag, surface velocity, adhesion, tendon damping and others (4.0.0). What will
        vary may become non-zero, so Warp is shown a model in which it is, and the true
        values are put in afterwards.
        """
        varied = {name for name in self._varied if not name.startswith("opt.")}
        sizes = dict.fromkeys(varied, self.num_envs)
        true = mjw.put_model(self.mj_model, batch_sizes=sizes)
        shown = mjw.put_model(_with_features(self.mj_model, self._varied), sizes)
        for field in _MODEL_ARRAYS:
            setattr(shown, field, getattr(true, field))
        for field in _OPTION_ARRAYS:
            setattr(shown.opt, field, getattr(true.opt, field))
        for name in self._varied:
            if name.startswith("opt."):
                shared = getattr(true.opt, name[4:])
                value = np.repeat(shared.numpy(), self.num_envs, axis=0)
                setattr(shown.opt, name[4:], wp.array(value, dtype=shared.dtype))
        for name, array in dict(kept).items():
            holder = shown.opt if name.startswith("opt.") else shown
            setattr(holder, name.removeprefix("opt."), array)
        option = shown.opt
        option.warn_overflow = 0
        option.broadphase = _BROADPHASES[self._cfg.broadphase]
        option.contact_sensor_maxmatch = self._cfg.contact_sensor_maxmatch
        option.graph_conditional = _has_conditional_graphs(self.device)
        return shown

    def _model_array(self, name: str) -> wp.array:
        holder = self.wp_model.opt if name.startswith("opt.") else self.wp_model
        return getattr(holder, name.removeprefix("opt."))

    def _array_identities(self) -> tuple[int, ...]:
        """Identities of the arrays that somebody might exchange for others.

        All fields would take 30 microseconds to look through at every verb, these 7.
        """
        return (
            *(id(getattr(self.wp_model, name)) for name in _MODEL_ARRAYS),
            *(id(getattr(self.wp_model.opt, name)) for name in _OPTION_ARRAYS),
            *(id(getattr(self.wp_data, name)) for name in STATE_FIELDS),
        )

    # Verbs.

    def step(self, control: Control | None, resume: bool) -> None:
        """Advance every world by one timestep.

        With sleep enabled a step always starts afresh, since trees fall asleep and
        wake at its beginning.
        """
        resume = resume and not self._sleeps
        if control is None:
            launch = self._launch_rest if resume else self._launch_step
            self._run("resume" if resume else "step", launch)
            return
        if not resume:
            self._run("begin", self._launch_begin)
        control()
        self._run("resume", self._launch_rest)

    def forward(self, stage: Stage) -> None:
        """Compute derived quantities up to `stage`.

        Short of the acceleration stage, outputs of that stage keep their values;
        `mjw.step1` would set acceleration sensors to zero (4.0.0).
        """
        if stage == Stage.ACCELERATION:
            self._run("forward.acceleration", self._launch_forward)
        elif stage == Stage.VELOCITY:
            self._run("forward.velocity", self._launch_velocity)
        elif stage == Stage.POSITION:
            self._run("forward.position", self._launch_position)

    def reset(self, mask: torch.Tensor) -> None:
        """Return the worlds of `mask` to the model's defaults."""
        wp.to_torch(self._mask, requires_grad=False).copy_(mask)
        self._run("reset", self._launch_reset)

    def sense(self, passes: Sequence[SensePass]) -> None:
        """Run the sense passes: torch, then all launches, then torch again."""
        for sense_pass in passes:
            sense_pass.prepare()
        if passes:
            key = "sense." + ".".join(str(id(p)) for p in passes)
            self._run(key, lambda: [p.launch() for p in passes] and None)
        for sense_pass in passes:
            sense_pass.finish()

    def recompute_constants(self, mask: torch.Tensor) -> None:
        """Derive constants anew from the model fields of the worlds of `mask`.

        Warp computes them for every world. Rows outside the mask are put back, since
        what the compiler computed in float64 differs in the last bits. The work is
        done beside the simulation's own data, whose derived fields stay as they are.
        """
        outputs = sorted(_CONSTANTS & set(self._varied))
        tensors = [self.model(name) for name in outputs]
        live = [tensor for tensor in tensors if tensor is not None]
        before = [tensor.clone() for tensor in live]
        if self._constants_data is None:
            with wp.ScopedDevice(str(self.device)):
                self._constants_data = _make_data(
                    self.mj_model, self.num_envs, Sizes(1, 1, 1, 1)
                )
        self._run("constants", self._launch_constants)
        for tensor, old in zip(live, before, strict=True):
            rows = mask.view(-1, *(1 for _ in tensor.shape[1:]))
            torch.where(rows, tensor, old, out=tensor)

    def _run(self, key: str, launch: Launch) -> None:
        with wp.ScopedDevice(str(self.device)), on_torch_stream(str(self.device)):
            self._graphs.run(key, launch)

    # What the verbs launch: Warp kernels and nothing else, so that it can be recorded.

    def _launch_step(self) -> None:
        mjw.step(self.wp_model, self.wp_data)

    def _launch_forward(self) -> None:
        mjw.forward(self.wp_model, self.wp_data)

    def _launch_begin(self) -> None:
        if self._sleeps:
            from mujoco_warp._src import sleep

            sleep.wake(self.wp_model, self.wp_data)
            sleep.update_sleep(self.wp_model, self.wp_data)
        self.wp_data.sensordata.zero_()
        self._launch_velocity()

    def _launch_position(self) -> None:
        m, d = self.wp_model, self.wp_data
        mjw.fwd_position(m, d, factorize=False)
        self._zero(self._earlier_columns)
        mjw.sensor_pos(m, d)
        if m.opt.enableflags & mjw.EnableBit.ENERGY and m.sensor_e_potential == 0:
            mjw.energy_pos(m, d)

    def _launch_velocity(self) -> None:
        m, d = self.wp_model, self.wp_data
        self._launch_position()
        mjw.fwd_velocity(m, d)
        mjw.sensor_vel(m, d)
        if m.opt.enableflags & mjw.EnableBit.ENERGY and m.sensor_e_kinetic == 0:
            mjw.energy_vel(m, d)

    def _launch_rest(self) -> None:
        """What `mjw.step` does after the velocity stage, in its order."""
        m, d = self.wp_model, self.wp_data
        mjw.fwd_actuation(m, d)
        mjw.fwd_acceleration(m, d, factorize=True)
        mjw.solve(m, d)
        sensors = not m.opt.disableflags & mjw.DisableBit.SENSOR
        if m.opt.integrator == mjw.IntegratorType.DISCRETE:
            from mujoco_warp._src.forward import _launch_discrete_free_gyro

            _launch_discrete_free_gyro(m, d, d.qacc, d.qacc, False)
        if m.opt.run_rne_postconstraint or (sensors and m.sensor_rne_postconstraint):
            mjw.rne_postconstraint(m, d)
        self._zero(self._acceleration_columns)
        mjw.sensor_acc(m, d, skip_rne_postconstraint=True)
        integrate = {
            mjw.IntegratorType.EULER: mjw.euler,
            mjw.IntegratorType.RK4: mjw.rungekutta4,
            mjw.IntegratorType.DISCRETE: mjw.discrete,
        }.get(mjw.IntegratorType(m.opt.integrator), mjw.implicit)
        integrate(m, d)

    def _launch_reset(self) -> None:
        """Reset worlds without touching the contacts of others.

        `mjw.reset_data` zeroes the number of pooled contacts whenever world 0 is among
        the reset, and leaves dead contacts in the name of world 0 (4.0.0). Shown no
        contacts, it leaves the pool alone.
        """
        m, d = self.wp_model, self.wp_data
        wp.launch(
            kernels.fold_overflow, self.num_envs, [self._mask, d.overflow, self._counts]
        )
        contact = d.contact
        wp.launch(
            kernels.bury_contacts,
            d.naconmax,
            [d.nacon, self._mask, contact.worldid, contact.type]
            + [contact.dist, contact.efc_address],
        )
        number = wp.clone(d.nacon)
        d.nacon.zero_()
        mjw.reset_data(m, d, self._mask)
        wp.copy(d.nacon, number)

    def _launch_constants(self) -> None:
        assert self._constants_data is not None
        mjw.set_const(self.wp_model, self._constants_data, restore=False)

    def _zero(self, columns: wp.array) -> None:
        values = self.wp_data.sensordata
        if columns.size:
            dim = (self.num_envs, columns.size)
            wp.launch(kernels.zero_columns, dim, [columns, values])

    @property
    def _sleeps(self) -> bool:
        option = self.wp_model.opt
        islands = not option.disableflags & mjw.DisableBit.ISLAND
        return bool(option.enableflags & mjw.EnableBit.SLEEP) and bool(islands)

    # Health.

    def overflow(self) -> dict[str, torch.Tensor]:
        """Worlds and episodes that met missing room by kind, shape (num_envs,).

        Warp's mask stays set until a world is reset, so an episode counts once.
        """
        counts = wp.to_torch(self._counts, requires_grad=False)
        present = wp.to_torch(self.wp_data.overflow, requires_grad=False)
        return {
            kind: counts[:, _bit(flag)] + ((present & int(flag)) != 0)
            for kind, (flag, _) in _OVERFLOWS.items()
        }

    def advice(self, kind: str) -> str:
        """What a user can set when `overflow()[kind]` is not zero."""
        setting = _OVERFLOWS[kind][1]
        value = getattr(self.sizes, setting, None)
        now = "" if value is None else f" (now {value})"
        return f"{kind} found no room: set sim.{setting} higher{now}"

    # Snapshots and pictures.

    def snapshot(self) -> dict[str, torch.Tensor]:
        """The state, the model fields, and the derived fields that have been read."""
        fields = sorted({*STATE_FIELDS, *self._read})
        tensors = {f"data.{n}": self.data(n).clone() for n in fields}
        for name in self._varied:
            value = self.model(name)
            assert value is not None
            tensors[f"model.{name}"] = value.clone()
        tensors["counts"] = wp.to_torch(self._counts).clone()
        tensors["overflow"] = wp.to_torch(self.wp_data.overflow).clone()
        return tensors

    def restore(self, snapshot: dict[str, torch.Tensor]) -> None:
        """Continue as if from the moment of `snapshot`."""
        self.expand({n[6:] for n in snapshot if n.startswith("model.")})
        for name, value in snapshot.items():
            if name.startswith("data."):
                self.data(name[5:]).copy_(value)
            elif name.startswith("model."):
                live = self.model(name[6:])
                assert live is not None
                live.copy_(value)
        wp.to_torch(self._counts).copy_(snapshot["counts"])
        wp.to_torch(self.wp_data.overflow).copy_(snapshot["overflow"])

    def mj_model_of(self, world: int) -> mujoco.MjModel:
        """The model of one world, with its own values, for drawing."""
        model = copy.copy(self.mj_model)
        for name in self._varied:
            live = self.model(name)
            assert live is not None
            holder = model.opt if name.startswith("opt.") else model
            old = getattr(holder, name.removeprefix("opt."))
            value = live[world].cpu().numpy().reshape(np.shape(old))
            if np.shape(old):
                old[...] = value
            else:
                setattr(holder, name.removeprefix("opt."), value.item())
        return model

    def mj_data_of(self, world: int) -> mujoco.MjData:
        """The state of one world, with its kinematics, for drawing."""
        data = mujoco.MjData(self.mj_model)
        for name in STATE_FIELDS:
            value = self.data(name)[world].cpu().numpy()
            if name == "time":
                data.time = float(value)
            else:
                getattr(data, name)[...] = value
        mujoco.mj_fwdPosition(self.mj_model_of(world), data)
        return data


def _batched(cls: type) -> list[str]:
    """Fields of one of Warp's types that are indexed by world."""
    return [
        field.name
        for field in dataclasses.fields(cls)
        if getattr(field.type, "shape", ())[:1] == ("*",)
    ]


_MODEL_ARRAYS = _batched(mjw.Model)
_OPTION_ARRAYS = _batched(mjw.Option)


def _variable_fields() -> frozenset[str]:
    """Model fields that vary per world and that MuJoCo C knows by the same name."""
    options = [f"opt.{name}" for name in _OPTION_ARRAYS]
    known = set(dir(mujoco.MjModel)) | {f"opt.{n}" for n in dir(mujoco.MjOption)}
    return frozenset(name for name in [*_MODEL_ARRAYS, *options] if name in known)


def _with_features(model: mujoco.MjModel, varied: Iterable[str]) -> mujoco.MjModel:
    """A copy of `model` in which no varied field of numbers is zero throughout."""
    shown = copy.copy(model)
    for name in varied:
        holder = shown.opt if name.startswith("opt.") else shown
        attribute = name.removeprefix("opt.")
        value = np.asarray(getattr(holder, attribute))
        if value.dtype.kind != "f" or value.any() or name in _CONSTANTS:
            continue
        if value.ndim:
            value[...] = 1e-9
        else:
            setattr(holder, attribute, 1e-9)
    mujoco.mj_setConst(shown, mujoco.MjData(shown))
    return shown


def _make_data(model: mujoco.MjModel, num_envs: int, sizes: Sizes) -> mjw.Data:
    return mjw.make_data(
        model,
        nworld=num_envs,
        nconmax=sizes.nconmax,
        njmax=sizes.njmax,
        njmax_nnz=sizes.njmax_nnz,
        nccdmax=sizes.nccdmax,
    )


def _mj_data_shape(model: mujoco.MjModel, name: str) -> tuple[int, ...]:
    return np.shape(getattr(mujoco.MjData(model), name))


def _sensor_columns(model: mujoco.MjModel) -> tuple[wp.array, wp.array]:
    """Columns of sensordata by stage: those of the acceleration stage, the others."""
    late, early = [], []
    for i in range(model.nsensor):
        start, dim = int(model.sensor_adr[i]), int(model.sensor_dim[i])
        is_late = model.sensor_needstage[i] == mujoco.mjtStage.mjSTAGE_ACC
        (late if is_late else early).extend(range(start, start + dim))
    return wp.array(late, dtype=wp.int32), wp.array(early, dtype=wp.int32)


def _has_conditional_graphs(device: torch.device) -> bool:
    """Whether the driver can put the solver's loop into a graph (CUDA 12.4)."""
    return device.type != "cuda" or wp.is_conditional_graph_supported()


def _bit(flag: mjw.OverflowType) -> int:
    return int(flag).bit_length() - 1
