"""Reaching and lifting: terms, the scripted controller, recordings."""

import math
from collections.abc import Iterator
from types import SimpleNamespace

import h5py
import mujoco
import numpy as np
import pytest
import torch
from rsl_rl.storage import RolloutStorage
from tensordict import TensorDict

from mjlab import views
from mjlab.cli import replay
from mjlab.envs import ManagerBasedRlEnv, ManagerBasedRlEnvCfg, Rollout, mdp
from mjlab.managers import EventTermCfg, RecorderTermCfg
from mjlab.managers.term import TermError
from mjlab.recording import RecordingCfg
from mjlab.rl.algorithms.dagger import Dagger, ObservedActions
from mjlab.tasks.manipulation import (
    LiftYamCfg,
    LiftYamIKCfg,
    LiftYamMixedCfg,
    LiftYamTaughtCfg,
    ReachYamCfg,
)
from mjlab.tasks.manipulation import mdp as manipulation
from mjlab.tasks.manipulation.reach import GOAL
from mjlab.tasks.manipulation.scene import OBJECT
from mjlab.tasks.manipulation.script import ScriptedPolicy


def make(
    cfg: ManagerBasedRlEnvCfg,
    num_envs: int,
    *,
    backend: str = "native",
    seed: int = 3,
    task: str | None = None,
) -> ManagerBasedRlEnv:
    cfg.scene.num_envs, cfg.seed = num_envs, seed
    cfg.sim.backend = backend  # type: ignore[assignment]
    env = ManagerBasedRlEnv(cfg, device="cpu", task=task)
    env.reset()
    return env


def play(env: ManagerBasedRlEnv, *, seed: int) -> torch.Tensor:
    """Let the script play an episode; return the worlds in which the cube was held."""
    rollout = Rollout(env, ScriptedPolicy(env), seed=seed)
    succeeded = torch.zeros(env.num_envs, dtype=torch.bool)
    for stepped in rollout.steps(env.max_episode_length):
        # A reset clears the outcome, so it is read during the episode.
        succeeded |= env.outcome_manager.once("success") & stepped & ~rollout.dones
    return succeeded


def put(env: ManagerBasedRlEnv, *places: tuple[float, float, float, float]) -> None:
    """Place the cube of each world at x, y, z with a yaw."""
    poses = torch.tensor(
        [[x, y, z, math.cos(t / 2), 0.0, 0.0, math.sin(t / 2)] for x, y, z, t in places]
    )
    everyone = torch.ones(env.num_envs, dtype=torch.bool)
    views.of(env.scene).view(OBJECT).write_root_pose(everyone, poses)
    env.sim.forward()
    env.scene.refresh()


@pytest.fixture(scope="module")
def lift() -> Iterator[ManagerBasedRlEnv]:
    env = make(LiftYamCfg(), 2)
    yield env
    env.close()


# Terms.


def test_displacements_to_object_and_goal_match_mujocos_positions(lift):
    put(lift, (0.3, 0.1, 0.05, 0.0), (0.25, -0.1, 0.02, 1.0))
    model = lift.sim.mj_model
    site = model.site("robot/grasp_site").id
    grasp = lift.sim.data.site_xpos[:, site]
    cube = torch.tensor([[0.3, 0.1, 0.05], [0.25, -0.1, 0.02]])
    goal = manipulation.goal_command(lift, GOAL).goal_pos_w
    to_object = manipulation.gripper_to_object(lift, GOAL)
    torch.testing.assert_close(to_object, cube - grasp, rtol=0, atol=1e-6)
    to_goal = manipulation.object_to_goal(lift, GOAL)
    torch.testing.assert_close(to_goal, goal - cube, rtol=0, atol=1e-6)


def test_a_quarter_turn_of_a_cube_leaves_its_heading_observation_unchanged(lift):
    put(lift, (0.3, 0.0, 0.02, 0.2), (0.3, 0.0, 0.02, 0.2 + math.pi / 2))
    seen = manipulation.object_heading(lift, OBJECT)
    expected = torch.tensor([math.cos(0.8), math.sin(0.8)]).expand(2, 2)
    torch.testing.assert_close(seen, expected, rtol=0, atol=1e-5)


