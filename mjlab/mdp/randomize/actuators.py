"""Randomising gains and limits of actuators, whoever computes them."""

from typing import Any

import torch

from mjlab.actuator import ActuatorSet, Quantity
from mjlab.managers.managed_env import ManagedEnv
from mjlab.managers.term import ManagerTermBase, TermCfg
from mjlab.mdp.lookup import ROBOT
from mjlab.mdp.randomize.distributions import (
    Choice,
    Distribution,
    Operation,
    RandomizeError,
    Ranges,
    Sampler,
    check_word,
)
from mjlab.mdp.randomize.engine import chosen, stream_of
from mjlab.scene import SceneEntityCfg, Selection


class _Numbers:
    """One quantity of the chosen actuators of an entity."""

    def __init__(
        self,
        env: ManagedEnv,
        selection: Selection,
        quantity: Quantity,
        ranges: Ranges,
        params: dict[str, Any],
        label: str,
    ) -> None:
        actuators = selection.entity.actuators
        indices = chosen_actuators(env, selection, label)
        choice = Choice(
            names=[actuators.names[index] for index in indices],
            num_axes=1,
            what="actuator",
            label=label,
        )
        targets = choice.resolve(ranges)
        covered = [indices[target.element] for target in targets]
        actuators.check(quantity, covered)
        env.sim.expand(*sorted(actuators.required_model_fields(quantity)))
        self._operation: Operation = params.get("operation", "scale")
        check_word(label, "operation", self._operation, Operation)
        self._sampler = Sampler.of(params, targets, label=label, device=env.device)
        self.ids = torch.tensor(covered, device=env.device)
        """The actuators in their set, shape (k,)."""
        # As built: this is constructed before any event happens.
        built: torch.Tensor = getattr(actuators, quantity)
        self._default = built.index_select(1, self.ids)

    def draw(self, env: ManagedEnv, stream: str) -> torch.Tensor:
        """Return new values, not negative, shape (num_envs, k)."""
        drawn = self._sampler.draw(env.rng, stream)
        if self._operation == "scale":
            drawn = drawn.mul_(self._default)
        elif self._operation == "add":
            drawn = drawn.add_(self._default)
        return drawn.clamp_(min=0.0)


def chosen_actuators(env: ManagedEnv, selection: Selection, label: str) -> list[int]:
    """Indices in the entity's `ActuatorSet` of the actuators that were chosen.

    The selection names MuJoCo's actuators, of which one in the set may have several.
    """
    actuators: ActuatorSet = selection.entity.actuators
    wanted = set(selection.global_ids("actuator").tolist())
    model = env.sim.mj_model
    found: list[int] = []
    start = 0
    for binding in actuators.bindings:
        targets = [int(model.actuator_trnid[a, 0]) for a in binding.actuator_ids]
        # Whatever the layout, targets first appear in their own order.
        order = list(dict.fromkeys(targets))
        hit = {
            order.index(target)
            for target, actuator in zip(
                targets, binding.actuator_ids.tolist(), strict=True
            )
            if actuator in wanted
        }
        found += [start + index for index in sorted(hit)]
        start += len(binding.target_names)
    if not found:
        raise RandomizeError(
            f"{label}: no actuator of {selection.name!r} was chosen that its "
            f"configuration drives. It drives: {list(actuators.names)}."
        )
    return found


class pd_gains(ManagerTermBase):
    """Scales position and velocity gains of actuators."""

    @staticmethod
    def model_fields(params: dict[str, Any]) -> tuple[str, ...]:
        """Model fields that the term may vary; those of rarer actuators come later."""
        return ("actuator_gainprm", "actuator_biasprm")

    def __init__(self, cfg: TermCfg, env: ManagedEnv) -> None:
        super().__init__(cfg, env)
        params = cfg.params
        selection = chosen(params, env)
        self._actuators = selection.entity.actuators
        wanted: dict[str, Quantity] = {"kp_range": "stiffness", "kd_range": "damping"}
        self._numbers = {
            name: _Numbers(env, selection, quantity, params[name], params, "pd_gains")
            for name, quantity in wanted.items()
            if params.get(name) is not None
        }
        if not self._numbers:
            raise RandomizeError("pd_gains: give kp_range, kd_range, or both.")

    def __call__(
        self,
        env: ManagedEnv,
        mask: torch.Tensor,
        kp_range: Ranges | None = None,
        kd_range: Ranges | None = None,
        asset_cfg: SceneEntityCfg = ROBOT,
        operation: Operation = "scale",
        distribution: Distribution = "uniform",
        shared: bool = False,
        group: str | None = None,
        stream: str = "randomize",
    ) -> None:
        """Draw gains and write them.

        Args:
            env: The environment.
            mask: The worlds to write, shape (num_envs,), bool.
            kp_range: Of position gains: one range, or one for each pattern of the
                actuators' targets. None leaves them.
            kd_range: Of velocity gains, likewise.
            asset_cfg: The actuators.
            operation: What is done to the gains as built.
            distribution: How the numbers are distributed.
            shared: Whether all actuators have the same draw.
            group: Name of a group of correlated terms.
            stream: Name of the random numbers; the event manager gives one.
        """
        name = stream_of(group, stream)
        for which, argument in (("kp_range", "kp"), ("kd_range", "kd")):
            numbers = self._numbers.get(which)
            if numbers is not None:
                drawn = numbers.draw(env, f"{name}/{argument}")
                self._actuators.set_gains(mask, numbers.ids, **{argument: drawn})


class effort_limits(ManagerTermBase):
    """Scales effort limits of actuators."""

    @staticmethod
    def model_fields(params: dict[str, Any]) -> tuple[str, ...]:
        """Model fields that the term may vary; those of rarer actuators come later."""
        return ("actuator_forcerange",)

    def __init__(self, cfg: TermCfg, env: ManagedEnv) -> None:
        super().__init__(cfg, env)
        params = cfg.params
        selection = chosen(params, env)
        self._actuators = selection.entity.actuators
        self._numbers = _Numbers(
            env, selection, "effort_limit", params["ranges"], params, "effort_limits"
        )

    def __call__(
        self,
        env: ManagedEnv,
        mask: torch.Tensor,
        ranges: Ranges,
        asset_cfg: SceneEntityCfg = ROBOT,
        operation: Operation = "scale",
        distribution: Distribution = "uniform",
        shared: bool = False,
        group: str | None = None,
        stream: str = "randomize",
    ) -> None:
        """Draw limits and write them.

        Args:
            env: The environment.
            mask: The worlds to write, shape (num_envs,), bool.
            ranges: One range, or one for each pattern of the actuators' targets.
            asset_cfg: The actuators.
            operation: What is done to the limits as built.
            distribution: How the numbers are distributed.
            shared: Whether all actuators have the same draw.
            group: Name of a group of correlated terms.
            stream: Name of the random numbers; the event manager gives one.
        """
        drawn = self._numbers.draw(env, stream_of(group, stream))
        self._actuators.set_effort_limit(mask, self._numbers.ids, drawn)
