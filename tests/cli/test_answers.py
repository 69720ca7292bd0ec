"""Messages for signals, disks, and mistakes in Python code."""

import contextlib
import errno
import os
import pty
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

import pytest
import torch

from mjlab import files
from mjlab.cli import (
    bench,
    doctor,
    evaluate,
    export,
    play,
    record,
    report,
    run_program,
    train,
    warm,
)
from mjlab.cli.answers import postponing_signals
from mjlab.cli.line import read_line
from mjlab.cli.sources import find_source
from mjlab.envs import ManagerBasedRlEnv
from mjlab.envs.config import ConfigError, check_config
from mjlab.files import CannotWriteError
from mjlab.managers import EventTermCfg, RewardTermCfg
from mjlab.mdp import JointEffortActionCfg, joint_vel_l2
from mjlab.registry import entries, load_task
from mjlab.report import render
from mjlab.rl.checkpoint import write_model
from mjlab.rl.console import open_display
from mjlab.rl.signals import Interrupts, _is_closed
from mjlab.runs import Run, RunError, find
from mjlab.settings.types import WrongTypeError
from mjlab.tasks.cartpole import CartpoleBalanceCfg
from mjlab.tasks.cartpole.rl import CartpoleAgentCfg
from tests.worlds.rl_runs import env_cfg

ROOT = Path(__file__).resolve().parents[2]
TASK = "Cartpole-Balance"


def small(*more: str) -> list[str]:
    line = "--env.episode-length-s 1.0 --agent.num-steps-per-env 4 --seed 3"
    fixed = "--agent.evaluation.every 0 --agent.logging.tensorboard False"
    return [TASK, *line.split(), *fixed.split(), *more]


@pytest.fixture(scope="module")
def logs(tmp_path_factory) -> Path:
    """Run of one iteration with 8 worlds."""
    root = tmp_path_factory.mktemp("logs")
    line = small("--num-envs", "8", "--agent.max-iterations", "1")
    assert run_program(train.main, [*line, "--logs", str(root)]) == 0
    return root


def answer(capsys: pytest.CaptureFixture, main: Callable, *line: str) -> str:
    """Return the message of a program that refuses its arguments."""
    assert run_program(main, line) == 2
    return capsys.readouterr().err


def forked(work: Callable[[], object]) -> int:
    """Start a child process that ends with code 0; return its process id."""
    child = os.fork()
    if child == 0:
        try:
            work()
            os._exit(0)
        except SystemExit as error:
            os._exit(int(str(error)))
        finally:
            os._exit(99)
    return child


def wait_for(is_so: Callable[[], bool], seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.01)


# --- Signals -------------------------------------------------------------------------


def test_a_closed_terminal_ends_training_like_sigterm(tmp_path):
    """A closed terminal sends SIGHUP and makes output fail.

    Like an iteration, the program writes to both streams after the signal.
    """
    ready, saved = tmp_path / "ready", tmp_path / "saved"
    child, terminal = pty.fork()
    if child == 0:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
        with contextlib.suppress(OSError), Interrupts() as interrupts:
            ready.touch()
            wait_for(lambda: bool(interrupts.received))
            os.write(1, b"4/9  23,456 steps/s\n")
            os.write(2, b"a warning\n")
            saved.write_text(interrupts.reason)
        os._exit(0)
    wait_for(ready.exists)
    os.close(terminal)
    assert os.waitpid(child, 0)[1] == 0
    assert saved.read_text() == "SIGHUP received"


def test_a_hangup_that_nohup_ignores_stays_ignored():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with Interrupts() as interrupts:
            os.kill(os.getpid(), signal.SIGHUP)
        assert not interrupts.received
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ignored_by_the_parent_process_stays_ignored(number):
    seen = []

    def main(arguments: object) -> None:
        os.kill(os.getpid(), number)
        seen.append(signal.getsignal(number))

    before = signal.signal(number, signal.SIG_IGN)
    try:
        run_program(main, [])
        assert seen == [signal.SIG_IGN]
        assert signal.getsignal(number) is signal.SIG_IGN
    finally:
        signal.signal(number, before)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_program_that_is_ended_cleans_up(tmp_path, number):
    def main(arguments: object) -> None:
        try:
            (tmp_path / "ready").touch()
            time.sleep(20.0)
        finally:
            (tmp_path / "clean").touch()

    def work() -> None:
        signal.signal(number, signal.SIG_DFL)
        run_program(main, [])

    child = forked(work)
    wait_for((tmp_path / "ready").exists)
    os.kill(child, number)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 128 + number
    assert (tmp_path / "clean").exists()


