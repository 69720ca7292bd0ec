"""Muscle observations, rewards, metrics and events, compared with MuJoCo C."""

import mujoco
import numpy as np
import pytest
import torch

from mjlab.envs import ManagerBasedRlEnv
from mjlab.managers import (
    EventTermCfg,
    MetricsTermCfg,
    ObservationGroupCfg,
    ObservationTermCfg,
    RewardTermCfg,
    SceneEntityCfg,
    TermError,
)
from mjlab.muscle import events, muscle_action
from mjlab.muscle import mdp as terms
from tests.muscle.test_action import env_cfg
from tests.muscle.world import dense

EFFORTS = {
    "plain": {"squared": False},
    "squared": {},
    "plain_by_mass": {"squared": False, "by_mass": True},
    "squared_by_mass": {"by_mass": True},
}


def terms_cfg(**given):
    cfg = env_cfg()
    observed = {
        name: ObservationTermCfg(func=getattr(terms, f"muscle_{name}"))
        for name in ("length", "velocity", "activation", "force", "torque_capacity")
    }
    cfg.observations["muscles"] = ObservationGroupCfg(
        terms=observed, concatenate_terms=False
    )
    cfg.rewards = {
        name: RewardTermCfg(func=terms.muscle_effort, weight=1.0, params=params)
        for name, params in EFFORTS.items()
    }
    cfg.rewards["miss"] = RewardTermCfg(func=terms.torque_residual, weight=-1.0)
    cfg.metrics = {
        name: MetricsTermCfg(func=getattr(terms, name))
        for name in ("full_share", "idle_share", "optimality_gap")
    }
    cfg.scale_rewards_by_dt = False
    for name, value in given.items():
        setattr(cfg, name, value)
    return cfg


@pytest.fixture(scope="module")
def stepped():
    """An environment after a step, its observations and MuJoCo's data of world 1."""
    env = ManagerBasedRlEnv(terms_cfg())
    env.reset()
    observations, *_ = env.step(torch.full((3, 6), 0.4))
    data = mujoco.MjData(env.sim.mj_model)
    data.qpos, data.qvel = (env.sim.data.qpos[1].numpy(), env.sim.data.qvel[1].numpy())
    data.ctrl = muscle_action(env).activation[1].numpy()
    mujoco.mj_forward(env.sim.mj_model, data)
    return env, observations["muscles"], data


def test_observations_are_those_of_mujoco(stepped):
    _, seen, data = stepped
    for name, field in (
        ("length", data.actuator_length),
        ("velocity", data.actuator_velocity),
        ("activation", data.ctrl),
    ):
        assert np.allclose(seen[name][1].numpy(), field, atol=1e-5)
    assert np.allclose(seen["force"][1].numpy(), data.actuator_force, atol=2e-2)


def test_capacity_is_the_joint_torque_with_all_muscles_active(stepped):
    env, seen, data = stepped
    model, dofs = env.sim.mj_model, list(muscle_action(env).map.dof_ids)
    per_muscle = []
    for muscle in range(18):
        data.ctrl = np.eye(18)[muscle]
        mujoco.mj_forward(model, data)
        per_muscle.append(data.qfrc_actuator[dofs].copy())
    data.ctrl = 0.0
    mujoco.mj_forward(model, data)
    passive = data.qfrc_actuator[dofs].copy()
    active = np.array(per_muscle) - passive
    low, high = np.minimum(active, 0.0).sum(0), np.maximum(active, 0.0).sum(0)
    expected = 0.008 * np.concatenate((0.5 * low, 0.5 * high, passive))
    assert np.allclose(seen["torque_capacity"][1].numpy(), expected, atol=1e-4)


def test_effort_comes_in_four_forms(stepped):
    env, _, _ = stepped
    model = env.sim.mj_model
    activation = muscle_action(env).activation[1].double().numpy()
    # Peak force times optimal length, which is the width of the range here.
    mass = model.actuator_gainprm[:, 2] * np.diff(model.actuator_lengthrange)[:, 0]
    expected = {
        "plain": activation.mean(),
        "squared": (activation**2).mean(),
        "plain_by_mass": (activation * mass).sum() / mass.sum(),
        "squared_by_mass": (activation**2 * mass).sum() / mass.sum(),
    }
    for name, params in EFFORTS.items():
        cfg = RewardTermCfg(func=terms.muscle_effort, weight=1.0, params=params)
        value = terms.muscle_effort(cfg, env)(env, **params)
        assert float(value[1]) == pytest.approx(expected[name], rel=1e-5)


