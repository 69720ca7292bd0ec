"""Model randomisation: samples, written fields, and derived constants."""

import copy
import dataclasses
import math
from typing import Any

import mujoco
import numpy as np
import pytest
import torch

from mjlab.actuator import PositionActuatorCfg
from mjlab.entity import ArticulationCfg
from mjlab.managers.event import EventManager, EventTermCfg, required_fields
from mjlab.managers.term import TermError
from mjlab.mdp import projected_gravity
from mjlab.mdp import randomize as dr
from mjlab.mdp.randomize.actuators import chosen_actuators
from mjlab.mdp.randomize.inertia import principal_axes
from mjlab.scene import SceneEntityCfg
from mjlab.tensors.math import quat_to_matrix
from tests.worlds.fake_env import FakeEnv
from tests.worlds.physics_env import from_xml
from tests.worlds.small_world import BODIES, robot, row, rows_equal, small_world

OBJ = mujoco.mjtObj


def built(func: Any, num_envs: int = 4, **params: Any) -> tuple[FakeEnv, EventManager]:
    """Worlds whose model one event varies at resets."""
    return built_of(num_envs, event=cfg(func, **params))


def cfg(func: Any, **params: Any) -> EventTermCfg:
    return EventTermCfg(func=func, mode="reset", params=params)


def built_of(
    num_envs: int = 4, **terms: EventTermCfg | None
) -> tuple[FakeEnv, EventManager]:
    env = small_world(num_envs, vary=required_fields(terms))
    return env, EventManager(terms, env)  # type: ignore[arg-type]


def apply(env: FakeEnv, events: EventManager, *worlds: int) -> None:
    """A reset of some worlds, or of all of them."""
    mask = env.mask(*worlds) if worlds else env.everyone
    env.rng.advance(mask)
    events.apply("reset", mask=mask)
    if events.asks_constants_in:
        env.sim.recompute_constants(events.constants_mask)
        events.constants_mask.zero_()


def body(**names: Any) -> SceneEntityCfg:
    return SceneEntityCfg("robot", **names)


# --- Which numbers are written --------------------------------------------------------


def test_only_worlds_of_the_mask_are_written():
    env, events = built(dr.geom_friction, ranges=(2.0, 3.0))
    before = env.sim.model.geom_friction.clone()
    apply(env, events, 1, 3)
    same = rows_equal(before, env.sim.model.geom_friction)
    assert same.tolist() == [True, False, True, False]


def test_only_chosen_elements_and_axes_are_written():
    env, events = built(
        dr.geom_friction, ranges=(2.0, 3.0), asset_cfg=body(geom_names=".*_foot")
    )
    apply(env, events)
    live = env.sim.model.geom_friction
    changed = (live != env.sim.default("geom_friction")).any(dim=0)
    feet = [row(env, OBJ.mjOBJ_GEOM, f"{side}_foot") for side in ("left", "right")]
    expected = torch.zeros_like(changed)
    expected[feet, 0] = True
    assert torch.equal(changed, expected)
    assert bool(((live[:, feet, 0] >= 2.0) & (live[:, feet, 0] <= 3.0)).all())


def test_non_adjacent_elements_are_written_in_order():
    names = ("right_foot", "trunk")
    env, events = built(
        dr.geom_friction,
        ranges={"trunk": (1.5, 1.5), "right_foot": (2.5, 2.5)},
        asset_cfg=body(geom_names=names, preserve_order=True),
    )
    apply(env, events)
    live = env.sim.model.geom_friction[:, :, 0]
    assert live[:, row(env, OBJ.mjOBJ_GEOM, "trunk")].tolist() == [1.5] * 4
    assert live[:, row(env, OBJ.mjOBJ_GEOM, "right_foot")].tolist() == [2.5] * 4
    assert live[:, row(env, OBJ.mjOBJ_GEOM, "left_foot")].tolist() == [1.0] * 4


def test_events_on_different_axes_leave_each_other_alone():
    env, events = built_of(
        slide=cfg(dr.geom_friction, ranges=(2.0, 2.0)),
        spin=cfg(dr.geom_friction, ranges={"torsional": (0.25, 0.25)}),
        roll=cfg(dr.geom_friction, ranges=(0.5, 0.5), axes=(2,)),
    )
    apply(env, events)
    assert env.sim.model.geom_friction[3, -1].tolist() == [2.0, 0.25, 0.5]


def test_ranges_can_be_given_by_pattern_and_axis():
    env, events = built(
        dr.geom_friction,
        ranges={
            "left_.*": {0: (2.0, 2.0), "rolling": (0.5, 0.5)},
            "trunk": (4.0, 4.0),
        },
    )
    apply(env, events)
    live = env.sim.model.geom_friction[0]
    left, right = (row(env, OBJ.mjOBJ_GEOM, f"{s}_foot") for s in ("left", "right"))
    assert live[left].tolist() == [2.0, pytest.approx(0.005), 0.5]
    assert live[row(env, OBJ.mjOBJ_GEOM, "trunk"), 0] == 4.0
    assert torch.equal(live[right], env.sim.default("geom_friction")[right])


@pytest.mark.parametrize(
    ("operation", "expected"), [("abs", 3.0), ("scale", 1.5), ("add", 3.5)]
)
def test_operations_start_from_the_compiled_value(operation: str, expected: float):
    env, events = built(dr.joint_damping, ranges=(3.0, 3.0), operation=operation)
    for _ in range(3):
        apply(env, events)
    assert env.sim.model.dof_damping[:, 6:].tolist() == [[expected] * 2] * 4
    assert env.sim.model.dof_damping[:, :6].tolist() == [[0.0] * 6] * 4


