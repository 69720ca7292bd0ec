"""Display of training progress: a panel on a terminal, plain lines otherwise."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

_SHOWN_TERMS = 6
"""Number of reward terms in the panel: half are the largest, half the smallest."""


@dataclass(frozen=True)
class Progress:
    """Training progress after an iteration."""

    iteration: int
    """Finished iterations."""

    max_iterations: int
    """Iterations of the whole run."""

    env_steps: int
    """Total steps of all worlds."""

    seconds: float
    """Training time of this process, in seconds."""

    remaining: float | None
    """Estimated time to the last iteration, in seconds; None if unknown."""

    findings: tuple[str, ...] = ()
    """Confirmed faults of the training."""


class Display(Protocol):
    """Interface of displays of the training progress."""

    def __enter__(self) -> "Display":
        """Start the display."""
        ...

    def __exit__(self, *error: object) -> None:
        """Stop the display, and leave its last content visible."""
        ...

    def show(self, progress: Progress, figures: Mapping[str, float]) -> None:
        """Show the metrics of an iteration."""
        ...

    def say(self, text: str) -> None:
        """Print a message."""
        ...


class PlainLines:
    """Prints one line per iteration, for log files."""

    def __init__(self, console: Console, *, every: float = 0.0) -> None:
        """Write to a console.

        Args:
            console: Console to print to.
            every: Minimum time between lines, in seconds. The last iteration is always
                shown.
        """
        self._console = console
        self._every = every
        self._last = float("-inf")

    def __enter__(self) -> "PlainLines":
        """Do nothing."""
        return self

    def __exit__(self, *error: object) -> None:
        """Do nothing."""

    def show(self, progress: Progress, figures: Mapping[str, float]) -> None:
        """Write a line, unless the last one is more recent than `every` seconds."""
        is_last = progress.iteration >= progress.max_iterations
        if progress.seconds - self._last < self._every and not is_last:
            return
        self._last = progress.seconds
        parts = [
            f"{progress.iteration}/{progress.max_iterations}",
            f"{figures.get('Perf/steps_per_s', 0.0):,.0f} steps/s",
            *_main_figures(figures),
            f"ETA {duration(progress.remaining)}",
        ]
        parts += [f"{name} {value:g}" for name, value in _health(figures).items()]
        self.say("  ".join(parts))

    def say(self, text: str) -> None:
        """Write a line."""
        self._console.print(text, highlight=False, markup=False, soft_wrap=True)


class LivePanel:
    """Panel on a terminal that is redrawn in each iteration."""

    def __init__(self, console: Console, title: str) -> None:
        self._title = title
        self._live = Live(console=console, auto_refresh=False, transient=False)
        self._rewards: dict[str, float] = {}

    def __enter__(self) -> "LivePanel":
        """Start drawing."""
        self._live.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        """Leave the last panel on the screen."""
        self._live.__exit__(None, None, None)

    def show(self, progress: Progress, figures: Mapping[str, float]) -> None:
        """Draw the panel.

        Reward terms keep their values in iterations in which no episode ends.
        """
        prefix = "Episode_Reward/"
        self._rewards |= {
            name.removeprefix(prefix): value
            for name, value in figures.items()
            if name.startswith(prefix)
        }
        body: list[RenderableType] = [
            _bar(progress),
            _overview(progress, figures),
            _terms(self._rewards),
        ]
        health = _health(figures)
        if health:
            said = ", ".join(f"{name} {value:g}" for name, value in health.items())
            body.append(Text(f"Trouble: {said}", style="bold red"))
        body += [Text(f"Doctor: {one}", style="bold red") for one in progress.findings]
        panel = Panel(Group(*body), title=self._title, title_align="left", width=88)
        self._live.update(panel, refresh=True)

    def say(self, text: str) -> None:
        """Write a line above the panel."""
        self._live.console.print(text, highlight=False, markup=False, soft_wrap=True)


class _Output(Console):
    """Standard output that tolerates a closed pipe."""

    def on_broken_pipe(self) -> None:
        """Continue if the output was redirected meanwhile; otherwise raise."""
        self.file.flush()


def open_display(title: str, console: Console | None = None) -> Display:
    """Return a panel on a terminal, otherwise plain lines."""
    console = console or _Output()
    if console.is_terminal and not console.is_dumb_terminal:
        return LivePanel(console, title)
    return PlainLines(console)


def duration(seconds: float | None) -> str:
    """Format a time: "1 h 02 min", "3 min 20 s", "12 s"."""
    if seconds is None:
        return "?"
    whole = round(seconds)
    hours, minutes, rest = whole // 3600, whole // 60 % 60, whole % 60
    if hours:
        return f"{hours} h {minutes:02d} min"
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"


_MAIN = {
    "Train/mean_reward": "reward",
    "Train/mean_episode_length": "length",
    "Eval/mean_reward": "eval reward",
    "Train/mean_step_reward": "reward/step",
}


def _main_figures(figures: Mapping[str, float]) -> list[str]:
    return [
        f"{said} {figures[key]:.4g}" for key, said in _MAIN.items() if key in figures
    ]


def _health(figures: Mapping[str, float]) -> dict[str, float]:
    """Return the non-zero fault counters."""
    return {
        name.removeprefix("Health/"): value
        for name, value in figures.items()
        if name.startswith("Health/") and value
    }


def _bar(progress: Progress) -> Table:
    row = Table.grid(padding=(0, 1))
    done = f"{progress.iteration}/{progress.max_iterations}"
    bar = ProgressBar(
        total=max(1, progress.max_iterations), completed=progress.iteration, width=40
    )
    times = f"{duration(progress.seconds)} elapsed, ETA {duration(progress.remaining)}"
    row.add_row("Iteration", done, bar, times)
    return row


def _overview(progress: Progress, figures: Mapping[str, float]) -> Text:
    speed = figures.get("Perf/steps_per_s", 0.0)
    losses = {k: v for k, v in figures.items() if k.startswith(("Loss/", "Policy/"))}
    lines = [
        [f"{progress.env_steps:,} environment steps", f"{speed:,.0f} steps/s"],
        _main_figures(figures),
        [f"{name.partition('/')[2]} {value:.3g}" for name, value in losses.items()],
    ]
    return Text("\n".join("   ".join(line) for line in lines if line))


def _terms(rewards: Mapping[str, float]) -> Table:
    """Return a table of the largest and smallest reward terms."""
    table = Table.grid(padding=(0, 2))
    terms = sorted(((value, name) for name, value in rewards.items()), reverse=True)
    if len(terms) > _SHOWN_TERMS:
        half = _SHOWN_TERMS // 2
        terms = terms[:half] + terms[-half:]
    for value, name in terms:
        table.add_row(name, f"{value:+.4f}", style="green" if value >= 0 else "yellow")
    return table
