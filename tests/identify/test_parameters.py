"""Parameters write the model fields that they name."""

import numpy as np
import pytest

from mjlab.identify import IdentifyError, Robot, candidates
from mjlab.registry import load_task


def written(robot: Robot, name: str, value: float, **given):
    spec = robot.spec.copy()
    unknowns = candidates(robot, robot.joints, **given)
    next(each for each in unknowns if each.name == name).write(spec, value)
    return spec.compile()


@pytest.mark.parametrize(
    ("name", "value", "field"),
    [
        ("joint1.armature", 0.05, lambda m: m.dof_armature[0]),
        ("joint1.friction", 0.3, lambda m: m.dof_frictionloss[0]),
        ("joint1.damping", 0.7, lambda m: m.dof_damping[0]),
        ("joint1.effort_limit", 9.0, lambda m: m.actuator_forcerange[0, 1]),
        ("joint1.effort_limit", 9.0, lambda m: -m.actuator_forcerange[0, 0]),
    ],
)
def test_a_parameter_sets_its_field(shoulder, name, value, field):
    assert np.ravel(field(written(shoulder, name, value)))[0] == pytest.approx(value)


def test_a_gain_scales_stiffness_and_damping(shoulder):
    before = shoulder.model
    after = written(shoulder, "joint1.gain", 1.5)
    assert np.allclose(after.actuator_gainprm, 1.5 * before.actuator_gainprm)
    assert np.allclose(after.actuator_biasprm, 1.5 * before.actuator_biasprm)


def test_mass_scales_the_inertia_and_com_moves(shoulder):
    body = shoulder.model.body("robot/link_6").id
    mass, inertia = shoulder.model.body_mass[body], shoulder.model.body_inertia[body]
    after = written(shoulder, "link_6.mass", 2.0 * mass, bodies=("link_6",))
    assert after.body_mass[body] == pytest.approx(2.0 * mass)
    assert np.allclose(after.body_inertia[body], 2.0 * inertia)
    after = written(shoulder, "link_6.com.y", 0.03, bodies=("link_6",))
    assert after.body_ipos[body, 1] == pytest.approx(0.03)


def test_every_start_is_inside_its_range_and_names_are_unique():
    robot = Robot.of(load_task("Velocity-Go1-Flat").env())
    unknowns = candidates(robot, robot.joints, ("FR_calf",))
    assert len({each.name for each in unknowns}) == len(unknowns) == 12 * 5 + 1 + 4
    assert all(each.low < each.start < each.high for each in unknowns)


def test_a_passive_joint_has_no_motor_parameters():
    robot = Robot.of(load_task("Cartpole-Balance").env())
    names = [each.name for each in candidates(robot, robot.joints)]
    passive = [name for name in names if name.startswith("hinge_1")]
    assert passive == ["hinge_1.armature", "hinge_1.friction", "hinge_1.damping"]
    with pytest.raises(IdentifyError, match="none of the parameters effort_limit"):
        candidates(robot, ["hinge_1"], kinds=("effort_limit",))
