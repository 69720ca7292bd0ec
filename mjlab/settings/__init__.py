"""Configurations: base class, values by path, conversion from text, and files."""

from mjlab.settings.config import Config as Config
