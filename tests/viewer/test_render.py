"""Frames, grids, overlays, and videos."""

import builtins
import json
import os
import subprocess
import sys
from pathlib import Path

import mujoco
import numpy as np
import pytest
import torch

from mjlab.cli import run_program
from mjlab.envs import ManagerBasedRlEnv, ViewerCfg, ZeroPolicy
from mjlab.names import UnknownNameError
from mjlab.render import (
    Canvas,
    GlError,
    Marks,
    Offscreen,
    Video,
    VideoError,
    WorldVideo,
    add_contacts,
    color_muscles,
    has_muscles,
    tile,
)
from mjlab.render.edges import smooth_edges
from mjlab.render.offscreen import make_camera
from mjlab.tasks.cartpole import CartpoleBalanceCfg
from mjlab.tasks.muscle import WalkW18Cfg
from mjlab.viewer import Player, record_video
from tests.tools.film_reader import read_film

ROOT = Path(__file__).resolve().parents[2]

BOX_ON_PLANE = """
<mujoco>
  <worldbody>
    <light type="directional" pos="0 0 9" dir="0.3 0.3 -1"/>
    <geom name="floor" type="plane" size="0 0 1" rgba="0.2 0.2 0.2 1"/>
    <body name="box" pos="0 0 0.5">
      <freejoint/>
      <geom name="box" type="box" size="0.5 0.5 0.5" mass="2" rgba="1 0 0 1"/>
    </body>
  </worldbody>
</mujoco>
"""


def boxed() -> tuple[mujoco.MjModel, mujoco.MjData]:
    model = mujoco.MjModel.from_xml_string(BOX_ON_PLANE)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return model, data


def cartpoles(num_envs: int = 3) -> ManagerBasedRlEnv:
    viewer = ViewerCfg(width=96, height=64, lookat=(0.0, 0.0, 1.0))
    cfg = CartpoleBalanceCfg(seed=1, viewer=viewer)
    cfg.scene.num_envs = num_envs
    env = ManagerBasedRlEnv(cfg)
    env.reset()
    return env


def redness(picture: np.ndarray) -> np.ndarray:
    """Return the red pixels of an image, shape (height, width), bool."""
    red, green, blue = (picture[..., c].astype(int) for c in range(3))
    return (red > 60) & (red > 2 * green) & (red > 2 * blue)


# Grids.


def test_a_grid_is_as_square_as_it_can_be_and_leaves_the_rest_black():
    frames = [np.full((2, 3, 3), value, np.uint8) for value in (10, 20, 30, 40, 50)]
    picture = tile(frames, gap=1)
    assert picture.shape == (2 * 2 + 1, 3 * 3 + 2, 3)
    assert picture[0, 0, 0] == 10 and picture[0, 4, 0] == 20 and picture[0, 8, 0] == 30
    assert picture[3, 0, 0] == 40 and picture[3, 4, 0] == 50
    assert not picture[3:, 8:].any() and not picture[2].any()


def test_an_empty_grid_is_refused():
    with pytest.raises(ValueError, match="0 images"):
        tile([])


# Marks.


def test_marks_of_hidden_worlds_are_omitted():
    marks = Marks([2])
    marks.add_arrow(0, (0, 0, 0), (1, 0, 0))
    marks.add_arrow(2, (0, 0, 0), torch.tensor([1.0, 0.0, 0.0]))
    marks.add_arrow(2, (0, 0, 0), (0, 0, 0))
    assert list(marks.arrows) == [2] and len(marks.arrows[2]) == 1
    assert marks.arrows[2][0].length == 1.0


def test_an_arrow_reaches_from_its_start_to_its_end_in_the_scene():
    model, _ = boxed()
    scene = mujoco.MjvScene(model, maxgeom=10)
    marks = Marks([0])
    marks.add_arrow(0, (1.0, 2.0, 3.0), (1.0, 2.0, 5.0), color=(0.0, 1.0, 0.0, 0.5))
    assert marks.put_into(scene, 0) == 1
    geom = scene.geoms[0]
    assert geom.type == mujoco.mjtGeom.mjGEOM_ARROW
    np.testing.assert_allclose(geom.pos, (1.0, 2.0, 3.0), atol=1e-6)
    np.testing.assert_allclose(geom.mat[:, 2], (0.0, 0.0, 1.0), atol=1e-6)
    np.testing.assert_allclose(geom.rgba, (0.0, 1.0, 0.0, 0.5))


