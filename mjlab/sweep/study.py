"""Run sweeps with Optuna, which samples values and prunes trials.

The study is a SQLite file in the sweep's folder. A trial is stored with its values
before its process starts, and is "running" until its score is recorded. So a resumed
sweep finds all trials that were started.
"""

# pyright: reportMissingImports=false

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from mjlab.extras import missing
from mjlab.safe_names import check_name
from mjlab.sweep.folder import SweepError
from mjlab.sweep.ranges import Range
from mjlab.sweep.trial import TrialEnd, TrialProcess, Trials

try:
    import optuna
    from optuna import Study as Study
    from optuna.distributions import (
        BaseDistribution,
        CategoricalDistribution,
        FloatDistribution,
        IntDistribution,
    )
    from optuna.trial import FrozenTrial as FrozenTrial
    from optuna.trial import TrialState as TrialState
    from sqlalchemy.exc import SQLAlchemyError
except ModuleNotFoundError as error:
    if (error.name or "").split(".")[0] not in ("optuna", "sqlalchemy"):
        raise  # The package exists, but one of its dependencies is missing.
    raise ModuleNotFoundError(
        missing("mjlab.sweep.study", "Optuna", "sweep"),
        name=error.name,
    ) from error

DATABASE = "study.db"
"""Name of the study's database file."""

REASON, IS_PRUNED, NAME = "reason", "is_pruned", "name"
"""User attributes of a trial: the reason why it ended, whether it was pruned, and its
name if Ray chose one."""

BELOW = "below the median of earlier trials"
"""Reason that is recorded for pruned trials."""

_POLL_S = 0.5
_LOCK_S = 60.0

optuna.logging.set_verbosity(optuna.logging.WARNING)


def trial_name(trial: optuna.Trial | FrozenTrial) -> str:
    """Return the name of a trial, which is also the name of its run.

    Raises:
        SweepError: If the name in the study is not a safe file name.
    """
    name = trial.user_attrs.get(NAME, f"trial-{trial.number:03d}")
    return check_name(name, f"{DATABASE} names trial {trial.number}", SweepError)


def distribution_of(one: Range) -> BaseDistribution:
    """Convert a range to an Optuna distribution."""
    if one.kind == "choice":
        return CategoricalDistribution(one.choices)
    low, high = one.ends
    if one.kind == "int":
        return IntDistribution(int(low), int(high))
    return FloatDistribution(low, high, log=one.kind == "log")


def _draw(trial: optuna.Trial, one: Range) -> float | str:
    """Return the value of a setting in a trial: the stored value, else a new sample."""
    if one.kind == "choice":
        return trial.suggest_categorical(one.path, one.choices)
    low, high = one.ends
    if one.kind == "int":
        return trial.suggest_int(one.path, int(low), int(high))
    return trial.suggest_float(one.path, low, high, log=one.kind == "log")


def open_study(folder: Path, *, seed: int, prunes: bool) -> Study:
    """Create or open the study of a sweep.

    Args:
        folder: Folder of the sweep.
        seed: Random seed of the sampler.
        prunes: Whether to stop trials that are below the median of earlier trials.
    """
    pruner = optuna.pruners.MedianPruner() if prunes else optuna.pruners.NopPruner()
    with using_database(folder):
        storage = optuna.storages.RDBStorage(
            f"sqlite:///{folder / DATABASE}",
            engine_kwargs={"connect_args": {"timeout": _LOCK_S}},
        )
        study = optuna.create_study(
            storage=storage,
            study_name="sweep",
            direction="maximize",
            pruner=pruner,
            load_if_exists=True,
        )
        # Change the seed of a resumed sweep, so that it does not repeat samples.
        study.sampler = optuna.samplers.TPESampler(seed=seed + len(study.trials))
    return study


@contextlib.contextmanager
def using_database(folder: Path) -> Iterator[None]:
    """Convert errors of the study's database to `SweepError` with the cause.

    Args:
        folder: Folder of the sweep.
    """
    try:
        yield
    except (optuna.exceptions.StorageInternalError, SQLAlchemyError) as error:
        # Report SQLite's cause, such as a full disk. Optuna's message would suggest
        # invalid data.
        found = error if isinstance(error, SQLAlchemyError) else error.__cause__
        cause = " ".join(str(getattr(found, "orig", None) or found or error).split())
        raise SweepError(
            f"{folder / DATABASE} cannot be used: {cause}. Finished trials are kept; "
            "resume with --resume when the disk works again."
        ) from error


