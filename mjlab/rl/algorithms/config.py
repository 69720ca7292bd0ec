"""Learning algorithms, as typed configurations.

Fields have the names of RSL-RL, so that RSL-RL's documentation applies. A test compares
the names with the arguments of RSL-RL's constructors.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from mjlab.rl.models.config import Activation, PartCfg
from mjlab.settings import Config
from mjlab.settings.bounds import at_least

if TYPE_CHECKING:
    from mjlab.envs import ManagerBasedRlEnv

OptimizerName = Literal["adam", "adamw", "sgd", "rmsprop"]


# Proximal policy optimisation.


class ScheduleCfg(Config):
    """Base class of schedules that change the curiosity weight by environment step."""

    mode: ClassVar[str] = ""
    """RSL-RL's name of the schedule."""


class ConstantScheduleCfg(ScheduleCfg):
    """Schedule that keeps the curiosity weight constant."""

    mode = "constant"


class StepScheduleCfg(ScheduleCfg):
    """Schedule that changes the curiosity weight once, at `final_step`."""

    mode = "step"

    final_step: int = 10_000
    """First environment step with the final weight."""

    final_value: float = 0.0
    """Final weight."""


class LinearScheduleCfg(ScheduleCfg):
    """Schedule that changes the curiosity weight linearly to its final value."""

    mode = "linear"

    initial_step: int = 0
    """Environment step at which the change starts."""

    final_step: int = 10_000
    """Environment step at which the change ends."""

    final_value: float = 0.0
    """Final weight."""


class RndCfg(Config):
    """Curiosity by random network distillation (RND): rewards for novel states.

    Its input is the observation set "rnd_state".
    """

    num_outputs: int = 1
    """Size of the embedding."""

    predictor_hidden_dims: tuple[int, ...] = (-1,)
    """Hidden widths of the predictor network; -1 is the size of the input."""

    target_hidden_dims: tuple[int, ...] = (-1,)
    """Hidden widths of the target network; -1 is the size of the input."""

    activation: Activation = "elu"
    """Activation function of both networks."""

    state_normalization: bool = False
    """Normalise the input."""

    reward_normalization: bool = False
    """Normalise the reward by the standard deviation of its discounted sum."""

    weight: float = 0.0
    """Weight of the reward per second; it is multiplied by the duration of a step."""

    weight_schedule: ScheduleCfg | None = None
    """Schedule of the weight. None keeps it constant."""

    learning_rate: Annotated[float, at_least(0)] = 1e-3
    """Learning rate of the predictor network."""


class SymmetryCfg(Config):
    """Use a mirror symmetry of the task: data augmentation, mirror loss or both."""

    data_augmentation_func: Callable[..., Any]
    """Function `f(env, obs, actions)`, defined in a module. It returns `obs` and
    `actions` with their mirror images appended; each of the two can be None."""

    use_data_augmentation: bool = False
    """Add mirrored samples to every minibatch."""

    use_mirror_loss: bool = False
    """Add a loss for asymmetric actions."""

    mirror_loss_coeff: float = 0.0
    """Weight of that loss."""


class CriticCfg(Config):
    """An additional critic for some of the reward terms, with its own discount.

    Its network has the shape of `PpoAgentCfg.critic` and its own weights.
    """

    rewards: tuple[str, ...]
    """Names of the reward terms that this critic learns from."""

    gamma: float | None = None
    """Discount per step. None uses `PpoCfg.gamma`."""

    lam: float | None = None
    """Lambda of generalised advantage estimation. None uses `PpoCfg.lam`."""

    weight: float = 1.0
    """Weight of the normalised advantage; the main critic has weight 1."""


class StyleCfg(Config, ABC):
    """Reward for moving like motion clips, by an adversarial motion prior (AMP).

    A discriminator learns to distinguish transitions of the policy from transitions of
    the clips (`mjlab.rl.algorithms.amp`). The features are the observation groups in
    `obs_groups["style"]`. The reward is called "style"; the critic in
    `PpoAgentCfg.critics` that lists it learns from it, otherwise the main critic. A
    subclass computes the features of the clips.
    """

    weight: float = 1.0
    """Weight of the reward per second; it is multiplied by the duration of a step."""

    hidden_dims: tuple[int, ...] = (256, 128)
    """Hidden layer sizes of the discriminator."""

    gradient_penalty: Annotated[float, at_least(0)] = 10.0
    """Coefficient of the squared gradient of the discriminator at transitions of
    clips. Without it, the discriminator becomes perfect and the reward zero."""

    learning_rate: Annotated[float, at_least(0)] = 3e-4
    """Learning rate of the discriminator."""

    num_updates_per_iteration: Annotated[int, at_least(1)] = 10
    """Gradient steps of the discriminator after each rollout."""

    batch_size: Annotated[int, at_least(1)] = 512
    """Transitions of clips, and as many of the policy, per gradient step."""

    capacity: Annotated[int, at_least(1)] = 50_000
    """Size of the replay buffer, in transitions of the policy."""

    @abstractmethod
    def clip_features(
        self, env: "ManagerBasedRlEnv", groups: Sequence[str]
    ) -> list[Any]:
        """Return the features of each clip at the control rate.

        They are tensors of shape (frames, features).

        Args:
            env: The environment, whose state must not change.
            groups: Observation groups of the features.
        """


