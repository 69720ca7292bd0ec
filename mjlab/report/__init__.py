"""Report of a run: one self-contained HTML page.

The report needs only the files in the run's folder, so it also works for runs that are
in progress, have failed, or come from another machine. Nothing here imports torch.
"""

from mjlab.report.page import REPORT as REPORT
from mjlab.report.page import render as render
from mjlab.report.page import write_report as write_report
