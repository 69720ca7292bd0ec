"""Overlays that viewers and videos draw into the worlds."""

import torch

from mjlab.envs import ManagerBasedRlEnv
from mjlab.mdp.velocity_command import UniformVelocityCommand
from mjlab.render import Marks
from mjlab.render.overlays import Color

COMMAND_COLOR: Color = (0.15, 0.75, 0.3, 1.0)
"""Colour of a commanded velocity."""

ACTUAL_COLOR: Color = (0.2, 0.45, 0.95, 1.0)
"""Colour of the measured velocity."""

_ABOVE = 0.12
"""Height of the arrows above the centre of the highest geom, m."""

_SCALE = 0.3


def collect_marks(env: ManagerBasedRlEnv, worlds: tuple[int, ...]) -> Marks:
    """Return the overlays of an environment's terms in some worlds."""
    marks = Marks(worlds)
    env.debug_vis(marks)
    for term in env.command_manager.terms.values():
        if isinstance(term, UniformVelocityCommand) and term.cfg.debug_vis:
            add_velocities(marks, term)
    return marks


def add_velocities(marks: Marks, term: UniformVelocityCommand) -> None:
    """Draw commanded and measured velocity above the robot: 0.3 m for 1 m/s or 1 rad/s.

    Args:
        marks: The collection of overlays.
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
    upward = torch.tensor([0.0, 0.0, 1.0], device=term.device)
    actual = data.root_lin_vel_w[worlds] * (1.0 - upward)
    turning = data.root_ang_vel_w[worlds] * upward
    start = data.root_pos_w[worlds].clone()
    start[:, 2] = data.geom_pos_w[worlds, :, 2].amax(dim=1) + _ABOVE
    beside = start + 0.02 * upward
    arrows = (
        (start, wanted, COMMAND_COLOR),
        (start, yaw[:, None] * upward, COMMAND_COLOR),
        (beside, actual, ACTUAL_COLOR),
        (beside, turning, ACTUAL_COLOR),
    )
    for starts, velocity, color in arrows:
        ends = starts + _SCALE * velocity
        pairs = zip(starts.cpu().numpy(), ends.cpu().numpy(), strict=True)
        for world, (begin, end) in zip(marks.worlds, pairs, strict=True):
            marks.add_arrow(world, begin, end, color=color, width=0.012)
