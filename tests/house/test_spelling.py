"""Pages, docstrings and comments contain no misspelling that codespell knows.

codespell has its own word list and needs no network. It finds common misspellings only.
Correct words that it reports are listed in `pyproject.toml`.
"""

import subprocess
import sys

import pytest

from tests.tools.architecture import ROOT

PLACES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs", "mjlab", "tasks")
PLACES += ("mjlab_fused", "scripts", "bench", "docker", "pyproject.toml", "Makefile")


def slips_in(*places: str) -> list[str]:
    pytest.importorskip("codespell_lib", reason="codespell is not installed")
    line = [sys.executable, "-m", "codespell_lib", *places]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True)
    assert not done.stderr, done.stderr
    return done.stdout.splitlines()


def test_no_word_is_misspelt():
    assert slips_in(*PLACES) == []


def test_planted_misspelling_is_found_and_listed_word_is_accepted(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# A hieght\n\nThe reacher recieves.\n")
    assert slips_in(str(page)) == [
        f"{page}:1: hieght ==> height",
        f"{page}:3: recieves ==> receives",
    ]
