"""Links of the pages lead somewhere, names exist, and examples run.

A block marked `python runnable` is executed. The blocks of a page share one namespace.
A `text` block below it is the expected output or error, compared up to line breaks.
`RUN_BY` names the test that runs each other block. Every Python block of the README is
executed. Shell blocks are in `test_commands.py`.
"""

import ast
import builtins
import contextlib
import functools
import importlib
import io
import keyword
import re
import sys
import types
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path

import pytest

from mjlab.cli.verbs import VERBS
from mjlab.registry import entries, load_task
from tests.tools.architecture import ROOT
from tests.tools.command_lines import is_a_test
from tests.tools.dotted_names import found

DOCS = ROOT / "docs"
README = ROOT / "README.md"
PAGES = [*sorted(DOCS.rglob("*.md")), README, ROOT / "CONTRIBUTING.md"]
PAGES = [page for page in PAGES if page.parent.name != "tables"]


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


pages = pytest.mark.parametrize("page", PAGES, ids=name_of)


# --- Reading a page -----------------------------------------------------------------


@dataclass(frozen=True)
class Block:
    """Fenced block: info string, text, and number of its first line."""

    info: str
    text: str
    line: int


def parts_of(text: str) -> tuple[list[Block], str]:
    """Return the fenced blocks of a page, and its text with these lines blank."""
    blocks: list[Block] = []
    prose: list[str] = []
    inside: list[str] | None = None
    info, start = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            if inside is None:
                inside, info, start = [], line[3:].strip(), number + 1
            else:
                blocks.append(Block(info, "\n".join(inside) + "\n", start))
                inside = None
            prose.append("")
        elif inside is not None:
            inside.append(line)
            prose.append("")
        else:
            prose.append(line)
    assert inside is None, f"The block of line {start} has no end."
    return blocks, "\n".join(prose)


@functools.cache
def read(page: Path) -> tuple[list[Block], str]:
    return parts_of(page.read_text("utf-8"))


def squeezed(text: str) -> str:
    return " ".join(text.split())


# --- Links --------------------------------------------------------------------------

_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)|(?:src|srcset|href)=\"([^\"]+)\"")


BUILT = ("policies.html",)
"""Pages that `make docs` writes into the site."""


def links_of(prose: str) -> list[str]:
    without_code = re.sub(r"`[^`]*`", "`", prose)
    return [a or b for a, b in _LINK.findall(without_code)]


def anchors_of(page: Path) -> set[str]:
    """The anchors that GitHub gives to a page's headings."""
    found: dict[str, int] = {}
    anchors = set()
    for line in read(page)[1].splitlines():
        if not re.match(r"#{1,6} ", line):
            continue
        words = re.sub(r"[^\w\- ]", "", line.lstrip("#").strip().lower())
        slug = words.replace(" ", "-")
        count = found.get(slug, 0)
        anchors.add(f"{slug}-{count}" if count else slug)
        found[slug] = count + 1
    return anchors


def broken_links(page: Path, prose: str) -> list[str]:
    broken = []
    for link in links_of(prose):
        if re.match(r"[a-z]+:", link) or link in BUILT:
            continue
        file, _, anchor = link.partition("#")
        target = (page.parent / file).resolve() if file else page
        if not target.exists():
            broken.append(link)
        elif anchor and target.suffix == ".md" and anchor not in anchors_of(target):
            broken.append(link)
    return broken


@pages
def test_links_and_images_lead_somewhere(page):
    assert broken_links(page, read(page)[1]) == []


def test_a_broken_link_is_found():
    planted = "[a](nowhere.md) ![b](images/none.png) [c](index.md#none) [d](index.md)"
    expected = ["nowhere.md", "images/none.png", "index.md#none"]
    assert broken_links(DOCS / "index.md", planted) == expected


def test_every_image_is_small_and_on_a_page():
    shown = {
        (page.parent / link).resolve()
        for page in PAGES
        for link in links_of(read(page)[1])
    }
    images = [file for file in (DOCS / "images").rglob("*") if file.is_file()]
    assert [name_of(image) for image in images if image not in shown] == []
    assert max(image.stat().st_size for image in images) <= 2_000_000


# --- Names --------------------------------------------------------------------------

FOLDERS = ("mjlab/", "tasks/", "scripts/", "bench/", "tests/", "docs/")

# Names that are right though they are nowhere in our sources.
OUTSIDE = {
    *("Isaac", "IsaacLab", "ManiSkill", "MuJoCo", "GitHub", "TensorBoard", "PyTorch"),
    *("MuJoCo_GL", "MUJOCO_GL", "nvidia", "README"),
}
# Pages that name what other projects have.
NAMES_OF_OTHERS = {"coming_from_mjlab.md", "coming_from_isaac_lab.md"}
NAMES_OF_OTHERS |= {"coming_from_maniskill.md"}
# Pages that name what the tests have.
NAMES_OF_TESTS = {"CONTRIBUTING.md"}
PLACEHOLDER = re.compile(r"NAME|VERB")
"""Part of a path that stands for a name."""
BUILT_IN_FLAGS = {"--help", "--check"}


