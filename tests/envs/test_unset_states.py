"""Initial states of entities: written by resets, or reported as unset."""

import logging
from typing import Any

import mujoco
import numpy as np
import pytest
import torch

from mjlab.entity import ArticulationCfg, EntityCfg, InitialStateCfg
from mjlab.envs import ManagerBasedRlEnv, ManagerBasedRlEnvCfg, mdp
from mjlab.envs.unset_states import find_unset_states
from mjlab.managers import (
    EventTermCfg,
    ObservationGroupCfg,
    ObservationTermCfg,
    SceneEntityCfg,
)
from mjlab.scene import SceneCfg
from mjlab.sim import SimulationCfg
from mjlab.terrain import TerrainCfg

QUADRUPED = """
<mujoco>
  <worldbody>
    <body name="trunk">
      <freejoint name="root"/>
      <geom type="box" size="0.2 0.1 0.05" mass="6"/>
      {legs}
    </body>
  </worldbody>
</mujoco>
"""
LEG = """
<body name="thigh_{n}" pos="{x} {y} 0">
  <joint name="thigh_{n}" axis="0 1 0"/>
  <geom type="capsule" size="0.02" fromto="0 0 0 0 0 -0.2" mass="0.5"/>
  <body name="calf_{n}" pos="0 0 -0.2">
    <joint name="calf_{n}" axis="0 1 0"/>
    <geom type="capsule" size="0.02" fromto="0 0 0 0 0 -0.2" mass="0.3"/>
  </body>
</body>
"""
PLACES = ((0.2, 0.12), (0.2, -0.12), (-0.2, 0.12), (-0.2, -0.12))
HEIGHT, THIGH, CALF = 0.36, 0.8, -1.5
STANDING = [0.0, 0.0, HEIGHT, 1.0, 0.0, 0.0, 0.0, *[THIGH, CALF] * 4]
JOINTS = EventTermCfg(
    func=mdp.reset_joints_by_offset,
    mode="reset",
    params={
        "position_range": (0.0, 0.0),
        "velocity_range": (0.0, 0.0),
        "asset_cfg": SceneEntityCfg("robot"),
    },
)


def quadruped() -> mujoco.MjSpec:
    legs = "".join(LEG.format(n=n, x=x, y=y) for n, (x, y) in enumerate(PLACES))
    return mujoco.MjSpec.from_string(QUADRUPED.format(legs=legs))


def task(engine: Any = "native", **changes: Any) -> ManagerBasedRlEnvCfg:
    robot = EntityCfg(
        source=quadruped,
        init_state=InitialStateCfg(
            pos=(0.0, 0.0, HEIGHT), joint_pos={"thigh_.": THIGH, "calf_.": CALF}
        ),
        articulation=ArticulationCfg(),
    )
    seen = ObservationTermCfg(
        func=mdp.joint_pos_rel, params={"asset_cfg": SceneEntityCfg("robot")}
    )
    return ManagerBasedRlEnvCfg(
        seed=1,
        scene=SceneCfg(
            num_envs=3, terrain=TerrainCfg(kind="plane"), entities={"robot": robot}
        ),
        sim=SimulationCfg(backend=engine),
        observations={"actor": ObservationGroupCfg(terms={"joints": seen})},
        **changes,
    )


def warnings_of(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [r.getMessage() for r in caplog.records if r.levelno >= logging.WARNING]


@pytest.mark.parametrize("engine", ["native", "warp"])
def test_without_custom_events_a_robot_starts_at_its_initial_state(
    engine: str, caplog: pytest.LogCaptureFixture
) -> None:
    env = ManagerBasedRlEnv(task(engine), device="cpu")
    assert not warnings_of(caplog)
    env.reset()
    expected = torch.tensor(STANDING).expand(3, -1)
    # Values of the configuration, which both engines store as float32.
    assert torch.allclose(env.sim.data.qpos, expected, rtol=1e-6, atol=0.0)
    assert not env.sim.data.qvel.any()
    for _ in range(2):
        env.step(torch.zeros(3, 0))
    moved = env.sim.data.qpos.clone()
    mask = torch.tensor([False, True, False])
    env.reset(mask=mask)
    assert torch.allclose(env.sim.data.qpos[1], expected[1], rtol=1e-6, atol=0.0)
    assert torch.equal(env.sim.data.qpos[~mask], moved[~mask])


def test_the_trunk_falls_from_its_initial_height_as_in_mujoco() -> None:
    """A robot below the floor would be pushed up instead."""
    env = ManagerBasedRlEnv(task(), device="cpu")
    env.reset()
    env.step(torch.zeros(3, 0))
    model = env.sim.mj_model
    data = mujoco.MjData(model)
    data.qpos[:] = STANDING
    mujoco.mj_step(model, data)
    np.testing.assert_allclose(env.sim.data.qvel[0], data.qvel, rtol=1e-5, atol=1e-6)


def test_events_without_a_robot_reset_give_a_one_line_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    for events, said in (
        ({}, "robot/trunk, robot/thigh_0, robot/calf_0, robot/thigh_1 and 5 more"),
        ({"joints": JOINTS}, "robot/trunk"),
    ):
        caplog.clear()
        env = ManagerBasedRlEnv(task(events=events), device="cpu")
        (line,) = warnings_of(caplog)
        assert f"start with {said} at the model's qpos0" in line
        assert "'reset_scene_to_default'" in line and "\n" not in line
        assert line in env.startup_lines()


def test_joints_without_reset_are_in_the_startup_report(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Resets of some joints are intended, so there is no warning."""
    base = EventTermCfg(
        func=mdp.reset_root_state_uniform,
        mode="reset",
        params={"pose_range": {}, "asset_cfg": SceneEntityCfg("robot")},
    )
    env = ManagerBasedRlEnv(task(events={"base": base}), device="cpu")
    assert not warnings_of(caplog)
    assert env.unset_states.parts[0] == "robot/thigh_0"
    assert len(env.unset_states.parts) == 8
    whole = ManagerBasedRlEnv(task(events={"base": base, "j": JOINTS}), device="cpu")
    assert whole.unset_states.parts == ()
    assert not any("qpos0" in line for line in whole.startup_lines())


def test_search_for_unset_states_changes_no_state() -> None:
    """Reading the state again does not affect the environment."""
    one, other = (ManagerBasedRlEnv(task(), device="cpu") for _ in range(2))
    for env in (one, other):
        env.reset(seed=4)
    for _ in range(3):
        for env in (one, other):
            env.step(torch.zeros(3, 0))
        find_unset_states(one.program, one.state)
    ours, theirs = one.get_state(), other.get_state()
    assert all(torch.equal(value, theirs[name]) for name, value in ours.items())
