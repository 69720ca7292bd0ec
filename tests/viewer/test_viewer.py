"""Players and viewers: stepping, requests of a page, and access."""

import math
import re
import socket
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import mujoco
import numpy as np
import pytest
import torch

import mjlab.viewer
from mjlab.envs import ManagerBasedRlEnv, RandomPolicy, ViewerCfg, ZeroPolicy
from mjlab.render import Marks
from mjlab.tasks.cartpole import CartpoleBalanceCfg
from mjlab.tasks.muscle import WalkW18Cfg
from mjlab.tasks.tracking import TrackingG1ClipsCfg
from mjlab.tasks.velocity import VelocityGo1FlatCfg
from mjlab.viewer import Player, ViewerError, add_velocities
from mjlab.viewer.native import NativeViewer
from tests.tools.browser import Browser, find_browser
from tests.viewer.clock import Clock

STEP = 0.05


def cartpoles(num_envs: int = 3) -> ManagerBasedRlEnv:
    cfg = CartpoleBalanceCfg(seed=1)
    cfg.scene.num_envs = num_envs
    return ManagerBasedRlEnv(cfg)


@pytest.fixture(scope="module")
def dogs() -> ManagerBasedRlEnv:
    cfg = VelocityGo1FlatCfg(seed=1).play()
    cfg.scene.num_envs = 4
    return ManagerBasedRlEnv(cfg)


def make_player(env: ManagerBasedRlEnv | None = None) -> tuple[Player, Clock]:
    clock = Clock()
    env = cartpoles() if env is None else env
    return Player(env, ZeroPolicy(env), seed=0, clock=clock), clock


# Players.


@pytest.mark.parametrize(("speed", "steps"), [(0.5, 10), (1.0, 20), (2.0, 40)])
def test_a_second_contains_the_number_of_steps_at_its_speed(speed: float, steps: int):
    player, clock = make_player()
    player.set_speed(speed)
    done = player.tick()
    for _ in range(100):
        clock.now += 0.01
        done += player.tick()
    assert done == player.steps
    assert abs(done - steps) <= 1


def test_a_player_waits_for_the_rest_of_a_step():
    player, clock = make_player()
    player.set_speed(10.0)
    player.tick()
    clock.now += 0.2 * STEP / 10.0
    player.tick()
    assert player.seconds_to_next == pytest.approx(0.8 * STEP / 10.0)


def test_long_stall_is_not_caught_up():
    player, clock = make_player()
    times = iter([clock.now + 60.0] + [clock.now + 60.0 + 0.02 * i for i in range(99)])
    player._clock = lambda: next(times)  # Each reading of the clock costs 20 ms.
    assert player.tick() == 2
    assert player.tick() <= 2


@pytest.mark.parametrize("speed", [1.0, 2.0])
def test_after_a_stall_time_continues_at_its_speed(speed: float, monkeypatch):
    """After a sleep of 5 s, 100 steps are due, of which a tick runs its budget.

    A step takes 20 ms, and a tick starts none after 33 ms, so it runs 2. Afterwards 10
    ms pass between two ticks, and a step takes no time.
    """
    player, clock = make_player()
    player.set_speed(speed)
    player.tick()
    cost = 0.02
    done: list[float] = []

    def step() -> None:
        done.append(clock.now)
        clock.now += cost

    monkeypatch.setattr(player, "step", step)
    clock.now += 5.0
    assert player.tick() == 2
    cost = 0.0
    done.clear()
    for _ in range(100):
        clock.now += 0.01
        player.tick()
    # One due step, the duration of the two steps, and 1 s.
    assert len(done) <= 1 + round((1.0 + 2 * 0.02) * speed / STEP) + 1
    assert len(done) >= round(1.0 * speed / STEP) - 1


def test_after_a_pause_time_does_not_rush():
    player, clock = make_player()
    player.pause()
    player.tick()
    clock.now += 60.0
    player.tick()
    player.resume()
    assert player.tick() == 0
    clock.now += 1.01 * STEP
    assert player.tick() == 1


