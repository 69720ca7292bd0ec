"""Tasks whose goal or object a depth camera alone shows."""

import copy
from collections.abc import Callable

import pytest
import torch

from mjlab.envs import ManagerBasedRlEnv, ManagerBasedRlEnvCfg
from mjlab.rl import DistillationAgentCfg, GaussianCfg, MlpModelCfg, TrainingLoop
from mjlab.rl.policy import Evaluation, find_teacher
from mjlab.tasks.manipulation import TRAINED, LiftYamDepthCfg, ReachYamDepthCfg
from mjlab.tasks.manipulation.mdp import goal_command
from mjlab.tasks.manipulation.reach import GOAL
from mjlab.tasks.manipulation.rl import lift_depth_rl, reach_depth_rl
from mjlab.tasks.manipulation.sight import CAMERA, PIXELS

EPISODES = 100


def make(cfg: ManagerBasedRlEnvCfg, num_envs: int, seed: int = 3) -> ManagerBasedRlEnv:
    cfg.scene.num_envs, cfg.seed = num_envs, seed
    cfg.sim.backend = "native"
    return ManagerBasedRlEnv(cfg, device="cpu")


def test_the_ball_is_drawn_where_a_pinhole_puts_the_goal() -> None:
    """Pinhole by hand: x right, y up, looking along -z, 45 degrees from top to bottom.

    The ball's face is nearer than the table behind it: its depth is that of its middle
    less its radius, but for the pixel and the byte.
    """
    env = make(ReachYamDepthCfg(), 16)
    observations, _ = env.reset()
    picture = observations[CAMERA]
    assert isinstance(picture, torch.Tensor)
    assert picture.shape == (16, 1, PIXELS, PIXELS) and picture.dtype == torch.uint8
    # Columns of the camera's axes: it stands before the table and looks back and down.
    model = env.sim.mj_model
    rotation = env.sim.data.cam_xmat[0, model.camera("eye").id].view(3, 3)
    place = torch.tensor([0.85, 0.0, 0.75])
    goal = goal_command(env, GOAL).goal_pos_w - env.scene.spawn_origins
    x, y, z = ((goal - place) @ rotation).unbind(1)
    focal = 0.5 * PIXELS / torch.tan(torch.deg2rad(torch.tensor(22.5)))
    column = (focal * x / -z + 0.5 * PIXELS).long()
    row = (-focal * y / -z + 0.5 * PIXELS).long()
    seen = picture[torch.arange(16), 0, row, column] / 255.0
    # An arm may stand before one, and never in a way that makes it farther.
    expected = -z - 0.05
    assert (seen < expected + 0.03).all()
    assert ((seen - expected).abs() < 0.03).sum() >= 14
    env.close()


def test_no_group_of_the_student_says_where_the_ball_or_the_cube_is() -> None:
    for cfg, known in (
        (ReachYamDepthCfg(), {"gripper_to_goal"}),
        (
            LiftYamDepthCfg(),
            {"gripper_to_object", "object_heading", "object_to_goal"},
        ),
    ):
        actor, critic = cfg.observations["actor"], cfg.observations["critic"]
        assert actor is not None and critic is not None
        assert not known & set(actor.terms) and known <= set(critic.terms)
    for agent in (reach_depth_rl(), lift_depth_rl()):
        assert agent.obs_groups["student"] == ("actor", CAMERA)


def test_a_teacher_is_found_by_the_name_of_the_task_that_it_ships_with() -> None:
    found = find_teacher("Reach-Yam")
    assert found.is_relative_to(TRAINED / "Reach-Yam")


def agent(*, sees: bool) -> DistillationAgentCfg:
    """The task's learner, or the same one without a picture."""
    cfg = reach_depth_rl()
    cfg.max_iterations = 40
    cfg.evaluation.every = 0
    if not sees:
        cfg.obs_groups["student"] = ("actor",)
        cfg.student = MlpModelCfg(
            hidden_dims=cfg.student.hidden_dims,
            activation="elu",
            obs_normalization=True,
            distribution_cfg=GaussianCfg(init_std=0.1),
        )
    return cfg


def trained(cfg: DistillationAgentCfg) -> tuple[TrainingLoop, list[float]]:
    """Train in 64 worlds; return the loop, and its losses."""
    losses: list[float] = []

    class Losses:
        def write(self, iteration: int, figures: dict[str, float]) -> None:
            losses.append(figures["Loss/behavior"])

        def close(self) -> None: ...

    loop = TrainingLoop(make(ReachYamDepthCfg(), 64, 0), cfg, writers=[Losses()])
    loop.run()
    loop.env.close()
    return loop, losses


def success(loop: TrainingLoop) -> float:
    """Return the share of episodes in which the ball was reached and held."""
    cfg = copy.deepcopy(loop.cfg)
    cfg.evaluation.seed = 1000
    build: Callable[[], ManagerBasedRlEnv] = lambda: make(  # noqa: E731
        ReachYamDepthCfg(), EPISODES, 1000
    )
    evaluation = Evaluation(build, cfg)
    loop.learner.inference.follow(loop.learner.policy)
    share = evaluation.run(loop.learner.inference)["Eval/success_once"]
    evaluation.close()
    return float(share)


@pytest.mark.slow
def test_who_sees_the_ball_reaches_it_40_points_more_often_than_who_does_not() -> None:
    seeing, losses = trained(agent(sees=True))
    blind, _ = trained(agent(sees=False))
    assert sum(losses[-5:]) < 0.5 * sum(losses[:5])
    assert success(seeing) >= success(blind) + 0.4


@pytest.mark.slow
def test_learning_from_pictures_is_the_same_twice_bit_for_bit() -> None:
    runs = []
    for _ in range(2):
        cfg = agent(sees=True)
        cfg.max_iterations = 2
        runs.append(trained(cfg))
    assert runs[0][1] == runs[1][1]
    states = [loop.learner.policy.state_dict() for loop, _ in runs]
    assert all(torch.equal(v, states[1][k]) for k, v in states[0].items())
