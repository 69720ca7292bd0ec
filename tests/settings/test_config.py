"""Configurations: defaults, copies, and errors with the nearest field."""

import copy
import inspect
import pickle
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, ClassVar, get_type_hints

import pytest

from mjlab.actuator import ActuatorCfg
from mjlab.entity import EntityCfg
from mjlab.envs import ManagerBasedRlEnvCfg, ViewerCfg
from mjlab.managers import ObservationGroupCfg, ObservationTermCfg, RewardTermCfg
from mjlab.mdp import joint_vel_rel
from mjlab.mdp.randomize import encoder_bias, geom_friction
from mjlab.rl import PpoCfg
from mjlab.scene import SceneCfg
from mjlab.sensor import RayCastSensorCfg, TerrainHeightSensorCfg
from mjlab.settings import Config
from mjlab.settings.types import WrongTypeError, check_type
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
"""The same for parameters of terms of mjlab 1.6.0."""


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
    with pytest.raises(TypeError, match=rf"no field '{old}'.*['`]{new}['`]"):
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


def test_unknown_attribute_cannot_be_set():
    cfg = SceneCfg(num_envs=2)
    with pytest.raises(AttributeError, match=r"no field 'num_env'.*first: 'num_envs'"):
        cfg.num_env = 3
    cfg.num_envs = 3
    assert cfg.num_envs == 3 and "num_env" not in vars(cfg)


# A small hierarchy, in the style of this project and of mjlab and Isaac Lab.


class Term(Config):
    func: str
    weight: float = 0.0


class Robot(Config):
    name: str = field(kw_only=False)
    joints: tuple[str, ...] = ()


class Task(Config):
    kind: ClassVar[str] = "base"
    scene: SceneCfg = SceneCfg()
    rewards: dict[str, Term | None] = {"alive": Term(func="alive", weight=1.0)}
    decimation: int = 4


class Walk(Task):
    kind = "walk"
    scene = SceneCfg(num_envs=4096)
    rewards = {**Task.rewards, "upright": Term(func="upright", weight=2.0)}
    decimation = 2


@dataclass(kw_only=True)
class Decorated(Task):
    rewards: dict[str, Term | None] = field(
        default_factory=lambda: {"slip": Term(func="slip")}
    )
    horizon: int = 3


class BelowDecorated(Decorated):
    decimation = 7
    rewards = {**Decorated.rewards, "alive": None}


def test_a_class_attribute_is_a_new_default():
    cfg = Walk()
    assert (cfg.kind, cfg.decimation, cfg.scene.num_envs) == ("walk", 2, 4096)
    assert [*cfg.rewards] == ["alive", "upright"] and [*Task().rewards] == ["alive"]
    assert Walk(decimation=9).decimation == 9


def test_decorated_dataclasses_keep_working_and_can_be_inherited():
    assert [*Decorated().rewards] == ["slip"] and Decorated().decimation == 4
    cfg = BelowDecorated()
    assert (cfg.decimation, cfg.horizon, [*cfg.rewards]) == (7, 3, ["slip", "alive"])

    @dataclass(kw_only=True)
    class Both(Decorated):
        decimation = 12

    assert Both().decimation == 12 and Both.decimation == 12


@pytest.mark.parametrize("kind", [Task, Walk, Decorated, BelowDecorated])
def test_defaults_are_copied_for_each_instance_and_when_read_from_the_class(kind):
    first, second, of_class = kind(), kind(), kind.rewards
    name = next(iter(of_class))
    for rewards in (first.rewards, of_class):
        rewards[name].weight = 50.0
        rewards["new"] = None
    kind.scene.num_envs = 77
    assert second == kind() and "new" not in kind.rewards
    assert kind.rewards == second.rewards and kind().scene == second.scene


def test_fields_can_be_accessed_before_an_instance_exists():
    class Fresh(Walk):
        mine: int = 3
        decimation = 1

    assert is_dataclass(Fresh)
    assert [each.name for each in fields(Fresh)][-1] == "mine"
    assert get_type_hints(Fresh)["rewards"] == dict[str, Term | None]
    assert {each.name: each.default for each in fields(Fresh)}["decimation"] == 1


def test_only_declared_fields_have_a_position():
    assert Robot("go1", joints=("hip",)).name == "go1"
    with pytest.raises(TypeError, match="positional"):
        Task(4)  # type: ignore[misc]


def test_unknown_class_attribute_is_refused_with_the_nearest():
    with pytest.raises(TypeError, match=r"no field 'decimatoin'.*'decimation'"):

        class Mine(Task):
            decimatoin = 3


def test_methods_properties_and_classes_are_not_fields():
    class Mine(Task):
        class Inner:
            pass

        @property
        def rate(self) -> float:
            return 1.0 / self.decimation

        @staticmethod
        def one() -> int:
            return 1

    assert Mine().rate == 0.25 and Mine.one() == 1 and len(fields(Mine)) == 3


def test_a_post_init_may_change_fields_and_runs_again_in_a_copy():
    class After(Walk):
        def __post_init__(self) -> None:
            self.decimation = 7
            self.rewards["alive"] = None

    cfg = After()
    assert replace(cfg) == cfg
    assert cfg.decimation == 7 and cfg.rewards["alive"] is None
    assert After.decimation == 2 and Walk().rewards["alive"] is not None


def test_a_subclass_without_new_fields_needs_no_decorator():
    class Mine(SceneCfg):
        """The same under another name."""

        WORDS: ClassVar[int] = 3

    assert Mine(num_envs=4).num_envs == 4


def test_configurations_can_be_copied_replaced_and_pickled():
    cfg = ManagerBasedRlEnvCfg(decimation=2, scene=SceneCfg(num_envs=2))
    for other in (copy.deepcopy(cfg), pickle.loads(pickle.dumps(cfg)), replace(cfg)):
        assert other == cfg and other is not cfg


def test_for_several_types_the_error_of_the_matching_one_is_shown():
    with pytest.raises(WrongTypeError, match=r"^scales\[1\] "):
        check_type([1.0, "a"], list[float] | str | None, "scales")
    with pytest.raises(WrongTypeError, match=r"^scales "):
        check_type(1.0, list[float] | str | None, "scales")
