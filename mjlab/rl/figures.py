"""Training metrics: accumulated on the device, read in one transfer, and scored."""

import math
import time
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from mjlab.envs import ManagerBasedRlEnv
from mjlab.rl.distributed import Ranks
from mjlab.rl.vecenv import TrainingEnv

Number = float | torch.Tensor


class Readout:
    """Collect numbers by name, and read them from the device in one transfer.

    In distributed training all processes read the same numbers: sums are added and
    means are averaged over processes.
    """

    def __init__(self, device: torch.device, ranks: Ranks) -> None:
        self._device = device
        self._ranks = ranks
        self._names: list[str] = []
        self._sums: list[torch.Tensor] = []
        self._tensors: dict[str, torch.Tensor] = {}
        self._numbers: dict[str, float] = {}

    def add_sums(self, names: Sequence[str], values: torch.Tensor) -> None:
        """Add totals, shape (len(names),)."""
        self._names.extend(names)
        self._sums.append(values.double())

    def add_means(self, figures: Mapping[str, Number]) -> None:
        """Add metrics to average over processes."""
        for name, value in figures.items():
            if isinstance(value, torch.Tensor):
                number = value.detach().double().reshape(())
                self._tensors[name] = number.to(self._device)
            else:
                self._numbers[name] = float(value)

    def read(self) -> dict[str, float]:
        """Wait for the device once, and return all values by name."""
        numbers = torch.tensor(list(self._numbers.values()), dtype=torch.float64)
        on_device = numbers.to(self._device).unbind()
        means = self._tensors | dict(zip(self._numbers, on_device, strict=True))
        # Sort by name, because the order must be equal in all processes: a tensor in
        # one process can be a number in another.
        order = sorted(means)
        scalars = [means[name].reshape(1) for name in order]
        values = self._ranks.sum_(torch.cat([*self._sums, *scalars])).tolist()
        count = len(self._names)
        averages = [value / self._ranks.world for value in values[count:]]
        return dict(zip(self._names, values[:count], strict=True)) | dict(
            zip(order, averages, strict=True)
        )


class Tally:
    """Sums of returns, lengths, episodes, step rewards and steps, on the device."""

    NAMES = ("return", "length", "episodes", "reward", "steps")

    def __init__(self, num_envs: int, device: torch.device) -> None:
        self._present = torch.zeros(num_envs, 2, device=device)
        """Return and length of the current episodes."""
        self._sums = torch.zeros(len(self.NAMES), dtype=torch.float64, device=device)
        self._one = torch.ones(num_envs, 1, device=device)

    def add(self, reward: torch.Tensor, dones: torch.Tensor) -> None:
        """Add a step.

        Args:
            reward: Reward, shape (num_envs,).
            dones: Whether the episode ended, shape (num_envs,), bool.
        """
        step = torch.stack([reward, self._one[:, 0]], dim=-1)
        self._present += step
        ended = torch.cat([self._present, self._one], dim=-1)
        ended.masked_fill_(~dones.unsqueeze(-1), 0.0)
        self._sums[:3] += ended.sum(dim=0, dtype=torch.float64)
        self._sums[3:] += step.sum(dim=0, dtype=torch.float64)
        self._present.masked_fill_(dones.unsqueeze(-1), 0.0)

    def take(self) -> torch.Tensor:
        """Return the sums since the last call, in the order of NAMES."""
        sums = self._sums.clone()
        self._sums.zero_()
        return sums

    def state(self) -> dict[str, torch.Tensor]:
        """Return the live tensors; copy into them to restore a snapshot."""
        return {"present": self._present, "sums": self._sums}


class Window:
    """Averages over the latest iterations that contain at least `least` episodes."""

    def __init__(self, least: int) -> None:
        self._least = least
        self._parts: deque[tuple[float, float, float]] = deque()

    def add(self, returns: float, lengths: float, episodes: float) -> None:
        """Add an iteration's sums; drop old ones while `least` episodes remain."""
        if episodes:
            self._parts.append((returns, lengths, episodes))
        while self._count() - (self._parts[0][2] if self._parts else 0) >= self._least:
            self._parts.popleft()

    def means(self) -> dict[str, float]:
        """Return mean return and length, if any episode has ended."""
        count = self._count()
        if not count:
            return {}
        return {
            "Train/mean_reward": sum(part[0] for part in self._parts) / count,
            "Train/mean_episode_length": sum(part[1] for part in self._parts) / count,
        }

    def state(self) -> list[tuple[float, float, float]]:
        """Return the state, as plain numbers."""
        return list(self._parts)

    def load_state(self, state: list[tuple[float, float, float]]) -> None:
        """Restore the state."""
        self._parts = deque((a, b, c) for a, b, c in state)

    def _count(self) -> float:
        return sum(part[2] for part in self._parts)


