"""Doing something when another package is imported, now or later.

`import mjlab` imports this, so it imports nothing that takes time itself.
"""

import sys

TYPE_CHECKING = False  # As in `typing`, which takes longer to import than all of this.
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType


def when_imported(package: str, then: "Callable[[], None]") -> None:
    """Call `then` once, after `package` is imported: now, if it has been already."""
    if sys.modules.get(package) is not None:
        then()
    else:
        sys.meta_path.insert(0, _Watch(package, then))


class _Watch:
    """Finds one package as others do, and calls somebody once it is there."""

    def __init__(self, package: str, then: "Callable[[], None]") -> None:
        self._package = package
        self._then = then

    def find_spec(
        self,
        fullname: str,
        path: "Sequence[str] | None",
        target: "ModuleType | None" = None,
    ) -> "ModuleSpec | None":
        """Return the package's own spec, whose loader tells us when it is done."""
        if fullname != self._package:
            return None
        from importlib.util import find_spec

        sys.meta_path.remove(self)
        spec = find_spec(fullname)
        if spec is None or spec.loader is None:
            return spec
        run = spec.loader.exec_module

        def run_and_tell(module: "ModuleType") -> None:
            run(module)
            self._then()

        spec.loader.exec_module = run_and_tell
        return spec
