"""Kernel launches of the Warp engine's methods, which graphs can capture."""

from contextlib import AbstractContextManager, nullcontext

import mujoco
import mujoco_warp as mjw
import numpy as np
import torch
import warp as wp
from mujoco_warp._src import sleep as mjw_sleep
from mujoco_warp._src.forward import _launch_discrete_free_gyro

from mjlab.sim import kernels
from mjlab.sim.fields import Stage
from mjlab.sim.sizes import Sizes
from mjlab.sim.warp_fields import CONSTANTS, VARIABLE_FIELDS, WarpFields, make_data

_INTEGRATORS = {
    mjw.IntegratorType.EULER: mjw.euler,
    mjw.IntegratorType.RK4: mjw.rungekutta4,
    mjw.IntegratorType.IMPLICIT: mjw.implicit,
    mjw.IntegratorType.IMPLICITFAST: mjw.implicit,
    mjw.IntegratorType.DISCRETE: mjw.discrete,
}


class KeptMemory:
    """Allocator that keeps freed memory for reuse.

    The body of a conditional node in a CUDA graph cannot allocate memory, but MuJoCo
    Warp uses temporary arrays there (4.0.0). An earlier run with this allocator leaves
    exactly the free blocks that the capture requests.

    Supports only work that runs in order, on one stream at a time.
    """

    deallocate_requires_context_guard = False

    def __init__(self, device: wp.Device) -> None:
        self._device = device
        source = device.get_allocator()
        assert source is not None
        self._source = source
        self._free: dict[int, list[int]] = {}
        self.taken: list[tuple[int, int]] = []
        """Blocks allocated from the device."""

    def allocate(self, size_in_bytes: int) -> int:
        """Return memory of this size; allocate only if no free block exists."""
        free = self._free.setdefault(size_in_bytes, [])
        if free:
            return free.pop()
        block = self._source.allocate(size_in_bytes)
        self.taken.append((block, size_in_bytes))
        return block

    def deallocate(self, ptr: int, size_in_bytes: int) -> None:
        """Keep the block for reuse."""
        self._free[size_in_bytes].append(ptr)

    def serve(self) -> AbstractContextManager[object]:
        """Use this allocator within the block. Does nothing on the CPU."""
        if not self._device.is_cuda:
            return nullcontext()
        return wp.ScopedAllocator(self._device, self)

    def __del__(self) -> None:
        if not self.taken:
            return
        try:
            with self._device.context_guard:
                for block, size in self.taken:
                    self._source.deallocate(block, size)
        except (TypeError, AttributeError):
            pass  # At interpreter exit, parts of Warp can already be deleted.


