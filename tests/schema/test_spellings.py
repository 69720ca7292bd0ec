"""Settings spelled as in mjlab 1.6 and Isaac Lab."""

import mujoco
import pytest

from mjlab.actuator import PositionActuatorCfg
from mjlab.config import SPELLINGS
from mjlab.entity import EntityCfg, InitialStateCfg
from mjlab.envs import ViewerCfg
from mjlab.managers import ObservationGroupCfg, ObservationTermCfg
from mjlab.mdp import UniformVelocityCommandCfg, VelocityRanges, joint_vel_rel
from mjlab.scene import SceneCfg
from mjlab.sensor import ObjRef, RayCastSensorCfg
from mjlab.sim import MujocoCfg
from mjlab.terrain import FlatCfg, TerrainCfg, all_terrains

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
    assert getattr(cfg, ours) == value
    assert theirs not in vars(cfg)


def test_every_spelling_is_tried_here():
    assert {case[2] for case in CASES} == {*SPELLINGS}


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
