"""Torque laws and excitations, compared with definitions and MuJoCo's dynamics."""

from types import SimpleNamespace

import mujoco
import numpy as np
import pytest
import torch

from mjlab.muscle import (
    DiagonalStablePdLaw,
    DirectLaw,
    PlainPdLaw,
    StablePdLaw,
    inverse_excitation,
)
from mjlab.muscle.law import clip_to_capacity, solve_positive
from mjlab.tasks.muscle import models
from tests.muscle.world import gather, muscle_map, muscle_model, random_states

NAMES = ("arm6", "w18", "w54")


def test_elimination_solves_the_same_system_as_numpy():
    rng = np.random.default_rng(0)
    root = rng.normal(size=(20, 19, 19))
    matrix = root @ root.transpose(0, 2, 1) + 0.1 * np.eye(19)
    right = rng.normal(size=(20, 19))
    worlds_last = torch.tensor(matrix).permute(1, 2, 0), torch.tensor(right).t()
    own = solve_positive(*worlds_last).t()
    expected = np.linalg.solve(matrix, right[..., None])[..., 0]
    assert np.allclose(own.numpy(), expected, rtol=1e-9, atol=1e-9)


def test_pd_law_is_a_spring_and_a_damper():
    fields, _ = random_states("w18", 4)
    target = torch.full((4, 6), 0.3, dtype=torch.float64)
    of_w18 = muscle_model("w18"), muscle_map("w18")
    torque = PlainPdLaw(*of_w18, 200.0, 40.0).compute(fields, target)
    expected = 200.0 * (0.3 - fields.qpos[:, 3:]) - 40.0 * fields.qvel[:, 3:]
    assert torch.allclose(torque, expected)
    # Without a damping it is critical for unit inertia and half the gain: √(2 · 200).
    assert PlainPdLaw(*of_w18, 200.0).damping == pytest.approx(20.0)


def test_direct_law_passes_torques_on():
    fields, _ = random_states("arm6", 2)
    target = torch.tensor([[1.0, -2.0], [0.5, 0.0]])
    assert torch.equal(DirectLaw(10.0).compute(fields, target), 10.0 * target)


@pytest.mark.parametrize("name", NAMES)
def test_stable_pd_equals_pd_at_the_next_timestep(name):
    model = mujoco.MjModel.from_xml_path(str(getattr(models, f"{name.upper()}_XML")))
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_ACTUATION)
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    muscles, rng = muscle_map(name), np.random.default_rng(3)
    dofs, h, kp, kd = list(muscles.dof_ids), 1.0 / 600.0, 300.0, 24.0
    law = StablePdLaw(model, muscles, kp, kd, dtype=torch.float64)
    data = mujoco.MjData(model)
    for _ in range(5):
        data.qpos[list(muscles.qpos_ids)] = rng.uniform(-0.5, 0.5, len(dofs))
        data.qvel[:] = rng.normal(0.0, 3.0, model.nv)
        data.qfrc_applied[:] = 0.0
        mujoco.mj_forward(model, data)
        target = rng.uniform(-0.5, 0.5, (1, len(dofs)))
        torque = law.compute(gather(model, [data]), torch.tensor(target))[0].numpy()
        # What MuJoCo makes of this torque has to be what the law counted on.
        data.qfrc_applied[dofs] = torque
        mujoco.mj_forward(model, data)
        position = data.qpos[list(muscles.qpos_ids)] + h * data.qvel[dofs]
        velocity = data.qvel[dofs] + h * data.qacc[dofs]
        expected = kp * (target[0] - position) - kd * velocity
        assert np.allclose(torque, expected, rtol=1e-9, atol=1e-7)


