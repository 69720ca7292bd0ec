"""A class name stands for one thing, and public methods are documented.

`tests/tools/prose.py` holds the rules.
"""

from tests.tools.architecture import Source, read_sources
from tests.tools.prose import defined_twice, undocumented

OURS = ("mjlab", "mjlab_fused", "tasks")


def sources() -> list[Source]:
    # These are links to `tasks` and `scripts`.
    links = ("mjlab/tasks/", "mjlab/scripts/")
    return [s for s in read_sources(*OURS) if not s.path.startswith(links)]


def test_a_public_class_name_is_unique() -> None:
    assert not (twice := defined_twice(sources())), "\n".join(twice)


def test_a_public_method_is_documented_here_or_where_it_is_declared() -> None:
    assert not (missing := undocumented(sources())), "\n".join(missing)


# --- The rules find what is planted --------------------------------------------------


def test_a_planted_second_class_is_found() -> None:
    one = Source.parse("mjlab/sim/a.py", "class Field: pass\nclass _Own: pass")
    other = Source.parse("mjlab/rl/b.py", "class Field: pass\nclass _Own: pass")
    assert defined_twice([one]) == []
    assert defined_twice([one, other]) == ["Field: mjlab/sim/a.py, mjlab/rl/b.py"]


METHODS = '''
import torch

class A:
    """A noun."""

    def run(self):
        """Run."""

    def bare(self): ...

    def _own(self): ...

class B(A):
    """Another."""

    def run(self): ...

    def more(self): ...

class C(torch.nn.Module):
    """A module, whose base is not ours."""

    def forward(self): ...
'''


def test_only_an_override_may_do_without_a_docstring() -> None:
    found = undocumented([Source.parse("a.py", METHODS)])
    assert found == ["a.py::A.bare", "a.py::B.more"]
