"""Velocity-Go1-Gaits: the choice of a gait, clocks of the feet, and their reward."""

from types import SimpleNamespace

import pytest
import torch

from mjlab.envs import ManagerBasedRlEnv
from mjlab.mdp.lookup import contact_sensor
from mjlab.tasks.robots.go1 import MIRROR
from mjlab.tasks.robots.symmetry import Reflection
from mjlab.tasks.velocity import VelocityGo1GaitsCfg, gait_choice
from mjlab.tasks.velocity.go1 import TROT
from mjlab.tasks.velocity.go1_gaits import GAITS


def make(worlds: int = 2, **gait: object) -> ManagerBasedRlEnv:
    cfg = VelocityGo1GaitsCfg(seed=5)
    cfg.scene.num_envs = worlds
    for name, value in gait.items():
        setattr(cfg.commands["gait"], name, value)
    return ManagerBasedRlEnv(cfg, device="cpu")


@pytest.fixture(scope="module")
def env() -> ManagerBasedRlEnv:
    return make()


def walk(env: ManagerBasedRlEnv, gait: str, strides: float) -> None:
    """Set the gait, a velocity command, and the time in strides."""
    env.command_manager.get_command("gait")[:] = torch.tensor(GAITS[gait])
    env.command_manager.term("twist").moving.fill_(1.0)
    env.episode_length_buf.fill_(round(strides * TROT.period / env.step_dt))


def test_feet_of_the_phases_are_those_of_the_sensor(env: ManagerBasedRlEnv) -> None:
    names = contact_sensor(env, "feet_contact").primary_names
    order = [name.removeprefix("robot/")[:2] for name in names]
    assert order == ["FR", "FL", "RR", "RL"]
    phases = {gait: dict(zip(order, each, strict=True)) for gait, each in GAITS.items()}
    trot, pace, gallop = (phases[name] for name in ("trot", "pace", "gallop"))
    assert trot["FR"] == trot["RL"] != trot["FL"] == trot["RR"]
    assert pace["FR"] == pace["RR"] != pace["FL"] == pace["RL"]
    # Each front foot is half a stride apart from the diagonal hind foot.
    assert {abs(gallop["FR"] - gallop["RR"]), gallop["FL"] - gallop["RL"]} == {0.5}


def test_all_gaits_are_drawn_or_only_one() -> None:
    drawn = {name: 0 for name in GAITS}
    env = make(60)
    env.reset()
    for row in env.command_manager.get_command("gait"):
        (name,) = (n for n, g in GAITS.items() if torch.tensor(g).equal(row))
        drawn[name] += 1
    assert min(drawn.values()) > 10
    only = make(only="pace")
    only.reset()
    row = torch.tensor(GAITS["pace"])
    assert only.command_manager.get_command("gait").equal(row.expand(2, 4))
    with pytest.raises(ValueError, match="no gait 'amble'"):
        make(only="amble")
    with pytest.raises(ValueError, match="same number of feet"):
        make(gaits={"hop": (0.0,), "trot": GAITS["trot"]})


@pytest.mark.parametrize(
    ("gait", "down"),
    [("trot", "FL RR"), ("pace", "FL RL"), ("gallop", "RR RL")],
)
def test_feet_of_the_chosen_gait_are_down(
    env: ManagerBasedRlEnv, monkeypatch: pytest.MonkeyPatch, gait: str, down: str
) -> None:
    env.reset()
    walk(env, gait, 0.3)
    touching = torch.tensor([[foot in down for foot in ("FR", "FL", "RR", "RL")]] * 2)
    touching[1] = ~touching[1]
    sensor = SimpleNamespace(is_in_contact=lambda: touching)
    monkeypatch.setattr(gait_choice, "contact_sensor", lambda env, name: sensor)
    args = ("twist", "gait", TROT, "feet")
    found = gait_choice.chosen_gait_contact(env, *args)
    assert found.tolist() == [1.0, 0.0]
    # A standing robot has all feet on the ground.
    env.command_manager.term("twist").moving.fill_(0.0)
    assert gait_choice.chosen_gait_contact(env, *args).tolist() == [0.0, 0.0]
    touching[:] = True
    assert gait_choice.chosen_gait_contact(env, *args).tolist() == [1.0, 1.0]


def test_the_mirror_image_of_a_pace_is_half_a_stride_later(
    env: ManagerBasedRlEnv,
) -> None:
    env.reset()
    args = ("twist", "gait", TROT, "feet_contact")
    walk(env, "pace", 0.2)
    now = gait_choice.foot_clocks(env, *args)
    # Half a stride is not a whole number of steps, so the phases change instead.
    env.command_manager.get_command("gait").add_(0.5)
    later = gait_choice.foot_clocks(env, *args)
    manager, width = env.observation_manager, now.shape[1]
    assert manager.active_terms["actor"][-1] == "foot_clocks"
    (size,) = manager.group_obs_dim["actor"]
    observed = torch.zeros(2, size)
    observed[:, -width:] = now
    image = Reflection(env, MIRROR).group("actor", observed)
    torch.testing.assert_close(image[:, -width:], later)


def test_a_robot_that_stands_has_no_clock(env: ManagerBasedRlEnv) -> None:
    env.reset()
    walk(env, "trot", 0.3)
    env.command_manager.term("twist").moving.copy_(torch.tensor([1.0, 0.0]))
    clocks = gait_choice.foot_clocks(env, "twist", "gait", TROT, "feet_contact")
    torch.testing.assert_close(clocks.square().sum(1), torch.tensor([4.0, 0.0]))
