"""Creation of motion files: import, retargeting, keyframes, kinematics and checks.

Only the command line imports this package; tasks and training read the files.
"""
