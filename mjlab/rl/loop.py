"""Training loop: collect, update, evaluate and save until a stop condition."""

import contextlib
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from mjlab.envs import ManagerBasedRlEnv
from mjlab.rl.algorithms.config import ObservedActionsCfg
from mjlab.rl.checkpoint import load_model, save_best, save_checkpoint
from mjlab.rl.config import AgentCfg, DistillationAgentCfg, PpoAgentCfg
from mjlab.rl.console import Display, Progress
from mjlab.rl.distributed import Ranks
from mjlab.rl.evaluation import Evaluation
from mjlab.rl.figures import IterationFigures, Number, Scores, Stopwatch, merged
from mjlab.rl.hook import Hook
from mjlab.rl.learners import Learner
from mjlab.rl.logging import Writer
from mjlab.rl.signals import Interrupts
from mjlab.rl.state import RunState, seed_everything
from mjlab.rl.vecenv import RslRlVecEnv, TrainingEnv, terms_of
from mjlab.runs import Checkpoints
from mjlab.runs.checkpoints import find_checkpoint
from mjlab.runs.run import shipped_with
from mjlab.threads import torch_threads


@dataclass(frozen=True)
class TrainingResult:
    """Result of a training run."""

    reason: str
    """Reason for stopping, as text."""

    interrupted: bool
    """True if a signal stopped the run before it finished."""

    signal: int
    """Number of the signal that this process received, 0 if none."""

    iteration: int
    """Finished iterations."""

    figures: dict[str, float]
    """Metrics of the last iteration."""

    best: float | None
    """Best score, None without a score."""

    checkpoint: Path | None
    """Path of the last checkpoint."""


