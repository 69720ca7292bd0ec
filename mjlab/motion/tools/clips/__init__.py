"""Descriptions of the clips that ship with the tracking tasks."""