def test_time_is_frozen_while_paused_and_single_steps_count():
    player, clock = make_player()
    player.pause()
    clock.now += 1.0
    assert player.tick() == 0
    player.step_once()
    player.step_once()
    clock.now += 1.0
    assert player.tick() == 2 and player.is_paused
    player.toggle()
    player.tick()
    clock.now += 1.01 * STEP
    assert player.tick() == 1 and not player.is_paused


def test_one_world_is_reset_and_the_others_go_on():
    player, _ = make_player()
    for _ in range(3):
        player.step()
    player.reset(1)
    player.answer()
    assert player.env.episode_length_buf.tolist() == [3, 0, 3]
    player.reset()
    player.answer()
    assert player.env.episode_length_buf.tolist() == [0, 0, 0]


def test_the_policy_is_notified_of_reset_worlds():
    env = ManagerBasedRlEnv(CartpoleBalanceCfg(seed=1, episode_length_s=2 * STEP))
    told: list[list[bool]] = []

    class Listener(ZeroPolicy):
        def reset(self, dones: torch.Tensor) -> None:
            told.append(dones.tolist())

    player = Player(env, Listener(env))
    for _ in range(3):
        player.step()
    assert told == [[False], [True], [False]]


def test_random_actions_follow_the_seed_and_fill_their_range():
    env = cartpoles(1000)
    first = RandomPolicy(env, seed=3)({})
    assert torch.equal(first, RandomPolicy(env, seed=3)({}))
    assert not torch.equal(first, RandomPolicy(env, seed=4)({}))
    assert -1.0 <= first.min() < -0.99 and 0.99 < first.max() <= 1.0
    assert abs(first.mean()) < 0.1


def test_invalid_speed_is_refused():
    player, _ = make_player()
    with pytest.raises(ValueError, match="speed=0"):
        player.set_speed(0.0)


# Manual commands.


def test_a_driven_command_holds_and_a_released_one_is_drawn_again(dogs):
    player, _ = make_player(dogs)
    name, drive = next(iter(player.drives.items()))
    command = dogs.command_manager.get_command(name)
    before = command.clone()
    drive.steer((0.5, -0.25, 0.1), world=2)
    for _ in range(3):
        player.step()
    target = torch.tensor([0.5, -0.25, 0.1])
    assert torch.allclose(command[2], target)
    # The yaw rate follows the heading in some worlds; velocities stay as sampled.
    assert torch.equal(command[[0, 1, 3], :2], before[[0, 1, 3], :2])
    player.reset(2)
    player.answer()
    player.step()
    assert torch.allclose(command[2], target)
    drive.steer((1.0, 0.0, 0.0), world=None)
    player.step()
    assert torch.allclose(command, torch.tensor([1.0, 0.0, 0.0]).expand(4, 3))
    drive.release()
    player.step()
    assert not (command == torch.tensor([1.0, 0.0, 0.0])).all(dim=1).any()


def test_the_policy_observes_the_command_that_is_driven(dogs):
    player, _ = make_player(dogs)
    drive = next(iter(player.drives.values()))
    drive.steer((0.5, -0.25, 0.1), world=None)
    player.step()
    manager = dogs.observation_manager
    seen = manager.active_terms["actor"].index("command")
    start = sum(shape[0] for shape in manager.group_obs_term_dim["actor"][:seen])
    observed = player.rollout.observations["actor"]
    assert isinstance(observed, torch.Tensor)
    expected = torch.tensor([0.5, -0.25, 0.1]).expand(4, 3)
    assert torch.allclose(observed[:, start : start + 3], expected)
    drive.release()
    player.step()


