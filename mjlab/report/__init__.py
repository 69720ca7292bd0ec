"""Report of a run: one self-contained HTML page.

It reads only the files of the run's folder, so it works for a run that is in progress,
that failed, or that another person sent. Nothing here imports torch.
"""

from mjlab.report.page import REPORT as REPORT
from mjlab.report.page import render as render
from mjlab.report.page import write_report as write_report
