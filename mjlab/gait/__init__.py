"""Gait of legged robots: measures, limits, and how a policy is measured."""
