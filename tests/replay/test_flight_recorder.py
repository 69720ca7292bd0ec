"""Faults: recorded when they occur, stored in files, and reproduced by replay."""

import dataclasses
import errno
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import h5py
import mujoco
import numpy as np
import pytest
import torch

from mjlab.cli import play, run_program
from mjlab.envs import ManagerBasedRlEnv, ManagerBasedRlEnvCfg
from mjlab.envs.nonfinite import TooManyNonfiniteError
from mjlab.managers import EventTermCfg, RewardTermCfg
from mjlab.recording import Recording, RecordingError
from mjlab.registry import Task
from mjlab.replay import dumps
from mjlab.replay.dump_replay import (
    DumpReplay,
    _convert_physics,
    build_env,
    element_name,
)
from mjlab.replay.dumps import (
    DumpedWorld,
    DumpError,
    DumpFolder,
    load_dump,
    model_bytes,
)
from mjlab.replay.flight_recorder import FlightRecorder
from mjlab.rl import DumpCfg
from mjlab.runs import Run, find
from mjlab.sim.fields import STATE_FIELDS
from tests.tools.film_reader import read_film
from tests.tools.registered import registered
from tests.worlds.rl_runs import Display, agent_cfg, env_cfg, train_without_export

WORLD = 5
"""Index of the world with the fault."""


def break_joint(env: Any, mask: torch.Tensor, seed: int, step: int) -> None:
    """Set a joint's velocity to infinity in one world, in one step of its episode.

    The world is identified by its seed, so it is the same in every simulation.
    """
    is_due = (env.rng.world_seed == seed) & (env.episode_length_buf == step)
    env.sim.data.qvel[:, 1].masked_fill_(is_due & mask, torch.inf)


def push_joint(env: Any, mask: torch.Tensor, seed: int, step: int) -> None:
    """Apply an infinite force instead, which has an effect in the next physics step."""
    is_due = (env.rng.world_seed == seed) & (env.episode_length_buf == step)
    env.sim.data.qfrc_applied[:, 1].masked_fill_(is_due & mask, torch.inf)


def seed_of(world: int) -> int:
    env = ManagerBasedRlEnv(env_cfg())
    return int(env.rng.world_seed[world])


def broken_cfg(step: int = 7, func: Any = break_joint) -> ManagerBasedRlEnvCfg:
    cfg = env_cfg()
    cfg.max_nonfinite_share = 1.0
    params = {"seed": seed_of(WORLD), "step": step}
    cfg.events["break"] = EventTermCfg(func=func, mode="step", params=params)
    return cfg


def make(
    cfg: ManagerBasedRlEnvCfg, folder: Path, *, steps: int = 10, **more: Any
) -> tuple[ManagerBasedRlEnv, FlightRecorder, list[str]]:
    env = ManagerBasedRlEnv(cfg)
    env.reset()
    said: list[str] = []
    dumps = DumpFolder(folder, DumpCfg(**more), say=said.append)
    recorder = FlightRecorder(env, dumps, steps=steps, iteration=lambda: 3)
    return env, recorder, said