class IterationFigures:
    """Metrics of an iteration: accumulated in every step, read once."""

    def __init__(self, env: TrainingEnv, ranks: Ranks, window: int) -> None:
        self._env = env
        self._ranks = ranks
        self._overflow = 0.0
        self.tally = Tally(env.num_envs, env.device)
        """Sums of this process."""
        self.window = Window(window)
        """The latest episodes, the same in all processes."""

    def read(
        self, *found: Mapping[str, Number]
    ) -> tuple[dict[str, float], dict[str, float]]:
        """Read all metrics from the device: the only synchronisation of an iteration.

        Returns:
            All metrics, including the processes' means of `found`, and the sums of the
            tally.
        """
        log, device = self._env.episode_log, self._env.device
        logged = [f"log/{key}" for key in log.keys]
        readout = Readout(device, self._ranks)
        readout.add_sums([f"tally/{name}" for name in Tally.NAMES], self.tally.take())
        readout.add_sums([*logged, "log/count"], log.drain())
        readout.add_sums(
            ["wrong/nonfinite", "wrong/overflow"], self._wrong().to(device)
        )
        readout.add_means(merged(*found))
        raw = readout.read()
        tally = {name: raw.pop(f"tally/{name}") for name in Tally.NAMES}
        sums = {key.removeprefix("log/"): raw.pop(key) for key in logged}
        count = raw.pop("log/count")
        means = {key: value / count for key, value in sums.items()} if count else {}
        means |= self._health(raw.pop("wrong/nonfinite"), raw.pop("wrong/overflow"))
        self.window.add(tally["return"], tally["length"], tally["episodes"])
        train = {
            "Train/mean_step_reward": tally["reward"] / tally["steps"],
            "Train/episodes": tally["episodes"],
        }
        return merged(self.window.means(), train, raw, means), tally

    def _wrong(self) -> torch.Tensor:
        """Return the counts of non-finite values and of overflows, shape (2,)."""
        if isinstance(self._env, ManagerBasedRlEnv):
            return torch.cat(self._env.nonfinite.totals())
        return torch.tensor(self._env.health())

    def _health(self, nonfinite: float, overflow: float) -> dict[str, float]:
        """Return the health metrics.

        After a fault, read the full counters of the environment, which raises if there
        are too many faults.
        """
        is_wrong = nonfinite or overflow > self._overflow
        self._overflow = overflow
        account: dict[str, float] = {}
        if is_wrong:
            account = self._env.take_log()
        elif isinstance(self._env, ManagerBasedRlEnv):
            self._env.nonfinite.begin_share()
        else:
            self._env.begin_share()
        return account | {"Health/nonfinite": nonfinite, "Health/overflow": overflow}


def merged(*parts: Mapping[str, Any]) -> dict[str, Any]:
    """Merge dictionaries with disjoint keys."""
    whole: dict[str, Any] = {}
    for part in parts:
        twice = whole.keys() & part.keys()
        if twice:
            raise ValueError(f"The metric {min(twice)!r} is logged twice.")
        whole |= part
    return whole


class Scores:
    """Track the best value of a metric; higher is better."""

    def __init__(
        self, metric: str, *, target: float | None, patience: int | None
    ) -> None:
        self._target = target
        self._patience = patience
        self.metric = metric
        """Name of the metric."""
        self.best: float | None = None
        """Best value so far."""
        self._worse = 0

    def judge(self, figures: Mapping[str, float]) -> bool:
        """Score an iteration's metrics; return True if they are the best so far."""
        score = figures.get(self.metric)
        if score is None:
            return False
        # A comparison with NaN is false, so it never counts as better.
        if math.isfinite(score) and (self.best is None or score > self.best):
            self.best, self._worse = score, 0
            return True
        self._worse += 1
        return False

    def reason_to_stop(self, figures: Mapping[str, float]) -> str | None:
        """Return a reason to stop: target reached, or patience exceeded."""
        score, target = figures.get(self.metric), self._target
        if target is not None and score is not None and score >= target:
            return f"{self.metric}={score:.4g} reached stop.target={target:g}"
        if self._patience is not None and self._worse > self._patience:
            best = "anything finite" if self.best is None else f"{self.best:.4g}"
            return (
                f"{self.metric} has not beaten {best} in {self._worse} checks "
                f"(stop.patience={self._patience})"
            )
        return None

    def state(self) -> dict[str, Any]:
        """Return the state, as plain values."""
        return {"metric": self.metric, "best": self.best, "worse": self._worse}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Restore the state, unless it belongs to another metric."""
        # Older runs store no metric name.
        if state.get("metric", self.metric) == self.metric:
            self.best, self._worse = state["best"], state["worse"]


class Stopwatch:
    """Timer for the phases of an iteration; on a GPU it measures device time."""

    def __init__(self, device: torch.device) -> None:
        self._on_gpu = device.type == "cuda"
        self._names: list[str] = []
        self._marks: list[Any] = [self._mark()]

    def lap(self, name: str) -> None:
        """End the current phase, and store its time under `name`."""
        self._names.append(name)
        self._marks.append(self._mark())

    def seconds(self) -> dict[str, float]:
        """Return the time of each phase, s. A GPU must be synchronised before."""
        pairs = zip(self._marks, self._marks[1:], strict=False)
        times = [self._between(start, end) for start, end in pairs]
        return dict(zip(self._names, times, strict=True))

    def _mark(self) -> Any:
        if not self._on_gpu:
            return time.perf_counter()
        event = torch.cuda.Event(enable_timing=True)
        event.record()
        return event

    def _between(self, start: Any, end: Any) -> float:
        if self._on_gpu:
            return start.elapsed_time(end) / 1e3
        return end - start
