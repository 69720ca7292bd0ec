"""Run the doctor during training, and print findings with high certainty."""

from collections.abc import Mapping
from dataclasses import replace

from mjlab.doctor.finding import SURE, Diagnosis
from mjlab.doctor.training import LEAST, Course, examine_training
from mjlab.rl.console import Display, Progress
from mjlab.runs.metrics import Metrics, Series
from mjlab.settings.file import Settings


class WatchedDisplay:
    """Display that also examines the metrics, and prints each sure finding once."""

    def __init__(self, display: Display, config: Settings) -> None:
        """Wrap a display.

        Args:
            display: Display that shows the metrics.
            config: Settings of environment and agent.
        """
        self._display = display
        self._metrics = Metrics({}, [], [], 0)
        self._course = Course(self._metrics, config)
        self._next = LEAST
        self._said: dict[str, str] = {}

    def __enter__(self) -> "WatchedDisplay":
        self._display.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._display.__exit__(*error)

    def show(self, progress: Progress, figures: Mapping[str, float]) -> None:
        """Add the metrics of an iteration, examine all, and show them.

        Examinations become rarer, because each reads all iterations.
        """
        self._metrics.iterations.append(progress.iteration)
        for name, value in figures.items():
            series = self._metrics.series.setdefault(name, Series(name, [], []))
            series.iterations.append(progress.iteration)
            # `Series` has None for NaN and infinite values.
            series.values.append(value if abs(value) < float("inf") else None)
        done = len(self._metrics.iterations)
        if done >= self._next:
            self._next = done + max(5, done // 10)
            found = [f for f in examine_training(self._course) if f.certainty >= SURE]
            self._say(found)
        shown = replace(progress, findings=tuple(self._said.values()))
        self._display.show(shown, figures)

    def say(self, text: str) -> None:
        """Print a text."""
        self._display.say(text)

    def _say(self, found: list[Diagnosis]) -> None:
        new = [one for one in found if one.kind not in self._said]
        self._said = {one.kind: one.what for one in found}
        for one in new:
            self._display.say(
                f"Doctor: {one.what} Try: {one.advice} {one.options}".rstrip()
            )
