"""The diagrams of the architecture, as SVG that brings its own background."""

from collections.abc import Sequence
from xml.sax.saxutils import escape

from generator.floors import rooms

_STYLE = """
svg { font-family: -apple-system, "Segoe UI", "Noto Sans", Helvetica, Arial,
  sans-serif }
.back { fill: #ffffff; stroke: #d0d7de }
.panel { fill: #eef4fb; stroke: #5b8fc7 }
.box { fill: #ffffff; stroke: #8c959f }
.box.simulation { fill: #e3f4e8; stroke: #4b9a63 }
.box.manager { fill: #fdf1dc; stroke: #b98a2f }
.line { fill: none; stroke: #57606a; stroke-width: 1.5 }
.tip { fill: #57606a }
text { fill: #1f2328; font-size: 13px }
.title { font-size: 15px; font-weight: 600 }
.small { font-size: 12px; fill: #57606a }
.code { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace;
  font-size: 12px }
@media (prefers-color-scheme: dark) {
  .back { fill: #0d1117; stroke: #30363d }
  .panel { fill: #111d2e; stroke: #3d6ea5 }
  .box { fill: #161b22; stroke: #6e7681 }
  .box.simulation { fill: #12261a; stroke: #3f8f58 }
  .box.manager { fill: #2a210f; stroke: #a47a2a }
  .line { stroke: #9198a1 }
  .tip { fill: #9198a1 }
  text { fill: #e6edf3 }
  .small { fill: #9198a1 }
}
"""


class Picture:
    """An SVG of a size, filled piece by piece."""

    def __init__(self, width: int, height: int, title: str) -> None:
        self._size = (width, height)
        self._title = title
        self._parts: list[str] = []

    def box(self, x: float, y: float, width: float, height: float, kind: str) -> None:
        """Add a rectangle."""
        self._parts.append(
            f'<rect class="{kind}" x="{x:g}" y="{y:g}" width="{width:g}" '
            f'height="{height:g}" rx="6"/>'
        )

    def text(
        self, x: float, y: float, words: str, kind: str = "", *, middle: bool = False
    ) -> None:
        """Add a line of text; `y` is its foot."""
        anchor = ' text-anchor="middle"' if middle else ""
        style = f' class="{kind}"' if kind else ""
        self._parts.append(
            f'<text{style} x="{x:g}" y="{y:g}"{anchor}>{escape(words)}</text>'
        )

    def arrow(self, *points: tuple[float, float]) -> None:
        """Add a line through points, with a tip at its end."""
        way = " ".join(f"{x:g},{y:g}" for x, y in points)
        self._parts.append(
            f'<polyline class="line" points="{way}" marker-end="url(#tip)"/>'
        )

    def finish(self) -> str:
        """The file."""
        width, height = self._size
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" '
            f'height="{height}" viewBox="0 0 {width} {height}" role="img">'
        )
        tip = (
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" '
            'markerUnits="userSpaceOnUse" markerWidth="8" markerHeight="8" '
            'orient="auto">'
            '<path class="tip" d="M0,0 L8,4 L0,8 z"/></marker></defs>'
        )
        back = (
            f'<rect class="back" x="0.5" y="0.5" width="{width - 1}" '
            f'height="{height - 1}" rx="8"/>'
        )
        parts = [head, f"<title>{escape(self._title)}</title>"]
        parts += [f"<style>{_STYLE}</style>", tip, back, *self._parts, "</svg>"]
        return "\n".join(parts) + "\n"


_PHASES = (
    ("1  build", "Cfg → MjSpec", "CPU, no tensors"),
    ("2  compile", "MjSpec → MjModel", "varied fields are known"),
    ("3  bind", "names → index tensors", "Simulation, Scene, terms"),
    ("4  step", "program.advance()", "recorded once, replayed"),
)

_S, _M = "simulation", "manager"
_COLUMNS: tuple[tuple[str, str, tuple[tuple[str, str], ...]], ...] = (
    (
        "Act",
        "rows 2 to 6: decimation times",
        (
            (_M, "action: process_action"),
            (_M, "action: apply_action"),
            (_S, "scene.apply"),
            (_S, "sim.step"),
            (_S, "scene.update"),
            (_M, "metrics of substeps"),
        ),
    ),
    (
        "Evaluate",
        "counters have advanced",
        (
            (_M, "terminations"),
            (_S, "worlds not finite?"),
            (_M, "rewards"),
            (_M, "metrics"),
            (_M, "step events"),
            (_M, "final observation, if asked"),
        ),
    ),
    (
        "Reset what is done",
        "where done: a mask",
        (
            (_M, "curriculum"),
            (_S, "sim.reset"),
            (_S, "scene.reset"),
            (_M, "reset events"),
            (_M, "managers log and forget"),
            (_M, "interval events: where due"),
        ),
    ),
    (
        "Observe",
        "no write of state after forward",
        (
            (_S, "derived constants"),
            (_M, "commands that write state"),
            (_S, "sim.forward"),
            (_M, "commands"),
            (_S, "sim.sense"),
            (_M, "observations"),
        ),
    ),
)