def walk(env: ManagerBasedRlEnv, steps: int, seed: int = 0) -> None:
    random = torch.Generator().manual_seed(seed)
    for _ in range(steps):
        env.step(torch.randn(env.num_envs, 1, generator=random))


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dump of a world that failed after its seventh step."""
    folder = tmp_path_factory.mktemp("dumps")
    env, _, _ = make(broken_cfg(), folder)
    walk(env, 14)
    env.take_log()
    return folder / "000003_nonfinite.h5"


def replay(dump: Path) -> tuple[DumpedWorld, DumpReplay]:
    recording = load_dump(dump)
    return recording, DumpReplay(build_env(broken_cfg(), recording), recording)


# --- Kept -----------------------------------------------------------------------------


def test_a_world_that_is_not_finite_is_dumped_as_a_recording(dump: Path) -> None:
    with Recording(dump) as recording:
        assert recording.about["what"] == "nonfinite in 1 worlds"
        assert (recording.about["iteration"], recording.about["num_envs"]) == (3, 8)
        assert [episode.world for episode in recording] == [WORLD]
        assert recording[0].length == 14
    with h5py.File(dump) as file:
        group = file["traj_0"]
        # Written at the end of the seventh step, number 6, where it is detected.
        faults = json.loads(group.attrs["faults"])
        assert faults == [{"kind": "nonfinite", "step": 6}]
        assert np.flatnonzero(group["nonfinite"]).tolist() == [6, 7]
        assert np.isinf(group["qvel"]).any(axis=1).nonzero()[0].tolist() == [7]
        assert group["actions"].shape == (14, 1)
        assert group["start"]["episode_length"] == 0


def test_the_command_that_replays_a_dump_names_the_file_of_its_task(
    tmp_path: Path,
) -> None:
    said: list[str] = []
    options = ["--task", "falling.py:FallingCfg"]
    dumps = DumpFolder(tmp_path, DumpCfg(), play_options=options, say=said.append)
    env = ManagerBasedRlEnv(broken_cfg())
    env.reset()
    FlightRecorder(env, dumps, steps=10, iteration=lambda: 3)
    walk(env, 14)
    env.take_log()
    (line,) = said
    path = tmp_path / "000003_nonfinite.h5"
    assert f"play.py --dump {path} --task falling.py:FallingCfg replays" in line


def test_a_dumped_model_names_its_meshes_without_their_folder(tmp_path: Path) -> None:
    corners = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
    faces = "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
    for name in ("one", "another"):
        (tmp_path / f"{name}.obj").write_text(corners + faces)
    (tmp_path / "model.xml").write_text(
        "<mujoco><asset><mesh file='one.obj'/><mesh file='another.obj'/></asset>"
        "<worldbody><geom type='mesh' mesh='another'/></worldbody></mujoco>"
    )
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "model.xml"))
    assert str(tmp_path).encode() in model.paths
    (tmp_path / "model.mjb").write_bytes(model_bytes(model))
    read = mujoco.MjModel.from_binary_path(str(tmp_path / "model.mjb"))
    names = [read.paths[start:].split(b"\0")[0] for start in read.mesh_pathadr]
    assert names == [b"one.obj", b"another.obj"]
    assert str(tmp_path).encode() not in (tmp_path / "model.mjb").read_bytes()
    np.testing.assert_array_equal(read.mesh_vert, model.mesh_vert)


def test_mujoco_alone_steps_from_one_record_to_the_next(dump: Path) -> None:
    """MuJoCo C reproduces each row of a dump from the previous one."""
    recording = load_dump(dump)
    model = recording.model()
    data = mujoco.MjData(model)
    for step in range(6):
        data.qpos, data.qvel = (recording.steps[n][step] for n in ("qpos", "qvel"))
        data.ctrl = recording.steps["ctrl"][step + 1]
        for _ in range(env_cfg().decimation):
            mujoco.mj_step(model, data)
        for name in ("qpos", "qvel"):
            found = getattr(data, name)
            np.testing.assert_allclose(
                found, recording.steps[name][step + 1], rtol=1e-5, atol=1e-6
            )


def test_faults_of_the_last_two_iterations_are_kept(
    tmp_path: Path,
) -> None:
    env, _, said = make(broken_cfg(step=3), tmp_path, steps=4)
    walk(env, 13)
    env.take_log()
    # Failed in step 3 and, after a reset, in later ones; the last 4 to 8 are stored.
    recording = load_dump(tmp_path / "000003_nonfinite.h5")
    assert recording.about["first_step"] == 8
    assert recording.length == 5
    assert (
        said[0].startswith("Non-finite values in 1 world (5). ") and "--dump" in said[0]
    )


def test_a_fault_is_reported_once(tmp_path: Path) -> None:
    env, _, said = make(broken_cfg(), tmp_path, steps=40)
    walk(env, 10)
    env.take_log()
    walk(env, 2)
    env.take_log()
    assert len(said) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["000003_nonfinite.h5"]


def test_a_dump_is_kept_even_if_the_run_stops(tmp_path: Path) -> None:
    cfg = broken_cfg()
    cfg.max_nonfinite_share = 0.0
    env, _, _ = make(cfg, tmp_path)
    walk(env, 10)
    with pytest.raises(TooManyNonfiniteError):
        env.take_log()
    assert load_dump(tmp_path / "000003_nonfinite.h5").attributes["world"] == WORLD


def nan_reward(env: Any) -> torch.Tensor:
    values = torch.zeros(env.num_envs)
    return values.masked_fill(env.episode_length_buf == 4, torch.nan)


def test_a_reward_that_is_not_finite_is_a_fault_of_all_worlds_that_have_it(
    tmp_path: Path,
) -> None:
    cfg = env_cfg()
    cfg.max_nonfinite_share = 1.0
    cfg.rewards["odd"] = RewardTermCfg(func=nan_reward, weight=1.0)
    env, _, said = make(cfg, tmp_path, max_worlds=2)
    walk(env, 6)
    env.take_log()
    recording = load_dump(tmp_path / "000003_nonfinite.h5")
    assert recording.about["what"] == "nonfinite in 8 worlds"
    assert recording.worlds == [0, 1]
    path = tmp_path / "000003_nonfinite.h5"
    assert load_dump(path, 1).attributes["world"] == 1
    with pytest.raises(DumpError, match=r"has no world 5\. Its worlds: 0, 1\."):
        load_dump(path, 5)
    assert said[0].startswith("Non-finite values in 8 worlds (0, 1 and 6 more). ")
    account = DumpReplay(build_env(cfg, recording), recording).run()
    assert str(account.findings[0]) == (
        "Step 3, in the rewards: reward term 'odd' is nan."
    )


def test_a_later_fault_is_counted_from_the_first_recorded_step(
    tmp_path: Path,
) -> None:
    cfg = broken_cfg(step=27)
    cfg.episode_length_s = 2.0
    env, _, _ = make(cfg, tmp_path)
    walk(env, 30)
    env.take_log()
    recording = load_dump(tmp_path / "000003_nonfinite.h5")
    wrong = recording.steps["nonfinite"].nonzero()[0]
    assert recording.length == len(recording.steps["actions"]) < 26
    assert recording.faults == [{"kind": "nonfinite", "step": wrong[0]}]


@pytest.mark.parametrize(
    "kinds", [("contacts", "constraints"), ("constraints", "contact_candidates")]
)
def test_a_full_buffer_is_dumped_with_the_setting_to_change(
    kinds: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counters by kind and world, as on either engine."""
    env = ManagerBasedRlEnv(env_cfg())
    env.reset()
    counts = {kind: torch.zeros(8, dtype=torch.int64) for kind in kinds}
    engine = env.sim.engine
    monkeypatch.setattr(engine, "overflow", lambda: counts)
    monkeypatch.setattr(engine, "advice", lambda kind: f"{kind}: set more")
    dumps = DumpFolder(tmp_path, DumpCfg())
    FlightRecorder(env, dumps, steps=10)
    walk(env, 3)
    env.take_log()
    assert not list(tmp_path.iterdir())
    counts[kinds[0]][2] += 1
    walk(env, 2)
    with pytest.warns(RuntimeWarning, match=f"{kinds[0]}: set more"):
        env.take_log()
    recording = load_dump(tmp_path / "000000_overflow.h5")
    assert recording.attributes["world"] == 2
    assert recording.faults == [{"kind": kinds[0], "step": None}]
    assert recording.about["advice"] == [f"{kinds[0]}: set more"]
    assert recording.length == 5