def test_arrows_point_where_a_turned_robot_is_to_go(dogs):
    """A robot at a yaw of 90 degrees with a forward command moves along y."""
    player, _ = make_player(dogs)
    name, drive = next(iter(player.drives.items()))
    term: Any = dogs.command_manager.term(name)
    everyone = torch.ones(4, dtype=torch.bool)
    half = 0.5**0.5
    pose = torch.tensor([0.0, 0.0, 0.4, half, 0.0, 0.0, half]).expand(4, 7)
    drive.steer((1.0, 0.0, 0.0), world=None)
    drive.apply()
    term.entity.write_root_pose_w(everyone, pose)
    dogs.sim.forward()
    dogs.scene.refresh()
    marks = Marks((1,))
    add_velocities(marks, term)
    arrow = marks.arrows[1][0]
    direction = torch.from_numpy(arrow.end - arrow.start)
    expected = torch.tensor([0.0, 0.3, 0.0], dtype=torch.float64)
    assert torch.allclose(direction, expected, atol=1e-5)
    drive.release()


def test_a_command_that_is_not_a_velocity_cannot_be_driven():
    player, _ = make_player()
    assert player.drives == {}


# The page.


@pytest.fixture
def page(dogs) -> Iterator[Any]:
    pytest.importorskip("mjviser", reason="the extra `viewer` is not installed")
    from mjlab.viewer import WebViewer

    player, _ = make_player(dogs)
    viewer = WebViewer(player, port=0, title="test")
    yield viewer
    viewer.close()


def test_the_page_shows_which_muscles_of_the_chosen_world_work():
    pytest.importorskip("mjviser", reason="the extra `viewer` is not installed")
    from mjlab.viewer import WebViewer

    cfg = WalkW18Cfg(seed=0)
    cfg.scene.num_envs = 2
    player, _ = make_player(ManagerBasedRlEnv(cfg, device="cpu"))
    viewer = WebViewer(player, port=0, title="test")
    try:
        shown = viewer.scene.mj_model.tendon_rgba
        player.env.sim.data.ctrl.copy_(torch.tensor([[0.0], [1.0]]).expand(2, 18))
        viewer.draw()
        assert (shown[:, 2] > shown[:, 0]).all(), "Idle muscles are blue."
        viewer.page.world = 1
        viewer.draw()
        assert (shown[:, 0] > shown[:, 2]).all(), "Muscles at work are red."
    finally:
        viewer.close()


def press(handle: Any) -> None:
    """Simulate a visitor using a control."""
    from viser import GuiEvent

    callbacks = list(handle._impl.update_cb)
    assert callbacks, "nothing happens when it is used"
    for callback in callbacks:
        callback(GuiEvent(client=None, client_id=None, target=handle))


def listening(port: int) -> set[str]:
    """Return the addresses of an open port, in the kernel's format."""
    found = set()
    for table in ("tcp", "tcp6"):
        path = Path("/proc/net") / table
        for line in path.read_text().splitlines()[1:]:
            local, state = line.split()[1], line.split()[3]
            address, _, hexadecimal = local.partition(":")
            if state == "0A" and int(hexadecimal, 16) == port:
                found.add(address)
    return found


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="only Linux says")
def test_the_page_is_served_to_this_machine_and_to_no_other(page):
    port = int(page.url.rpartition(":")[2])
    assert listening(port) == {"0100007F"}  # Only 127.0.0.1.
    with urllib.request.urlopen(page.url) as answer:
        text = answer.read().decode()
    assert answer.status == 200 and "<html" in text
    page.close()
    with pytest.raises((urllib.error.URLError, socket.timeout)):
        urllib.request.urlopen(page.url, timeout=5)


def test_no_visitor_opens_a_tunnel(page, monkeypatch):
    """viser's own handler of the visitor's request calls our refusal."""
    import viser._viser
    from viser._messages import ShareUrlRequest

    def tunnel(*arguments: Any) -> None:
        raise AssertionError("a tunnel was opened")

    monkeypatch.setattr(viser._viser, "ViserTunnel", tunnel)
    handlers = page.server._websock_server._incoming_handlers[ShareUrlRequest]
    assert len(handlers) == 1
    handlers[0](0, ShareUrlRequest())
    page.server._thread_executor.shutdown(wait=True)
    assert page.server.request_share_url() is None
    assert page.server._share_tunnel is None


def test_the_page_shows_the_simulation_speed(page):
    page.player.real_time_factor = 0.083
    page.controls.update()
    assert re.search(r">Speed</td><td>0\.08x<", page.controls.status.content)
    page.player.pause()
    page.update()
    page.controls.update()
    assert re.search(r">Speed</td><td>paused<", page.controls.status.content)


