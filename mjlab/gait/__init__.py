"""Gait analysis of legged robots: measures, limits, and recording of policies."""
