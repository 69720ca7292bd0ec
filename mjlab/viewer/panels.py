"""Control panels of the web viewer. Clicks are processed between two steps."""

import html
import logging
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
import viser
from viser import uplot

from mjlab.envs import ManagerBasedRlEnv
from mjlab.viewer.drive import AXES, VelocityDrive
from mjlab.viewer.player import SPEEDS, Player, PolicyMenu
from mjlab.viewer.teleop import GRIPPER, MOVES, STEP, TeleopPolicy

_log = logging.getLogger(__name__)

_HISTORY_S = 10.0
_LABELS = ("Forward (m/s)", "Left (m/s)", "Turn (rad/s)")
_NOTCH = 0.2
"""Change of the command per press, as a fraction of the range."""

# Key, axis and direction of each button. The axis None stops the robot. Keys around W
# are not used, because they move viser's camera.
_JOYSTICK = {
    "turn left": ("U", 2, 1.0),
    "forward": ("I", 0, 1.0),
    "turn right": ("O", 2, -1.0),
    "left": ("J", 1, 1.0),
    "back": ("K", 0, -1.0),
    "right": ("L", 1, -1.0),
    "stop": ("M", None, 0.0),
}
_ROWS = (("turn left", "forward", "turn right"), ("left", "back", "right"), ("stop",))

# Each row has a movement and its opposite.
_TELEOP_ROWS = (*zip(*[iter(MOVES)] * 2, strict=True), (GRIPPER,))
_TELEOP_KEYS = dict(zip((*MOVES, GRIPPER), "IKJLUOFHTGVBN", strict=True))


@dataclass
class Page:
    """Objects shared by the panels of a page."""

    server: viser.ViserServer
    """Server of the page."""

    player: Player
    """The worlds and their policy."""

    world: int
    """The selected world."""

    ask_to_draw: Callable[[], None]
    """Function that requests a redraw of the scene."""


class ControlPanel:
    """Panel with pause, step, reset, speed and status."""

    def __init__(self, page: Page) -> None:
        """Add the controls to the page."""
        self._page = page
        player, gui = page.player, page.server.gui
        self.status = gui.add_html("")
        """Table of speed, world, episode time, steps and reward."""
        self.pause = gui.add_button("Pause / play", icon=viser.Icon.PLAYER_PAUSE)
        """Button that pauses or resumes."""
        self.step = gui.add_button("One step", icon=viser.Icon.PLAYER_TRACK_NEXT)
        """Button that runs one step, then pauses."""
        self.reset_world = gui.add_button("Reset this world", icon=viser.Icon.REFRESH)
        """Button that starts a new episode in the selected world."""
        self.reset_all = gui.add_button("Reset all worlds", icon=viser.Icon.REFRESH_DOT)
        """Button that starts new episodes in all worlds."""
        options = tuple(f"{speed:g}x" for speed in SPEEDS)
        present = f"{player.speed:g}x"
        self.speed = gui.add_dropdown(
            "Speed", options, initial_value=present if present in options else "1x"
        )
        """Dropdown of playback speeds."""
        self.pause.on_click(lambda _: player.toggle())
        self.step.on_click(lambda _: player.step_once())
        self.reset_world.on_click(lambda _: player.reset(page.world))
        self.reset_all.on_click(lambda _: player.reset())
        self.speed.on_update(lambda _: player.set_speed(float(self.speed.value[:-1])))
        gui.add_command("Pause / play", hotkey="P").on_trigger(
            lambda _: player.toggle()
        )
        gui.add_command("Reset this world", hotkey="R").on_trigger(
            lambda _: player.reset(page.world)
        )

    def update(self) -> None:
        """Show the current status."""
        player, world = self._page.player, self._page.world
        env = player.env
        seconds = float(env.episode_length_buf[world]) * env.step_dt
        pace = "paused" if player.is_paused else f"{player.real_time_factor:.2f}x"
        rows = {
            "Speed": pace,
            "World": f"{world} of {env.num_envs}",
            "Episode": f"{seconds:.2f} s",
            "Steps": f"{player.steps}",
            "Reward": f"{float(player.reward[world]):+.4f}",
        }
        self.status.content = table(rows)


class PolicyPanel:
    """Panel that selects one of several policies."""

    def __init__(self, page: Page, menu: PolicyMenu) -> None:
        """Add the selection to the page."""
        self._page, self._menu, self._present = page, menu, menu.present
        gui = page.server.gui
        self.choice = gui.add_dropdown("Policy", (menu.present,), visible=False)
        """Dropdown that selects the policy."""
        self.fault = gui.add_markdown("", visible=False)
        """Error of a policy that could not be loaded."""
        # Ignore changes without a client: `_load` makes them, not a user.
        self.choice.on_update(
            lambda event: event.client and self.choose(self.choice.value)
        )

    def choose(self, name: str) -> None:
        """Use another policy from the next step on."""
        self._page.player.ask(lambda: self._load(name))

    def update(self) -> None:
        """Update the list of policies."""
        names = (*self._menu.names(),)
        if self._present not in names:
            names = (self._present, *names)
        if names != self.choice.options:
            self.choice.options = names
        self.choice.visible = len(names) > 1

    def _load(self, name: str) -> None:
        try:
            policy = self._menu.load(name)
        # A policy file can raise any error. The viewer shows it and keeps running.
        except Exception as error:
            _log.warning("%s cannot be played.", name, exc_info=error)
            self.fault.content = f"**{name} cannot be played:** {error}"
        else:
            self._page.player.rollout.policy = policy
            self._present, self.fault.content = name, ""
        self.choice.value = self._present
        self.fault.visible = bool(self.fault.content)


