"""Tasks with muscles: walkers and an arm."""

from pathlib import Path

from mjlab.registry import OnCpu, Task
from mjlab.tasks.muscle.learning import MuscleHookCfg as MuscleHookCfg
from mjlab.tasks.muscle.models import arm6_with_dynamics as arm6_with_dynamics
from mjlab.tasks.muscle.models import w18_with_dynamics as w18_with_dynamics
from mjlab.tasks.muscle.models import w54_with_dynamics as w54_with_dynamics
from mjlab.tasks.muscle.rl import WORLDS_ON_CPU, track_rl, walk_rl, walk_rl_on_cpu
from mjlab.tasks.muscle.track_arm6 import JointTargetCommandCfg as JointTargetCommandCfg
from mjlab.tasks.muscle.track_arm6 import TrackArm6Cfg as TrackArm6Cfg
from mjlab.tasks.muscle.track_arm6 import behind as behind
from mjlab.tasks.muscle.track_arm6 import reach as reach
from mjlab.tasks.muscle.track_arm6 import target_pose as target_pose
from mjlab.tasks.muscle.walk import WalkW18Cfg as WalkW18Cfg
from mjlab.tasks.muscle.walk import WalkW54Cfg as WalkW54Cfg

TRAINED = Path(__file__).parent / "trained"

ON_CPU = OnCpu(num_envs=WORLDS_ON_CPU, rl=walk_rl_on_cpu)

TRACK_ON_CPU = OnCpu(num_envs=WORLDS_ON_CPU, rl=track_rl)

WALK_W18 = Task(
    env=WalkW18Cfg,
    rl=walk_rl,
    on_cpu=ON_CPU,
    trained=TRAINED / "Muscle-Walk-W18",
    summary="Planar walker with 18 muscles walks forward.",
)

WALK_W54 = Task(
    env=WalkW54Cfg,
    rl=walk_rl,
    on_cpu=ON_CPU,
    summary="Three-dimensional walker with 54 muscles walks forward.",
)
TRACK_ARM6 = Task(
    env=TrackArm6Cfg,
    rl=track_rl,
    on_cpu=TRACK_ON_CPU,
    summary="Arm with six muscles reaches joint angles.",
)
