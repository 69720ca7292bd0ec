"""Porting a task from mjlab 1.6 or Isaac Lab: tables of names, and a reader.

Nothing here imports the named projects, and a user's file is parsed, never run.
"""