def test_a_scene_without_camera_sensors_has_no_tab_of_cameras(page):
    """Go1's model has a camera for viewers, which is not a sensor."""
    assert page.player.env.sim.mj_model.ncam == 1
    assert page.cameras == []


def test_figures_open_with_one_that_changes(page):
    panel = page.terms["Metrics"]
    assert panel.term.value == "twist/error_vel_xy"
    assert "success" in panel.term.options


def test_buttons_pause_step_and_reset(page):
    controls, player = page.controls, page.player
    player.step()
    press(controls.pause)
    page.update()
    assert player.is_paused
    steps = player.steps
    press(controls.step)
    page.update()
    assert player.steps == steps + 1
    press(controls.reset_world)
    page.update()
    lengths = player.env.episode_length_buf.tolist()
    assert lengths[page.page.world] == 0 and max(lengths) > 0
    press(controls.reset_all)
    page.update()
    assert player.env.episode_length_buf.tolist() == [0] * 4
    controls.speed.value = "0.25x"
    page.update()
    assert player.speed == 0.25


def test_sliders_and_joystick_drive_the_chosen_world(page):
    player = page.player
    (name, panel), (drive,) = next(iter(page.commands.items())), player.drives.values()
    command = player.env.command_manager.get_command(name)
    player.pause()
    panel.drives.value = True
    panel.sliders[0].value = 0.75
    page.update()
    assert drive.is_active and drive.world == 0 and drive.target[0] == 0.75
    player.step_once()
    page.update()
    assert torch.allclose(command[0], torch.tensor([0.75, 0.0, 0.0]))
    panel.push("turn left")
    page.update()
    assert drive.target[2] == pytest.approx(0.2 * panel.sliders[2].max, abs=0.02)
    page.scene.env_idx = 3
    page.update()
    page.update()
    assert drive.world == 3 and page.page.world == 3
    panel.push("stop")
    page.update()
    assert drive.target == (0.0, 0.0, 0.0)
    panel.drives.value = False
    page.update()
    assert not drive.is_active


def test_sliders_show_the_command_of_the_selected_world_until_moved(page):
    player, (name, panel) = page.player, next(iter(page.commands.items()))
    command = player.env.command_manager.get_command(name)
    player.pause()
    for world in (2, 1):
        told = torch.tensor([0.25, -0.5, 0.125 * world])
        player.env.command_manager.term(name).state()["command"][world] = told
        page.scene.env_idx = world
        page.update()
        panel.update()
        shown = [slider.value for slider in panel.sliders]
        assert shown == pytest.approx(command[world].tolist(), abs=0.006)
    assert not any(drive.is_active for drive in player.drives.values())
    panel.drives.value = True
    panel.sliders[0].value = 0.75
    panel.update()
    assert panel.sliders[0].value == 0.75
    panel.drives.value = False
    page.update()


def test_bars_and_plot_show_the_contribution_of_each_term(page):
    player = page.player
    player.pause()
    for _ in range(3):
        player.step_once()
        page.update()
    page.terms["Rewards"].update()
    manager = player.env.reward_manager
    assert page.terms["Rewards"].samples == 3
    for name, value in zip(
        manager.terms, manager.contributions[0].tolist(), strict=True
    ):
        shown = re.search(
            rf">{name}</span><span>([-+.\d]+)<", page.terms["Rewards"].bars.content
        )
        assert shown is not None and float(shown[1]) == pytest.approx(value, abs=5e-5)
    times, total = page.terms["Rewards"].plot.data
    assert len(times) == 3
    assert total[-1] == pytest.approx(float(manager.reward[0]), abs=1e-6)
    page.terms["Rewards"].term.value = "upright"
    page.terms["Rewards"].update()
    column = list(manager.terms).index("upright")
    shown = page.terms["Rewards"].plot.data[1][-1]
    assert shown == pytest.approx(float(manager.contributions[0, column]), abs=1e-7)


