"""Constants, spaces and settings of the classic cartpole.

The equations come from Barto, Sutton and Anderson (1983), without friction, as derived
by R. V. Florian (2007) and computed by Gymnasium's `CartPole-v1`. Both implementations
here, tensors and kernel, use the same float32 operations in the same order, including
sine and cosine, so that they agree bit for bit on every device. During an episode the
angle is small (12 degrees plus one step), so a short Taylor series has float32
accuracy.
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
"""Time step, in seconds."""

MAX_POSITION = 2.4
"""Distance from the centre at which an episode ends, in metres."""

MAX_ANGLE = 12 * 2 * math.pi / 360
"""Angle from upright at which an episode ends, in radians."""

SPREAD = 0.05
"""Initial values are uniform in [-SPREAD, SPREAD], for all four state variables."""

MAX_STEPS = 500
"""Steps after which an episode is truncated."""

STREAM = "cartpole/start"
"""Random stream of the initial states."""

TOTAL_MASS = CART_MASS + POLE_MASS

# Constant factors in the equations, each rounded to float32 where it is used.
PUSH = FORCE / TOTAL_MASS
POLE_SHARE = POLE_MASS * HALF_LENGTH / TOTAL_MASS
INERTIA = HALF_LENGTH * 4.0 / 3.0
INERTIA_COS = -HALF_LENGTH * POLE_MASS / TOTAL_MASS
SIN = (-1.0 / 6.0, 1.0 / 120.0, -1.0 / 5040.0)
"""Sine: coefficients of angle**3, **5 and **7. The next term is below 1e-9."""
COS = (-1.0 / 2.0, 1.0 / 24.0, -1.0 / 720.0, 1.0 / 40320.0)
"""Cosine: coefficients of angle**2 to **8. The next term is below 5e-11."""

OBSERVATION_SPACE = Box(
    (4,),
    low=(-2 * MAX_POSITION, -math.inf, -2 * MAX_ANGLE, -math.inf),
    high=(2 * MAX_POSITION, math.inf, 2 * MAX_ANGLE, math.inf),
)
"""Position in m, velocity in m/s, angle in rad, angular velocity in rad/s."""

ACTION_SPACE = Discrete(2)
"""0 pushes to the left, 1 to the right."""


class ClassicCartpoleError(ValueError):
    """Error for invalid settings or unsupported use of the classic cartpole."""


class ClassicCartpoleCfg(Config):
    """Settings of the classic cartpole."""

    num_envs: int = 1
    """Number of worlds."""

    seed: int = 0
    """Seed of all initial states. The states of world i do not depend on `num_envs`."""

    integrator: Integrator = "euler"
    """"euler" integrates positions with the old velocities, "semi_implicit" with the
    new velocities."""

    autoreset: bool = True
    """Reset a finished world in the same step. Otherwise it stays in place, with a
    reward of 0, until it is reset."""

    final_observations: bool = False
    """Also return the terminal observations of finished episodes."""

    results: Results = "copied"
    """"live" returns the worlds' own tensors, which the next step overwrites; "copied"
    returns copies; "host" returns copies on the CPU."""

    fall_reward: float = 1.0
    """Reward of the step in which an episode terminates; 1 as in Gymnasium, 0 as in
    environments that reward only states within the limits. Other steps give 1."""

    max_steps: int = MAX_STEPS
    """Steps after which an episode is truncated."""

    threads_per_block: int = 256
    """Threads per block of the kernel on a CUDA device, 1 to 1024."""


def check(cfg: ClassicCartpoleCfg) -> None:
    """Raise for invalid settings."""
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
