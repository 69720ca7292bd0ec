"""Velocity commands that a gait is measured at."""

Command = tuple[float, float, float]
"""Velocity ahead and to the left, m/s, and yaw rate, rad/s."""

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
"""Commands of the size that policies are trained for."""

SMALL: dict[str, Command] = {
    "forward 0.2": (0.2, 0.0, 0.0),
    "forward 0.3": (0.3, 0.0, 0.0),
    "left 0.3": (0.0, 0.3, 0.0),
    "turn left 0.3": (0.0, 0.0, 0.3),
}
"""Small commands, which a policy can ignore at little loss of reward."""

STAND = "stand"
"""Name of the command of zero."""

COMMANDS: dict[str, Command] = LARGE | SMALL | {STAND: (0.0, 0.0, 0.0)}
"""All commands by name."""
