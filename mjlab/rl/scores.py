"""Which policy is the best so far, and whether it is good enough."""

import math
from collections.abc import Mapping
from typing import Any

from mjlab.rl.config import StopCfg


class Scores:
    """Follows one figure, of which more is better."""

    def __init__(self, cfg: StopCfg, metric: str) -> None:
        self._cfg = cfg
        self.metric = metric
        """Name of the figure."""
        self.best: float | None = None
        """The best value so far."""
        self._worse = 0

    def judge(self, figures: Mapping[str, float]) -> bool:
        """Look at the figures of an iteration; return whether they are the best yet."""
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
        """Why to stop: the target is reached, or nothing gets better."""
        score, target = figures.get(self.metric), self._cfg.target
        if target is not None and score is not None and score >= target:
            return f"{self.metric} is {score:.4g}, and stop.target is {target:g}"
        if self._cfg.patience is not None and self._worse > self._cfg.patience:
            best = "anything finite" if self.best is None else f"{self.best:.4g}"
            return (
                f"{self.metric} has not beaten {best} in {self._worse} looks, and "
                f"stop.patience is {self._cfg.patience}"
            )
        return None

    def state(self) -> dict[str, Any]:
        """What it remembers, as plain values."""
        return {"best": self.best, "worse": self._worse}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Remember that again."""
        self.best, self._worse = state["best"], state["worse"]