class CommandPanel:
    """Panel that sets a velocity command with sliders, buttons or keys."""

    def __init__(self, page: Page, drive: VelocityDrive) -> None:
        """Add the controls to the page."""
        self._page = page
        self._drive = drive
        gui = page.server.gui
        self.drives = gui.add_checkbox(
            "Manual control", False, hint="Hold the command instead of sampling it."
        )
        """Checkbox that holds the command."""
        self.drives_all = gui.add_checkbox("All worlds", False)
        """Checkbox that drives all worlds instead of the selected one."""
        self.sliders = tuple(
            gui.add_slider(label, low, high, (high - low) / 100 or 0.01, 0.0)
            for label, (low, high) in zip(_LABELS, _ranges(drive), strict=True)
        )
        """Sliders of the three command components."""
        for handle in (self.drives, self.drives_all, *self.sliders):
            handle.on_update(lambda _: self._send_command())
        keys = {name: key for name, (key, *_) in _JOYSTICK.items()}
        self.joystick = add_buttons(gui, _ROWS, keys, self.push)
        """Buttons that change the command in steps."""

    def push(self, name: str) -> None:
        """Change the command by one step, such as "forward", and hold it."""
        _, axis, sign = _JOYSTICK[name]
        for index, slider in enumerate(self.sliders):
            if axis is None:
                slider.value = 0.0
            elif index == axis:
                notch = _NOTCH * max(abs(slider.min), abs(slider.max))
                wanted = slider.value + sign * notch
                slider.value = round(min(max(wanted, slider.min), slider.max), 3)
        self.drives.value = True
        self._send_command()

    def update(self) -> None:
        """Show the command of the selected world, unless it is held."""
        if not self.drives.value:
            command = self._drive.present(self._page.world)
            for slider, value in zip(self.sliders, command, strict=True):
                slider.value = round(min(max(value, slider.min), slider.max), 2)

    def follow(self) -> None:
        """Drive the newly selected world."""
        if self.drives.value and not self.drives_all.value:
            self._send_command()

    def _send_command(self) -> None:
        player = self._page.player
        if not self.drives.value:
            if self._drive.is_active:
                player.ask(self._drive.release)
            return
        x, y, yaw = (float(slider.value) for slider in self.sliders)
        world = None if self.drives_all.value else self._page.world
        player.ask(lambda: self._drive.steer((x, y, yaw), world))


class TeleopPanel:
    """Panel for the teleoperation of an arm with buttons or keys."""

    def __init__(self, page: Page, policy: TeleopPolicy) -> None:
        """Add the controls to the page, and show the target."""
        self._page, self._policy = page, policy
        gui = page.server.gui
        self.step = gui.add_slider("Step (mm)", 5, 50, 5, round(1000 * STEP))
        """Distance per press, mm."""
        self.buttons = add_buttons(gui, _TELEOP_ROWS, _TELEOP_KEYS, self.push)
        """Buttons that move the target."""
        # Inside the frame that mjviser moves to keep the tracked body in view.
        self.target = page.server.scene.add_frame(
            "/fixed_bodies/target", axes_length=0.06, axes_radius=0.002
        )
        """Target of the selected world."""

    def push(self, name: str) -> None:
        """Apply a press, such as "forward", in the selected world."""
        page, step = self._page, 1e-3 * self.step.value
        page.player.ask(lambda: self._policy.push(name, page.world, step))
        page.player.ask(page.ask_to_draw)

    def draw(self) -> None:
        """Show the target of the gripper."""
        world = self._page.world
        self._policy.hold()
        self.target.position = self._policy.target_pos_w[world].tolist()
        self.target.wxyz = self._policy.target_quat_w[world].tolist()


