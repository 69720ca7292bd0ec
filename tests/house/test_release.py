"""Release checks: version, claimed platforms, and built files."""

import re
import subprocess
import tarfile
import tomllib
import zipfile

import pytest

from tests.tools.architecture import ROOT
from tests.tools.installed import copy_checkout, make_venv, run

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
VERSION = PROJECT["version"]
RESULTS = ROOT / "bench/results"
MOST_MB = 16.0


# --- One version ----------------------------------------------------------------------


def newest_heading(changelog: str) -> str:
    """Return the first heading of a version."""
    found = re.search(r"^## (.*)$", changelog, re.MULTILINE)
    assert found is not None
    return found[1]


def tags_of_this_commit() -> list[str]:
    done = subprocess.run(
        ["git", "tag", "--points-at", "HEAD", "v*"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    return done.stdout.split()


def faults_of_release(changelog: str, version: str, tags: list[str]) -> list[str]:
    """Return inconsistencies between version, changelog and tag."""
    heading, faults = newest_heading(changelog), []
    pattern = rf"{re.escape(version)} \((unreleased|\d{{4}}-\d\d-\d\d)\)"
    if re.fullmatch(pattern, heading) is None:
        faults.append(f"CHANGELOG.md begins with {heading!r}, not with {version}.")
    for tag in tags:
        if tag != f"v{version}":
            faults.append(f"The tag {tag} is not that of version {version}.")
        if heading.endswith("(unreleased)"):
            faults.append(f"{tag} is tagged, and CHANGELOG.md calls it unreleased.")
    return faults


def test_version_changelog_and_tag_agree():
    changelog = (ROOT / "CHANGELOG.md").read_text()
    assert faults_of_release(changelog, VERSION, tags_of_this_commit()) == []


def test_a_version_that_is_not_in_the_changelog_is_found():
    changelog = (
        "# Changelog\n\n## 0.2.0 (unreleased)\n\n- A line.\n\n## 0.1.0 (2026-01-31)\n"
    )
    assert faults_of_release(changelog, "0.2.0", []) == []
    assert len(faults_of_release(changelog, "0.1.0", [])) == 1
    assert faults_of_release(changelog, "0.2.0", ["v0.2.0"]) == [
        "v0.2.0 is tagged, and CHANGELOG.md calls it unreleased."
    ]
    released = changelog.replace("unreleased", "2026-02-28")
    assert faults_of_release(released, "0.2.0", ["v0.2.0"]) == []
    assert len(faults_of_release(released, "0.2.0", ["v0.3.0"])) == 1


def test_the_version_is_defined_in_one_place():
    pattern = re.compile(rf"(?:version|VERSION)\b.{{0,20}}\b{re.escape(VERSION)}\b")
    # Packages that are written or planted have versions of their own.
    others = {"mjlab/cli/new.py", "tests/house/test_release.py"}
    found = {
        file.relative_to(ROOT).as_posix()
        for folder in ("mjlab", "tasks", "scripts", "bench", "tests", "docs")
        for file in (ROOT / folder).rglob("*.py")
        if pattern.search(file.read_text("utf-8"))
    }
    assert found <= others


# --- What is claimed ------------------------------------------------------------------


def said_by_figures(name: str) -> set[str]:
    """Return the systems or Python versions of machines in the stored results."""
    texts = [file.read_text("utf-8") for file in RESULTS.glob("*.json")]
    return {
        said for text in texts for said in re.findall(rf'"{name}": "([^"]*)"', text)
    }


def test_claimed_systems_and_pythons_have_been_tested():
    systems = {said.split()[0] for said in said_by_figures("system")}
    pythons = {said.rpartition(".")[0] for said in said_by_figures("python")}
    claimed = [line.split(" :: ") for line in PROJECT["classifiers"]]
    of_system = {each[-1] for each in claimed if each[0] == "Operating System"}
    of_python = {
        each[-1] for each in claimed if re.fullmatch(r"3\.\d+", each[-1]) is not None
    }
    assert of_system and of_system <= systems
    assert of_python and of_python <= pythons


def test_the_readme_claims_only_tested_systems():
    readme = (ROOT / "README.md").read_text()
    for sentence in re.split(r"(?<=[.:])\s", readme):
        if re.search(r"macOS|Windows", sentence):
            assert "not been tested" in " ".join(sentence.split())


# --- What is built --------------------------------------------------------------------


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """An archive of sources, and a wheel of it, by `python -m build` in isolation."""
    top = tmp_path_factory.mktemp("release")
    tools = make_venv(top / "tools", "build", "twine", "trove-classifiers")
    source = copy_checkout(top / "source")
    run(tools / "python", "-m", "build", "--outdir", top / "dist", cwd=source)
    return tools, sorted((top / "dist").iterdir())


@pytest.mark.slow
def test_built_packages_pass_the_check_of_the_index(built, record_property):
    tools, files = built
    assert [file.suffix for file in files] == [".whl", ".gz"]
    said = run(tools / "twine", "check", "--strict", *files)
    assert said.count("PASSED") == 2
    for file in files:
        megabytes = file.stat().st_size / 1e6
        record_property("summary", f"{file.name}: {megabytes:.2f} MB")
        assert megabytes < MOST_MB


@pytest.mark.slow
def test_classifiers_are_those_of_the_index(built):
    tools, _ = built
    known = (
        "from trove_classifiers import sorted_classifiers as s; print(*s, sep='\\n')"
    )
    listed = run(tools / "python", "-c", known).splitlines()
    claimed = PROJECT["classifiers"]
    assert claimed == [each for each in listed if each in claimed]


@pytest.mark.slow
def test_models_policies_clips_and_pages_are_in_wheel_and_sdist(built):
    _, (wheel, archive) = built
    in_wheel = set(zipfile.ZipFile(wheel).namelist())
    with tarfile.open(archive) as file:
        in_archive = {name.partition("/")[2] for name in file.getnames()}
    assert {
        "mjlab/tasks/robots/go1.xml",
        "mjlab/tasks/velocity/trained/Velocity-Go1-Flat/config.json",
        "mjlab/tasks/tracking/clips/g1/walk.npz",
        "mjlab/export/contract.schema.json",
        "mjlab/report/templates/report.html",
        "mjlab/sweep/templates/sweep.html",
        "mjlab/py.typed",
    } <= in_wheel & in_archive
    assert {"pyproject.toml", "README.md", "LICENSE", "PKG-INFO"} <= in_archive


@pytest.mark.slow
def test_package_metadata_is_complete(built):
    _, (wheel, _) = built
    with zipfile.ZipFile(wheel) as file:
        (name,) = [n for n in file.namelist() if n.endswith(".dist-info/METADATA")]
        head, _, readme = file.read(name).decode().partition("\n\n")
    lines = head.splitlines()
    assert f"Version: {VERSION}" in lines
    assert "License-Expression: Apache-2.0" in lines
    assert "Description-Content-Type: text/markdown" in lines
    for wanted in ("Summary:", "Keywords:", "License-File:", "Requires-Python: >=3.11"):
        assert any(line.startswith(wanted) for line in lines), wanted
    assert readme.startswith("# mjlab-fused")
