"""Gait command of a muscle-driven walker, by hand arithmetic."""

from types import SimpleNamespace
from typing import Any

import pytest
import torch

from mjlab.tasks.muscle.commands import GaitCommand


def test_a_walker_that_is_behind_its_gait_lags_and_one_ahead_of_it_does_the_opposite():
    walked = torch.tensor([0.5, 2.0])
    gait: Any = SimpleNamespace(
        place=torch.tensor([1.25, 1.25]), root=SimpleNamespace(place=lambda: walked)
    )
    assert GaitCommand.lag(gait).tolist() == pytest.approx([0.75, -0.75])
