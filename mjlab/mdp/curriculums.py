"""Curriculum terms: terrain levels, and schedules of weights, ranges and parameters."""

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import torch

from mjlab.managers.managed_env import ManagedEnv
from mjlab.managers.term import ManagerTermBase, TermCfg
from mjlab.mdp.lookup import ROBOT, chosen, ground_of
from mjlab.names import UnknownNameError, suggest
from mjlab.scene import SceneEntityCfg

Figure = str | Callable[[ManagedEnv], torch.Tensor]
"""Score of an episode: "return", "length" (in steps), "termination/<term>" (1 if the
termination term ended it), or a function that returns shape (num_envs,)."""

Value = float | Sequence[float]
Stages = Sequence[tuple[int, Value]]
"""Pairs of an environment step and the value that applies from that step on."""

_FIGURES = ("return", "length", "termination/<term>")


class terrain_levels(ManagerTermBase):
    """Move worlds to harder or easier terrain, depending on the distance walked.

    By default, a world moves up a level if its entity ended the episode further than
    half a tile from its spawn origin, and down if it covered less than half of the
    commanded distance. Returns the level of each world.
    """

    def __init__(self, cfg: TermCfg, env: ManagedEnv) -> None:
        super().__init__(cfg, env)
        self._ground = ground_of(env, "terrain_levels")
        self._entity = chosen(cfg.params, env).entity
        name = cfg.params.get("command_name", "twist")
        if cfg.params.get("commanded") is None:
            env.command_manager.term(name)  # Raise for an unknown command here.
        self._far = cfg.params.get("up_share", 0.5) * min(self._ground.terrain.size)

    def __call__(
        self,
        env: ManagedEnv,
        mask: torch.Tensor,
        asset_cfg: SceneEntityCfg = ROBOT,
        command_name: str = "twist",
        up_share: float = 0.5,
        down_share: float = 0.5,
        walked: Callable[[ManagedEnv], torch.Tensor] | None = None,
        commanded: Callable[[ManagedEnv], torch.Tensor] | None = None,
        stream: str = "curriculum/terrain_levels",
    ) -> torch.Tensor:
        """Update the levels of worlds whose episodes end, and return all levels.

        Args:
            env: The environment.
            mask: The worlds whose episodes end, shape (num_envs,), bool.
            asset_cfg: The walking entity.
            command_name: Velocity command. Its first two numbers are velocities in m/s.
            up_share: Distance above which a world moves up, as a fraction of the tile
                width.
            down_share: Distance below which a world moves down, as a fraction of the
                commanded distance.
            walked: Function that returns the distance walked, shape (num_envs,), m.
                None uses the horizontal distance from the spawn origin.
            commanded: Function that returns the commanded distance, shape (num_envs,),
                m. None uses the current command times the maximum episode duration.
            stream: Random stream that draws a new level for worlds beyond the last one.
        """
        far = self._walked(env) if walked is None else walked(env)
        asked = _commanded(env, command_name) if commanded is None else commanded(env)
        # The first reset does not end an episode.
        ended = (env.episode_length_buf > 0) & mask
        up = (far > self._far) & ended
        down = (far < asked * down_share) & ended & ~up
        self._ground.move(up, down, stream)
        return self._ground.levels

    def _walked(self, env: ManagedEnv) -> torch.Tensor:
        way = self._entity.data.root_pos_w[:, :2] - env.scene.spawn_origins[:, :2]
        return way.square().sum(dim=1).sqrt()


terrain_levels_vel = terrain_levels


class terrain_levels_by_survival(ManagerTermBase):
    """Move worlds to harder terrain after an episode without a failure.

    A world moves up if its episode reached a time limit, and down if it failed in the
    first half of the time limit. Unlike `terrain_levels`, this term does not compare
    distances, so worlds whose commands change or are zero also move up. Returns the
    level of each world.
    """

    def __init__(self, cfg: TermCfg, env: ManagedEnv) -> None:
        super().__init__(cfg, env)
        self._ground = ground_of(env, "terrain_levels_by_survival")

    def __call__(
        self,
        env: ManagedEnv,
        mask: torch.Tensor,
        stream: str = "curriculum/terrain_levels",
    ) -> torch.Tensor:
        """Update the levels of worlds whose episodes end, and return all levels.

        Args:
            env: The environment.
            mask: The worlds whose episodes end, shape (num_envs,), bool.
            stream: Random stream that draws a new level for worlds beyond the last one.
        """
        ends, steps = env.termination_manager, env.episode_length_buf
        # The first reset does not end an episode.
        ended = (steps > 0) & mask
        up = ended & ends.time_outs & ~ends.terminated
        early = steps < env.max_episode_length // 2
        self._ground.move(up, ended & ends.terminated & early, stream)
        return self._ground.levels


