"""Muscle forces and torques, compared with MuJoCo C."""

from types import SimpleNamespace

import mujoco
import numpy as np
import pytest
import torch

from mjlab.muscle import (
    MuscleCurves,
    MuscleMap,
    MuscleMapError,
    MuscleState,
    StablePdLaw,
    muscle_act_rate,
)
from mjlab.sim import Simulation, SimulationCfg
from mjlab.sim.fields import Stage
from tests.muscle.world import (
    XML,
    EngineFields,
    constants,
    dense,
    muscle_map,
    muscle_model,
    random_states,
)

PARAMETERS = [
    (0.75, 1.05, 500.0, 200.0, 0.5, 1.6, 1.5, 1.3, 1.2),
    (0.0, 1.0, 740.0, 200.0, 0.0, 1.8, 10.0, 0.6, 1.4),
    (0.6, 1.3, -1.0, 350.0, 0.4, 1.9, 4.0, 0.9, 1.6),
]
RANGE = (0.21, 0.34)
ACC0 = 3.7


def float64(values: list[float]) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64)


def grid(prm: tuple[float, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Lengths and speeds on both sides of every bend, and on the bends."""
    optimal = (RANGE[1] - RANGE[0]) / (prm[1] - prm[0])
    lmin, lmax, fvmax = prm[4], prm[5], prm[8]
    bends = [lmin, (lmin + 1) / 2, 1.0, (1 + lmax) / 2, lmax]
    relative = np.concatenate([np.linspace(-0.3, 2.4, 61), bends])
    speeds = np.concatenate([np.linspace(-1.5, 1.5, 31), [-1.0, 0.0, fvmax - 1.0]])
    lengths = RANGE[0] + (relative - prm[0]) * optimal
    rows, columns = np.meshgrid(lengths, speeds * optimal * prm[6], indexing="ij")
    return rows.ravel(), columns.ravel()


@pytest.mark.parametrize("prm", PARAMETERS)
def test_gain_and_bias_are_those_of_mujoco_at_every_bend(prm):
    length, velocity = grid(prm)
    row, bounds = np.array(prm), np.array(RANGE)
    pairs = list(zip(length, velocity, strict=True))
    gain = [mujoco.mju_muscleGain(x, v, bounds, ACC0, row) for x, v in pairs]
    bias = [mujoco.mju_muscleBias(x, bounds, ACC0, row) for x in length]
    curves = MuscleCurves(
        torch.tensor(bounds),
        torch.tensor(ACC0, dtype=torch.float64),
        torch.tensor(row),
        torch.tensor(row),
    )
    lengths, speeds = torch.tensor(length), torch.tensor(velocity)
    own = curves.gain(lengths, speeds)
    assert torch.allclose(own, float64(gain), rtol=1e-10, atol=1e-10)
    own = curves.bias(lengths)
    assert torch.allclose(own, float64(bias), rtol=1e-10, atol=1e-10)
    assert min(gain) < -100.0 and min(bias) < -100.0


@pytest.mark.parametrize("width", [0.0, 0.2, 1.5])
def test_activation_rate_equals_mujocos(width):
    prm = np.array([0.012, 0.043, width])
    axis = np.concatenate([np.linspace(-0.2, 1.2, 29), [0.0, 0.5, 1.0]])
    ctrl, act = (a.ravel() for a in np.meshgrid(axis, axis))
    rate = [
        mujoco.mju_muscleDynamics(c, a, prm) for c, a in zip(ctrl, act, strict=True)
    ]
    own = muscle_act_rate(torch.tensor(ctrl), torch.tensor(act), torch.tensor(prm))
    assert torch.allclose(own, float64(rate), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("name", ["arm6", "geared arm6", "w18", "w54"])
def test_torques_are_those_of_mujoco_c_within_1e_10(name):
    fields, state = random_states(name, 200)
    dofs = list(muscle_map(name).dof_ids)
    made = state.torque_map.torque(state.red, fields.ctrl) + state.passive_torque
    wanted = fields.qfrc_actuator[:, dofs]
    # The reduced map leaves out arms below 1 mm; here they are exactly 0.
    assert (made - wanted).abs().max() <= 1e-10
    assert wanted.abs().max() > 10.0


@pytest.mark.parametrize("name", ["arm6", "w18", "w54"])
def test_reduced_products_are_those_of_the_dense_matrix(name):
    _, state = random_states(name, 16)
    torques, red = state.torque_map, state.red
    a = torch.rand(16, torques.num_muscles, dtype=torch.float64)
    r = torch.rand(16, torques.num_dofs, dtype=torch.float64)
    matrix = dense(torques, red)
    expected = torch.bmm(matrix, a.unsqueeze(-1)).squeeze(-1)
    assert torch.allclose(torques.torque(red, a), expected, rtol=0, atol=1e-9)
    expected = torch.bmm(r.unsqueeze(1), matrix).squeeze(1)
    assert torch.allclose(torques.pull(red, r), expected, rtol=0, atol=1e-9)
    single = torques.torque(red.float(), a.float())
    assert torch.allclose(single.double(), torques.torque(red, a), rtol=1e-5, atol=1e-4)


def test_capacity_adds_the_forces_in_each_direction():
    _, state = random_states("w18", 4)
    matrix = dense(state.torque_map, state.red)
    low, high = state.torque_map.capacity(state.red)
    assert torch.allclose(low, matrix.clamp(max=0).sum(-1))
    assert torch.allclose(high, matrix.clamp(min=0).sum(-1))
    capacity = state.joint_capacity()
    assert torch.equal(capacity[:, :6], 0.5 * low)
    assert torch.equal(capacity[:, 12:], state.passive_torque)


def engine_error(backend: str, name: str) -> tuple[float, float]:
    """Largest error of the formula against an engine, and the size of the torques."""
    model, count = muscle_model(name), 5
    device = None if backend == "native" else "cpu"
    sim = Simulation(model, count, SimulationCfg(backend=backend), device=device)
    fields, _ = random_states(name, count)
    sim.data.qpos[:] = fields.qpos.float()
    sim.data.qvel[:] = fields.qvel.float()
    sim.data.ctrl[:] = fields.ctrl.float()
    sim.forward(Stage.ACCELERATION)
    state = MuscleState(muscle_map(name), count)
    state.update(EngineFields(sim), sim.model)
    made = state.torque_map.torque(state.red, sim.data.ctrl) + state.passive_torque
    wanted = sim.data.qfrc_actuator[:, list(muscle_map(name).dof_ids)]
    return float((made - wanted).abs().max()), float(wanted.abs().max())


@pytest.mark.parametrize("name", ["arm6", "w18", "w54"])
def test_torques_are_those_of_the_native_engine(name):
    error, size = engine_error("native", name)
    assert error <= 1e-5 * size


@pytest.mark.slow
@pytest.mark.parametrize("name", ["arm6", "w18", "w54"])
def test_torques_are_those_of_mujoco_warp(name):
    error, size = engine_error("warp", name)
    assert error <= 1e-5 * size


@pytest.mark.slow
def test_stable_pd_and_lengths_on_mujoco_warp_are_those_of_mujoco_c():
    model, muscles = muscle_model("w18"), muscle_map("w18")
    fields, _ = random_states("w18", 5)
    sim = Simulation(model, 5, SimulationCfg(backend="warp"), device="cpu")
    sim.data.qpos[:] = fields.qpos.float()
    sim.data.qvel[:] = fields.qvel.float()
    sim.data.ctrl[:] = fields.ctrl.float()
    sim.forward(Stage.ACCELERATION)
    warp = EngineFields(sim)
    lengths = (warp.ten_length.double() - fields.actuator_length).abs().max()
    assert lengths <= 1e-6
    assert (warp.ten_J.double() - fields.ten_J).abs().max() <= 5e-5
    target = torch.zeros(5, 6)
    own = StablePdLaw(model, muscles).compute(warp, target)
    law = StablePdLaw(model, muscles, dtype=torch.float64)
    # Limits that are met push differently in single precision; the rest is compared.
    fields.qfrc_constraint = warp.qfrc_constraint.double()
    expected = law.compute(fields, target.double())
    error = (own.double() - expected).abs().max()
    assert error <= 1e-5 * expected.abs().max()


def test_weakness_of_one_world_changes_that_world_alone():
    sim = Simulation(muscle_model("w18"), 3, SimulationCfg(backend="native"))
    sim.expand("actuator_gainprm")
    sim.forward()
    state = MuscleState(muscle_map("w18"), 3)
    state.update(EngineFields(sim), sim.model)
    before = state.red.clone()
    sim.model.actuator_gainprm[1, :, 2] *= 0.5
    state.update(EngineFields(sim), sim.model)
    assert torch.equal(state.red[[0, 2]], before[[0, 2]])
    assert torch.allclose(state.red[1], 0.5 * before[1], rtol=1e-6)


def test_state_of_a_world_has_the_same_bits_whatever_other_worlds_there_are():
    fields, _ = random_states("w54", 33)
    single = {k: v.float() for k, v in vars(fields).items()}
    results = []
    for rows in (33, 5):
        part = SimpleNamespace(**{k: v[:rows].contiguous() for k, v in single.items()})
        fixed = constants(muscle_model("w54"), rows)
        fixed = SimpleNamespace(**{k: v.float() for k, v in vars(fixed).items()})
        state = MuscleState(muscle_map("w54"), rows)
        state.update(part, fixed)
        results.append((state.red[:5].clone(), state.passive_torque[:5].clone()))
    for more, fewer in zip(*results, strict=True):
        assert torch.equal(more, fewer)


# Bad models. Each is the arm with one thing changed.


def arm_with(old: str, new: str) -> mujoco.MjModel:
    text = XML["arm6"].read_text("utf-8")
    assert old in text
    return mujoco.MjModel.from_xml_string(text.replace(old, new))


def test_a_model_without_muscles_is_refused():
    model = mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><body><joint name='j'/><geom size='.1'/></body></worldbody>"
        "<actuator><motor joint='j'/></actuator></mujoco>"
    )
    with pytest.raises(MuscleMapError) as caught:
        MuscleMap.from_model(model)
    assert str(caught.value) == (
        "The model has no muscle: none of its 1 actuators has gaintype='muscle'."
    )


def test_a_muscle_across_an_uncontrolled_joint_is_refused():
    with pytest.raises(MuscleMapError) as caught:
        MuscleMap.from_model(muscle_model("arm6"), ["shoulder"])
    assert str(caught.value) == (
        "Muscle 'brachialis' crosses joint 'elbow', which is not among the controlled "
        "joints ['shoulder']. Control it too, or name it in `ignore`."
    )
    kept = MuscleMap.from_model(muscle_model("arm6"), ["shoulder"], ignore=["elbow"])
    assert kept.joint_names == ("shoulder",) and kept.num_entries == 4


def test_a_muscle_across_a_tied_joint_is_refused():
    tie = "<equality><joint joint1='elbow' joint2='shoulder'/></equality></mujoco>"
    with pytest.raises(
        MuscleMapError, match="'elbow', which an equality constraint couples"
    ):
        MuscleMap.from_model(arm_with("</mujoco>", tie))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            'tendon="biceps"',
            'tendon="biceps" forcerange="-100 0"',
            r"Muscle 'biceps' has a force limit, forcerange=\[-100.0, 0.0\]",
        ),
        (
            '<spatial name="biceps"',
            '<spatial name="biceps" actuatorfrcrange="-100 0"',
            r"Muscle 'biceps' has a force limit, actfrcrange=\[-100.0, 0.0\]",
        ),
        (
            '<joint name="elbow"',
            '<joint name="elbow" actuatorfrcrange="-50 50"',
            r"Joint 'elbow' has a force limit, actfrcrange=\[-50.0, 50.0\]",
        ),
    ],
)
def test_a_force_limit_that_breaks_linearity_is_refused(old, new, message):
    with pytest.raises(MuscleMapError, match=message):
        MuscleMap.from_model(arm_with(old, new))


def test_maps_of_equal_models_have_one_fingerprint():
    again = MuscleMap.from_model(muscle_model("w18"), num_poses=200)
    assert again.fingerprint == muscle_map("w18").fingerprint
    assert again.fingerprint != muscle_map("w54").fingerprint
