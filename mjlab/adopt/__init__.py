"""Adoption of a model file: findings about a robot, and a task that trains it."""
