"""RSL-RL's parts: distributions, networks and algorithms, as typed configurations.

A part is chosen by the type of its configuration: an actor is a `MlpModelCfg`, a
`RnnModelCfg` or a `CnnModelCfg`. Fields carry RSL-RL's names, so that its documentation
applies; a test compares them with its constructors.
"""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal

from mjlab.rl.distributions import DistributionCfg, PartCfg, distribution_of
from mjlab.settings import Config

Activation = Literal[
    "elu",
    "selu",
    "relu",
    "crelu",
    "lrelu",
    "tanh",
    "sigmoid",
    "softplus",
    "gelu",
    "swish",
    "mish",
    "identity",
]
LayerNorm = Literal["none", "batch", "layer"]
OptimizerName = Literal["adam", "adamw", "sgd", "rmsprop"]


# Networks.


class MlpModelCfg(PartCfg):
    """A perceptron over flat observations."""

    class_name = "rsl_rl.models:MLPModel"

    hidden_dims: tuple[int, ...] = (256, 256, 256)
    """Widths of the hidden layers."""

    activation: Activation = "elu"
    """Activation function of the hidden layers."""

    obs_normalization: bool = False
    """Normalise observations by their running mean and deviation."""

    distribution_cfg: DistributionCfg | None = None
    """Distribution of outputs. None puts out numbers, as a critic does. A dictionary,
    as RSL-RL takes it, becomes the configuration of its `class_name`."""

    def __setattr__(self, name: str, value: Any) -> None:
        """Set a field; a distribution may be a dictionary."""
        is_plain = name == "distribution_cfg" and isinstance(value, Mapping)
        super().__setattr__(name, distribution_of(value) if is_plain else value)


class RnnModelCfg(MlpModelCfg):
    """A recurrent network, then a perceptron."""

    class_name = "rsl_rl.models:RNNModel"

    rnn_type: Literal["lstm", "gru"] = "lstm"
    """Kind of recurrent cell."""

    rnn_hidden_dim: int = 256
    """Width of the hidden state."""

    rnn_num_layers: int = 1
    """Recurrent layers."""


class CnnCfg(Config):
    """A convolutional encoder of one group of images."""

    output_channels: tuple[int, ...] = (16, 32)
    """Channels after each layer."""

    kernel_size: int | tuple[int, ...] = 3
    """Width of the kernels, one for all layers or one for each."""

    stride: int | tuple[int, ...] = 1
    """Stride, one for all layers or one for each."""

    dilation: int | tuple[int, ...] = 1
    """Dilation, one for all layers or one for each."""

    padding: Literal["none", "zeros", "reflect", "replicate", "circular"] = "none"
    """Padding beyond the edge of an image."""

    norm: (
        Literal["none", "batch", "layer"]
        | tuple[Literal["none", "batch", "layer"], ...]
    ) = "none"
    """Normalisation after each convolution."""

    activation: Activation = "elu"
    """Activation function of all layers."""

    max_pool: bool | tuple[bool, ...] = False
    """Max pooling after each layer."""

    global_pool: Literal["none", "max", "avg"] = "none"
    """Pooling over the whole image at the end."""

    flatten: bool = True
    """Put out a flat vector, which a model needs."""


class CnnModelCfg(MlpModelCfg):
    """Convolutional encoders over images, then a perceptron over all observations."""

    class_name = "rsl_rl.models:CNNModel"

    cnn_cfg: CnnCfg | dict[str, CnnCfg] = CnnCfg()
    """The encoder of all groups of images, or one for each group by its name."""


class SpatialCnnModelCfg(CnnModelCfg):
    """Encoders that say where features are in an image, then a perceptron.

    Each channel gives the expected x and y of its softmax over the pixels, from -1 to
    1 (spatial soft-argmax). Images may be of uint8, which the model divides by 255.
    """

    class_name = "mjlab.rl.spatial:SpatialCnnModel"

    temperature: float = 1.0
    """Divides features before the softmax: the smaller, the sharper."""


# Algorithms.


class ScheduleCfg(Config):
    """A schedule of the weight of curiosity over steps."""

    mode: ClassVar[str] = ""
    """RSL-RL's name of the schedule."""


class ConstantScheduleCfg(ScheduleCfg):
    """The weight stays as it is."""

    mode = "constant"


class StepScheduleCfg(ScheduleCfg):
    """The weight jumps once."""

    mode = "step"

    final_step: int = 10_000
    """Step of the environment from which the final weight holds."""

    final_value: float = 0.0
    """The final weight."""


class LinearScheduleCfg(ScheduleCfg):
    """The weight goes to its final value in a straight line."""

    mode = "linear"

    initial_step: int = 0
    """Step of the environment at which the line begins."""

    final_step: int = 10_000
    """Step of the environment at which the line ends."""

    final_value: float = 0.0
    """The final weight."""


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


class PpoCfg(PartCfg):
    """Proximal policy optimisation."""

    class_name = "mjlab.rl.ppo:Ppo"

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
