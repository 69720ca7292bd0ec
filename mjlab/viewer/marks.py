"""What viewers and videos draw into the worlds."""

import torch

from mjlab.envs import ManagerBasedRlEnv
from mjlab.mdp.velocity_command import UniformVelocityCommand
from mjlab.render import Marks
from mjlab.render.overlays import Color

COMMAND_COLOR: Color = (0.15, 0.75, 0.3, 1.0)
"""Colour of a commanded velocity."""

ACTUAL_COLOR: Color = (0.2, 0.45, 0.95, 1.0)
"""Colour of the velocity that a robot has."""

_ABOVE = 0.35
_SCALE = 0.6


def collect_marks(env: ManagerBasedRlEnv, worlds: tuple[int, ...]) -> Marks:
    """Everything that the terms of an environment have to show in some worlds."""
    marks = Marks(worlds)
    env.debug_vis(marks)
    for term in env.command_manager.terms.values():
        if isinstance(term, UniformVelocityCommand) and term.cfg.debug_vis:
            add_velocities(marks, term)
    return marks


def add_velocities(marks: Marks, term: UniformVelocityCommand) -> None:
    """Draw commanded and actual velocity above the robot: 0.6 m for 1 m/s or 1 rad/s.

    Args:
        marks: Where to draw them.
        term: The command.
    """
    worlds = torch.tensor(marks.worlds, device=term.device)
    data = term.entity.data
    command = term.command[worlds]
    heading = data.heading_w[worlds]
    cos, sin = heading.cos(), heading.sin()
    x, y, yaw = command.unbind(dim=1)
    zero = torch.zeros_like(x)
    wanted = torch.stack((cos * x - sin * y, sin * x + cos * y, zero), dim=1)
    actual = data.root_lin_vel_w[worlds] * torch.tensor(
        [1.0, 1.0, 0.0], device=term.device
    )
    turning = data.root_ang_vel_w[worlds, 2]
    start = data.root_pos_w[worlds].clone()
    start[:, 2] += _ABOVE
    upward = torch.tensor([0.0, 0.0, 1.0], device=term.device)
    beside = start + torch.tensor([0.0, 0.0, 0.02], device=term.device)
    arrows = (
        (start, start + _SCALE * wanted, COMMAND_COLOR),
        (start, start + _SCALE * yaw[:, None] * upward, COMMAND_COLOR),
        (beside, beside + _SCALE * actual, ACTUAL_COLOR),
        (beside, beside + _SCALE * turning[:, None] * upward, ACTUAL_COLOR),
    )
    for starts, ends, color in arrows:
        pairs = zip(starts.cpu().numpy(), ends.cpu().numpy(), strict=True)
        for world, (begin, end) in zip(marks.worlds, pairs, strict=True):
            marks.add_arrow(world, begin, end, color=color, width=0.012)
