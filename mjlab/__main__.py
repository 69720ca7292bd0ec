"""`python -m mjlab VERB`, for where the command `mjlab` is not on the path."""

import sys

from mjlab.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
