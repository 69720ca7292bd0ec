"""Faults that are planted one at a time, each of which a test has to notice."""
