"""MuJoCo's window: forces of the mouse, curves, and a real window on a virtual screen.

Without a display, an object with the interface of `mujoco.viewer.Handle` replaces it.
"""

import contextlib
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import mujoco
import numpy as np
import pytest
import torch

from mjlab.envs import ManagerBasedRlEnv, ZeroPolicy
from mjlab.render.gl import open_context
from mjlab.viewer import Player
from mjlab.viewer.figures import HISTORY, TermFigures
from mjlab.viewer.native import NativeViewer
from tests.viewer.clock import Clock
from tests.viewer.test_view import make_env

ROOT = Path(__file__).resolve().parents[2]


class Window:
    """The parts of `mujoco.viewer.Handle` that the viewer uses."""

    def __init__(self, model: mujoco.MjModel) -> None:
        self.cam, self.opt = mujoco.MjvCamera(), mujoco.MjvOption()
        self.perturb = mujoco.MjvPerturb()
        self.user_scn = mujoco.MjvScene(model, maxgeom=1000)
        self.viewport = mujoco.MjrRect(0, 0, 1000, 600)
        self.figures: list[tuple[mujoco.MjrRect, mujoco.MjvFigure]] = []
        self.text: tuple[object, ...] = ()

    def lock(self) -> AbstractContextManager[None]:
        return contextlib.nullcontext()

    def is_running(self) -> bool:
        return True

    def sync(self) -> None:
        pass

    def set_texts(self, text: tuple[object, ...]) -> None:
        self.text = text

    def set_figures(
        self, figures: list[tuple[mujoco.MjrRect, mujoco.MjvFigure]]
    ) -> None:
        self.figures = figures

    def clear_figures(self) -> None:
        self.figures = []


@pytest.fixture
def viewer(monkeypatch: pytest.MonkeyPatch) -> Iterator[NativeViewer]:
    """Three worlds of a free box, without display."""
    monkeypatch.setattr("mjlab.viewer.native.require_display", lambda: None)
    monkeypatch.setattr(
        "mujoco.viewer.launch_passive", lambda model, data, **_: Window(model)
    )
    env = make_env(height=3.0, num_envs=3)
    player = Player(env, ZeroPolicy(env), seed=0, clock=Clock())
    yield NativeViewer(player, contacts=False)


def hold(viewer: NativeViewer, *, active: bool) -> None:
    """Pull the box of the shown world in the direction of x with the mouse."""
    mouse, data = viewer._window.perturb, viewer._data
    body = viewer._model.body("robot/base").id
    mouse.select = body
    mouse.active = int(mujoco.mjtPertBit.mjPERT_TRANSLATE) if active else 0
    mouse.scale, mouse.localmass = 1.0, float(viewer._model.body_mass[body])
    mouse.localpos[:] = 0.0
    mouse.refselpos[:] = data.xpos[body] + (1.0, 0.0, 0.0)


def velocity(env: ManagerBasedRlEnv, world: int) -> torch.Tensor:
    return env.scene.entity("robot").data.root_lin_vel_w[world]


def test_the_mouse_pushes_the_shown_world_until_it_is_released(
    viewer: NativeViewer,
) -> None:
    """MuJoCo computes the same force in `xfrc_applied`."""
    env, forces = viewer.player.env, viewer.player.env.sim.data.qfrc_applied
    viewer.press(46)
    viewer.draw()
    hold(viewer, active=True)
    viewer.push()
    own = mujoco.MjData(viewer._model)
    mujoco.mj_copyData(own, viewer._model, viewer._data)
    mujoco.mjv_applyPerturbForce(viewer._model, own, viewer._window.perturb)
    body = viewer._window.perturb.select
    expected = own.xfrc_applied[body, :3]
    assert expected[0] > 1.0
    np.testing.assert_allclose(forces[1, :3].numpy(), expected, rtol=1e-5)
    assert not forces[0].any() and not forces[2].any()
    assert not viewer._data.xfrc_applied.any()
    viewer.player.step()
    assert velocity(env, 1)[0] > 1e-3 and velocity(env, 0)[0].abs() < 1e-6
    hold(viewer, active=False)
    viewer.push()
    assert not forces.any()


def test_force_ends_when_another_world_is_shown(viewer: NativeViewer) -> None:
    forces = viewer.player.env.sim.data.qfrc_applied
    viewer.draw()
    hold(viewer, active=True)
    viewer.push()
    assert forces[0].any()
    viewer.press(46)
    viewer.draw()
    viewer.push()
    assert not forces[0].any() and forces[1].any()


def test_without_the_mouse_forces_of_a_term_stay(viewer: NativeViewer) -> None:
    forces = viewer.player.env.sim.data.qfrc_applied
    forces[0, 2] = 5.0
    viewer.draw()
    viewer.push()
    assert forces[0, 2] == 5.0


def test_the_status_and_the_curves_are_those_of_the_shown_world(
    viewer: NativeViewer,
) -> None:
    window, player = viewer._window, viewer.player
    player.step()
    viewer.draw()
    rows = dict(zip(*(text.split("\n") for text in window.text[2:]), strict=True))
    assert rows["World"] == "0 of 3" and rows["Step"] == "1"
    assert not window.figures
    viewer.press(ord("P"))
    viewer.press(46)
    viewer.draw()
    assert window.text[3].startswith("1 of 3")
    assert [figure.title.split()[0] for _, figure in window.figures] == ["reward"]
    viewer.press(ord("P"))
    viewer.draw()
    assert not window.figures


