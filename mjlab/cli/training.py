"""Train a policy in a run folder with checkpoints, report and ONNX file.

Combines the training loop with reports, exports, dumps and placements.
"""

import contextlib
import dataclasses
import logging
import os
import secrets
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

import mjlab
from mjlab.cli.answers import as_called
from mjlab.cli.examine import examine_figures
from mjlab.cli.memory import require_memory
from mjlab.doctor import save as save_findings
from mjlab.doctor.watch import WatchedDisplay
from mjlab.envs import ManagerBasedRlEnv, ManagerBasedRlEnvCfg
from mjlab.envs.config import check_config
from mjlab.export import NEEDS, ExportError, is_installed
from mjlab.files import CannotWriteError, make_folders, saying_why, write_text
from mjlab.provenance import versions
from mjlab.registry import entries
from mjlab.replay.dumps import DumpFolder
from mjlab.replay.flight_recorder import FlightRecorder
from mjlab.report import REPORT, write_report
from mjlab.rl.check import check_agent, groups_of
from mjlab.rl.config import AgentCfg
from mjlab.rl.console import Display, open_display
from mjlab.rl.distributed import Ranks
from mjlab.rl.hook import Hook
from mjlab.rl.initial_weights import take_weights
from mjlab.rl.logging import writing
from mjlab.rl.loop import TrainingLoop, TrainingResult
from mjlab.rl.vecenv import TrainingEnv
from mjlab.runs import Checkpoints, Run, find
from mjlab.runs.run import KEPT_DEFAULTS, VIDEOS
from mjlab.runs.settings import task_text
from mjlab.settings.file import read_out
from mjlab.viewer.training_video import TrainingVideo, VideoSchedule
from mjlab.workers.placement import Placement, placement_lines

_log = logging.getLogger(__name__)