def spans_of(prose: str) -> list[str]:
    return re.findall(r"`([^`\n]+(?:\n[^`\n]+)*)`", prose)


@functools.cache
def known_names() -> frozenset[str]:
    """Return names in our sources, in MuJoCo's model and data, and in Python."""
    import mujoco

    found = set(dir(builtins)) | set(keyword.kwlist) | OUTSIDE
    found |= {word for task_id in entries() for word in task_id.split("-")}
    for kind in (mujoco.MjModel, mujoco.MjData, mujoco.MjOption, mujoco.MjSpec):
        found |= set(dir(kind))
    found |= set(dir(mujoco))
    for folder in FOLDERS:
        for file in (ROOT / folder).rglob("*.py"):
            found.add(file.stem)
            found |= set(file.relative_to(ROOT).parts[:-1])
            if folder != "tests/":
                found |= set(names_in(ast.parse(file.read_text("utf-8"))))
    for file in (ROOT / "mjlab").rglob("*.hpp"):
        kinds = r"\b(?:class|struct|inline [\w:]+) (\w+)"
        found |= set(re.findall(kinds, file.read_text("utf-8")))
    for file in (ROOT / "tasks").rglob("*.xml"):
        found |= set(re.findall(r"\bname=\"(\w+)\"", file.read_text("utf-8")))
    return frozenset(found)