def test_a_hundred_applications_do_not_drift():
    env, events = built(dr.joint_armature, num_envs=2, ranges=(0.8, 1.2))
    for _ in range(100):
        apply(env, events)
        scale = env.sim.model.dof_armature[:, 6:] / 0.01
        assert 0.8 <= scale.min() and scale.max() <= 1.2000001


def test_an_option_is_randomised():
    env, events = built(dr.gravity, ranges={"z": (-1.0, 1.0)})
    apply(env, events, 0)
    gravity = env.sim.model["opt.gravity"]
    assert gravity[1:].tolist() == [[0.0, 0.0, pytest.approx(-9.81)]] * 3
    assert 0.0 < abs(gravity[0, 2] + 9.81) <= 1.0
    env.sim.step()
    fallen = env.sim.data.qvel[:, 2] / env.sim.timestep
    torch.testing.assert_close(fallen, gravity[:, 2], rtol=1e-4, atol=1e-4)


def test_projected_gravity_uses_the_direction_of_gravity_of_its_own_world():
    env, _ = built(dr.gravity, ranges={"x": (0.0, 0.0)})
    gravity = env.sim.model["opt.gravity"]
    gravity[1] = torch.tensor([0.0, 3.0, -4.0])
    gravity[2] = torch.tensor([5.0, 0.0, 0.0])
    gravity[3] = 0.0
    # Turned by 90 degrees about x: the link's y is the world's z, its z the world's -y.
    turned = torch.tensor([0.0, 0.0, 1.0, 0.5**0.5, 0.5**0.5, 0.0, 0.0])
    robot = env.scene.entity("robot")
    robot.write_root_pose_w(torch.ones(4, dtype=torch.bool), turned.expand(4, 7))
    down = torch.tensor([[0.0, -1.0, 0.0], [0.0, -0.8, -0.6], [1.0, 0.0, 0.0]])
    felt = projected_gravity(env, body().resolve(env.scene))
    # Weightless, a robot takes -z for down.
    torch.testing.assert_close(felt, torch.cat((down, down[:1])))


def test_any_field_is_randomised_by_its_name():
    env, events = built(
        dr.randomize_field,
        field="jnt_solref",
        ranges=(0.1, 0.1),
        axes=(0,),
        asset_cfg=body(joint_names="left_hip"),
    )
    apply(env, events)
    left = row(env, OBJ.mjOBJ_JOINT, "left_hip")
    assert env.sim.model.jnt_solref[:, left, 0].tolist() == [pytest.approx(0.1)] * 4
    assert env.sim.model.jnt_solref[:, left, 1].tolist() == [1.0] * 4


COUPLED = """
<mujoco>
  <option timestep="0.002" gravity="0 0 0"/>
  <worldbody>
    <body name="base">
      <body name="a"><joint name="a" axis="0 0 1"/>
        <geom size=".1" pos=".2 0 0" mass="1" contype="0" conaffinity="0"/></body>
      <body name="b" pos="0 1 0"><joint name="b" axis="0 0 1"/>
        <geom size=".1" pos=".2 0 0" mass="1" contype="0" conaffinity="0"/></body>
    </body>
  </worldbody>
  <equality>
    <joint name="gear" joint1="a" joint2="b" polycoef="0 1 0 0 0"/>
    <joint name="other" joint1="a" polycoef="0 1 0 0 0" active="false"/>
  </equality>
</mujoco>
"""


def test_equality_constraints_are_varied_as_mujoco_c_computes_them():
    gear = body(equality_names="gear")
    terms = {
        "spring": cfg(
            dr.equality_solref,
            ranges={0: (-90.0, -30.0), 1: (-2.0, -1.0)},
            asset_cfg=gear,
        ),
        "offset": cfg(dr.equality_data, ranges=(-0.2, 0.2), axes=(0,), asset_cfg=gear),
    }
    coupled = from_xml(COUPLED)
    env = small_world(4, vary=required_fields(terms), entity=coupled)
    events = EventManager(terms, env)  # type: ignore[arg-type]
    apply(env, events, 0, 1, 2)
    model = copy.copy(env.sim.mj_model)
    springs, offsets = env.sim.model.eq_solref[:, 0], env.sim.model.eq_data[:, 0, 0]
    assert len({*springs[:, 0].tolist()}) == len({*offsets.tolist()}) == 4
    assert rows_equal(
        env.sim.model.eq_solref[:, 1:], env.sim.default("eq_solref")[1:].expand(4, 1, 2)
    ).all()
    env.sim.data.qpos[:, 1] = 0.5
    for _ in range(20):
        env.sim.step()
    for world in range(4):
        model.eq_solref[0] = springs[world].numpy()
        model.eq_data[0, 0] = float(offsets[world])
        data = mujoco.MjData(model)
        data.qpos[1] = 0.5
        mujoco.mj_step(model, data, nstep=20)
        found = env.sim.data.qpos[world].numpy()
        np.testing.assert_allclose(found, data.qpos, atol=1e-5)


# --- What is drawn --------------------------------------------------------------------


def drawn(num_envs: int = 4000, **params: Any) -> torch.Tensor:
    """Damping factors of the left hip in many worlds."""
    env, events = built(
        dr.joint_damping,
        num_envs,
        operation="abs",
        asset_cfg=body(joint_names="left_hip"),
        **params,
    )
    apply(env, events)
    return env.sim.model.dof_damping[:, 6]


