"""The faults fit the code that they are planted in."""

import ast
from collections import Counter
from pathlib import Path

from tests.mutants.run import ROOT, planted, read_faults, room_of

LINKS = {"tasks", "scripts"}
ROOMS = {p.parent.name for p in (ROOT / "mjlab").glob("*/__init__.py")} - LINKS


def test_two_hundred_faults_in_all_rooms_fit_their_lines() -> None:
    faults = read_faults()
    assert len({fault["id"] for fault in faults}) == len(faults)
    fitting: Counter[str] = Counter()
    for fault in faults:
        text = planted(fault, (ROOT / fault["file"]).read_text())
        if text is not None:
            ast.parse(text)
            fitting[room_of(fault)] += 1
    assert fitting.total() >= 200
    assert ROOMS <= fitting.keys()


def test_a_fault_names_tests_that_are_there_or_says_why_none_can_be() -> None:
    for fault in read_faults():
        named = [*fault["tests"], *filter(None, [fault.get("killed_by")])]
        files = [ROOT / name.partition("::")[0] for name in named]
        missing = [str(file) for file in files if not Path(file).is_file()]
        assert files and not missing, f"{fault['id']}: {missing}"
        assert fault.get("equivalent", "so").strip()