def test_keys_hide_marks_and_neighbours(viewer: NativeViewer) -> None:
    scene = viewer._window.user_scn
    viewer.draw()
    assert scene.ngeom > 0, "Two neighbours."
    viewer.press(ord("A"))
    viewer.press(ord("R"))
    viewer.draw()
    assert scene.ngeom == 0 and not viewer.shows_marks


def test_the_window_draws_the_model_of_the_shown_world(viewer: NativeViewer) -> None:
    sim, green = viewer.player.env.sim, (0.0, 1.0, 0.0, 1.0)
    sim.expand("geom_rgba", "body_mass")
    base = sim.mj_model.body("robot/base")
    box = base.geomadr[0]
    sim.model.geom_rgba[1, box] = torch.tensor(green)
    sim.model.body_mass[1, base.id] = 9.0
    for key, color, mass in ((46, green, 9.0), (44, (1.0, 0.0, 0.0, 1.0), 3.0)):
        viewer.press(key)
        viewer.draw()
        assert tuple(viewer._model.geom_rgba[box]) == color
        assert viewer._model.body("robot/base").mass == mass


def test_light_and_shadows_of_the_window_are_those_of_videos(
    viewer: NativeViewer,
) -> None:
    """MuJoCo renders shadows only near the position of a directional light."""
    original, vis = viewer.player.env.sim.mj_model, viewer._model.vis
    data, camera = viewer._data, viewer._window.cam
    for lookat in ((0.0, 0.0, 1.0), (50.0, -20.0, 1.0)):
        camera.lookat[:] = lookat
        viewer.draw()
        away = 0.4 * original.stat.extent * data.light_xdir[0]
        np.testing.assert_allclose(data.light_xpos[0], lookat - away)
    assert vis.map.shadowclip > original.vis.map.shadowclip
    assert (vis.headlight.diffuse > original.vis.headlight.diffuse).all()


def test_a_figure_shows_the_last_values_of_a_term() -> None:
    figures = TermFigures(["a", "b"], 0.5)
    for step in range(HISTORY + 10):
        figures.record([float(step), -2.0])
    places = figures.placed(mujoco.MjrRect(0, 0, 1000, 600))
    (_, first), (_, second) = places
    curve = first.linedata[0][: 2 * HISTORY].reshape(-1, 2)
    assert first.linepnt[0] == HISTORY
    np.testing.assert_allclose(curve[:, 1], np.arange(10, HISTORY + 10))
    np.testing.assert_allclose(curve[-1], (0.0, HISTORY + 9))
    assert curve[0, 0] == -0.5 * (HISTORY - 1)
    assert first.range[1][0] < 10.0 and first.range[1][1] > HISTORY + 9
    assert second.range[1][0] < -2.0 < second.range[1][1]
    assert second.title == "b -2"
    figures.record([-0.0, 0.0])
    figures.placed(mujoco.MjrRect(0, 0, 1000, 600))
    titles = [first.title, second.title]
    assert titles == ["a +0", "b +0"]
    figures.clear()
    assert figures.placed(mujoco.MjrRect(0, 0, 1000, 600))[0][1].linepnt[0] == 0


def drawn(figure: mujoco.MjvFigure) -> np.ndarray:
    """Return the pixels of a figure."""
    model = mujoco.MjModel.from_xml_string("<mujoco/>")
    gl, context = open_context(400, 75, lambda: mujoco.MjrContext(model, 100))
    mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN.value, context)
    place, pixels = mujoco.MjrRect(0, 0, 400, 75), np.empty((75, 400, 3), np.uint8)
    mujoco.mjr_figure(place, figure, context)
    mujoco.mjr_readPixels(pixels, None, place, context)
    context.free()
    gl.free()
    return pixels


def test_a_short_title_replaces_a_longer_one(renderer_works) -> None:
    pictures = []
    for first in (-0.00031, 0.0):
        figures = TermFigures(["foot"], 0.5)
        for value in (first, 0.0):
            figures.record([value])
            ((_, figure),) = figures.placed(mujoco.MjrRect(0, 0, 1000, 600))
        figure.linepnt[0], figure.range[1] = 0, (0.0, 1.0)
        pictures.append(drawn(figure))
    assert pictures[0].any()
    np.testing.assert_array_equal(*pictures)


@pytest.mark.parametrize("number", [1, 8, 16, 40])
def test_figures_do_not_overlap_and_stay_in_the_window(number: int) -> None:
    window = mujoco.MjrRect(10, 20, 1000, 600)
    figures = TermFigures([str(index) for index in range(number)], 0.1)
    covered = np.zeros((700, 1100), dtype=int)
    for place, _ in figures.placed(window):
        assert place.width >= 200 and place.height >= 40
        rows = slice(place.bottom, place.bottom + place.height)
        covered[rows, place.left : place.left + place.width] += 1
    assert covered.max() == 1
    covered[20:620, 10:1010] = 0
    assert not covered.any()


WINDOW = """
import os, time
import mujoco
from mjlab.envs import ZeroPolicy
from mjlab.viewer import Player
from mjlab.viewer.native import NativeViewer
from tests.viewer.test_view import make_env

env = make_env(height=3.0, num_envs=2)
viewer = NativeViewer(Player(env, ZeroPolicy(env), seed=0))
viewer.press(ord("P"))
for _ in range(3):
    viewer.player.step()
    viewer.draw()
print("world", viewer._window.viewport.width > 100, viewer._window.is_running())
viewer.close()
os._exit(0)
"""


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("xvfb-run") is None, reason="there is no Xvfb")
def test_a_window_opens_on_a_virtual_screen() -> None:
    command = ["xvfb-run", "-a", sys.executable, "-c", WINDOW]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert "world True True" in done.stdout, done.stderr