class TrainingLoop:
    """Train a policy.

    The generators of Python, NumPy and torch are seeded with the environment's seed.
    The worlds use separate random streams.
    """

    def __init__(
        self,
        env: TrainingEnv,
        cfg: AgentCfg,
        *,
        checkpoints: Checkpoints | None = None,
        make_eval_env: Callable[[], ManagerBasedRlEnv] | None = None,
        hooks: Sequence[Hook] = (),
        writers: Sequence[Writer] = (),
        display: Display | None = None,
        ranks: Ranks | None = None,
        config_text: str = "",
    ) -> None:
        """Reset the worlds and build the learner.

        Args:
            env: The worlds of this process.
            cfg: The learner.
            checkpoints: Checkpoints of the run. None disables saving.
            make_eval_env: Builds the evaluation worlds. None disables evaluations.
            hooks: Hooks that run after each iteration.
            writers: Writers of metrics; only the first process uses them.
            display: Display of progress; only the first process uses it.
            ranks: Rank of this process.
            config_text: The run's configuration, recorded in checkpoints by its hash.
        """
        self.env = env
        self.cfg = cfg
        self.ranks = ranks or Ranks()
        seed_everything(env.seed)
        groups = {group for seen in cfg.obs_groups.values() for group in seen}
        self.worlds = RslRlVecEnv(
            env,
            groups=sorted(groups),
            clip_actions=cfg.clip_actions,
            splits_rewards=isinstance(cfg, PpoAgentCfg) and bool(cfg.critics),
        )
        """The environment in RSL-RL's interface."""
        self.learner = Learner(self.worlds, cfg, self.ranks)
        """Networks and algorithm."""
        seed_everything(env.seed + 1 + self.ranks.index)
        self.hooks = tuple(hooks)
        self.iteration = 0
        """Finished iterations."""
        self.figures: dict[str, float] = {}
        """Metrics of the last iteration."""
        self._checkpoints = checkpoints
        self.writers: Sequence[Writer] = writers if self.ranks.is_first else ()
        """Writers of metrics. A resumed run opens them once its iteration is known."""
        self._display = display if self.ranks.is_first else None
        self._config_text = config_text
        self._evaluation: Evaluation | None = None
        if make_eval_env is not None and self.ranks.is_first and cfg.evaluation.every:
            self._evaluation = Evaluation(make_eval_env, cfg, self.hooks)
        self._evaluates = make_eval_env is not None and cfg.evaluation.every > 0
        self._gathered = IterationFigures(env, self.ranks, cfg.logging.window)
        default = "Eval/mean_reward" if self._evaluates else "Train/mean_reward"
        metric, stop = cfg.stop.metric or default, cfg.stop
        self._scores = Scores(metric, target=stop.target, patience=stop.patience)
        parts = (self.learner, self._gathered, self._scores, self.hooks)
        self._state = RunState(self.worlds, cfg, self.ranks, *parts)
        self._seconds_before = 0.0
        self._interrupts = Interrupts()
        self._started = 0.0
        self._seconds = 0.0
        self._saved: Path | None = None
        self._first = 0
        self._needs_spread = cfg.init_at_random_ep_len
        self.changes: list[str] = []
        """Settings that changed in `resume`, each as "path before -> after"."""

    # Training.

    def run(self) -> TrainingResult:
        """Train until a stop condition, and save."""
        self._begin()
        if self.iteration == 0:
            # The run can be played and resumed at any time.
            self.save()
        with self._interrupts, self._display or contextlib.nullcontext():
            while (reason := self._reason_to_stop()) is None:
                self._iterate()
            self._finish()
        return TrainingResult(
            reason=reason,
            interrupted=bool(self._interrupts.agreed),
            signal=int(self._interrupts.received),
            iteration=self.iteration,
            figures=self.figures,
            best=self._scores.best,
            checkpoint=self._saved,
        )

    def _iterate(self) -> None:
        """Run one iteration: collect, update, log and save."""
        watch = Stopwatch(self.env.device)
        self._collect()
        watch.lap("collect")
        losses = self.learner.update(self.iteration)
        watch.lap("learn")
        self.iteration += 1
        found: dict[str, Number] = {}
        if self._is_due(self.cfg.evaluation.every) and self._evaluates:
            found |= self._evaluate()
        for hook in self.hooks:
            found = merged(found, hook.after_iteration(self))
        self.figures = self._read(losses, found, watch)
        self._judge()
        self._report()
        if self._is_due(self.cfg.checkpoint.every):
            self.save()

    def _collect(self) -> None:
        """Collect a rollout, and compute returns.

        Physics uses all processors. Torch has little work here and uses one thread.
        """
        algorithm, worlds = self.learner.algorithm, self.worlds
        on_cpu = self.env.device.type == "cpu"
        threads = torch_threads(1) if on_cpu else contextlib.nullcontext()
        with torch.no_grad(), threads:
            observations = worlds.begin_rollout()
            for _ in range(self.cfg.num_steps_per_env):
                actions = algorithm.act(observations)
                observations, reward, dones, extras = worlds.step(actions)
                algorithm.process_env_step(observations, reward, dones, extras)
                self._gathered.tally.add(reward, dones)
            algorithm.compute_returns(observations)

    def _evaluate(self) -> dict[str, Number]:
        """Evaluate the policy without exploration, in the first process only."""
        outcomes = terms_of(self.env).outcome_manager.active_terms
        names = ["mean_reward", "mean_episode_length", "finished"]
        names += [f"{name}_{kind}" for kind in ("once", "at_end") for name in outcomes]
        names = [f"Eval/{name}" for name in names]
        if self._evaluation is None:
            return dict.fromkeys(names, 0.0)
        self.learner.inference.follow(self.learner.averaged_policy)
        on_cpu = self.env.device.type == "cpu"
        with torch_threads(1) if on_cpu else contextlib.nullcontext():
            scores = self._evaluation.run(self.learner.inference)
        # The other processes contribute zeros to the mean over processes.
        return {name: scores[name] * self.ranks.world for name in names}

    def _read(
        self,
        losses: Mapping[str, float],
        found: Mapping[str, Number],
        watch: Stopwatch,
    ) -> dict[str, float]:
        """Read all metrics from the device: an iteration's only synchronisation."""
        learner = self.learner
        figures, tally = self._gathered.read(
            {f"Loss/{name}": value for name, value in losses.items()},
            {"Policy/mean_std": learner.action_std},
            {"loop/seconds": time.perf_counter() - self._started},
            {"loop/signal": self._interrupts.received},
            found,
        )
        self._seconds = figures.pop("loop/seconds")
        self._interrupts.agree(figures.pop("loop/signal"))
        return figures | {
            "Train/env_steps": float(self.env_steps),
            "Policy/learning_rate": learner.learning_rate,
            **self._performance(tally["steps"], watch),
        }

    def _performance(self, steps: float, watch: Stopwatch) -> dict[str, float]:
        laps = watch.seconds()
        total = max(sum(laps.values()), 1e-9)
        return {
            "Perf/steps_per_s": steps / total,
            "Perf/collect_s": laps["collect"],
            "Perf/learn_s": laps["learn"],
            "Perf/seconds": self._seconds_before + self._seconds,
        }

    def _judge(self) -> None:
        """Save the policy if it is the best so far."""
        every = self.cfg.evaluation.every if self._evaluates else 0
        # Training metrics change in every iteration; scoring each would save too often.
        if not self._is_due(every or self.cfg.checkpoint.every):
            return
        is_best = self._scores.judge(self.figures)
        if is_best and self._checkpoints is not None and self.ranks.is_first:
            state, score = self._model_state(), self._scores.best
            save_best(self._checkpoints, self.iteration, state, score)

    def _report(self) -> None:
        for writer in self.writers:
            writer.write(self.iteration, self.figures)
        if self._display is not None:
            self._display.show(self.progress, self.figures)

    # Stopping.

    def _reason_to_stop(self) -> str | None:
        """Return a reason to stop, from values that are equal in all processes."""
        stop = self.cfg.stop
        if self._interrupts.agreed:
            return self._interrupts.reason
        if self.iteration >= self.cfg.max_iterations:
            return f"{self.iteration} of {self.cfg.max_iterations} iterations"
        if stop.max_env_steps is not None and self.env_steps >= stop.max_env_steps:
            return f"stop.max_env_steps reached, with {self.env_steps} steps"
        if stop.max_seconds is not None and self._seconds >= stop.max_seconds:
            return f"stop.max_seconds reached, after {self._seconds:.0f} s"
        return self._scores.reason_to_stop(self.figures)

    @property
    def env_steps(self) -> int:
        """Total steps of all worlds of all processes."""
        worlds = self.env.num_envs * self.ranks.world
        return self.iteration * self.cfg.num_steps_per_env * worlds

    @property
    def progress(self) -> Progress:
        """Progress of the training."""
        done = self.iteration - self._first
        left = self.cfg.max_iterations - self.iteration
        return Progress(
            iteration=self.iteration,
            max_iterations=self.cfg.max_iterations,
            env_steps=self.env_steps,
            seconds=self._seconds,
            remaining=self._seconds / done * left if done else None,
        )

    def _is_due(self, every: int) -> bool:
        return every > 0 and self.iteration % every == 0

    def _begin(self) -> None:
        self._started = time.perf_counter()
        self._first = self.iteration
        if self._needs_spread:
            self.worlds.randomize_episode_lengths()
            self._needs_spread = False
        if self.iteration == 0:
            for hook in self.hooks:
                hook.before_first_iteration(self)
        cfg = self.cfg
        is_taught = isinstance(cfg, DistillationAgentCfg) and self.iteration == 0
        if is_taught and not isinstance(cfg.teacher, ObservedActionsCfg):
            if cfg.teacher_checkpoint is None:
                raise ValueError("agent.teacher_checkpoint is None: name a checkpoint.")
            shipped = shipped_with(cfg.teacher_checkpoint)
            place = Path(cfg.teacher_checkpoint) if shipped is None else shipped.path
            path = find_checkpoint(place, best=True)
            model = load_model(path, self.env.device)
            self.learner.load_teacher(model)

    def _finish(self) -> None:
        """Save the last iteration if necessary, and close the evaluation worlds."""
        saved = f"model_{self.iteration:06d}.pt"
        if self._saved is None or self._saved.name != saved:
            self.save()
        if self._evaluation is not None:
            self._evaluation.close()

    # Saving and resuming.

    def save(self) -> Path | None:
        """Save a checkpoint, if saving is enabled; all processes must call it."""
        if self._checkpoints is None:
            return None
        self._saved = save_checkpoint(
            self._checkpoints,
            self.iteration,
            self._model_state(),
            self._state.own(),
            self.ranks,
        )
        return self._saved

    def resume(
        self, place: Path, *, exact: bool = True, chosen: Collection[str] = ()
    ) -> Path:
        """Resume from a checkpoint, with the settings that changed since.

        `changes` lists them. For example, a learning rate that differs from the
        checkpoint's configuration replaces the rate in the optimiser.

        Args:
            place: A checkpoint, or a run folder, whose newest checkpoint is used.
            exact: Whether to restore the worlds and all random states, so that the run
                continues bit for bit on the CPU. If False, new episodes start, and the
                environment can differ in everything but the policy's observations and
                actions.
            chosen: Paths of settings to treat as changed even if their value is the
                same in the checkpoint's configuration, such as
                "agent.algorithm.learning_rate".

        Returns:
            The checkpoint.
        """
        path = find_checkpoint(place)
        restored = self._state.restore(
            path, exact=exact, config_text=self._config_text, chosen=chosen
        )
        progress, self.changes = restored.progress, restored.changes
        self.iteration = progress["iteration"]
        self.figures = progress["figures"]
        self._seconds_before = progress["seconds"]
        self._needs_spread = self._needs_spread and not exact
        if exact and self._checkpoints and path.parent == self._checkpoints.folder:
            self._saved = path  # Rewriting the checkpoint would delete it briefly.
        return path

    def _model_state(self) -> dict[str, Any]:
        """Return the state shared by all processes."""
        progress = {
            "iteration": self.iteration,
            "figures": self.figures,
            "seconds": self._seconds_before + self._seconds,
        }
        return self._state.shared(progress, self._config_text)
