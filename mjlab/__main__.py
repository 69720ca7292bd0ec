"""`python -m mjlab VERB`, if the command `mjlab` is not on the path."""

import sys

from mjlab.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
