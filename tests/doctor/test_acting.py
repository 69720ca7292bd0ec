"""Findings from synthetic rollouts."""

from types import SimpleNamespace
from typing import Any

import mujoco
import pytest
import torch

from mjlab.doctor.acting import Acting, examine_acting

XML = """
<mujoco>
  <worldbody>
    <body><joint name="a"/><geom size=".1"/></body>
    <body pos="1 0 0"><joint name="b"/><geom size=".1"/></body>
  </worldbody>
  <actuator>
    <motor name="a" joint="a" ctrlrange="-1 1"/><motor name="b" joint="b"/>
  </actuator>
</mujoco>
"""


def acting(controls: torch.Tensor, observed: torch.Tensor) -> Acting:
    """Twenty steps of four worlds, with an observation that is clipped to -2 to 1."""
    term = SimpleNamespace(clip=(-2.0, 1.0))
    groups = {"actor": SimpleNamespace(terms={"seen": term})}
    env: Any = SimpleNamespace(
        sim=SimpleNamespace(mj_model=mujoco.MjModel.from_xml_string(XML)),
        cfg=SimpleNamespace(observations=groups),
        action_manager=SimpleNamespace(terms={}),
        command_manager=SimpleNamespace(),
    )
    actions = torch.randn(20, 4, 2, generator=torch.Generator().manual_seed(0))
    ages = torch.ones(20, 4)
    return Acting(env, {"actor/seen": observed}, actions, controls, {}, {}, ages)


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_an_actuator_at_either_end_of_its_range_is_found_by_name(side: float) -> None:
    controls = torch.full((20, 4, 2), side)
    observed = torch.linspace(-1.0, 0.5, 80).view(20, 4, 1)
    (one,) = examine_acting(acting(controls, observed), is_normalised=True)
    assert one.kind == "saturated_actions"
    assert "The actuator a is at a limit of its control range in 100%" in one.what
    assert not examine_acting(acting(0.99 * controls, observed), is_normalised=True)


@pytest.mark.parametrize("bound", [-2.0, 1.0])
def test_an_observation_at_either_bound_of_its_clip_is_found(bound: float) -> None:
    observed = torch.linspace(-1.0, 0.5, 80).view(20, 4, 1).clone()
    observed[:5] = bound
    given = acting(torch.zeros(20, 4, 2), observed)
    (one,) = examine_acting(given, is_normalised=True)
    assert one.kind == "clipped_observation"
    assert "(-2.0, 1.0) in 25% of its values" in one.what