def test_engine_failure_writes_a_dump(tmp_path: Path) -> None:
    """Error with its worlds, as for a world without memory."""
    from mjlab.sim.engine import EngineError

    env, _, _ = make(env_cfg(), tmp_path)
    walk(env, 2)
    engine = env.sim.engine

    def fail(*arguments: Any, **more: Any) -> None:
        raise EngineError("no room", [4])

    original, engine.step_many = engine.step_many, fail  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(EngineError):
        walk(env, 1)
    engine.step_many = original  # pyright: ignore[reportAttributeAccessIssue]
    recording = load_dump(tmp_path / "000003_engine.h5")
    assert (recording.attributes["world"], recording.length) == (4, 3)
    assert recording.faults == [{"kind": "engine", "step": 2}]


# --- Bounded --------------------------------------------------------------------------


def break_again(env: ManagerBasedRlEnv, times: int) -> None:
    for _ in range(times):
        env.reset()
        walk(env, 9)
        env.take_log()


def test_the_number_of_dumps_is_limited_and_reported_once(tmp_path: Path) -> None:
    env, _, said = make(broken_cfg(), tmp_path, max_dumps=2)
    break_again(env, 4)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["000003_nonfinite.h5", "000003_nonfinite_2.h5"]
    assert len(said) == 3
    assert "dumps, as many as agent.dumps.max_dumps allows" in said[2]


