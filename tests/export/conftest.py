"""Files of shipped policies, for the tests of this folder."""

from pathlib import Path

import pytest

from tests.worlds.shipped import shipped


@pytest.fixture(scope="session")
def go1(tmp_path_factory) -> Path:
    return shipped("Velocity-Go1-Flat", tmp_path_factory.mktemp("go1")).path


@pytest.fixture(scope="session")
def cartpole(tmp_path_factory) -> Path:
    return shipped("Cartpole-Balance", tmp_path_factory.mktemp("cartpole")).path
