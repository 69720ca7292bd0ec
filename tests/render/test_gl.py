"""OpenGL contexts, and processes that cannot create one."""

import os
import subprocess
import sys

import pytest

from tests.tools.architecture import ROOT

FORKED = """
import os, sys
import mujoco
from mjlab.render.gl import GlError, open_context

model = mujoco.MjModel.from_xml_string("<mujoco/>")

def render():
    _, context = open_context(8, 8, lambda: mujoco.MjrContext(model, 100))
    return context.offWidth

if "parent" in sys.argv:
    render()
child = os.fork()
if child == 0:
    try:
        print("rendered", render() > 0, flush=True)
    except GlError as error:
        print(error, flush=True)
    os._exit(0)
os.waitpid(child, 0)
"""
"""Opens a context in a fork; with "parent", after one in its parent."""


def words_of_fork(*arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", FORKED, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
def test_a_fork_of_a_process_that_rendered_is_refused() -> None:
    words = words_of_fork("parent")
    assert "which had already used OpenGL" in words
    assert "context='spawn' in AsyncVectorEnv" in words


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
def test_a_fork_of_a_process_that_did_not_render_can_render() -> None:
    assert words_of_fork() == "rendered True\n"
