"""Verification of a policy's file, of a robot's model and of a robot's log."""

from mjlab.export.verify.log import LogVerdict as LogVerdict
from mjlab.export.verify.log import verify_log as verify_log
from mjlab.export.verify.play import Verdict as Verdict
from mjlab.export.verify.play import verify as verify
