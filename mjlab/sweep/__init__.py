"""Sweeps: many trainings of one task with settings that an optimiser chooses.

Optuna or Ray Tune choose; a trial is an ordinary run of `train.py`, in a process and a
folder of its own. There is no engine of ours.
"""