class PpoCfg(PartCfg):
    """Settings of PPO (proximal policy optimisation)."""

    class_name = "mjlab.rl.algorithms.ppo:Ppo"

    num_learning_epochs: Annotated[int, at_least(1)] = 5
    """Epochs over the rollout per update."""

    num_mini_batches: Annotated[int, at_least(1)] = 4
    """Number of minibatches per epoch."""

    clip_param: float = 0.2
    """Clipping range of the probability ratio and of the value."""

    gamma: float = 0.99
    """Discount of a step."""

    lam: float = 0.95
    """Lambda of generalised advantage estimation."""

    value_loss_coef: float = 1.0
    """Weight of the value loss."""

    entropy_coef: float = 0.005
    """Weight of the entropy bonus."""

    learning_rate: Annotated[float, at_least(0)] = 1e-3
    """Learning rate; the initial one if the schedule is "adaptive"."""

    max_grad_norm: float = 1.0
    """Maximum norm of gradients, for actor and critic each."""

    optimizer: OptimizerName = "adam"
    """Optimiser."""

    use_clipped_value_loss: bool = True
    """Clip the value loss like the policy loss."""

    schedule: Literal["adaptive", "fixed"] = "adaptive"
    """Schedule of the learning rate: "adaptive" follows the KL divergence, between 1e-5
    and 1e-2."""

    desired_kl: float = 0.01
    """Target KL divergence of "adaptive"."""

    normalize_advantage_per_mini_batch: bool = False
    """Normalise advantages per minibatch instead of per rollout."""

    use_mixed_precision: bool = False
    """Compute gradients and the critic's layers in bfloat16. The policy's outputs stay
    in float32; rounded outputs halve the progress of an update."""

    grad_reduce_bucket_mb: float = 25
    """Size of the buckets in which processes exchange gradients, in MB."""

    share_cnn_encoders: bool = False
    """Share the actor's convolutional encoders with the critic."""

    rnd_cfg: RndCfg | None = None
    """Curiosity. None disables it."""

    symmetry_cfg: SymmetryCfg | None = None
    """Use of symmetry. None disables it."""


# Imitation of a teacher or of a recording.


class DistillationCfg(PartCfg):
    """Supervised learning of a student from a teacher, on the student's own states."""

    class_name = "rsl_rl.algorithms:Distillation"

    num_learning_epochs: Annotated[int, at_least(1)] = 1
    """Epochs over the rollout per update."""

    gradient_length: Annotated[int, at_least(1)] = 15
    """Steps of backpropagation through time per update of the student."""

    learning_rate: Annotated[float, at_least(0)] = 1e-3
    """Learning rate."""

    max_grad_norm: float | None = None
    """Maximum norm of gradients. None does not clip."""

    loss_type: Literal["mse", "huber"] = "mse"
    """Loss between the actions of student and teacher."""

    optimizer: OptimizerName = "adam"
    """Optimiser."""

    use_mixed_precision: bool = False
    """Run the networks in bfloat16 during learning."""

    grad_reduce_bucket_mb: float = 25
    """Size of the buckets in which processes exchange gradients, in MB."""


class ObservedActionsCfg(PartCfg):
    """A teacher without a network: its actions are observation groups.

    A scripted controller can be the teacher, as a term of an observation group.
    """

    class_name = "mjlab.rl.algorithms.dagger:ObservedActions"


class DaggerCfg(DistillationCfg):
    """DAgger: supervised learning from a teacher, on all rollouts so far.

    `num_learning_epochs` and `gradient_length` of RSL-RL's distillation have no effect.
    """

    class_name = "mjlab.rl.algorithms.dagger:Dagger"

    num_learning_epochs = 1
    gradient_length = 1

    capacity: int = 500_000
    """Size of the buffer, in steps of all worlds. The newest steps are kept."""

    batch_size: Annotated[int, at_least(1)] = 1024
    """Samples per gradient step."""

    num_updates_per_iteration: Annotated[int, at_least(1)] = 100
    """Gradient steps after each rollout."""

    teacher_share: float = 0.5
    """Fraction of the worlds in which the teacher acts.

    With 0, the student reaches later parts of an episode only after it has learned the
    earlier ones.
    """

    half_life: int | None = None
    """Steps of all worlds after which the learning rate is halved.

    None keeps it constant; the policy's quality then fluctuates.
    """


class CloningCfg(PartCfg):
    """Behaviour cloning: supervised learning of the actions of a recording."""

    class_name = "mjlab.rl.algorithms.cloning:Cloning"

    demonstrations: str | None = None
    """Path of the recording."""

    shuffled_terms: tuple[str, ...] = ("actions",)
    """Observation terms that are permuted across steps, so that the policy ignores
    them. Otherwise a policy that observes its last action learns to repeat it.
    """

    batch_size: Annotated[int, at_least(1)] = 1024
    """Samples in a gradient step."""

    num_updates_per_iteration: Annotated[int, at_least(1)] = 100
    """Gradient steps per iteration."""

    learning_rate: Annotated[float, at_least(0)] = 1e-3
    """Learning rate."""

    max_grad_norm: float | None = 1.0
    """Maximum norm of gradients. None does not clip."""

    optimizer: OptimizerName = "adam"
    """Optimiser."""