class TermPanel:
    """Panel with values of terms: current values as bars, and a plot over time."""

    def __init__(
        self,
        page: Page,
        names: Sequence[str],
        read: Callable[[int], Sequence[float]],
        total: str | None = None,
    ) -> None:
        """Add bars and plot to the page.

        Args:
            page: The page.
            names: Names of the terms.
            read: Function that returns the values of a world in the last step, term by
                term.
            total: Name of the sum of all terms. None omits the sum.
        """
        self._page, self._read = page, read
        self._names = [*([] if total is None else [total]), *names]
        self._has_total = total is not None
        gui = page.server.gui
        length = max(2, round(_HISTORY_S / page.player.env.step_dt))
        self._history: deque[tuple[float, np.ndarray]] = deque(maxlen=length)
        self.bars = gui.add_html("")
        """Current values of the terms, as bars."""
        self.term = gui.add_dropdown("Plot", tuple(self._names))
        """Dropdown that selects the plotted term."""
        self.plot = gui.add_uplot(
            (np.zeros(1), np.zeros(1)),
            (uplot.Series(label="s"), uplot.Series(label="per step", stroke="#2a7de1")),
            scales={"x": uplot.Scale(time=False)},
            legend=uplot.Legend(show=False),
            aspect=1.6,
        )
        """Plot of the term over the last seconds."""

    @property
    def samples(self) -> int:
        """Number of steps in the plot."""
        return len(self._history)

    def record(self) -> None:
        """Store the values of the last step."""
        player = self._page.player
        values = np.array(self._read(self._page.world), dtype=np.float64)
        if self._has_total:
            values = np.insert(values, 0, values.sum())
        self._history.append((player.steps * player.env.step_dt, values))

    def clear(self) -> None:
        """Clear the plot, after the selection of another world."""
        self._history.clear()

    def update(self) -> None:
        """Show the current values."""
        if not self._history:
            return
        now = self._history[-1][1].tolist()
        self.bars.content = bars(dict(zip(self._names, now, strict=True)))
        times, values = zip(*self._history, strict=True)
        column = self._names.index(self.term.value)
        self.plot.data = (np.array(times), np.stack(values)[:, column])


def add_buttons(
    gui: viser.GuiApi,
    rows: Sequence[Sequence[str]],
    keys: Mapping[str, Any],
    push: Callable[[str], None],
) -> tuple[viser.GuiButtonGroupHandle, ...]:
    """Add rows of buttons, and keyboard keys with the same functions."""
    groups = tuple(gui.add_button_group("", row) for row in rows)
    for group in groups:
        group.on_click(lambda event: push(event.target.value))
    listed = ", ".join(f"{key} {name}" for name, key in keys.items())
    gui.add_html(f"<p style='opacity:.6;font-size:.8em;margin:0 1em'>{listed}</p>")
    for name, key in keys.items():
        command = gui.add_command(f"Command: {name}", hotkey=key)
        command.on_trigger(lambda _, name=name: push(name))
    return groups


def find_figures(env: ManagerBasedRlEnv) -> dict[str, Callable[[], torch.Tensor]]:
    """Return functions that read metrics of the running episodes, shape (num_envs,).

    Metrics terms have the value of the last step, and metrics of commands the value of
    the episode so far. The first entry is plotted initially; outcomes, which are 0 most
    of the time, come last.
    """
    metrics, outcomes = env.metrics_manager, env.outcome_manager
    found = {name: partial(metrics.now, name) for name in metrics.terms}
    for name, term in env.command_manager.terms.items():
        for metric in term.metric_names:
            found[f"{name}/{metric}"] = partial(term.metrics.__getitem__, metric)
    for name in outcomes.terms:
        found[name] = partial(outcomes.now, name)
        found[f"{name}_once"] = partial(outcomes.once, name)
    return found


def table(rows: dict[str, str]) -> str:
    """Return names and values as an HTML table."""
    cells = "".join(
        f"<tr><td style='opacity:.6;padding-right:1em'>{html.escape(name)}</td>"
        f"<td>{html.escape(value)}</td></tr>"
        for name, value in rows.items()
    )
    return f"<table style='margin:0 1em;font-size:.85em'>{cells}</table>"


def bars(values: dict[str, float]) -> str:
    """Return names and values as HTML bars, green to the right, red to the left."""
    largest = max(*(abs(value) for value in values.values()), 1e-9)
    rows = "".join(_bar(name, value, largest) for name, value in values.items())
    return f"<div style='margin:0 1em;font-size:.75em;line-height:1.5'>{rows}</div>"


def _bar(name: str, value: float, largest: float) -> str:
    share = 50.0 * min(abs(value) / largest, 1.0)
    left = 50.0 if value >= 0.0 else 50.0 - share
    color = "#3fa45b" if value >= 0.0 else "#d9534f"
    return (
        f"<div style='display:flex;justify-content:space-between'>"
        f"<span>{html.escape(name)}</span><span>{value:+.4f}</span></div>"
        "<div style='position:relative;height:5px;background:rgba(128,128,128,.2)'>"
        f"<div style='position:absolute;height:5px;left:{left:.1f}%;"
        f"width:{share:.1f}%;background:{color}'></div></div>"
    )


def _ranges(drive: VelocityDrive) -> list[tuple[float, float]]:
    """Return slider ranges, which must include zero."""
    assert len(drive.limits) == len(AXES)
    return [(min(low, -0.5), max(high, 0.5)) for low, high in drive.limits]