def test_the_size_of_dumps_is_limited_and_reported_once(tmp_path: Path) -> None:
    env, _, said = make(broken_cfg(), tmp_path, max_megabytes=0.01)
    break_again(env, 2)
    assert not list(tmp_path.iterdir())
    assert len(said) == 1
    assert "exceed agent.dumps.max_megabytes=0.01" in said[0]


def test_full_disk_neither_ends_the_run_nor_leaves_a_partial_dump(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*arguments: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    env, _, said = make(broken_cfg(), tmp_path)
    monkeypatch.setattr(dumps, "write_atomic", full)
    break_again(env, 2)
    assert not list(tmp_path.iterdir())
    assert len(said) == 1 and "No space left on device" in said[0]


# --- Cost and side effects
# --------------------------------------------------------------


def test_recording_does_not_change_the_training() -> None:
    plain = ManagerBasedRlEnv(env_cfg())
    plain.reset()
    recorded, recorder, _ = make(env_cfg(), Path("unused"), steps=4)
    for env in (plain, recorded):
        walk(env, 11)
    first, second = plain.get_state(), recorded.get_state()
    assert all(torch.equal(first[name], second[name]) for name in first)
    recorder.detach()
    assert recorder not in recorded.observers
    walk(recorded, 1)


def test_the_record_has_its_memory_from_the_start() -> None:
    env, recorder, _ = make(env_cfg(), Path("unused"), steps=3)
    before = {name: ring.data_ptr() for name, ring in recorder._ring.items()}
    walk(env, 14)
    assert {name: ring.data_ptr() for name, ring in recorder._ring.items()} == before
    assert len(recorder._keyframes) == 2


def test_worlds_that_are_reset_by_hand_begin_a_new_record(tmp_path: Path) -> None:
    env, recorder, _ = make(env_cfg(), tmp_path)
    walk(env, 5)
    env.reset(mask=torch.arange(8) < 3)
    walk(env, 2)
    assert recorder.window().first == 0
    assert len(recorder.window().steps["nonfinite"]) == 2
    assert int(recorder.window().start["step_counter"]) == 5


# --- Replayed -------------------------------------------------------------------------


def test_a_replay_equals_the_record_and_names_the_first_fault(dump: Path) -> None:
    recording, again = replay(dump)
    account = again.run()
    assert account.equal == recording.length == 14
    assert account.worst is None
    text = "\n".join(account.lines(recording))
    assert "World 5 of 8 on native: 14 steps, starting at step 0 of its run" in text
    assert "All 14 steps start bit-identically to the recording." in text
    assert (
        "Step 7, at its start, so it was written in the previous step: "
        "qvel[1] (body 'cartpole/pole_1', joint 'cartpole/hinge_1') is inf." in text
    )
    assert len(account.findings) == 1


def test_a_replay_from_the_middle_of_a_run_equals_the_record(tmp_path: Path) -> None:
    """World 5 alone, from step 8 on, behaves as among eight worlds."""
    env, _, _ = make(broken_cfg(step=3), tmp_path, steps=4)
    walk(env, 13)
    env.take_log()
    recording = load_dump(tmp_path / "000003_nonfinite.h5")
    account = DumpReplay(build_env(broken_cfg(step=3), recording), recording).run()
    assert account.equal == recording.length == 5
    assert account.findings


def test_a_different_replay_reports_the_difference(dump: Path) -> None:
    recording, again = replay(dump)
    recording.steps["qpos"][4, 0] += 0.25
    account = again.run()
    assert account.equal == 4
    assert account.worst == ("qpos", 4)
    assert account.differences["qpos"] == pytest.approx(0.25)
    assert "first difference is in qpos, in step 4" in list(account.lines(recording))[2]


def test_a_record_of_another_engine_is_replayed_on_the_native_one(dump: Path) -> None:
    """In the layout of MuJoCo Warp: float32 fields instead of a float64 state."""
    recording, again = replay(dump)
    again.restart()
    row = {k: v for k, v in recording.start.items() if not k.startswith("sim.")}
    for name in STATE_FIELDS:
        live = again.env.sim.engine.data(name)
        row[f"sim.data.{name}"] = live[0].clone()
    attributes = recording.attributes | {"backend": "warp"}
    other = dataclasses.replace(recording, start=row, attributes=attributes)
    account = DumpReplay(again.env, other).run()
    # The state was rounded to float32 once.
    assert max(account.differences.values()) < 1e-4
    assert account.findings[0].step == 7


def throw(env: Any, seed: int, step: int) -> None:
    is_due = (env.rng.world_seed == seed) & (env.episode_length_buf == step)
    env.sim.data.qvel[:, 1].masked_fill_(is_due, 1e12)


def test_a_velocity_beyond_mujocos_limit_is_dumped_and_named(tmp_path: Path) -> None:
    cfg = broken_cfg(func=throw)
    env, _, _ = make(cfg, tmp_path)
    walk(env, 14)
    env.take_log()
    recording = load_dump(tmp_path / "000003_nonfinite.h5")
    again = DumpReplay(build_env(cfg, recording), recording)
    assert recording.faults == [{"kind": "nonfinite", "step": 7}]
    (finding,) = again.run().findings
    assert finding.what.startswith("qvel[1]")
    assert finding.what.endswith(f"is {float(torch.tensor(1e12))}")


def test_an_action_that_is_not_finite_is_named(tmp_path: Path) -> None:
    cfg = env_cfg()
    cfg.max_nonfinite_share = 1.0
    env, _, _ = make(cfg, tmp_path)
    walk(env, 2)
    action = torch.zeros(8, 1)
    action[WORLD] = torch.nan
    env.step(action)
    env.take_log()
    recording = load_dump(tmp_path / "000003_nonfinite.h5")
    account = DumpReplay(build_env(cfg, recording), recording).run()
    assert [str(found) for found in account.findings] == [
        "Step 2, before physics: number 0 of the action is nan."
    ]


def test_after_the_last_step_a_replay_returns_to_the_first(dump: Path) -> None:
    recording, again = replay(dump)
    positions = []
    for _ in range(recording.length + 3):
        again.env.step(again(None))
        positions.append(again.env.sim.data.qpos[0].tolist())
    assert positions[recording.length :] == positions[:3]


def remove_about(file: h5py.File) -> None:
    del file.attrs["about"]


def remove_model(file: h5py.File) -> None:
    del file["model"]


def spoil_faults(file: h5py.File) -> None:
    file["traj_0"].attrs["faults"] = "{"


def spoil_about(file: h5py.File) -> None:
    file.attrs["about"] = "[]"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (remove_about, "'about', is damaged"),
        (spoil_about, "'about', is damaged"),
        (spoil_faults, f"its world {WORLD}, is damaged"),
        (remove_model, "has no array 'model'"),
    ],
)
def test_a_dump_that_is_damaged_is_refused_by_name(
    change: Callable[[h5py.File], None], said: str, dump: Path, tmp_path: Path
) -> None:
    copy = Path(shutil.copy(dump, tmp_path / "copy.h5"))
    with h5py.File(copy, "r+") as file:
        change(file)
    with pytest.raises(RecordingError, match=said):
        load_dump(copy)