def train(
    env_cfg: ManagerBasedRlEnvCfg,
    agent_cfg: AgentCfg,
    *,
    task: str,
    name: str = "",
    root: Path = Path("logs"),
    device: str | None = None,
    resume: Path | None = None,
    exact: bool = True,
    chosen: Collection[str] = (),
    init_from: Path | None = None,
    critic_first: int = 0,
    defaults: Mapping[str, Any] | None = None,
    make_hooks: Callable[[TrainingEnv], Sequence[Hook]] | None = None,
    display: Display | None = None,
    placement: Placement | None = None,
    notes: Sequence[str] = (),
    video: VideoSchedule | None = None,
) -> tuple[Run, TrainingResult]:
    """Train in a run folder, alone or as one of the processes of `torchrun`.

    Writes the policy, a report and, unless the run is stopped, an ONNX file.

    Args:
        env_cfg: The environment; `num_envs` is the number per process.
        agent_cfg: The learner.
        task: Task id, part of the folder's name.
        name: Name of the run, chosen by the user.
        root: Folder of all runs.
        device: Training device. None selects this process's GPU if available.
        resume: Run or checkpoint to resume, in the same folder.
        exact: Resume bit for bit; see `TrainingLoop.resume`.
        chosen: Paths of the settings that the user typed; see `TrainingLoop.resume`.
        init_from: Run or checkpoint with initial weights; see `take_weights`.
        critic_first: Iterations with `init_from` in which only the critic learns.
        defaults: The task's configurations before the user's changes, as "env" and
            "agent", for comparison in the report.
        make_hooks: Function that creates hooks to run after each iteration, in addition
            to `agent_cfg.hooks`.
        display: Shows progress. None shows it on standard output.
        placement: Devices of simulation and learner, instead of `device`. None runs
            both on one device, in this process.
        notes: Lines to show at the start.
        video: Schedule of the training steps to film. A video of the last policy is
            recorded at the end. None films nothing.
    """
    ranks = Ranks.from_environment()
    device = ranks.device(device if placement is None else placement.device)
    physics = device if placement is None else placement.physics
    ranks.join(device)
    env_cfg = _settled(env_cfg, ranks)
    check_config(env_cfg)
    check_agent(agent_cfg, groups_of(env_cfg), env_cfg.scene.num_envs)
    # Raise before the worlds are built if the configurations cannot be written.
    configs = {"env": env_cfg, "agent": agent_cfg}
    text, settings = task_text(task, configs), read_out(configs)
    # The run stores `env_cfg`, which has the physics settings of training in
    # `env_cfg.sim.training`. Evaluation, play and export do not use them.
    stepped = env_cfg.for_training()
    require_memory(stepped, agent_cfg, physics, processes=ranks.local_world)
    first_world = ranks.index * env_cfg.scene.num_envs
    env = _build(stepped, placement, device, first_world, task)
    run = _open_folder(env_cfg, agent_cfg, ranks, task, name, root, resume)
    record = _recording(run) if ranks.is_first else contextlib.nullcontext()
    with contextlib.ExitStack() as stack:
        stack.callback(env.close)
        stack.enter_context(_lock(run, ranks))
        # A resumed run is written to only after `loop.resume` has succeeded.
        if resume is None:
            stack.enter_context(record)
            if ranks.is_first and defaults is not None:
                write_text(run.path / KEPT_DEFAULTS, task_text(task, defaults))
        if ranks.is_first:
            shown = display or open_display(f"{task}  {run.path}")
            display = WatchedDisplay(shown, settings)
        loop = TrainingLoop(
            env,
            agent_cfg,
            checkpoints=Checkpoints(
                run.path / "checkpoints", keep=agent_cfg.checkpoint.keep
            ),
            make_eval_env=_eval_maker(env_cfg, agent_cfg, placement, physics),
            hooks=_hooks(agent_cfg, env, make_hooks),
            display=display,
            ranks=ranks,
            config_text=text,
        )
        if resume is not None:
            loop.resume(resume, exact=exact, chosen=chosen)
            if ranks.is_first:
                changes, seed = loop.changes, env_cfg.seed
                run.reopen(loop.iteration, text, seed=seed, changes=changes)
            stack.enter_context(record)
        taken = _take_weights(loop, init_from, critic_first)
        stack.enter_context(_recorder(loop, run, task, text, display))
        if ranks.is_first and resume is None:
            # After everything that refuses settings, so "latest" stays usable.
            run.point_latest()
        if ranks.is_first and display is not None:
            start = [*_start(loop, placement), *_judged(env_cfg)]
            lines = [*notes, *taken, *_changed(loop), *start]
            for line in [f"Run folder: {run.path}", *lines]:
                display.say(line)
            loop.writers = stack.enter_context(
                writing(
                    run.path,
                    agent_cfg.logging,
                    start=loop.iteration,
                    config=settings.values,
                )
            )
        with _filming(loop, run, task, video, display):
            outcome = loop.run()
        if ranks.is_first:
            run.finish("stopped" if outcome.interrupted else "finished", outcome.reason)
            if display is not None:
                stopped = outcome.interrupted
                if not stopped:
                    display.say("Writing the ONNX file.")
                display.say(_unexported(run) if stopped else _export(run, configs))
                if video is not None and not stopped:
                    display.say("Recording a video of the policy.")
                    display.say(record_film(run))
    ranks.leave()
    return run, outcome


def _filming(
    loop: TrainingLoop,
    run: Run,
    task: str,
    schedule: VideoSchedule | None,
    display: Display | None,
) -> contextlib.AbstractContextManager[object]:
    """Return a context that films a training world in the first process."""
    if schedule is None or display is None or not loop.ranks.is_first:
        return contextlib.nullcontext()
    if not isinstance(loop.env, ManagerBasedRlEnv):
        display.say(
            "No videos of the training: worlds are in worker processes. The last "
            "policy is filmed at the end."
        )
        return contextlib.nullcontext()
    return TrainingVideo(
        loop.env,
        run.path / VIDEOS / "train",
        schedule,
        say=display.say,
        title=task,
        iteration=lambda: loop.iteration,
        start=loop.iteration * loop.cfg.num_steps_per_env,
    )


FILM = Path(VIDEOS, "policy.mp4")
"""Video of the policy at the end of training, in the run's folder."""


