"""Settings spelled as in mjlab 1.6 and Isaac Lab."""

import mujoco
import pytest

from mjlab.actuator import PositionActuatorCfg
from mjlab.config import SPELLINGS
from mjlab.entity import EntityCfg, InitialStateCfg
from mjlab.envs import ViewerCfg
from mjlab.managers import ObservationGroupCfg, ObservationTermCfg
from mjlab.managers.term import BoundTerm, TermCfg
from mjlab.mdp import (
    UniformVelocityCommandCfg,
    VelocityRanges,
    joint_vel_rel,
    randomize,
)
from mjlab.scene import SceneCfg
from mjlab.sensor import ObjRef, RayCastSensorCfg
from mjlab.sim import MujocoCfg
from mjlab.tasks.velocity.mdp import foot_height
from mjlab.terrain import FlatCfg, TerrainCfg, all_terrains
from tests.worlds.term_world import TermWorld

FRAME = ObjRef(type="body", name="base", entity="robot")
FORWARD = VelocityRanges(
    lin_vel_x=(0.0, 1.0), lin_vel_y=(0.0, 0.0), ang_vel_z=(0.0, 0.0)
)
GAINS = {"stiffness": 1.0, "damping": 0.1}
TWIST = {"resampling_time_range": (1.0, 2.0), "ranges": FORWARD}
CASES = [
    (PositionActuatorCfg, GAINS, "target_names_expr", "target_names", (".*",)),
    (EntityCfg, {}, "spec_fn", "source", mujoco.MjSpec),
    (SceneCfg, {}, "spec_fn", "edit_spec", print),
    (InitialStateCfg, {}, "rot", "quat", (0.0, 0.0, 0.0, 1.0)),
    (MujocoCfg, {}, "disableflags", "disable", ("contact",)),
    (MujocoCfg, {}, "enableflags", "enable", ("energy",)),
    (TerrainCfg, {}, "terrain_type", "kind", "generator"),
    (TerrainCfg, {}, "terrain_generator", "generator", all_terrains()),
    (FlatCfg, {}, "flat_patch_sampling", "flat_patches", {}),
    (ViewerCfg, {}, "entity_name", "entity", "robot"),
    (ViewerCfg, {}, "body_name", "body", "torso"),
    (ViewerCfg, {}, "env_idx", "world", 3),
    (UniformVelocityCommandCfg, TWIST, "asset_name", "entity_name", "dog"),
    (
        RayCastSensorCfg,
        {"name": "a", "frame": FRAME},
        "ray_alignment",
        "alignment",
        "base",
    ),
    (
        RayCastSensorCfg,
        {"name": "a", "frame": FRAME},
        "include_geom_groups",
        "geom_groups",
        (0, 1),
    ),
]


@pytest.mark.parametrize(("cls", "more", "theirs", "ours", "value"), CASES)
def test_a_setting_spelled_as_elsewhere_is_ours(cls, more, theirs, ours, value):
    assert cls(**more, **{theirs: value}) == cls(**more, **{ours: value})
    cfg = cls(**more, **({ours: value} if ours in ("source", "target_names") else {}))
    setattr(cfg, theirs, value)
    assert getattr(cfg, ours) == getattr(cfg, theirs) == value
    assert theirs not in vars(cfg)


PARAMETERS = {
    "bias_range": ("ranges", randomize.encoder_bias, (0.1, 0.2)),
    "shared_random": ("shared", randomize.geom_friction, True),
    "sensor_name": ("height_sensor_name", foot_height, "feet"),
}


@pytest.mark.parametrize("theirs", PARAMETERS)
def test_a_parameter_spelled_as_elsewhere_is_ours(theirs):
    ours, func, value = PARAMETERS[theirs]
    more = {"ranges": (0.5, 1.0)} if theirs == "shared_random" else {}
    cfg = TermCfg(func=func, params={theirs: value, **more})
    term = BoundTerm("it", cfg, TermWorld(), kind="event")
    assert term.params[ours] == value and theirs not in term.params
    assert cfg.params[theirs] == value, "A declaration is never written to."


def test_a_name_that_is_spelled_nowhere_is_named_when_it_is_read():
    with pytest.raises(
        AttributeError, match=r"TerrainCfg has no field 'kinds'.*'kind'"
    ):
        _ = TerrainCfg().kinds  # pyright: ignore


def test_every_spelling_is_tried_here():
    assert {case[2] for case in CASES} | {*PARAMETERS} == {*SPELLINGS}


def test_two_spellings_of_one_setting_are_refused():
    with pytest.raises(TypeError, match=r"MujocoCfg is given 'disable' twice, as 'dis"):
        MujocoCfg(disable=(), disableflags=("contact",))  # pyright: ignore


def test_a_name_that_is_a_field_itself_keeps_its_meaning():
    cfg = UniformVelocityCommandCfg(**TWIST, entity_name="dog")
    assert cfg.entity_name == "dog"
    with pytest.raises(TypeError, match=r"MujocoCfg has no field 'rot'"):
        MujocoCfg(rot=1)  # pyright: ignore


def test_the_first_field_needs_no_name():
    terms = {"speed": ObservationTermCfg(joint_vel_rel)}
    group = ObservationGroupCfg(terms, enable_corruption=False)
    wanted = ObservationTermCfg(func=joint_vel_rel)
    assert group == ObservationGroupCfg(
        terms={"speed": wanted}, enable_corruption=False
    )
    with pytest.raises(TypeError, match="positional"):
        ObservationTermCfg(joint_vel_rel, {})  # pyright: ignore


def test_the_initial_state_is_found_inside_the_entity_too():
    assert EntityCfg.InitialStateCfg(rot=(0.0, 1.0, 0.0, 0.0)).quat[1] == 1.0
