"""Viewer of one world in MuJoCo's window."""

import importlib
import os
import sys
import time
from typing import Any

import mujoco

from mjlab.render import add_contacts, color_muscles
from mjlab.render.offscreen import aim, followed_body, view_distance
from mjlab.viewer.marks import collect_marks
from mjlab.viewer.player import SPEEDS, Player, ViewerError

_FRAME_S = 1.0 / 60.0

# GLFW key codes.
_SPACE, _COMMA, _PERIOD, _BACKSPACE, _RIGHT = 32, 44, 46, 259, 262
_FASTER, _SLOWER = 61, 45

KEYS = (
    "space: pause, right arrow: one step, backspace: reset, comma and period: another "
    "world, minus and equals: speed"
)
"""Keys and their functions."""


class NativeViewer:
    """Shows one of a player's worlds in a window.

    The window uses copies of model and state, so neither interaction nor rendering
    modifies the simulation.
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
        self.world = player.env.cfg.viewer.world
        """The world in the window."""
        self._contacts = contacts
        engine = player.env.sim.engine
        self._model = engine.mj_model_of(self.world)
        self._data = engine.mj_data_of(self.world)
        viewer = importlib.import_module("mujoco.viewer")
        self._window: Any = viewer.launch_passive(
            self._model, self._data, key_callback=self.press, show_left_ui=False
        )
        self._aim()
        self._drawn_at = 0.0

    def run(self, steps: int | None = None) -> None:
        """Step and render until the window is closed.

        Args:
            steps: Steps after which to stop. None continues.
        """
        while self._window.is_running() and (
            steps is None or self.player.steps < steps
        ):
            self.player.tick()
            if time.perf_counter() - self._drawn_at >= _FRAME_S:
                self._drawn_at = time.perf_counter()
                self.draw()
            time.sleep(min(self.player.seconds_to_next, _FRAME_S))

    def draw(self) -> None:
        """Render the current state."""
        env = self.player.env
        fresh = env.sim.engine.mj_data_of(self.world)
        mujoco.mj_forward(self._model, fresh)
        marks = collect_marks(env, (self.world,))
        if self._contacts:
            add_contacts(marks, self.world, self._model, fresh)
        with self._window.lock():
            mujoco.mj_copyData(self._data, self._model, fresh)
            color_muscles(self._model, fresh)
            self._window.user_scn.ngeom = 0
            marks.put_into(self._window.user_scn, self.world)
        self._window.sync()

    def press(self, key: int) -> None:
        """Run the function of a key."""
        player = self.player
        if key == _SPACE:
            player.toggle()
        elif key == _RIGHT:
            player.step_once()
        elif key == _BACKSPACE:
            player.reset(self.world)
        elif key in (_COMMA, _PERIOD):
            change = 1 if key == _PERIOD else -1
            self.world = (self.world + change) % player.env.num_envs
        elif key in (_FASTER, _SLOWER):
            player.set_speed(_next_speed(player.speed, up=key == _FASTER))

    def close(self) -> None:
        """Close the window."""
        self._window.close()

    def _aim(self) -> None:
        """Set the camera from the configuration."""
        env, camera = self.player.env, self._window.cam
        aim(camera, env.cfg.viewer)
        camera.distance = view_distance(
            self._model, self._data, env.scene, env.cfg.viewer
        )
        body = followed_body(self._model, env.scene, env.cfg.viewer)
        if body is not None:
            camera.type = mujoco.mjtCamera.mjCAMERA_TRACKING.value
            camera.trackbodyid = body


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
    """Return the next higher or lower speed in the list."""
    if up:
        return next((choice for choice in SPEEDS if choice > speed), SPEEDS[-1])
    return next((choice for choice in reversed(SPEEDS) if choice < speed), SPEEDS[0])
