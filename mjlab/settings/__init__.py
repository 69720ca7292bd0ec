"""Configurations: base class, access by path, parsing of text, and settings files."""

from mjlab.settings.config import Config as Config
