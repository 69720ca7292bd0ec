"""The five simulation methods, on both engines, compared with MuJoCo C."""

import copy
from collections.abc import Callable
from typing import Any

import mujoco
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from mjlab.sim import (
    MujocoCfg,
    SharedFieldError,
    Simulation,
    SimulationCfg,
    Stage,
    StaleReadError,
    compile_model,
)
from mjlab.sim.fields import STAGE_OF, STATE_FIELDS
from tests.worlds.models import G1_VARIED, OPTIONS, g1_model, g1_targets

NUM_ENVS = 4
ENGINES = ("native", "warp")
# Acceleration sensors that are read here require the acceleration stage.
Make = Callable[..., Simulation]


def cfg_for(engine: str, **overrides: object) -> SimulationCfg:
    # With one world, candidate pairs of geoms need more than 64 entries.
    sizes = {"nconmax": 128, "njmax": 192}
    return SimulationCfg(backend=engine, mujoco=OPTIONS, **(sizes | overrides))


def start_bent(sim: Simulation) -> None:
    sim.data.qpos[:] = torch.from_numpy(sim.mj_model.key_qpos[0]).float()
    sim.forward(Stage.ACCELERATION)


@pytest.fixture(scope="module", params=ENGINES)
def shared_g1(request: pytest.FixtureRequest) -> Simulation:
    cfg = cfg_for(request.param)
    return Simulation(g1_model(), NUM_ENVS, cfg, device="cpu", vary=G1_VARIED)


@pytest.fixture
def g1(shared_g1: Simulation) -> Simulation:
    """Four robots with bent knees slightly above the ground."""
    sim = shared_g1
    for name in G1_VARIED:
        sim.model[name].copy_(sim.default(name).expand_as(sim.model[name]))
    sim.recompute_constants()
    sim.reset()
    start_bent(sim)
    return sim


def everything(sim: Simulation) -> dict[str, torch.Tensor]:
    """A copy of every data field of the simulation."""
    return {name: getattr(sim.data, name).clone() for name in STAGE_OF}


def c_data(model: mujoco.MjModel) -> mujoco.MjData:
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    return data


# Against MuJoCo C.


@pytest.mark.parametrize("num_threads", [1, 2])
def test_native_is_bit_identical_to_a_loop_over_mj_step(num_threads: int) -> None:
    worlds, steps = 8, 200
    cfg = cfg_for("native", num_threads=num_threads)
    sim = Simulation(g1_model(), worlds, cfg)
    model = sim.mj_model
    sim.data.qpos[:] = torch.from_numpy(model.key_qpos[0]).float()
    targets = g1_targets(model, worlds, steps)
    rows = []
    for world in range(worlds):
        data = mujoco.MjData(model)
        data.qpos[:] = model.key_qpos[0].astype(np.float32)
        for step in range(steps):
            data.ctrl[:] = targets[step, world]
            mujoco.mj_step(model, data)
        rows.append(np.concatenate([data.qpos, data.qvel, data.sensordata]))
    sensordata = sim.data.sensordata
    for step in range(steps):
        sim.data.ctrl[:] = torch.from_numpy(targets[step])
        sim.step()
    batch = sim.engine.batch
    ours = np.concatenate(
        [batch.bind("qpos"), batch.bind("qvel"), batch.bind("sensordata")], axis=1
    )
    assert (ours == np.array(rows)).all()
    assert (sensordata.numpy() == ours[:, -model.nsensordata :].astype("f4")).all()
    assert (batch.bind("ncon") > 0).any()


@pytest.mark.parametrize(
    "balls, option, own, is_sparse",
    [
        (5, "auto", "auto", False),  # 30 degrees of freedom.
        (6, "auto", "auto", True),
        (5, "auto", "sparse", True),
        (6, "auto", "dense", False),
        (6, "dense", "sparse", False),  # The options have priority.
        (5, "sparse", "dense", True),
    ],
)
def test_the_native_engine_has_its_own_bound_of_a_sparse_jacobian(
    balls: int, option: Any, own: Any, is_sparse: bool
) -> None:
    spec = mujoco.MjSpec()
    for _ in range(balls):
        body = spec.worldbody.add_body()
        body.add_freejoint()
        body.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[0.1, 0, 0])
    options = MujocoCfg(jacobian=option)
    cfg = SimulationCfg(backend="native", mujoco=options, native_jacobian=own)
    sim = Simulation(compile_model(spec, cfg), 1, cfg)
    assert sim.engine.batch.model.opt.jacobian == is_sparse


