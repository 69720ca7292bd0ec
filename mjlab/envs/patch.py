"""Standing in for a method of one object for a while."""

from collections.abc import Callable
from typing import Any


def stand_in(owner: Any, attribute: str, value: Any) -> Callable[[], None]:
    """Put `value` in the place of an attribute; return what takes it away again.

    A method goes back to being its class's. Put into the object itself, it would hold
    the object in a circle, so that Python frees it late.
    """
    is_own = attribute in vars(owner)
    original = getattr(owner, attribute)
    setattr(owner, attribute, value)

    def restore() -> None:
        if is_own:
            setattr(owner, attribute, original)
        else:
            delattr(owner, attribute)

    return restore
