"""Every command on a page is run by a test, or has a reason why not.

A test runs each command as printed, with options that shorten it; new commands on a
page are included automatically. Commands that another test runs, or that no test can
run, are listed with that test or with the reason.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest

from tests.tools.architecture import ROOT
from tests.tools.command_lines import command_lines, is_a_test, lines_of

FIRST_TASK = "tests/tasks/test_first_task.py::"
BENCH = "tests/bench/"

# Pattern of lines -> the test that types them, or calls what they call.
BY_ANOTHER_TEST = {
    "*pendulum.py:TASK*": (
        f"{FIRST_TASK}test_the_file_of_the_page_is_trained_and_played_without_a_package"
    ),
    "*My-Pendulum*": f"{FIRST_TASK}test_the_package_of_the_page_is_trained_and_played",
    "mjlab * Walker *": (
        "tests/tasks/test_foreign_robot.py::"
        "test_the_robot_of_the_page_is_trained_and_played"
    ),
    "mjlab * walk_rex/walk_rex.py:TASK*": (
        "tests/cli/test_adopt.py::test_an_adopted_robot_is_trained_and_played"
    ),
    "python -m build": (
        "tests/house/test_release.py::test_built_packages_pass_the_check_of_the_index"
    ),
    "python -m tests.tools.first_hour": (
        "tests/house/test_first_hour.py::test_first_hour_script_stays_within_its_cpu_time"
    ),
    "pip install *mjlab_fused-*": (
        "tests/house/test_first_hour.py::test_first_hour_script_stays_within_its_cpu_time"
    ),
    'eval "$(mjlab completion bash)"': (
        "tests/cli/test_completion.py::test_a_shell_completes"
    ),
    "pip install -e my_*": (
        "tests/tasks/test_own_task.py::"
        "test_a_new_task_that_pip_installed_is_listed_trained_and_played"
    ),
    "make train": (
        "tests/house/test_skeleton.py::"
        "test_make_train_chooses_a_task_that_the_machine_can_learn"
    ),
    "make setup": (
        "tests/house/test_skeleton.py::"
        "test_set_up_runs_again_only_after_a_change_of_its_inputs"
    ),
    "python docs/examples/ppo_hierarchical.py *": (
        "tests/muscle/test_places.py::test_published_program_reads_a_settings_file"
    ),
    "python docs/examples/ppo.py": (
        "tests/gym/test_examples.py::test_a_learner_in_one_file_solves_cartpole"
    ),
    "python scripts/bench.py cartpole*": (
        f"{BENCH}test_cartpole_scaling.py::test_an_interrupted_run_resumes"
    ),
    "python scripts/bench.py scaling*": (
        f"{BENCH}test_cartpole_scaling.py::test_a_task_is_swept_resumed_and_judged"
    ),
    "python bench/gpu.py *": f"{BENCH}test_gpu.py::test_a_check_runs_without_a_gpu",
    "python scripts/warm_kernels.py *": (
        "tests/cli/test_warm_kernels.py::test_copied_kernel_cache_needs_no_compiler"
    ),
    "python scripts/train.py * --placement dual *": (
        "tests/workers/test_placement.py::"
        "test_the_script_prints_the_placement_and_every_tensors_device"
    ),
    "mjlab train * --resume *": (
        "tests/rl/test_resume.py::"
        "test_ten_iterations_of_a_robot_equal_five_and_five_bit_for_bit"
    ),
    "torchrun *": (
        "tests/rl/test_distributed.py::test_two_agents_on_loopback_train_as_two_nodes"
    ),
    "sbatch *": (
        "tests/rl/test_distributed.py::"
        "test_the_script_for_slurm_trains_on_two_nodes_and_resumes"
    ),
    "python scripts/web.py *": (
        "tests/export/test_web.py::test_the_verb_writes_a_page_of_tasks_and_files"
    ),
    "python scripts/export.py * --web *": (
        "tests/export/test_web.py::test_export_writes_a_page_as_well"
    ),
    "make docs": (
        "tests/house/test_site.py::test_the_site_loads_no_files_from_other_hosts"
    ),
    **dict.fromkeys(
        ("python scripts/sweep.py TASK *", "mjlab sweep * --processes 4"),
        "tests/sweep/test_sweep.py::"
        "test_twelve_trials_in_four_processes_survive_a_kill",
    ),
    "mjlab sweep * --resume": (
        "tests/sweep/test_sweep.py::test_twelve_trials_in_four_processes_survive_a_kill"
    ),
    "python scripts/play.py * --policy teleop": (
        "tests/cli/test_play.py::test_teleoperation_drives_one_arm_without_time_limit"
    ),
    "python scripts/clone.py *": (
        "tests/rl/test_cloning.py::"
        "test_a_cloned_policy_acts_like_the_controller_in_new_states"
    ),
    "python scripts/train.py Lift-Yam-IK --init-from *": (
        "tests/rl/test_cloning.py::"
        "test_ppo_begins_with_a_cloned_policy_and_keeps_it_while_the_critic_learns"
    ),
    "python scripts/replay.py * --lerobot demos": (
        "tests/replay/test_lerobot.py::test_rows_are_the_steps_of_the_recording"
    ),
    **dict.fromkeys(
        ("mjlab export Velocity-Go1-Sight *", "python mjlab_runner.py sight.onnx *"),
        "tests/export/test_cameras.py::"
        "test_go1_climbs_stairs_in_the_runner_by_its_depth_images",
    ),
    "python mjlab_runner.py * --udp 9870": (
        "tests/export/test_runner.py::"
        "test_a_late_packet_stops_the_robot_within_two_periods"
    ),
    "*--dump *<name>*": (
        "tests/replay/test_flight_recorder.py::test_a_dump_is_played_and_its_fault_is_printed"
    ),
    "WARP_CACHE_PATH=*": (
        "tests/cli/test_warm_kernels.py::test_copied_kernel_cache_needs_no_compiler"
    ),
    **dict.fromkeys(
        ("if [[] -d logs/*", "exec mjlab train *"),
        "tests/house/test_commands.py::test_a_job_that_starts_again_resumes_its_run",
    ),
    **dict.fromkeys(
        ("mjlab port *", "python scripts/port.py *"),
        "tests/cli/test_port.py::"
        "test_the_program_prints_the_list_and_does_not_run_the_file",
    ),
    "python scripts/motion.py make": (
        "tests/cli/test_motion.py::test_a_shipped_clip_equals_the_clip_built_from_its_description"
    ),
    "python scripts/motion.py import old.npz *": (
        "tests/cli/test_motion.py::"
        "test_a_file_without_names_is_imported_beside_its_source"
    ),
    "python scripts/motion.py simulate dance.npz": (
        "tests/cli/test_motion.py::test_simulated_motion_reports_the_assistive_wrench"
    ),
    "python scripts/motion.py make --random *": (
        "tests/cli/test_motion.py::"
        "test_random_motions_depend_on_the_seed_and_pass_the_checks"
    ),
    "mjlab identify *": (
        "tests/cli/test_identify.py::"
        "test_three_commands_lead_from_a_motion_to_a_task_with_ranges"
    ),
    "mjlab train measured_go1.py:TASK": (
        "tests/cli/test_identify.py::"
        "test_three_commands_lead_from_a_motion_to_a_task_with_ranges"
    ),
    "mjlab exam *": "tests/cli/test_exam.py::test_equal_calls_write_equal_files",
    "mjlab verify *--as *": (
        "tests/export/test_foreign_verify.py::"
        "test_files_alone_leave_the_behaviour_undetermined"
    ),
    "mjlab export policy.onnx --as *": (
        "tests/export/test_foreign_play.py::"
        "test_file_plays_in_a_task_with_the_gains_of_the_policy"
    ),
    "mjlab record Lift-Yam-IK *": (
        "tests/cli/test_record.py::test_scripted_controller_is_recorded"
    ),
    "mjlab train * --agent.logging.wandb *": (
        "tests/rl/test_wandb.py::test_figures_and_configuration_are_those_of_the_run"
    ),
    **dict.fromkeys(
        (
            "mjlab upload latest *",
            "mjlab play wandb:*",
            "mjlab train * --resume wandb:*",
        ),
        "tests/rl/test_wandb.py::test_a_downloaded_run_is_evaluated_and_resumed",
    ),
    **dict.fromkeys(
        ("mjlab upload turn.npz", "mjlab train * wandb:me/mjlab/turn"),
        "tests/rl/test_wandb.py::test_motion_is_uploaded_and_downloaded_unchanged",
    ),
    **dict.fromkeys(
        (
            "python scripts/motion.py import dance.csv *",
            "python scripts/motion.py c* dance.npz*",
            "python scripts/motion.py mirror turn.npz *",
            "python scripts/motion.py show turn.npz *",
        ),
        "tests/cli/test_motion.py::test_five_commands_lead_from_a_csv_to_a_film",
    ),
}

_OF_A_USER = "needs a file that only its user has"
_OF_FIGURES = "measures for minutes on cores of its own, and writes what is kept"

# Pattern of lines -> why nobody runs them here.
NOT_RUN = {
    "python3 -m venv .venv*": "set-up as `make` does it; tests/house/test_skeleton.py",
    "pip install -c constraints.txt *": "set-up as `make` does it, in the same words",
    'pip install "mjlab-fused[[]*': "no index has this distribution yet",
    "pip install build": "would change the environment of the tests",
    "pip install stable-baselines3": "would change the environment of the tests",
    "pip install skrl": "would change the environment of the tests",
    "pip install torchrl": "would change the environment of the tests",
    "pip install -e .": "would change the environment of the tests",
    "docker *": "there is no Docker here; tests/house/test_docker.py reads the files",
    "*--viewer native*": "opens a window; tests/viewer looks into it without a display",
    "*--view --gamepad": "opens a window, and needs a gamepad",
    "*--view --keyboard": "opens a window and waits for keys",
    "*--gpus 0,1,2,3": "needs four GPUs",
    "python scripts/motion.py import person.bvh *": _OF_A_USER,
    "python docs/render_motions.py": "draws again the pictures that are kept",
    "python -m tests.zoo.table": "writes a page again, which tests/zoo compares",
    "mjlab export RUN --as *": (
        "needs a run without a gait clock; tests/export/test_foreign_write.py"
    ),
    "python bench/walking.py *": _OF_FIGURES,
    "python bench/muscle.py *": _OF_FIGURES,
    "python bench/sim.py *": _OF_FIGURES,
    "python bench/tiles.py *": _OF_FIGURES,
    "python bench/training_video.py": _OF_FIGURES,
    "python bench/env.py *": _OF_FIGURES,
    "python bench/velocity.py": _OF_FIGURES,
    "python bench/web.py": _OF_FIGURES,
    "python bench/cartpole.py *": _OF_FIGURES,
    "python bench/placement.py *": _OF_FIGURES,
    "python scripts/bench.py recording": _OF_FIGURES,
    "make web": "fetches packages; tests/export/test_web.py compares its sums",
    "make test*": "this is what runs the tests",
    **dict.fromkeys(
        ("make format", "make type", "make slow", "make check", "make faults"),
        "runs ruff, pyright or the tests",
    ),
    "pytest*": "this is what runs the tests",
    ". .venv/bin/activate": "changes the shell that types it",
    ".venv/bin/pip install *": "set-up as `make` does it",
    "python -m tests.golden.make *": "writes values that tests/house compares",
    "python bench/paired.py ../before .": _OF_FIGURES,
    "python runnable": "the kind of a block, not a command",
    "python docs/render_gif.py *": "writes a picture that is kept",
    "nohup *": "needs a terminal that closes",
    "tmux *": "needs tmux",
    "ssh *": "needs a second machine",
}

_SMALL = "--env.scene.num-envs 4"
SHORTER = {
    "train": f"--agent.max-iterations 1 --agent.num-steps-per-env 4 {_SMALL}",
    "evaluate": "--episodes 1",
    "bench": f"--blocks 1 --steps 1 {_SMALL}",
    "record": "--episodes 1",
    "motion record": "--after 0.1 --seconds 0.2",
}
"""What is added to a line, by its program."""

VERBS = ("train", "port", "verify", "exam", "adopt", "identify")
ALONE = [["mjlab", verb] for verb in VERBS]
ALONE += [["python", name] for name in ("train", "replay")]
"""Programs that need an argument, as pages name them: they print their help."""

TASK = "Cartpole-Balance"


def places_of(table: dict[str, str], line: str) -> list[str]:
    return [pattern for pattern in table if fnmatch(line, pattern)]


def is_run(line: str) -> bool:
    return not places_of(BY_ANOTHER_TEST, line) and not places_of(NOT_RUN, line)


LINES = command_lines()
RUN: dict[str, list[str]] = {}
"""Lines that are run, by the first page that has them."""
for each in LINES:
    if is_run(each.text) and not any(each.text in lines for lines in RUN.values()):
        RUN.setdefault(each.page, []).append(each.text)


# --- The lists ------------------------------------------------------------------------


@pytest.mark.parametrize("table", [BY_ANOTHER_TEST, NOT_RUN], ids=["tested", "not run"])
def test_every_listed_command_is_on_a_page(table):
    lines = [each.text for each in LINES]
    idle = [p for p in table if not any(fnmatch(line, p) for line in lines)]
    assert idle == []


def test_no_command_is_on_both_lists():
    both = [
        each.text
        for each in LINES
        if places_of(BY_ANOTHER_TEST, each.text) and places_of(NOT_RUN, each.text)
    ]
    assert both == []


@pytest.mark.parametrize("test", sorted({*BY_ANOTHER_TEST.values()}))
def test_named_test_of_a_command_exists(test):
    assert is_a_test(test)


def test_lines_are_found_in_blocks_in_spans_and_indented():
    text = (
        "Type `mjlab list\n--check`, or `--seed 3`.\n\n"
        "    python scripts/train.py Velocity-G1 \\\n        --seed 3   # a comment\n\n"
        "```sh\n$ mjlab demo\nls\n```\n\n```python\nmjlab .train()\n```\n"
        "```text\nls\nmjlab list\n```\n"
    )
    assert sorted(lines_of(text)) == [
        "ls",
        "mjlab demo",
        "mjlab list",
        "mjlab list --check",
        "python scripts/train.py Velocity-G1 --seed 3",
    ]


def test_commands_that_tests_run_start_with_mjlab_or_python():
    odd = [x for lines in RUN.values() for x in lines]
    assert [x for x in odd if x.split()[0] not in ("mjlab", "python")] == []


def test_extras_that_pages_install_are_declared():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"][
        "optional-dependencies"
    ]
    named = {
        name
        for line in LINES
        for found in re.findall(r"mjlab-fused\[([\w,-]+)\]", line.text)
        for name in found.split(",")
    }
    assert {"gym", "wandb"} <= named <= {*extras}


# --- Running --------------------------------------------------------------------------


def shorter(line: str) -> str:
    """Return a command that does the same in less time and opens no window."""
    words = [word.removesuffix(".py").rpartition("/")[2] for word in line.split()]
    program = words[0] if words[0] != "python" else words[1]
    program = words[1] if program == "mjlab" else program
    program = "motion record" if words[1:3] == ["motion", "record"] else program
    if "--help-config" in line:
        return line
    if words in ALONE:
        return f"{line} --help"
    if program in ("play", "demo"):
        with_film = "--video" in line
        steps = "--seconds 0.1" if "--seconds" in line else "--steps 3"
        return f"{line} {steps}" + ("" if with_film else " --viewer none")
    return f"{line} {SHORTER.get(program, '')}".strip()


def test_a_job_that_starts_again_resumes_its_run(tmp_path):
    page = (ROOT / "docs/howto/resume_a_run.md").read_text("utf-8")
    (script,) = re.findall(r"```bash\n(.*?)```", page, re.DOTALL)
    (tmp_path / "mjlab").write_text('#!/bin/sh\necho "$@"\n')
    (tmp_path / "mjlab").chmod(0o755)
    place = {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}

    def said() -> str:
        command = ["bash", "-c", script]
        return subprocess.run(
            command, cwd=tmp_path, env=place, capture_output=True, text=True
        ).stdout

    assert said() == "train Velocity-G1\n"
    (tmp_path / "logs/Velocity-G1/latest").mkdir(parents=True)
    assert said() == "train Velocity-G1\n"
    (tmp_path / "logs/Velocity-G1/latest/checkpoints").mkdir()
    assert said() == "train Velocity-G1 --resume latest\n"


def test_commands_are_shortened_by_options_of_their_program():
    train = "python scripts/train.py Velocity-G1"
    assert shorter(train) == f"{train} {SHORTER['train']}"
    assert shorter("mjlab demo") == "mjlab demo --steps 3 --viewer none"
    assert shorter("mjlab play x --video a.mp4 --seconds 20").endswith("--seconds 0.1")
    record = "python scripts/motion.py record Velocity-G1-Flat"
    assert shorter(record).endswith(SHORTER["motion record"])
    assert shorter(f"{train} --help-config env") == f"{train} --help-config env"
    assert shorter("mjlab exam") == "mjlab exam --help"


def type_line(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command as a user types it in the repository."""
    program, *arguments = shlex.split(line.replace("YOUR-TASK", TASK))
    module = ["-m", "mjlab"] if program == "mjlab" else []
    assert program in ("mjlab", "python"), line
    return subprocess.run(
        [sys.executable, *module, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "BROWSER": "true"},
        capture_output=True,
        text=True,
        timeout=900,
    )


