"""Gait of legged robots: measures, limits, and the measurement of policies."""