def _commanded(env: ManagedEnv, name: str) -> torch.Tensor:
    speed = env.command_manager.get_command(name)[:, :2].square().sum(dim=1).sqrt()
    return speed * env.max_episode_length_s


# Schedules by the number of steps.


class schedule(ManagerTermBase):
    """Change a weight, a command range or a term's parameter at given steps.

    Returns the current number, or the upper end of the current range.
    """

    def __init__(self, cfg: TermCfg, env: ManagedEnv) -> None:
        super().__init__(cfg, env)
        how = cfg.params.get("interpolation", "step")
        if how not in ("step", "linear"):
            hint = suggest(str(how), ("step", "linear"))
            raise ValueError(f"interpolation={how!r} is unknown. {hint}")
        self._is_linear = how == "linear"
        target = self._target = live_tensor(env, self._address(cfg.params))
        stages = self._stages(cfg.params)
        steps = [int(step) for step, _ in stages]
        if not steps or steps != sorted(set(steps)) or steps[0] < 0:
            raise ValueError(
                f"stages start at steps {steps}; give at least one, in ascending order."
            )
        values = [_like(target, value) for _, value in stages]
        self._steps = torch.tensor(steps, device=env.device)
        # Before the first stage, the target keeps the value that it had when the term
        # was built.
        self._values = torch.stack([target.clone(), *values])
        lengths = [math.inf, *(b - a for a, b in itertools.pairwise(steps)), math.inf]
        rates = [1.0 / length for length in lengths]
        self._rates = torch.tensor(rates, device=env.device)
        self._starts = torch.tensor([0, *steps], device=env.device)

    def _address(self, params: dict[str, Any]) -> str:
        return params["target"]

    def _stages(self, params: dict[str, Any]) -> Stages:
        return params["stages"]

    def _follow(self) -> torch.Tensor:
        """Write the current value to the target; return its last element."""
        step = self._env.common_step_counter
        stage = torch.bucketize(step, self._steps, right=True).view(1)
        if not self._is_linear:
            torch.index_select(self._values, 0, stage, out=self._target.unsqueeze(0))
        else:
            value = self._values.index_select(0, stage).squeeze(0)
            after = (stage + 1).clamp_(max=self._steps.shape[0])
            further = self._values.index_select(0, after).squeeze(0)
            passed = step - self._starts.index_select(0, stage)
            value = torch.lerp(
                value, further, (passed * self._rates.index_select(0, stage)).squeeze(0)
            )
            self._target.copy_(value)
        return self._target.reshape(-1)[-1]

    def __call__(
        self,
        env: ManagedEnv,
        target: str,
        stages: Stages,
        interpolation: Literal["step", "linear"] = "step",
    ) -> torch.Tensor:
        """Write the value that applies at the current step.

        Args:
            env: The environment.
            target: Address for `live_tensor`, such as "reward/rate/weight" or
                "command/twist/lin_vel_x".
            stages: Steps, each with the value that applies from that step on.
            interpolation: Piecewise constant ("step") or piecewise linear ("linear").
        """
        return self._follow()


class reward_weight_schedule(schedule):
    """Set the weight of a reward, depending on the number of environment steps."""

    def _address(self, params: dict[str, Any]) -> str:
        return f"reward/{params['reward_name']}/weight"

    def __call__(  # type: ignore[override]
        self,
        env: ManagedEnv,
        reward_name: str,
        stages: Stages,
        interpolation: Literal["step", "linear"] = "step",
    ) -> torch.Tensor:
        """Write the current weight; see `schedule` for the parameters."""
        return self._follow()


class command_range_schedule(schedule):
    """Set a range of a command, depending on the number of environment steps."""

    def _address(self, params: dict[str, Any]) -> str:
        return f"command/{params['command_name']}/{params['range_name']}"

    def __call__(  # type: ignore[override]
        self,
        env: ManagedEnv,
        command_name: str,
        range_name: str,
        stages: Stages,
        interpolation: Literal["step", "linear"] = "step",
    ) -> torch.Tensor:
        """Write the current range; see `schedule` for the parameters."""
        return self._follow()


