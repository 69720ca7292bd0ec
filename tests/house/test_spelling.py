"""No word of a page, a docstring or a comment is one that codespell knows as a slip.

Its list of slips comes with it, and nothing is asked of a network. It finds common ones
and knows no grammar; words that look like one and are right stand in `pyproject.toml`.
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