def test_buckets_are_centres_of_equal_intervals():
    values = drawn(ranges=(0.5, 2.5), num_buckets=4)
    kinds, counts = values.unique(return_counts=True)
    torch.testing.assert_close(kinds, torch.tensor([0.75, 1.25, 1.75, 2.25]))
    # Of 4000 draws a bucket gets 1000, with a standard deviation of 27.
    assert (counts - 1000).abs().max() < 5 * 27
    values = drawn(64, ranges=(0.01, 1.0), num_buckets=2, distribution="log_uniform")
    torch.testing.assert_close(values.unique(), torch.tensor([10.0**-1.5, 10.0**-0.5]))


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"num_buckets": 0}, "num_buckets is 0; it has to be 1 or more"),
        ({"num_buckets": 9, "distribution": "gaussian"}, "a gaussian has no buckets"),
    ],
)
def test_impossible_buckets_are_refused(params: dict[str, Any], message: str):
    with pytest.raises(TermError, match=message):
        drawn(1, ranges=(0.5, 2.5), **params)


def test_uniform_draws_are_even_over_their_range():
    values = drawn(ranges=(0.5, 2.5))
    seen = torch.histc(values, bins=20, min=0.5, max=2.5)
    assert seen.sum() == 4000
    # 19 degrees of freedom: 43.8 is passed once in a thousand.
    assert ((seen - 200.0) ** 2 / 200.0).sum() < 43.8


def test_logarithms_of_log_uniform_draws_are_even_over_their_range():
    values = drawn(ranges=(0.1, 10.0), distribution="log_uniform").log10()
    seen = torch.histc(values, bins=20, min=-1.0, max=1.0)
    assert seen.sum() == 4000
    assert ((seen - 200.0) ** 2 / 200.0).sum() < 43.8


def test_gaussian_draws_have_mean_and_standard_deviation_of_their_range():
    values = drawn(ranges=(3.0, 0.5), distribution="gaussian")
    assert abs(values.mean() - 3.0) < 4 * 0.5 / math.sqrt(4000)
    assert abs(values.std() - 0.5) < 4 * 0.5 / math.sqrt(8000)


def test_gaussian_draws_below_the_valid_range_are_clamped():
    values = drawn(400, ranges=(0.0, 1.0), distribution="gaussian")
    assert values.min() == 0.0
    assert 0.3 < (values == 0.0).float().mean() < 0.7


def test_shared_draws_are_one_number_for_all_elements_on_an_axis():
    env, events = built(
        dr.geom_friction, ranges=(0.5, 2.0), axes=(0, 1), shared_random=True
    )
    apply(env, events)
    robot = env.sim.model.geom_friction
    assert bool((robot[:, :, :2] == robot[:, :1, :2]).all())
    assert bool((robot[:, 0, 0] != robot[:, 0, 1]).all())
    assert len(set(robot[:, 0, 0].tolist())) == 4


def test_elements_are_sampled_separately_unless_shared():
    env, events = built(dr.geom_friction, ranges=(0.5, 2.0))
    apply(env, events)
    assert len(set(env.sim.model.geom_friction[0, :, 0].tolist())) == 5


def test_terms_of_a_group_draw_the_same_numbers_and_others_do_not():
    left, right = (body(geom_names=f"{side}_foot") for side in ("left", "right"))
    env, events = built_of(
        one=cfg(dr.geom_friction, ranges=(0.0, 1.0), group="feet", asset_cfg=left),
        two=cfg(dr.geom_friction, ranges=(0.0, 2.0), group="feet", asset_cfg=right),
        own=cfg(
            dr.geom_friction, ranges=(0.0, 1.0), asset_cfg=body(geom_names="trunk")
        ),
    )
    apply(env, events)
    friction = env.sim.model.geom_friction[:, :, 0]
    first, second, alone = (
        friction[:, row(env, OBJ.mjOBJ_GEOM, name)]
        for name in ("left_foot", "right_foot", "trunk")
    )
    torch.testing.assert_close(second, 2.0 * first)
    assert not torch.equal(alone, first)


@pytest.mark.parametrize("distribution", ["uniform", "log_uniform", "gaussian"])
def test_samples_do_not_depend_on_the_number_of_worlds(distribution: str):
    few, many = (
        drawn(n, ranges=(0.5, 2.0), distribution=distribution) for n in (1, 65)
    )
    assert torch.equal(few, many[:1])
    assert torch.equal(drawn(7, ranges=(0.5, 2.0)), drawn(64, ranges=(0.5, 2.0))[:7])


def test_a_live_range_can_widen_while_training():
    env, events = built(dr.joint_damping, ranges=(1.0, 1.0))
    live = events.term("event").live("ranges")
    apply(env, events)
    assert env.sim.model.dof_damping[:, 6:].tolist() == [[0.5, 0.5]] * 4
    live.copy_(torch.tensor([4.0, 6.0]))
    apply(env, events)
    assert env.sim.model.dof_damping[:, 6:].min() >= 2.0
    assert events.state()["event.params.ranges"] is live


# --- Mass, centre of mass and inertia -------------------------------------------------


def inertials(model: mujoco.MjModel, name: str) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, centre of mass, and inertia about it in the body's axes, of a model."""
    body_id = model.body(f"robot/{name}").id
    rotation = np.zeros(9)
    mujoco.mju_quat2Mat(rotation, model.body_iquat[body_id])
    rotation = rotation.reshape(3, 3)
    inertia = rotation @ np.diag(model.body_inertia[body_id]) @ rotation.T
    return float(model.body_mass[body_id]), model.body_ipos[body_id].copy(), inertia


