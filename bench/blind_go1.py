"""Velocity-Go1-Sight without the camera, as a baseline for policies with images.

Train and measure it:

    python scripts/train.py bench/blind_go1.py:TASK
    python bench/crossings.py logs/blind_go1/latest
"""

from mjlab.registry import OnCpu, Task
from mjlab.rl import DistillationAgentCfg, GaussianCfg, MlpModelCfg
from mjlab.tasks.velocity.go1_sight import (
    VelocityGo1SightCfg,
    go1_sight_rl,
    sight_observations,
)
from mjlab.tasks.velocity.go1_stairs import stairs_scene
from mjlab.tasks.velocity.rl import WORLDS_ON_CPU


class BlindGo1Cfg(VelocityGo1SightCfg):
    """Unitree Go1 walks across stairs, blocks and gaps without a camera."""

    scene = stairs_scene()
    observations = {
        name: group for name, group in sight_observations().items() if name != "camera"
    }


def blind_rl() -> DistillationAgentCfg:
    """Return the settings of Velocity-Go1-Sight, with an MLP."""
    settings = go1_sight_rl()
    settings.obs_groups["student"] = ("actor", "clock", "motion")
    settings.student = MlpModelCfg(
        hidden_dims=(256, 128, 64),
        obs_normalization=True,
        distribution_cfg=GaussianCfg(init_std=0.1),
    )
    return settings


TASK = Task(
    env=BlindGo1Cfg,
    rl=blind_rl,
    on_cpu=OnCpu(num_envs=WORLDS_ON_CPU, rl=blind_rl),
    summary="Unitree Go1 walks across stairs, blocks and gaps without a camera.",
)
