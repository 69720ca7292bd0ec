"""Rewrites a task of mjlab or Isaac Lab: `python scripts/port.py FOLDER --to NEW`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mjlab.cli.main import run

if __name__ == "__main__":
    sys.exit(run("port"))
