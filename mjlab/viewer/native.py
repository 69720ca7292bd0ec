"""Viewer of one world, with its neighbours, in MuJoCo's window."""

import importlib
import os
import sys
import time
from typing import Any

import mujoco
import numpy as np
import torch

from mjlab.render import Marks, add_contacts, color_muscles
from mjlab.render.canvas import place_lights, widen_shadows
from mjlab.render.neighbours import Neighbourhood
from mjlab.render.offscreen import (
    aim,
    brighten,
    followed_body,
    scene_option,
    set_field_of_view,
    view_distance,
)
from mjlab.sim.fields import assign_field, model_value
from mjlab.viewer.figures import TermFigures
from mjlab.viewer.marks import collect_marks
from mjlab.viewer.player import SPEEDS, Player, ViewerError

_FRAME_S = 1.0 / 60.0

# GLFW key codes.
_SPACE, _COMMA, _PERIOD, _BACKSPACE, _RIGHT = 32, 44, 46, 259, 262
_FASTER, _SLOWER, _ENTER = 61, 45, 257
_PLOTS, _MARKS, _NEIGHBOURS = ord("P"), ord("R"), ord("A")

_OTHER_KEYS = [
    mujoco.mjtVisFlag.mjVIS_CONTACTSPLIT.value,
    mujoco.mjtVisFlag.mjVIS_AUTOCONNECT.value,
]
"""Flags of MuJoCo's window that the keys P and A also toggle."""

KEYS = (
    "space: pause, right arrow: one step, enter or backspace: reset, comma and period: "
    "another world, minus and equals: speed, P: reward curves, R: commands and terms, "
    "A: neighbouring worlds, double click, then Ctrl and right drag: push a body"
)
"""Keys and their functions."""