def test_twenty_steps_stay_within_1e_4_of_mujoco_c(g1: Simulation) -> None:
    model = g1_model()
    targets = g1_targets(model, NUM_ENVS, 20)
    for step in range(20):
        g1.data.ctrl[:] = torch.from_numpy(targets[step])
        g1.step()
    for world in range(NUM_ENVS):
        data = c_data(model)
        for step in range(20):
            data.ctrl[:] = targets[step, world]
            mujoco.mj_step(model, data)
        assert np.abs(g1.data.qpos[world].numpy() - data.qpos).max() < 1e-4
        assert np.abs(g1.data.xpos[world].numpy() - data.xpos).max() < 1e-4


def test_every_data_field_has_the_same_shape_and_type_on_both_engines() -> None:
    sims = [Simulation(g1_model(), 2, cfg_for(e), device="cpu") for e in ENGINES]
    for name in STAGE_OF:
        native, warp = (getattr(sim.data, name) for sim in sims)
        assert native.shape == warp.shape, name
        assert native.dtype == warp.dtype, name


def test_derived_fields_agree_with_mujoco_c_after_forward(g1: Simulation) -> None:
    model = g1_model()
    random = np.random.default_rng(0)
    velocity = 0.3 * random.standard_normal((NUM_ENVS, model.nv)).astype("f4")
    g1.data.qvel[:] = torch.from_numpy(velocity)
    g1.data.qpos[:, 2] += 0.5
    g1.forward(Stage.ACCELERATION)
    for world in range(NUM_ENVS):
        data = c_data(model)
        data.qpos[2] = np.float32(data.qpos[2]) + np.float32(0.5)
        data.qvel[:] = velocity[world]
        mujoco.mj_forward(model, data)
        for name in ("xpos", "xquat", "xmat", "cvel", "subtree_com", "qfrc_bias"):
            ours = getattr(g1.data, name)[world].numpy()
            c = getattr(data, name).reshape(ours.shape)
            assert np.allclose(ours, c, atol=2e-4 * max(1.0, np.abs(c).max())), name


# Independence of worlds.


@settings(max_examples=15)
@given(st.data())
def test_reset_leaves_worlds_outside_the_mask_bit_identical(
    shared_g1: Simulation, data: st.DataObject
) -> None:
    sim = shared_g1
    flags = data.draw(st.lists(st.booleans(), min_size=NUM_ENVS, max_size=NUM_ENVS))
    seed = data.draw(st.integers(0, 1000))
    random = torch.Generator().manual_seed(seed)
    sim.reset()
    start_bent(sim)
    sim.data.qvel.add_(torch.randn(sim.data.qvel.shape, generator=random))
    for _ in range(3):
        sim.data.ctrl.copy_(torch.randn(sim.data.ctrl.shape, generator=random))
        sim.step()
    before = everything(sim)
    mask = torch.tensor(flags)
    sim.reset(mask)
    after = everything(sim)
    for name in STAGE_OF:
        assert torch.equal(after[name][~mask], before[name][~mask]), name
    expected = torch.from_numpy(sim.mj_model.qpos0).float()
    assert (after["qpos"][mask] == expected).all()
    assert (after["qvel"][mask] == 0).all()
    assert (after["ctrl"][mask] == 0).all()


def test_a_world_that_is_reset_steps_like_a_new_one(g1: Simulation) -> None:
    for _ in range(5):
        g1.step()
    mask = torch.tensor([False, True, True, False])
    g1.reset(mask)
    g1.step()
    rows = g1.data.qpos[mask].clone()
    g1.reset()
    g1.step()
    assert torch.equal(rows, g1.data.qpos[mask])


def test_masked_reset_keeps_the_contacts_of_other_worlds(g1: Simulation) -> None:
    for _ in range(40):
        g1.step()
    before = g1.data.nefc.clone()
    assert (before > 0).all()
    g1.reset(torch.tensor([True, False, False, False]))
    assert torch.equal(g1.data.nefc[1:], before[1:])
    g1.forward(Stage.ACCELERATION)
    assert (g1.data.nefc[1:] > 0).all()


