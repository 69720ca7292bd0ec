"""The classic cartpole: its constants, and how far its arithmetic can be trusted.

The equations are those of Barto, Sutton and Anderson (1983) without friction, as R. V.
Florian wrote them out (2007), and as Gymnasium's `CartPole-v1` computes them. Both ways
of computing them here, tensors and kernel, do the same float32 operations in the same
order, sine and cosine included, so that they agree bit for bit on every device. The
angle is small as long as an episode lasts (12 degrees and one step more), so a short
Taylor series is as exact as float32 is.
"""

import math
from typing import Literal

from mjlab.envs import Box, Discrete
from mjlab.names import suggest
from mjlab.settings import Config

Integrator = Literal["euler", "semi_implicit"]
Results = Literal["live", "copied", "host"]

GRAVITY = 9.8
CART_MASS = 1.0
POLE_MASS = 0.1
HALF_LENGTH = 0.5
FORCE = 10.0
TAU = 0.02
"""Seconds in a step."""

MAX_POSITION = 2.4
"""Metres from the middle at which an episode ends."""

MAX_ANGLE = 12 * 2 * math.pi / 360
"""Radians from upright at which an episode ends."""

SPREAD = 0.05
"""Starts are uniform between minus and plus this, in all four numbers."""

MAX_STEPS = 500
"""Steps after which an episode is truncated."""

STREAM = "cartpole/start"
"""Name of the random numbers that starts are drawn from."""

TOTAL_MASS = CART_MASS + POLE_MASS

# What the operations multiply by, each rounded to float32 where it is used.
PUSH = FORCE / TOTAL_MASS
POLE_SHARE = POLE_MASS * HALF_LENGTH / TOTAL_MASS
INERTIA = HALF_LENGTH * 4.0 / 3.0
INERTIA_COS = -HALF_LENGTH * POLE_MASS / TOTAL_MASS
SIN = (-1.0 / 6.0, 1.0 / 120.0, -1.0 / 5040.0)
"""Coefficients of angle**3, **5 and **7. The first one left out is worth 1e-9."""
COS = (-1.0 / 2.0, 1.0 / 24.0, -1.0 / 720.0, 1.0 / 40320.0)
"""Coefficients of angle**2 to **8. The first one left out is worth 5e-11."""

OBSERVATION_SPACE = Box(
    (4,),
    low=(-2 * MAX_POSITION, -math.inf, -2 * MAX_ANGLE, -math.inf),
    high=(2 * MAX_POSITION, math.inf, 2 * MAX_ANGLE, math.inf),
)
"""Position in m, velocity in m/s, angle in rad, angular velocity in rad/s."""

ACTION_SPACE = Discrete(2)
"""0 pushes to the left, 1 to the right."""


class ClassicCartpoleError(ValueError):
    """Worlds of the classic cartpole that cannot be made or used as asked."""


class ClassicCartpoleCfg(Config):
    """Choices about the classic cartpole."""

    num_envs: int = 1
    """Number of worlds."""

    seed: int = 0
    """Seed of all starts. World i draws the same ones whatever `num_envs` is."""

    integrator: Integrator = "euler"
    """"euler" moves with the old velocities, "semi_implicit" with the new ones."""

    autoreset: bool = True
    """Begins a new episode in the same step when a world ends. Without, it
    stands still, with a reward of 0, until it is reset."""

    final_observations: bool = False
    """Has steps also return what was observed before a new episode began."""

    results: Results = "copied"
    """"live" returns the worlds' own tensors, which the next step overwrites; "copied"
    returns tensors that nothing changes later; "host" returns them on the CPU."""

    max_steps: int = MAX_STEPS
    """Steps after which an episode is truncated."""

    threads_per_block: int = 256
    """Worlds that share a block of the kernel on a CUDA device, 1 to 1024."""


def check(cfg: ClassicCartpoleCfg) -> None:
    """Raise for what has no meaning."""
    for name in ("num_envs", "max_steps"):
        value = getattr(cfg, name)
        if value < 1:
            raise ClassicCartpoleError(f"{name}={value} has to be 1 or more.")
    if not 1 <= cfg.threads_per_block <= 1024:
        raise ClassicCartpoleError(
            f"threads_per_block={cfg.threads_per_block} has to be from 1 to 1024."
        )
    for name, valid in (
        ("integrator", ("euler", "semi_implicit")),
        ("results", ("live", "copied", "host")),
    ):
        value = getattr(cfg, name)
        if value not in valid:
            raise ClassicCartpoleError(
                f"{name}={value!r} is unknown. {suggest(str(value), valid)}"
            )
