"""State by entity: meaning of the numbers, by MuJoCo, and writing them."""

from typing import Any

import mujoco
import pytest
import torch

from mjlab.envs import ManagerBasedRlEnv, ManagerBasedRlEnvCfg
from mjlab.envs.state import StateError, state_layout
from mjlab.scene import SceneCfg
from mjlab.sim import SimulationCfg
from mjlab.sim.fields import STAGE_OF
from mjlab.terrain import TerrainCfg
from tests.envs.test_properties import actions, make, rows
from tests.worlds.physics_env import from_xml

CREATURE = """
<mujoco>
  <worldbody>
    <body name="trunk" pos="0 0 1">
      <freejoint/>
      <geom type="box" size=".1 .05 .03" mass="2"/>
      <body name="arm" pos=".1 0 0">
        <joint name="shoulder" axis="0 1 0"/>
        <geom type="capsule" size=".02" fromto="0 0 0 .1 0 0" mass=".3"/>
        <body name="head" pos=".1 0 0">
          <joint name="neck" type="ball"/>
          <geom type="sphere" size=".03" pos="0 0 .05" mass=".2"/>
          <body name="beak" pos=".05 0 0">
            <joint name="bite" type="slide" axis="1 0 0"/>
            <geom type="sphere" size=".01" mass=".05"/>
          </body>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>
"""
TABLE = """
<mujoco>
  <worldbody>
    <body name="top" pos="1 0 .5">
      <geom type="box" size=".2 .2 .02"/>
      <body name="drawer"><joint name="pull" type="slide" axis="1 0 0"/>
        <geom type="box" size=".05 .05 .01" mass=".1"/></body>
    </body>
  </worldbody>
</mujoco>
"""


def cfg(num_envs: int) -> ManagerBasedRlEnvCfg:
    """Floating entity with every joint type, and a table that is placed."""
    return ManagerBasedRlEnvCfg(
        scene=SceneCfg(
            num_envs=num_envs,
            terrain=TerrainCfg(light=False),
            entities={"creature": from_xml(CREATURE), "table": from_xml(TABLE)},
        ),
        sim=SimulationCfg(backend="native", num_threads=1),
        seed=5,
    )


@pytest.fixture(scope="module")
def env() -> ManagerBasedRlEnv:
    return ManagerBasedRlEnv(cfg(4))


def random_state(env: ManagerBasedRlEnv, seed: int) -> dict[str, torch.Tensor]:
    """Return valid state numbers: unit quaternions, a table at rest."""
    generator = torch.Generator().manual_seed(seed)
    state = {}
    for name, layout in state_layout(env.scene).items():
        width = max(part.stop for part in layout.values())
        value = torch.randn(env.num_envs, width, generator=generator)
        for part in ("quat", "ball_quat"):
            if part in layout:
                quats = value[:, layout[part]].unflatten(1, (-1, 4))
                value[:, layout[part]] = torch.nn.functional.normalize(
                    quats, dim=-1
                ).flatten(1)
        if env.scene.entity(name).is_fixed_base:
            value[:, 7:13] = 0.0
        state[name] = value
    return state


def test_the_numbers_equal_mujocos_for_the_same_state(
    env: ManagerBasedRlEnv,
) -> None:
    env.set_state_dict(random_state(env, 1))
    state = env.get_state_dict()["entities"]
    model = env.sim.mj_model
    for world in range(env.num_envs):
        data = mujoco.MjData(model)
        for name in ("qpos", "qvel", "mocap_pos", "mocap_quat"):
            values = getattr(env.sim.data, name)[world].numpy()
            getattr(data, name)[...] = values
        mujoco.mj_forward(model, data)
        for name, body in (("creature", "trunk"), ("table", "top")):
            element = model.body(f"{name}/{body}").id
            velocity = torch.zeros(6, dtype=torch.float64).numpy()
            kind = mujoco.mjtObj.mjOBJ_XBODY
            mujoco.mj_objectVelocity(model, data, kind, element, velocity, 0)
            expected = torch.tensor(
                [
                    *data.xpos[element],
                    *data.xquat[element],
                    *velocity[3:],
                    *velocity[:3],
                ]
            )
            ours = state[name][world, :13].double()
            torch.testing.assert_close(ours, expected, atol=2e-6, rtol=2e-6)
        joints = [data.joint(f"creature/{name}") for name in ("shoulder", "bite")]
        neck = data.joint("creature/neck")
        tail = [*(j.qpos[0] for j in joints), *(j.qvel[0] for j in joints)]
        tail += [*neck.qpos, *neck.qvel]
        ours = state["creature"][world, 13:].double()
        torch.testing.assert_close(ours, torch.tensor(tail), atol=1e-6, rtol=1e-6)