def record_film(run: Run) -> str:
    """Record a video of a run's policy, update the report, and return the video's path.

    A separate process records the video, because rendering needs other library settings
    and the training process does not return freed memory to the system.
    """
    film = run.path / FILM
    make_folders(film.parent)
    paths = [str(Path(mjlab.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    done = subprocess.run(
        [
            *(sys.executable, "-m", "mjlab", "play", str(run.path)),
            *("--video", str(film), *_task_option(run)),
        ],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        said = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        return f"No video was recorded. {said[-1].removeprefix('error: ')}"
    write_report(run.path)
    return f"Video: {shown_path(film)}"


def next_commands(run: Run, *, stopped: bool = False) -> str:
    """Return the commands that inspect a run.

    Args:
        run: The run.
        stopped: Whether it was stopped; then the first command resumes it.
    """
    folder = shown_path(run.path)
    place = " ".join([str(folder), *_task_option(run)])
    lines = [
        "Next:",
        f"  watch the policy   python scripts/play.py {place}",
        f"  show all curves    python scripts/report.py {folder} --open",
        f"  find problems      python scripts/doctor.py {place}",
    ]
    if stopped:
        task = _task_option(run)[1:] or [run.task]
        words = " ".join([*task, "--resume", str(folder)])
        lines.insert(1, f"  continue           python scripts/train.py {words}")
    return "\n".join(lines)


def _task_option(run: Run) -> list[str]:
    """Return the option that opens a run of a task from a file; empty for others."""
    entry = entries().get(run.task)
    if entry is None or entry.file is None:
        return []
    path, _, name = entry.words.rpartition(":")
    return ["--task", f"{shown_path(Path(path))}:{name}"]


def shown_path(path: Path) -> Path:
    """Return a path as a user types it: relative if below the working directory."""
    here, there = Path.cwd().resolve(), path.resolve()
    return there.relative_to(here) if there.is_relative_to(here) else there


def _take_weights(
    loop: TrainingLoop, place: Path | None, critic_first: int
) -> list[str]:
    """Initialise from another run's weights, if one is named; return lines to show."""
    if place is None:
        return []
    loop.learner.critic_first = critic_first
    return take_weights(place, loop.learner, loop.worlds, loop.cfg)


def _changed(loop: TrainingLoop) -> list[str]:
    """Return the line about settings that changed when the run was resumed."""
    return [f"Changed settings: {', '.join(loop.changes)}."] if loop.changes else []


def _hooks(
    cfg: AgentCfg,
    env: TrainingEnv,
    make_more: Callable[[TrainingEnv], Sequence[Hook]] | None,
) -> tuple[Hook, ...]:
    """Return the hooks that run after each iteration."""
    own = [hook.bind(name, env) for name, hook in cfg.hooks.items() if hook]
    return (*own, *(() if make_more is None else make_more(env)))


def _build(
    cfg: ManagerBasedRlEnvCfg,
    placement: Placement | None,
    device: str,
    first_world: int,
    task: str,
) -> TrainingEnv:
    """Build the worlds of this process."""
    if placement is not None:
        return placement.build(cfg, first_world=first_world, task=task)
    return ManagerBasedRlEnv(cfg, device=device, first_world=first_world, task=task)


def _start(loop: TrainingLoop, placement: Placement | None) -> list[str]:
    """Return the lines to show when training starts."""
    env = loop.env
    lines = env.startup_lines()
    if loop.cfg.dumps.enabled and not isinstance(env, ManagerBasedRlEnv):
        lines.append("No dumps are recorded: worlds are in worker processes.")
    return lines if placement is None else [*lines, *placement_lines(placement, loop)]


def _judged(cfg: ManagerBasedRlEnvCfg) -> list[str]:
    """Return a line about the physics of evaluation, if it differs from training."""
    if cfg.sim.training is None:
        return []
    step = f"{cfg.decimation} steps of {1000 * cfg.sim.mujoco.timestep:g} ms"
    return [f"Evaluation and play: {step} per action (see env.sim.training)."]


def _lock(run: Run, ranks: Ranks) -> contextlib.AbstractContextManager[None]:
    """Lock the run's folder against other training processes."""
    return run.lock() if ranks.is_first else contextlib.nullcontext()


@contextlib.contextmanager
def _recording(run: Run) -> Iterator[None]:
    """Record the outcome of training, and write its report, also after an error."""
    try:
        with run.recording():
            yield
    finally:
        try:
            with saying_why(run.path / REPORT):
                save_findings(run.path, examine_figures(run), "the run's figures")
                write_report(run.path)
        except CannotWriteError as error:
            _log.warning("%s", error)
        except Exception:
            # An error in the report must not fail a successful run.
            _log.exception(
                "The report of %s was not written; scripts/report.py shows why.",
                run.path,
            )


def _export(run: Run, configs: Mapping[str, Any]) -> str:
    """Write the policy to an ONNX file; return a line to show.

    An error of the export does not fail the run.
    """
    if not is_installed():
        return f"No ONNX file was written. {NEEDS}"
    from mjlab.export import export_run

    try:
        return f"ONNX file: {shown_path(export_run(run, configs).path)}"
    except (ExportError, CannotWriteError) as error:
        return f"No ONNX file was written. {error}"
    except Exception:
        _log.exception("No ONNX file was written; scripts/export.py shows why.")
        return "No ONNX file was written."


def _unexported(run: Run) -> str:
    """Return a line on how to export a run that was stopped."""
    words = [shown_path(run.path), *_task_option(run)]
    return (
        "No ONNX file was written, because the run was stopped. Export its last "
        f"checkpoint with: {as_called('python scripts/export.py')} "
        f"{' '.join(map(str, words))}"
    )


def _recorder(
    loop: TrainingLoop, run: Run, task: str, text: str, display: Display | None
) -> contextlib.AbstractContextManager[object]:
    """Record the last steps, and dump them if a fault occurs in a world."""
    cfg, env, ranks = loop.cfg.dumps, loop.env, loop.ranks
    # Worlds in worker processes cannot be recorded here.
    if not cfg.enabled or not isinstance(env, ManagerBasedRlEnv):
        return contextlib.nullcontext()
    folder = DumpFolder(
        run.path / "dumps" if ranks.is_alone else run.path / f"dumps/rank{ranks.index}",
        cfg,
        task=task,
        config_text=text,
        about={"run": run.path.name, "versions": versions()},
        first_world=ranks.index * env.num_envs,
        play_options=_task_option(run),
        say=_log.warning if display is None else display.say,
    )
    # Faults are checked once per iteration.
    steps = max(loop.cfg.num_steps_per_env, cfg.steps or 0)
    return FlightRecorder(env, folder, steps=steps, iteration=lambda: loop.iteration)


def _settled(cfg: ManagerBasedRlEnvCfg, ranks: Ranks) -> ManagerBasedRlEnvCfg:
    """Return a copy of `cfg` with thread counts and a seed that all processes share."""
    seed = secrets.randbits(31) if cfg.seed is None else cfg.seed
    threads = cfg.sim.num_threads
    if threads is None and not ranks.is_alone:
        # Processes on one machine share its processors.
        threads = ranks.threads()
    sim = dataclasses.replace(cfg.sim, num_threads=threads)
    return dataclasses.replace(cfg, seed=ranks.share_number(seed), sim=sim)


def _open_folder(
    env_cfg: ManagerBasedRlEnvCfg,
    agent_cfg: AgentCfg,
    ranks: Ranks,
    task: str,
    name: str,
    root: Path,
    resume: Path | None,
) -> Run:
    """Return the run's folder, which the first process creates or opens."""
    path = ""
    if ranks.is_first and resume is not None:
        path = str(find(resume, root).run.path)
    elif ranks.is_first:
        assert env_cfg.seed is not None
        configs = {"env": env_cfg, "agent": agent_cfg}
        run = Run.create(root, task, name, configs=configs, seed=env_cfg.seed)
        path = str(run.path.resolve())
    return Run(Path(ranks.share_text(path)))


def _eval_maker(
    cfg: ManagerBasedRlEnvCfg,
    agent: AgentCfg,
    placement: Placement | None,
    device: str,
) -> Callable[[], ManagerBasedRlEnv]:
    """Return a function that builds the evaluation environment."""
    scene = dataclasses.replace(cfg.scene, num_envs=agent.evaluation.num_envs)
    evaluated = dataclasses.replace(cfg, scene=scene, seed=agent.evaluation.seed)
    if placement is not None:
        evaluated = placement.applied(evaluated)
    return lambda: ManagerBasedRlEnv(evaluated, device=str(torch.device(device)))
