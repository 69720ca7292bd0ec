"""Randomisation of gains and effort limits, of explicit and of MuJoCo actuators."""

from typing import Any, ClassVar

import torch

from mjlab.actuator import ActuatorSet, Quantity
from mjlab.managers.managed_env import ManagedEnv
from mjlab.managers.term import ManagerTermBase, TermCfg
from mjlab.mdp.lookup import ROBOT, chosen
from mjlab.mdp.randomize.distributions import (
    Choice,
    Distribution,
    Operation,
    RandomizeError,
    Ranges,
    Sampler,
    check_word,
    combined,
)
from mjlab.mdp.randomize.fields import stream_of
from mjlab.scene import SceneEntityCfg, Selection


class _Numbers:
    """Draws one quantity (gain or limit) of an entity's chosen actuators."""

    def __init__(
        self,
        env: ManagedEnv,
        quantity: Quantity,
        ranges: Ranges,
        params: dict[str, Any],
        label: str,
    ) -> None:
        selection = chosen(params, env)
        actuators = selection.entity.actuators
        indices = chosen_actuators(env, selection, label)
        names = [actuators.names[index] for index in indices]
        choice = Choice(names=names, num_axes=1, what="actuator", label=label)
        targets = choice.resolve(ranges)
        covered = [indices[target.element] for target in targets]
        actuators.check(quantity, covered)
        env.sim.expand(*sorted(actuators.required_model_fields(quantity)))
        self._operation: Operation = params.get("operation", "scale")
        check_word(label, "operation", self._operation, Operation)
        self._sampler = Sampler(targets, label, env.device, params)
        self.ids = torch.tensor(covered, device=env.device)
        """Indices in the entity's `ActuatorSet`, shape (k,)."""
        # Values as built: this is constructed before the first event.
        built: torch.Tensor = getattr(actuators, quantity)
        self._default = built.index_select(1, self.ids)

    def draw(self, env: ManagedEnv, stream: str) -> torch.Tensor:
        """Return new values, clamped to be non-negative, shape (num_envs, k)."""
        drawn = self._sampler.draw(env.rng, stream)
        return combined(self._operation, drawn, self._default).clamp_(min=0.0)


class _ActuatorTerm(ManagerTermBase):
    """Base class of actuator terms.

    In addition to `model_fields`, the constructor expands the model fields in which the
    chosen actuators store the quantity.
    """

    model_fields: ClassVar[tuple[str, ...]]

    quantities: ClassVar[dict[str, Quantity]]
    """Quantity of each range parameter, by parameter name."""

    def __init__(self, cfg: TermCfg, env: ManagedEnv) -> None:
        super().__init__(cfg, env)
        self._actuators = chosen(cfg.params, env).entity.actuators
        label = type(self).__name__
        self._numbers = {
            name: _Numbers(env, quantity, cfg.params[name], cfg.params, label)
            for name, quantity in self.quantities.items()
            if cfg.params.get(name) is not None
        }


def chosen_actuators(env: ManagedEnv, selection: Selection, label: str) -> list[int]:
    """Return the indices of the selected actuators in the entity's `ActuatorSet`.

    The selection names MuJoCo actuators. One actuator of the set can consist of several
    MuJoCo actuators.
    """
    actuators: ActuatorSet = selection.entity.actuators
    wanted = set(selection.global_ids("actuator").tolist())
    model = env.sim.mj_model
    found: list[int] = []
    start = 0
    for binding in actuators.bindings:
        targets = [int(model.actuator_trnid[a, 0]) for a in binding.actuator_ids]
        # Actuators can be interleaved in the model, but the targets first appear in
        # target order.
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
            f"{label}: asset_cfg selects no actuator from the configuration of "
            f"{selection.name!r}. Valid: {list(actuators.names)}."
        )
    return found


class pd_gains(_ActuatorTerm):
    """Scale position and velocity gains of actuators."""

    model_fields = ("actuator_gainprm", "actuator_biasprm")
    quantities: ClassVar = {"kp_range": "stiffness", "kd_range": "damping"}

    def __init__(self, cfg: TermCfg, env: ManagedEnv) -> None:
        super().__init__(cfg, env)
        if not self._numbers:
            raise RandomizeError("pd_gains: set kp_range, kd_range, or both.")

    def __call__(
        self,
        env: ManagedEnv,
        mask: torch.Tensor,
        kp_range: Ranges | None = None,
        kd_range: Ranges | None = None,
        asset_cfg: SceneEntityCfg = ROBOT,
        operation: Operation = "scale",
        distribution: Distribution = "uniform",
        shared_random: bool = False,
        group: str | None = None,
        stream: str = "randomize",
    ) -> None:
        """Draw gains and write them.

        Args:
            env: The environment.
            mask: The worlds to write, shape (num_envs,), bool.
            kp_range: Range of the numbers that `operation` applies to position gains:
                one range, or a range per name pattern of the actuators' targets. None
                keeps the gains.
            kd_range: Range for the velocity gains, in the same form.
            asset_cfg: The actuators.
            operation: Operation on the gains as built.
            distribution: Distribution of the numbers.
            shared_random: Whether all actuators have the same draw.
            group: Name of a group of correlated terms; see `FieldTerm`.
            stream: Name of the random stream, set by the event manager.
        """
        name = stream_of(group, stream)
        for which, argument in (("kp_range", "kp"), ("kd_range", "kd")):
            numbers = self._numbers.get(which)
            if numbers is not None:
                drawn = numbers.draw(env, f"{name}/{argument}")
                self._actuators.set_gains(mask, numbers.ids, **{argument: drawn})


class effort_limits(_ActuatorTerm):
    """Scale effort limits of actuators."""

    model_fields = ("actuator_forcerange",)
    quantities: ClassVar = {"ranges": "effort_limit"}

    def __call__(
        self,
        env: ManagedEnv,
        mask: torch.Tensor,
        ranges: Ranges,
        asset_cfg: SceneEntityCfg = ROBOT,
        operation: Operation = "scale",
        distribution: Distribution = "uniform",
        shared_random: bool = False,
        group: str | None = None,
        stream: str = "randomize",
    ) -> None:
        """Draw limits and write them.

        Args:
            env: The environment.
            mask: The worlds to write, shape (num_envs,), bool.
            ranges: Range of the numbers that `operation` applies to effort limits: one
                range, or a range per name pattern of the actuators' targets.
            asset_cfg: The actuators.
            operation: Operation on the limits as built.
            distribution: Distribution of the numbers.
            shared_random: Whether all actuators have the same draw.
            group: Name of a group of correlated terms; see `FieldTerm`.
            stream: Name of the random stream, set by the event manager.
        """
        numbers = self._numbers["ranges"]
        drawn = numbers.draw(env, stream_of(group, stream))
        self._actuators.set_effort_limit(mask, numbers.ids, drawn)
