"""Entry point of `python -m mjlab VERB`, the same as the command `mjlab VERB`."""

import sys

from mjlab.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
