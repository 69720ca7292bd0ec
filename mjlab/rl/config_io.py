"""Files of configurations, as `mjlab.config_text` writes them."""

from collections.abc import Collection
from pathlib import Path
from typing import Any

from mjlab.config_text import TRUSTED as TRUSTED
from mjlab.config_text import ConfigFileError as ConfigFileError
from mjlab.config_text import config_text as config_text
from mjlab.config_text import from_data as from_data
from mjlab.config_text import parse_config as parse_config
from mjlab.config_text import to_data as to_data
from mjlab.rl.files import write_text


def save_config(path: Path, **parts: Any) -> None:
    """Write configurations under names, such as env=... and agent=....

    Raises:
        ConfigFileError: If they could not be read back as they are.
    """
    write_text(path, config_text(**parts))


def load_config(
    path: Path, packages: Collection[str] | None = TRUSTED
) -> dict[str, Any]:
    """Read what `save_config` wrote.

    Args:
        path: The file.
        packages: Top-level packages that the file may name things of. None trusts all
            that is installed.
    """
    return parse_config(Path(path).read_text("utf-8"), packages, where=str(path))