# Below 4 worlds MuJoCo Warp 4.0.0 sums a world's Hessian in another order
# (`solver._jtdaj_groups_per_world`), which changes last bits.
@pytest.mark.parametrize("engine, numbers", [("native", (1, 8)), ("warp", (4, 8))])
def test_a_world_does_not_depend_on_the_number_of_worlds(
    engine: str, numbers: tuple[int, int]
) -> None:
    model = g1_model()
    targets = torch.from_numpy(g1_targets(model, 8, 25))
    rows = []
    for worlds in numbers:
        sim = Simulation(model, worlds, cfg_for(engine), device="cpu", vary=G1_VARIED)
        start_bent(sim)
        for step in range(25):
            sim.data.ctrl[:] = targets[step, :worlds]
            sim.step()
        rows.append(sim.data.qpos[0].clone())
        assert sim.health.read().ok
    assert torch.equal(rows[0], rows[1])


def test_a_nan_stays_in_its_world_and_is_found(g1: Simulation) -> None:
    clean = run(g1, 10)
    start_again(g1)
    g1.data.qvel[2, 8] = float("nan")
    dirty = run(g1, 10)
    others = torch.tensor([0, 1, 3])
    assert torch.equal(dirty[others], clean[others])
    assert dirty[2].isnan().any()
    assert g1.health.find_nonfinite().tolist() == [False, False, True, False]
    assert g1.data.time[2] > 0


def test_a_nan_in_the_control_reaches_the_state(g1: Simulation) -> None:
    g1.data.ctrl[1, 0] = float("nan")
    g1.step()
    assert g1.data.qpos[1].isnan().any()
    assert g1.data.ctrl[1, 0].isnan()
    assert g1.health.find_nonfinite().tolist() == [False, True, False, False]


def test_health_counts_worlds_and_reports_them(g1: Simulation) -> None:
    before = g1.health.read().nonfinite
    g1.data.qpos[0, 3] = float("inf")
    g1.health.check()
    assert g1.health.read().nonfinite == before + 1


def run(sim: Simulation, steps: int) -> torch.Tensor:
    for _ in range(steps):
        sim.step()
    return sim.data.qpos.clone()


def start_again(sim: Simulation) -> None:
    sim.reset()
    start_bent(sim)


# Stages.


def test_a_step_continued_from_forward_is_bit_identical(g1: Simulation) -> None:
    targets = torch.from_numpy(g1_targets(g1_model(), NUM_ENVS, 20))
    ends = []
    for continues in (False, True):
        start_again(g1)
        for step in range(20):
            if step % 4 == 0:
                g1.forward(Stage.VELOCITY)
            g1.data.ctrl[:] = targets[step]
            g1.finish_step() if continues and step % 4 == 0 else g1.step()
        ends.append(everything(g1))
    for name in STAGE_OF:
        assert torch.equal(ends[0][name], ends[1][name]), name


def test_forward_short_of_acceleration_keeps_acceleration_sensors(
    g1: Simulation,
) -> None:
    run(g1, 3)
    sensor = g1.mj_model.sensor("imu_lin_acc")
    start, end = int(sensor.adr[0]), int(sensor.adr[0] + sensor.dim[0])
    before = g1.data.sensordata[:, start:end].clone()
    assert before.abs().max() > 0
    g1.engine.forward(Stage.VELOCITY)
    assert torch.equal(g1.engine.data("sensordata")[:, start:end], before)


def test_forward_refreshes_velocity_sensors_after_a_push(g1: Simulation) -> None:
    gyro = g1.data.sensor(g1.mj_model.sensor("imu_ang_vel").id)
    g1.data.qvel[1, 3] += 1.0
    g1.forward(Stage.VELOCITY)
    assert gyro[1].abs().max() > 0.5
    assert gyro[0].abs().max() < 0.1


@pytest.mark.parametrize("engine", ENGINES)
def test_forward_computes_the_stages_that_reads_need(engine: str) -> None:
    sim = Simulation(g1_model(), 1, cfg_for(engine), device="cpu", vary=G1_VARIED)
    assert sim.forward_stage == Stage.VELOCITY
    _ = sim.data.xpos
    assert sim.forward_stage == Stage.VELOCITY
    sim.forward()
    acceleration = sim.data.qacc.clone()
    assert sim.forward_stage == Stage.ACCELERATION
    sim.forward(Stage.ACCELERATION)
    assert torch.equal(acceleration, sim.data.qacc)


