"""RSL-RL's model of images and flat observations, for images of uint8 too.

RSL-RL's own networks (5.5) do not accept bytes. Its rollout storage keeps them, which
takes a quarter of the memory; these networks divide them by 255.
"""

from typing import Any

import torch
from rsl_rl.models import CNNModel, MLPModel
from rsl_rl.modules import CNN
from tensordict import TensorDict
from torch import nn


class ImageEncoder(CNN):
    """RSL-RL's convolutional network, with a factor for the pixel values."""

    def __init__(self, shape: torch.Size, *, scale: float, **cnn_cfg: Any) -> None:
        """Build the layers.

        Args:
            shape: Shape of one image: channels, height, width.
            scale: Factor by which pixel values are multiplied.
            **cnn_cfg: Options of RSL-RL's convolutional network.
        """
        super().__init__(tuple(shape[1:]), shape[0], **cnn_cfg)  # type: ignore
        self._scale = scale

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the features of images `x`, shape (batch, output_dim)."""
        return super().forward(x.float() * self._scale)


class ImageModel(CNNModel):
    """RSL-RL's model of images and flat observations."""

    def __init__(
        self,
        obs: TensorDict,
        obs_groups: dict[str, list[str]],
        obs_set: str,
        output_dim: int,
        *,
        cnn_cfg: dict[str, Any],
        cnns: nn.ModuleDict | None = None,
        **mlp: Any,
    ) -> None:
        """Build the MLP, and the encoders unless they are shared from another model."""
        self._get_obs_dim(obs, obs_groups, obs_set)
        images = self.obs_groups_2d
        if cnns is None:
            each = all(isinstance(value, dict) for value in cnn_cfg.values())
            encoders = {
                group: self.encoder(
                    obs[group].shape[1:],
                    scale=1.0 / 255.0 if obs[group].dtype == torch.uint8 else 1.0,
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

    def encoder(self, shape: torch.Size, *, scale: float, **cnn_cfg: Any) -> nn.Module:
        """Return the encoder of one observation group."""
        return ImageEncoder(shape, scale=scale, **cnn_cfg)
