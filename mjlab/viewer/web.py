"""Viewer in a browser of this machine."""

import time
from typing import Any

import numpy as np
import viser
from mjviser import ViserMujocoScene

from mjlab.render import color_muscles, has_muscles
from mjlab.render.neighbours import grid_offsets
from mjlab.render.offscreen import (
    OrbitView,
    followed_body,
    set_field_of_view,
    view_distance,
)
from mjlab.viewer.backdrop import add_backdrop
from mjlab.viewer.browser_marks import BrowserMarks
from mjlab.viewer.cameras import CameraPanel, find_camera_sensors
from mjlab.viewer.drag import DragPanel, find_free
from mjlab.viewer.local_server import HOST, LocalServer
from mjlab.viewer.panels import (
    CommandPanel,
    ControlPanel,
    Page,
    PolicyPanel,
    TeleopPanel,
    TermPanel,
    find_figures,
)
from mjlab.viewer.player import Player, PolicyMenu
from mjlab.viewer.scrub import ClipPanel, find_clips
from mjlab.viewer.teleop import TeleopPolicy

_FRAME_S = 1.0 / 30.0
_PANEL_S = 1.0 / 8.0
_WORLD_BODY = 0


class WebViewer:
    """Shows a player's worlds, with controls, on a page for this machine only."""

    def __init__(
        self,
        player: Player,
        *,
        port: int = 8080,
        title: str = "mjlab",
        max_worlds: int = 64,
        policies: PolicyMenu | None = None,
    ) -> None:
        """Start the server.

        Args:
            player: The worlds and their policy.
            port: Port, or the next free one. 0 selects any.
            title: Title above the controls.
            max_worlds: Maximum number of displayed worlds, starting with world 0.
            policies: Policies to choose from.
        """
        self.player = player
        """The worlds and their policy."""
        env = player.env
        self.num_shown = min(env.num_envs, max_worlds)
        """Number of displayed worlds."""
        self.server = LocalServer(port=port, label=title)
        """The server of the page."""
        self.server.gui.configure_theme(
            show_logo=False, show_share_button=False, control_width="large"
        )
        # A copy, because mjviser modifies the model.
        model = env.sim.engine.mj_model_of(0)
        self.scene = ViserMujocoScene(self.server, model, self.num_shown)
        """mjviser's scene of the model."""
        self._set_look(env.cfg.viewer)
        # By default mjviser tracks the first body that is not fixed, which can be a
        # static base while the robot slides away (0.0.14 has no public option for
        # this). The world body represents the look-at point of a fixed camera.
        self.scene._tracked_body_id = (
            followed_body(model, env.scene, env.cfg.viewer) or _WORLD_BODY
        )
        self._planes = add_backdrop(self.server, model)
        world = min(env.cfg.viewer.world, self.num_shown - 1)
        self.page = Page(self.server, player, world, self._ask_to_draw)
        """Objects shared by the panels, such as the selected world."""
        self.scene.env_idx = world
        self.scene.set_refresh_handler(self._ask_to_draw)
        self._build_page(policies)
        self._must_draw = True
        self._closes = False
        self._drawn_at = self._told_at = 0.0

    @property
    def url(self) -> str:
        """The address of the page."""
        return f"http://{HOST}:{self.server.get_port()}"

    def run(self, steps: int | None = None) -> None:
        """Step and show the worlds until closed.

        Args:
            steps: Steps after which to stop. None runs until the viewer is closed.
        """
        while not self._closes and (steps is None or self.player.steps < steps):
            self.update()
            time.sleep(min(self.player.seconds_to_next, _FRAME_S))

    def update(self) -> None:
        """Run the due steps, and redraw if it is time."""
        before = self.player.steps
        self.player.tick()
        if self._closes:
            return
        self._follow_choice()
        for panel in self.drags:
            panel.apply()
        if self.player.steps != before:
            for panel in self.terms.values():
                panel.record()
            self._must_draw = True
        now = time.perf_counter()
        if self._must_draw and now - self._drawn_at >= _FRAME_S:
            self._must_draw = False
            self._drawn_at = now
            self.draw()
        if now - self._told_at >= _PANEL_S:
            self._told_at = now
            self.controls.update()
            several = (*self.policies, *self.terms.values(), *self.clips)
            several += (*self.commands.values(),)
            for panel in (*several, *self.cameras):
                panel.update()

    def draw(self) -> None:
        """Draw the current state."""
        sim = self.player.env.sim
        offsets = self._offsets()[:, None]
        positions = self._shown("xpos") + offsets
        positions[:, _WORLD_BODY] = self.player.env.cfg.viewer.lookat
        rotations = self._shown("xmat").reshape(self.num_shown, -1, 3, 3)
        arguments: dict[str, Any] = {}
        if sim.mj_model.nmocap:
            arguments["mocap_pos"] = self._shown("mocap_pos") + offsets
            arguments["mocap_quat"] = self._shown("mocap_quat")
        for name in ("qpos", "qvel", "ctrl"):
            arguments[name] = self._shown(name)
        if has_muscles(sim.mj_model):
            # mjviser draws tendons of one world only, in its model's colours.
            data = sim.engine.mj_data_of(self.page.world)
            color_muscles(self.scene.mj_model, data)
        self.scene.update_from_arrays(positions, rotations, **arguments)
        for group, plane in self._planes:
            plane.visible = self.scene.geom_groups_visible[group]
        # mjviser shifts the scene so that the tracked body is at the origin.
        offset = np.array(self.scene.fixed_bodies_frame.position)
        self.marks.update(self.player.env, self.page.world, offset)
        for panel in (*self.cameras, *self.hands, *self.drags):
            panel.draw()

    def close(self) -> None:
        """Stop the server. Can be called twice."""
        if not self._closes:
            self._closes = True
            self.server.stop()

    # The page.

    def _build_page(self, policies: PolicyMenu | None) -> None:
        env, tabs = self.player.env, self.server.gui.add_tab_group()
        with tabs.add_tab("Play", icon=viser.Icon.PLAYER_PLAY):
            self._add_controls(policies)
        self._add_figures(tabs)
        self.cameras: list[CameraPanel] = []
        """Panel of camera images, if the scene has camera sensors."""
        if find_camera_sensors(env):
            with tabs.add_tab("Cameras", icon=viser.Icon.CAMERA):
                self.cameras.append(CameraPanel(self.page))
        view = env.cfg.viewer
        model = env.sim.engine.mj_model_of(view.world)
        set_field_of_view(model, view)
        data = env.sim.engine.mj_data_of(view.world)
        with tabs.add_tab("Scene", icon=viser.Icon.VIDEO):
            self.scene.create_scene_gui(
                camera_distance=view_distance(model, data, env.scene, view),
                camera_azimuth=view.azimuth,
                camera_elevation=-view.elevation,
            )
            self.scene.create_groups_gui()
        self._set_field_of_view(float(model.vis.global_.fovy))
        with tabs.add_tab("Overlays", icon=viser.Icon.EYE):
            self.scene.create_overlay_gui()

    def _set_look(self, view: OrbitView) -> None:
        """Set groups and shadows from the configuration."""
        self.scene.geom_groups_visible = [bool(shown) for shown in view.geom_group]
        self.scene.site_groups_visible = [bool(shown) for shown in view.site_group]
        self.scene.show_convex_hull = False  # Its setter applies the groups.
        self.server.scene.configure_default_lights(cast_shadow=view.enable_shadows)

    def _set_field_of_view(self, fovy: float) -> None:
        """Set mjviser's slider, which also sets the cameras of new visitors."""
        # mjviser 0.0.14 has no public option for this.
        inputs = self.server.gui._gui_input_handle_from_uuid.values()
        (slider,) = (each for each in inputs if each.label == "FOV (°)")
        slider.min, slider.max = min(slider.min, fovy), max(slider.max, fovy)
        slider.value = fovy

    def _add_controls(self, policies: PolicyMenu | None) -> None:
        server, player, page = self.server, self.player, self.page
        self.controls = ControlPanel(page)
        """Panel with pause, step, reset and speed."""
        self.policies: list[PolicyPanel] = []
        """Panel that selects the policy, if policies are given."""
        if policies is not None:
            self.policies.append(PolicyPanel(page, policies))
        self.hands: list[TeleopPanel] = []
        """Panel for teleoperation of an arm, if active."""
        if isinstance(player.rollout.policy, TeleopPolicy):
            with server.gui.add_folder("Gripper"):
                self.hands.append(TeleopPanel(page, player.rollout.policy))
        self.commands: dict[str, CommandPanel] = {}
        """Panels of velocity commands, by name of the term."""
        for name, drive in player.drives.items():
            with server.gui.add_folder(f"Command: {name}"):
                self.commands[name] = CommandPanel(page, drive)
        self.clips: list[ClipPanel] = []
        """Panels of tracked motion clips."""
        for name, term in find_clips(player.env).items():
            with server.gui.add_folder(f"Command: {name}"):
                self.clips.append(ClipPanel(page, term))
        self.drags: list[DragPanel] = []
        """Panel that drags floating entities, if there are any."""
        if free := find_free(player.env):
            self.drags.append(DragPanel(page, free))
        with server.gui.add_folder("Arrows"):
            self.marks = BrowserMarks(server, self._ask_to_draw)
            """Overlays of terms, and contacts."""

    def _add_figures(self, tabs: viser.GuiTabGroupHandle) -> None:
        page, env = self.page, self.player.env
        self.terms: dict[str, TermPanel] = {}
        """Panels with values of terms, by the name of the tab."""
        rewards, figures = env.reward_manager, find_figures(env)
        with tabs.add_tab("Rewards", icon=viser.Icon.CHART_BAR):
            self.terms["Rewards"] = TermPanel(
                page,
                list(rewards.terms),
                lambda world: rewards.contributions[world].tolist(),
                total="reward",
            )
        if figures:
            with tabs.add_tab("Metrics", icon=viser.Icon.CHART_LINE):
                self.terms["Metrics"] = TermPanel(
                    page,
                    list(figures),
                    lambda world: [float(read()[world]) for read in figures.values()],
                )

    def _ask_to_draw(self) -> None:
        self._must_draw = True

    def _follow_choice(self) -> None:
        """Update the world selected on the page."""
        world = int(self.scene.env_idx)
        if world != self.page.world:
            self.page.world = world
            for panel in self.terms.values():
                panel.clear()
            for panel in self.commands.values():
                panel.follow()

    # Displayed data.

    def _shown(self, field: str) -> np.ndarray:
        """Return a field of the displayed worlds, as an array."""
        tensor = getattr(self.player.env.sim.data, field)
        return tensor[: self.num_shown].cpu().numpy().astype(np.float64)

    def _offsets(self) -> np.ndarray:
        """Return positions of worlds relative to the selected one, shape (shown, 3).

        On a plane all worlds share one origin; on terrain their origins already differ.
        """
        return grid_offsets(self.player.env.scene, self.page.world)[: self.num_shown]
