"""Reaching and lifting with an arm."""

from pathlib import Path

from mjlab.registry import OnCpu, Task
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

REACH = Task(
    env=ReachYamCfg,
    play=lambda: ReachYamCfg().play(),
    rl=reach_rl,
    on_cpu=OnCpu(num_envs=WORLDS_ON_CPU, rl=reach_rl),
    summary="I2RT YAM brings its gripper to a place.",
    trained=TRAINED / "Reach-Yam",
)
REACH_DEPTH = Task(
    env=ReachYamDepthCfg,
    play=lambda: ReachYamDepthCfg().play(),
    rl=reach_depth_rl,
    on_cpu=OnCpu(num_envs=TAUGHT_WORLDS_ON_CPU, rl=reach_depth_rl),
    summary="I2RT YAM brings its gripper to a ball that a depth camera shows.",
    trained=TRAINED / "Reach-Yam-Depth",
)
LIFT = Task(
    env=LiftYamCfg,
    play=lambda: LiftYamCfg().play(),
    rl=lift_rl,
    on_cpu=OnCpu(num_envs=WORLDS_ON_CPU, rl=lift_rl),
    summary="I2RT YAM lifts a cube to a place and holds it there.",
    trained=TRAINED / "Lift-Yam",
)
LIFT_IK = Task(
    env=LiftYamIKCfg,
    play=lambda: LiftYamIKCfg().play(),
    rl=manipulation_rl,
    on_cpu=OnCpu(num_envs=WORLDS_ON_CPU, rl=manipulation_rl),
    summary="I2RT YAM lifts a cube; actions move the gripper, open it or close it.",
    script=ScriptedPolicy,
)
LIFT_MIXED = Task(
    env=LiftYamMixedCfg,
    play=lambda: LiftYamMixedCfg().play(),
    rl=manipulation_rl,
    on_cpu=OnCpu(num_envs=WORLDS_ON_CPU, rl=manipulation_rl),
    summary="I2RT YAM lifts things that are others in each world.",
    script=ScriptedPolicy,
)
LIFT_TAUGHT = Task(
    env=LiftYamTaughtCfg,
    play=lambda: LiftYamTaughtCfg().play(),
    rl=taught_rl,
    on_cpu=OnCpu(num_envs=TAUGHT_WORLDS_ON_CPU, rl=taught_rl),
    summary="I2RT YAM lifts a cube as a controller by hand does, which it imitates.",
    trained=TRAINED / "Lift-Yam-Taught",
)
LIFT_DEPTH = Task(
    env=LiftYamDepthCfg,
    play=lambda: LiftYamDepthCfg().play(),
    rl=lift_seeing_rl,
    on_cpu=OnCpu(num_envs=TAUGHT_WORLDS_ON_CPU, rl=lift_seeing_rl),
    summary="I2RT YAM lifts a cube that a depth camera at its wrist shows.",
    trained=TRAINED / "Lift-Yam-Depth",
)
LIFT_RGB = Task(
    env=LiftYamRgbCfg,
    play=lambda: LiftYamRgbCfg().play(),
    rl=lift_seeing_rl,
    on_cpu=OnCpu(num_envs=TAUGHT_WORLDS_ON_CPU, rl=lift_seeing_rl),
    summary="I2RT YAM lifts a cube that a colour camera at its wrist shows.",
)
LIFT_PICK = Task(
    env=LiftYamPickCfg,
    play=lambda: LiftYamPickCfg().play(),
    rl=lift_seeing_rl,
    on_cpu=OnCpu(num_envs=TAUGHT_WORLDS_ON_CPU, rl=lift_seeing_rl),
    summary="I2RT YAM lifts the one of three cubes that a mask of its camera shows.",
)