class WarpLaunches:
    """Sequences of launches over the arrays of `WarpFields`."""

    def __init__(self, fields: WarpFields) -> None:
        self._fields = fields
        self._num_envs = fields.num_envs
        self._constants_data: mjw.Data | None = None
        self._constants_model: mjw.Model | None = None
        self._constants: list[tuple[wp.array, wp.array]] = []
        self._memory = KeptMemory(wp.get_device(str(fields.device)))
        with wp.ScopedDevice(str(fields.device)):
            self._mask = wp.ones(self._num_envs, dtype=wp.bool)
            self._constants_mask = wp.ones(self._num_envs, dtype=wp.bool)
            self._asked = wp.zeros(1, dtype=wp.int32)
            self._counts = wp.zeros((self._num_envs, 16), dtype=wp.int64)
            self._most_rows = wp.zeros(self._num_envs, dtype=wp.int32)
            self._most_contacts = wp.zeros(1, dtype=wp.int32)
            weights = fields.mj_model.body_invweight0
            weightless = np.flatnonzero((weights == 0.0) & [False, True])
            self._weightless = wp.array(weightless, dtype=wp.int32)
            self._late, self._early = _sensor_columns(fields.mj_model)
            self._static_geoms = wp.array(_static_geoms(fields.mj_model), dtype=int)

        def shown(array: wp.array) -> torch.Tensor:
            return wp.to_torch(array, requires_grad=False)

        self.mask = shown(self._mask)
        """Mask of the worlds to reset, shape (num_envs,), bool."""
        self.constants_mask = shown(self._constants_mask)
        """Mask of the worlds whose constants are recomputed, shape (num_envs,),
        bool."""
        self.counts = shown(self._counts)
        """Number of episodes that ended with each overflow bit, shape (num_envs,
        16)."""
        self.most_rows = shown(self._most_rows)
        """Maximum constraint rows in any step so far, shape (num_envs,), int32."""
        self.most_contacts = shown(self._most_contacts)
        """Maximum contacts of all worlds together in any step so far, shape (1,),
        int32."""

    @property
    def sleeps(self) -> bool:
        """True if trees fall asleep and wake at the beginning of a step."""
        option = self._fields.wp_model.opt
        islands = not option.disableflags & mjw.DisableBit.ISLAND
        return bool(option.enableflags & mjw.EnableBit.SLEEP) and bool(islands)

    def step(self) -> None:
        """Launch a whole physics step."""
        self._refresh_velocities()
        mjw.step(self._fields.wp_model, self._fields.wp_data)
        self._end_step()

    def begin(self) -> None:
        """Launch the part of `mjw.step` up to the velocity stage."""
        m, d = self._fields.wp_model, self._fields.wp_data
        if self.sleeps:
            mjw_sleep.wake(m, d)
            mjw_sleep.update_sleep(m, d)
        d.sensordata.zero_()
        self._velocity()

    def rest(self) -> None:
        """Launch the part of `mjw.step` after the velocity stage, in the same order."""
        m, d = self._fields.wp_model, self._fields.wp_data
        mjw.fwd_actuation(m, d)
        mjw.fwd_acceleration(m, d, factorize=True)
        mjw.solve(m, d)
        if m.opt.integrator == mjw.IntegratorType.DISCRETE:
            _launch_discrete_free_gyro(m, d, d.qacc, d.qacc, False)
        sensors = not m.opt.disableflags & mjw.DisableBit.SENSOR
        if m.opt.run_rne_postconstraint or (sensors and m.sensor_rne_postconstraint):
            mjw.rne_postconstraint(m, d)
        self._zero(self._late)
        mjw.sensor_acc(m, d, skip_rne_postconstraint=True)
        _INTEGRATORS[mjw.IntegratorType(m.opt.integrator)](m, d)
        self._end_step()

    @property
    def samples_sensors(self) -> bool:
        """True if sensors have a history. Each computation then adds a sample to it."""
        return bool((self._fields.mj_model.sensor_history[:, 0] > 0).any())

    def forward(self, stage: Stage) -> None:
        """Launch the stages up to `stage`, with their sensors.

        The histories of sensors are restored afterwards, because Warp adds a sample
        whenever it computes a sensor (4.0.0). A sensor with an interval would otherwise
        return this sample in the next step.
        """
        history = self._fields.wp_data.history
        kept = wp.clone(history) if self.samples_sensors else None
        if stage == Stage.POSITION:
            self._position()
        elif stage == Stage.VELOCITY:
            self._velocity()
        else:
            self._refresh_velocities()
            mjw.forward(self._fields.wp_model, self._fields.wp_data)
        if kept is not None:
            wp.copy(history, kept)

    def _position(self) -> None:
        m, d = self._fields.wp_model, self._fields.wp_data
        self._refresh_velocities()
        mjw.fwd_position(m, d, factorize=False)
        self._zero(self._early)
        mjw.sensor_pos(m, d)
        if m.opt.enableflags & mjw.EnableBit.ENERGY and m.sensor_e_potential == 0:
            mjw.energy_pos(m, d)

    def _velocity(self) -> None:
        # `mjw.step1` would also set acceleration sensors to zero (4.0.0).
        m, d = self._fields.wp_model, self._fields.wp_data
        self._position()
        mjw.fwd_velocity(m, d)
        mjw.sensor_vel(m, d)
        if m.opt.enableflags & mjw.EnableBit.ENERGY and m.sensor_e_kinetic == 0:
            mjw.energy_vel(m, d)

    def reset(self) -> None:
        """Reset the worlds of `mask` without changing the contacts of others.

        `mjw.reset_data` sets the number of contacts in the shared buffer to zero
        whenever world 0 is reset, and leaves old contacts assigned to world 0 (4.0.0).
        If the number is zero before the call, it does not change the buffer.
        """
        m, d = self._fields.wp_model, self._fields.wp_data
        arrays = [self._mask, d.overflow, self._counts]
        wp.launch(kernels.fold_overflow, self._num_envs, arrays)
        contact = d.contact
        arrays = [d.nacon, self._mask, contact.worldid, contact.type, contact.dist]
        arrays.append(contact.efc_address)
        wp.launch(kernels.bury_contacts, d.naconmax, arrays)
        number = wp.clone(d.nacon)
        d.nacon.zero_()
        mjw.reset_data(m, d, self._mask)
        wp.copy(d.nacon, number)

    def constants(self) -> None:
        """Recompute constants in the worlds of `constants_mask`, if it is not empty.

        On a CUDA device, a small kernel tests the mask. The launches that recompute
        constants, several hundred, are in a conditional node of the graph, which runs
        only if a world is set. Without driver support for conditional nodes, they run
        every time.
        """
        if not self._fields.wp_model.opt.graph_conditional:
            self._derive_constants()
            return
        self._asked.zero_()
        arrays = [self._constants_mask, self._asked]
        wp.launch(kernels.any_world, self._num_envs, arrays)
        wp.capture_if(self._asked, on_true=self._derive_constants)

    def prepare_constants(self) -> None:
        """Allocate the work buffers of `constants`, for the current model.

        `set_const` computes kinematics at qpos0 in the `Data` that it is given, so it
        is given a separate one; the derived fields of the simulation do not change. A
        run with an empty mask loads the kernels and allocates their memory, which is
        not possible in the body of a conditional node.
        """
        fields = self._fields
        if self._constants_model is fields.wp_model:
            return
        self._constants_model = fields.wp_model
        with wp.ScopedDevice(str(fields.device)):
            if self._constants_data is None:
                small = Sizes(nconmax=1, njmax=1, njmax_nnz=1, nccdmax=1)
                self._constants_data = make_data(fields.mj_model, self._num_envs, small)
            outputs = fields.varied_tensors(sorted(CONSTANTS)).values()
            rows = [wp.from_torch(tensor.flatten(1)) for tensor in outputs]
            rows = [live for live in rows if live.size]
            self._constants = [(live, wp.empty_like(live)) for live in rows]
            self._rehearse_constants()

    def _rehearse_constants(self) -> None:
        """Recompute constants once to load kernels and allocate memory; restore all."""
        arrays = [self._fields.array(n) for n in sorted(CONSTANTS & VARIABLE_FIELDS)]
        kept = [wp.clone(array) for array in arrays]
        self._constants_mask.zero_()
        self._derive_constants()
        for array, value in zip(arrays, kept, strict=True):
            wp.copy(array, value)

    def _derive_constants(self) -> None:
        """Recompute all constants, and restore the worlds outside `constants_mask`.

        The other worlds are restored because MuJoCo's compiler computes in float64, so
        the compiled values differ from Warp's in the last bits. Two bugs of mujoco-warp
        4.0.0 are worked around: bodies that cannot rotate get a rotational weight,
        which is set to zero; static geoms keep the poses of `make_data`, and are moved
        to their current poses.
        """
        assert self._constants_data is not None
        m, d = self._fields.wp_model, self._fields.wp_data
        for live, saved in self._constants:
            wp.copy(saved, live)
        with self._memory.serve():
            mjw.set_const(m, self._constants_data, restore=False)
        for live, saved in self._constants:
            arrays = [self._constants_mask, saved, live]
            wp.launch(kernels.restore_rows, live.shape, arrays)
        weights = self._fields.varied_tensors(["body_invweight0"])
        if weights and self._weightless.size:
            live = wp.from_torch(weights["body_invweight0"].flatten(1))
            dim = (self._num_envs, self._weightless.size)
            wp.launch(kernels.zero_columns, dim, [self._weightless, live])
        size = self._static_geoms.size
        if size:
            arrays = [self._constants_mask, self._static_geoms, m.geom_bodyid]
            arrays += [m.geom_pos, m.geom_quat, self._constants_data.xpos]
            arrays += [self._constants_data.xquat, d.geom_xpos, d.geom_xmat]
            wp.launch(kernels.place_geoms, (self._num_envs, size), arrays)

    def _refresh_velocities(self) -> None:
        """Compute the velocities that connect and weld constraints read.

        Warp creates constraints in the position stage, but connect and weld constraints
        read body velocities, which the later velocity stage computes (4.0.0). Without
        this refresh, they would use the velocities of the previous step, or after a
        reset, of the previous episode.
        """
        m, d = self._fields.wp_model, self._fields.wp_data
        if m.eq_connect_adr.size or m.eq_wld_adr.size:
            mjw.kinematics(m, d)
            mjw.com_pos(m, d)
            mjw.com_vel(m, d)

    def _end_step(self) -> None:
        """Update the maximum buffer use, and mark worlds that MuJoCo would reset.

        Warp does not check controls and accelerations, and clamping an actuator's force
        hides a NaN control (4.0.0).
        """
        d = self._fields.wp_data
        inputs = [mujoco.mjMAXVAL, d.ctrl, d.qacc, d.nefc, d.nacon, d.qpos, d.qvel]
        inputs += [self._most_rows, self._most_contacts]
        wp.launch(kernels.end_step, self._num_envs, inputs)

    def _zero(self, columns: wp.array) -> None:
        if columns.size:
            arrays = [columns, self._fields.wp_data.sensordata]
            wp.launch(kernels.zero_columns, (self._num_envs, columns.size), arrays)


def _static_geoms(model: mujoco.MjModel) -> np.ndarray:
    """Return the ids of geoms that neither a joint nor a mocap body moves."""
    body = model.geom_bodyid
    is_static = model.body_weldid[body] == 0
    is_mocap = model.body_mocapid[model.body_rootid[body]] >= 0
    return np.flatnonzero(is_static & ~is_mocap).astype(np.int32)


def _sensor_columns(model: mujoco.MjModel) -> tuple[wp.array, wp.array]:
    """Return the sensordata columns of the acceleration stage, and all others."""
    late, early = [], []
    for i in range(model.nsensor):
        start, dim = int(model.sensor_adr[i]), int(model.sensor_dim[i])
        is_late = model.sensor_needstage[i] == mujoco.mjtStage.mjSTAGE_ACC
        (late if is_late else early).extend(range(start, start + dim))
    return wp.array(late, dtype=wp.int32), wp.array(early, dtype=wp.int32)
