"""Policies of other projects: contracts, checks, and files that our runners take."""

from mjlab.export.foreign.verdict import Finding as Finding
from mjlab.export.foreign.verdict import ForeignVerdict as ForeignVerdict
from mjlab.export.foreign.verify import read_policy as read_policy
from mjlab.export.foreign.verify import verify_foreign as verify_foreign