def test_an_object_counts_as_dropped_10_cm_below_the_table(lift):
    put(lift, (0.9, 0.0, -0.09, 0.0), (0.9, 0.0, -0.11, 0.0))
    assert manipulation.dropped(lift, OBJECT).tolist() == [False, True]


def test_success_takes_half_a_second_at_the_goal_without_a_break(lift):
    goal = manipulation.goal_command(lift, GOAL).goal_pos_w.tolist()
    term = lift.outcome_manager.term("success")
    near = [(x, y, z - 0.029, 0.0) for x, y, z in goal]
    term.forget()
    for step in range(1, 14):
        away = [(x, y, z - 0.031, 0.0) for x, y, z in goal]
        # The second world leaves once.
        put(lift, near[0], away[1] if step == 5 else near[1])
        held = term()
        # A step takes 0.04 s, so 13 of them are the first half second.
        assert held.tolist() == [step >= 13, False]
    term.forget()


def fingers_that_push(env: ManagerBasedRlEnv, world: int) -> set[str]:
    """Return gripper bodies that push the cube, by MuJoCo's list of contacts."""
    model = env.sim.mj_model
    data = mujoco.MjData(model)
    data.qpos[:] = env.sim.data.qpos[world].numpy()
    data.qvel[:] = env.sim.data.qvel[world].numpy()
    data.ctrl[:] = env.sim.data.ctrl[world].numpy()
    mujoco.mj_forward(model, data)
    found, force = set(), np.zeros(6)
    for index in range(data.ncon):
        bodies = {
            model.body(model.geom_bodyid[geom]).name
            for geom in data.contact[index].geom
        }
        mujoco.mj_contactForce(model, data, index, force)
        if "object/thing" in bodies and np.linalg.norm(force[:3]) > 0.05:
            found |= bodies
    return found & set(manipulation.FINGERS)


def test_a_grip_is_detected_by_contacts_of_both_fingers_in_mujoco():
    cfg = LiftYamIKCfg()
    cfg.events = {  # All worlds have the compiled cube, like the reference.
        name: term for name, term in cfg.events.items() if term and term.mode == "reset"
    }
    cfg.sim.forward_stage = "acceleration"  # The test reads forces after a step.
    env = make(cfg, 4)
    grip = env.reward_manager.term("grip")
    rollout = Rollout(env, ScriptedPolicy(env), seed=5)
    expected = {20: set(), 95: set(manipulation.FINGERS)}
    for step, _ in enumerate(rollout.steps(96)):
        if step in expected:
            for world in range(4):
                assert fingers_that_push(env, world) == expected[step]
            assert (grip() > 0).tolist() == [bool(expected[step])] * 4
    # One finger alone does not grip: the other one is opened immediately.
    robot = env.scene.entity("robot")
    finger = [robot.joint_names.index("right_finger")]
    everyone = torch.ones(4, dtype=torch.bool)
    robot.write_joint_state(
        everyone, torch.full((4, 1), -0.037), torch.zeros(4, 1), torch.tensor(finger)
    )
    env.sim.step()
    env.scene.update(env.physics_dt)
    assert not grip().any()
    env.close()


def test_a_cube_that_both_fingers_press_onto_the_table_is_not_gripped():
    """Policies exploited a reward for touching, and never lifted."""
    env = make(LiftYamIKCfg(), 3)
    held = manipulation._Held(env, OBJECT)
    # At the left and the right finger: between them, below them, at one alone.
    left = torch.tensor([[0.0, 2.0, 0.1], [0.0, 0.5, 2.0], [0.0, 2.0, 0.0]])
    right = torch.tensor([[0.0, -2.0, 0.1], [0.0, -0.5, 2.0], [0.0, -0.01, 0.0]])
    forces = iter((left, right))
    held._views = SimpleNamespace(  # type: ignore[assignment]
        pairwise_contact_force=lambda finger, thing: next(forces)
    )
    assert held().tolist() == [True, False, False]
    env.close()


