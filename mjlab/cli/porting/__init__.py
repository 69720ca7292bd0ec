"""The codemod `port`: tasks for mjlab 1.6 or Isaac Lab, rewritten for this package.

Nothing here imports the named projects, and a user's file is parsed, never run.
"""
