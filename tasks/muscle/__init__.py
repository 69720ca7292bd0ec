"""Muscle models: an arm and two walkers, from the published OpenSim numbers."""