@pytest.fixture(scope="module")
def trained(tmp_path_factory) -> Path:
    """A folder with a run, recordings and motions, as users have them."""
    top = tmp_path_factory.mktemp("trained")
    first = type_line(shorter(f"mjlab train {TASK}"), top)
    assert first.returncode == 0, first.stderr
    record(top / "recordings")
    shutil.copy(top / "recordings/a.h5", top / "demos.h5")
    clips = ROOT / "tasks/tracking/clips/g1"
    shutil.copy(clips / "wave.npz", top / "turn.npz")
    (top / "my_clips").mkdir()
    for name in ("walk", "bow"):
        shutil.copy(clips / f"{name}.npz", top / "my_clips")
    return top


def record(folder: Path) -> None:
    """Record four short episodes, with the observations of both groups."""
    import torch

    import mjlab
    from mjlab.gym import FlattenActionSpace, VectorEnv
    from mjlab.replay import RecordEpisode

    env = mjlab.make(TASK, num_envs=4, seed=0, max_episode_steps=5)
    env = FlattenActionSpace(env)
    env = RecordEpisode(env, folder, trajectory_name="a", save_video=False)
    env = VectorEnv(env)
    env.reset(seed=1)
    for _ in range(6):
        env.step(torch.zeros(4, 1))
    env.close()


@pytest.mark.slow
@pytest.mark.parametrize("page", RUN)
def test_commands_of_a_page_run(page, trained, tmp_path, renderer_works):
    for name in ("scripts", "docs", "tests", "tasks"):
        (tmp_path / name).symlink_to(ROOT / name)
    # A copy, because benchmarks write their results beside themselves.
    shutil.copytree(ROOT / "bench", tmp_path / "bench")
    shutil.copytree(trained, tmp_path, symlinks=True, dirs_exist_ok=True)
    wrong = []
    for line in RUN[page]:
        done = type_line(shorter(line), tmp_path)
        if done.returncode:
            wrong.append(f"{line}: {done.returncode}\n{done.stderr[-2000:]}")
    assert not wrong, "\n".join(wrong)
