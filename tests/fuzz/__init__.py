"""Randomly damaged files, and the required reaction of readers."""