def test_marks_beyond_the_capacity_of_a_scene_are_omitted():
    model, _ = boxed()
    scene = mujoco.MjvScene(model, maxgeom=2)
    marks = Marks([0])
    for height in range(4):
        marks.add_sphere(0, (0, 0, height), 0.1, text="here")
    assert marks.put_into(scene, 0) == 2


def test_contact_arrows_add_up_to_the_weight_of_resting_objects():
    model, data = boxed()
    for _ in range(500):
        mujoco.mj_step(model, data)
    mujoco.mj_forward(model, data)
    marks = Marks([0])
    add_contacts(marks, 0, model, data)
    total = sum(arrow.end - arrow.start for arrow in marks.arrows[0])
    assert len(marks.arrows[0]) == 4
    np.testing.assert_allclose(total, (0.0, 0.0, 0.3), atol=1e-3)


# Frames.


def test_a_frame_shows_a_box_at_the_cameras_target(renderer_works):
    model, data = boxed()
    view = ViewerCfg(lookat=(0.0, 0.0, 0.5), distance=4.0)
    canvas = Canvas(model, 161, 101)
    picture = canvas.draw(model, data, make_camera(view))
    canvas.close()
    seen = redness(picture)
    rows, columns = np.nonzero(seen)
    assert picture.shape == (101, 161, 3) and picture.dtype == np.uint8
    assert abs(columns.mean() - 80) < 3 and abs(rows.mean() - 50) < 8
    assert not seen[:, :20].any() and not seen[:, -20:].any()


def test_a_marked_frame_differs_from_a_plain_one_only_near_the_mark(renderer_works):
    model, data = boxed()
    camera = make_camera(ViewerCfg(lookat=(0.0, 0.0, 0.5), distance=4.0))
    canvas = Canvas(model, 160, 100)
    plain = canvas.draw(model, data, camera).astype(int)
    marks = Marks([0])
    marks.add_sphere(0, (0.0, 0.0, 1.5), 0.1, color=(0.0, 1.0, 0.0, 1.0))
    marked = canvas.draw(model, data, camera, marks=marks).astype(int)
    text = canvas.draw(model, data, camera, lines=["here"]).astype(int)
    green = (marked - plain)[..., 1] - (marked - plain)[..., 0] > 40
    rows, columns = np.nonzero(green)
    assert len(rows) > 20
    assert rows.max() < 30 and abs(columns.mean() - 80) < 3 and np.ptp(columns) < 12
    written = np.abs(text - plain).max(axis=-1) > 40
    assert written[:40, :60].any() and not written[60:].any()


def test_edges_are_smooth_as_if_many_samples_had_been_drawn():
    """A disc and a slanted bar, compared with the mean of 16 samples per pixel."""

    def draw(size: int) -> np.ndarray:
        y, x = (np.mgrid[:size, :size] + 0.5) / size
        inside = (x - 0.4) ** 2 + (y - 0.45) ** 2 < 0.06
        inside |= np.abs(x - 0.8 - 0.12 * y) < 0.05
        return np.where(inside[..., None], (230, 120, 40), (30, 60, 90))

    raw = draw(96).astype(np.uint8)
    many = draw(384).reshape(96, 4, 96, 4, 3).mean((1, 3))
    smooth = smooth_edges(raw)
    assert ((smooth - many) ** 2).mean() < 0.4 * ((raw - many) ** 2).mean()
    kept = np.abs(raw - many).max(axis=-1) == 0.0
    kept[1:] &= kept[:-1]
    changed = np.abs(smooth.astype(int) - raw).max(axis=-1) > 0
    assert changed.any() and (changed & kept).sum() < 0.1 * changed.sum()
    plain = np.full((20, 20, 3), 7, np.uint8)
    np.testing.assert_array_equal(smooth_edges(plain), plain)


