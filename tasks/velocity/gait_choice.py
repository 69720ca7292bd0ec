"""Choice of a gait: a command with the phases of the feet, clocks and a reward."""

from collections.abc import Mapping

import torch

from mjlab.managers import CommandTerm, CommandTermCfg
from mjlab.managers.env import Env
from mjlab.managers.managed_env import ManagedEnv
from mjlab.mdp.lookup import contact_sensor
from mjlab.names import suggest
from mjlab.tasks.velocity.gait import Clock, runs, seconds


class GaitChoiceCfg(CommandTermCfg):
    """Configuration of a command that draws one of several gaits.

    The command is the phase by which each foot precedes the clock, in strides, in the
    order of the contact sensor. Feet with equal phases step together.
    """

    gaits: Mapping[str, tuple[float, ...]] = {}
    """Phases of the feet by name of the gait."""

    only: str | None = None
    """Name of the only gait to draw. None draws each of them equally often."""

    def bind(self, name: str, env: Env) -> CommandTerm:
        return GaitChoice(name, self, env)


class GaitChoice(CommandTerm):
    """Draws one of several gaits."""

    def __init__(self, name: str, cfg: GaitChoiceCfg, env: Env) -> None:
        super().__init__(name, cfg, env, num_draws=1)
        gaits = cfg.gaits
        if cfg.only is not None:
            if cfg.only not in gaits:
                hint = suggest(cfg.only, list(gaits))
                raise ValueError(f"There is no gait {cfg.only!r}. {hint}")
            gaits = {cfg.only: gaits[cfg.only]}
        if len({len(phases) for phases in gaits.values()}) != 1:
            raise ValueError(
                f"The gaits of command {name!r} need phases of the same number of "
                f"feet, not {dict(gaits)}."
            )
        self._phases = torch.tensor(list(gaits.values()), device=env.device)
        self._command = self._phases[:1].repeat(env.num_envs, 1)

    @property
    def command(self) -> torch.Tensor:
        """Phase of each foot, 0 to 1, shape (num_envs, feet), live."""
        return self._command

    def state(self) -> dict[str, torch.Tensor]:
        return super().state() | {"command": self._command}

    def _resample(self, mask: torch.Tensor, unit: torch.Tensor) -> None:
        chosen = (unit[:, 0] * len(self._phases)).long()
        drawn = self._phases.index_select(0, chosen)
        torch.where(mask.unsqueeze(1), drawn, self._command, out=self._command)


def foot_clocks(
    env: ManagedEnv, command_name: str, gait_name: str, clock: Clock, sensor_name: str
) -> torch.Tensor:
    """Return sine and cosine of each foot's phase, 0 where the clock is stopped.

    Args:
        env: The environment.
        command_name: Velocity command.
        gait_name: Command of the gait.
        clock: The clock.
        sensor_name: Contact sensor of the feet, whose names are for mirror images.

    Returns:
        Sines, then cosines, shape (num_envs, 2 * feet).
    """
    turns = 2.0 * torch.pi * _phases(env, gait_name, clock)
    clocks = torch.cat((turns.sin(), turns.cos()), dim=1)
    return clocks * runs(env, clock, command_name).unsqueeze(1)


def chosen_gait_contact(
    env: ManagedEnv, command_name: str, gait_name: str, clock: Clock, sensor_name: str
) -> torch.Tensor:
    """Return the fraction of feet whose contact state matches the chosen gait.

    Where the clock is stopped, return 1 if all feet are in contact, otherwise 0. The
    arguments are those of `foot_clocks`.
    """
    down = contact_sensor(env, sensor_name).is_in_contact()
    should = _phases(env, gait_name, clock) < clock.duty
    matching = (down == should).float().mean(dim=1)
    stepping = runs(env, clock, command_name) > 0.0
    return torch.where(stepping, matching, down.all(dim=1).float())


def _phases(env: ManagedEnv, gait_name: str, clock: Clock) -> torch.Tensor:
    """Return the phase of each foot, 0 to 1; in stance it is below the duty factor."""
    turns = seconds(env).div(clock.period).unsqueeze(1)
    return (turns + env.command_manager.get_command(gait_name)).remainder(1.0)
