"""Reaching and lifting tasks with an arm."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from mjlab.registry import OnCpu, Task
from mjlab.rl import AgentCfg
from mjlab.tasks.manipulation.lift import LiftYamCfg as LiftYamCfg
from mjlab.tasks.manipulation.lift_depth import LiftYamDepthCfg as LiftYamDepthCfg
from mjlab.tasks.manipulation.lift_depth import LiftYamRgbCfg as LiftYamRgbCfg
from mjlab.tasks.manipulation.lift_ik import LiftYamIKCfg as LiftYamIKCfg
from mjlab.tasks.manipulation.lift_mixed import LiftYamMixedCfg as LiftYamMixedCfg
from mjlab.tasks.manipulation.lift_pick import LiftYamPickCfg as LiftYamPickCfg
from mjlab.tasks.manipulation.lift_pick import hues as hues
from mjlab.tasks.manipulation.lift_pick import place_in_lanes as place_in_lanes
from mjlab.tasks.manipulation.lift_taught import LiftYamTaughtCfg as LiftYamTaughtCfg
from mjlab.tasks.manipulation.objects import ball as ball
from mjlab.tasks.manipulation.objects import cube as cube
from mjlab.tasks.manipulation.objects import cylinder as cylinder
from mjlab.tasks.manipulation.objects import jar as jar
from mjlab.tasks.manipulation.objects import mark_spec as mark_spec
from mjlab.tasks.manipulation.objects import table_spec as table_spec
from mjlab.tasks.manipulation.reach import ReachYamCfg as ReachYamCfg
from mjlab.tasks.manipulation.reach import TableCfg as TableCfg
from mjlab.tasks.manipulation.reach_depth import ReachYamDepthCfg as ReachYamDepthCfg
from mjlab.tasks.manipulation.rl import (
    TAUGHT_WORLDS_ON_CPU,
    WORLDS_ON_CPU,
    lift_rl,
    lift_seeing_rl,
    manipulation_rl,
    reach_depth_rl,
    reach_rl,
    taught_rl,
)
from mjlab.tasks.manipulation.script import ScriptedPolicy as ScriptedPolicy
from mjlab.tasks.manipulation.script import (
    scripted_joint_targets as scripted_joint_targets,
)

TRAINED = Path(__file__).parent / "trained"


def _task(
    env: Callable[[], TableCfg],
    rl: Callable[[], AgentCfg],
    worlds: int,
    *,
    summary: str,
    **more: Any,
) -> Task:
    """Return a task with fewer worlds on a CPU; the learner settings are the same."""
    return Task(
        env=env,
        play=lambda: env().play(),
        rl=rl,
        on_cpu=OnCpu(num_envs=worlds, rl=rl),
        summary=summary,
        **more,
    )


REACH = _task(
    ReachYamCfg,
    reach_rl,
    WORLDS_ON_CPU,
    summary="I2RT YAM arm moves its gripper to a target position.",
    trained=TRAINED / "Reach-Yam",
)
REACH_DEPTH = _task(
    ReachYamDepthCfg,
    reach_depth_rl,
    TAUGHT_WORLDS_ON_CPU,
    summary="I2RT YAM arm moves its gripper to a ball seen by a depth camera.",
    trained=TRAINED / "Reach-Yam-Depth",
)
LIFT = _task(
    LiftYamCfg,
    lift_rl,
    WORLDS_ON_CPU,
    summary="I2RT YAM arm lifts a cube to a target position and holds it.",
    trained=TRAINED / "Lift-Yam",
)
LIFT_IK = _task(
    LiftYamIKCfg,
    manipulation_rl,
    WORLDS_ON_CPU,
    summary="I2RT YAM arm lifts a cube with differential-IK actions.",
    script=ScriptedPolicy,
)
LIFT_MIXED = _task(
    LiftYamMixedCfg,
    manipulation_rl,
    WORLDS_ON_CPU,
    summary="I2RT YAM arm lifts objects of different shapes, one per world.",
    script=ScriptedPolicy,
)
LIFT_TAUGHT = _task(
    LiftYamTaughtCfg,
    taught_rl,
    TAUGHT_WORLDS_ON_CPU,
    summary="I2RT YAM arm learns to lift a cube by imitating a scripted controller.",
    trained=TRAINED / "Lift-Yam-Taught",
)
LIFT_DEPTH = _task(
    LiftYamDepthCfg,
    lift_seeing_rl,
    TAUGHT_WORLDS_ON_CPU,
    summary="I2RT YAM arm lifts a cube seen by a depth camera at its wrist.",
    trained=TRAINED / "Lift-Yam-Depth",
)
LIFT_RGB = _task(
    LiftYamRgbCfg,
    lift_seeing_rl,
    TAUGHT_WORLDS_ON_CPU,
    summary="I2RT YAM arm lifts a cube seen by a colour camera at its wrist.",
)
LIFT_PICK = _task(
    LiftYamPickCfg,
    lift_seeing_rl,
    TAUGHT_WORLDS_ON_CPU,
    summary="I2RT YAM arm lifts the cube marked by a camera mask, out of three.",
)
