"""Leg lengths, and speeds and limits of robots with short legs."""

import contextlib
import math

import mujoco
import pytest

from mjlab.envs import ManagerBasedRlEnv
from mjlab.gait.commands import COMMANDS
from mjlab.gait.legs import leg_length
from mjlab.gait.limits import BIPED, LARGE_ERRORS, QUADRUPED, QUIET, limits_of
from mjlab.gait.size import relative_size, scaled, scaled_name
from mjlab.gait.walk import need_legs, quiet
from mjlab.sensor import ContactSensor
from mjlab.tasks.velocity import VelocityG1FlatCfg, VelocityGo1FlatCfg
from mjlab.tasks.velocity.env import VelocityCfg
from tests.adopt.models import hexapod, point_biped


def test_leg_length_is_the_height_of_the_hips_above_the_feet() -> None:
    """The thighs are 0.3 m long, and the spheres are 0.3 m below the knees."""
    model = mujoco.MjModel.from_xml_string(point_biped())
    toes = [model.geom(f"{side}_toe").id for side in ("left", "right")]
    assert leg_length(model, toes, geoms=True) == pytest.approx(0.6)
    shanks = [model.body(f"{side}_shank").id for side in ("left", "right")]
    assert leg_length(model, shanks, geoms=False) == pytest.approx(0.3)


def test_leg_length_is_measured_in_the_first_keyframe() -> None:
    spec = mujoco.MjSpec.from_string(point_biped())
    bent = [0, 0, 0.7, 1, 0, 0, 0, 0, -math.pi / 3, 0, 0, -math.pi / 3, 0]
    spec.add_key(name="bent", qpos=bent)
    model = spec.compile()
    toes = [model.geom(f"{side}_toe").id for side in ("left", "right")]
    assert leg_length(model, toes, geoms=True) == pytest.approx(0.3)


def test_a_foot_without_own_joints_has_no_leg() -> None:
    model = mujoco.MjModel.from_xml_string(point_biped())
    pelvis = model.body("pelvis").id
    assert leg_length(model, [pelvis, pelvis], geoms=False) is None
    assert relative_size({"feet": 2, "leg_length": None}) == 1.0


@pytest.mark.parametrize("cfg", [VelocityG1FlatCfg(), VelocityGo1FlatCfg()])
def test_reference_robots_have_their_limits_unscaled(cfg: VelocityCfg) -> None:
    env = ManagerBasedRlEnv(quiet(cfg), device="cpu")
    with contextlib.closing(env):
        sensor = env.scene.sensor(need_legs(cfg).sensor.name)
        assert isinstance(sensor, ContactSensor)
        model = env.sim.mj_model
        geoms = need_legs(cfg).sensor.primary.mode == "geom"
        found = model.geom if geoms else model.body
        feet = [found(name).id for name in sensor.primary_names]
        length = leg_length(model, feet, geoms=geoms)
    assert relative_size({"feet": len(feet), "leg_length": length}) == 1.0
    assert relative_size({"feet": len(feet), "leg_length": 0.98 * length}) < 1.0


def test_speeds_scale_with_the_root_of_the_leg_length() -> None:
    size = relative_size({"feet": 2, "leg_length": 0.1545})
    assert size == pytest.approx(0.25)
    told = scaled(COMMANDS, size)
    assert told["forward 1.0"] == pytest.approx((0.5, 0.0, 0.0))
    assert told["turn left 0.5"] == COMMANDS["turn left 0.5"]
    assert scaled_name("forward 1.0", size) == "forward 0.50"
    assert scaled_name("turn left 0.5", size) == "turn left 0.5"
    assert scaled_name("stand", size) == "stand"
    assert scaled_name("forward 1.0", 1.0) == "forward 1.0"


def test_limits_of_a_robot_with_legs_of_a_quarter() -> None:
    figures = {"feet": 2, "leg_length": 0.1545}
    limits = limits_of(QUIET, "forward 1.0", figures)
    assert limits["step_length"].low == pytest.approx(BIPED["step_length"].low / 4)
    assert limits["steps_per_s"].high == pytest.approx(2 * BIPED["steps_per_s"].high)
    assert limits["vibration"].high == pytest.approx(8 * BIPED["vibration"].high)
    assert limits["impact"] == BIPED["impact"]
    assert limits["linear_error"].high == pytest.approx(LARGE_ERRORS["linear"].high / 2)
    assert limits["turning_error"] == LARGE_ERRORS["turning"]


def test_a_robot_with_longer_legs_has_the_limits_of_the_reference() -> None:
    figures = {"feet": 4, "leg_length": 0.5}
    limits = limits_of(QUIET, "forward 1.0", figures)
    assert {name: limits[name] for name in QUADRUPED} == QUADRUPED


def test_vibration_of_a_hexapod_is_limited_per_leg() -> None:
    model = mujoco.MjModel.from_xml_string(hexapod())
    assert model.nu == 18
    limits = limits_of(QUIET, "forward 1.0", {"feet": 6})
    assert limits["vibration"].high == pytest.approx(1.5 * QUADRUPED["vibration"].high)
