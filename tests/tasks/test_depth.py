"""Tasks whose goal or object is visible only to a depth camera."""

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch

from mjlab.envs import ManagerBasedRlEnv, ManagerBasedRlEnvCfg
from mjlab.managers.term import TermError
from mjlab.rl import DistillationAgentCfg, GaussianCfg, MlpModelCfg, TrainingLoop
from mjlab.rl.evaluation import Evaluation
from mjlab.runs.run import shipped_with
from mjlab.tasks.manipulation import (
    TRAINED,
    LiftYamDepthCfg,
    LiftYamPickCfg,
    LiftYamRgbCfg,
    ReachYamDepthCfg,
)
from mjlab.tasks.manipulation.lift_pick import COLORS, CUBES
from mjlab.tasks.manipulation.mdp import goal_command
from mjlab.tasks.manipulation.reach import GOAL
from mjlab.tasks.manipulation.rl import lift_seeing_rl, reach_depth_rl
from mjlab.tasks.manipulation.sight import CAMERA, PIXELS

EPISODES = 100


def make(cfg: ManagerBasedRlEnvCfg, num_envs: int, seed: int = 3) -> ManagerBasedRlEnv:
    cfg.scene.num_envs, cfg.seed = num_envs, seed
    cfg.sim.backend = "native"
    return ManagerBasedRlEnv(cfg, device="cpu")


def test_the_ball_is_drawn_where_a_pinhole_puts_the_goal() -> None:
    """Pinhole by hand: x right, y up, looking along -z, 45 degrees from top to bottom.

    The ball's front is nearer than the table behind it: its depth is the depth of its
    centre minus its radius, up to pixel and byte resolution.
    """
    env = make(ReachYamDepthCfg(), 16)
    observations, _ = env.reset()
    picture = observations[CAMERA]
    assert isinstance(picture, torch.Tensor)
    assert picture.shape == (16, 1, PIXELS, PIXELS) and picture.dtype == torch.uint8
    # Columns of the camera's axes: in front of the table, looking back and down.
    model = env.sim.mj_model
    rotation = env.sim.data.cam_xmat[0, model.camera("eye").id].view(3, 3)
    place = torch.tensor([0.85, 0.0, 0.75])
    goal = goal_command(env, GOAL).goal_pos_w - env.scene.spawn_origins
    x, y, z = ((goal - place) @ rotation).unbind(1)
    focal = 0.5 * PIXELS / torch.tan(torch.deg2rad(torch.tensor(22.5)))
    column = (focal * x / -z + 0.5 * PIXELS).long()
    row = (-focal * y / -z + 0.5 * PIXELS).long()
    seen = picture[torch.arange(16), 0, row, column] / 255.0
    # An arm can be in front of one, which only reduces its distance.
    expected = -z - 0.05
    assert (seen < expected + 0.03).all()
    assert ((seen - expected).abs() < 0.03).sum() >= 14
    env.close()


def test_no_group_of_the_student_contains_the_ball_or_cube_position() -> None:
    cube = {"gripper_to_object", "object_heading", "object_to_goal"}
    for cfg, known in (
        (ReachYamDepthCfg(), {"gripper_to_goal"}),
        (LiftYamDepthCfg(), cube),
        (LiftYamRgbCfg(), cube),
        (LiftYamPickCfg(), cube),
    ):
        actor, critic = cfg.observations["actor"], cfg.observations["critic"]
        assert actor is not None and critic is not None
        assert not known & set(actor.terms) and known <= set(critic.terms)
    for agent in (reach_depth_rl(), lift_seeing_rl()):
        assert agent.obs_groups["student"] == ("actor", CAMERA)


def pick(num_envs: int) -> ManagerBasedRlEnv:
    env = make(LiftYamPickCfg(), num_envs)
    env.reset()
    return env


def test_cubes_are_in_random_lanes_and_have_three_hues_in_any_order() -> None:
    env = pick(96)
    origins = env.scene.spawn_origins
    entities = [env.scene.entity(name) for name in CUBES]
    places = torch.stack([e.data.root_pos_w - origins for e in entities], dim=1)
    x, y = places[..., 0], places[..., 1]
    assert ((x >= 0.2) & (x <= 0.4)).all() and (y.abs() <= 0.24).all()
    # Lanes are 16 cm wide, of which the outer 4.5 cm on both sides are free.
    lane = ((y + 0.24) / 0.16).floor()
    assert ((y + 0.24 - 0.16 * lane - 0.08).abs() <= 0.035 + 1e-6).all()
    assert (lane.sort(dim=1).values == torch.tensor([0.0, 1.0, 2.0])).all()
    geoms = [env.sim.mj_model.geom(f"{name}/shape").id for name in CUBES]
    rgb = env.sim.model.geom_rgba[:, geoms, :3]
    hue = torch.cdist(rgb, torch.tensor(COLORS).expand(96, -1, -1)).argmin(dim=2)
    torch.testing.assert_close(rgb, torch.tensor(COLORS)[hue])
    for drawn in (lane.long(), hue):
        orders = {tuple(row) for row in drawn.tolist()}
        assert len(orders) == 6
        assert all(sorted(row) == [0, 1, 2] for row in orders)
    assert not torch.equal(lane.long(), hue)
    env.close()


