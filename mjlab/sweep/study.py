"""Sweeps with Optuna, which samples values and prunes trials.

The study is a SQLite file in the sweep's folder. A trial is stored with its values
before its process starts, and stays "running" until its score is recorded. A resumed
sweep therefore finds every trial that was started.
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
"""Name of the study's file."""

REASON, IS_PRUNED, NAME = "reason", "is_pruned", "name"
"""User attributes of a trial: reason of its end, whether it was pruned, and Ray's
name."""

BELOW = "below the median of earlier trials"
"""Reason recorded for a pruned trial."""

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
    """Return a range as an Optuna distribution."""
    if one.kind == "choice":
        return CategoricalDistribution(one.choices)
    low, high = one.ends
    if one.kind == "int":
        return IntDistribution(int(low), int(high))
    return FloatDistribution(low, high, log=one.kind == "log")


def _draw(trial: optuna.Trial, one: Range) -> float | str:
    """Return a trial's value, which is sampled unless the study already has it."""
    if one.kind == "choice":
        return trial.suggest_categorical(one.path, one.choices)
    low, high = one.ends
    if one.kind == "int":
        return trial.suggest_int(one.path, int(low), int(high))
    return trial.suggest_float(one.path, low, high, log=one.kind == "log")


def open_study(folder: Path, *, seed: int, prunes: bool) -> Study:
    """Create or open the study of a sweep.

    Args:
        folder: The sweep's folder.
        seed: Seed of the sampler.
        prunes: Prune trials that are below the median of earlier trials.
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
        # A resumed sweep must not repeat earlier samples.
        study.sampler = optuna.samplers.TPESampler(seed=seed + len(study.trials))
    return study


@contextlib.contextmanager
def using_database(folder: Path) -> Iterator[None]:
    """Report an error of the study's database in one line.

    Args:
        folder: The sweep's folder.
    """
    try:
        yield
    except (optuna.exceptions.StorageInternalError, SQLAlchemyError) as error:
        # SQLite's error has the cause, such as a full disk. Optuna's message suggests
        # wrong data.
        found = error if isinstance(error, SQLAlchemyError) else error.__cause__
        cause = " ".join(str(getattr(found, "orig", None) or found or error).split())
        raise SweepError(
            f"{folder / DATABASE} cannot be used: {cause}. Finished trials are kept; "
            "resume with --resume when the disk works again."
        ) from error


class SweepRunner:
    """Runs several trials in parallel until a total number is reached.

    Only this process asks Optuna for trials. Workers that share a study need Optuna's
    heartbeat, which mistakes a slow trial for a dead one and starts it again.
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
            study: The study.
            trials: Settings shared by all trials.
            ranges: Ranges of the searched settings.
            say: Receives a line about each trial.
            after_trial: Called when a trial has ended.
        """
        self._study, self._trials = study, trials
        self._ranges = {one.path: one for one in ranges}
        self._say, self._after_trial = say, after_trial
        self._running: list[tuple[optuna.Trial, TrialProcess]] = []

    def run(self, count: int, *, processes: int) -> None:
        """Run trials up to a total of `count`, starting with interrupted ones."""
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
        """Start a trial, or only record its score if it has finished already."""
        name = trial_name(trial)
        run = self._trials.find(name)
        info = {} if run is None else run.info()
        if info.get("status") == "finished" or IS_PRUNED in trial.user_attrs:
            self._report(trial)
            self._tell(trial, TrialEnd("finished", info.get("reason", "")))
            return
        # Values of an interrupted trial are reused.
        drawn = {path: _draw(trial, one) for path, one in self._ranges.items()}
        texts = {path: one.text(drawn[path]) for path, one in self._ranges.items()}
        verb = "starts" if run is None else "resumed"
        told = ", ".join(f"{_last(path)} {text}" for path, text in texts.items())
        self._say(f"{name} {verb}: {told}")
        self._running.append((trial, TrialProcess(self._trials, name, texts)))

    def _watch(self) -> None:
        """Wait briefly, then process the progress of each trial."""
        time.sleep(_POLL_S)
        for trial, process in tuple(self._running):
            # Checked before the scores are read, so that the last score is not missed.
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
        """Record and report how a trial ended."""
        scores = self._frozen(trial.number).intermediate_values
        state, reason = TrialState.COMPLETE, ending.reason
        # A trial that finishes before it is stopped counts as finished.
        if IS_PRUNED in trial.user_attrs and not self._is_finished(trial):
            state, reason = TrialState.PRUNED, BELOW
        elif ending.status == "stopped":
            # Stopped from outside: it stays "running" and can be resumed.
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
        """Stop all trials if the sweep is stopped; they save and can be resumed."""
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
    """Return the share of each setting in the variance of the scores, by PED-ANOVA.

    Empty if too few trials are complete.
    """
    complete = study.get_trials(deepcopy=False, states=[TrialState.COMPLETE])
    if len(complete) < 4 or len({trial.value for trial in complete}) < 2:
        return {}
    found: dict[str, Any] = optuna.importance.get_param_importances(
        study, evaluator=optuna.importance.PedAnovaImportanceEvaluator()
    )
    return found
