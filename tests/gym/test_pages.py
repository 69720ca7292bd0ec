"""Examples of docs/howto/gymnasium.md, where their libraries are installed."""

import importlib.util
import os
import subprocess
import sys

import pytest

from tests.tools.architecture import ROOT

PAGE = (ROOT / "docs/howto/gymnasium.md").read_text("utf-8")
EXAMPLES = ROOT / "docs" / "examples"
PACKAGES = {
    "Stable-Baselines3": "stable_baselines3",
    "skrl": "skrl",
    "TorchRL": "torchrl",
}


def example(library: str) -> str:
    section = PAGE.split(f"### {library}\n")[1].split("\n#")[0]
    return section.split("```python\n")[1].split("```")[0]


def require(library: str) -> None:
    """Skip without a library; fail in CI, where `make` installs it."""
    if importlib.util.find_spec(PACKAGES[library]) is None:
        is_ci = os.environ.get("CI") == "true"
        (pytest.fail if is_ci else pytest.skip)(f"{library} is not installed")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("library", PACKAGES)
def test_the_example_for_a_library_runs(
    library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    require(library)
    monkeypatch.syspath_prepend(EXAMPLES)
    text = example(library)
    assert f"from {PACKAGES[library]}" in text and "import mjlab" in text
    names: dict[str, object] = {}
    exec(compile(text, f"docs/howto/gymnasium.md, {library}", "exec"), names)
    if library == "TorchRL":
        assert names["data"].batch_size == (4, 8)  # pyright: ignore[reportAttributeAccessIssue]
    if library == "skrl":
        assert names["observations"].shape == (4, 5)  # pyright: ignore[reportAttributeAccessIssue]
    if library == "Stable-Baselines3":
        assert names["model"].num_timesteps == 64  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.slow
@pytest.mark.parametrize("library", PACKAGES)
def test_an_example_runs_in_a_fresh_process(library: str) -> None:
    """The libraries look for Gymnasium before they import it, which once hid tasks."""
    require(library)
    place = os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{EXAMPLES}"}
    command = [sys.executable, "-c", example(library)]
    done = subprocess.run(command, capture_output=True, text=True, env=place)
    assert done.returncode == 0, done.stderr