def pseudo(mass: float, offset: np.ndarray, inertia: np.ndarray) -> np.ndarray:
    """The pseudo-inertia matrix (Wensing, Kim and Slotine 2018, equation 9)."""
    sigma = 0.5 * np.trace(inertia) * np.eye(3) - inertia
    sigma += mass * np.outer(offset, offset)
    first = mass * offset[:, None]
    return np.block([[sigma, first], [first.T, np.array([[mass]])]])


def assert_constants_are_those_of_mujoco(env: FakeEnv, world: int) -> None:
    """Compare a world's derived constants with `mj_setConst` of a copy."""
    ours = env.sim.engine.mj_model_of(world)
    theirs = copy.copy(ours)
    mujoco.mj_setConst(theirs, mujoco.MjData(theirs))
    for field in (
        "body_subtreemass",
        "body_invweight0",
        "dof_invweight0",
        "dof_M0",
        "actuator_acc0",
        "tendon_invweight0",
        "tendon_length0",
    ):
        np.testing.assert_allclose(
            getattr(ours, field), getattr(theirs, field), rtol=1e-6, err_msg=field
        )


MASS_TERMS: dict[str, EventTermCfg] = {
    "mass": cfg(dr.body_mass, ranges=(0.5, 2.0)),
    "com": cfg(dr.body_com_offset, ranges=(-0.05, 0.05)),
    "pseudo": cfg(
        dr.pseudo_inertia,
        alpha_range=(-0.3, 0.3),
        d_range=(-0.3, 0.3),
        s_range=(-0.2, 0.2),
        t_range=(-0.05, 0.05),
    ),
    "payload": cfg(
        dr.payload, mass_range=(1.0, 3.0), asset_cfg=body(body_names="torso")
    ),
    "armature": cfg(dr.joint_armature, ranges=(2.0, 5.0)),
    "pos": cfg(dr.body_pos, ranges=(-0.05, 0.05), asset_cfg=body(body_names=".*_leg")),
    "quat": cfg(dr.body_quat, ranges=(-0.5, 0.5), asset_cfg=body(body_names=".*_leg")),
    "qpos0": cfg(dr.joint_default_pos, ranges=(-0.3, 0.3)),
}


@pytest.mark.parametrize("name", MASS_TERMS)
def test_constants_are_updated_only_in_changed_worlds(name: str):
    env, events = built_of(term=MASS_TERMS[name])
    # The whole model of a world that is not reset keeps its bits, in float64.
    before = env.sim.engine.mj_model_of(0)
    apply(env, events, 1, 2)
    after = env.sim.engine.mj_model_of(0)
    for field in sorted(required_fields({"term": MASS_TERMS[name]})):
        np.testing.assert_array_equal(getattr(before, field), getattr(after, field))
    np.testing.assert_array_equal(before.dof_invweight0, after.dof_invweight0)
    changed = env.sim.engine.mj_model_of(1)
    # Joints at their reference leave bodies where they are, wherever that is.
    constant = "tendon_length0" if name == "qpos0" else "dof_invweight0"
    difference = getattr(changed, constant) - getattr(before, constant)
    assert np.abs(difference).max() > 1e-3
    for world in range(3):
        assert_constants_are_those_of_mujoco(env, world)


def test_constants_stay_correct_after_many_randomisations():
    env, events = built_of(2, **MASS_TERMS)
    for _ in range(10):
        apply(env, events, 1)
    assert_constants_are_those_of_mujoco(env, 1)


def test_inertia_scales_with_mass():
    env, events = built(
        dr.body_mass, ranges=(0.5, 2.0), asset_cfg=body(body_names="torso")
    )
    apply(env, events)
    torso = row(env, OBJ.mjOBJ_BODY, "torso")
    mass = env.sim.model.body_mass[:, torso]
    inertia = env.sim.model.body_inertia[:, torso]
    expected = (mass / 4.0)[:, None] * torch.tensor([0.05, 0.04, 0.03])
    torch.testing.assert_close(inertia, expected)
    assert mass.min() >= 2.0 and mass.max() <= 8.0 and mass.unique().numel() == 4


def test_inertia_is_unchanged_when_only_mass_is_varied():
    env, events = built(dr.body_mass, ranges=(2.0, 2.0), scale_inertia=False)
    assert required_fields({"e": cfg(dr.body_mass, scale_inertia=False)}) == {
        "body_mass"
    }
    apply(env, events)
    torso = row(env, OBJ.mjOBJ_BODY, "torso")
    assert env.sim.model.body_mass[0, torso] == 8.0
    torch.testing.assert_close(
        env.sim.model.body_inertia[0, torso], torch.tensor([0.05, 0.04, 0.03])
    )


def test_a_deformed_mass_distribution_matches_rucker_and_wensing():
    ten = {
        "alpha_range": (0.2, 0.2),
        "d_range": {"d1": (0.1, 0.1), "d2": (-0.2, -0.2), "d3": (0.3, 0.3)},
        "s_range": {"s12": (0.1, 0.1), "s13": (-0.3, -0.3), "s23": (0.2, 0.2)},
        "t_range": {"t1": (0.01, 0.01), "t2": (-0.02, -0.02), "t3": (0.03, 0.03)},
    }
    env, events = built(dr.pseudo_inertia, **ten)
    apply(env, events, 1)
    # Their equation for U, whose columns d, s and t act about the centre of mass.
    upper = math.exp(0.2) * np.array(
        [
            [math.exp(0.1), 0.1, -0.3, 0.01],
            [0.0, math.exp(-0.2), 0.2, -0.02],
            [0.0, 0.0, math.exp(0.3), 0.03],
            [0.0, 0.0, 0.0, 1.0],
        ]
    )
    for name in BODIES:
        mass, com, inertia = inertials(env.sim.mj_model, name)
        expected = upper @ pseudo(mass, np.zeros(3), inertia) @ upper.T
        changed = inertials(env.sim.engine.mj_model_of(1), name)
        ours = pseudo(changed[0], changed[1] - com, changed[2])
        np.testing.assert_allclose(ours, expected, rtol=2e-5, atol=1e-7)