# The controller, by hand arithmetic.


@pytest.mark.slow
def test_the_script_lifts_95_percent_of_64_cubes():
    assert play(make(LiftYamIKCfg(), 64), seed=100).float().mean() >= 0.95


@pytest.mark.slow
def test_the_script_lifts_8_cubes_of_8_on_warps_cpu_device():
    cfg = LiftYamIKCfg()
    cfg.sim.nconmax, cfg.sim.njmax = 128, 512
    env = make(cfg, 8, backend="warp")
    assert play(env, seed=0).all()
    assert not any(env.sim.health.read().overflow.values())


@pytest.mark.slow
def test_the_script_lifts_objects_of_all_four_kinds():
    env = make(LiftYamMixedCfg(), 64)
    choice = env.scene.variants[OBJECT].choice
    succeeded = play(env, seed=7)
    # Between flat fingers a ball rolls, and a third of them roll away.
    for option, least in enumerate((0.9, 0.9, 0.5, 0.9)):
        assert succeeded[choice == option].float().mean() >= least


def test_a_world_has_one_to_three_objects_of_which_one_is_lifted():
    env = make(LiftYamMixedCfg(), 64)
    present = torch.stack([v.present for v in env.scene.variants.values()])
    assert set(present.sum(dim=0).tolist()) == {1, 2, 3}
    assert env.scene.variants[OBJECT].present.all()
    env.close()


@pytest.mark.slow
def test_dropped_cube_is_grasped_again():
    cfg = LiftYamIKCfg(episode_length_s=12.0)
    env = make(cfg, 2)
    policy = ScriptedPolicy(env)
    rollout = Rollout(env, policy, seed=0)
    for _ in rollout.steps(80):
        pass
    assert policy.script.stage.tolist() == [3, 3]
    put(env, (0.3, 0.1, 0.02, 0.3), (0.3, -0.1, 0.02, 0.3))
    for _ in rollout.steps(2):
        pass
    assert policy.script.stage.tolist() == [0, 0]
    for _ in rollout.steps(150):
        pass
    assert env.outcome_manager.now("success").all()
    env.close()


@pytest.mark.slow
def test_by_joint_targets_the_script_lifts_as_well():
    env = make(LiftYamTaughtCfg(), 8)
    observations = env.reset(seed=0)[0]
    for _ in range(env.max_episode_length - 2):
        expert = observations["expert"]
        assert isinstance(expert, torch.Tensor)
        observations = env.step(expert.clone())[0]
    assert env.outcome_manager.once("success").sum() >= 7
    env.close()


# Recordings.


def test_demonstrations_are_recorded_replayed_bit_for_bit_and_exported(
    tmp_path, capsys
):
    cfg = LiftYamIKCfg(episode_length_s=5.2)
    cfg.recording = RecordingCfg(folder=str(tmp_path), name="demos", export="succeeded")
    cfg.recorders = {
        "actions": RecorderTermCfg(func=mdp.raw_actions),
        "obs": RecorderTermCfg(func=mdp.observation_group, when="pre_step"),
        "start": RecorderTermCfg(func=mdp.world_states, when="post_reset"),
    }
    env = make(cfg, 3, task="Lift-Yam-IK")
    assert play(env, seed=0).all()
    env.close()
    steps = 130
    with h5py.File(tmp_path / "demos.h5") as file:
        assert len(file) == 3
        for episode in file.values():
            assert episode["actions"].shape == (steps, 7)
            # By hand: 6 joints twice, a finger, object, heading, goal, 7 actions.
            assert episode["obs"].shape == (steps, 6 + 6 + 1 + 3 + 2 + 3 + 7)
            assert episode["success"][-1]
    # The exit code is 0 only if everything is equal bit for bit.
    demos = tmp_path / "demos.hdf5"
    replay.main([str(tmp_path / "demos.h5"), "--robomimic", str(demos)])
    assert "3 episodes" in capsys.readouterr().out
    with h5py.File(demos) as file:
        assert sorted(file["data"]) == ["demo_0", "demo_1", "demo_2"]
        assert file["data/demo_0/actions"].shape == (steps, 7)
        assert file["data"].attrs["total"] == 3 * steps


