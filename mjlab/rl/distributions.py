"""Distributions that actions are drawn from, and the base of what RSL-RL builds."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from mjlab.names import suggest
from mjlab.settings import Config

if TYPE_CHECKING:
    from mjlab.envs import ManagerBasedRlEnv


class PartCfg(Config):
    """A part of the learner that RSL-RL builds."""

    class_name: ClassVar[str] = ""
    """`module:class` of what is built. Subclass a configuration to build your own."""

    def bound(self, env: "ManagerBasedRlEnv") -> dict[str, Any]:
        """Return arguments of the class besides the fields, which an environment tells.

        Args:
            env: The environment that the part is built for.
        """
        return {}


class DistributionCfg(PartCfg):
    """A distribution that actions are drawn from."""


class GaussianCfg(DistributionCfg):
    """Normal, with the same spread in all states."""

    class_name = "rsl_rl.modules.distribution:GaussianDistribution"

    init_std: float = 1.0
    """Standard deviation at the start of training."""

    std_range: tuple[float, float] = (1e-6, 1e6)
    """Bounds of the standard deviation."""

    std_type: Literal["scalar", "log"] = "scalar"
    """The form that is learned: the standard deviation, or its logarithm."""

    learn_std: bool = True
    """Learn it at all."""


class HeteroscedasticGaussianCfg(DistributionCfg):
    """Normal, with a spread that the network chooses in each state."""

    class_name = "rsl_rl.modules.distribution:HeteroscedasticGaussianDistribution"

    init_std: float = 1.0
    """Standard deviation at the start of training."""

    std_range: tuple[float, float] = (1e-6, 1e6)
    """Bounds of the standard deviation."""

    std_type: Literal["scalar", "log"] = "scalar"
    """The form that the network puts out: standard deviation, or its logarithm."""


class BetaCfg(DistributionCfg):
    """Beta, whose actions never leave a range."""

    class_name = "rsl_rl.modules.distribution:BetaDistribution"

    action_range: tuple[float, float] = (-1.0, 1.0)
    """Smallest and largest action."""


def distribution_of(settings: Mapping[str, Any]) -> DistributionCfg:
    """Return the configuration that RSL-RL's dictionary stands for."""
    settings = dict(settings)
    name = str(settings.pop("class_name", "GaussianDistribution"))
    kinds = {
        cls.class_name.rpartition(":")[2]: cls
        for cls in (GaussianCfg, HeteroscedasticGaussianCfg, BetaCfg)
    }
    if (kind := kinds.get(re.split("[.:]", name)[-1])) is None:
        hint = suggest(name, list(kinds))
        raise ValueError(f"There is no distribution {name!r}. {hint}")
    return kind(**settings)
