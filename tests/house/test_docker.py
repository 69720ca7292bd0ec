"""Dockerfiles follow the installation steps of the README.

The files are compared as text. Images are not built, because Docker is not available
here and a build downloads gigabytes.
"""

import re
import shlex
import tomllib

import pytest

from mjlab import opengl
from tests.tools.architecture import ROOT

FILES = {name: ROOT / f"docker/{name}.Dockerfile" for name in ("cpu", "cuda")}
Steps = list[tuple[str, str]]


def steps_of(text: str) -> Steps:
    """Return the instructions of a Dockerfile with their arguments, each on a line."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    whole = re.sub(r"\\\n\s*", "", "\n".join(lines))
    pairs = (line.partition(" ") for line in whole.splitlines() if line)
    return [(word, " ".join(rest.split())) for word, _, rest in pairs]


def of(steps: Steps, word: str) -> list[str]:
    return [rest for each, rest in steps if each == word]


def readme_commands() -> list[str]:
    """Return the README's commands for machines without make."""
    text = (ROOT / "README.md").read_text()
    block = re.search(r"Without make:\n\n((?:    .*\n)+)", text)
    assert block is not None
    return [line.strip() for line in block[1].splitlines()]


@pytest.fixture(params=FILES)
def steps(request) -> Steps:
    return steps_of(FILES[request.param].read_text())


def departures(steps: Steps, commands: list[str]) -> list[str]:
    """Return the README's installation steps that a Dockerfile lacks."""
    make, install, *_ = commands
    make, _, activate = make.partition(" && ")
    assert activate == ". .venv/bin/activate"
    run = of(steps, "RUN")
    missing = [command for command in (make, install) if command not in run]
    where = of(steps, "WORKDIR")[-1]
    # A shell that begins anew with each step activates nothing; the path says it all.
    if f"PATH={where}/.venv/bin:$PATH" not in of(steps, "ENV"):
        missing.append(activate)
    if not missing and run.index(make) > run.index(install):
        missing.append("their order")
    return missing


def test_an_image_is_installed_by_the_steps_of_the_readme(steps):
    assert departures(steps, readme_commands()) == []
    assert of(steps, "RUN")[-1] == readme_commands()[1]


def test_dockerfile_step_that_differs_is_found(steps):
    changed = [(w, rest.replace(",gym", "")) for w, rest in steps]
    assert departures(changed, readme_commands()) == [readme_commands()[1]]
    without = [(w, rest) for w, rest in steps if "PATH=" not in rest]
    assert departures(without, readme_commands()) == [". .venv/bin/activate"]


def test_python_version_is_supported_and_image_is_pinned(steps):
    (image,) = of(steps, "FROM")
    name, _, tag = image.partition(":")
    version = re.match(r"(\d+\.\d+)\.\d+-slim-\w+$", tag)
    assert name == "python" and version is not None, image
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert f"Programming Language :: Python :: {version[1]}" in project["classifiers"]


def test_only_required_commands_run_as_root(steps):
    words = [word for word, _ in steps]
    assert of(steps, "USER") == ["mjlab"]
    before = [rest for _, rest in steps[: words.index("USER")]]
    as_root = [rest for rest in before if rest.startswith(("apt-get", "useradd"))]
    assert as_root == [rest for rest in of(steps, "RUN") if rest in before]
    assert words.index("USER") < words.index("COPY")
    assert of(steps, "COPY") == ["--chown=mjlab . ."]


def test_tools_named_in_errors_can_render_videos(steps):
    (packages,) = (shlex.split(r) for r in of(steps, "RUN") if "apt-get" in r)
    advised = re.findall(r"lib[\w-]+", opengl.DEBIAN_PACKAGES.partition(", or")[0])
    assert advised and set(advised) <= set(packages)


def test_dockerfiles_name_no_address(steps):
    for _, rest in steps:
        assert not re.search(r"://|\d+\.\d+\.\d+\.\d+|\.(org|com|io|net)\b", rest), rest


def test_the_two_images_differ_in_the_pytorch_build_and_the_gpu_packages():
    cpu, cuda = (steps_of(FILES[name].read_text()) for name in ("cpu", "cuda"))
    more = [step for step in cpu if step not in cuda]
    assert [word for word, _ in more] == ["ARG", "RUN"]
    assert "torch==" in more[1][1] and "constraints.txt" in more[1][1]
    # Torch first: what is there already is kept by the line of the README.
    assert cpu.index(more[1]) < cpu.index(("RUN", readme_commands()[1]))
    assert [step for step in cuda if step not in cpu] == [
        ("ENV", "NVIDIA_VISIBLE_DEVICES=all"),
        ("ENV", "NVIDIA_DRIVER_CAPABILITIES=compute,graphics,utility"),
    ]


def test_files_ignored_by_git_are_excluded_from_an_image():
    def entries(name: str) -> set[str]:
        lines = (ROOT / name).read_text().splitlines()
        return {line.removeprefix("**/").strip("/") for line in lines if line}

    assert entries(".gitignore") | {".git"} <= entries(".dockerignore")
