"""What an environment is made of and how it runs, as text."""

import io
from typing import TYPE_CHECKING

import torch
from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from mjlab.envs.env import ManagerBasedRlEnv

_WIDTH = 88


def describe(env: "ManagerBasedRlEnv") -> str:
    """Tables of all managers and their terms."""
    console = Console(file=io.StringIO(), width=_WIDTH)
    for line in startup_lines(env):
        console.print(line, highlight=False)
    for title, columns, rows in _tables(env):
        table = Table(*columns, title=title, title_justify="left")
        for row in rows:
            table.add_row(*row)
        console.print(table)
    file = console.file
    assert isinstance(file, io.StringIO)
    return file.getvalue().rstrip()


def startup_lines(env: "ManagerBasedRlEnv") -> list[str]:
    """How the environment runs: engine, mode and why, sizes, memory, exceptions."""
    backend = env.sim.backend
    lines = [
        f"{env.num_envs} worlds on {backend.engine} ({backend.device}): "
        f"{backend.reason}.",
        f"Step: {env.mode}, because {env.mode_reason}. {env.cfg.decimation} physics "
        f"steps of {env.physics_dt:g} s; forward() goes to the "
        f"{env.sim.forward_stage.name.lower()} stage.",
        f"Seed {env.seed}. Episodes of {env.max_episode_length} steps.",
    ]
    use = env.sim.health.use()
    if use:
        room = ", ".join(f"{each.room} {kind}" for kind, each in use.items())
        most = ", ".join(f"{each.most:.1f} {kind}" for kind, each in use.items())
        lines.append(f"Room per world: {room}. The most in use so far: {most}.")
    if env.device.type == "cuda":
        used = torch.cuda.memory_allocated(env.device) / 2**20
        lines.append(f"Torch holds {used:,.0f} MB on the device.")
    outside = env.terms_with_ids()
    if outside:
        listed = ", ".join(outside)
        lines.append(f"Terms that take env_ids and read masks back: {listed}")
    for name, variants in env.scene.variants.items():
        lines.append(f"Entity {name!r}: {variants.note}.")
    for name, sensor in env.scene.sensors.items():
        lines.extend(f"Sensor {name!r}: {note}" for note in sensor.notes)
    return lines


def _tables(
    env: "ManagerBasedRlEnv",
) -> list[tuple[str, tuple[str, ...], list[tuple[str, ...]]]]:
    tables: list[tuple[str, tuple[str, ...], list[tuple[str, ...]]]] = [
        ("Actions", ("term", "kind", "numbers"), env.action_manager.rows()),
        (
            "Observations",
            ("group", "term", "shape", "computed as"),
            env.observation_manager.rows(),
        ),
        ("Rewards", ("term", "weight"), env.reward_manager.rows()),
        ("Terminations", ("term", "kind"), env.termination_manager.rows()),
        ("Events", ("term", "mode", "when"), env.event_manager.rows()),
        ("Commands", ("term", "kind", "numbers"), env.command_manager.rows()),
        ("Curriculum", ("term", "note"), env.curriculum_manager.rows()),
        ("Outcomes", ("term",), env.outcome_manager.rows()),
        (
            "Metrics",
            ("term", "over an episode", "taken every"),
            env.metrics_manager.rows(),
        ),
    ]
    return [(title, columns, rows) for title, columns, rows in tables if rows]
