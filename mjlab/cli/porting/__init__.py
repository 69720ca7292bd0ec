"""Porting a task of mjlab 1.6 or Isaac Lab: their names beside ours, and a reader.

Nothing here imports what it names, and a user's file is read, never run.
"""
