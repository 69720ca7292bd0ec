"""Gait command of a muscle-driven walker, by hand arithmetic."""

from types import SimpleNamespace
from typing import Any

import pytest
import torch

from mjlab.tasks.muscle.commands import GaitCommand


def test_lag_is_positive_behind_the_gait_and_negative_ahead():
    walked = torch.tensor([0.5, 2.0])
    gait: Any = SimpleNamespace(
        place=torch.tensor([1.25, 1.25]), root=SimpleNamespace(place=lambda: walked)
    )
    assert GaitCommand.lag(gait).tolist() == pytest.approx([0.75, -0.75])