class SweepRunner:
    """Runs trials in parallel until the study has a given number of trials.

    Only this process asks Optuna for trials. Several workers on one study would need
    Optuna's heartbeat, which restarts slow trials because it considers them dead.
    """

    def __init__(
        self,
        study: Study,
        trials: Trials,
        ranges: Sequence[Range],
        *,
        say: Callable[[str], object],
        after_trial: Callable[[], object],
    ) -> None:
        """Prepare the runner.

        Args:
            study: Study that records the trials.
            trials: Settings shared by all trials.
            ranges: Ranges of the searched settings.
            say: Called with a line of text when a trial starts or ends.
            after_trial: Called when a trial has ended.
        """
        self._study, self._trials = study, trials
        self._ranges = {one.path: one for one in ranges}
        self._say, self._after_trial = say, after_trial
        self._running: list[tuple[optuna.Trial, TrialProcess]] = []

    def run(self, count: int, *, processes: int) -> None:
        """Run trials until there are `count` in total. Interrupted trials come first.

        Args:
            count: Total number of trials, including earlier ones.
            processes: Number of trials that train in parallel.
        """
        with using_database(self._trials.folder), self._ending_processes():
            for trial in self._next(count):
                self._start(trial)
                while len(self._running) >= processes:
                    self._watch()
            while self._running:
                self._watch()

    def _next(self, count: int) -> Iterator[optuna.Trial]:
        left = self._study.get_trials(states=[TrialState.RUNNING])
        yield from (optuna.Trial(self._study, trial._trial_id) for trial in left)
        while len(self._study.get_trials(deepcopy=False)) < count:
            yield self._study.ask()

    def _start(self, trial: optuna.Trial) -> None:
        """Start or resume a trial. If its run has finished, only record the score."""
        name = trial_name(trial)
        run = self._trials.find(name)
        info = {} if run is None else run.info()
        if info.get("status") == "finished" or IS_PRUNED in trial.user_attrs:
            self._report(trial)
            self._tell(trial, TrialEnd("finished", info.get("reason", "")))
            return
        # The study returns the stored values of an interrupted trial.
        drawn = {path: _draw(trial, one) for path, one in self._ranges.items()}
        texts = {path: one.text(drawn[path]) for path, one in self._ranges.items()}
        verb = "starts" if run is None else "resumed"
        told = ", ".join(f"{_last(path)} {text}" for path, text in texts.items())
        self._say(f"{name} {verb}: {told}")
        self._running.append((trial, TrialProcess(self._trials, name, texts)))

    def _watch(self) -> None:
        """Wait briefly, then record scores, prune, and handle trials that ended."""
        time.sleep(_POLL_S)
        for trial, process in tuple(self._running):
            # Check this before reading scores, so that the last score is not missed.
            is_over = process.is_over()
            self._report(trial)
            if is_over:
                self._running.remove((trial, process))
                self._tell(trial, process.wait())
            elif IS_PRUNED not in trial.user_attrs and trial.should_prune():
                trial.set_user_attr(IS_PRUNED, True)
                process.stop()

    def _report(self, trial: optuna.Trial) -> None:
        known = self._frozen(trial.number).intermediate_values
        scores = self._trials.scores(trial_name(trial))
        for iteration, score in scores.items():
            if iteration not in known:
                trial.report(score, iteration)

    def _tell(self, trial: optuna.Trial, ending: TrialEnd) -> None:
        """Record the result of a trial in the study, and print it."""
        scores = self._frozen(trial.number).intermediate_values
        state, reason = TrialState.COMPLETE, ending.reason
        # A trial that finishes before the pruning stops it counts as finished.
        if IS_PRUNED in trial.user_attrs and not self._is_finished(trial):
            state, reason = TrialState.PRUNED, BELOW
        elif ending.status == "stopped":
            # A trial that a user stopped stays "running", so that it can be resumed.
            self._say(f"{trial_name(trial)} was stopped, because {reason}")
            return
        elif ending.status == "failed" or not scores:
            state = TrialState.FAIL
            reason = reason if ending.status == "failed" else "it has no score"
        trial.set_user_attr(REASON, reason)
        value = max(scores.values()) if state == TrialState.COMPLETE else None
        self._study.tell(trial.number, value, state)
        self._say(_line(self._frozen(trial.number)))
        self._after_trial()

    def _is_finished(self, trial: optuna.Trial) -> bool:
        run = self._trials.find(trial_name(trial))
        return run is not None and run.info().get("status") == "finished"

    def _frozen(self, number: int) -> FrozenTrial:
        return self._study.get_trials(deepcopy=False)[number]

    @contextlib.contextmanager
    def _ending_processes(self) -> Iterator[None]:
        """Stop all trials at the end of the block, after they save checkpoints."""
        try:
            yield
        finally:
            for _, process in self._running:
                process.stop()
            for _, process in self._running:
                process.wait()


def _line(trial: FrozenTrial) -> str:
    name = trial_name(trial)
    if trial.state == TrialState.COMPLETE:
        return f"{name} scores {trial.value:.4g}"
    word = "pruned" if trial.state == TrialState.PRUNED else "failed"
    last = trial.last_step
    where = "" if last is None else f" after iteration {last}"
    return f"{name} {word}{where}: {trial.user_attrs[REASON]}"


def _last(path: str) -> str:
    return path.rpartition(".")[2]


def importances(study: Study) -> dict[str, float]:
    """Return the fraction of the score variance that each setting explains (PED-ANOVA).

    Empty with fewer than four finished trials, or if all have the same score.
    """
    complete = study.get_trials(deepcopy=False, states=[TrialState.COMPLETE])
    if len(complete) < 4 or len({trial.value for trial in complete}) < 2:
        return {}
    found: dict[str, Any] = optuna.importance.get_param_importances(
        study, evaluator=optuna.importance.PedAnovaImportanceEvaluator()
    )
    return found