# --- In a run -------------------------------------------------------------------------


def train_broken(
    root: Path, func: Any = push_joint, task: str = "Some-Task", **dumps: Any
) -> tuple[Run, list[str]]:
    """A run of two iterations of six steps, whose world 5 fails in the second."""
    display = Display()
    cfg = agent_cfg(2, dumps=DumpCfg(**dumps), init_at_random_ep_len=False)
    run, _ = train_without_export(
        broken_cfg(func=func), cfg, task=task, root=root, display=display
    )
    return run, display.said


BROKEN = Task(env=lambda: broken_cfg(func=push_joint), rl=agent_cfg)
"""Task of the run, needed to read its dumps."""


@pytest.fixture(scope="module")
def broken_run(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[Run, list[str]]]:
    package = tmp_path_factory.mktemp("package")
    with registered(package, Broken_Cartpole=f"{__name__}:BROKEN"):
        yield train_broken(tmp_path_factory.mktemp("logs"), task="Broken-Cartpole")


def test_a_run_stores_its_faults_and_prints_their_path(
    broken_run: tuple[Run, list[str]],
) -> None:
    run, said = broken_run
    assert run.info()["status"] == "finished"
    (path,) = (run.path / "dumps").iterdir()
    assert path.name == "000002_nonfinite.h5"
    assert any(f"play.py --dump {path}" in line for line in said)
    recording = load_dump(path)
    assert recording.attributes["env_cfg"] == (run.path / "config.json").read_text()
    assert recording.attributes["env_id"] == "Broken-Cartpole"
    assert recording.about["versions"]["mujoco"] == mujoco.__version__
    # Six steps before the failed iteration, and its six steps.
    assert (recording.about["first_step"], recording.length) == (0, 12)


