"""The examples for other libraries in docs/gymnasium.md run, where these are there."""

import importlib.util

import pytest

from tests.tools.architecture import ROOT

PAGE = (ROOT / "docs" / "gymnasium.md").read_text("utf-8")
PACKAGES = {
    "Stable-Baselines3": "stable_baselines3",
    "skrl": "skrl",
    "TorchRL": "torchrl",
}


def example(library: str) -> str:
    section = PAGE.split(f"### {library}\n")[1].split("\n#")[0]
    return section.split("```python\n")[1].split("```")[0]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("library", PACKAGES)
def test_the_example_for_a_library_runs(library: str) -> None:
    text = example(library)
    package = PACKAGES[library]
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{library} is not installed")
    assert f"from {package}" in text and "import mjlab" in text
    names: dict[str, object] = {}
    exec(compile(text, f"docs/gymnasium.md, {library}", "exec"), names)
    if library == "TorchRL":
        assert names["data"].batch_size == (4, 8)  # pyright: ignore[reportAttributeAccessIssue]
    if library == "skrl":
        assert names["observations"].shape == (4, 5)  # pyright: ignore[reportAttributeAccessIssue]
    if library == "Stable-Baselines3":
        assert names["model"].num_timesteps == 64  # pyright: ignore[reportAttributeAccessIssue]
