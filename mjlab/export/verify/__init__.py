"""Verification of a policy file, a robot model, and a log of a robot."""

from mjlab.export.verify.log import LogVerdict as LogVerdict
from mjlab.export.verify.log import verify_log as verify_log
from mjlab.export.verify.play import Verdict as Verdict
from mjlab.export.verify.play import verify as verify
