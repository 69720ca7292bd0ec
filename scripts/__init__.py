"""The verbs of `mjlab` as scripts: `python scripts/train.py` is `mjlab train`."""
