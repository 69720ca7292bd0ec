"""Diverged worlds, found on both engines by MuJoCo C's limit."""

import math

import mujoco
import numpy as np
import pytest
import torch

from mjlab.sim import Simulation, SimulationCfg

ENGINES = ("native", "warp")

CARTS = """
<mujoco>
  <option timestep="0.001"/>
  <worldbody>
    <body name="cart"><joint name="rail" type="slide" axis="1 0 0"/>
      <geom size="0.1" mass="1"/></body>
  </worldbody>
  <actuator>
    <motor joint="rail"/>
    <general joint="rail" dyntype="integrator" gainprm="1"/>
  </actuator>
</mujoco>
"""


def carts(engine: str, num_envs: int = 3) -> Simulation:
    model = mujoco.MjModel.from_xml_string(CARTS)
    sim = Simulation(model, num_envs, SimulationCfg(backend=engine), device="cpu")
    sim.reset()
    return sim


def is_bad_to_mujoco(field: str, value: float) -> bool:
    """Return whether a step of MuJoCo C warns of a bad number."""
    model = mujoco.MjModel.from_xml_string(CARTS)
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)
    data = mujoco.MjData(model)
    getattr(data, field)[0] = value
    mujoco.mj_step(model, data)
    kinds = ("BADQPOS", "BADQVEL", "BADQACC", "BADCTRL")
    numbers = [getattr(mujoco.mjtWarning, f"mjWARN_{kind}") for kind in kinds]
    return any(data.warning[number].number for number in numbers)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_world_faster_than_max_velocity_is_found(engine: str) -> None:
    model = mujoco.MjModel.from_xml_string(CARTS)
    cfg = SimulationCfg(backend=engine, max_velocity=50.0)
    sim = Simulation(model, 4, cfg, device="cpu")
    sim.reset()
    sim.data.qvel[:] = torch.tensor([[49.0], [51.0], [-51.0], [0.0]])
    sim.data.qpos[3] = 1e9
    assert sim.health.find_nonfinite().tolist() == [False, True, True, False]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("field", ["qpos", "qvel", "ctrl", "act", "qfrc_applied"])
def test_a_world_beyond_the_limit_of_mujoco_is_found_after_a_step(
    engine: str, field: str
) -> None:
    """A force of 1e12 N on 1 kg gives a velocity of 1e9 m/s, within the limit."""
    sim = carts(engine)
    for value in (1e8, 1e12, -1e12, 1e18, math.inf, math.nan):
        sim.reset()
        getattr(sim.data, field)[1] = value
        sim.step()
        found = sim.health.find_nonfinite().tolist()
        assert found == [False, is_bad_to_mujoco(field, value), False], value


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("field", ["qpos", "qvel", "act", "ctrl"])
def test_a_number_that_was_written_is_found_before_any_step(
    engine: str, field: str
) -> None:
    sim = carts(engine)
    values = getattr(sim.data, field)
    values[0], values[1] = 1e10, -1e10  # MuJoCo's limit itself is allowed.
    assert not sim.health.find_nonfinite().any()
    for value in (1.001e10, -1e12, 1e18, math.inf, math.nan):
        values[2] = value
        assert sim.health.find_nonfinite().tolist() == [False, False, True], value


@pytest.mark.parametrize("engine", ENGINES)
def test_a_world_that_diverges_inside_a_call_of_several_steps_is_found(
    engine: str,
) -> None:
    sim = carts(engine)
    sim.data.qfrc_applied[1] = 1e12
    sim.step_many(2)
    assert sim.health.find_nonfinite().tolist() == [False, True, False]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_diverged_world_is_healthy_again_after_its_reset(engine: str) -> None:
    sim = carts(engine)
    sim.data.qfrc_applied[1] = 1e12
    sim.step()
    sim.reset(torch.tensor([False, True, False]))
    sim.step()
    assert not sim.health.find_nonfinite().any()


@pytest.mark.parametrize("engine", ENGINES)
def test_a_world_for_rendering_has_the_poses_of_its_own_model(engine: str) -> None:
    cfg = SimulationCfg(backend=engine)
    model = mujoco.MjModel.from_xml_string(CARTS)
    sim = Simulation(model, 3, cfg, device="cpu", vary=["body_pos"])
    sim.reset()
    sim.model.body_pos[2, 1, 2] = 2.0
    sim.data.qpos[:, 0] = torch.tensor([0.1, 0.2, 0.3])
    for world, height in enumerate((0.0, 0.0, 2.0)):
        drawn = sim.engine.mj_data_of(world).xpos[1]
        # Positions are float32 on Warp.
        expected = [0.1 * (world + 1), 0.0, height]
        np.testing.assert_allclose(drawn, expected, rtol=1e-6, atol=1e-6)
