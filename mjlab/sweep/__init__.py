"""Sweeps: hyperparameter search over many training runs of one task.

Optuna or Ray Tune choose the settings. A trial is an ordinary run of `train.py`, in a
separate process and folder.
"""
