"""A scene of known geometry, for rays, heights and cameras.

One small model for both engines, so that Warp's kernels are compiled once. Distances
are computed here with NumPy, from the equations of the surfaces.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np
import torch

from mjlab.sensor import Sensor, SensorCfg, bind_sensors
from mjlab.sim import MujocoCfg, Simulation, SimulationCfg, compile_model

ENGINES = ("native", "warp")

XML = """
<mujoco>
  <asset>
    <hfield name="ramp" nrow="2" ncol="9" size="1 1 1 .1"
      elevation="0 1 2 3 4 5 6 7 8  0 1 2 3 4 5 6 7 8"/>
  </asset>
  <worldbody>
    <light pos="0 0 9"/>
    <geom name="floor" type="plane" size="0 0 1" rgba=".2 .4 .6 1"/>
    <geom name="box" type="box" pos="2 0 .5" size=".5 .5 .5" contype="0"
      conaffinity="0" rgba="1 0 0 1"/>
    <geom name="ball" type="sphere" pos="0 3 1" size=".5" contype="0" conaffinity="0"/>
    <geom name="ramp" type="hfield" hfield="ramp" pos="-4 0 0" group="2" contype="0"
      conaffinity="0"/>
    <camera name="above" pos="1 1 6" fovy="60"/>
    <body name="probe" pos="0 0 2" gravcomp="1">
      <freejoint name="probe"/>
      <geom name="shell" type="sphere" size=".1" mass="1" contype="0" conaffinity="0"/>
      <site name="nose" pos=".05 0 0" euler="0 0 90"/>
      <camera name="eye" pos="0 0 -.2" fovy="70"/>
      <body name="boom" pos="0 0 -.5">
        <geom name="boom" type="sphere" size=".05" mass=".1" contype="0"
          conaffinity="0" group="3"/>
      </body>
    </body>
    <body name="crate" pos="0 -5 .1">
      <freejoint name="crate"/>
      <geom name="crate" type="box" size=".1 .1 .1" mass="2" group="4"/>
    </body>
  </worldbody>
</mujoco>
"""
FLOOR, BOX, BALL, RAMP = range(4)


@dataclass
class Gallery:
    sim: Simulation
    sensors: dict[str, Sensor]

    def place_probe(self, pos: torch.Tensor, quat: torch.Tensor) -> None:
        self.sim.data.qpos[:, :3] = pos
        self.sim.data.qpos[:, 3:7] = quat / quat.norm(dim=-1, keepdim=True)
        self.sim.forward()


def build_gallery(
    engine: str, cfgs: Sequence[SensorCfg], num_envs: int = 16, xml: str = XML
) -> Gallery:
    spec = mujoco.MjSpec.from_string(xml)
    for cfg in cfgs:
        cfg.edit_spec(spec)
    sim_cfg = SimulationCfg(
        backend=engine, mujoco=MujocoCfg(), nconmax=16, njmax=64, num_threads=2
    )
    sim = Simulation(compile_model(spec, sim_cfg), num_envs, sim_cfg, device="cpu")
    return Gallery(sim, bind_sensors(cfgs, sim))


def random_poses(num_envs: int, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    """Positions well above the floor, outside of the objects, and random rotations."""
    generator = torch.Generator().manual_seed(seed)
    pos = torch.rand(num_envs, 3, generator=generator)
    pos = pos * torch.tensor([2.0, 2.0, 1.0]) + torch.tensor([-1.5, -1.5, 1.8])
    return pos, torch.randn(num_envs, 4, generator=generator)


def true_distances(
    starts: np.ndarray, directions: np.ndarray, grow: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Distance to the nearest of floor, box and ball, and which it is (-1: none)."""
    each = np.stack(
        (
            _to_floor(starts, directions),
            _to_box(starts, directions, np.array([2.0, 0.0, 0.5]), 0.5 + grow),
            _to_ball(starts, directions, np.array([0.0, 3.0, 1.0]), 0.5 + grow),
        )
    )
    nearest = each.min(axis=0)
    return nearest, np.where(np.isfinite(nearest), each.argmin(axis=0), -1)


def clear_cut(starts: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Return whether a ray is clear of edges, where rounding decides."""
    small, what_small = true_distances(starts, directions, -1e-3)
    large, what_large = true_distances(starts, directions, 1e-3)
    with np.errstate(invalid="ignore"):
        apart = np.abs(small - large) > 0.02
    return (what_small == what_large) & ~apart


def _to_floor(starts: np.ndarray, directions: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore", invalid="ignore"):
        t = -starts[..., 2] / directions[..., 2]
    return np.where(directions[..., 2] < 0.0, t, np.inf)


def _to_ball(
    starts: np.ndarray, directions: np.ndarray, center: np.ndarray, radius: float
) -> np.ndarray:
    offset = starts - center
    b = (offset * directions).sum(-1)
    disc = b * b - (offset * offset).sum(-1) + radius * radius
    t = -b - np.sqrt(np.maximum(disc, 0.0))
    return np.where((disc >= 0.0) & (t >= 0.0), t, np.inf)


def _to_box(
    starts: np.ndarray, directions: np.ndarray, center: np.ndarray, half: float
) -> np.ndarray:
    with np.errstate(divide="ignore"):
        near = (center - half * np.sign(directions) - starts) / directions
        far = (center + half * np.sign(directions) - starts) / directions
    enter, leave = near.max(-1), far.min(-1)
    return np.where((enter <= leave) & (enter >= 0.0), enter, np.inf)
