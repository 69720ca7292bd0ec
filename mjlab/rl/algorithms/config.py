"""Learning algorithms, as typed configurations.

Fields have the names of RSL-RL, so that its documentation applies; a test compares them
with its constructors.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from mjlab.config import Config
from mjlab.rl.models.config import Activation, PartCfg

OptimizerName = Literal["adam", "adamw", "sgd", "rmsprop"]


# Proximal policy optimisation.


@dataclass(kw_only=True)
class ScheduleCfg(Config):
    """A schedule of the weight of curiosity over steps."""

    mode: ClassVar[str] = ""
    """RSL-RL's name of the schedule."""


@dataclass(kw_only=True)
class ConstantScheduleCfg(ScheduleCfg):
    """The weight stays as it is."""

    mode = "constant"


@dataclass(kw_only=True)
class StepScheduleCfg(ScheduleCfg):
    """The weight jumps once."""

    mode = "step"

    final_step: int = 10_000
    """Step of the environment from which the final weight holds."""

    final_value: float = 0.0
    """The final weight."""


@dataclass(kw_only=True)
class LinearScheduleCfg(ScheduleCfg):
    """The weight goes to its final value in a straight line."""

    mode = "linear"

    initial_step: int = 0
    """Step of the environment at which the line begins."""

    final_step: int = 10_000
    """Step of the environment at which the line ends."""

    final_value: float = 0.0
    """The final weight."""


@dataclass(kw_only=True)
class RndCfg(Config):
    """Curiosity by random network distillation: rewards states that surprise.

    It sees the observation set "rnd_state".
    """

    num_outputs: int = 1
    """Size of the embedding that is predicted."""

    predictor_hidden_dims: tuple[int, ...] = (-1,)
    """Hidden widths of the network that predicts; -1 is the size of the input."""

    target_hidden_dims: tuple[int, ...] = (-1,)
    """Hidden widths of the network that is predicted; -1 is the size of the input."""

    activation: Activation = "elu"
    """Activation function of both."""

    state_normalization: bool = False
    """Normalise the input."""

    reward_normalization: bool = False
    """Normalise the reward by the deviation of its discounted sum."""

    weight: float = 0.0
    """Weight of the reward, per second: it is multiplied by the duration of a step."""

    weight_schedule: ScheduleCfg | None = None
    """Schedule of the weight."""

    learning_rate: float = 1e-3
    """Step size of the network that predicts."""


@dataclass(kw_only=True)
class SymmetryCfg(Config):
    """Use of a symmetry of the task."""

    data_augmentation_func: Callable[..., Any]
    """`f(env, obs, actions)`, of a module, that returns both with their mirror images
    appended. Either may be None."""

    use_data_augmentation: bool = False
    """Add mirrored samples to every minibatch."""

    use_mirror_loss: bool = False
    """Pull the policy towards symmetry by a loss."""

    mirror_loss_coeff: float = 0.0
    """Weight of that loss."""


@dataclass(kw_only=True)
class PpoCfg(PartCfg):
    """Proximal policy optimisation."""

    class_name = "mjlab.rl.algorithms.ppo:Ppo"

    num_learning_epochs: int = 5
    """Passes over the rollout in an update."""

    num_mini_batches: int = 4
    """Minibatches in a pass."""

    clip_param: float = 0.2
    """Range in which the policy's ratio, and the value, move without penalty."""

    gamma: float = 0.99
    """Discount of a step."""

    lam: float = 0.95
    """Lambda of generalised advantage estimation."""

    value_loss_coef: float = 1.0
    """Weight of the value's loss."""

    entropy_coef: float = 0.01
    """Weight of the policy's entropy."""

    learning_rate: float = 1e-3
    """Step size; where it starts if the schedule is "adaptive"."""

    max_grad_norm: float = 1.0
    """Norm that gradients are clipped to, actor and critic each."""

    optimizer: OptimizerName = "adam"
    """Optimiser."""

    use_clipped_value_loss: bool = True
    """Clip the value's loss as the policy's is."""

    schedule: Literal["adaptive", "fixed"] = "adaptive"
    """Schedule of the step size: "adaptive" follows the policy's divergence, between
    1e-5 and 1e-2."""

    desired_kl: float = 0.01
    """The divergence that "adaptive" aims at."""

    normalize_advantage_per_mini_batch: bool = False
    """Normalise advantages by minibatch, rather than by rollout."""

    use_mixed_precision: bool = False
    """Compute gradients, and the critic's layers, in bfloat16. What the policy does
    while it learns stays in float32, or an update would learn about half as much."""

    grad_reduce_bucket_mb: float = 25
    """Size of what several processes exchange at a time, in MB."""

    share_cnn_encoders: bool = False
    """Share the actor's convolutional encoders with the critic."""

    rnd_cfg: RndCfg | None = None
    """Curiosity."""

    symmetry_cfg: SymmetryCfg | None = None
    """Use of symmetry."""


# Imitation of a teacher or of a recording.


@dataclass(kw_only=True)
class DistillationCfg(PartCfg):
    """Supervised learning of a student from a teacher, on the student's own states."""

    class_name = "rsl_rl.algorithms:Distillation"

    num_learning_epochs: int = 1
    """Passes over the rollout in an update."""

    gradient_length: int = 15
    """Steps between two updates of the student, through which gradients flow."""

    learning_rate: float = 1e-3
    """Step size."""

    max_grad_norm: float | None = None
    """Norm that gradients are clipped to. None leaves them."""

    loss_type: Literal["mse", "huber"] = "mse"
    """Distance between the actions of the two."""

    optimizer: OptimizerName = "adam"
    """Optimiser."""

    use_mixed_precision: bool = False
    """Run networks in bfloat16 while learning."""

    grad_reduce_bucket_mb: float = 25
    """Size of what several processes exchange at a time, in MB."""


@dataclass(kw_only=True)
class ObservedActionsCfg(PartCfg):
    """A teacher that is no network: its actions are its groups of observations.

    So a controller by hand teaches, as a term of an observation group.
    """

    class_name = "mjlab.rl.algorithms.dagger:ObservedActions"


@dataclass(kw_only=True)
class DaggerCfg(DistillationCfg):
    """Supervised learning from a teacher, with all rollouts so far.

    Fields of RSL-RL's distillation that are about its own batches, the epochs and the
    length of gradients, have no meaning here.
    """

    class_name = "mjlab.rl.algorithms.dagger:Dagger"

    num_learning_epochs: int = 1
    gradient_length: int = 1

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


@dataclass(kw_only=True)
class CloningCfg(PartCfg):
    """Supervised learning from the actions of a recording."""

    class_name = "mjlab.rl.algorithms.cloning:Cloning"

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
