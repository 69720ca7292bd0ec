"""Image encoder with a spatial soft-argmax (Finn et al. 2016).

"Deep spatial autoencoders": the feature of each channel is its expected position in a
grid from -1 to 1, a point that a robot can move to.
"""

from typing import Any

import torch
from rsl_rl.modules import CNN
from torch import nn

from mjlab.rl.models.images import ImageModel


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


class SpatialCnnModel(ImageModel):
    """Model of images and flat observations, with spatial encoders."""

    def __init__(self, *args: Any, temperature: float, **kwargs: Any) -> None:
        """Build the model.

        Args:
            *args: Arguments of `ImageModel`.
            temperature: Temperature of the softmax.
            **kwargs: Arguments of `ImageModel`.
        """
        self.temperature = temperature
        super().__init__(*args, **kwargs)

    def encoder(self, shape: torch.Size, *, scale: float, **cnn_cfg: Any) -> nn.Module:
        """Return the encoder of one observation group."""
        return SpatialEncoder(
            shape, scale=scale, temperature=self.temperature, **cnn_cfg
        )


def _places(count: int) -> torch.Tensor:
    """Return the centres of `count` equal parts of [-1, 1]."""
    return (torch.arange(count) + 0.5) * (2.0 / count) - 1.0
