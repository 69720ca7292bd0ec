"""Velocity commands of the gait measurement, and the type of its results."""

Figures = dict[str, float | list[float] | None]
"""Gait metrics by name, in SI units. Fractions are 0 to 1. None means undefined."""

Command = tuple[float, float, float]
"""Forward and left velocity, m/s, and yaw rate, rad/s."""

LARGE: dict[str, Command] = {
    "forward 0.5": (0.5, 0.0, 0.0),
    "forward 1.0": (1.0, 0.0, 0.0),
    "backward 0.5": (-0.5, 0.0, 0.0),
    "backward 1.0": (-1.0, 0.0, 0.0),
    "left 0.5": (0.0, 0.5, 0.0),
    "right 0.5": (0.0, -0.5, 0.0),
    "turn left 0.5": (0.0, 0.0, 0.5),
    "turn right 0.5": (0.0, 0.0, -0.5),
}
"""Commands of typical magnitude in training."""

SMALL: dict[str, Command] = {
    "forward 0.2": (0.2, 0.0, 0.0),
    "forward 0.3": (0.3, 0.0, 0.0),
    "left 0.3": (0.0, 0.3, 0.0),
    "turn left 0.3": (0.0, 0.0, 0.3),
}
"""Small commands, which a policy can ignore with little loss of reward."""

STAND = "stand"
"""Name of the zero velocity command (standing)."""

COMMANDS: dict[str, Command] = LARGE | SMALL | {STAND: (0.0, 0.0, 0.0)}
"""All commands by name."""
