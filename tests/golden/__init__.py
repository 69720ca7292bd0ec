"""What the project computes and shows, written down: see `make.py`."""