class modify_reward_weight(schedule):
    """Set the weight of a reward once, after a number of steps."""

    def _address(self, params: dict[str, Any]) -> str:
        return f"reward/{params['term_name']}/weight"

    def _stages(self, params: dict[str, Any]) -> Stages:
        return [(params["num_steps"], params["weight"])]

    def __call__(  # type: ignore[override]
        self, env: ManagedEnv, term_name: str, weight: float, num_steps: int
    ) -> torch.Tensor:
        """Write the weight that applies at the current step.

        Args:
            env: The environment.
            term_name: Name of the reward term.
            weight: New weight.
            num_steps: Environment step from which the new weight applies.
        """
        return self._follow()


class reward_curriculum(ManagerTermBase):
    """Set weight and parameters of a reward, depending on the number of steps.

    Each stage is a dictionary with a `step`, and a `weight`, `params` or both:
    {"step": 12000, "weight": -0.1, "params": {"max_vel": 1.0}}. Returns the current
    values by name.
    """

    kind = "reward"
    """Kind of the terms whose parameters change."""

    def __init__(self, cfg: TermCfg, env: ManagedEnv) -> None:
        super().__init__(cfg, env)
        name, stages = cfg.params[f"{self.kind}_name"], cfg.params["stages"]
        values: dict[str, list[tuple[int, Value]]] = {}
        for stage in stages:
            fields = {**stage, **stage.get("params", {})}
            for key in fields.keys() - {"step", "params"}:
                values.setdefault(key, []).append((stage["step"], fields[key]))
        if not values:
            raise ValueError(
                f"No stage changes {name!r}. Give at least one stage a weight or "
                "params."
            )
        self._schedules = {
            key: schedule(
                TermCfg(
                    func=schedule,
                    params={"target": f"{self.kind}/{name}/{key}", "stages": steps},
                ),
                env,
            )
            for key, steps in sorted(values.items())
        }

    def __call__(
        self,
        env: ManagedEnv,
        reward_name: str,
        stages: Sequence[Mapping[str, Any]],
    ) -> dict[str, torch.Tensor]:
        """Write the values that apply at the current step.

        Args:
            env: The environment.
            reward_name: Name of the reward term.
            stages: Step counts in ascending order, each with the weight and parameters
                that apply from then on.
        """
        return self._follow()

    def _follow(self) -> dict[str, torch.Tensor]:
        return {key: each._follow() for key, each in self._schedules.items()}


class termination_curriculum(reward_curriculum):
    """Set parameters of a termination, depending on the number of steps.

    Stages have the format of `reward_curriculum`, without weights.
    """

    kind = "termination"

    def __call__(  # type: ignore[override]
        self,
        env: ManagedEnv,
        termination_name: str,
        stages: Sequence[Mapping[str, Any]],
    ) -> dict[str, torch.Tensor]:
        """Write the current values; see `reward_curriculum` for the parameters."""
        return self._follow()


# Schedules by performance.


