"""The report of a run: one HTML page that needs nothing but itself.

It is made from the files of a run's folder alone, so that it can be made of a run that
is still going, that failed, or that somebody else sent. Nothing here imports torch.
"""

from mjlab.report.page import REPORT as REPORT
from mjlab.report.page import render as render
from mjlab.report.page import write_report as write_report
