"""Files of configurations."""

from pathlib import Path
from typing import Any

from mjlab.files import write_text
from mjlab.schema import ConfigFileError, Trust, config_text, parse_config


def save_config(path: Path, **parts: Any) -> None:
    """Write configurations under names, such as env=... and agent=....

    Raises:
        ConfigFileError: If they could not be read back as they are.
    """
    write_text(path, config_text(**parts))


def load_config(path: Path, trust: Trust | None = None) -> dict[str, Any]:
    """Read what `save_config` wrote.

    Args:
        path: The file.
        trust: What it may name. None is what mjlab declares.
    """
    try:
        text = Path(path).read_text("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigFileError(f"{path} is no text: {error}.") from error
    return parse_config(text, trust, where=str(path))