# Imitation.


class Teaching:
    """Arguments of RSL-RL's algorithm: a student with one layer, and a rollout."""

    def __init__(
        self,
        worlds: int = 8,
        steps: int = 4,
        capacity: int = 1000,
        half_life: int | None = None,
    ) -> None:
        from rsl_rl.models import MLPModel

        torch.manual_seed(0)
        self.matrix = torch.tensor([[0.5, -1.0, 2.0], [1.5, 0.3, 0.0]])
        self.worlds = worlds
        seen = self.seen()
        groups = {"student": ["actor"], "teacher": ["expert"]}
        gaussian = {
            "class_name": "rsl_rl.modules.distribution:GaussianDistribution",
            "init_std": 0.1,
        }
        student = MLPModel(
            seen,
            groups,
            "student",
            2,
            hidden_dims=(8,),
            activation="identity",
            distribution_cfg=gaussian,
        )
        teacher = ObservedActions(seen, groups, "teacher", 2)
        storage = RolloutStorage("distillation", worlds, steps, seen, [2], "cpu")
        self.algorithm = Dagger(
            student,  # type: ignore[arg-type]
            teacher,
            storage,
            capacity=capacity,
            batch_size=64,
            num_updates_per_iteration=200,
            teacher_share=0.5,
            learning_rate=1e-2,
            half_life=half_life,
        )
        self.steps = steps

    def seen(self) -> TensorDict:
        actor = torch.randn(self.worlds, 3)
        return TensorDict(
            {"actor": actor, "expert": actor @ self.matrix.T}, batch_size=[self.worlds]
        )

    def iterate(self) -> float:
        dones = torch.zeros(self.worlds)
        for _ in range(self.steps):
            self.algorithm.act(self.seen())
            self.algorithm.process_env_step(self.seen(), torch.zeros(8), dones, {})
        return self.algorithm.update()["behavior"]


def test_a_linear_student_finds_the_matrix_that_its_teacher_uses():
    teaching = Teaching()
    losses = [teaching.iterate() for _ in range(4)]
    assert losses[-1] < 1e-3 < losses[0]
    seen = teaching.seen()
    with torch.no_grad():
        done = teaching.algorithm.student(seen)
    expected = seen["actor"] @ teaching.matrix.T
    torch.testing.assert_close(done, expected, rtol=0, atol=0.05)


def test_teacher_acts_in_its_fraction_of_the_worlds():
    teaching = Teaching()
    seen = teaching.seen()
    actions = teaching.algorithm.act(seen)
    taught = (actions == seen["expert"]).all(dim=1)
    assert taught.tolist() == [True] * 4 + [False] * 4


def test_newest_steps_replace_the_oldest():
    teaching = Teaching(capacity=48)
    for _ in range(2):
        teaching.iterate()
    kept = teaching.algorithm._buffer
    assert kept is not None
    # 64 steps were added, so 16 of the first 32 are left, in rows 16 to 31.
    products = kept["observations", "actor"] @ teaching.matrix.T
    torch.testing.assert_close(products, kept["actions"])
    first = kept["actions"].clone()
    teaching.iterate()
    changed = (kept["actions"] != first).any(dim=1)
    assert changed.nonzero().flatten().tolist() == [*range(16, 48)]


def rates(teaching: Teaching, iterations: int) -> list[float]:
    found = []
    for _ in range(iterations):
        teaching.iterate()
        found.append(teaching.algorithm.optimizer.param_groups[0]["lr"])
    return found