def test_a_film_draws_while_the_worlds_go_on(renderer_works, tmp_path):
    """Its frames show the states at the time of adding, not later ones."""
    pytest.importorskip("imageio_ffmpeg")
    env = cartpoles()
    entity, everyone = env.scene.entity("cartpole"), torch.ones(3, dtype=torch.bool)
    stills = []
    with (
        WorldVideo(
            tmp_path / "film.mp4", 20.0, env.sim, env.scene, env.cfg.viewer
        ) as film,
        Offscreen(env.sim, env.scene, env.cfg.viewer) as camera,
    ):
        for place in (-0.5, 0.0, 0.5):
            at = torch.tensor([[place, 0.0]]).expand(3, 2)
            entity.write_joint_state(everyone, at, torch.zeros(3, 2))
            env.sim.forward()
            film.add()
            stills.append(camera.frame().astype(int))
    shown = read_film(tmp_path / "film.mp4").frames.astype(int)
    assert film.num_frames == len(shown) == 3
    for index, frame in enumerate(shown):
        errors = [np.abs(frame - still.ravel()).mean() for still in stills]
        assert int(np.argmin(errors)) == index


def test_an_error_in_rendering_a_film_is_raised(renderer_works, tmp_path, monkeypatch):
    pytest.importorskip("imageio_ffmpeg")
    env = cartpoles()
    film = WorldVideo(tmp_path / "film.mp4", 20.0, env.sim, env.scene, env.cfg.viewer)
    monkeypatch.setattr(film._camera, "draw", lambda shots: 1 / 0)
    film.add()
    with pytest.raises(ZeroDivisionError):
        film.close()
    assert not list(tmp_path.iterdir())


def test_an_error_in_one_frame_is_raised_by_the_next(
    renderer_works, tmp_path, monkeypatch
):
    pytest.importorskip("imageio_ffmpeg")
    env = cartpoles()
    film = WorldVideo(tmp_path / "film.mp4", 20.0, env.sim, env.scene, env.cfg.viewer)
    draw = film._camera.draw
    results = iter([lambda shots: 1 / 0, draw, draw])
    monkeypatch.setattr(film._camera, "draw", lambda shots: next(results)(shots))
    film.add()
    with pytest.raises(ZeroDivisionError):
        film.add()
    film.close()


def test_a_model_without_a_sky_gets_one_that_is_lighter_below(renderer_works):
    model = mujoco.MjModel.from_xml_string("<mujoco/>")
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    picture = Canvas(model, 16, 32).draw(model, data, make_camera(ViewerCfg()))
    brightness = picture.mean(axis=(1, 2))
    assert np.all(np.diff(brightness) >= 0) and brightness[-1] > brightness[0] + 50


def test_worlds_are_drawn_in_their_own_states(renderer_works):
    env = cartpoles()
    entity = env.scene.entity("cartpole")
    positions = torch.zeros(env.num_envs, 2)
    positions[1, 0] = 1.0
    entity.write_joint_pos(torch.ones(env.num_envs, dtype=torch.bool), positions)
    env.sim.forward()
    with Offscreen(env.sim, env.scene, env.cfg.viewer, worlds=(0, 1, 2)) as camera:
        picture = camera.frame()
    assert picture.shape == (2 * 64 + 2, 2 * 96 + 2, 3)
    first, second = picture[:64, :96], picture[:64, 98:]
    third = picture[66:, :96]
    assert np.array_equal(first, third)
    assert (first != second).any()


def test_drawing_changes_no_bit_of_the_simulation(renderer_works):
    env = cartpoles()
    before = env.get_state()
    model = env.sim.engine.mj_model.vis.headlight.ambient.copy()
    with Offscreen(env.sim, env.scene, env.cfg.viewer, contacts=True) as camera:
        camera.frame()
    after = env.get_state()
    assert all(torch.equal(value, after[name]) for name, value in before.items())
    assert np.array_equal(model, env.sim.engine.mj_model.vis.headlight.ambient)


def test_a_body_or_a_world_that_is_not_there_is_named():
    env = cartpoles()
    view = ViewerCfg(entity="cartpole", body="crat")
    with pytest.raises(UnknownNameError, match=r"no body 'crat'.*'cart'"):
        Offscreen(env.sim, env.scene, view)
    with pytest.raises(ValueError, match=r"Worlds \[3\].*0 to 2"):
        Offscreen(env.sim, env.scene, ViewerCfg(), worlds=(0, 3))