@pytest.mark.parametrize("engine", ENGINES)
def test_unexpected_read_of_a_skipped_stage_is_an_error(engine: str) -> None:
    sim = Simulation(g1_model(), 1, cfg_for(engine), device="cpu", vary=G1_VARIED)
    sim.reads.sealed = True
    sim.step()
    _ = sim.data.qacc  # After a step every stage is computed.
    sim.forward()
    with pytest.raises(StaleReadError, match=r"sim\.forward_stage='acceleration'"):
        _ = sim.data.qacc


def test_reads_are_recorded() -> None:
    sim = Simulation(g1_model(), 1, cfg_for("native"))
    with sim.reads.record() as names:
        _ = sim.data.qpos, sim.data.xpos
    _ = sim.data.qvel
    assert names == {"qpos", "xpos"}


# Control between the stages.


def test_a_pd_law_in_the_step_equals_one_before_it(g1: Simulation) -> None:
    """At the velocity stage qpos and qvel are still those before the step."""
    goal = torch.from_numpy(g1.mj_model.key_qpos[0, 7:]).float()

    def law() -> None:
        q, v = g1.data.qpos[:, 7:], g1.data.qvel[:, 6:]
        g1.data.ctrl.copy_(goal + 0.5 * (goal - q) - 0.02 * v)

    for _ in range(15):
        law()
        g1.step()
    before = everything(g1)
    start_again(g1)
    for _ in range(15):
        g1.step(control=law)
    after = everything(g1)
    for name in STAGE_OF:
        assert torch.equal(before[name], after[name]), name


def test_a_control_law_in_the_step_reads_the_velocity_stage_of_that_step(
    g1: Simulation,
) -> None:
    seen = []
    body = g1.mj_model.body("pelvis").id
    g1.data.qpos[:, 2] += 0.25

    def law() -> None:
        seen.append(g1.data.xpos[:, body, 2].clone())

    height = g1.data.qpos[:, 2].clone()
    g1.step(control=law)
    assert torch.equal(seen[0], height)


@pytest.mark.parametrize("whose", ["Euler's", "Runge and Kutta's", "a world's own"])
def test_after_a_law_in_the_step_all_fields_are_those_of_the_engine(whose: str) -> None:
    """Runge-Kutta computes positions and velocities four times per step."""
    model, integrators = g1_model(), mujoco.mjtIntegrator
    model.opt.integrator = integrators.mjINT_EULER
    if whose == "Runge and Kutta's":
        model.opt.integrator = integrators.mjINT_RK4
    sim = Simulation(model, 2, cfg_for("native"))
    if whose == "a world's own":
        sim.expand("opt.integrator")
        sim.model.opt.integrator[1] = int(integrators.mjINT_RK4)
    start_bent(sim)
    everything(sim)  # A field is published once it has been read.
    for _ in range(3):
        sim.step(control=lambda: None)
    for name in set(STAGE_OF) - set(STATE_FIELDS):
        ours = getattr(sim.data, name).numpy()
        theirs = sim.engine.batch.bind(name).reshape(ours.shape).astype(ours.dtype)
        np.testing.assert_array_equal(ours, theirs, err_msg=name)


# Fields per world.


def test_a_field_of_one_world_changes_only_that_world(g1: Simulation) -> None:
    clean = run(g1, 10)
    start_again(g1)
    g1.model.opt.gravity[1, 2] = -1.0
    varied = run(g1, 10)
    assert not torch.equal(varied[1], clean[1])
    others = torch.tensor([0, 2, 3])
    assert torch.equal(varied[others], clean[others])


def test_constants_follow_masses_in_the_masked_worlds_only(g1: Simulation) -> None:
    body = g1.mj_model.body("torso_link").id
    subtree, weight = g1.model.body_subtreemass, g1.model.body_invweight0
    before = subtree.clone(), weight.clone()
    g1.model.body_mass[1:3, body] += 5.0
    g1.recompute_constants(torch.tensor([False, True, False, False]))
    model = copy.copy(g1_model())
    model.body_mass[body] += 5.0
    mujoco.mj_setConst(model, mujoco.MjData(model))
    assert np.allclose(subtree[1].numpy(), model.body_subtreemass, rtol=1e-5)
    assert np.allclose(weight[1].numpy(), model.body_invweight0, rtol=1e-4)
    for world in (0, 2, 3):
        assert torch.equal(subtree[world], before[0][world])
        assert torch.equal(weight[world], before[1][world])