def names_in(tree: ast.AST) -> Iterator[str]:
    """Names that a file defines or uses, and words of its short texts."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            yield node.name
        elif isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.keyword) and node.arg:
            yield node.arg
        elif isinstance(node, ast.alias):
            yield from node.name.split(".")
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            # Texts that are sentences, such as docstrings, name nothing by themselves.
            if not re.search(r"[.:;,] |\.$", node.value):
                yield from re.findall(r"\w+", node.value)


def unknown_names(prose: str, blocks: Iterable[Block] = ()) -> list[str]:
    """Return names in code spans that exist nowhere.

    Plain English words are accepted. Names that the page's own blocks define are known,
    because the blocks are run.
    """
    own = {word for block in blocks for word in re.findall(r"\w+", block.text)}
    unknown = []
    for span in spans_of(prose):
        # Paths and commands have checks of their own; `_w` and `_b` end names.
        if "/" in span.split()[0] or re.match(r"\.|--|(pip|make|python) |_\w$", span):
            continue
        text = re.sub(r"\"[^\"]*\"|'[^']*'|<[^>]*>|--[\w.-]+", " ", span)
        for word in re.findall(r"[A-Za-z_]\w*", text):
            is_name = "_" in word or re.search(r"[a-z][A-Z]|^[A-Z]\w*[a-z]", word)
            is_used = re.search(rf"\.{word}\b|\b{word}\(", text)
            if (is_name or is_used) and word not in known_names() | own:
                unknown.append(f"{word} (in `{span}`)")
    return unknown


def missing_files(page: Path, prose: str) -> list[str]:
    """Paths in spans of code, and dotted names of ours, that do not exist."""
    missing = []
    for span in map(squeezed, spans_of(prose)):
        if PLACEHOLDER.search(span):
            continue
        if re.fullmatch(r"[\w./*-]+", span) and span.startswith(FOLDERS):
            if not (list(ROOT.glob(span.rstrip("/"))) or (page.parent / span).exists()):
                missing.append(span)
        elif re.fullmatch(r"\w+\.(py|md|sh|toml)", span):
            if not any(ROOT.glob(span)) and not any_file(span):
                missing.append(span)
        elif re.fullmatch(r"mjlab(\.\w+)+", span) and found(span) is None:
            missing.append(span)
    return missing


@functools.cache
def any_file(name: str) -> bool:
    return any(any((ROOT / folder).rglob(name)) for folder in FOLDERS)


@functools.cache
def flags_of(script: str) -> frozenset[str]:
    """Return the flags of a script, for all its subcommands."""
    module = importlib.import_module(f"mjlab.cli.{verbs_by_script()[script]}")
    kinds = [kind for name, kind in vars(module).items() if name.endswith("Options")]
    own = [field for kind in kinds for field in fields(kind)]
    names = {field.name.rstrip("_") for field in own}
    names |= {f"no_{field.name}" for field in own if field.default is True}
    return frozenset(f"--{n.replace('_', '-')}" for n in names) | BUILT_IN_FLAGS


@functools.cache
def is_setting(flag: str) -> bool:
    """Return whether a flag is a configuration path of some task."""

    from mjlab.settings.change import find_part

    path = flag.removeprefix("--").replace("-", "_")
    for task in map(load_task, sorted(entries(), reverse=True)):
        assert task.rl is not None
        try:
            find_part({"env": task.env(), "agent": task.rl()}, path)
        except ValueError:
            continue
        return True
    return False


def unknown_flags(text: str, script: str | None) -> list[str]:
    """Return flags that the named script, or every script, lacks."""
    scripts = [script] if script else sorted(verbs_by_script())
    unknown = []
    for flag in re.findall(r"(?<![\w-])--[a-z][\w.-]*", text):
        if flag.startswith(("--env.", "--agent.")):
            ok = is_setting(flag.rstrip("."))
        else:
            ok = any(flag in flags_of(each) for each in scripts)
            ok |= script is None and flag in flags_of_runner()
        if not ok:
            unknown.append(flag)
    return unknown


@functools.cache
def flags_of_runner() -> frozenset[str]:
    text = (ROOT / "mjlab/export/runner/loop.py").read_text("utf-8")
    return frozenset(re.findall(r'add_argument\(\s*"(--[a-z-]+)"', text))


def verbs_by_script() -> dict[str, str]:
    verbs = {verb.script or name: name for name, verb in VERBS.items()}
    # Of two verbs with one script, and where the options of a verb are a file.
    return verbs | {"play": "play", "motion": "motion_options"}


def wrong_commands(text: str) -> list[str]:
    """Return errors in shell commands: unknown scripts and flags."""
    wrong = []
    for line in text.replace("\\\n", " ").splitlines():
        command = line.partition(" #")[0]
        found = re.search(r"\b(?<!tests/)((?:scripts|bench|docs)/\w+\.py)", command)
        if found is None or PLACEHOLDER.search(found[1]):
            continue
        file = ROOT / found[1]
        if not file.is_file():
            wrong.append(found[1])
        elif file.stem in verbs_by_script() and file.parent.name == "scripts":
            wrong += unknown_flags(command, file.stem)
    return wrong


@pages
def test_names_on_pages_exist(page):
    blocks, prose = read(page)
    wrong = []
    if page.name not in NAMES_OF_OTHERS:
        wrong += missing_files(page, prose)
        if page.name not in NAMES_OF_TESTS:
            wrong += unknown_names(prose, blocks)
        spans = [span for span in spans_of(prose) if not span.startswith("python -m ")]
        wrong += unknown_flags(" ".join(spans), None)
    for block in blocks:
        if block.info in ("sh", "bash", "", "console"):
            wrong += wrong_commands(block.text)
    for span in spans_of(prose):
        wrong += wrong_commands(squeezed(span))
    assert not wrong, "\n".join(wrong)


def test_names_that_do_not_exist_are_found():
    assert unknown_names("Use `RewardTermConfig` and `env.step_all()`.") == [
        "RewardTermConfig (in `RewardTermConfig`)",
        "step_all (in `env.step_all()`)",
    ]
    page = DOCS / "index.md"
    planted = "`mjlab/none.py`, `mjlab.envs.NoEnv`, `no_such.md`, `mjlab.envs.mdp`"
    expected = ["mjlab/none.py", "mjlab.envs.NoEnv", "no_such.md"]
    assert missing_files(page, planted) == expected
    command = "python scripts/train.py Velocity-G1 --env.scene.no 1 --nme two"
    assert wrong_commands(command) == ["--env.scene.no", "--nme"]


# --- Examples -----------------------------------------------------------------------


def examples() -> list[Path]:
    return [page for page in PAGES if any(is_run(page, b) for b in read(page)[0])]


def is_run(page: Path, block: Block) -> bool:
    word = "python" if page == README else "python runnable"
    return block.info == word


SHELL = ("sh", "bash")

RUN_BY = {
    "docs/howto/check_a_policy.md": (
        "tests/export/test_foreign_verify.py::"
        "test_recorder_of_the_page_writes_a_recording",
    ),
    "docs/howto/exam.md": (
        "tests/cli/test_exam.py::test_adapter_from_the_docs_takes_the_exam",
    ),
    "docs/howto/export_a_policy.md": (
        "tests/tasks/test_first_task.py::"
        "test_the_program_that_runs_an_exported_policy_works_as_printed",
        "tests/tasks/test_first_task.py::"
        "test_the_program_that_plays_a_foreign_network_works_as_printed",
    ),
    "docs/howto/gymnasium.md": 3
    * ("tests/gym/test_pages.py::test_the_example_for_a_library_runs",),
    "docs/howto/muscles.md": (
        "tests/export/test_muscles.py::test_the_function_of_the_page_excites_muscles",
    ),
    "docs/howto/placements.md": (
        "tests/workers/test_placement.py::test_the_program_of_the_page_trains",
    ),
    "docs/howto/play_and_evaluate.md": (
        "tests/house/test_tutorial.py::"
        "test_the_rollout_notebook_shows_a_film_and_a_chart",
    ),
    "docs/howto/replay.md": (
        "tests/replay/test_replay_page.py::test_a_recording_becomes_a_file_of_robomimic",
        "tests/replay/test_replay_page.py::"
        "test_a_recording_becomes_a_dataset_of_lerobot",
    ),
    "docs/tutorials/first_task.md": (
        "tests/tasks/test_first_task.py::"
        "test_the_file_of_the_page_is_trained_and_played_without_a_package",
        *2
        * (
            "tests/tasks/test_first_task.py::"
            "test_the_package_of_the_page_is_trained_and_played",
        ),
    ),
    "docs/tutorials/adopt.md": (
        "tests/adopt/test_package.py::test_a_reward_is_added_as_on_the_page",
    ),
    "docs/tutorials/policy_to_robot.md": (
        "tests/export/test_robot_page.py::"
        "test_the_driver_on_the_page_implements_the_whole_interface",
        "tests/export/test_robot_page.py::test_the_robot_in_mujoco_of_the_page_walks",
        "tests/export/test_runner_cpp.py::"
        "test_with_onnxruntime_cpp_gives_the_same_outputs_as_the_python_runner",
    ),
    "docs/tutorials/your_robot.md": 3
    * (
        "tests/tasks/test_foreign_robot.py::"
        "test_the_robot_of_the_page_is_trained_and_played",
    ),
}
"""Tests that run the blocks that are not run here, in the order of the page."""


def run_elsewhere(page: Path) -> list[Block]:
    """Return blocks that are neither run here nor commands, output or directives."""
    return [
        block
        for block in read(page)[0]
        if not is_run(page, block)
        and block.info not in (*SHELL, "text")
        and not block.info.startswith("{")
    ]


def test_each_block_that_is_not_run_here_names_the_test_that_runs_it():
    blocks = {name_of(page): len(run_elsewhere(page)) for page in PAGES}
    named = {page: len(tests) for page, tests in RUN_BY.items()}
    assert named == {page: count for page, count in blocks.items() if count}
    tests = {test for tests in RUN_BY.values() for test in tests}
    assert [test for test in sorted(tests) if not is_a_test(test)] == []


def run_page(page: Path, blocks: list[Block], module: types.ModuleType) -> list[str]:
    """Run a page's blocks in one namespace; return differences from its output."""
    wrong = []
    for index, block in enumerate(blocks):
        if not is_run(page, block):
            continue
        after = blocks[index + 1] if index + 1 < len(blocks) else None
        is_next = after is not None and after.info == "text"
        expected = squeezed(after.text) if after is not None and is_next else None
        place = f"{name_of(page)}:{block.line}"
        said, is_error = run_block(block, module, place)
        if expected is None and is_error:
            wrong.append(f"line {block.line} ends in {said!r}")
        elif expected is not None and said != expected:
            wrong.append(f"line {block.line} says {said!r}, not {expected!r}")
    return wrong


