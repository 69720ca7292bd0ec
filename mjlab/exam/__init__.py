"""Exams of walking robots: reaching targets under punches, arm motion and payloads."""

from mjlab.exam.command import CommandCfg as CommandCfg
from mjlab.exam.command import RelativeTarget as RelativeTarget
from mjlab.exam.conduct import conduct as conduct
from mjlab.exam.policy import ExamPolicy as ExamPolicy
from mjlab.exam.policy import Readings as Readings
from mjlab.exam.results import LevelResults as LevelResults
from mjlab.exam.robot import ExamRobot as ExamRobot
from mjlab.exam.robot import build_robot as build_robot
from mjlab.exam.rules import LEVELS as LEVELS
from mjlab.exam.rules import Exam as Exam
from mjlab.exam.rules import Level as Level
from mjlab.exam.tables import EXAMS as EXAMS
from mjlab.exam.tables import G1_EXAM as G1_EXAM
from mjlab.exam.tables import GO1_EXAM as GO1_EXAM
