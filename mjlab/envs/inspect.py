"""What an environment is made of and how it runs, as text."""

import io
from collections.abc import Iterable
from typing import Any

import torch
from rich.console import Console
from rich.table import Table

from mjlab.envs.runner import StepRunner
from mjlab.managers import ManagedEnv, Managers
from mjlab.scene import Scene
from mjlab.sim import Simulation

_WIDTH = 88


def tables(lines: Iterable[str], managers: Managers) -> str:
    """Tables of all managers and their terms, below some lines."""
    console = Console(file=io.StringIO(), width=_WIDTH)
    for line in lines:
        console.print(line, highlight=False)
    for title, columns, rows in _tables(managers):
        table = Table(*columns, title=title, title_justify="left")
        for row in rows:
            table.add_row(*row)
        console.print(table)
    file = console.file
    assert isinstance(file, io.StringIO)
    return file.getvalue().rstrip()


def startup_lines(
    env: ManagedEnv, runner: StepRunner, decimation: int, seed: int
) -> list[str]:
    """How an environment runs: engine, mode and why, sizes, memory, exceptions."""
    backend, stage = env.sim.backend, env.sim.forward_stage.name.lower()
    return [
        f"{env.num_envs} worlds on {backend.engine} ({backend.device}): "
        f"{backend.reason}.",
        f"Step: {runner.mode}, because {runner.reason}. {decimation} physics steps of "
        f"{env.physics_dt:g} s; forward() goes to the {stage} stage.",
        f"Seed {seed}. Episodes of {env.max_episode_length} steps.",
        *_notes(env.sim, env.scene, env.managers),
    ]


def _notes(sim: Simulation, scene: Scene, managers: Managers) -> list[str]:
    """Room, memory, terms that read back, variants, and remarks of sensors."""
    lines = []
    use = sim.health.use()
    if use:
        room = ", ".join(f"{each.room} {kind}" for kind, each in use.items())
        most = ", ".join(f"{each.most:.1f} {kind}" for kind, each in use.items())
        lines.append(f"Room per world: {room}. The most in use so far: {most}.")
    if sim.device.type == "cuda":
        used = torch.cuda.memory_allocated(sim.device) / 2**20
        lines.append(f"Torch holds {used:,.0f} MB on the device.")
    outside = [term.label for term in managers.bound_terms() if term.needs_ids]
    if outside:
        listed = ", ".join(outside)
        lines.append(f"Terms that take env_ids and read masks back: {listed}")
    for name, variants in scene.variants.items():
        lines.append(f"Entity {name!r}: {variants.note}.")
    for name, sensor in scene.sensors.items():
        lines.extend(f"Sensor {name!r}: {note}" for note in sensor.notes)
    return lines


def draw(managers: Managers, scene: Scene, visualizer: Any) -> None:
    """Have terms and sensors draw what they have to show."""
    managers.action.debug_vis(visualizer)
    managers.command.debug_vis(visualizer)
    for term in managers.bound_terms():
        if term.instance is not None:
            term.instance.debug_vis(visualizer)
    for sensor in scene.sensors.values():
        sensor.debug_vis(visualizer)


def _tables(
    managers: Managers,
) -> list[tuple[str, tuple[str, ...], list[tuple[str, ...]]]]:
    tables: list[tuple[str, tuple[str, ...], list[tuple[str, ...]]]] = [
        ("Actions", ("term", "kind", "numbers"), managers.action.rows()),
        (
            "Observations",
            ("group", "term", "shape", "computed as"),
            managers.observation.rows(),
        ),
        ("Rewards", ("term", "weight"), managers.reward.rows()),
        ("Terminations", ("term", "kind"), managers.termination.rows()),
        ("Events", ("term", "mode", "when"), managers.event.rows()),
        ("Commands", ("term", "kind", "numbers"), managers.command.rows()),
        ("Curriculum", ("term", "note"), managers.curriculum.rows()),
        ("Outcomes", ("term",), managers.outcome.rows()),
        (
            "Metrics",
            ("term", "over an episode", "taken every"),
            managers.metrics.rows(),
        ),
    ]
    return [(title, columns, rows) for title, columns, rows in tables if rows]