def test_worlds_are_drawn_apart_with_the_chosen_one_in_its_place(page):
    origins = page.player.env.scene.env_origins.numpy()
    page.page.world = 2
    offsets = page._offsets()
    assert not offsets[2].any()
    assert (offsets[0] == origins[0] - origins[2]).all()
    assert len({tuple(offset) for offset in offsets.tolist()}) == 4


def test_drawing_the_page_changes_no_bit_of_the_simulation(page):
    before = page.player.env.get_state()
    page.draw()
    marks = page.marks.update(page.player.env, 0, torch.zeros(3).numpy())
    after = page.player.env.get_state()
    assert all(torch.equal(value, after[name]) for name, value in before.items())
    assert marks.arrows[0], "nothing was drawn"


def test_arrows_of_the_page_end_at_their_tips():
    """Short arrows have smaller heads, and no shaft."""
    pytest.importorskip("mjviser", reason="the extra `viewer` is not installed")
    from mjlab.viewer.browser_marks import _arrow_parts, _mesh

    model = mujoco.MjModel.from_xml_string("<mujoco/>")
    for width, length in ((0.004, 0.5), (0.02, 0.5), (0.03, 0.05)):
        marks = Marks((0,))
        marks.add_arrow(0, (1.0, 2.0, 3.0), (1.0, 2.0 - length, 3.0), width=width)
        parts = _arrow_parts(marks.arrows[0][0])
        corners = np.concatenate(
            [
                part.center + _mesh(part.form, model)[0] * part.scale @ part.rotation.T
                for part in parts
            ]
        )
        assert corners[:, 1].max() == pytest.approx(2.0)
        assert corners[:, 1].min() == pytest.approx(2.0 - length)
        kinds = [part.form.kind for part in parts]
        assert kinds == (["cone"] if length < 3.5 * width else ["cone", "cylinder"])
        if len(parts) == 2:
            assert parts[1].scale[:2] == (width, width)


def test_marks_of_the_page_have_their_opacity(page):
    """Opaque and transparent marks need separate batches, because a transparent batch
    hides marks of other transparent batches behind it."""
    marks = Marks((0,))
    for x, alpha in ((0.0, 1.0), (1.0, 0.25)):
        color = (1.0, 0.5, 0.0, alpha)
        marks.add_box(0, (x, 0.0, 0.0), (0.1, 0.1, 0.1), color=color)
        marks.add_arrow(0, (x, 0.0, 0.0), (x, 0.0, 1.0), color=color)
    page.marks.show(marks, 0, np.zeros(3), page.scene.mj_model)
    shown = {
        (form.kind, form.is_clear): handle.batched_opacities
        for form, handle in page.marks._forms.items()
    }
    assert sorted(shown) == sorted(
        (kind, clear) for kind in ("box", "cone", "cylinder") for clear in (False, True)
    )
    for (_, is_clear), opacities in shown.items():
        if is_clear:
            assert opacities == pytest.approx(np.array([0.25]))
        else:
            assert opacities is None, "three.js draws it with the opaque objects."
    page.marks.show(Marks((0,)), 0, np.zeros(3), page.scene.mj_model)
    assert not any(handle.visible for handle in page.marks._forms.values())


def test_colours_of_the_pages_marks_are_linear(page):
    """0.5 in sRGB is 0.214 of the light, as IEC 61966-2-1 defines."""
    marks = Marks((0,))
    marks.add_sphere(0, (0.0, 0.0, 0.0), 0.1, color=(1.0, 0.5, 0.02, 1.0))
    page.marks.show(marks, 0, np.zeros(3), page.scene.mj_model)
    (handle,) = page.marks._forms.values()
    assert handle.batched_colors.tolist() == [[255, 55, 0]]


