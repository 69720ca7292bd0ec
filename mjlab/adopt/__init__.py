"""Adoption of a model file: findings about a legged robot, and a task that trains it."""