def test_writing_a_shared_field_is_an_error(g1: Simulation) -> None:
    old = g1.model.geom_solref[0, 0, 0].clone()
    g1.model.geom_solref[0, 0, 0] = 0.5
    try:
        with pytest.raises(SharedFieldError, match="geom_solref was written"):
            g1.step()
    finally:
        g1.model._shared.pop("geom_solref")
    assert g1.model.geom_solref[0, 0, 0] == old


def test_a_write_of_one_world_does_not_round_another() -> None:
    sim = Simulation(g1_model(), 2, cfg_for("native"))
    run(sim, 7)
    exact = sim.engine.batch.bind("qpos").copy()
    assert (exact != exact.astype(np.float32)).any()
    sim.data.qpos[0] += 0.1
    sim.engine.reset(torch.zeros(2, dtype=torch.bool))
    assert (sim.engine.batch.bind("qpos")[1] == exact[1]).all()
    assert (sim.engine.batch.bind("qpos")[0] != exact[0]).any()


# Snapshots.


def test_continuing_from_a_snapshot_is_bit_equal_to_not_stopping(
    g1: Simulation,
) -> None:
    g1.model.body_mass[2] *= 1.5
    g1.recompute_constants()
    run(g1, 5)
    snapshot = g1.snapshot()
    straight = run(g1, 10), everything(g1)
    g1.reset()
    g1.model.body_mass[2] = 1.0
    run(g1, 3)
    g1.restore(snapshot)
    again = run(g1, 10), everything(g1)
    assert torch.equal(straight[0], again[0])
    for name in STATE_FIELDS:
        assert torch.equal(straight[1][name], again[1][name]), name


def test_restoring_some_worlds_keeps_writes_to_others(
    g1: Simulation,
) -> None:
    snapshot = g1.snapshot()
    first = torch.arange(g1.num_envs) == 0
    for put_back in (g1.copy_rows, g1.restore):
        for live in (g1.data.qpos, g1.model.body_mass):
            live[:, 2] += 0.3
        written = g1.data.qpos.clone(), g1.model.body_mass.clone()
        put_back(snapshot, first)
        now = g1.data.qpos, g1.model.body_mass
        for live, before in zip(now, written, strict=True):
            assert torch.equal(live[1:], before[1:])
            assert not torch.equal(live[0], before[0])


def test_a_step_after_a_restore_does_not_continue_from_old_stages(
    g1: Simulation,
) -> None:
    snapshot = g1.snapshot()
    expected = run(g1, 1)
    g1.data.qpos[:, 2] += 0.3
    g1.forward(Stage.VELOCITY)
    g1.restore(snapshot)
    g1.finish_step()
    assert torch.equal(g1.data.qpos, expected)


@pytest.mark.parametrize("engine", ENGINES)
def test_world_can_be_copied_for_drawing(engine: str) -> None:
    sim = Simulation(g1_model(), 2, cfg_for(engine), device="cpu", vary=G1_VARIED)
    sim.model.body_mass[1, 1] = 7.0
    sim.data.qpos[1, 2] = 3.0
    assert sim.engine.mj_model_of(1).body_mass[1] == 7.0
    assert sim.engine.mj_model_of(0).body_mass[1] != 7.0
    assert np.isclose(sim.engine.mj_data_of(1).xpos[1, 2], 3.0)


def test_a_compiled_body_with_a_varying_inertial_frame_is_not_simple() -> None:
    spec = mujoco.MjSpec()
    spec.worldbody.add_body(name="box").add_freejoint()
    spec.body("box").add_geom(size=[0.1, 0, 0])
    cfg = SimulationCfg(mujoco=MujocoCfg())
    assert compile_model(spec, cfg).body_simple[1]
    model = compile_model(spec, cfg, vary={"body_ipos"})
    assert not model.body_simple[1:].any()
    sim = Simulation(model, 2, vary={"body_ipos"})
    sim.model.body_ipos[1, 1, 0] = 0.05
    sim.recompute_constants()
    sim.step()