def run_block(block: Block, module: types.ModuleType, place: str) -> tuple[str, bool]:
    """Return the output of a block with its error message, and whether it raised."""
    out = io.StringIO()
    # Lines of an error are those of the page.
    code = compile("\n" * (block.line - 1) + block.text, place, "exec")
    try:
        with contextlib.redirect_stdout(out):
            exec(code, module.__dict__)
    except Exception as error:
        said = f"{out.getvalue()} {type(error).__name__}: {error}"
        return squeezed(said), True
    return squeezed(out.getvalue()), False


@pytest.mark.parametrize("page", examples(), ids=name_of)
def test_examples_run(page, tmp_path, monkeypatch, request):
    blocks = read(page)[0]
    if any("Offscreen" in b.text for b in blocks if is_run(page, b)):
        request.getfixturevalue("renderer_works")
    module = types.ModuleType(f"page_{page.stem}")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.chdir(tmp_path)
    wrong = run_page(page, blocks, module)
    assert not wrong, "\n".join(wrong)


def test_an_example_with_a_different_output_is_detected():
    text = "```python runnable\nprint(1 + 1)\n```\n\n```text\n3\n```\n"
    text += "```python runnable\n1 / 0\n```\n"
    blocks = parts_of(text)[0]
    wrong = run_page(DOCS / "index.md", blocks, types.ModuleType("planted"))
    assert wrong == [
        "line 2 says '2', not '3'",
        "line 9 ends in 'ZeroDivisionError: division by zero'",
    ]