def test_a_run_that_ends_for_a_fault_keeps_it(tmp_path: Path) -> None:
    """Non-finite observations make the policy's outputs non-finite."""
    with pytest.raises(RuntimeError, match=r"not finite \(.*surrogate"):
        train_broken(tmp_path, func=break_joint)
    run = find("latest", tmp_path).run
    assert run.info()["status"] == "failed"
    recording = load_dump(run.path / "dumps" / "000001_nonfinite.h5")
    assert recording.faults == [{"kind": "nonfinite", "step": 6}]


def test_recording_may_be_switched_off(tmp_path: Path) -> None:
    run, _ = train_broken(tmp_path, enabled=False)
    assert not (run.path / "dumps").exists()


def play_dump(run: Run, *more: str) -> None:
    play.main(["--dump", str(run.path / "dumps" / "000002_nonfinite.h5"), *more])


def test_a_dump_is_played_and_its_fault_is_printed(
    broken_run: tuple[Run, list[str]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    play_dump(broken_run[0], "--viewer", "none")
    lines = capsys.readouterr().out.splitlines()
    assert lines[2:4] == [
        "All 12 steps start bit-identically to the recording.",
        "Step 7, after physics step 1 of 5: qvel[0] (body 'cartpole/cart', joint "
        "'cartpole/slider') is -inf, and 1 more of 2.",
    ]
    assert lines[-1].startswith("Mean reward per step, over 12 steps: ")


def test_a_dump_is_filmed(
    renderer_works: None,
    broken_run: tuple[Run, list[str]],
    tmp_path: Path,
) -> None:
    pytest.importorskip("imageio_ffmpeg")
    path = tmp_path / "fault.mp4"
    size = ("--env.viewer.width", "96", "--env.viewer.height", "64")
    play_dump(broken_run[0], "--video", str(path), *size)
    assert read_film(path).frames.shape == (12, 64 * 96 * 3)


def test_a_dump_of_an_uninstalled_task_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, _ = train_broken(tmp_path)
    dump = run.path / "dumps" / "000002_nonfinite.h5"
    assert run_program(play.main, ["--dump", str(dump), "--viewer", "none"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "uses task 'Some-Task', which is not installed." in line


def test_a_path_that_is_not_a_dump_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = ["--dump", str(tmp_path), "--viewer", "none"]
    assert run_program(play.main, line) == 2
    assert capsys.readouterr().err == (
        f"error: The recording {tmp_path} does not exist.\n"
    )


# --- Small parts ----------------------------------------------------------------------


def test_numbers_of_the_state_are_named_by_body_and_joint() -> None:
    model = mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><body name='a'><freejoint name='f'/><geom size='1'/>"
        "<body name='b'><joint name='j'/><geom size='1'/></body></body></worldbody>"
        "<actuator><motor name='m' joint='j'/>"
        "<general name='g' joint='j' dyntype='filter'/></actuator></mujoco>"
    )
    assert element_name(model, "qpos", 6) == "body 'a', joint 'f'"
    assert element_name(model, "qpos", 7) == "body 'b', joint 'j'"
    assert element_name(model, "qvel", 5) == "body 'a', joint 'f'"
    assert element_name(model, "qvel", 6) == "body 'b', joint 'j'"
    assert element_name(model, "ctrl", 1) == "actuator 'g'"
    assert element_name(model, "act", 0) == "actuator 'g'"


def test_the_fields_that_another_engine_recorded_are_taken_and_others_stay():
    env = ManagerBasedRlEnv(env_cfg())
    before = env.sim.data.qpos.clone(), env.sim.data.qvel.clone()
    wanted = before[1] + 0.25
    _convert_physics(env, {"sim.data.qvel": wanted})
    assert torch.equal(env.sim.data.qvel, wanted)
    assert torch.equal(env.sim.data.qpos, before[0])