def test_a_machine_without_opengl_gets_the_reason_and_a_remedy():
    """In a separate process, because the OpenGL backend is selected once."""
    code = (
        "import mujoco\n"
        "from mjlab.render import Canvas, GlError\n"
        "try: Canvas(mujoco.MjModel.from_xml_string('<mujoco/>'), 8, 8)\n"
        "except GlError as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={"PATH": "/usr/bin", "MUJOCO_GL": "glfw"},
        capture_output=True,
        text=True,
    )
    assert "MUJOCO_GL=glfw" in done.stdout, done.stderr
    assert "Set MUJOCO_GL to egl or osmesa" in done.stdout
    assert issubclass(GlError, RuntimeError)


@pytest.mark.parametrize("first", ["import mujoco", "import mjlab, mujoco"])
def test_cameras_need_no_variable_where_there_is_no_display(renderer_works, first):
    """In a separate process, like a notebook on a server."""
    code = (
        f"{first}\n"
        "import mjlab\n"
        "model = mujoco.MjModel.from_xml_string('<mujoco/>')\n"
        "with mujoco.Renderer(model, 8, 8) as renderer:\n"
        "    renderer.update_scene(mujoco.MjData(model))\n"
        "    print(renderer.render().shape)\n"
    )
    hidden = ("MUJOCO_GL", "DISPLAY", "WAYLAND_DISPLAY", "PYOPENGL_PLATFORM")
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={k: v for k, v in os.environ.items() if k not in hidden},
        capture_output=True,
        text=True,
    )
    assert done.stdout == "(8, 8, 3)\n", done.stderr
    assert "GLFW" not in done.stderr


# Videos.


def frames(number: int, height: int = 33, width: int = 47) -> list[np.ndarray]:
    return [np.full((height, width, 3), 40 * i, np.uint8) for i in range(number)]


def test_a_video_has_its_frames_in_order_and_its_name_only_when_whole(tmp_path):
    pytest.importorskip("imageio_ffmpeg")
    path = tmp_path / "folder" / "out.mp4"
    with Video(path, 20.0) as video:
        for frame in frames(5):
            video.add(frame)
        assert not path.exists()
    assert path.exists() and list(path.parent.iterdir()) == [path]
    film = read_film(path)
    assert film.fps == 20.0 and film.size == (48, 34)
    np.testing.assert_allclose(film.frames.mean(1), [0, 40, 80, 120, 160], atol=3)


def test_frames_of_another_size_and_files_of_another_kind_are_refused(tmp_path):
    pytest.importorskip("imageio_ffmpeg")
    with pytest.raises(VideoError, match=r"'\.webp'. Valid: \.mp4"):
        Video(tmp_path / "out.webp", 20.0)
    video = Video(tmp_path / "out.mp4", 20.0)
    video.add(frames(1)[0])
    with pytest.raises(VideoError, match=r"frame 1 has shape \(60, 60, 3\)"):
        video.add(frames(1, 60, 60)[0])
    video.close()


def test_a_video_on_a_full_disk_gives_one_line_and_leaves_no_file(
    tmp_path, capfd, monkeypatch
):
    """Writes to /dev/full fail as on a full disk."""
    pytest.importorskip("imageio_ffmpeg")
    monkeypatch.setattr(Path, "touch", lambda part, **_: part.symlink_to("/dev/full"))
    noise = np.random.default_rng(0).integers(0, 255, (60, 480, 640, 3), np.uint8)

    def main(arguments: object) -> None:
        with Video(tmp_path / "out.mp4", 20.0) as video:
            for frame in noise:
                video.add(frame)

    assert run_program(main, []) == 2
    said = capfd.readouterr().err
    assert said.startswith(f"error: {tmp_path / 'out.mp4'} cannot be written: ")
    assert said.endswith("No space left on device.\n") and said.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_video_in_a_folder_that_cannot_be_is_one_line(tmp_path, capfd):
    pytest.importorskip("imageio_ffmpeg")
    (tmp_path / "file").touch()
    path = tmp_path / "file" / "out.mp4"

    def main(arguments: object) -> None:
        with Video(path, 20.0) as video:
            video.add(frames(1)[0])

    assert run_program(main, []) == 2
    said = capfd.readouterr().err
    assert said == f"error: Cannot write to {path} (not a directory).\n"


