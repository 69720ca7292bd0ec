"""Analyse a robot's MJCF or URDF file, and write a walking task for the robot."""
