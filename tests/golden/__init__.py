"""Stored results of the project: see `make.py`."""
