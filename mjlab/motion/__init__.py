"""Motion clips: files, processing, and terms of motion tracking tasks."""

from mjlab.motion import mdp as mdp
from mjlab.motion.action import MotionAction as MotionAction
from mjlab.motion.action import MotionActionCfg as MotionActionCfg
from mjlab.motion.command import MotionCommand as MotionCommand
from mjlab.motion.command import MotionCommandCfg as MotionCommandCfg
from mjlab.motion.command import motion_command as motion_command
from mjlab.motion.files import find_motions as find_motions
from mjlab.motion.files import load_motion as load_motion
from mjlab.motion.files import save_motion as save_motion
from mjlab.motion.mirror import mirrored as mirrored
from mjlab.motion.motion import Motion as Motion
from mjlab.motion.motion import MotionError as MotionError
from mjlab.motion.motion import MotionInfo as MotionInfo
from mjlab.motion.rates import angular_velocity as angular_velocity
from mjlab.motion.rates import velocity as velocity
from mjlab.motion.robot import MotionRobot as MotionRobot
from mjlab.motion.sampling import AdaptiveSampling as AdaptiveSampling
from mjlab.motion.style import clip_features as clip_features
from mjlab.motion.style import reset_to_clips as reset_to_clips
