"""Motion tracking tasks: robots imitate reference clips."""

from pathlib import Path

from mjlab.registry import OnCpu, Task
from mjlab.tasks.tracking.env import TrackingCfg as TrackingCfg
from mjlab.tasks.tracking.g1 import TrackingG1Cfg as TrackingG1Cfg
from mjlab.tasks.tracking.g1 import TrackingG1ClipsCfg as TrackingG1ClipsCfg
from mjlab.tasks.tracking.g1 import (
    TrackingG1NoStateEstimationCfg as TrackingG1NoStateEstimationCfg,
)
from mjlab.tasks.tracking.go1 import TrackingGo1Cfg as TrackingGo1Cfg
from mjlab.tasks.tracking.rl import WORLDS_ON_CPU, clips_rl_on_cpu
from mjlab.tasks.tracking.rl import tracking_rl as tracking_rl
from mjlab.tasks.tracking.rl import tracking_rl_on_cpu as tracking_rl_on_cpu

ON_CPU = OnCpu(num_envs=WORLDS_ON_CPU, rl=tracking_rl_on_cpu)

G1 = Task(
    env=TrackingG1Cfg,
    rl=tracking_rl,
    on_cpu=ON_CPU,
    trained=Path(__file__).parent / "trained" / "Tracking-G1",
    summary="Unitree G1 imitates a motion clip.",
)
G1_NO_STATE_ESTIMATION = Task(
    env=TrackingG1NoStateEstimationCfg,
    rl=tracking_rl,
    on_cpu=ON_CPU,
    summary="Unitree G1 imitates a motion clip, from on-board sensors only.",
)
G1_CLIPS = Task(
    env=TrackingG1ClipsCfg,
    rl=tracking_rl,
    on_cpu=OnCpu(num_envs=WORLDS_ON_CPU, rl=clips_rl_on_cpu),
    trained=Path(__file__).parent / "trained" / "Tracking-G1-Clips",
    summary="Unitree G1 imitates many motion clips with one policy.",
)
GO1 = Task(
    env=TrackingGo1Cfg,
    rl=tracking_rl,
    on_cpu=ON_CPU,
    summary="Unitree Go1 imitates a motion clip.",
)
