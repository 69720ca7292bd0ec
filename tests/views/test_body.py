"""Views of bodies, by hand arithmetic."""

from typing import Any

import pytest
import torch

from mjlab.views.body import BodyView


@pytest.mark.parametrize(
    ("linear", "angular", "static"),
    [(0.02, 0.0, True), (0.2, 0.0, False), (0.0, 0.2, True), (0.0, 2.0, False)],
)
def test_a_body_is_still_below_the_bound_of_each_of_its_speeds(
    linear: float, angular: float, static: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """0.1 m/s and 1 rad/s, in two worlds."""
    velocity = torch.tensor([[0.0, linear, 0.0, angular, 0.0, 0.0], [9.0] * 6])
    monkeypatch.setattr(BodyView, "velocity", velocity)
    view: Any = object.__new__(BodyView)
    assert view.is_static(lin=0.1, ang=1.0).tolist() == [static, False]
