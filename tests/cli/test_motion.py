"""Program of motion files: options, messages, and its documentation page."""

import re
import shlex
import sys

import numpy as np
import pytest

from mjlab.cli.answers import Answer, UsageError
from mjlab.cli.motion import main
from mjlab.cli.motion_options import WORKS
from mjlab.cli.progress import tell_progress
from mjlab.envs import ManagerBasedRlEnv
from mjlab.motion import (
    MotionError,
    MotionRobot,
    find_motions,
    load_motion,
    save_motion,
)
from mjlab.motion.tools.checks import check_motion
from mjlab.motion.tools.clips.g1 import make_clip
from mjlab.motion.tools.clips.random import GRID, random_motion
from mjlab.motion.tools.simulate import simulated
from mjlab.registry import load_task
from mjlab.rl import load_policy
from mjlab.runs import Run
from mjlab.tasks.robots.g1 import g1_cfg
from mjlab.tasks.tracking.clips import G1_CLIPS
from mjlab.viewer import Player
from tests.motion.test_tools import BEYOND_MIMIC, foreign
from tests.tools.architecture import ROOT
from tests.tools.film_reader import read_film
from tests.worlds.motions import g1_robot


def test_help_lists_every_subcommand_with_its_options(capsys):
    with pytest.raises(Answer) as overview:
        main(["--help"])
    for word in WORKS:
        assert f"\n  {word} " in str(overview.value)
        with pytest.raises(SystemExit):
            main([word, "--help"])
        assert f"usage: motion.py {word}" in capsys.readouterr().out


MISTAKES = {
    "": r"'import'.*'make'",
    "chek a.npz": r"Unknown subcommand 'motion.py chek'.*'check'",
    "check": r"PLACE is missing",
    "check none.npz": r"There is no motion file or folder none\.npz",
    "check . ": r"The folder \. has no motion file",
    "cut wave.npz": r"--frames FIRST LAST, from 0 to 421",
    "cut wave.npz --frames 400 500": r"400 to 500 is not a range .* frames, 0 to 421",
    "blend wave.npz": r"with --then FILE",
    "mirror wave.npz --robot H1": r"Unknown robot 'H1'.*'G1'",
    "check wave.npz --robot Go1": r"joint 'left_hip_pitch_joint', but Go1 does not",
    "make wav": r"'wav'.*'wave'",
    "record Cartpole-Balance": r"Cartpole-Balance has no entity 'robot'",
    "record nothing": r"no run or task 'nothing'",
    "import wave.pkl": r"is a pickle, which can run code",
    "import wave.csv": r"There is no file wave\.csv",
}


