"""Robots that ship with mjlab: their models, motors, poses and contact sets."""