def test_a_zero_deformation_leaves_the_mass_distribution_unchanged():
    env, events = built(dr.pseudo_inertia, 2)
    apply(env, events, 1)
    for name in BODIES:
        before = inertials(env.sim.mj_model, name)
        after = inertials(env.sim.engine.mj_model_of(1), name)
        for one, other in zip(before, after, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-8)


def test_deformed_inertias_are_physical():
    env, events = built(
        dr.pseudo_inertia,
        64,
        alpha_range=(-1.0, 1.0),
        d_range=(-1.0, 1.0),
        s_range=(-1.0, 1.0),
    )
    apply(env, events)
    moments = env.sim.model.body_inertia[:, 1:].sort(dim=-1).values
    assert moments.min() > 0.0
    slack = moments[..., 0] + moments[..., 1] - moments[..., 2]
    assert bool((slack > -1e-6 * moments[..., 2]).all())
    quat = env.sim.model.body_iquat[:, 1:]
    torch.testing.assert_close(quat.norm(dim=-1), torch.ones(64, 3))


def test_a_payload_matches_a_body_with_one_more_geom_in_mujoco():
    env, events = built(
        dr.payload,
        mass_range=(1.5, 1.5),
        pos_range={"x": (0.1, 0.1), "z": (0.2, 0.2)},
        half_size=(0.05, 0.1, 0.02),
        asset_cfg=body(body_names="torso"),
    )
    apply(env, events, 2)
    # MuJoCo's compiler adds up the inertia of geoms, which is what is compared with:
    # the torso's own inertial as a box of the same mass and inertia, and the payload.
    mass, com, inertia = inertials(env.sim.mj_model, "torso")
    values, axes = np.linalg.eigh(inertia)
    axes[:, 0] *= np.sign(np.linalg.det(axes))
    half = np.sqrt(1.5 * (values.sum() - 2 * values) / mass)
    quat = np.zeros(4)
    mujoco.mju_mat2Quat(quat, axes.flatten())
    text = " ".join
    model = mujoco.MjModel.from_xml_string(f"""
      <mujoco><worldbody><body name="robot/torso">
        <geom type="box" mass="{mass}" pos="{text(map(repr, com.tolist()))}"
          size="{text(map(repr, half.tolist()))}"
          quat="{text(map(repr, quat.tolist()))}"/>
        <geom type="box" size=".05 .1 .02" pos=".1 0 .2" mass="1.5"/>
      </body></worldbody></mujoco>""")
    expected = inertials(model, "torso")
    ours = inertials(env.sim.engine.mj_model_of(2), "torso")
    for one, other in zip(ours, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-7)
    untouched = inertials(env.sim.engine.mj_model_of(1), "torso")
    assert untouched[0] == mass


def test_principal_axes_rebuild_the_matrix_and_are_right_handed():
    random = torch.Generator().manual_seed(0)
    root = torch.randn(50, 2, 3, 3, generator=random, dtype=torch.float64)
    inertia = root @ root.mT
    mask = torch.rand(50, generator=random) < 0.5
    moments, axes = principal_axes(inertia, mask)
    rebuilt = axes @ torch.diag_embed(moments) @ axes.mT
    torch.testing.assert_close(rebuilt[mask], inertia[mask])
    torch.testing.assert_close(
        torch.linalg.det(axes), torch.ones(50, 2, dtype=torch.float64)
    )
    assert bool((moments[..., :-1] >= moments[..., 1:]).all())
    assert not moments[~mask].any()


def test_the_kernel_of_principal_axes_agrees_with_lapack():
    from mjlab.mdp.randomize.principal_kernel import launch_principal_axes

    random = torch.Generator().manual_seed(1)
    root = torch.randn(40, 2, 3, 3, generator=random, dtype=torch.float64)
    inertia = root @ root.mT
    inertia[0] = torch.eye(3) * 2.0
    inertia[1] = torch.diag(torch.tensor([1.0, 3.0, 3.0]))
    mask = torch.arange(40) % 3 != 2
    expected, _ = principal_axes(inertia, mask)
    moments, axes = torch.empty_like(expected), torch.empty_like(inertia)
    launch_principal_axes(inertia, mask, moments, axes)
    torch.testing.assert_close(moments, expected, rtol=1e-6, atol=1e-6)
    rebuilt = axes @ torch.diag_embed(moments) @ axes.mT
    torch.testing.assert_close(rebuilt[mask], inertia[mask], rtol=1e-6, atol=1e-6)
    torch.testing.assert_close(
        torch.linalg.det(axes), torch.ones(40, 2, dtype=torch.float64)
    )


# --- Terms that do more than write ----------------------------------------------------


def test_randomised_body_orientation_is_roll_pitch_yaw_of_the_compiled_one():
    env, events = built(
        dr.body_quat,
        ranges={"roll": (0.3, 0.3), "yaw": (-0.7, -0.7)},
        asset_cfg=body(body_names="left_leg"),
    )
    apply(env, events, 1)
    env.sim.forward()
    # The leg's own frame in the torso's: first about its x axis, then about torso's z.
    roll, yaw = np.zeros(4), np.zeros(4)
    mujoco.mju_axisAngle2Quat(roll, [1, 0, 0], 0.3)
    mujoco.mju_axisAngle2Quat(yaw, [0, 0, 1], -0.7)
    expected = np.zeros(4)
    mujoco.mju_mulQuat(expected, yaw, roll)
    leg = row(env, OBJ.mjOBJ_BODY, "left_leg")
    np.testing.assert_allclose(env.sim.data.xquat[1, leg], expected, atol=1e-6)
    assert env.sim.data.xquat[0, leg].tolist() == [1.0, 0.0, 0.0, 0.0]