def test_diagonal_stable_pd_of_one_joint_is_its_published_formula():
    model, muscles = muscle_model("w18"), muscle_map("w18")
    fields, _ = random_states("w18", 3)
    fields.qvel[0, 5] = 90.0
    law = DiagonalStablePdLaw(model, muscles, 300.0, 25.0)
    target = torch.zeros(3, 6, dtype=torch.float64)
    torque = law.compute(fields, target)
    dense, data = np.zeros((9, 9)), mujoco.MjData(model)
    data.qpos[:] = fields.qpos[0].numpy()
    mujoco.mj_forward(model, data)
    for i in range(9):
        mujoco.mj_mulM(model, data, dense[i], np.eye(9)[i])
    h, inertia = model.opt.timestep, dense[5, 5]
    # Speeds beyond 30 rad/s count as 30.
    plain = -300.0 * data.qpos[5] - 25.0 * 30.0
    expected = plain * inertia / (inertia + h * 25.0 + h * h * 300.0)
    assert float(torque[0, 2]) == pytest.approx(expected, rel=1e-6)


def test_stable_pd_stays_stable_where_pd_diverges():
    model, muscles = muscle_model("arm6"), muscle_map("arm6")
    kp, kd, ends = 40000.0, 800.0, {}
    for kind, law_type in {"plain": PlainPdLaw, "stable": StablePdLaw}.items():
        law = law_type(model, muscles, kp, kd)
        data = mujoco.MjData(model)
        target = torch.tensor([[0.5, 0.8]])
        for _ in range(120):
            mujoco.mj_step1(model, data)
            fields = gather(model, [data])
            single = SimpleNamespace(**{k: v.float() for k, v in vars(fields).items()})
            data.qfrc_applied[:] = law.compute(single, target)[0].numpy()
            mujoco.mj_step2(model, data)
        ends[kind] = np.abs(data.qpos - [0.5, 0.8]).max()
    assert ends["stable"] < 0.02
    assert not ends["plain"] < 0.2


@pytest.mark.parametrize("law_type", [StablePdLaw, DiagonalStablePdLaw])
def test_torques_have_the_same_bits_whatever_other_worlds_there_are(law_type):
    fields, _ = random_states("w54", 33)
    law = law_type(muscle_model("w54"), muscle_map("w54"))
    single = {k: v.float() for k, v in vars(fields).items()}
    torques = []
    for rows in (33, 5, 1):
        part = SimpleNamespace(**{k: v[:rows].contiguous() for k, v in single.items()})
        torques.append(law.compute(part, torch.zeros(rows, 13)))
    assert torch.equal(torques[0][:5], torques[1])
    assert torch.equal(torques[0][:1], torques[2])


def test_torques_are_clipped_to_the_muscles_capacity():
    capacity = (torch.tensor([[-5.0, -1.0]]), torch.tensor([[3.0, 2.0]]))
    clipped = clip_to_capacity(torch.tensor([[9.0, -4.0]]), capacity)
    assert clipped.tolist() == [[3.0, -1.0]]


def test_inverse_excitation_reaches_the_target_in_one_step_of_mujoco():
    model = models.arm6_with_dynamics().compile()
    data, rng = mujoco.MjData(model), np.random.default_rng(0)
    h, prm = model.opt.timestep, torch.tensor(model.actuator_dynprm)
    reached = 0
    for _ in range(50):
        data.act[:] = rng.uniform(0.0, 1.0, 6)
        wanted = np.clip(data.act + rng.uniform(-0.05, 0.05, 6), 0.0, 1.0)
        act = torch.tensor(data.act)
        control = inverse_excitation(torch.tensor(wanted), act, prm, h)
        data.ctrl[:] = control.numpy()
        free = ((control > 0.0) & (control < 1.0)).numpy()
        mujoco.mj_step(model, data)
        assert np.allclose(data.act[free], wanted[free], rtol=0, atol=1e-6)
        reached += int(free.sum())
    assert reached > 150


def test_inverse_excitation_saturates_for_unreachable_targets():
    prm = torch.tensor([0.01, 0.04, 0.0])
    control = inverse_excitation(
        torch.tensor([1.0, 0.0]), torch.tensor([0.0, 1.0]), prm, 1 / 600
    )
    assert control.tolist() == [1.0, 0.0]