def test_a_closed_pipe_stops_training_and_discards_its_output(tmp_path):
    """The kernel fails each write to a pipe without a reader."""
    saved, (reader, writer) = tmp_path / "saved", os.pipe()

    def work() -> None:
        os.dup2(writer, 1)
        sys.stdout = os.fdopen(1, "w")
        with Interrupts() as interrupts, open_display("title") as display:
            display.say("before")
            assert not interrupts.received
            os.close(reader)
            wait_for(lambda: _is_closed(1))  # The parent also has the read end.
            display.say("during")
            assert interrupts.received == signal.SIGPIPE
            display.say("after")
            os.write(1, b"what a term prints")
            saved.write_text(interrupts.reason)

    child = forked(work)
    os.close(reader)
    os.close(writer)
    assert os.waitpid(child, 0)[1] == 0
    assert saved.read_text() == "the output pipe was closed (SIGPIPE)"


def test_a_broken_socket_does_not_end_training():
    ours, theirs = socket.socketpair()
    theirs.close()
    with ours, Interrupts() as interrupts, pytest.raises(BrokenPipeError):
        ours.send(b"a figure for a server")
    assert not interrupts.received


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_five_signals_in_a_row_do_not_interrupt_the_clean_up(tmp_path, number):
    said = tmp_path / "said"

    def main(arguments: object) -> None:
        try:
            (tmp_path / "ready").touch()
            time.sleep(20.0)
        finally:
            time.sleep(0.3)
            (tmp_path / "clean").touch()

    def work() -> None:
        os.dup2(os.open(said, os.O_WRONLY | os.O_CREAT), 2)
        sys.stderr = os.fdopen(2, "w")
        signal.signal(number, signal.default_int_handler)
        code = run_program(main, [])
        time.sleep(0.3)
        sys.stderr.flush()
        raise SystemExit(code)

    child = forked(work)
    wait_for((tmp_path / "ready").exists)
    for _ in range(5):
        os.kill(child, number)
        time.sleep(0.1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 128 + number
    assert (tmp_path / "clean").exists()
    by_hand = number == signal.SIGINT
    assert said.read_text() == ("Stopped by Ctrl-C.\n" if by_hand else "")


def test_a_run_whose_output_is_closed_counts_as_stopped(tmp_path):
    configs = {"env": env_cfg(), "agent": CartpoleAgentCfg()}
    run = Run.create(tmp_path, TASK, configs=configs, seed=3)
    with pytest.raises(BrokenPipeError), run.recording():
        raise BrokenPipeError
    assert run.info()["status"] == "stopped"


@pytest.mark.slow
def test_a_training_in_a_closed_pipe_is_saved_and_reports_it(tmp_path):
    line = [*small("--num-envs", "8"), "--agent.max-iterations", "100000"]
    script = [sys.executable, "scripts/train.py", *line, "--logs", str(tmp_path)]
    with subprocess.Popen(script, cwd=ROOT, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        while not process.stdout.readline().startswith(b"2/"):
            assert process.poll() is None
        process.stdout.close()
    assert process.returncode == 128 + signal.SIGPIPE
    run = find(TASK, tmp_path).run
    assert run.info()["status"] == "stopped"
    assert "SIGPIPE" in run.info()["reason"]
    assert run.checkpoints.newest() is not None


def test_ctrl_c_ends_a_program_without_a_traceback(capsys):
    def main(arguments: object) -> None:
        raise KeyboardInterrupt

    assert run_program(main, []) == 130
    assert capsys.readouterr().err == "Stopped by Ctrl-C.\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_postponed_signal_ends_the_program_after_the_block(number, tmp_path):
    def main(arguments: object) -> None:
        with postponing_signals():
            try:
                os.kill(os.getpid(), number)
                time.sleep(0.01)
                (tmp_path / "imported").touch()
            except BaseException:
                # Some imports catch every exception, too.
                pass
        (tmp_path / "served").touch()

    def work() -> None:
        # SIGINT is ignored in background jobs.
        signal.signal(number, signal.default_int_handler)
        raise SystemExit(run_program(main, []))

    status = os.waitpid(forked(work), 0)[1]
    assert os.waitstatus_to_exitcode(status) == 128 + number
    assert [path.name for path in tmp_path.iterdir()] == ["imported"]


def test_closed_output_pipe_ends_a_program_without_a_traceback():
    script = [sys.executable, "scripts/list_tasks.py"]
    pipe = subprocess.PIPE
    with subprocess.Popen(script, cwd=ROOT, stdout=pipe, stderr=pipe) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 128 + signal.SIGPIPE


# --- Running and finished processes -------------------------------------------------


@contextlib.contextmanager
def training(run: Run, tmp_path: Path) -> Iterator[int]:
    """Process that trains in a run's folder, killed at the end."""
    ready = tmp_path / "ready"

    def work() -> None:
        with run.lock():
            run.update(status="running", pid=os.getpid())
            ready.touch()
            time.sleep(60.0)

    child = forked(work)
    try:
        wait_for(ready.exists)
        yield child
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def test_the_report_distinguishes_a_running_run_from_a_dead_one(tmp_path):
    configs = {"env": env_cfg(), "agent": CartpoleAgentCfg()}
    run = Run.create(tmp_path, TASK, configs=configs, seed=3)
    assert run.info()["pid"] == os.getpid()
    with training(run, tmp_path):
        assert 'class="status running">running<' in render(run.path)
    page = render(run.path)
    assert 'class="status died">died<' in page
    assert "Its process ended without recording a reason" in page
    run.finish("finished", "all is done")
    assert 'class="status finished">finished<' in render(run.path)


def test_a_run_is_resumed_by_one_process_at_a_time(logs, tmp_path, capsys):
    run = find(TASK, logs).run
    before = run.info()
    line = [*small(), "--resume", "latest", "--logs", str(logs)]
    with training(run, tmp_path) as child:
        said = answer(capsys, train.main, *line)
    assert said == (
        f"error: Process {child} is training in {run.path}. Stop it, or wait until it "
        "ends.\n"
    )
    run.update(**before)


# --- Devices, disks and folders ------------------------------------------------------


@pytest.mark.parametrize("line", ["--device cuda:0", "--device cuda"])
@pytest.mark.parametrize("main", [train.main, play.main, evaluate.main, bench.main])
def test_missing_device_gives_one_line(main, line, logs, capsys, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    place = ["--policy", "zero"] if main is play.main else []
    folder = [] if main is bench.main else ["--logs", str(logs)]
    said = answer(capsys, main, TASK, *line.split(), *place, *folder)
    assert said.startswith(f"error: device={line.split()[1]!r}, but ")
    assert "no CUDA device" in said and "cpu" in said
    assert said.count("\n") == 1


def test_gpu_index_out_of_range_gives_one_line(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.chdir(tmp_path)
    said = answer(capsys, train.main, TASK, "--device", "cuda:2")
    assert said == "error: There is no GPU 2. Valid: 0, 1.\n"


def test_a_full_disk_is_one_line_that_names_folder_and_space(
    tmp_path, capsys, monkeypatch
):
    """Writes to /dev/full fail as on a full disk."""
    path = tmp_path / "model_000004.pt"
    create = files.create_beside

    def full(place: Path) -> tuple[Path, BinaryIO]:
        return (place, open("/dev/full", "wb")) if place == path else create(place)

    monkeypatch.setattr(files, "create_beside", full)
    model = {"weights": torch.zeros(50_000)}

    def main(arguments: object) -> None:
        write_model(path, model, 4)

    said = answer(capsys, main)
    wanted = r"error: No space left in (\S+): model_000004.pt needs (\d+) kB, and "
    found = re.match(wanted, said)
    assert found is not None, said
    assert found[1] == str(tmp_path)
    assert 200 <= int(found[2]) < 210
    assert said.endswith("B are free.\n") and said.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_run_on_a_full_disk_keeps_its_own_error(tmp_path, monkeypatch):
    configs = {"env": env_cfg(), "agent": CartpoleAgentCfg()}
    run = Run.create(tmp_path, TASK, configs=configs, seed=3)

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(ZeroDivisionError), run.recording():
        monkeypatch.setattr(os, "fsync", full)
        _ = 1 / 0


def test_a_folder_of_runs_that_cannot_be_written_is_one_line(tmp_path, capsys):
    file = tmp_path / "file"
    file.touch()
    line = small("--num-envs", "8", "--logs", str(file / "logs"))
    assert answer(capsys, train.main, *line) == (
        f"error: Cannot write to {file / 'logs'} (not a directory). Choose "
        "another folder with --logs.\n"
    )


def test_a_read_only_folder_is_reported(tmp_path, monkeypatch):
    def refuse(path: object, mode: int = 0o777) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))

    monkeypatch.setattr(os, "mkdir", refuse)
    configs = {"env": env_cfg(), "agent": CartpoleAgentCfg()}
    said = r"Cannot write to .*/logs \(read-only file system\)\. Choose another"
    with pytest.raises(CannotWriteError, match=said):
        Run.create(tmp_path / "logs", TASK, configs=configs, seed=3)


# --- Mistakes in Python
# -----------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(entries()))
def test_settings_of_shipped_tasks_are_valid(name):
    task = load_task(name)
    check_config(task.env())
    check_config(task.play())


def test_a_function_in_place_of_a_term_suggests_how_to_wrap_it():
    cfg = CartpoleBalanceCfg()
    cfg.rewards["speed"] = joint_vel_l2  # pyright: ignore[reportArgumentType]
    with pytest.raises(ConfigError) as error:
        ManagerBasedRlEnv(cfg)
    assert str(error.value) == (
        "rewards['speed'] is joint_vel_l2; it has to be an instance of RewardTermCfg. "
        "Wrap it: RewardTermCfg(func=joint_vel_l2)."
    )
    cfg = CartpoleBalanceCfg()
    group = cfg.observations["actor"]
    assert group is not None
    group.terms["speed"] = joint_vel_l2  # pyright: ignore[reportArgumentType]
    with pytest.raises(ConfigError, match=r"ObservationTermCfg\(func=joint_vel_l2\)"):
        check_config(cfg)


@pytest.mark.parametrize("where", ["observations", "rewards", "events"])
def test_a_list_of_terms_is_an_error(where):
    cfg = CartpoleBalanceCfg()
    setattr(cfg, where, [RewardTermCfg(func=joint_vel_l2)])
    with pytest.raises(WrongTypeError, match=rf"^{where} is \[.*\(list\); .* dict\.$"):
        check_config(cfg)


@pytest.mark.parametrize(
    ("where", "key", "value", "said"),
    [
        (
            "actions",
            "x",
            JointEffortActionCfg,
            "JointEffortActionCfg; .* ActionTermCfg",
        ),
        ("commands", "x", 3, "3; .* an instance of CommandTermCfg"),
        ("rewards", "x", {"func": joint_vel_l2}, r"\{'func': .* of RewardTermCfg"),
        (
            "terminations",
            "x",
            EventTermCfg(func=joint_vel_l2, mode="reset"),
            "Terminat",
        ),
        ("observations", "actor", joint_vel_l2, "joint_vel_l2; .*ObservationGroupCfg"),
    ],
)
def test_wrong_value_in_place_of_a_term_is_named_with_its_path(where, key, value, said):
    cfg = CartpoleBalanceCfg()
    getattr(cfg, where)[key] = value
    with pytest.raises(ConfigError, match=rf"{where}\['{key}'\] is .*{said}"):
        ManagerBasedRlEnv(cfg)


def test_an_error_inside_a_term_names_the_term(capsys):
    def bad(env: ManagerBasedRlEnv) -> torch.Tensor:
        return env.scene["robo"].data.joint_pos[:, 0]

    cfg = CartpoleBalanceCfg()
    cfg.rewards["bad"] = RewardTermCfg(func=bad, weight=1.0)
    said = answer(capsys, lambda arguments: ManagerBasedRlEnv(cfg))
    assert said.startswith("error: The scene has no 'robo'. ")
    assert said.endswith(" Raised by reward term 'bad'.\n")


# --- Short forms and similar names ---------------------------------------------------


@pytest.mark.parametrize(
    "program", [train.TrainOptions, evaluate.EvaluateOptions, bench.BenchOptions]
)
def test_the_number_of_worlds_has_a_short_form_everywhere(program):
    line = read_line(program, ["T", "--num-envs", "16"])
    (setting,) = line.settings
    assert (setting.name, setting.values) == ("env.scene.num_envs", ["16"])
    assert line.sets("env.scene.num_envs")


def test_warm_kernels_uses_the_same_option_for_the_number_of_worlds():
    line = read_line(warm.WarmOptions, ["T", "--num-envs", "16"])
    assert line.options.num_envs == 16


def test_misspelt_option_suggests_the_nearest(capsys):
    with pytest.raises(SystemExit):
        train.main([TASK, "--inti-from", "x"])
    assert "--init-from TEXT" in capsys.readouterr().err


@pytest.mark.parametrize("task", ["Velocity-G1", "Tracking-G1", "Lift-Yam-Rgb"])
def test_a_wrong_setting_is_reported_before_the_learners_are_imported(task):
    """Their import takes as long as everything else until then."""
    code = (
        "import sys\n"
        "from mjlab.cli import run_program, train\n"
        f"code = run_program(train.main, ['{task}', '--env.scene.num-env', '4'])\n"
        "print(code, {'rsl_rl', 'tensordict'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True
    )
    assert "'num_envs'" in done.stderr
    assert done.stdout == "2 set()\n"


def test_no_prefix_disables_a_switch():
    assert not read_line(train.TrainOptions, ["T", "--no-exact"]).options.exact
    assert read_line(train.TrainOptions, ["T"]).options.exact


def test_help_shows_the_no_form_of_switches(capsys):
    with pytest.raises(SystemExit):
        train.main(["--help"])
    assert "--exact, --no-exact" in capsys.readouterr().out


def test_invalid_choice_suggests_the_nearest(capsys):
    said = answer(capsys, play.main, TASK, "--viewer", "webb")
    assert said == (
        "error: --viewer cannot be 'webb'. Valid names, nearest first: 'web', "
        "'none', 'native'.\n"
    )


@pytest.mark.parametrize(
    ("main", "more"),
    [
        (play.main, ", or watch the task with --policy random"),
        (record.main, ", or watch the task with --policy random"),
        (evaluate.main, ""),
        (export.main, ""),
        (report.main, ""),
        (doctor.main, ""),
    ],
)
def test_a_task_without_a_run_gives_the_same_message_everywhere(
    main, more, capsys, tmp_path
):
    task = next(name for name in entries() if load_task(name).trained is None)
    assert answer(capsys, main, task, "--logs", str(tmp_path)) == (
        f"error: There is no run of {task!r} in {tmp_path}. Train one with train.py "
        f"{task}{more}.\n"
    )


def test_shipped_policy_is_selected_by_its_task_name(tmp_path, capsys):
    ships = next(name for name in sorted(entries()) if load_task(name).trained)
    source = find_source(ships, policy="trained", as_trained=False, logs=tmp_path)
    assert source.title == ships
    assert find(ships, tmp_path).run.path.name == ships


def test_a_run_is_also_locked_within_this_process(tmp_path):
    configs = {"env": env_cfg(), "agent": CartpoleAgentCfg()}
    run = Run.create(tmp_path, TASK, configs=configs, seed=3)
    with run.lock(), pytest.raises(RunError, match=str(os.getpid())):
        with run.lock():
            pass
    with run.lock():
        pass
