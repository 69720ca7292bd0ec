"""A sweep by Optuna: which values to try next, and which trials to give up.

Its study is a SQLite file in the sweep's folder. A trial is in there, with its values,
before its process starts, and stays "running" until its score is told: so that whoever
goes on with a sweep that was cut off knows every trial that was begun.
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
        raise  # It is there, and misses something itself.
    raise ModuleNotFoundError(
        missing("mjlab.sweep.study", "Optuna", "sweep"),
        name=error.name,
    ) from error

DATABASE = "study.db"
"""Name of the file."""

REASON, IS_PRUNED, NAME = "reason", "is_pruned", "name"
"""Notes of a trial: why it ended, that it was given up, and a name that Ray gave it."""

BELOW = "below the median of earlier trials"
"""The reason of a trial that was given up."""

_POLL_S = 0.5
_LOCK_S = 60.0

optuna.logging.set_verbosity(optuna.logging.WARNING)


def trial_name(trial: optuna.Trial | FrozenTrial) -> str:
    """Return the name of a trial, by which its run is found.

    Raises:
        SweepError: If the study holds a name that is no safe file name.
    """
    name = trial.user_attrs.get(NAME, f"trial-{trial.number:03d}")
    return check_name(name, f"{DATABASE} names trial {trial.number}", SweepError)


def distribution_of(one: Range) -> BaseDistribution:
    """Return a range as Optuna takes it."""
    if one.kind == "choice":
        return CategoricalDistribution(one.choices)
    low, high = one.ends
    if one.kind == "int":
        return IntDistribution(int(low), int(high))
    return FloatDistribution(low, high, log=one.kind == "log")


def _draw(trial: optuna.Trial, one: Range) -> float | str:
    """Return the value of a trial, which is drawn unless the study has it already."""
    if one.kind == "choice":
        return trial.suggest_categorical(one.path, one.choices)
    low, high = one.ends
    if one.kind == "int":
        return trial.suggest_int(one.path, int(low), int(high))
    return trial.suggest_float(one.path, low, high, log=one.kind == "log")


def open_study(folder: Path, *, seed: int, prunes: bool) -> Study:
    """Open the study of a sweep, or begin it.

    Args:
        folder: The sweep's folder.
        seed: Seed of what is drawn.
        prunes: Give trials up that are below the median of those before them.
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
        # A sweep that goes on draws what it has not drawn yet.
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
        # SQLite says what is wrong, such as a full disk; Optuna guesses at the data.
        found = error if isinstance(error, SQLAlchemyError) else error.__cause__
        cause = " ".join(str(getattr(found, "orig", None) or found or error).split())
        raise SweepError(
            f"{folder / DATABASE} cannot be used: {cause}. Finished trials are kept; "
            "continue with --resume once the disk works again."
        ) from error


class SweepRunner:
    """Runs trials, several at a time, until there are as many as are wanted.

    Only this process asks Optuna. Workers that share a study need Optuna's heartbeat,
    which takes a slow trial for a dead one and runs it as a new trial.
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
        """Prepare.

        Args:
            study: The study.
            trials: What all trials share.
            ranges: What is searched.
            say: Takes a line about each trial.
            after_trial: Is called when one has ended.
        """
        self._study, self._trials = study, trials
        self._ranges = {one.path: one for one in ranges}
        self._say, self._after_trial = say, after_trial
        self._running: list[tuple[optuna.Trial, TrialProcess]] = []

    def run(self, count: int, *, processes: int) -> None:
        """Run trials until there are `count`, first those that were cut off."""
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
        """Start a trial, unless only its score was not told yet."""
        name = trial_name(trial)
        run = self._trials.find(name)
        info = {} if run is None else run.info()
        if info.get("status") == "finished" or IS_PRUNED in trial.user_attrs:
            self._report(trial)
            self._tell(trial, TrialEnd("finished", info.get("reason", "")))
            return
        # What was drawn before a sweep was cut off is drawn no second time.
        drawn = {path: _draw(trial, one) for path, one in self._ranges.items()}
        texts = {path: one.text(drawn[path]) for path, one in self._ranges.items()}
        verb = "starts" if run is None else "goes on"
        told = ", ".join(f"{_last(path)} {text}" for path, text in texts.items())
        self._say(f"{name} {verb}: {told}")
        self._running.append((trial, TrialProcess(self._trials, name, texts)))

    def _watch(self) -> None:
        """Wait a little, then note what has come of each trial."""
        time.sleep(_POLL_S)
        for trial, process in tuple(self._running):
            is_over = process.is_over()  # Before the scores are read, the last too.
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
        """Note how a trial ended, in the study and for who watches."""
        scores = self._frozen(trial.number).intermediate_values
        state, reason = TrialState.COMPLETE, ending.reason
        # One that is done before it hears that it is given up is as good as any.
        if IS_PRUNED in trial.user_attrs and not self._is_finished(trial):
            state, reason = TrialState.PRUNED, BELOW
        elif ending.status == "stopped":
            # By somebody else: it stays begun, and can go on.
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
        """Have all trials save and end if the sweep is stopped; they stay begun."""
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
    """Return the share of each setting in the spread of the scores, by PED-ANOVA.

    Empty where too few trials are complete for that.
    """
    complete = study.get_trials(deepcopy=False, states=[TrialState.COMPLETE])
    if len(complete) < 4 or len({trial.value for trial in complete}) < 2:
        return {}
    found: dict[str, Any] = optuna.importance.get_param_importances(
        study, evaluator=optuna.importance.PedAnovaImportanceEvaluator()
    )
    return found
