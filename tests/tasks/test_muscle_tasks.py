"""Muscle tasks: configuration, learning, and checkpoints."""

import dataclasses
import math
from typing import ClassVar

import mujoco
import numpy as np
import pytest
import torch

from mjlab.envs import ManagerBasedRlEnv
from mjlab.muscle import MuscleLearnerCfg, WeightError, muscle_action
from mjlab.registry import load_task
from mjlab.rl import EvaluationCfg, LoggingCfg, load_policy, ship
from mjlab.rl.checkpoint import load_model
from mjlab.rl.vecenv import RslRlVecEnv
from mjlab.runs.checkpoints import find_checkpoint
from mjlab.runs.settings import read_task, task_text
from mjlab.tasks.muscle import TrackArm6Cfg, WalkW18Cfg, WalkW54Cfg, gait
from mjlab.tasks.muscle.learning import MuscleHook, MuscleHookCfg, random_rows
from tests.worlds.rl_runs import Display, agent_cfg, differing, train_without_export

TASKS = {
    "Muscle-Track-Arm6": (TrackArm6Cfg, 2, 6),
    "Muscle-Walk-W18": (WalkW18Cfg, 6, 18),
    "Muscle-Walk-W54": (WalkW54Cfg, 13, 54),
}


def small(cfg_type=WalkW18Cfg, num_envs=4, **more):
    cfg = cfg_type(seed=5, **more)
    cfg.scene.num_envs = num_envs
    cfg.sim.backend = "native"
    muscles = cfg.actions["muscles"]
    muscles.network.hidden = (16, 16)
    muscles.kept_steps = 12
    return cfg


def hooks(**more):
    given = {
        "learner": MuscleLearnerCfg(teacher_iterations=5),
        "pretraining_rows": 64,
        "pretraining_updates": 1,
    }
    return {"muscles": MuscleHookCfg(**(given | more))}


def agent(iterations=2, **more):
    return agent_cfg(
        iterations,
        logging=LoggingCfg(tensorboard=False),
        hooks=hooks(),
        **({"evaluation": EvaluationCfg(every=0)} | more),
    )