@pytest.mark.parametrize("words", MISTAKES)
def test_a_user_mistake_gives_one_line(words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    line = words.split()
    if "wave.npz" in line:
        line[line.index("wave.npz")] = str(G1_CLIPS / "wave.npz")
    with pytest.raises((UsageError, ValueError), match=MISTAKES[words]) as answer:
        main(line)
    assert "\n" not in str(answer.value)


@pytest.mark.slow
def test_a_motion_is_shown_on_a_page_of_this_machine(capfd):
    pytest.importorskip("mjviser", reason="the extra `viewer` is not installed")
    main(["show", str(G1_CLIPS / "wave.npz"), "--port", "0", "--steps", "2"])
    assert re.search(r"Open http://127\.0\.0\.1:\d+ in", capfd.readouterr().out)


def test_random_motions_depend_on_the_seed_and_pass_the_checks(tmp_path, capsys):
    # Hands of seed 3 touch the hip.
    main(["make", "--random", "1", "--seed", "3", "--out", str(tmp_path)])
    assert "random_003: skipped. self-penetration" in capsys.readouterr().out
    (path,) = tmp_path.glob("*.npz")
    assert path.stem == "random_005"
    robot = g1_robot()
    motion = load_motion(path)
    assert all(each.passes for each in check_motion(motion, robot))
    again = make_clip("again", robot, describe=random_motion(5), grid=GRID)
    np.testing.assert_allclose(again.joint_pos, motion.joint_pos, atol=1e-6)
    assert np.ptp(motion.joint_pos, axis=0).max() > 0.5
    assert np.ptp(motion.root_pos[:, :2], axis=0).max() > 0.1


def test_two_clips_of_one_name_are_refused(tmp_path):
    for folder in ("a", "b"):
        save_motion(load_motion(G1_CLIPS / "wave.npz"), tmp_path / folder / "wave.npz")
    with pytest.raises(MotionError, match="Two clips are called 'wave'"):
        find_motions([tmp_path / "a", tmp_path / "b"])


def test_a_clip_below_the_ground_ends_with_a_code(tmp_path, capsys):
    clip = load_motion(G1_CLIPS / "wave.npz")
    low = type(clip).from_root(
        "low",
        clip.fps,
        clip.root_pos - (0.0, 0.0, 0.02),
        clip.root_quat,
        clip.joint_pos,
        root_body=clip.root_body,
        joint_names=clip.joint_names,
        info=clip.info,
    )
    path = save_motion(low, tmp_path / "low.npz")
    with pytest.raises(SystemExit) as end:
        main(["check", str(path)])
    assert end.value.code == 1
    said = capsys.readouterr().out
    assert re.search(r"ground penetration +0\.02 of +0\.005 m +TOO MUCH  .*foot", said)


def test_rollout_is_converted_to_a_motion(tmp_path, capsys):
    out = tmp_path / "trot.npz"
    words = "record Velocity-Go1-Flat --command 0.5 0 0 --after 0.2 --seconds 0.4"
    main([*words.split(), "--out", str(out)])
    found = load_motion(out)
    assert found.num_frames == 21 and found.fps == 50.0 and found.info.robot == "Go1"
    assert "simulated policy: Velocity-Go1-Flat" in found.info.source
    assert "fraction of motor speed limit" in capsys.readouterr().out
    # The same by hand arithmetic.
    task = load_task("Velocity-Go1-Flat")
    run = Run(task.trained)
    configs = run.configs(None)
    cfg = configs["env"].play()
    cfg.scene.num_envs, cfg.seed = 1, 0
    env = ManagerBasedRlEnv(cfg, "cpu")
    policy = load_policy(run.path, env, configs["agent"])
    player = Player(env, policy, seed=0)
    next(iter(player.drives.values())).steer((0.5, 0.0, 0.0), None)
    for _ in range(30):
        player.step()
    now = env.scene.entity("robot").data
    assert found.joint_pos[-1] == pytest.approx(now.joint_pos[0].numpy(), abs=1e-4)
    height = float(now.root_pos_w[0, 2])
    assert found.root_pos[-1, 2] == pytest.approx(height, abs=1e-4)


def test_a_file_without_names_is_imported_beside_its_source(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    part = g1_robot().completed(load_motion(G1_CLIPS / "wave.npz").frames(0, 20))
    foreign(tmp_path / "old.npz", part, BEYOND_MIMIC)
    before = (tmp_path / "old.npz").read_bytes()
    page = (ROOT / "docs/howto/motion_tracking.md").read_text("utf-8")
    (words,) = re.findall(r"motion\.py (import old\.npz .*)", page)
    with pytest.raises(UsageError, match=r"old\.npz would be overwritten\..*--out"):
        main(words.partition(" --out")[0].split())
    main(words.split())
    assert (tmp_path / "old.npz").read_bytes() == before
    found = load_motion(tmp_path / "new.npz")
    np.testing.assert_allclose(found.joint_pos, part.joint_pos, atol=1e-6)


def test_simulated_motion_reports_the_assistive_wrench(tmp_path, capsys):
    part = load_motion(G1_CLIPS / "wave.npz").frames(0, 20)
    path = save_motion(part, tmp_path / "start.npz")
    main(["simulate", str(path), "--out", str(tmp_path / "done.npz")])
    found = load_motion(tmp_path / "done.npz")
    assert found.num_frames == 20 and found.feasibility is not None
    assert found.info.source == part.info.source and not found.info.loops
    said = capsys.readouterr().out
    assert "simulated with an assistive wrench on the root of at most 0% of the" in said


@pytest.mark.slow
def test_a_shipped_clip_equals_the_clip_built_from_its_description():
    shipped = load_motion(G1_CLIPS / "wave.npz")
    made = make_clip("wave", g1_robot())
    assert np.abs(made.joint_pos - shipped.joint_pos).max() < 1e-4
    assert np.abs(made.root_pos - shipped.root_pos).max() < 1e-4
    assert np.array_equal(made.contacts, shipped.contacts)


@pytest.mark.slow
def test_the_support_force_equals_the_one_in_the_clip():
    cfg = g1_cfg()
    shipped = load_motion(G1_CLIPS / "kick.npz")
    found = simulated(shipped, cfg, MotionRobot(cfg, "G1"))
    assert found.feasibility == pytest.approx(shipped.feasibility, abs=0.01)


def commands_of(page: str) -> list[list[str]]:
    """Return the commands of the first shell block of a page."""
    block = re.search(r"```sh\n(.*?)```", page, re.DOTALL)
    assert block is not None
    return [shlex.split(line) for line in block[1].splitlines()]


@pytest.mark.slow
def test_five_commands_lead_from_a_csv_to_a_film(tmp_path, monkeypatch, renderer_works):
    monkeypatch.chdir(tmp_path)
    part = load_motion(G1_CLIPS / "wave.npz").frames(50, 130).resampled(30.0)
    quats = part.root_quat[:, [1, 2, 3, 0]]
    rows = np.concatenate((part.root_pos, quats, part.joint_pos), axis=1)
    np.savetxt(tmp_path / "dance.csv", rows, delimiter=",")
    commands = commands_of((ROOT / "docs/howto/motion_tracking.md").read_text("utf-8"))
    assert len(commands) == 5
    for python, script, *rest in commands:
        assert (python, script) == ("python", "scripts/motion.py")
        small = ["--width", "160", "--height", "120"] if rest[0] == "show" else []
        main([*rest, *small])
    imported = load_motion(tmp_path / "dance.npz")
    # The last frame of the grid can be slightly before the last row.
    again = imported.resampled(30.0)
    rows_left = part.joint_pos[: again.num_frames]
    assert part.num_frames - again.num_frames <= 1
    # Linear interpolation cuts corners: 36 rad/s² / (30 Hz)² / 8 is 5e-3.
    assert np.abs(again.joint_pos - rows_left).max() < 6e-3
    assert imported.info.licence == "CC BY 4.0" and imported.contacts.all()
    turn, other = (load_motion(tmp_path / f"{n}.npz") for n in ("turn", "other_turn"))
    assert turn.num_frames == 20
    left = turn.joint_columns(["left_elbow_joint"])
    right = other.joint_columns(["right_elbow_joint"])
    assert turn.joint_pos[:, left] == pytest.approx(other.joint_pos[:, right])
    film = read_film(tmp_path / "turn.mp4")
    assert film.size == (160, 120) and film.fps == 50.0 and len(film.frames) == 20
    assert np.abs(film.frames[0].astype(int) - film.frames[-1]).max() > 50
    assert "<svg" in (tmp_path / "turn.svg").read_text("utf-8")


def test_progress_is_reported_every_few_frames_and_at_the_end(monkeypatch, capsys):
    for is_person in (False, True):
        monkeypatch.setattr(sys.stderr, "isatty", lambda is_one=is_person: is_one)
        tell = tell_progress("walk", every=2)
        for frame in range(1, 6):
            tell(frame, 5)
        told = capsys.readouterr().err.split("\r")[1:]
        lines = [f"walk: frame {frame} of 5" for frame in (2, 4, 5)]
        assert told == [*lines[:2], f"{lines[2]}\n"] * is_person