def test_moved_geoms_are_where_kinematics_puts_them():
    env, events = built(
        dr.geom_pos,
        ranges={"x": (0.05, 0.05)},
        asset_cfg=body(geom_names="trunk"),
    )
    apply(env, events, 1)
    env.sim.forward()
    trunk = row(env, OBJ.mjOBJ_GEOM, "trunk")
    x = env.sim.data.geom_xpos[:, trunk, 0].tolist()
    # MuJoCo skips this offset unless its flag of equal frames is derived anew.
    assert x == [0.0, pytest.approx(0.05), 0.0, 0.0]


@pytest.mark.parametrize("geom", ["trunk", "left_foot", "left_shank", "right_shank"])
def test_bounding_volumes_of_resized_geoms_are_those_of_the_compiler(geom: str):
    env, events = built(
        dr.geom_size, ranges=(0.5, 2.0), asset_cfg=body(geom_names=geom)
    )
    index = row(env, OBJ.mjOBJ_GEOM, geom)
    env.rng.advance()
    events.apply("reset", mask=env.mask(1))
    model = env.sim.mj_model
    kind = mujoco.mjtGeom(int(model.geom_type[index]))
    spec = mujoco.MjSpec()
    size = env.sim.model.geom_size[1, index].tolist()
    spec.worldbody.add_geom(type=kind, size=size)
    expected = spec.compile()
    # Before constants are derived, because MuJoCo Warp derives no bounds.
    np.testing.assert_allclose(
        env.sim.model.geom_rbound[1, index], expected.geom_rbound[0], rtol=1e-6
    )
    np.testing.assert_allclose(
        env.sim.model.geom_aabb[1, index].flatten(),
        expected.geom_aabb[0],
        rtol=1e-6,
    )
    assert env.sim.model.geom_rbound[0, index] == model.geom_rbound[index].astype("f4")


def test_limits_of_joints_change_in_the_model_and_in_the_entity():
    env, events = built(
        dr.joint_limits,
        ranges={"upper": (0.5, 0.5)},
        asset_cfg=body(joint_names="left_hip"),
    )
    apply(env, events, 0)
    data = env.scene.entity("robot").data
    assert data.joint_pos_limits[0].tolist() == [[-1.0, 0.75], [-1.0, 1.5]]
    assert data.soft_joint_pos_limits[0].tolist() == [[-1.0, 0.75], [-1.0, 1.5]]
    assert data.joint_pos_limits[1].tolist() == [[-1.0, 1.5], [-1.0, 1.5]]


def test_randomised_qpos0_shifts_default_positions():
    env, events = built(
        dr.joint_default_pos,
        ranges=(0.2, 0.2),
        asset_cfg=body(joint_names="right_hip"),
    )
    apply(env, events, 0)
    data = env.scene.entity("robot").data
    assert data.default_joint_pos[0].tolist() == [0.0, pytest.approx(0.2)]
    assert env.sim.model.qpos0[0, 7:].tolist() == [0.0, pytest.approx(0.2)]
    assert data.default_joint_pos[1].tolist() == [0.0, 0.0]


def test_encoder_bias_is_sampled():
    env, events = built(
        dr.encoder_bias,
        bias_range={"left_hip": (0.1, 0.2)},
    )
    apply(env, events, 0, 2)
    bias = env.scene.entity("robot").data.encoder_bias
    assert bias[1].tolist() == [0.0, 0.0] == bias[3].tolist()
    assert bool((bias[[0, 2], 0] >= 0.1).all()) and bias[0, 0] != bias[2, 0]
    assert not bias[:, 1].any()


def test_pair_friction_is_equal_in_both_tangent_directions():
    env, events = built(dr.pair_friction, ranges={0: (0.3, 0.9), "rolling": (0.1, 0.2)})
    apply(env, events)
    friction = env.sim.model.pair_friction[:, 0]
    assert torch.equal(friction[:, 0], friction[:, 1])
    assert torch.equal(friction[:, 3], friction[:, 4])
    assert friction[:, 0].min() >= 0.3 and friction[:, 3].max() <= 0.2
    assert friction[:, 2].tolist() == [pytest.approx(0.005)] * 4


def test_gravity_compensation_works_on_a_body_that_was_compiled_without():
    env, events = built(dr.body_gravcomp, ranges=(1.0, 1.0))
    apply(env, events, 1)
    env.sim.step()
    assert env.sim.data.qvel[0, 2] < -0.01
    assert abs(env.sim.data.qvel[1, 2]) < 1e-6


@pytest.mark.parametrize("side", ["left_hip", "right_hip"])
def test_gains_change_for_native_and_explicit_actuators(side: str):
    # One actuator of several: configurations are not what is counted here.
    env, events = built(
        dr.pd_gains,
        kp_range=(2.0, 2.0),
        kd_range=(3.0, 3.0),
        asset_cfg=body(actuator_names=side),
    )
    apply(env, events, 1)
    actuators = env.scene.entity("robot").actuators
    expected = torch.tensor([[10.0, 20.0], [1.0, 2.0]])[:, None].repeat(1, 4, 1)
    column = actuators.names.index(side)
    expected[0, 1, column] *= 2.0
    expected[1, 1, column] *= 3.0
    torch.testing.assert_close(actuators.stiffness, expected[0])
    torch.testing.assert_close(actuators.damping, expected[1])


