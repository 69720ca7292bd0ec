"""Verify policy files, robot models and robot logs against a contract."""

from mjlab.export.verify.log import LogVerdict as LogVerdict
from mjlab.export.verify.log import verify_log as verify_log
from mjlab.export.verify.play import Verdict as Verdict
from mjlab.export.verify.play import verify as verify
