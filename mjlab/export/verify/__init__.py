"""Verification of a policy's file: the recorded steps again, in plain MuJoCo."""

from mjlab.export.verify.play import Verdict as Verdict
from mjlab.export.verify.play import verify as verify
