"""The page keeps the robot of every shipped policy in view, checked by pixels."""

import time
from pathlib import Path

import mujoco
import numpy as np
import pytest
from PIL import Image

from mjlab.envs import ManagerBasedRlEnv
from mjlab.registry import entries, load_task
from mjlab.rl import load_policy
from mjlab.runs import Run
from mjlab.viewer import Player
from tests.tools.browser import Browser, find_browser
from tests.viewer.clock import Clock

SHIPPED = {name: place for name in entries() if (place := load_task(name).trained)}
SECONDS = (0, 2, 10, 20, 30)
PAINT = (1.0, 0.0, 1.0, 1.0)
"""A colour that appears nowhere else on the page."""


def paint(spec: mujoco.MjSpec) -> None:
    """Set this colour on all moving parts."""
    for geom in spec.geoms:
        if geom.parent.name not in ("world", "terrain"):
            geom.rgba, geom.material = PAINT, ""


def painted(picture: Path) -> np.ndarray:
    """Return positions of the robot's pixels, as fractions of width and height."""
    pixels = np.asarray(Image.open(picture).convert("RGB")).astype(int)
    red, green, blue = np.moveaxis(pixels, -1, 0)
    is_robot = (red > 2 * green + 30) & (blue > 2 * green + 30)
    y, x = np.nonzero(is_robot)
    return np.stack((x / pixels.shape[1], y / pixels.shape[0]), axis=1)


def look(browser: Browser, file: Path, *, least: int, seconds: float = 300.0):
    """Return the robot's pixels, once the page shows enough, or after some seconds."""
    limit = time.monotonic() + seconds
    while True:
        browser.screenshot(file)
        places = painted(file)
        if len(places) >= least or time.monotonic() > limit:
            return places
        time.sleep(0.5)


@pytest.mark.slow
@pytest.mark.skipif(find_browser() is None, reason="there is no Chromium")
@pytest.mark.parametrize("task", SHIPPED)
def test_the_page_keeps_the_robot_in_view_for_thirty_seconds(task: str, tmp_path):
    pytest.importorskip("mjviser", reason="the extra `viewer` is not installed")
    from mjlab.viewer import WebViewer

    cfg = load_task(task).play()
    cfg.scene.num_envs = 1
    edit = cfg.scene.spec_fn
    cfg.scene.spec_fn = lambda spec: (edit(spec) if edit else None, paint(spec))
    env = ManagerBasedRlEnv(cfg)
    agent = Run(SHIPPED[task]).configs()["agent"]
    policy = load_policy(SHIPPED[task], env, agent)
    clock = Clock(now=0.0)
    player = Player(env, policy, seed=0, clock=clock)
    viewer = WebViewer(player, port=0, title=task)
    viewer.update()
    browser = Browser(viewer.url, width=1000, height=700)
    try:
        browser.wait("document.body.innerText.includes('Episode')")
        for seconds in SECONDS:
            while clock.now < seconds:
                clock.now += env.step_dt
                viewer.update()
            viewer.draw()
            time.sleep(1.0)  # The page is updated asynchronously.
            places = look(browser, tmp_path / f"{seconds}.png", least=100)
            assert len(places) >= 100, f"{seconds} s: {len(places)} pixels"
            middle = np.median(places, axis=0)
            assert (np.abs(middle - 0.5) < 0.3).all(), f"{seconds} s: at {middle}"
    finally:
        browser.close()
        viewer.close()
