"""Making of motion files: import, retargeting, keyframes, inverse kinematics, checks.

Only the command line imports this package; tasks and training read the files.
"""