def run(tmp_path, iterations=2, cfg=None, **more):
    return train_without_export(
        cfg or small(),
        more.pop("agent_cfg", None) or agent(iterations),
        task="Muscle-Walk-W18",
        root=tmp_path,
        display=Display(),
        **more,
    )


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A run of two iterations."""
    return run(tmp_path_factory.mktemp("runs"))


@pytest.mark.parametrize("name", TASKS)
def test_a_task_begins_in_its_pose_and_stays_finite(name):
    cfg_type, joints, muscles = TASKS[name]
    assert isinstance(load_task(name).env(), cfg_type)
    env = ManagerBasedRlEnv(small(cfg_type))
    env.reset()
    term = muscle_action(env)
    assert (term.map.num_dofs, term.map.num_muscles) == (joints, muscles)
    for _ in range(3):
        observations, reward, *_ = env.step(torch.zeros(4, joints))
    assert bool(observations["actor"].isfinite().all())
    assert bool(reward.isfinite().all())


def test_task_configurations_are_restored_from_their_file():
    for name in TASKS:
        task = load_task(name)
        configs = {"env": task.env(), "agent": task.on_cpu.rl()}
        text = task_text(name, configs)
        again = read_task(text, "a run")
        assert task_text(name, again) == text


def test_walkers_begin_in_mid_stride_with_a_foot_on_the_ground_at_speed():
    for cfg_type in (WalkW18Cfg, WalkW54Cfg):
        cfg = small(cfg_type, num_envs=16)
        cfg.commands["gait"].start_spread = 0.0
        env = ManagerBasedRlEnv(cfg)
        env.reset()
        command = env.command_manager.term("gait")
        assert torch.allclose(command.root.speed(), command.speed, atol=1e-6)
        assert bool((command.speed >= 1.0).all() and (command.speed <= 1.5).all())
        assert len(command.phase.unique()) == 16
        data, model = mujoco.MjData(env.sim.mj_model), env.sim.mj_model
        for world in range(16):
            data.qpos = env.sim.data.qpos[world].numpy()
            mujoco.mj_forward(model, data)
            soles = [g for g in range(model.ngeom) if is_sole(model, g)]
            lowest = min(bottom(model, data, g) for g in soles)
            assert abs(lowest) < 2e-3


def is_sole(model, geom):
    return any(w in model.geom(geom).name for w in ("heel", "ball", "toe"))


def bottom(model, data, geom):
    """Return the lowest of many points on a geom."""
    ends = [data.geom_xpos[geom]]
    if model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_CAPSULE:
        axis = data.geom_xmat[geom].reshape(3, 3)[:, 2] * model.geom_size[geom, 1]
        ends = [ends[0] + axis, ends[0] - axis]
    return min(end[2] for end in ends) - model.geom_size[geom, 0]


def test_the_gait_matches_human_data():
    phase = np.linspace(0.0, 1.0, 200)
    hip, knee, ankle = (
        np.rad2deg(gait.angle(joint, phase)) for joint in ("hip", "knee", "ankle")
    )
    # Textbook values for comfortable walking, within a few degrees.
    assert hip.max() == pytest.approx(28, abs=6) and hip.min() == pytest.approx(
        -11, abs=4
    )
    assert -knee.min() == pytest.approx(60, abs=5)
    assert 0.6 < phase[knee.argmin()] < 0.8
    assert 0.1 < phase[:80][knee[:80].argmin()] < 0.2
    assert ankle.min() == pytest.approx(-15, abs=5) and 5 < ankle.max() < 15
    assert 0.55 < phase[ankle.argmin()] < 0.7
    assert gait.stride_frequency(torch.tensor(1.25)) * 1.1 == pytest.approx(1.0)


def test_the_phase_advances_with_the_stride_and_the_legs_are_half_a_cycle_apart():
    env = ManagerBasedRlEnv(small())
    env.reset()
    command = env.command_manager.term("gait")
    before, speed = command.phase.clone(), command.speed.clone()
    env.step(torch.zeros(4, 6))
    moved = (command.phase - before) % 1.0
    per_step = env.step_dt * (speed / 1.25) ** 0.45 / 1.1
    assert torch.allclose(moved, per_step, atol=1e-6)
    stride = 1.0 / gait.stride_frequency(command.speed[:1])
    right = command.pose(0.0)[:1, :3]
    left = command.pose(float(0.5 * stride))[:1, 3:]
    assert torch.allclose(right, left, atol=2e-3)


def test_standing_still_has_zero_reward_and_ends():
    cfg = small()
    cfg.commands["gait"].standing_share = 1.0
    env = ManagerBasedRlEnv(cfg)
    env.reset()
    command = env.command_manager.term("gait")
    assert float(command.root.speed().abs().max()) < 1e-6
    command.place.fill_(0.7)
    *_, terminated, _, _ = env.step(torch.zeros(4, 6))
    assert bool(terminated.all())


# Learning.


def test_every_iteration_reports_figures_of_the_muscle_network(trained):
    _, outcome = trained
    figures = outcome.figures
    names = ("loss", "rms_torque", "gap", "learn_ms", "publish_ms", "rows")
    assert all(math.isfinite(figures[f"Muscle/{name}"]) for name in names)
    # Once before the run, and after each of its iterations.
    assert figures["Muscle/version"] == 3.0
    # Of 4 worlds and 12 steps an eighth is held out.
    assert figures["Muscle/rows"] == 42.0


def test_a_checkpoint_contains_network_scales_optimiser_and_muscle_fingerprint(
    trained,
):
    _, outcome = trained
    state = load_model(outcome.checkpoint)["hooks"]["muscles"]
    assert {"muscle_scale", "torque_scale"} <= set(state["learner"]["network"])
    moments = state["learner"]["optimizer"]["state"][0]
    assert float(moments["exp_avg"].abs().sum()) > 0.0
    env = ManagerBasedRlEnv(small())
    assert state["map"] == muscle_action(env).map.fingerprint


@pytest.mark.slow
def test_a_resumed_run_continues_bit_for_bit(tmp_path):
    whole = run(tmp_path / "whole", 4)[1]
    folder, _ = run(tmp_path / "parts", 2)
    again = run(tmp_path / "parts", 4, resume=folder.path)[1]
    ends = [load_model(each.checkpoint) for each in (whole, again)]
    states = [flat(end["learner"]) | flat(end["hooks"], "hooks") for end in ends]
    assert differing(*states) == []


def flat(value, path=""):
    if isinstance(value, torch.Tensor):
        return {path: value}
    if not isinstance(value, dict):
        return {}
    found = {}
    for key, item in value.items():
        found |= flat(item, f"{path}/{key}")
    return found


def test_policy_plays_with_its_own_muscle_network(trained):
    folder, outcome = trained
    env = ManagerBasedRlEnv(small(num_envs=2))
    worlds = RslRlVecEnv(env)
    load_policy(folder.path, worlds, agent())
    saved = load_model(outcome.checkpoint)["hooks"]["muscles"]
    for name, value in muscle_action(env).network_state().items():
        assert torch.equal(value, saved["learner"]["network"][name])
    assert muscle_action(env).version == 3


def test_a_shipped_policy_contains_its_muscles_and_no_training_state(trained, tmp_path):
    folder, _ = trained
    shipped = ship(folder, tmp_path / "shipped")
    assert set(checkpoint_state(shipped)["learner"]) == {"network"}
    env = ManagerBasedRlEnv(small(num_envs=2))
    load_policy(shipped.path, RslRlVecEnv(env), agent())
    saved = checkpoint_state(folder)["learner"]["network"]
    for name, value in muscle_action(env).network_state().items():
        assert torch.equal(value, saved[name])


@pytest.mark.slow
def test_evaluation_uses_the_current_muscle_network(tmp_path):
    Spy.seen.clear()
    evaluated = EvaluationCfg(every=1, num_envs=2, max_steps=2)
    cfg = agent(2, evaluation=evaluated)
    cfg.hooks = {"muscles": SpyCfg(**vars(hooks()["muscles"]))}
    run(tmp_path, agent_cfg=cfg)
    assert Spy.seen == [(1, 1), (2, 2)]


class Spy(MuscleHook):
    seen: ClassVar = []

    def equip(self, env):
        super().equip(env)
        Spy.seen.append((self.version, muscle_action(env).version))


class SpyCfg(MuscleHookCfg):
    def bind(self, name, env):
        return Spy(name, self, env)


def test_muscles_of_another_model_are_refused(trained):
    folder, _ = trained
    with pytest.raises(WeightError, match="muscles and joints of this model differ"):
        env = ManagerBasedRlEnv(small(TrackArm6Cfg))
        MuscleHookCfg().equip(env, checkpoint_state(folder))
    with pytest.raises(WeightError, match="The checkpoint has no muscle network"):
        MuscleHookCfg().equip(env, {})


def checkpoint_state(folder):
    return load_model(find_checkpoint(folder.path))["hooks"]["muscles"]


@pytest.mark.slow
def test_training_on_random_poses_approaches_the_optimum():
    cfg = small()
    cfg.actions["muscles"].network.hidden = (128, 128)
    env = ManagerBasedRlEnv(cfg)
    learner = MuscleLearnerCfg(batch_size=256, epochs=4, teacher_iterations=40)
    more = hooks(learner=learner, pretraining_rows=3000, pretraining_updates=12)
    hook = more["muscles"].bind("muscles", env)

    @dataclasses.dataclass
    class Loop:
        env: ManagerBasedRlEnv

    rows = random_rows(muscle_action(env), 500, seed=99)
    before = hook.learner.measure(rows)["rms_torque"]
    hook.before_first_iteration(Loop(env))
    after = hook.learner.measure(rows)
    print(f"rms residual {before:.2f} before, {after['rms_torque']:.2f} N m after")
    assert after["rms_torque"] < 0.30 * before
    assert muscle_action(env).version == 1
