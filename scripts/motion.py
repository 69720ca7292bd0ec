"""Works with motion files: `python scripts/motion.py check tasks/tracking/clips/g1`."""

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mjlab.cli import run_program
from mjlab.cli.motion import main

if __name__ == "__main__":
    sys.exit(run_program(main))