def step() -> str:
    """The four phases, and the order of a step."""
    picture = Picture(960, 560, "Four phases, and the order of a step")
    for index, (name, what, how) in enumerate(_PHASES):
        x = 24 + index * 234
        picture.box(x, 24, 204, 76, "panel" if index == 3 else "box")
        picture.text(x + 14, 46, name, "title")
        picture.text(x + 14, 67, what, "code")
        picture.text(x + 14, 88, how, "small")
        if index:
            picture.arrow((x - 28, 62), (x - 3, 62))
    picture.arrow((828, 102), (828, 132))
    picture.box(24, 136, 912, 314, "panel")
    title = "One step: one function of tensors, which a CUDA graph can hold"
    picture.text(38, 160, title, "title")
    for index, (name, note, rows) in enumerate(_COLUMNS):
        x = 40 + index * 224
        picture.text(x, 188, name, "title")
        picture.text(x, 205, note, "small")
        for row, (layer, words) in enumerate(rows):
            y = 216 + row * 37
            picture.box(x, y, 204, 29, f"box {layer}")
            picture.text(x + 10, y + 19, words)
            if row:
                picture.arrow((x + 20, y - 8), (x + 20, y - 1))
        if index:
            picture.arrow((x - 19, 415), (x - 10, 415), (x - 10, 230), (x - 1, 230))
    picture.box(24, 474, 210, 64, "box")
    picture.text(38, 496, "In: action", "title")
    picture.text(38, 516, "shape is checked, then copied", "small")
    picture.arrow((70, 472), (70, 453))
    picture.box(254, 474, 448, 64, "box")
    picture.text(268, 496, "Outside, and free to wait for the device", "title")
    outside = "building, take_log(), get_state(), checkpoints, viewers, the learner"
    picture.text(268, 516, outside, "small")
    picture.box(722, 474, 214, 64, "box")
    picture.text(736, 496, "Out: copies", "title")
    picture.text(736, 514, "observations, reward,", "small")
    picture.text(736, 530, "terminated, truncated, log", "small")
    picture.arrow((890, 452), (890, 471))
    _legend(picture, 700, 156)
    return picture.finish()


def _legend(picture: Picture, x: float, y: float) -> None:
    for index, (layer, words) in enumerate(
        ((_S, "simulation layer"), (_M, "manager layer"))
    ):
        left = x + index * 122
        picture.box(left, y - 9, 12, 12, f"box {layer}")
        picture.text(left + 17, y + 2, words, "small")


_WIDTHS = {"room": 118, "gap": 8}


def floors() -> str:
    """Rooms by floor; each imports only from floors below it."""
    found = rooms()
    height = 60 + 44 * len(found)
    picture = Picture(960, height, "Rooms by floor")
    picture.text(24, 32, "A room imports only from floors below it", "title")
    _legend(picture, 700, 30)
    for row, (floor, names) in enumerate(found):
        y = 50 + 44 * row
        picture.text(24, y + 21, _name_of(floor), "small")
        _floor(picture, y, [_short(name) for name in names])
    return picture.finish()


def _floor(picture: Picture, y: float, names: Sequence[str]) -> None:
    step = _WIDTHS["room"] + _WIDTHS["gap"]
    left = 520 - (step * len(names) - _WIDTHS["gap"]) / 2
    for index, name in enumerate(names):
        kind = {"scene": _S, "sim": _S, "entity": _S, "sensor": _S, "actuator": _S}
        kind |= {"terrain": _S, "spec": _S, "managers": _M, "mdp": _M, "envs": _M}
        x = left + index * step
        picture.box(x, y, _WIDTHS["room"], 32, f"box {kind.get(name, '')}".strip())
        picture.text(x + _WIDTHS["room"] / 2, y + 21, name, middle=True)


def _short(room: str) -> str:
    """The name of a room as it fits into its box."""
    return room.removeprefix("mjlab.").replace("tasks.*", "tasks: each")


def _name_of(floor: float) -> str:
    return f"floor {floor:g}"
