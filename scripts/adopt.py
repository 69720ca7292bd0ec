"""Writes a walking task for a robot: `python scripts/adopt.py robot.xml`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mjlab.cli.main import run

if __name__ == "__main__":
    sys.exit(run("adopt"))
