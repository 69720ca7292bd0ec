"""Rewards of the cartpole, by hand arithmetic."""

import math
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from mjlab.tasks.cartpole import mdp


def world(
    position: list[list[float]], velocity: list[list[float]], force: float
) -> Any:
    data = SimpleNamespace(
        joint_pos=torch.tensor(position),
        joint_vel=torch.tensor(velocity),
        computed={},
    )
    return SimpleNamespace(
        scene=SimpleNamespace(entity=lambda name: SimpleNamespace(data=data)),
        action_manager=SimpleNamespace(action=torch.full((len(position), 1), force)),
        device="cpu",
    )


def test_a_pole_balances_upright_near_the_middle_on_either_side() -> None:
    places = [[0.0, 0.0], [0.9, 0.1], [-0.9, -0.1], [1.1, 0.0], [-1.1, 0.0]]
    places += [[0.0, 0.3], [0.0, -0.3], [0.0, math.pi]]
    env = world(places, [[0.0, 0.0]] * 8, 0.0)
    expected = [True, True, True, False, False, False, False, False]
    assert mdp.balanced(env).tolist() == expected
    env = world([[0.0, 0.3], [0.5, 0.0]], [[0.0, 0.0]] * 2, 0.0)
    assert mdp.balanced(env, tilt=0.4, away=0.4).tolist() == [True, False]


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_the_smooth_reward_equals_dm_controls(sign: float) -> None:
    """Margins are 2 m for the cart, 5 rad/s for the pole, and 1 for the force.

    `tolerance` is 0.1 at the margin for a Gaussian, and a parabola for the force.
    """
    place, tilt, slide, turn, force = 1.3 * sign, 0.4 * sign, 7.0, 2.2 * sign, 0.6
    env = world([[place, tilt]], [[slide, turn]], force)
    upright = (math.cos(tilt) + 1.0) / 2.0
    centered = (1.0 + 0.1 ** ((place / 2.0) ** 2)) / 2.0
    small_control = (4.0 + (1.0 - force**2)) / 5.0
    small_velocity = (1.0 + 0.1 ** ((turn / 5.0) ** 2)) / 2.0
    expected = upright * small_control * small_velocity * centered
    assert float(mdp.smooth_reward(env)) == pytest.approx(expected, rel=1e-6)
