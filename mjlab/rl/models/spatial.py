"""Image encoder with a spatial soft-argmax (Finn et al. 2016).

"Deep spatial autoencoders": the feature of each channel is its expected position in a
grid from -1 to 1, a point that a robot can move to.
"""

from typing import Any

import torch
from rsl_rl.models import CNNModel, MLPModel
from rsl_rl.modules import CNN
from tensordict import TensorDict
from torch import nn


class SpatialEncoder(nn.Module):
    """Image encoder: convolutions, then the expected x and y of each channel."""

    output_channels: int | None = None

    def __init__(
        self, shape: torch.Size, *, scale: float, temperature: float, **cnn_cfg: Any
    ) -> None:
        """Build the convolutional layers and the grid of pixel coordinates.

        Args:
            shape: Shape of one image: channels, height, width.
            scale: Factor by which pixel values are multiplied.
            temperature: Temperature of the softmax; features are divided by it.
            **cnn_cfg: Options of RSL-RL's convolutional network.
        """
        super().__init__()
        cnn_cfg |= {"flatten": False, "global_pool": "none"}
        self.cnn = CNN(tuple(shape[1:]), shape[0], **cnn_cfg)  # type: ignore
        height, width = self.cnn.output_dim  # type: ignore
        channels = self.cnn.output_channels
        assert channels is not None
        self.output_dim = 2 * channels
        self._scale, self._temperature = scale, temperature
        y, x = torch.meshgrid(_places(height), _places(width), indexing="ij")
        grid = torch.stack((x.flatten(), y.flatten()))
        self.register_buffer("grid", grid, persistent=False)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        """Return all x, then all y, shape (batch, 2 * channels)."""
        features = self.cnn(image.float() * self._scale).flatten(2)
        weight = torch.softmax(features / self._temperature, dim=-1)
        x, y = (weight * axis for axis in self.grid)  # type: ignore
        return torch.cat((x.sum(-1), y.sum(-1)), dim=-1)


class SpatialCnnModel(CNNModel):
    """RSL-RL's model of images and flat observations, with spatial encoders.

    The rollout storage keeps images of uint8; the model divides them by 255.
    """

    def __init__(
        self,
        obs: TensorDict,
        obs_groups: dict[str, list[str]],
        obs_set: str,
        output_dim: int,
        *,
        cnn_cfg: dict[str, Any],
        temperature: float,
        cnns: nn.ModuleDict | None = None,
        **mlp: Any,
    ) -> None:
        """Build the MLP, and the encoders unless they are shared from another model."""
        self.temperature = temperature
        self._get_obs_dim(obs, obs_groups, obs_set)
        images = self.obs_groups_2d
        if cnns is None:
            each = all(isinstance(value, dict) for value in cnn_cfg.values())
            encoders = {
                # RSL-RL's own CNN (5.5) does not accept bytes.
                group: SpatialEncoder(
                    obs[group].shape[1:],
                    scale=1.0 / 255.0 if obs[group].dtype == torch.uint8 else 1.0,
                    temperature=temperature,
                    **(cnn_cfg[group] if each else cnn_cfg),
                )
                for group in images
            }
        else:
            encoders = {group: cnns[group] for group in images}
        self.cnn_latent_dim = sum(int(e.output_dim) for e in encoders.values())  # type: ignore
        # RSL-RL's constructor would create encoders of another type.
        MLPModel.__init__(self, obs, obs_groups, obs_set, output_dim, **mlp)
        self.cnns = nn.ModuleDict(encoders) if cnns is None else cnns


def _places(count: int) -> torch.Tensor:
    """Return the centres of `count` equal parts of [-1, 1]."""
    return (torch.arange(count) + 0.5) * (2.0 / count) - 1.0