def test_the_rate_falls_with_the_samples_across_a_resume_too():
    # An iteration has 32 steps, so two are a half-life.
    expected = [0.01 * 0.5 ** (k / 2) for k in range(1, 5)]
    assert rates(Teaching(half_life=64), 4) == pytest.approx(expected)
    first, second = Teaching(half_life=64), Teaching(half_life=64)
    rates(first, 2)
    second.algorithm.load(first.algorithm.save(), None, True)
    second.algorithm.load_memory(first.algorithm.memory())
    assert rates(second, 2) == pytest.approx(expected[2:])
    assert rates(Teaching(), 3) == [0.01] * 3


# Invalid configurations.


def test_a_teacher_whose_observations_contain_no_action_is_refused():
    seen = TensorDict({"expert": torch.zeros(2, 5)}, batch_size=[2])
    with pytest.raises(ValueError) as error:
        ObservedActions(seen, {"teacher": ["expert"]}, "teacher", 7)
    assert str(error.value) == (
        "The teacher outputs the observation groups 'expert', which have 5 numbers; "
        "an action has 7."
    )


def refused(cfg: ManagerBasedRlEnvCfg) -> str:
    with pytest.raises((TermError, ValueError)) as error:
        make(cfg, 1)
    return str(error.value)


def test_a_goal_without_an_extent_or_in_an_inverted_range_is_refused():
    cfg = ReachYamCfg()
    cfg.commands = {GOAL: manipulation.GoalCommandCfg(radius=0.0)}
    assert refused(cfg) == (
        "Command term 'goal': radius is 0.0; it has to be positive."
    )
    cfg.commands = {GOAL: manipulation.GoalCommandCfg(x=(0.5, 0.3))}
    assert refused(cfg) == (
        "Command term 'goal': the range of x is (0.5, 0.3); it has to be (low, high) "
        "with low <= high."
    )


def test_a_missing_object_or_site_suggests_the_nearest_name():
    cfg = LiftYamCfg()
    goal = cfg.commands[GOAL]
    assert isinstance(goal, manipulation.GoalCommandCfg)
    goal.object_name = "objekt"
    assert "There is no entity 'objekt'" in refused(cfg)
    goal.object_name, goal.site_name = OBJECT, "grasp_sight"
    said = refused(cfg)
    assert "'grasp_sight'" in said and "'grasp_site'" in said


def test_placement_with_missing_ranges_is_refused():
    cfg = LiftYamCfg()
    term = EventTermCfg(
        func=manipulation.place_object,
        mode="reset",
        params={"object_name": OBJECT, "pose_range": {"x": (0.2, 0.3), "yaw": (0, 1)}},
    )
    cfg.events = {"place_object": term}
    assert refused(cfg) == (
        "Event term 'place_object': place_object: pose_range has ['x', 'yaw']; it "
        "needs a range for each of x, y, z and yaw."
    )


def test_a_time_of_zero_at_the_goal_is_refused():
    cfg = LiftYamCfg()
    success = cfg.outcomes["success"]
    assert success is not None
    success.params["duration"] = 0.0
    assert refused(cfg) == (
        "Outcome term 'success': held_at_goal: duration is 0.0; it has to be above 0."
    )


def test_a_script_for_joints_needs_joint_targets_to_act_on():
    cfg = LiftYamTaughtCfg()
    cfg.actions = LiftYamIKCfg().actions
    said = refused(cfg)
    assert "'joint_pos'" in said


def test_a_gripper_without_its_coupling_would_open_on_one_side_alone():
    env = make(LiftYamIKCfg(), 1)
    robot = env.scene.entity("robot")
    names = robot.joint_names
    for _ in range(60):
        env.step(torch.tensor([[0.0] * 6 + [1.0]]))
    position = robot.data.joint_pos[0]
    left, right = (
        position[names.index(f"{side}_finger")] for side in ("left", "right")
    )
    assert left > 0.035 and right == pytest.approx(-float(left), abs=1e-3)
    env.close()
