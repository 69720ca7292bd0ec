"""Muscle models, compared with their acceptance values."""

import mujoco
import numpy as np
import pytest
import torch

from mjlab.entity import EntityCfg
from mjlab.muscle import MuscleState
from mjlab.scene import Scene, SceneCfg, build_scene
from mjlab.sim import Simulation, SimulationCfg, compile_model
from mjlab.tasks.muscle import models
from tests.muscle.world import (
    bend,
    constants,
    gather,
    muscle_map,
    muscle_model,
    random_state,
)

# Highest and lowest isometric torques in the bent stance, in N m, as published for the
# prototype (research 6.1 and 6.2).
W18_CAPACITY = {"hip_r": (128, -216), "knee_r": (211, -169), "ankle_r": (120, -313)}
TRUNK_CAPACITY = {
    "lumbar_extension": (213, -205),
    "lumbar_bending": (234, -234),
    "lumbar_rotation": (79, -79),
}


@pytest.mark.parametrize("name", ["arm6", "w18", "w54"])
def test_models_credit_their_source_as_its_licence_asks(name):
    text = (models.FOLDER / f"{name}.xml").read_text("utf-8")
    assert "CC BY 3.0" in text and "creativecommons.org/licenses/by/3.0" in text
    assert "Seth" in text and "OpenSim" in text


@pytest.mark.parametrize(
    ("name", "sizes"),
    [("arm6", (2, 2, 6)), ("w18", (9, 9, 18)), ("w54", (20, 19, 54))],
)
def test_models_have_the_sizes_of_the_specification(name, sizes):
    model = muscle_model(name)
    assert (model.nq, model.nv, model.nu) == sizes


@pytest.mark.parametrize(
    ("name", "structural", "pruned"), [("w18", 92, 24), ("w54", 516, 150)]
)
def test_pruning_keeps_the_moment_arms_that_the_prototype_had(name, structural, pruned):
    assert muscle_model(name).nJten == structural
    assert muscle_map(name).num_entries == pruned


@pytest.mark.parametrize("name", ["w18", "w54"])
def test_walkers_weigh_75_165_kg(name):
    assert muscle_model(name).body_mass.sum() == pytest.approx(75.165, abs=1e-3)


def capacities(name: str) -> dict[str, tuple[float, float]]:
    model = muscle_model(name)
    data = mujoco.MjData(model)
    bend(model, data)
    state = MuscleState(muscle_map(name), 1, dtype=torch.float64)
    state.update(gather(model, [data]), constants(model, 1))
    low, high = state.torque_map.capacity(state.red)
    joints = muscle_map(name).joint_names
    return {j: (float(high[0, i]), float(low[0, i])) for i, j in enumerate(joints)}


def test_w18_is_as_strong_as_the_prototype():
    found = capacities("w18")
    for joint, expected in W18_CAPACITY.items():
        assert found[joint] == pytest.approx(expected, abs=1.0)
        assert found[joint] == pytest.approx(found[joint[:-1] + "l"], rel=1e-9)


def test_w54_has_the_trunk_of_the_prototype():
    found = capacities("w54")
    for joint, expected in TRUNK_CAPACITY.items():
        assert found[joint] == pytest.approx(expected, abs=1.0)


def test_lengths_in_the_bent_stance_are_those_of_opensim():
    # Fibre lengths over optimal ones; research 6.1, of a slightly flexed stance.
    expected = {"hamstrings": 0.79, "bifemsh": 0.94, "glut_max": 0.58}
    expected |= {"iliopsoas": 0.91, "soleus": 0.90, "tib_ant": 0.73}
    model = muscle_model("w18")
    data = mujoco.MjData(model)
    bend(model, data)
    for name, length in expected.items():
        i = model.actuator(f"{name}_r").id
        low, high = model.actuator_lengthrange[i]
        found = (data.actuator_length[i] - low) / (high - low)
        assert found == pytest.approx(length, abs=0.02), name


@pytest.mark.parametrize("name", ["arm6", "w18", "w54"])
def test_no_tendon_jumps_when_a_joint_sweeps(name):
    model = muscle_model(name)
    data = mujoco.MjData(model)
    for j in np.flatnonzero(model.jnt_limited):
        mujoco.mj_resetData(model, data)
        lengths = []
        for angle in np.linspace(*model.jnt_range[j], 101):
            data.qpos[model.jnt_qposadr[j]] = angle
            mujoco.mj_fwdPosition(model, data)
            lengths.append(data.ten_length.copy())
        assert np.abs(np.diff(lengths, axis=0)).max() < 6e-3, model.joint(j).name


