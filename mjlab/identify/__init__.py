"""Identify a robot's physical parameters from its logs, with `mujoco.sysid`.

`Robot.of` reduces a task's scene to the robot with a fixed base and without contacts.
`read_csv` and `read_runner_log` read logs, `Fit` estimates parameters with 95 %
intervals, `propose` searches for an excitation motion, and `task_file` writes a task
that randomises the parameters within the intervals.
"""

from mjlab.identify.fit import Estimate as Estimate
from mjlab.identify.fit import Fit as Fit
from mjlab.identify.fit import FitResult as FitResult
from mjlab.identify.logs import IdentifyError as IdentifyError
from mjlab.identify.logs import Log as Log
from mjlab.identify.logs import read_csv as read_csv
from mjlab.identify.logs import read_runner_log as read_runner_log
from mjlab.identify.logs import write_csv as write_csv
from mjlab.identify.motion import propose as propose
from mjlab.identify.parameters import KINDS as KINDS
from mjlab.identify.parameters import Candidate as Candidate
from mjlab.identify.parameters import candidates as candidates
from mjlab.identify.ranges import task_file as task_file
from mjlab.identify.robot import Robot as Robot
from mjlab.identify.toolbox import missing_modules as missing_modules
from mjlab.identify.twin import Twin as Twin