class NativeViewer:
    """Shows one of a player's worlds in a window, and its neighbours.

    The window uses copies of model and state, so rendering does not modify the
    simulation. Only the mouse acts on the simulation, with forces on bodies.
    """

    def __init__(self, player: Player, *, contacts: bool = True) -> None:
        """Open the window.

        Args:
            player: The worlds and their policy.
            contacts: Draw contacts with their forces.

        Raises:
            ViewerError: Without a display.
        """
        require_display()
        self.player = player
        """The worlds and their policy."""
        env = player.env
        self.world = env.cfg.viewer.world
        """The world in the window."""
        self.shows_plots = False
        """Show curves of the reward terms."""
        self.shows_marks = True
        """Draw commands and other overlays of terms."""
        self.shows_neighbours = True
        """Draw the neighbouring worlds."""
        self._contacts = contacts
        self._model = env.sim.engine.mj_model_of(self.world)
        self._data = env.sim.engine.mj_data_of(self.world)
        set_field_of_view(self._model, env.cfg.viewer)
        brighten(self._model)
        widen_shadows(self._model)
        viewer = importlib.import_module("mujoco.viewer")
        self._window: Any = viewer.launch_passive(
            self._model,
            self._data,
            key_callback=self.press,
            show_left_ui=False,
            show_right_ui=False,
        )
        self._aim()
        self._drawn_at = 0.0
        self._figures = TermFigures(["reward", *env.reward_manager.terms], env.step_dt)
        self._shown_steps, self._has_figures = 0, False
        self._show(self.world)
        self._pushed: int | None = None

    def run(self, steps: int | None = None) -> None:
        """Step and render until the window is closed.

        Args:
            steps: Steps after which to stop. None runs until the window is closed.
        """
        while self._window.is_running() and (
            steps is None or self.player.steps < steps
        ):
            self.update()
            time.sleep(min(self.player.seconds_to_next, _FRAME_S))

    def update(self) -> None:
        """Run the due steps, and redraw if it is time."""
        self.push()
        self.player.tick()
        if time.perf_counter() - self._drawn_at >= _FRAME_S:
            self._drawn_at = time.perf_counter()
            self.draw()

    def draw(self) -> None:
        """Render the current state."""
        env, world = self.player.env, self.world
        if world != self._shown_world:
            self._show(world)
        model = env.sim.engine.mj_model_of(world)
        fresh = env.sim.engine.mj_data_of(world)
        mujoco.mj_forward(model, fresh)
        marks = collect_marks(env, (world,)) if self.shows_marks else Marks((world,))
        if self._contacts:
            add_contacts(marks, world, model, fresh)
        neighbours = self._neighbours.take() if self.shows_neighbours else []
        with self._window.lock():
            for field in env.sim.engine.variable_fields:
                assign_field(self._model, field, model_value(model, field))
            mujoco.mj_copyData(self._data, self._model, fresh)
            place_lights(self._model, self._data, self._window.cam.lookat)
            color_muscles(self._model, fresh)
            scene = self._window.user_scn
            scene.ngeom = 0
            # MuJoCo's window toggles these flags on the same keys; undo that.
            self._window.opt.flags[_OTHER_KEYS] = 0
            reflects = env.cfg.viewer.enable_reflections
            scene.flags[mujoco.mjtRndFlag.mjRND_REFLECTION.value] = reflects
            for neighbour in neighbours:
                neighbour.put_into(scene, self._window.opt)
            marks.put_into(scene, world)
        self._write()
        self._window.sync()

    def push(self) -> None:
        """Apply the force of the mouse to the shown world, in `qfrc_applied`."""
        forces = self.player.env.sim.data.qfrc_applied
        pushed, force = self._mouse_force()
        if self._pushed is not None and self._pushed != pushed:
            forces[self._pushed] = 0.0
        if pushed is not None:
            forces[pushed] = torch.from_numpy(force).to(forces)
        self._pushed = pushed

    def press(self, key: int) -> None:
        """Run the function of a key."""
        player = self.player
        if key == _SPACE:
            player.toggle()
        elif key == _RIGHT:
            player.step_once()
        elif key in (_ENTER, _BACKSPACE):
            player.reset(self.world)
        elif key in (_COMMA, _PERIOD):
            change = 1 if key == _PERIOD else -1
            self.world = (self.world + change) % player.env.num_envs
        elif key in (_FASTER, _SLOWER):
            player.set_speed(_next_speed(player.speed, up=key == _FASTER))
        elif key == _PLOTS:
            self.shows_plots = not self.shows_plots
        elif key == _MARKS:
            self.shows_marks = not self.shows_marks
        elif key == _NEIGHBOURS:
            self.shows_neighbours = not self.shows_neighbours

    def close(self) -> None:
        """Close the window."""
        self._window.close()

    def _show(self, world: int) -> None:
        """Clear the curves and select the neighbours for another displayed world."""
        env, self._shown_world = self.player.env, world
        self._figures.clear()
        extra = env.cfg.viewer.max_extra_envs
        self._neighbours = Neighbourhood(env.sim, env.scene, world, extra)

    def _mouse_force(self) -> tuple[int | None, np.ndarray]:
        """Return the pushed world, or None, and the generalised force on it."""
        model, data, force = self._model, self._data, np.zeros(self._model.nv)
        with self._window.lock():
            mouse = self._window.perturb
            body = int(mouse.select)
            if not mouse.active or body <= 0:
                return None, force
            own = data.xfrc_applied[body].copy()
            mujoco.mjv_applyPerturbForce(model, data, mouse)
            wrench = data.xfrc_applied[body].copy()
            data.xfrc_applied[body] = own
            point = data.xipos[body].copy()
            mujoco.mj_applyFT(model, data, wrench[:3], wrench[3:], point, body, force)
        return self._shown_world, force

    def _write(self) -> None:
        """Show the status, and the curves if enabled."""
        player, world = self.player, self.world
        env = player.env
        if player.steps != self._shown_steps:
            self._shown_steps = player.steps
            terms = env.reward_manager.contributions[world].tolist()
            self._figures.record([float(player.reward[world]), *terms])
        pace = "paused" if player.is_paused else f"{player.real_time_factor:.2f}x"
        seconds = float(env.episode_length_buf[world]) * env.step_dt
        rows = {
            "World": f"{world} of {env.num_envs}",
            "Speed": f"{pace}, target {player.speed:g}x",
            "Step": f"{player.steps}",
            "Episode": f"{seconds:.2f} s",
            "Reward": f"{float(player.reward[world]):+.4f}",
        }
        corner = mujoco.mjtGridPos.mjGRID_TOPLEFT
        text = (None, corner, "\n".join(rows), "\n".join(rows.values()))
        # MuJoCo waits for the window's thread, so a closed window would block.
        if self._window.is_running():
            self._window.set_texts(text)
        if self.shows_plots and self._window.is_running():
            self._window.set_figures(self._figures.placed(self._window.viewport))
        elif self._has_figures and self._window.is_running():
            self._window.clear_figures()
        self._has_figures = self.shows_plots

    def _aim(self) -> None:
        """Set camera, groups and lights from the configuration."""
        env, camera, view = (
            self.player.env,
            self._window.cam,
            self.player.env.cfg.viewer,
        )
        aim(camera, view)
        camera.distance = view_distance(self._model, self._data, env.scene, view)
        body = followed_body(self._model, env.scene, view)
        if body is not None:
            camera.type = mujoco.mjtCamera.mjCAMERA_TRACKING.value
            camera.trackbodyid = body
        option, flags = scene_option(view), self._window.user_scn.flags
        self._window.opt.geomgroup[:] = option.geomgroup
        self._window.opt.sitegroup[:] = option.sitegroup
        flags[mujoco.mjtRndFlag.mjRND_SHADOW.value] = view.enable_shadows


def require_display() -> None:
    """Raise without a display, where opening a window would block forever."""
    advice = "Use --viewer web or --video FILE, which need no display."
    is_linux = sys.platform.startswith("linux")
    if is_linux and not ({"DISPLAY", "WAYLAND_DISPLAY"} & os.environ.keys()):
        raise ViewerError(
            f"There is no display: neither DISPLAY nor WAYLAND_DISPLAY is set. {advice}"
        )
    glfw = importlib.import_module("glfw")
    if not glfw.init():
        raise ViewerError(
            f"The display {os.environ.get('DISPLAY')!r} cannot be opened. {advice}"
        )


def _next_speed(speed: float, *, up: bool) -> float:
    """Return the next higher or lower speed of `SPEEDS`."""
    if up:
        return next((choice for choice in SPEEDS if choice > speed), SPEEDS[-1])
    return next((choice for choice in reversed(SPEEDS) if choice < speed), SPEEDS[0])