@pytest.mark.parametrize(("fovy", "expected"), [(30.0, 30.0), (5.0, 5.0), (None, 45.0)])
def test_a_new_visitor_has_the_field_of_view_of_the_configuration(fovy, expected):
    """viser runs functions of a new connection in threads, in any order."""
    pytest.importorskip("mjviser", reason="the extra `viewer` is not installed")
    from mjlab.viewer import WebViewer

    env = cartpoles()
    env.cfg.viewer = ViewerCfg(fovy=fovy)
    viewer = WebViewer(make_player(env)[0], port=0)
    try:
        visitor: Any = SimpleNamespace(camera=SimpleNamespace())
        for welcome in reversed(viewer.server._client_connect_cb):
            welcome(visitor)
        assert math.degrees(visitor.camera.fov) == pytest.approx(expected)
        inputs = viewer.server.gui._gui_input_handle_from_uuid.values()
        slider: Any = next(each for each in inputs if each.label.startswith("FOV"))
        assert slider.value == expected and slider.min <= expected
    finally:
        viewer.close()


def test_the_page_looks_at_the_point_of_a_fixed_camera():
    """The page's camera looks at its origin, so the scene moves the other way."""
    pytest.importorskip("mjviser", reason="the extra `viewer` is not installed")
    from mjlab.viewer import WebViewer

    env = cartpoles()
    env.cfg.viewer = ViewerCfg(lookat=(1.0, 2.0, 0.5))
    viewer = WebViewer(make_player(env)[0], port=0)
    try:
        viewer.draw()
        place = viewer.scene.fixed_bodies_frame.position
        assert place == pytest.approx((-1.0, -2.0, -0.5))
    finally:
        viewer.close()


@pytest.mark.slow
@pytest.mark.skipif(find_browser() is None, reason="there is no Chromium")
def test_a_browser_shows_the_page_without_other_hosts(page, tmp_path):
    """A visitor pauses, runs a step, and opens the rewards, with a mouse.

    The browser cannot reach other hosts, so the page works offline.
    """
    page.player._clock = time.perf_counter
    stop = threading.Event()
    browser = Browser(page.url)

    def loop() -> None:
        while not stop.is_set():
            page.update()
            stop.wait(0.02)

    thread = threading.Thread(target=loop)
    thread.start()
    try:
        browser.wait("document.body.innerText.includes('Episode')")
        browser.click("Pause / play")
        browser.wait("document.body.innerText.includes('paused')")
        steps = page.player.steps
        browser.click("One step")
        browser.wait(f"document.body.innerText.includes('{steps + 1}')")
        browser.click("Rewards")
        browser.wait("document.body.innerText.includes('track_linear_velocity')")
        browser.screenshot(tmp_path / "page.png")
        hosts = {re.sub(r"^(\w+://[^/:]*).*", r"\1", a) for a in browser.requested}
    finally:
        stop.set()
        thread.join()
        browser.close()
    assert page.player.steps == steps + 1
    outside = {host for host in hosts if not host.startswith(("data:", "blob:"))}
    assert outside == {"http://127.0.0.1"}


def test_a_viewer_without_its_extra_suggests_the_installation(monkeypatch):
    monkeypatch.delitem(sys.modules, "mjlab.viewer.web", raising=False)
    monkeypatch.setitem(sys.modules, "viser", None)
    with pytest.raises(ViewerError, match=r'pip install "mjlab-fused\[viewer\]"'):
        _ = mjlab.viewer.WebViewer


# The window.


def test_without_a_display_the_window_suggests_alternatives(monkeypatch):
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    player, _ = make_player()
    with pytest.raises(ViewerError, match=r"no display.*--viewer web"):
        NativeViewer(player)


def test_keys_of_the_window_work_as_documented():
    player, _ = make_player()
    window = object.__new__(NativeViewer)
    window.player, window.world = player, 0
    window.press(32)
    player.answer()
    assert player.is_paused
    window.press(262)
    assert player.tick() == 1
    window.press(44)
    assert window.world == 2
    window.press(46)
    assert window.world == 0
    window.press(61)
    player.answer()
    assert player.speed == 2.0
    window.press(259)
    player.answer()
    assert player.env.episode_length_buf.tolist() == [0, 1, 1]


# Tracked clips.


