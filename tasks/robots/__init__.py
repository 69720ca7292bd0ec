"""Robots that ship with mjlab: models, motors, poses and contact sets."""

from mjlab.tasks.robots.skin import load_with_skin as load_with_skin
from mjlab.tasks.robots.yam import load_weightless_yam as load_weightless_yam
from mjlab.tasks.robots.yam import load_yam as load_yam