def test_a_video_without_ffmpeg_names_the_package_to_install(tmp_path, monkeypatch):
    normal = builtins.__import__

    def without(name, *arguments, **more):
        if name == "imageio_ffmpeg":
            raise ImportError(name)
        return normal(name, *arguments, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(VideoError, match=r'pip install "mjlab-fused\[video\]"'):
        Video(tmp_path / "out.mp4", 20.0)


def test_a_backend_that_mujoco_cannot_import_is_named():
    """In a separate process, because MuJoCo reads the variable at its import."""
    code = "from mjlab.registry import load_task; load_task('Cartpole-Balance')"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={"PATH": "/usr/bin", "MUJOCO_GL": "nonsense"},
        capture_output=True,
        text=True,
    )
    message = done.stderr.splitlines()[-1]
    assert "GlError: MuJoCo cannot start here (MUJOCO_GL=nonsense)" in message
    assert "Set MUJOCO_GL to egl or osmesa" in message


def test_importing_prepare_gl_does_not_import_mujoco():
    """So that the backend can be selected before it is imported."""
    code = (
        "import json, os, sys\n"
        "from mjlab.render import prepare_gl\n"
        "print(json.dumps([prepare_gl(), sorted(set(sys.modules) & "
        "{'mujoco', 'torch', 'warp'})]))"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={"PATH": "/usr/bin", "MUJOCO_GL": "osmesa"},
        capture_output=True,
        text=True,
    )
    assert json.loads(done.stdout) == ["osmesa", []], done.stderr


# --- Muscles --------------------------------------------------------------------------

ROPES = """
<mujoco>
  <worldbody>
    <site name="roof" pos="0 0 1"/>
    <body name="box">
      <freejoint/>
      <geom type="box" size="0.1 0.1 0.1"/>
      <site name="hook" pos="0 0 0.1"/>
    </body>
  </worldbody>
  <tendon>
    <spatial name="slow" rgba="1 1 0 1">
      <site site="roof"/><site site="hook"/>
    </spatial>
    <spatial name="quick" rgba="1 1 0 1">
      <site site="roof"/><site site="hook"/>
    </spatial>
    <spatial name="rope" rgba="1 1 0 1">
      <site site="roof"/><site site="hook"/>
    </spatial>
  </tendon>
  <actuator>
    <muscle name="slow" tendon="slow" lengthrange="0.1 1"/>
    <general name="quick" tendon="quick" gaintype="muscle"
      biastype="muscle" gainprm="0.75 1.05 100 200 0.5 1.6 1.5 1.3 1.2 0"
      biasprm="0.75 1.05 100 200 0.5 1.6 1.5 1.3 1.2 0" lengthrange="0.1 1"/>
    <motor name="rope" tendon="rope"/>
  </actuator>
</mujoco>
"""


def test_muscles_have_the_colour_of_their_activation_and_other_tendons_their_own():
    model = mujoco.MjModel.from_xml_string(ROPES)
    data = mujoco.MjData(model)
    data.act[:] = 0.0
    data.ctrl[:] = 1.0
    assert has_muscles(model)
    color_muscles(model, data)
    slow, quick, rope = model.tendon_rgba[:, :3]
    assert slow[2] > 2.0 * slow[0], "It is idle, whatever its control: blue."
    assert quick[0] > 2.0 * quick[2], "It does all it can: red."
    np.testing.assert_array_equal(rope, (1.0, 1.0, 0.0))


def test_frames_of_a_walker_show_which_muscles_work():
    cfg = WalkW18Cfg(seed=0)
    cfg.scene.num_envs = 2
    cfg.viewer.width, cfg.viewer.height = 160, 120
    env = ManagerBasedRlEnv(cfg, device="cpu")
    env.reset()
    with Offscreen(env.sim, env.scene, cfg.viewer) as camera:
        pictures = []
        for activation in (0.0, 1.0):
            env.sim.data.ctrl[:] = activation
            pictures.append(camera.frame().astype(float).mean((0, 1)))
    change = pictures[1] - pictures[0]
    assert change[0] > 0.3 > -0.3 > change[2], "More red, and less blue."


def test_a_film_reports_the_number_of_finished_frames(tmp_path, renderer_works):
    env = cartpoles()
    told: list[tuple[int, int]] = []
    player = Player(env, ZeroPolicy(env))
    path = tmp_path / "film.mp4"
    record_video(player, path, 3, tell=lambda done, number: told.append((done, number)))
    assert told == [(1, 3), (2, 3), (3, 3)]
    assert len(read_film(path).frames) == 3
