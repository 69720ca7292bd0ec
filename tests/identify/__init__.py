"""Tests of `mjlab.identify`."""