def test_one_of_two_actuators_of_a_configuration_is_found_by_its_name():
    both = PositionActuatorCfg(
        target_names_expr=(".*_hip",), stiffness=10.0, damping=1.0
    )
    pair = dataclasses.replace(robot(), articulation=ArticulationCfg(actuators=(both,)))
    env = small_world(2, entity=pair)
    names = env.scene.entity("robot").actuators.names
    for index, name in enumerate(names):
        selection = body(actuator_names=name).resolve(env.scene)
        assert chosen_actuators(env, selection, "gains") == [index]  # type: ignore[arg-type]
    assert len(names) == 2


def test_gains_can_be_given_by_pattern_and_do_not_drift():
    env, events = built(
        dr.pd_gains, kp_range={"left_.*": (2.0, 2.0), "right_.*": (0.5, 0.5)}
    )
    for _ in range(3):
        apply(env, events)
    actuators = env.scene.entity("robot").actuators
    torch.testing.assert_close(
        actuators.stiffness, torch.tensor([[20.0, 10.0]]).repeat(4, 1)
    )


def test_effort_limits_change_for_native_and_explicit_actuators():
    env, events = built(dr.effort_limits, ranges=(0.5, 0.5))
    apply(env, events, 0)
    limits = env.scene.entity("robot").actuators.effort_limit
    assert limits.tolist() == [[2.5, 3.0], [5.0, 6.0], [5.0, 6.0], [5.0, 6.0]]


def test_geoms_get_one_of_the_named_materials():
    env, events = built(
        dr.geom_matid, num_envs=64, choices=("paint", "wood"), asset_cfg=body()
    )
    apply(env, events, *range(32))
    ids = env.sim.model.geom_matid
    names = {env.sim.mj_model.mat(i).name for i in ids[:32].unique().tolist()}
    assert names == {"robot/paint", "robot/wood"}
    assert torch.equal(ids[32:], env.sim.default("geom_matid").expand(32, -1))


def test_materials_get_one_of_the_named_textures():
    env, events = built(
        dr.mat_texid,
        num_envs=16,
        choices=("blue",),
        asset_cfg=body(material_names="paint"),
    )
    apply(env, events, 0)
    paint = row(env, OBJ.mjOBJ_MATERIAL, "paint")
    role = int(mujoco.mjtTextureRole.mjTEXROLE_RGB)
    textures = env.sim.model.mat_texid[:, paint, role].tolist()
    blue, red = (row(env, OBJ.mjOBJ_TEXTURE, name) for name in ("blue", "red"))
    assert textures == [blue] + [red] * 15


NAMED: dict[Any, dict[str, Any]] = {
    dr.body_pos: {},
    dr.joint_friction: {},
    dr.joint_stiffness: {},
    dr.geom_rgba: {"ranges": (0.0, 1.0)},
    dr.geom_solref: {"axes": (0,), "ranges": (0.02, 0.05)},
    dr.geom_solimp: {"axes": (0,), "ranges": (0.5, 0.8)},
    dr.geom_margin: {"ranges": (0.01, 0.02)},
    dr.geom_quat: {},
    dr.site_pos: {},
    dr.site_quat: {},
    dr.tendon_damping: {},
    dr.tendon_stiffness: {},
    dr.tendon_friction: {},
    dr.tendon_armature: {"operation": "abs"},
    dr.tendon_length: {"operation": "abs"},
    dr.tendon_range: {},
    dr.cam_fovy: {},
    dr.cam_pos: {},
    dr.cam_quat: {},
    dr.cam_intrinsic: {},
    dr.light_pos: {},
    dr.light_dir: {},
    dr.light_diffuse: {},
    dr.light_specular: {},
    dr.light_ambient: {},
    dr.light_attenuation: {},
    dr.light_cutoff: {},
    dr.light_exponent: {},
    dr.mat_rgba: {"ranges": (0.0, 1.0)},
    dr.mat_emission: {},
    dr.mat_specular: {},
    dr.mat_shininess: {},
    dr.mat_reflectance: {},
    dr.mat_texrepeat: {},
    dr.wind: {"ranges": (1.0, 2.0)},
    dr.density: {"ranges": (1.0, 2.0)},
    dr.viscosity: {"ranges": (1.0, 2.0)},
}


@pytest.mark.parametrize("term", NAMED, ids=lambda term: term.__name__)
def test_each_named_term_writes_its_field_in_the_worlds_of_the_mask(term: Any):
    params = {"ranges": (0.6, 0.9), **NAMED[term]}
    env, events = built(term, **params)
    (field,) = required_fields({"e": cfg(term, **params)})
    before = env.sim.model[field].clone()
    apply(env, events, 1, 3)
    after = env.sim.model[field]
    assert rows_equal(before, after).tolist() == [True, False, True, False]
    assert not torch.equal(after[1], after[3])
    if "." not in field and "quat" not in field:
        changed = (after[1] != before[1]).numpy()
        compiled, value = before[1].numpy()[changed], after[1].numpy()[changed]
        operation = params.get("operation", term.operation)
        numbers = {
            "abs": lambda: value,
            "scale": lambda: value / compiled,
            "add": lambda: value - compiled,
        }[operation]()
        low, high = params["ranges"]
        assert numbers.min() >= low - 1e-5 and numbers.max() <= high + 1e-5


# --- Errors ---------------------------------------------------------------------------

