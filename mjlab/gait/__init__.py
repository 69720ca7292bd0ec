"""Gait analysis of legged robots: recording of policies, gait metrics and limits."""