@pytest.mark.parametrize("name", ["arm6", "w18", "w54"])
def test_pruned_moment_arms_lose_no_torque_in_new_poses(name):
    model = muscle_model(name)
    state = MuscleState(muscle_map(name), 1, dtype=torch.float64)
    data, rng = mujoco.MjData(model), np.random.default_rng(5)
    worst, shared = 0.0, constants(model, 1)
    for _ in range(100):
        random_state(model, data, rng)
        state.update(gather(model, [data]), shared)
        made = state.torque_map.torque(state.red, torch.tensor(data.ctrl)[None])
        wanted = torch.tensor(data.qfrc_actuator[list(muscle_map(name).dof_ids)])
        worst = max(worst, float((made + state.passive_torque - wanted).abs().max()))
        others = np.delete(data.qfrc_actuator, muscle_map(name).dof_ids)
        worst = max(worst, float(np.abs(others).max(initial=0.0)))
    assert worst <= 0.1


def test_arm_wraps_a_sphere_and_a_cylinder_and_finds_its_length_ranges():
    model = muscle_model("arm6")
    wraps = set(model.wrap_type.tolist())
    assert int(mujoco.mjtWrap.mjWRAP_SPHERE) in wraps
    assert int(mujoco.mjtWrap.mjWRAP_CYLINDER) in wraps
    assert "lengthrange" not in models.ARM6_XML.read_text("utf-8")
    low, high = model.actuator_lengthrange.T
    assert (low > 0.05).all() and (high - low > 0.02).all()
    # Two muscles cross both joints, four cross one.
    counts = np.bincount(muscle_map("arm6").entry_muscle)
    assert sorted(counts) == [1, 1, 1, 1, 2, 2]


def test_arm_moment_arms_keep_their_sign():
    model, rng = muscle_model("arm6"), np.random.default_rng(0)
    data, muscles = mujoco.MjData(model), muscle_map("arm6")
    arms = []
    for _ in range(200):
        random_state(model, data, rng)
        arms.append(data.ten_J[list(muscles.entry_address)])
    low, high = np.min(arms, axis=0), np.max(arms, axis=0)
    assert (low * high > 0.0).all()


@pytest.mark.parametrize("name", ["w18", "w54"])
def test_standing_walkers_have_their_soles_just_above_the_ground(name):
    model = muscle_model(name)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    for side in "rl":
        for sole in ("heel", "toe"):
            geom = model.geom(f"{sole}_{side}").id
            lowest = data.geom_xpos[geom, 2] - model.geom_size[geom, 0]
            assert 0.0 <= lowest < 0.005


def scene_of(cfg: EntityCfg) -> tuple[Scene, Simulation]:
    scene = build_scene(SceneCfg(num_envs=2, entities={"robot": cfg}))
    options = SimulationCfg(backend="native")
    sim = Simulation(compile_model(scene.spec, options), 2, options)
    return scene, sim


@pytest.mark.parametrize("has_dynamics", [False, True])
def test_entity_of_w18_is_driven_by_its_muscles(has_dynamics):
    _, sim = scene_of(models.w18_cfg(has_dynamics=has_dynamics))
    assert sim.mj_model.nu == 18
    assert sim.mj_model.na == (18 if has_dynamics else 0)
    before = sim.data.qvel.clone()
    sim.data.ctrl.fill_(0.5)
    for _ in range(5):
        sim.step()
    assert torch.isfinite(sim.data.qpos).all()
    assert (sim.data.qvel - before).abs().max() > 0.01


def test_two_legs_pass_each_other_and_soles_meet_the_ground():
    spec = mujoco.MjSpec.from_file(str(models.W18_XML))
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1])
    model = spec.compile()
    data = mujoco.MjData(model)
    data.joint("root_z").qpos[:] = -0.01
    mujoco.mj_forward(model, data)
    met = {model.geom(g).name for c in data.contact for g in (c.geom1, c.geom2)}
    assert {"heel_r", "heel_l", "ball_r", "toe_l"} <= met
    ground = [g for g in range(model.ngeom) if model.geom_bodyid[g] == 0]
    assert all(c.geom1 in ground or c.geom2 in ground for c in data.contact)