class adaptive(ManagerTermBase):
    """Adapt a number or range, such as a weight, to the score of recent episodes.

    The value is interpolated from `start` to `end` by a level in [0, 1]. After every
    `min_episodes` episodes, the level rises by `step` if their mean score is above
    `raise_above`, and falls by `step` if it is below `lower_below`. Returns the level.
    """

    couples_worlds = True

    def __init__(self, cfg: TermCfg, env: ManagedEnv) -> None:
        super().__init__(cfg, env)
        params = cfg.params
        low, high = params["lower_below"], params["raise_above"]
        if not low <= high:
            raise ValueError(
                f"lower_below={low} is above raise_above={high}; it has to be lower or "
                "equal."
            )
        if not 0.0 < params.get("step", 0.1) <= 1.0:
            raise ValueError(f"step={params['step']} has to be above 0 and at most 1.")
        if params.get("min_episodes", 100) < 1:
            raise ValueError(
                f"min_episodes={params['min_episodes']} has to be above 0."
            )
        self._figure = _figure(env, params["figure"])
        self._target = live_tensor(env, params["target"])
        self._start = _like(self._target, params["start"])
        self._end = _like(self._target, params["end"])
        self._level = torch.zeros((), device=env.device)
        self._sum = torch.zeros((), device=env.device)
        self._count = torch.zeros((), dtype=torch.int64, device=env.device)
        self._target.copy_(self._start)

    def __call__(
        self,
        env: ManagedEnv,
        mask: torch.Tensor,
        target: str,
        start: Value,
        end: Value,
        figure: Figure,
        lower_below: float,
        raise_above: float,
        step: float = 0.1,
        min_episodes: int = 100,
    ) -> torch.Tensor:
        """Add the scores of episodes that end, and update the level when it is due.

        Args:
            env: The environment.
            mask: The worlds whose episodes end, shape (num_envs,), bool.
            target: Address for `live_tensor`.
            start: Value at level 0.
            end: Value at level 1.
            figure: Score of an episode.
            lower_below: Mean score below which the level falls.
            raise_above: Mean score above which the level rises.
            step: Change of the level.
            min_episodes: Minimum number of episodes in a mean.
        """
        values = self._figure().float()
        ended = (env.episode_length_buf > 0) & mask & values.isfinite()
        self._sum.add_(values.masked_fill(~ended, 0.0).sum())
        self._count.add_(ended.sum())
        ready = self._count >= min_episodes
        mean = self._sum / self._count.clamp(min=1)
        rises = (mean > raise_above) & ready
        falls = (mean < lower_below) & ready
        self._level.add_(rises, alpha=step).sub_(falls.float(), alpha=step)
        self._level.clamp_(0.0, 1.0)
        self._sum.masked_fill_(ready, 0.0)
        self._count.masked_fill_(ready, 0)
        self._target.copy_(torch.lerp(self._start, self._end, self._level))
        return self._level

    def state(self) -> dict[str, torch.Tensor]:
        """Return the level and the accumulated scores."""
        return {"level": self._level, "sum": self._sum, "count": self._count}


# Access to the tensors that curricula write and read.


def live_tensor(env: ManagedEnv, address: str) -> torch.Tensor:
    """Return the tensor of a number or range; writing to it changes the value.

    Args:
        env: The environment.
        address: "reward/<term>/weight" for the weight of a reward;
            "command/<term>/<range>" for a sampling range of a command; or
            "<manager>/<term>/<parameter>" for a numeric parameter of a reward,
            termination, event or observation term.
    """
    parts = address.split("/")
    if len(parts) != 3:
        raise ValueError(
            f"{address!r} is not an address; it has to be "
            "'<manager>/<term>/<parameter>', such as 'reward/alive/weight'."
        )
    kind, name, parameter = parts
    if kind == "reward" and parameter == "weight":
        return env.reward_manager.weight(name)
    if kind == "command":
        return _command_range(env, name, parameter)
    kinds = ("reward", "termination", "event", "observation")
    if kind not in kinds:
        hint = suggest(kind, [*kinds, "command"])
        raise UnknownNameError(f"{address!r}: there is no manager {kind!r}. {hint}")
    return getattr(env, f"{kind}_manager").term(name).live(parameter)


def _command_range(env: ManagedEnv, name: str, parameter: str) -> torch.Tensor:
    term: Any = env.command_manager.term(name)
    ranges = getattr(term, "ranges", {})
    known = list(ranges) if isinstance(ranges, Mapping) else []
    if parameter not in known:
        hint = suggest(parameter, known)
        raise UnknownNameError(
            f"Command {name!r} has no range {parameter!r} to change. {hint}"
        )
    return ranges[parameter]


def _like(target: torch.Tensor, value: Value) -> torch.Tensor:
    tensor = torch.tensor(value, dtype=target.dtype, device=target.device)
    if tensor.shape != target.shape:
        raise ValueError(
            f"{value!r} has shape {tuple(tensor.shape)}; it has to have the shape of "
            f"the parameter, {tuple(target.shape)}."
        )
    return tensor


def _figure(env: ManagedEnv, figure: Figure) -> Callable[[], torch.Tensor]:
    if callable(figure):
        function = figure
        return lambda: function(env)
    if figure == "return":
        return lambda: env.reward_manager.episode_sums.sum(dim=-1)
    if figure == "length":
        return lambda: env.episode_length_buf
    kind, _, name = figure.partition("/")
    if kind == "termination" and name:
        env.termination_manager.get_term(name)  # Raise for an unknown name here.
        return lambda: env.termination_manager.get_term(name)
    raise UnknownNameError(f"figure={figure!r} is unknown. {suggest(figure, _FIGURES)}")