@pytest.fixture(scope="module")
def dancers() -> ManagerBasedRlEnv:
    cfg = TrackingG1ClipsCfg(seed=1).play()
    cfg.scene.num_envs = 2
    return ManagerBasedRlEnv(cfg)


def test_a_slider_begins_an_episode_anywhere_in_a_clip_and_follows_it(dancers):
    pytest.importorskip("mjviser", reason="the extra `viewer` is not installed")
    from mjlab.viewer import WebViewer

    player, _ = make_player(dancers)
    page = WebViewer(player, port=0, title="test")
    term = dancers.command_manager.term("motion")
    robot = dancers.scene.entity("robot").data
    number, motion = next(
        (i, m) for i, m in enumerate(term.table.motions) if m.name == "kick"
    )
    player.pause()
    for _ in range(3):
        player.step_once()
        page.update()
    try:
        (panel,) = page.clips
        other = robot.joint_pos[1].clone()
        page.page.world = 0
        panel.clip.value = "kick"
        panel.begin(3.0)
        page.update()
        frame = round(3.0 / dancers.step_dt)
        assert dancers.episode_length_buf.tolist() == [0, 3]
        assert int(term.clip[0]) == number and int(term.frame[0]) == frame + 1
        expected = motion.joint_pos[frame]
        assert robot.joint_pos[0].numpy() == pytest.approx(expected, abs=1e-6)
        expected = motion.root_pos[frame]
        assert robot.root_pos_w[0].numpy() == pytest.approx(expected, abs=1e-5)
        assert torch.equal(robot.joint_pos[1], other), "The other world goes on."
        # The policy observes the selected time.
        seen = player.rollout.observations["actor"][0, :29].numpy()
        assert seen == pytest.approx(motion.joint_pos[frame + 1], abs=1e-5)
        panel.update()
        assert panel.clip.value == "kick"
        assert panel.seconds.value == pytest.approx(3.0)
        assert panel.seconds.max == pytest.approx(
            (motion.num_frames - 2) * dancers.step_dt
        )
        player.step_once()
        page.update()
        panel.update()
        assert panel.seconds.value == pytest.approx(3.0 + dancers.step_dt)
        panel.begin(1e9)
        page.update()
        assert int(term.frame[0]) == motion.num_frames - 1
    finally:
        page.close()


def test_errors_of_the_last_step_are_plotted(dancers):
    pytest.importorskip("mjviser", reason="the extra `viewer` is not installed")
    from mjlab.viewer import WebViewer

    player, _ = make_player(dancers)
    page = WebViewer(player, port=0, title="test")
    try:
        panel = page.terms["Metrics"]
        panel.term.value = "error_joint_pos"
        player.pause()
        shown = []
        for _ in range(3):
            player.step_once()
            page.update()
            panel.update()
            # The reference of the step, one frame before the current one.
            term = dancers.command_manager.term("motion")
            row = term.row[0] - 1
            now = dancers.scene.entity("robot").data.joint_pos[0]
            error = (term.table.rows[row, :29] - now).norm()
            shown.append(panel.plot.data[1][-1])
            assert shown[-1] == pytest.approx(float(error), rel=1e-4)
        assert len(set(shown)) == 3
    finally:
        page.close()


def test_the_ground_of_the_page_has_the_mean_colour_of_its_texture():
    pytest.importorskip("mjviser", reason="the extra `viewer` is not installed")
    from mjlab.viewer.backdrop import ground_color

    model = mujoco.MjModel.from_xml_string("""
      <mujoco>
        <asset>
          <texture name="t" type="2d" builtin="checker" rgb1="1 0 0" rgb2="0 0 1"
                   width="64" height="64"/>
          <material name="m" texture="t" rgba="1 1 0.5 1"/>
        </asset>
        <worldbody>
          <geom name="checked" type="plane" size="1 1 1" material="m"/>
          <geom name="plain" type="plane" size="1 1 1" rgba="0.2 0.4 0.6 1"/>
        </worldbody>
      </mujoco>""")
    assert ground_color(model, 0) == pytest.approx((127.5, 0.0, 63.75), abs=1.0)
    assert ground_color(model, 1) == (51, 102, 153)