def test_the_layout_documents_the_position_of_each_part(env: ManagerBasedRlEnv) -> None:
    layout = state_layout(env.scene)
    assert layout["creature"] == {
        "pos": slice(0, 3),
        "quat": slice(3, 7),
        "lin_vel": slice(7, 10),
        "ang_vel": slice(10, 13),
        "joint_pos": slice(13, 15),
        "joint_vel": slice(15, 17),
        "ball_quat": slice(17, 21),
        "ball_vel": slice(21, 24),
    }
    assert list(layout["table"]) == list(layout["creature"])[:6]
    shapes = {k: tuple(v.shape) for k, v in env.get_state_dict()["entities"].items()}
    assert shapes == {"creature": (4, 24), "table": (4, 15)}


@pytest.mark.parametrize("engine", ["native", "warp"])
def test_set_values_are_read_back_in_the_selected_worlds_only(
    engine: str,
) -> None:
    env = make("synthetic", 4, engine=engine)
    for action in actions(env, 7):
        env.step(action)
    before, state = rows(env), random_state(env, 2)
    mask = torch.tensor([True, False, False, True])
    env.set_state_dict({"entities": state}, mask)
    got, after = env.get_state_dict()["entities"]["robot"], rows(env)
    torch.testing.assert_close(got[mask], state["robot"][mask], atol=2e-6, rtol=2e-6)
    derived = {f"data.{name}" for name, stage in STAGE_OF.items() if stage}
    for key in before.keys() - derived:
        assert torch.equal(before[key][~mask], after[key][~mask]), key
    assert not torch.equal(before["data.qpos"][mask], after["data.qpos"][mask])


@pytest.mark.parametrize("num_envs", [1, 4, 16])
def test_derived_quantities_are_current_after_setting_the_state(num_envs: int) -> None:
    env = ManagerBasedRlEnv(cfg(num_envs))
    state = random_state(env, 3)
    env.set_state_dict(state)
    creature = env.scene.entity("creature")
    trunk = creature.data.body_pos_w[:, creature.body_names.index("trunk")]
    torch.testing.assert_close(trunk, state["creature"][:, :3])
    table = env.scene.entity("table")
    top = table.data.body_pos_w[:, table.body_names.index("top")]
    torch.testing.assert_close(top, state["table"][:, :3])


def test_one_row_applies_to_all_worlds_and_omitted_entities_are_unchanged(
    env: ManagerBasedRlEnv,
) -> None:
    env.set_state_dict(random_state(env, 4))
    table = env.get_state_dict()["entities"]["table"]
    row = random_state(env, 5)["creature"][0]
    env.set_state_dict({"creature": row})
    after = env.get_state_dict()["entities"]
    torch.testing.assert_close(after["creature"], row.expand(4, 24))
    assert torch.equal(after["table"], table)


def test_returned_state_is_a_copy(env: ManagerBasedRlEnv) -> None:
    state = env.get_state_dict()["entities"]
    copies = {name: value.clone() for name, value in state.items()}
    env.step(torch.zeros(4, 0))
    assert all(torch.equal(value, copies[name]) for name, value in state.items())


@pytest.mark.parametrize(
    "state, message",
    [
        (
            {"creatures": torch.zeros(4, 24)},
            "The state has an entity 'creatures', which is not in the scene. Valid "
            "names, nearest first: 'creature', 'table'.",
        ),
        (
            {"entities": {"creature": torch.zeros(4, 23)}},
            "The state of 'creature' has shape (4, 23); it has to be (4, 24): pos 3, "
            "quat 4, lin_vel 3, ang_vel 3, joint_pos 2, joint_vel 2, ball_quat 4, "
            "ball_vel 3.",
        ),
        (
            {"table": torch.zeros(3, 15)},
            "The state of 'table' has shape (3, 15); it has to be (4, 15): pos 3, "
            "quat 4, lin_vel 3, ang_vel 3, joint_pos 1, joint_vel 1.",
        ),
        (
            {"table": torch.zeros(4, 15, dtype=torch.int64)},
            "The state of 'table' is torch.int64; it has to be float32.",
        ),
        (
            {},
            "The state is empty; it has to map entity names to tensors. "
            "Valid names: 'creature', 'table'.",
        ),
    ],
)
def test_a_state_that_does_not_fit_is_refused_before_anything_is_written(
    env: ManagerBasedRlEnv, state: dict[str, Any], message: str
) -> None:
    before = env.sim.data.qpos.clone()
    with pytest.raises(StateError) as caught:
        env.set_state_dict(state)
    assert str(caught.value) == message
    assert torch.equal(env.sim.data.qpos, before)


def test_a_mask_of_the_wrong_shape_is_refused(env: ManagerBasedRlEnv) -> None:
    with pytest.raises(ValueError, match=r"bool tensor of shape \(4,\)"):
        env.set_state_dict(env.get_state_dict(), torch.ones(3, dtype=torch.bool))
