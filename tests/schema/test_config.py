"""A slip in a configuration is refused where it is made, with the name that is near."""

import copy
import inspect
import pickle
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

import pytest

from mjlab.actuator import ActuatorCfg
from mjlab.entity import EntityCfg
from mjlab.envs import ManagerBasedRlEnvCfg, ViewerCfg
from mjlab.managers import ObservationGroupCfg, ObservationTermCfg, RewardTermCfg
from mjlab.mdp import joint_vel_rel
from mjlab.mdp.randomize import encoder_bias, geom_friction
from mjlab.rl import PpoCfg
from mjlab.scene import SceneCfg
from mjlab.schema.annotations import WrongTypeError, check_type
from mjlab.sensor import RayCastSensorCfg, TerrainHeightSensorCfg
from mjlab.sim import MujocoCfg, SimulationCfg
from mjlab.tasks.velocity.mdp import foot_height
from mjlab.terrain import SubTerrainCfg, TerrainCfg

MJLAB_FIELDS = [
    (ActuatorCfg, "target_names_expr"),
    (EntityCfg.InitialStateCfg, "rot"),
    (MujocoCfg, "disableflags"),
    (MujocoCfg, "enableflags"),
    (RayCastSensorCfg, "include_geom_groups"),
    (RayCastSensorCfg, "ray_alignment"),
    (SceneCfg, "spec_fn"),
    (SubTerrainCfg, "flat_patch_sampling"),
    (TerrainHeightSensorCfg, "include_geom_groups"),
]
"""Fields of mjlab 1.6.0, read from its wheel, that had other names here."""

MJLAB_PARAMETERS = [
    (encoder_bias.__call__, "bias_range"),
    (foot_height, "sensor_name"),
    (geom_friction.__call__, "shared_random"),
]
"""Parameters of terms of mjlab 1.6.0, likewise."""


@pytest.mark.parametrize(
    ("kind", "slip", "meant"),
    [
        (SceneCfg, "num_env", "num_envs"),
        (SimulationCfg, "njmx", "njmax"),
        (PpoCfg, "learning_rat", "learning_rate"),
        (RewardTermCfg, "wieght", "weight"),
    ],
)
def test_an_unknown_argument_is_refused_with_the_nearest(kind, slip, meant):
    with pytest.raises(TypeError) as caught:
        kind(**{slip: 3})
    said = f"{kind.__name__} has no field '{slip}'. Valid names, nearest first: "
    assert str(caught.value).startswith(f"{said}'{meant}'")


@pytest.mark.parametrize(
    ("kind", "old", "new"),
    [
        (MujocoCfg, "disable", "disableflags"),
        (MujocoCfg, "enable", "enableflags"),
        (RayCastSensorCfg, "alignment", "ray_alignment"),
        (RayCastSensorCfg, "geom_groups", "include_geom_groups"),
        (TerrainCfg, "terrain_generator", "generator"),
        (ViewerCfg, "body_name", "body"),
        (ViewerCfg, "entity_name", "entity"),
    ],
)
def test_an_old_or_foreign_name_is_refused_with_the_nearest(kind, old, new):
    with pytest.raises(TypeError, match=rf"no field '{old}'.*nearest first: '{new}'"):
        kind(**{old: ()})


@pytest.mark.parametrize(("kind", "name"), MJLAB_FIELDS)
def test_a_field_of_mjlab_has_its_name_here(kind: type[Any], name: str):
    assert name in {field.name for field in fields(kind)}


@pytest.mark.parametrize(("term", "name"), MJLAB_PARAMETERS)
def test_a_parameter_of_a_term_of_mjlab_has_its_name_here(term: Any, name: str):
    assert name in inspect.signature(term).parameters


def test_the_first_field_can_be_positional():
    terms = {"speed": ObservationTermCfg(joint_vel_rel)}
    group = ObservationGroupCfg(terms, enable_corruption=False)
    wanted = ObservationTermCfg(func=joint_vel_rel)
    assert group == ObservationGroupCfg(
        terms={"speed": wanted}, enable_corruption=False
    )
    with pytest.raises(TypeError, match="positional"):
        ObservationTermCfg(joint_vel_rel, {})  # pyright: ignore


def test_an_attribute_that_there_is_not_cannot_be_set():
    cfg = SceneCfg(num_envs=2)
    with pytest.raises(AttributeError, match=r"no field 'num_env'.*first: 'num_envs'"):
        cfg.num_env = 3
    cfg.num_envs = 3
    assert cfg.num_envs == 3 and "num_env" not in vars(cfg)


def test_a_value_without_a_type_does_not_stay_that_of_the_base():
    with pytest.raises(TypeError, match="write `num_envs: TYPE = 3`"):

        @dataclass(kw_only=True)
        class Mine(SceneCfg):
            num_envs = 3


def test_fields_and_a_post_init_need_the_decorator():
    class Fields(SceneCfg):
        mine: int = 3

    class After(SceneCfg):
        def __post_init__(self) -> None:
            self.num_envs = 7

    for kind in (Fields, After):
        with pytest.raises(TypeError, match=r"no dataclass: write @dataclass"):
            kind()
    assert dataclass(kw_only=True)(After)().num_envs == 7


def test_a_subclass_with_nothing_new_needs_no_decorator():
    class Mine(SceneCfg):
        """The same by another name."""

        WORDS: ClassVar[int] = 3

    assert Mine(num_envs=4).num_envs == 4


def test_configurations_are_copied_replaced_and_pickled_as_before():
    cfg = ManagerBasedRlEnvCfg(decimation=2, scene=SceneCfg(num_envs=2))
    for other in (copy.deepcopy(cfg), pickle.loads(pickle.dumps(cfg)), replace(cfg)):
        assert other == cfg and other is not cfg


def test_of_several_kinds_the_one_of_the_right_shape_says_what_is_wrong_inside():
    with pytest.raises(WrongTypeError, match=r"^scales\[1\] "):
        check_type([1.0, "a"], list[float] | str | None, "scales")
    with pytest.raises(WrongTypeError, match=r"^scales "):
        check_type(1.0, list[float] | str | None, "scales")
