"""Robots that ship with mjlab: their models, motors, poses and contact sets."""

from mjlab.tasks.robots.skin import load_with_skin as load_with_skin
