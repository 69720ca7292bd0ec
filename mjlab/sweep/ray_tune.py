"""Run sweeps with Ray Tune on a local cluster. Optuna samples the values.

Trials have the same processes and run folders as in sweeps with Optuna. Their results
are also recorded in an Optuna study, which the results page reads.
"""

# pyright: reportMissingImports=false

import json
import os
import time
from pathlib import Path
from typing import Any

from mjlab.sweep.folder import Search, Trials, texts_of
from mjlab.sweep.study import (
    BELOW,
    NAME,
    REASON,
    Study,
    TrialState,
    distribution_of,
)
from mjlab.sweep.trial import TrialProcess

try:
    import optuna
    import ray
    from optuna.trial import create_trial
    from ray import tune
    from ray.tune.schedulers import FIFOScheduler, MedianStoppingRule
    from ray.tune.search.optuna import OptunaSearch
except ModuleNotFoundError as error:
    if (error.name or "").split(".")[0] != "ray":
        raise  # The package exists, but one of its dependencies is missing.
    raise ModuleNotFoundError(
        "mjlab.sweep.ray_tune needs Ray Tune, which is not installed: "
        "pip install 'ray[tune]'.",
        name=error.name,
    ) from error

_SCORE, _ITERATION = "score", "iteration"
_POLL_S = 0.5
_STARTUP_TRIALS = 5
_FOLDER = "ray"


class RayTrial(tune.Trainable):
    """Trial that Ray starts, polls for scores, and stops."""

    def setup(self, config: dict[str, Any], **shared: Any) -> None:
        """Start or resume the training process.

        Args:
            config: Values of the trial, by setting.
            shared: Objects of all trials: `trials` and `search`.
        """
        self._reported: set[int] = set()
        trials: Trials = shared["trials"]
        search: Search = shared["search"]
        texts = texts_of(search.ranges, config)
        self._process = TrialProcess(trials, f"trial-{self.trial_id}", texts)

    def step(self) -> dict[str, Any]:
        """Wait for a new score or the trial's end; return the best score so far."""
        while True:
            # Check this before reading scores, so that the last score is not missed.
            is_over = self._process.is_over()
            scores = self._process.scores()
            new = [iteration for iteration in scores if iteration not in self._reported]
            if new:
                iteration = min(new)
                self._reported.add(iteration)
                best = max(v for i, v in scores.items() if i <= iteration)
                return {_SCORE: best, _ITERATION: iteration, "done": False}
            if is_over:
                return self._end(scores)
            time.sleep(_POLL_S)

    def _end(self, scores: dict[int, float]) -> dict[str, Any]:
        ending = self._process.wait()
        if ending.status == "failed" or not scores:
            raise RuntimeError(ending.reason)
        last = {_SCORE: max(scores.values()), _ITERATION: max(scores)}
        return {**last, "done": True}

    def cleanup(self) -> None:
        """Stop the training, and wait until it has saved a checkpoint."""
        self._process.stop()
        self._process.wait()

    def save_checkpoint(self, checkpoint_dir: str) -> None:
        """Save nothing: `train.py` saves checkpoints in the run's folder."""

    def load_checkpoint(self, checkpoint: dict[str, Any] | str | None) -> None:
        """Load nothing: `setup` resumes the run."""


def search_by_ray(
    search: Search,
    trials: Trials,
    study: Study,
    count: int,
    processes: int,
) -> None:
    """Start or resume a sweep on a local Ray cluster, and record it in a study.

    Args:
        search: Definition of the sweep.
        trials: Settings shared by all trials.
        study: Study in which the trials are recorded.
        count: Total number of trials.
        processes: Number of trials that train in parallel.
    """
    # Ray must not change the directory: command-line paths can be relative.
    os.environ["RAY_CHDIR_TO_TRIAL_DIR"] = "0"
    ray.init(
        num_cpus=processes,
        include_dashboard=False,
        log_to_driver=False,
        _node_ip_address="127.0.0.1",
    )
    try:
        results = _tuner(search, trials, count, processes).fit()
    finally:
        ray.shutdown()
    spread = {one.path: distribution_of(one) for one in search.ranges}
    noted = {trial.user_attrs[NAME] for trial in study.get_trials(deepcopy=False)}
    for result in results:
        place = Path(result.path)
        name = f"trial-{place.name}"
        # Read the values from Ray's file: the result of a trial that failed before its
        # first score does not contain them.
        params = json.loads((place / "params.json").read_text("utf-8"))
        if name not in noted:
            study.add_trial(
                create_trial(
                    **_outcome(trials, name, result.error),
                    params=params,
                    distributions=spread,
                )
            )


def _outcome(trials: Trials, name: str, error: Exception | None) -> dict[str, Any]:
    """Return state, score and attributes of a trial, from its run."""
    run, scores = trials.find(name), trials.scores(name)
    info = {} if run is None else run.info()
    state, reason = TrialState.FAIL, str(error or info.get("reason"))
    if scores and info.get("status") == "finished":
        state = TrialState.COMPLETE
    elif scores and error is None:
        state, reason = TrialState.PRUNED, BELOW
    return {
        "state": state,
        "value": max(scores.values()) if state == TrialState.COMPLETE else None,
        "intermediate_values": scores,
        "user_attrs": {NAME: name, REASON: reason},
    }


def _tuner(search: Search, trials: Trials, count: int, processes: int) -> tune.Tuner:
    """Create a tuner, or restore the tuner of an interrupted sweep."""
    trainable = tune.with_parameters(RayTrial, trials=trials, search=search)
    place = (trials.folder / _FOLDER).resolve()
    if place.is_dir():
        return tune.Tuner.restore(
            str(place), trainable=trainable, resume_unfinished=True
        )
    goal: dict[str, Any] = {"metric": _SCORE, "mode": "max"}
    chooser = OptunaSearch(
        space={one.path: distribution_of(one) for one in search.ranges},
        sampler=optuna.samplers.TPESampler(seed=search.seed),
        **goal,
    )
    stopper = MedianStoppingRule(
        time_attr=_ITERATION,
        grace_period=0,
        min_samples_required=_STARTUP_TRIALS,
        **goal,
    )
    return tune.Tuner(
        trainable,
        tune_config=tune.TuneConfig(
            num_samples=count,
            search_alg=chooser,
            scheduler=stopper if search.prunes else FIFOScheduler(),
            max_concurrent_trials=processes,
            trial_dirname_creator=lambda trial: trial.trial_id,
        ),
        run_config=tune.RunConfig(
            name=place.name, storage_path=str(place.parent), verbose=0
        ),
    )
