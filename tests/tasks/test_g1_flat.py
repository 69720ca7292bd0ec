"""The G1 on flat ground: training-only features, and their changes in training."""

from collections.abc import Iterator

import pytest
import torch

from mjlab.envs import ManagerBasedRlEnv
from mjlab.tasks.velocity import VelocityG1FlatCfg

WORLDS = 3


@pytest.fixture(scope="module")
def env() -> Iterator[ManagerBasedRlEnv]:
    cfg = VelocityG1FlatCfg(seed=2)
    cfg.scene.num_envs = WORLDS
    cfg.warm_up.steps = (100, 300)
    made = ManagerBasedRlEnv(cfg.for_training(), device="cpu")
    made.reset()
    yield made
    made.close()


def pushed(env: ManagerBasedRlEnv, step: int) -> torch.Tensor:
    """Velocity changes of the roots by one push at a step, from a stored state."""
    before = env.get_state()
    env.common_step_counter.fill_(step)
    data = env.scene.entity("robot").data
    start = data.root_lin_vel_w.clone()
    push = env.event_manager.terms["push_robot"]
    assert push.instance is not None
    everywhere = torch.ones(WORLDS, dtype=torch.bool)
    params = {name: push.params[name] for name in ("velocity_range", "steps")}
    push.instance(env, everywhere, **params)
    change = data.root_lin_vel_w - start
    env.set_state(before)
    return change


def test_pushes_grow_in_a_straight_line_between_the_steps_of_the_warm_up(env) -> None:
    whole = pushed(env, 300)
    assert (whole.abs() > 0.01).any(dim=1).all()
    assert (whole[:, :2].abs() <= 0.5).all()
    for step, share in ((0, 0.0), (100, 0.0), (150, 0.25), (250, 0.75), (900, 1.0)):
        torch.testing.assert_close(pushed(env, step), share * whole)


@pytest.mark.parametrize(
    ("step", "forward"),
    # A quarter of the way from 0.4 to 1.0 m/s is 0.55.
    [(0, 0.4), (150, 0.55), (300, 1.0), (1000, 1.0)],
)
def test_commands_grow_in_a_straight_line(env, step, forward) -> None:
    before = env.get_state()
    env.common_step_counter.fill_(step)
    env.curriculum_manager.compute(torch.ones(WORLDS, dtype=torch.bool))
    ranges = env.command_manager.term("twist").ranges
    assert ranges["lin_vel_x"].tolist() == pytest.approx([-forward, forward])
    env.set_state(before)


def test_evaluation_and_play_have_no_assistance_and_no_warm_up() -> None:
    cfg = VelocityG1FlatCfg()
    assert "support" in cfg.for_training().events
    for judged in (cfg, cfg.play()):
        assert judged.events.get("support") is None
        assert judged.curriculum == {}
        command = judged.commands["twist"]
        assert command.ranges.lin_vel_x == (-1.0, 1.0)
    assert cfg == VelocityG1FlatCfg()


@pytest.mark.parametrize(
    ("iteration", "weight"),
    # Halfway from -0.1 to -0.3 is -0.2.
    [(0, -0.1), (220, -0.1), (310, -0.2), (400, -0.3), (900, -0.3)],
)
def test_the_cost_of_slip_grows_in_a_straight_line(env, iteration, weight) -> None:
    before = env.get_state()
    env.common_step_counter.fill_(24 * iteration)
    env.curriculum_manager.compute(torch.ones(WORLDS, dtype=torch.bool))
    assert float(env.reward_manager.weight("foot_slip")) == pytest.approx(weight)
    env.set_state(before)


def test_weights_grow_to_those_of_the_configuration() -> None:
    cfg = VelocityG1FlatCfg()
    cfg.rewards["foot_slip"].weight = -1.5
    cfg.rewards["action_rate_l2"].weight = 0.0
    cfg.rewards["track_linear_closely"] = None
    cfg.warm_up.weight_steps = (1, 2)
    training = cfg.for_training()
    assert training.rewards["foot_slip"].weight == -0.1
    assert training.rewards["action_rate_l2"].weight == 0.0
    stages = training.curriculum["foot_slip_weight"].params["stages"]
    assert stages == [(1, -0.1), (2, -1.5)]
    grown = {name for name in training.curriculum if name.endswith("_weight")}
    assert grown == {"foot_slip_weight"}
    assert cfg.rewards["foot_slip"].weight == -1.5