def test_residual_is_the_torque_that_muscles_did_not_reach(stepped):
    env, _, _ = stepped
    term = muscle_action(env)
    matrix = dense(term.muscles.torque_map, term.muscles.red)
    made = matrix @ term.activation[..., None]
    miss = (made.squeeze(-1) - term.wanted_torque).numpy()
    expected = np.sqrt((miss**2).mean(1))
    assert np.allclose(terms.torque_residual(env).numpy(), expected, rtol=1e-4)


def test_shares_and_gap_are_those_of_the_last_substep(stepped):
    env, _, _ = stepped
    activation = muscle_action(env).activation
    idle = (activation.numpy() == 0.0).mean(1)
    assert np.allclose(terms.idle_share(env).numpy(), idle)
    full = (activation.numpy() > 0.5).mean(1)
    assert np.allclose(terms.full_share(env, threshold=0.5).numpy(), full)
    assert bool((terms.optimality_gap(env) > 0.0).all())


# Events.


def event_env(func, params, mode="reset", **more):
    event = EventTermCfg(func=func, mode=mode, params=params)
    env = ManagerBasedRlEnv(terms_cfg(events={"event": event, **more}))
    env.reset()
    return env


def test_weakness_scales_active_and_passive_forces_of_the_chosen_muscles():
    legs = SceneEntityCfg("robot", actuator_names=(".*_r",))
    params = {"strength_range": (0.3, 0.6), "asset_cfg": legs}
    env = event_env(events.muscle_strength, params)
    compiled = env.sim.mj_model
    for field in ("actuator_gainprm", "actuator_biasprm"):
        ratio = env.sim.model[field][..., 2].numpy() / getattr(compiled, field)[:, 2]
        assert ratio[:, :9].min() >= 0.3 and ratio[:, :9].max() <= 0.6 + 1e-6
        assert len(np.unique(ratio[:, :9].round(6))) == 27
        assert np.allclose(ratio[:, 9:], 1.0, atol=1e-6)
    # Drawn again it starts from the compiled force, not from the last one.
    env.reset()
    ratio = env.sim.model.actuator_gainprm[..., 2].numpy()
    assert (ratio[:, :9] / compiled.actuator_gainprm[:9, 2]).min() >= 0.3


def test_a_contracture_makes_a_muscle_resist_earlier():
    params = {"shortening_range": (0.1, 0.1)}
    env = event_env(events.muscle_contracture, params)
    compiled = env.sim.mj_model
    own = env.sim.model.actuator_lengthrange[2].numpy()
    optimal = np.diff(compiled.actuator_lengthrange)
    expected = compiled.actuator_lengthrange - 0.1 * optimal
    assert np.allclose(own, expected, atol=1e-6)
    term = muscle_action(env)
    bias = term.present().bias[2]
    lengths = term.muscles.length[2].double().numpy()
    for muscle in range(18):
        prm = compiled.actuator_biasprm[muscle][:9]
        force = mujoco.mju_muscleBias(lengths[muscle], expected[muscle], 1.0, prm)
        assert float(bias[muscle]) == pytest.approx(force, abs=0.05, rel=1e-3)


def test_fatigue_grows_with_activation_and_a_reset_clears_it():
    env = event_env(
        events.muscle_fatigue, {"tiring": 0.5, "recovery": 0.1}, mode="step"
    )
    tired = np.zeros((3, 18))
    for _ in range(4):
        env.step(torch.full((3, 6), 0.8))
        activation = muscle_action(env).activation.double().numpy()
        change = 0.5 * activation * (1.0 - tired) - 0.1 * tired
        tired = tired + env.step_dt * change
    share = env.sim.model.actuator_gainprm[..., 2].numpy()
    share = share / env.sim.mj_model.actuator_gainprm[:, 2]
    assert np.allclose(share, 1.0 - tired, atol=1e-5)
    assert share.min() < 0.999
    env.reset()
    force = env.sim.model.actuator_gainprm[..., 2].numpy()
    assert np.allclose(force, env.sim.mj_model.actuator_gainprm[:, 2])


@pytest.mark.parametrize(
    ("func", "params", "message"),
    [
        (
            events.muscle_strength,
            {"strength_range": (0.6, 0.3)},
            r"strength_range is \(0.6, 0.3\); it has to be \(low, high\) with 0 <=",
        ),
        (
            events.muscle_contracture,
            {"shortening_range": (-0.1, 0.3)},
            r"shortening_range is \(-0.1, 0.3\); it has to be \(low, high\) with 0 <=",
        ),
    ],
)
def test_invalid_ranges_are_refused(func, params, message):
    with pytest.raises(TermError, match=message):
        event_env(func, params)
