"""Networks and action distributions, as typed configurations.

The type of a configuration selects the network: an actor is an `MlpModelCfg`, an
`RnnModelCfg` or a `CnnModelCfg`. Fields have the names of RSL-RL, so that RSL-RL's
documentation applies. A test compares the names with the arguments of RSL-RL's classes.
"""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from mjlab.names import suggest
from mjlab.settings import Config

if TYPE_CHECKING:
    from mjlab.envs import ManagerBasedRlEnv

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


class PartCfg(Config):
    """Base class of configurations from which RSL-RL builds a part of a learner."""

    class_name: ClassVar[str] = ""
    """`module:class` to build. Subclass a configuration to build your own class."""

    def bound(self, env: "ManagerBasedRlEnv") -> dict[str, Any]:
        """Return arguments of the class that come from an environment.

        Args:
            env: The environment that the part is built for.
        """
        return {}


# Distributions of actions.


class DistributionCfg(PartCfg):
    """Base class of configurations of an action distribution."""


class GaussianCfg(DistributionCfg):
    """Normal distribution with the same standard deviation in all states."""

    class_name = "rsl_rl.modules.distribution:GaussianDistribution"

    init_std: float = 1.0
    """Standard deviation at the start of training."""

    std_range: tuple[float, float] = (1e-6, 1e6)
    """Bounds of the standard deviation."""

    std_type: Literal["scalar", "log"] = "scalar"
    """Learned parameter: the standard deviation or its logarithm."""

    learn_std: bool = True
    """Learn the standard deviation. False keeps `init_std`."""


class HeteroscedasticGaussianCfg(DistributionCfg):
    """Normal distribution whose standard deviation depends on the state."""

    class_name = "rsl_rl.modules.distribution:HeteroscedasticGaussianDistribution"

    init_std: float = 1.0
    """Standard deviation at the start of training."""

    std_range: tuple[float, float] = (1e-6, 1e6)
    """Bounds of the standard deviation."""

    std_type: Literal["scalar", "log"] = "scalar"
    """Output of the network: the standard deviation or its logarithm."""


class BetaCfg(DistributionCfg):
    """Beta distribution, whose samples stay within `action_range`."""

    class_name = "rsl_rl.modules.distribution:BetaDistribution"

    action_range: tuple[float, float] = (-1.0, 1.0)
    """Smallest and largest action."""


class CategoricalCfg(DistributionCfg):
    """Categorical distribution over several discrete actions."""

    class_name = "mjlab.rl.models.categorical:CategoricalDistribution"


def distribution_of(settings: Mapping[str, Any]) -> DistributionCfg:
    """Convert a dictionary in RSL-RL's form to a typed configuration."""
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


# Networks.


class MlpModelCfg(PartCfg):
    """MLP for flat observations."""

    class_name = "rsl_rl.models:MLPModel"

    hidden_dims: tuple[int, ...] = (128, 128, 128)
    """Widths of the hidden layers."""

    activation: Activation = "elu"
    """Activation function of the hidden layers."""

    obs_normalization: bool = False
    """Normalise observations by their running mean and standard deviation."""

    distribution_cfg: DistributionCfg | None = None
    """Distribution of outputs. None gives plain outputs, as a critic has. A dictionary
    in RSL-RL's form is converted to the configuration of its `class_name`."""

    def __setattr__(self, name: str, value: Any) -> None:
        """Set a field; a distribution may be a dictionary."""
        is_plain = name == "distribution_cfg" and isinstance(value, Mapping)
        super().__setattr__(name, distribution_of(value) if is_plain else value)


class RnnModelCfg(MlpModelCfg):
    """Recurrent network, followed by an MLP."""

    class_name = "rsl_rl.models:RNNModel"

    rnn_type: Literal["lstm", "gru"] = "lstm"
    """Type of recurrent cell."""

    rnn_hidden_dim: int = 256
    """Width of the hidden state."""

    rnn_num_layers: int = 1
    """Number of recurrent layers."""


class CnnCfg(Config):
    """Convolutional encoder for the images of one observation group."""

    output_channels: tuple[int, ...] = (16, 32)
    """Channels after each layer."""

    kernel_size: int | tuple[int, ...] = 3
    """Kernel size, one for all layers or one for each."""

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
    """Flatten the output. Models require this."""


class CnnModelCfg(MlpModelCfg):
    """Convolutional encoders of images, then an MLP of all observations.

    The model divides images of uint8 by 255.
    """

    class_name = "mjlab.rl.models.images:ImageModel"

    cnn_cfg: CnnCfg | dict[str, CnnCfg] = CnnCfg()
    """Encoder of all groups of images, or one for each group by its name."""


class SpatialCnnModelCfg(CnnModelCfg):
    """Convolutional encoders with a spatial soft-argmax, then an MLP.

    Each channel gives the expected x and y of its softmax over the pixels, from -1 to
    1.
    """

    class_name = "mjlab.rl.models.spatial:SpatialCnnModel"

    temperature: float = 1.0
    """Divides features before the softmax; small values give a sharp maximum."""


class EstimatingModelCfg(CnnModelCfg):
    """Student that estimates one observation group and applies the teacher's policy.

    The fields of `CnnModelCfg` describe the estimator, which needs no distribution.
    """

    class_name = "mjlab.rl.models.estimating:EstimatingModel"

    estimated: str = ""
    """Observation group of the teacher that the student estimates."""

    policy: MlpModelCfg = MlpModelCfg()
    """The teacher's network, with frozen weights. Its distribution is the exploration
    noise of the student."""

    def bound(self, env: "ManagerBasedRlEnv") -> dict[str, Any]:
        """Return the size of the estimated group."""
        (size,) = env.observation_manager.group_obs_dim[self.estimated]
        return {"size": size}
