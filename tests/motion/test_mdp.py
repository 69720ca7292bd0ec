"""Tracking terms, by hand arithmetic."""

from types import SimpleNamespace
from typing import Any

import pytest
import torch

from mjlab.motion import mdp


@pytest.mark.parametrize("threshold", [0.5, 10.0])
def test_a_self_collision_counts_from_the_force_and_not_from_its_square(
    threshold: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two pairs of bodies over four physics steps, in two worlds."""
    shares = torch.tensor(
        [[[0.9, 1.1, 0.0, 1.0], [2.0, 0.0, 0.0, 0.9]], [[0.0] * 4] * 2]
    )
    way = torch.tensor([0.6, 0.0, -0.8])
    force = threshold * shares.unsqueeze(-1) * way
    sensor = SimpleNamespace(data=SimpleNamespace(history=lambda name: force))
    monkeypatch.setattr(mdp, "contact_sensor", lambda env, name: sensor)
    env: Any = None
    found = mdp.self_collisions(env, "self", force_threshold=threshold)
    assert found.tolist() == [2.0, 0.0]
