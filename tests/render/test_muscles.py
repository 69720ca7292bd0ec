"""Colours of muscles by activation."""

import numpy as np
import pytest

from mjlab.envs import ManagerBasedRlEnv
from mjlab.render.muscles import _FULL, _HALF, _IDLE, activation_color
from mjlab.render.neighbours import Neighbourhood
from mjlab.tasks.muscle import WalkW18Cfg


def test_muscle_colour_goes_from_blue_over_sand_to_red() -> None:
    assert activation_color(0.0) == pytest.approx(_IDLE)
    assert activation_color(0.25) == pytest.approx(_HALF)
    assert activation_color(1.0) == pytest.approx(_FULL)
    # By the square root: 1/16 is halfway to sand, 9/16 halfway from sand to red.
    half = (np.array(_IDLE) + _HALF) / 2
    assert activation_color(1 / 16) == pytest.approx(tuple(half))
    half = (np.array(_HALF) + _FULL) / 2
    assert activation_color(9 / 16) == pytest.approx(tuple(half))


def test_neighbouring_worlds_have_muscle_colours() -> None:
    cfg = WalkW18Cfg(seed=0)
    cfg.scene.num_envs = 3
    env = ManagerBasedRlEnv(cfg, device="cpu")
    env.reset()
    env.sim.data.ctrl[1], env.sim.data.ctrl[2] = 0.0, 1.0
    first, second = Neighbourhood(env.sim, env.scene, 0, 2).take()
    for neighbour, color in ((first, _IDLE), (second, _FULL)):
        tendons = neighbour.model.actuator_trnid[:, 0]
        shown = neighbour.model.tendon_rgba[tendons, :3]
        np.testing.assert_allclose(shown, np.tile(color, (len(shown), 1)), atol=1e-6)