ERRORS: list[tuple[Any, dict[str, Any], str]] = [
    (
        dr.geom_friction,
        {"ranges": (0.5, 1.0), "asset_cfg": SceneEntityCfg(geom_names=())},
        "geom_friction: asset_cfg selects no geom. Name at least one.",
    ),
    (
        dr.geom_friction,
        {"ranges": {"left_foott": (0.5, 1.0)}},
        "No geom matches 'left_foott'. Valid names, nearest first: 'left_foot', ",
    ),
    (
        dr.geom_friction,
        {"ranges": (1.0, 0.5)},
        "geom_friction: the range is (1.0, 0.5); it has to be (low, high) with "
        "low <= high.",
    ),
    (
        dr.geom_friction,
        {"ranges": (0.0, 0.5), "distribution": "log_uniform"},
        "geom_friction: the range (0.0, 0.5) of a log_uniform distribution has to be "
        "positive.",
    ),
    (
        dr.geom_friction,
        {"ranges": (0.5, -0.5), "distribution": "gaussian"},
        "geom_friction: the range (0.5, -0.5) of a gaussian is (mean, std); "
        "std has to be 0 or more.",
    ),
    (
        dr.geom_friction,
        {"ranges": (0.5, 1.0), "distribution": "unifrom"},
        "geom_friction: distribution='unifrom' is unknown. Valid names, nearest first: "
        "'uniform', ",
    ),
    (
        dr.geom_friction,
        {"ranges": (0.5, 1.0), "operation": "scal"},
        "geom_friction: operation='scal' is unknown. Valid names, nearest first: "
        "'scale', ",
    ),
    (
        dr.geom_friction,
        {"ranges": {3: (0.5, 1.0)}},
        "geom_friction has no axis 3; valid axes are 0 to 2.",
    ),
    (
        dr.geom_friction,
        {"ranges": (0.5, 1.0), "axes": ("slidin",)},
        "geom_friction has no axis 'slidin'. Valid names, nearest first: 'sliding', ",
    ),
    (
        dr.geom_friction,
        {"ranges": {0: (0.5, 1.0), "trunk": (0.5, 1.0)}},
        "geom_friction: `ranges` mixes axes and name patterns: [0, 'trunk']. "
        "Nest them: {pattern: {axis: (low, high)}}.",
    ),
    (
        dr.geom_friction,
        {"ranges": 0.5},
        "geom_friction: 0.5 is not a range; write (low, high).",
    ),
    (
        dr.body_mass,
        {"ranges": (-5.0, 1.0), "operation": "add"},
        "body_mass: the range (-5.0, 1.0) with operation='add' can set the value of "
        "'torso' to -1; it has to be 1e-06 or more.",
    ),
    (
        dr.joint_limits,
        {"ranges": {"lower": (-4.0, 1.0)}},
        "joint_limits: the lower limit of 'left_hip' can become 4, above its upper "
        "limit of 1.5.",
    ),
    (
        dr.randomize_field,
        {"field": "geom_frictoin", "ranges": (0.5, 1.0)},
        "Model field 'geom_frictoin' cannot vary per world on the native engine. Valid "
        "names, nearest first: 'geom_friction', ",
    ),
    (
        dr.randomize_field,
        {"field": "hfield_data", "ranges": (0.5, 1.0)},
        "Model field 'hfield_data' cannot vary per world on the native engine. All "
        "worlds share the height fields. For other ground in each world, generate ",
    ),
    (
        dr.geom_matid,
        {"choices": ("woood",)},
        "There is no material 'woood'. Valid names, nearest first: 'robot/wood', ",
    ),
    (
        dr.pd_gains,
        {},
        "pd_gains: set kp_range, kd_range, or both.",
    ),
    (
        dr.pseudo_inertia,
        {"d_range": {"d4": (0.0, 0.1)}},
        "pseudo_inertia: d_range has an unknown key, 'd4'. Valid: ['d1', 'd2', 'd3'].",
    ),
]


@pytest.mark.parametrize(("func", "params", "message"), ERRORS)
def test_invalid_randomisation_is_an_error_that_names_the_term(
    func: Any, params: dict[str, Any], message: str
):
    env = small_world(2)
    with pytest.raises(TermError) as error:
        EventManager({"vary": cfg(func, **params)}, env)  # type: ignore[arg-type]
    assert str(error.value).startswith(f"Event term 'vary': {message}")


def test_a_selection_without_matches_is_an_error_of_the_parameter():
    env = small_world(2)
    term = cfg(dr.body_mass, ranges=(0.5, 1.0), asset_cfg=body(body_names="tors"))
    with pytest.raises(TermError) as error:
        EventManager({"mass": term}, env)  # type: ignore[arg-type]
    assert str(error.value).startswith(
        "Event term 'mass', parameter 'asset_cfg': No body of 'robot' matches 'tors'. "
        "Valid names, nearest first: 'torso', "
    )


# --- Cost -----------------------------------------------------------------------------


def test_quaternions_of_a_deformation_are_written_with_the_moments_they_belong_to():
    env, events = built(dr.pseudo_inertia, 8, s_range=(-0.3, 0.3))
    apply(env, events)
    torso = row(env, OBJ.mjOBJ_BODY, "torso")
    rotation = quat_to_matrix(env.sim.model.body_iquat[:, torso].double())
    moments = env.sim.model.body_inertia[:, torso].double()
    ours = rotation @ torch.diag_embed(moments) @ rotation.mT
    for world in range(8):
        _, _, expected = inertials(env.sim.engine.mj_model_of(world), "torso")
        np.testing.assert_allclose(ours[world], expected, rtol=1e-5, atol=1e-7)
