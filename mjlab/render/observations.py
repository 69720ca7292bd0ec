"""Image observations, in addition to `mdp.camera_image`."""

import torch

from mjlab.managers.managed_env import ManagedEnv
from mjlab.managers.term import ManagerTermBase, TermCfg, TermError
from mjlab.mdp.lookup import pictures
from mjlab.scene import SceneEntityCfg, Selection
from mjlab.sensor.vision import NEAR

_HOLE = 4
"""Width of a hole in a depth image, pixels."""


def camera_bytes(env: ManagedEnv, sensor_name: str) -> torch.Tensor:
    """Return raw colour images, uint8, shape (num_envs, 3, height, width)."""
    return pictures(env, sensor_name).rgb.permute(0, 3, 1, 2)


def camera_depth(
    env: ManagedEnv, sensor_name: str, cutoff: float, as_bytes: bool = False
) -> torch.Tensor:
    """Return depth divided by `cutoff`, at most 1, (num_envs, 1, height, width).

    Args:
        env: The environment.
        sensor_name: The camera.
        cutoff: Depth that maps to 1, in metres; larger depths are clipped.
        as_bytes: Return the values times 255, rounded to uint8.
    """
    seen = pictures(env, sensor_name)
    # A cutoff set by a curriculum is a tensor; reading it would synchronise.
    if isinstance(cutoff, float) and not NEAR < cutoff <= seen.max_distance:
        raise TermError(
            f"camera_depth: cutoff={cutoff} has to be above {NEAR}, the near plane of "
            f"cameras, and at most max_distance={seen.max_distance} of "
            f"{sensor_name!r}."
        )
    share = (seen.depth.permute(0, 3, 1, 2).clamp(min=NEAR) / cutoff).clamp(max=1.0)
    return (255.0 * share).round().to(torch.uint8) if as_bytes else share


def depth_frame(
    env: ManagedEnv,
    sensor_name: str,
    cutoff: float,
    noise: float = 0.0,
    holes: float = 0.0,
    stream: str = "observation/depth_frame",
) -> torch.Tensor:
    """Return depth images, 255 at `cutoff` or without a hit, as uint8.

    The shape is (num_envs, height, width), without a channel: a history of these images
    is an image with one channel for each time.

    Args:
        env: The environment.
        sensor_name: The camera.
        cutoff: Depth that maps to 255, in metres.
        noise: Standard deviation of the depth, as a fraction of the depth.
        holes: Fraction of the image without a reading, in squares of 4 pixels. These
            pixels are 255.
        stream: Random stream of noise and holes.
    """
    share = camera_depth(env, sensor_name, cutoff)[:, 0]
    height, width = share.shape[1:]
    if noise > 0.0:
        factor = env.rng.normal(1.0, noise, (height, width), f"{stream}/noise")
        share = share * factor
    if holes > 0.0:
        squares = (-(-height // _HOLE), -(-width // _HOLE))
        missing = env.rng.draw(f"{stream}/holes", squares) < holes
        rows = missing.repeat_interleave(_HOLE, 1).repeat_interleave(_HOLE, 2)
        share = share.masked_fill(rows[:, :height, :width], 1.0)
    return (255.0 * share).clamp(0.0, 255.0).round().to(torch.uint8)


class camera_mask(ManagerTermBase):
    """Mask of the pixels that show selected geoms, such as the geoms of a target."""

    def __init__(self, cfg: TermCfg, env: ManagedEnv) -> None:
        super().__init__(cfg, env)
        # The last row is for pixels without a geom, whose id is -1.
        rows = env.sim.mj_model.ngeom + 1
        self._marked = torch.zeros(rows, dtype=torch.uint8, device=env.device)
        geoms: SceneEntityCfg = cfg.params["asset_cfg"]
        self._marked[geoms.resolve(env.scene).global_ids("geom")] = 1

    def __call__(
        self,
        env: ManagedEnv,
        sensor_name: str,
        asset_cfg: Selection,
        as_bytes: bool = False,
    ) -> torch.Tensor:
        """Return the mask, 1 or 255 as uint8, shape (num_envs, 1, height, width)."""
        seen = pictures(env, sensor_name).segmentation[..., 0].long()
        mask = self._marked[seen].unsqueeze(1)
        return mask * 255 if as_bytes else mask.float()