def test_the_mask_is_white_where_the_target_is_and_nowhere_else() -> None:
    """Return the position of the target's centre, by a pinhole model of the camera."""
    env = pick(16)
    picture = env.observation_manager.output[CAMERA]
    assert isinstance(picture, torch.Tensor)
    assert picture.shape == (16, 2, PIXELS, PIXELS)
    camera = env.sim.mj_model.camera("robot/camera_d405").id
    rotation = env.sim.data.cam_xmat[:, camera].view(-1, 3, 3)
    focus = env.sim.model.cam_intrinsic[:, camera, :2]
    sensor = torch.from_numpy(env.sim.mj_model.cam_sensorsize[camera]).float()
    focal = focus * PIXELS / sensor
    found = []
    for name in CUBES:
        way = env.scene.entity(name).data.root_pos_w - env.sim.data.cam_xpos[:, camera]
        x, y, z = (way.unsqueeze(1) @ rotation).squeeze(1).unbind(1)
        column = focal[:, 0] * x / -z + 0.5 * PIXELS
        row = -focal[:, 1] * y / -z + 0.5 * PIXELS
        # Not at the edge, and not behind the fingers, which are below.
        inside = (column - 16).abs() < 14
        inside &= (row > 2) & (row < 24)
        column, row = column.clamp(0, 31).long(), row.clamp(0, 31).long()
        mask = picture[torch.arange(16), 1, row, column]
        found.append(mask[inside])
    assert len(found[0]) >= 8 and (found[0] == 255).all()
    others = torch.cat(found[1:])
    assert len(others) >= 8 and (others == 0).all()
    env.close()


def test_lanes_without_room_and_hues_that_do_not_match_are_refused() -> None:
    cfg = LiftYamPickCfg()
    cfg.events["place_cubes"].params["gap"] = 0.2  # type: ignore[union-attr]
    with pytest.raises(TermError, match=r"gap is 0\.2; .* the width of a lane, 0\.16"):
        make(cfg, 1)
    cfg = LiftYamPickCfg()
    cfg.events["hues"].params["colors"] = COLORS[:2]  # type: ignore[union-attr]
    with pytest.raises(TermError, match="3 objects and 2 colors"):
        make(cfg, 1)


@pytest.mark.slow
@pytest.mark.parametrize("task", [LiftYamDepthCfg, LiftYamRgbCfg, LiftYamPickCfg])
def test_teacher_lifts_in_camera_tasks(task: Callable[[], Any]) -> None:
    env = make(task(), 64)
    seen, _ = env.reset()
    for _ in range(140):
        seen = env.step(seen["expert"])[0]
    assert env.outcome_manager.once("success").float().mean() >= 0.95
    env.close()


def test_a_teacher_is_found_by_the_name_of_the_task_that_it_ships_with() -> None:
    found = shipped_with("Reach-Yam")
    assert found is not None and found.path == TRAINED / "Reach-Yam"


def agent(*, sees: bool) -> DistillationAgentCfg:
    """The task's learner, or the same one without an image."""
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

        def close(self, *, failed: bool = False) -> None: ...

    loop = TrainingLoop(make(ReachYamDepthCfg(), 64, 0), cfg, writers=[Losses()])
    loop.run()
    loop.env.close()
    return loop, losses


def success(loop: TrainingLoop) -> float:
    """Return the fraction of episodes in which the ball was reached and held."""
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
def test_image_raises_the_success_rate_by_40_points() -> None:
    seeing, losses = trained(agent(sees=True))
    blind, _ = trained(agent(sees=False))
    assert sum(losses[-5:]) < 0.5 * sum(losses[:5])
    assert success(seeing) >= success(blind) + 0.4


@pytest.mark.slow
def test_training_from_images_is_reproducible_bit_for_bit() -> None:
    runs = []
    for _ in range(2):
        cfg = agent(sees=True)
        cfg.max_iterations = 2
        runs.append(trained(cfg))
    assert runs[0][1] == runs[1][1]
    states = [loop.learner.policy.state_dict() for loop, _ in runs]
    assert all(torch.equal(v, states[1][k]) for k, v in states[0].items())
