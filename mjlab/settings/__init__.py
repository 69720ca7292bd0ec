"""Configurations: the base class, their values by path, words and files."""

from mjlab.settings.config import Config as Config
