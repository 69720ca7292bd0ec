"""What makes pages of the documentation from the code; `docs/generate.py` runs it."""
