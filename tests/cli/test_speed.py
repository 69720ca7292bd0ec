"""Counts of the speed measurement."""

from typing import Any

import pytest

from mjlab.cli import speed
from tests.worlds.rl_runs import make_env


@pytest.mark.parametrize("blocks", [1, 3])
def test_the_first_block_only_warms_up(
    blocks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whole steps take 4, 8, 12, ... s in turn, and physics 1, 2, 3, ... s."""
    times = iter([t * factor for t in range(1, 9) for factor in (4.0, 1.0)])
    monkeypatch.setattr(speed, "seconds", lambda env, block: next(times))
    env: Any = make_env(worlds=2)
    told: list[tuple[int, int]] = []
    found = speed.measure(
        env, blocks, steps=2, progress=lambda done, of: told.append((done, of))
    )
    counted = range(2, blocks + 2)
    assert found.step_s == [2.0 * block for block in counted]
    assert found.physics_s == [0.5 * block for block in counted]
    assert found.shares_of_managers == pytest.approx([0.75] * blocks)
    assert told == [(done, blocks) for done in range(blocks + 1)]
