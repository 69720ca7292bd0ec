"""Imitation of a teacher that need not be a network: its parts, as configurations."""

from mjlab.rl.distributions import PartCfg
from mjlab.rl.parts import DistillationCfg, OptimizerName


class ObservedActionsCfg(PartCfg):
    """A teacher that is no network: its actions are its groups of observations.

    So a controller by hand teaches, as a term of an observation group.
    """

    class_name = "mjlab.rl.observed:ObservedActions"


class DaggerCfg(DistillationCfg):
    """Supervised learning from a teacher, with all rollouts so far.

    Fields of RSL-RL's distillation that are about its own batches, the epochs and the
    length of gradients, have no meaning here.
    """

    class_name = "mjlab.rl.dagger:Dagger"

    num_learning_epochs = 1
    gradient_length = 1

    capacity: int = 500_000
    """Steps of worlds that are kept, the newest ones."""

    batch_size: int = 1024
    """Steps in an update."""

    num_updates_per_iteration: int = 100
    """Updates after each rollout."""

    teacher_share: float = 0.5
    """Share of the worlds in which the teacher acts. Without any, a student sees what
    comes late in an episode only when it has learned all that comes before."""

    half_life: int | None = None
    """Steps of worlds in which the learning rate falls to a half. With None it stays,
    and a policy is now better, now worse."""


class CloningCfg(PartCfg):
    """Supervised learning from the actions of a recording."""

    class_name = "mjlab.rl.cloning:Cloning"

    demonstrations: str | None = None
    """The recording."""

    shuffled_terms: tuple[str, ...] = ("actions",)
    """Terms of observations that are exchanged among the steps, so that nothing is
    learned of them. A policy that sees what was done last learns to do it again."""

    batch_size: int = 1024
    """Steps in an update."""

    num_updates_per_iteration: int = 100
    """Updates in an iteration."""

    learning_rate: float = 1e-3
    """Step size."""

    max_grad_norm: float | None = 1.0
    """Norm that gradients are clipped to. None leaves them."""

    optimizer: OptimizerName = "adam"
    """Optimiser."""
