"""Actuators compared with MuJoCo C and hand arithmetic."""

from types import SimpleNamespace
from typing import Any

import mujoco
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from mjlab.actuator import (
    ActuatorError,
    DcCoggingCfg,
    DcFrictionCfg,
    DcMotorActuatorCfg,
    DcPdActuatorCfg,
    DcThermalCfg,
    DelayCfg,
    IdealPdActuatorCfg,
    MotorActuatorCfg,
    MuscleActuatorCfg,
    PdActuatorCfg,
    PositionActuatorCfg,
    VelocityActuatorCfg,
    WriteTime,
    XmlActuatorCfg,
    resolve_targets,
)
from mjlab.actuator.gains import ActuatorQuantity, TensorParameter
from mjlab.names import UnknownNameError
from mjlab.sim import SharedFieldError
from tests.actuator.world import PREFIX, World, compile_actuators, make_spec

BOTH = ("shoulder", "elbow")
ALL = (".*",)
MASK = torch.tensor([True, False])


def row(*values: float) -> torch.Tensor:
    return torch.tensor(values)


# --- Compiled model ----------------------------------------------------------------

DATASHEET = {"voltage": 24.0, "stall_torque": 5.0, "no_load_speed": 60.0}
NATIVE = {
    "position": (
        PositionActuatorCfg(
            target_names_expr=ALL, stiffness=20.0, damping=1.5, effort_limit=4.0
        ),
        """<position name="shoulder" joint="shoulder" kp="20" kv="1.5"
             forcerange="-4 4"/>
           <position name="elbow" joint="elbow" kp="20" kv="1.5"
             forcerange="-4 4"/>""",
    ),
    "position by pattern": (
        PositionActuatorCfg(
            target_names_expr=BOTH,
            stiffness={"shou.*": 20.0, "elbow": 7.0},
            damping={".*": 0.5},
        ),
        """<position name="shoulder" joint="shoulder" kp="20" kv=".5"/>
           <position name="elbow" joint="elbow" kp="7" kv=".5"/>""",
    ),
    "velocity": (
        VelocityActuatorCfg(target_names_expr=BOTH, damping=0.7, effort_limit=2.0),
        """<velocity name="shoulder" joint="shoulder" kv=".7" forcerange="-2 2"/>
           <velocity name="elbow" joint="elbow" kv=".7" forcerange="-2 2"/>""",
    ),
    "tendon": (
        PositionActuatorCfg(
            target_names_expr=("cord",),
            transmission="tendon",
            stiffness=40.0,
            damping=2.0,
        ),
        '<position name="cord" tendon="cord" kp="40" kv="2"/>',
    ),
    "motor": (
        MotorActuatorCfg(target_names_expr=("elbow",), effort_limit=3.0, gear=2.0),
        '<motor name="elbow" joint="elbow" forcerange="-3 3" gear="2"/>',
    ),
    "site": (
        MotorActuatorCfg(
            target_names_expr=("hand",), transmission="site", gear=(0, 0, 1, 0, 0.5, 0)
        ),
        '<motor name="hand" site="hand" gear="0 0 1 0 .5 0"/>',
    ),
    "muscle": (
        MuscleActuatorCfg(
            target_names_expr=("elbow",),
            force={"elbow": 30.0},
            length_range=(-1.5, 1.0),
            operating_range=(0.7, 1.1),
            timeconst=(0.02, 0.05),
            tausmooth=0.1,
            gear=-1.0,
            lmax=1.7,
            fvmax=1.4,
        ),
        """<muscle name="elbow" joint="elbow" force="30" lengthrange="-1.5 1"
             range=".7 1.1" timeconst=".02 .05" tausmooth=".1" gear="-1" lmax="1.7"
             fvmax="1.4"/>""",
    ),
    "muscle of unknown range": (
        MuscleActuatorCfg(target_names_expr=("cord",), transmission="tendon"),
        '<muscle name="cord" tendon="cord"/>',
    ),
    "dc motor": (
        DcMotorActuatorCfg(target_names_expr=("elbow",), **DATASHEET, gear=3.0),
        '<dcmotor name="elbow" joint="elbow" nominal="24 5 60" gear="3"/>',
    ),
    "dc servo": (
        DcMotorActuatorCfg(
            target_names_expr=("elbow",),
            torque_constant=0.3,
            back_emf_constant=0.4,
            resistance=2.0,
            inputs=("velocity", "position", "effort"),
            stiffness={"elbow": 12.0},
            damping=0.4,
            integral_gain=0.2,
            integral_limit=1.0,
            slew_rate=50.0,
            voltage_limit=24.0,
            effort_limit=2.5,
            current_rate_limit=900.0,
            inductance=0.01,
            thermal=DcThermalCfg(
                resistance=4.0,
                capacitance=20.0,
                temperature_coefficient=0.0039,
                ambient_temperature=20.0,
            ),
            friction=DcFrictionCfg(
                stiffness=80.0,
                damping=0.6,
                coulomb=0.02,
                static=0.03,
                stribeck_velocity=0.1,
            ),
            cogging=DcCoggingCfg(amplitude=0.05, poles=7, phase=0.3),
        ),
        """<dcmotor name="elbow" joint="elbow" motorconst=".3 .4" resistance="2"
             input="pos vel ff" controller="12 .2 .4 50 1 24" saturation="2.5 0 900"
             inductance=".01 0" thermal="4 20 0 .0039 25 20" cogging=".05 7 .3"
             lugre="80 .6 .02 .03 .1"/>""",
    ),
}


def model_fields(model: mujoco.MjModel) -> dict[str, np.ndarray]:
    """Return all model numbers that affect actuation."""
    prefixes = ("actuator_", "jnt_", "dof_", "tendon_")
    return {
        name: getattr(model, name)
        for name in dir(model)
        if name.startswith(prefixes) and isinstance(getattr(model, name), np.ndarray)
    }


def assert_same_model(model: mujoco.MjModel, expected: mujoco.MjModel) -> None:
    theirs = model_fields(expected)
    for name, value in model_fields(model).items():
        np.testing.assert_array_equal(value, theirs[name], err_msg=name)


@pytest.mark.parametrize("name", NATIVE)
def test_an_added_actuator_equals_the_same_actuator_in_the_model_file(name):
    cfg, xml = NATIVE[name]
    model, _, _ = compile_actuators(cfg)
    expected, _, _ = compile_actuators(actuators=xml)
    assert model.nactuator == expected.nactuator > 1
    assert_same_model(model, expected)


@pytest.mark.parametrize("name", NATIVE)
def test_native_actuator_moves_as_in_a_plain_mujoco_loop(name):
    cfg, _ = NATIVE[name]
    world = World(cfg)
    world.place(np.random.default_rng(0))
    if name.startswith("muscle"):
        world.targets.joint_effort.abs_()
        world.targets.tendon_effort.abs_()
    if isinstance(cfg, DcMotorActuatorCfg):
        world.targets.joint_effort.mul_(0.01)
    data = mujoco.MjData(world.model)
    data.qpos[:] = world.sim.data.qpos[1].double()
    data.qvel[:] = world.sim.data.qvel[1].double()
    wanted = _controls_by_hand(name, world)
    for index, value in wanted.items():
        data.ctrl[index] = value
    for _ in range(50):
        world.step()
        mujoco.mj_step(world.model, data)
    np.testing.assert_allclose(world.sim.data.qpos[1], data.qpos, rtol=0, atol=1e-6)
    assert np.abs(data.actuator_force[1:]).max() > 1e-3


def _controls_by_hand(name: str, world: World) -> dict[int, float]:
    """Return the expected controls of the robot; control 0 belongs to the knob."""
    targets = {key: value[1].tolist() for key, value in vars(world.targets).items()}
    position, velocity = targets["joint_pos"], targets["joint_vel"]
    if name.startswith("position"):
        return {1: position[0], 2: position[1]}
    if name == "dc servo":
        return {1: position[1], 2: velocity[1], 3: targets["joint_effort"][1]}
    return {
        "velocity": {1: velocity[0], 2: velocity[1]},
        "tendon": {1: targets["tendon_len"][0]},
        "site": {1: targets["site_effort"][0]},
        "muscle of unknown range": {1: targets["tendon_effort"][0]},
    }.get(name, {1: targets["joint_effort"][1]})


def test_native_pd_pair_equals_mujocos_pid():
    cfg = PdActuatorCfg(
        target_names_expr=("elbow", "shoulder"),
        stiffness={"elbow": 15.0, "shoulder": 40.0},
        damping={"elbow": 0.8, "shoulder": 2.0},
        effort_limit=1e3,
    )
    world = World(cfg)
    assert [world.model.actuator(a).name for a in world.bindings[0].actuator_ids] == [
        PREFIX + "shoulder_position",
        PREFIX + "elbow_position",
        PREFIX + "shoulder_velocity",
        PREFIX + "elbow_velocity",
    ]
    pid, _, _ = compile_actuators(
        actuators="""
          <pid name="s" joint="shoulder" kp="40" kv="2"/>
          <pid name="e" joint="elbow" kp="15" kv=".8"/>"""
    )
    world.place(np.random.default_rng(1))
    data = mujoco.MjData(pid)
    data.qpos[:], data.qvel[:] = world.sim.data.qpos[0], world.sim.data.qvel[0]
    p, v = world.targets.joint_pos[0].tolist(), world.targets.joint_vel[0].tolist()
    data.ctrl[1:] = [p[0], v[0], p[1], v[1]]
    for _ in range(100):
        world.step()
        mujoco.mj_step(pid, data)
    np.testing.assert_allclose(world.sim.data.qpos[0], data.qpos, rtol=0, atol=1e-6)


def test_pd_pair_is_limited_at_the_joint():
    cfg = PdActuatorCfg(
        target_names_expr=ALL, stiffness=1e3, damping=10.0, effort_limit={".*": 6.0}
    )
    world = World(cfg)
    world.targets.joint_pos.fill_(1.0)
    world.step()
    world.sim.forward()
    dofs = world.model.joint(PREFIX + "shoulder").dofadr[0]
    torque = world.sim.data.qfrc_actuator[:, dofs]
    assert torch.equal(torque, row(6.0, 6.0))


def test_added_actuators_ignore_the_defaults_of_the_file():
    extra = """<default><general ctrlrange="-.1 .1" ctrllimited="true" gear="5"
                 forcerange="-1 1" armature=".3" delay=".01" nsample="8"/></default>"""
    cfg = PositionActuatorCfg(target_names_expr=ALL, stiffness=20.0, damping=1.5)
    model, _, _ = compile_actuators(cfg, extra=extra)
    expected, _, _ = compile_actuators(cfg)
    assert_same_model(model, expected)


def test_passive_properties_are_written_to_joints_by_every_kind():
    passive = {
        "armature": {"shoulder": 0.02, "elbow": 0.01},
        "frictionloss": 0.3,
        "viscous_damping": {"elbow": 0.4},
    }
    for cfg in (
        MuscleActuatorCfg(target_names_expr=ALL, length_range=(-1, 1), **passive),
        PositionActuatorCfg(target_names_expr=ALL, stiffness=1, damping=0, **passive),
        IdealPdActuatorCfg(target_names_expr=ALL, stiffness=1, damping=0, **passive),
    ):
        extra = '<default><joint damping="7"/></default>'
        model, _, _ = compile_actuators(cfg, extra=extra)
        dofs = [int(model.joint(PREFIX + name).dofadr[0]) for name in BOTH]
        assert model.dof_armature[dofs].tolist() == [0.02, 0.01]
        assert model.dof_frictionloss[dofs].tolist() == [0.3, 0.3]
        assert model.dof_damping[dofs].tolist() == [7.0, 0.4]


def test_passive_properties_are_written_to_tendons():
    cfg = MotorActuatorCfg(
        target_names_expr=ALL, transmission="tendon", armature=0.1, viscous_damping=0.2
    )
    model, _, _ = compile_actuators(cfg)
    assert (model.tendon_armature[0], model.tendon_damping[0]) == (0.1, 0.2)


# --- Wrapped actuators ------------------------------------------------------------

EVERY_TYPE = """
  <position name="p" joint="shoulder" kp="3"/>
  <velocity name="v" joint="shoulder" kv="2"/>
  <motor name="m" joint="shoulder"/>
  <pid name="pid" joint="elbow" kp="4" kv="1" input="pos ff"/>
  <general name="servo" tendon="cord" gainprm="5" biastype="affine"
    biasprm="0 -5 -.1"/>
  <general name="brake" tendon="cord" gainprm="2" biastype="affine"
    biasprm="0 0 -2"/>
  <muscle name="pull" tendon="cord" lengthrange="-1 1"/>
  <motor name="thrust" site="hand" gear="0 0 1 0 0 0"/>
"""
WRAPPED = [
    XmlActuatorCfg(target_names_expr=ALL),
    XmlActuatorCfg(target_names_expr=("cord",), transmission="tendon"),
    XmlActuatorCfg(target_names_expr=("hand",), transmission="site"),
]


def test_wrapping_detects_the_meaning_of_each_control():
    world = World(*WRAPPED, actuators=EVERY_TYPE)
    world.targets.joint_pos.copy_(row(1.0, 2.0).expand(2, 2))
    world.targets.joint_vel.copy_(row(3.0, 4.0).expand(2, 2))
    world.targets.joint_effort.copy_(row(5.0, 6.0).expand(2, 2))
    world.targets.tendon_len.fill_(7.0)
    world.targets.tendon_vel.fill_(8.0)
    world.targets.tendon_effort.fill_(9.0)
    world.targets.site_effort.fill_(10.0)
    world.set.apply(world.targets)
    # The knob's control, then p, v, m, pid (pos and ff), servo, brake, pull, thrust.
    expected = row(0, 1, 3, 5, 2, 6, 7, 8, 9, 10)
    assert torch.equal(world.sim.data.ctrl, expected.expand(2, 10))


def test_wrapping_does_not_modify_the_model():
    wrapped, _, made = compile_actuators(*WRAPPED, actuators=EVERY_TYPE)
    plain, _, _ = compile_actuators(actuators=EVERY_TYPE)
    assert_same_model(wrapped, plain)
    assert made == [["p", "v", "m", "pid"], ["servo", "brake", "pull"], ["thrust"]]


def test_control_meaning_can_be_set_explicitly():
    xml = '<position name="a" joint="elbow" kp="3"/><position joint="shoulder"/>'
    cfg = XmlActuatorCfg(target_names_expr=("elbow",), command="effort")
    world = World(cfg, actuators=xml)
    world.targets.joint_effort.fill_(0.25)
    world.set.apply(world.targets)
    assert torch.equal(world.ctrl("a"), row(0.25, 0.25))


@pytest.mark.parametrize(
    ("xml", "command"),
    [
        ('<intvelocity joint="elbow" kp="2" actrange="-1 1"/>', "joint_vel"),
        ('<damper joint="elbow" kv="2" ctrlrange="0 1"/>', "joint_effort"),
        # A motor on a joint with a spring is not a servo: its target is not the rest
        # position.
        (
            """<general joint="elbow" gainprm="5" biastype="affine"
                 biasprm="0 -3 0"/>""",
            "joint_effort",
        ),
    ],
)
def test_wrapping_distinguishes_servos_from_other_actuators(xml, command):
    world = World(XmlActuatorCfg(target_names_expr=ALL), actuators=xml)
    getattr(world.targets, command).fill_(0.5)
    world.set.apply(world.targets)
    assert torch.equal(world.ctrl("elbow"), row(0.5, 0.5))


def test_wrapped_servo_of_a_site_is_named():
    xml = '<position name="a" site="hand" refsite="base" kp="3"/>'
    extra = '<worldbody><site name="base"/></worldbody>'
    cfg = XmlActuatorCfg(target_names_expr=("hand",), transmission="site")
    with pytest.raises(ActuatorError, match=r"but a site has no .* target"):
        World(cfg, actuators=xml, extra=extra)


def test_a_wrapped_actuator_without_a_name_is_named_after_its_target():
    xml = '<position name="elbow" joint="shoulder"/><motor joint="elbow"/>'
    _, targets, made = compile_actuators(
        XmlActuatorCfg(target_names_expr=ALL), actuators=xml
    )
    assert targets == [["shoulder", "elbow"]]
    assert made == [["elbow", "elbow_2"]]


# --- Explicit actuators -----------------------------------------------------------


def test_ideal_pd_torque_by_hand():
    cfg = IdealPdActuatorCfg(
        target_names_expr=ALL,
        stiffness={"shoulder": 10.0, "elbow": 4.0},
        damping=2.0,
        effort_limit={"shoulder": 7.0, "elbow": 100.0},
    )
    world = World(cfg)
    position, velocity = world.joint_state()
    position.copy_(torch.tensor([[0.5, -1.0], [0.0, 0.25]]))
    velocity.copy_(torch.tensor([[1.0, 2.0], [0.0, -0.5]]))
    world.targets.joint_pos.copy_(torch.tensor([[1.0, 1.0], [0.25, 0.0]]))
    world.targets.joint_vel.copy_(torch.tensor([[0.0, 3.0], [0.5, 0.0]]))
    world.targets.joint_effort.copy_(torch.tensor([[0.0, 0.5], [-20.0, 0.0]]))
    world.set.apply(world.targets)
    # 10*.5 + 2*(-1) = 3 and 4*2 + 2*1 + .5 = 10.5;
    # 10*.25 + 2*.5 - 20 = -16.5, limited to -7, and 4*(-.25) + 2*.5 = 0.
    assert torch.equal(world.ctrl("shoulder"), row(3.0, -7.0))
    assert torch.equal(world.ctrl("elbow"), row(10.5, 0.0))


def test_explicit_pd_reads_the_tendon_at_the_velocity_stage():
    cfg = IdealPdActuatorCfg(
        target_names_expr=("cord",), transmission="tendon", stiffness=8.0, damping=4.0
    )
    world = World(cfg)
    assert world.set.write_time == WriteTime.INSIDE
    position, velocity = world.joint_state()
    position.copy_(torch.tensor([[0.5, 1.0], [1.0, -1.0]]))
    velocity.copy_(torch.tensor([[1.0, 0.0], [0.0, 2.0]]))
    world.targets.tendon_len.fill_(0.5)
    world.sim.step(control=lambda: world.set.apply(world.targets))
    # Lengths .5*q0 - .25*q1 = 0 and .75; rates .5 and -.5.
    # 8*.5 - 4*.5 = 2 and 8*(-.25) + 4*.5 = 0.
    torch.testing.assert_close(world.ctrl("cord"), row(2.0, 0.0), rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("velocity", "asked", "given"),
    [
        (0.0, 100.0, 8.0),  # At rest the drive's limit applies, not the motor's 10.
        (0.0, -100.0, -8.0),
        (2.0, 100.0, 8.0),  # 10 * (1 - 2/10) = 8: the corner.
        (5.0, 100.0, 5.0),  # At half of the no-load speed.
        (5.0, 3.0, 3.0),  # Below it.
        (5.0, -100.0, -8.0),  # When braking, the torque-speed curve is at -15.
        (10.0, 100.0, 0.0),  # Without load.
        # Above the no-load speed, the motor brakes for any command.
        (15.0, 100.0, -5.0),
        (15.0, -100.0, -8.0),
        # The torque-speed curve is at -40; the drive is limited to 8.
        (50.0, 100.0, -8.0),
        (-5.0, -100.0, -5.0),
        (-10.0, -100.0, 0.0),
        (-15.0, -100.0, 5.0),
        (-5.0, 100.0, 8.0),
    ],
)
def test_torque_speed_line_by_hand(velocity, asked, given):
    cfg = DcPdActuatorCfg(
        target_names_expr=("elbow",),
        stiffness=0.0,
        damping=0.0,
        saturation_effort=10.0,
        velocity_limit=10.0,
        effort_limit=8.0,
    )
    world = World(cfg, num_envs=1)
    world.joint_state()[1][0, 1] = velocity
    world.targets.joint_effort[0, 1] = asked
    world.set.apply(world.targets)
    assert world.ctrl("elbow").item() == pytest.approx(given, abs=1e-6)


def test_torque_speed_line_without_effort_limit_ends_at_the_saturation_effort():
    cfg = DcPdActuatorCfg(
        target_names_expr=("elbow",),
        stiffness=0.0,
        damping=0.0,
        saturation_effort=10.0,
        velocity_limit=10.0,
    )
    world = World(cfg, num_envs=1)
    world.joint_state()[1][0, 1] = -5.0
    world.targets.joint_effort[0, 1] = 100.0
    world.set.apply(world.targets)
    assert world.ctrl("elbow").item() == 10.0


def test_pd_law_through_control_equals_the_explicit_actuator_bit_for_bit():
    cfg = IdealPdActuatorCfg(
        target_names_expr=ALL, stiffness=30.0, damping=1.0, effort_limit=10.0
    )
    world, other = World(cfg, num_envs=3), World(cfg, num_envs=3)
    random = np.random.default_rng(2)
    world.place(random)
    other.targets = world.targets
    for mine, theirs in zip(other.joint_state(), world.joint_state(), strict=True):
        mine.copy_(theirs)
    position, velocity = other.joint_state()
    targets = world.targets

    def control() -> None:
        effort = 30.0 * (targets.joint_pos - position)
        effort = effort + 1.0 * (targets.joint_vel - velocity) + targets.joint_effort
        other.sim.data.ctrl[:, 1:].copy_(effort.clamp(-10.0, 10.0))

    start = world.sim.data.qpos.clone()
    for _ in range(40):
        world.step()
        other.sim.step(control=control)
        assert torch.equal(world.sim.data.qpos, other.sim.data.qpos)
    assert (world.sim.data.qpos - start).abs().max() > 0.1


def test_actuators_of_one_kind_are_one_group():
    position = {"stiffness": 1.0, "damping": 0.0}
    ideal = {"stiffness": 1.0, "damping": 0.0, "share_targets": True}
    world = World(
        PositionActuatorCfg(target_names_expr=("elbow",), **position),
        IdealPdActuatorCfg(target_names_expr=("elbow",), **ideal),
        PositionActuatorCfg(target_names_expr=("shoulder",), **position),
        IdealPdActuatorCfg(target_names_expr=("shoulder",), **ideal),
        MotorActuatorCfg(
            target_names_expr=("cord",), transmission="tendon", share_targets=True
        ),
    )
    # Positions of joints, efforts of tendons, ideal servos of joints.
    assert len(world.set._groups) == 3
    assert world.set.names == ("elbow", "elbow", "shoulder", "shoulder", "cord")


# --- Delay ------------------------------------------------------------------------

DELAYED = {
    "native": lambda delay: PositionActuatorCfg(
        target_names_expr=ALL, stiffness=1.0, damping=0.0, delay=delay
    ),
    "explicit": lambda delay: IdealPdActuatorCfg(
        target_names_expr=ALL, stiffness=1.0, damping=0.0, delay=delay
    ),
}


@pytest.mark.parametrize("kind", DELAYED)
@pytest.mark.parametrize("lag", [0, 1, 3])
def test_command_acts_exactly_lag_physics_steps_later(kind, lag):
    world = World(DELAYED[kind](DelayCfg(min_lag=lag, max_lag=lag)))
    position, _ = world.joint_state()
    position.zero_()
    seen = []
    for step in range(1, 8):
        world.targets.joint_pos.fill_(float(step))
        world.set.apply(world.targets)
        seen.append(world.ctrl("elbow")[0].item())
    # The first command is held until the lag has passed.
    assert seen == [float(max(1, step - lag)) for step in range(1, 8)]


def test_feedback_is_not_delayed():
    world = World(DELAYED["explicit"](DelayCfg(min_lag=2, max_lag=2)))
    position, _ = world.joint_state()
    world.targets.joint_pos.fill_(1.0)
    for value in (0.25, 0.5):
        position.fill_(value)
        world.set.apply(world.targets)
        assert torch.equal(world.ctrl("elbow"), row(1.0 - value, 1.0 - value))


def test_all_commands_of_a_configuration_share_their_lag():
    cfg = DcMotorActuatorCfg(
        target_names_expr=ALL,
        **DATASHEET,
        inputs=("position", "velocity", "effort"),
        stiffness=1.0,
        delay=DelayCfg(min_lag=2, max_lag=2),
    )
    world = World(cfg)
    for step in range(1, 6):
        world.targets.joint_pos.copy_(row(step, 10 * step).expand(2, 2))
        world.targets.joint_vel.copy_(row(100 * step, 1e3 * step).expand(2, 2))
        world.targets.joint_effort.copy_(row(1e4 * step, 1e5 * step).expand(2, 2))
        world.set.apply(world.targets)
    old = 3.0 * row(1, 100, 1e4, 10, 1e3, 1e5)
    assert torch.equal(world.sim.data.ctrl[:, 1:], old.expand(2, 6))


@pytest.mark.parametrize("kind", [PositionActuatorCfg, IdealPdActuatorCfg])
def test_configurations_with_equal_delays_draw_their_own_lags(kind):
    delay = DelayCfg(min_lag=0, max_lag=20)
    cfgs = [
        kind(target_names_expr=(name,), stiffness=1, damping=0, delay=delay)
        for name in BOTH
    ]
    world = World(*cfgs, num_envs=50)
    shoulder, elbow = (group._delay.lags for group in world.set._groups)
    assert not torch.equal(shoulder, elbow)


def test_configurations_of_one_delay_group_have_the_same_lags():
    delay = DelayCfg(min_lag=0, max_lag=20, update_period=3)
    grouped = {"delay": delay, "delay_group": "bus", "stiffness": 1, "damping": 0}
    world = World(
        PositionActuatorCfg(target_names_expr=("elbow",), **grouped),
        PositionActuatorCfg(target_names_expr=("shoulder",), **grouped),
        IdealPdActuatorCfg(
            target_names_expr=("cord",), transmission="tendon", **grouped
        ),
        num_envs=50,
    )
    assert len(world.set._groups) == 2
    mask = torch.arange(50) % 3 == 0
    for _ in range(9):
        world.set.apply(world.targets)
        world.set.reset(mask)
        native, explicit = (group._delay.lags for group in world.set._groups)
        assert torch.equal(native, explicit)
        assert len(native.unique()) > 5


def bits(state: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return {name: value.clone() for name, value in state.items()}


@settings(max_examples=25, deadline=None)
@given(
    mask=st.lists(st.booleans(), min_size=6, max_size=6),
    seed=st.integers(0, 2**16),
    before=st.integers(1, 6),
)
def test_reset_changes_only_worlds_of_the_mask(mask, seed, before):
    world = _delayed_world()
    random = np.random.default_rng(seed)
    for _ in range(before):
        world.place(random)
        world.set.apply(world.targets)
    old = bits(world.set.state())
    chosen = torch.tensor(mask)
    world.set.reset(chosen)
    assert old
    for name, value in world.set.state().items():
        assert torch.equal(value[~chosen], old[name][~chosen]), name
    # The other worlds continue as without the reset.
    world.set.apply(world.targets)
    reset = world.sim.data.ctrl.clone()
    for name, value in world.set.state().items():
        value.copy_(old[name])
    world.set.apply(world.targets)
    assert torch.equal(world.sim.data.ctrl[~chosen], reset[~chosen])


def _delayed_world() -> World:
    delay = DelayCfg(min_lag=1, max_lag=5, update_period=2, hold_prob=0.3)
    servo = {"stiffness": 2.0, "damping": 0.1, "delay": delay}
    return World(
        PdActuatorCfg(target_names_expr=("elbow",), **servo),
        IdealPdActuatorCfg(target_names_expr=("shoulder",), **servo),
        MotorActuatorCfg(
            target_names_expr=("cord",), transmission="tendon", delay=delay
        ),
        num_envs=6,
    )


def test_after_a_reset_the_first_command_fills_the_delay():
    world = World(DELAYED["native"](DelayCfg(min_lag=3, max_lag=3)))
    for step in range(1, 6):
        world.targets.joint_pos.fill_(float(step))
        world.set.apply(world.targets)
    world.set.reset(MASK)
    world.targets.joint_pos.fill_(50.0)
    world.set.apply(world.targets)
    assert torch.equal(world.ctrl("elbow"), row(50.0, 3.0))


# --- Gains and limits per world ---------------------------------------------------

GAINS = ("actuator_gainprm", "actuator_biasprm", "actuator_forcerange")
LIMITS = ("jnt_actfrcrange", "tendon_actfrcrange")


def mixed_world(vary: tuple[str, ...] = GAINS + LIMITS) -> World:
    servo = {"share_targets": True, "effort_limit": 9.0}
    return World(
        IdealPdActuatorCfg(target_names_expr=ALL, stiffness=1, damping=2, **servo),
        PositionActuatorCfg(target_names_expr=ALL, stiffness=3, damping=4, **servo),
        VelocityActuatorCfg(target_names_expr=("elbow",), damping=5, **servo),
        PdActuatorCfg(
            target_names_expr=("cord",),
            transmission="tendon",
            stiffness=6,
            damping=7,
            **servo,
        ),
        MotorActuatorCfg(target_names_expr=("shoulder",), share_targets=True),
        DcMotorActuatorCfg(
            target_names_expr=("elbow",),
            **DATASHEET,
            inputs=("position",),
            stiffness=8,
            damping=9,
            **servo,
        ),
        MuscleActuatorCfg(
            target_names_expr=("elbow",),
            length_range=(-1, 1),
            force=40.0,
            share_targets=True,
        ),
        vary=vary,
    )


def test_gains_and_limits_are_read_from_every_kind():
    world = mixed_world()
    none = float("inf")
    stiffness = row(1, 1, 3, 3, 0, 6, 0, 8, 0)
    damping = row(2, 2, 4, 4, 5, 7, 0, 9, 0)
    # A motor without a limit, on a joint without a limit; the peak force of a muscle.
    limits = row(9, 9, 9, 9, 9, 9, none, 9, 40)
    assert torch.equal(world.set.stiffness, stiffness.expand(2, 9))
    assert torch.equal(world.set.damping, damping.expand(2, 9))
    assert torch.equal(world.set.effort_limit, limits.expand(2, 9))


def test_gains_are_set_in_chosen_worlds_for_chosen_actuators_of_any_kind():
    world = mixed_world()
    before = world.set.stiffness, world.set.damping, world.set.effort_limit
    ids = torch.tensor([1, 2, 4, 5, 7, 8])
    world.set.set_gains(MASK, ids, kp=torch.arange(6) + 20.0, kd=30.0)
    world.set.set_effort_limit(MASK, ids, torch.arange(12.0).view(2, 6) + 50.0)
    assert world.set.stiffness[0].tolist() == [1, 20, 21, 3, 0, 23, 0, 24, 0]
    assert world.set.damping[0].tolist() == [2, 30, 30, 4, 30, 30, 0, 30, 0]
    limits = [9, 50, 51, 9, 52, 53, float("inf"), 54, 55]
    assert world.set.effort_limit[0].tolist() == limits
    after = world.set.stiffness, world.set.damping, world.set.effort_limit
    for old, new in zip(before, after, strict=True):
        assert torch.equal(old[1], new[1])


def test_explicit_gains_are_restored_with_the_state():
    servo = {"stiffness": 2.0, "damping": 0.1, "effort_limit": 9.0}
    motor = {"saturation_effort": 5.0, "velocity_limit": 3.0}
    world = World(
        IdealPdActuatorCfg(target_names_expr=("elbow",), **servo),
        DcPdActuatorCfg(target_names_expr=("shoulder",), **servo, **motor),
    )
    everyone, drawn = torch.ones(2, dtype=torch.bool), torch.rand(3, 2, 2) + 0.5
    world.set.set_gains(everyone, None, kp=drawn[0], kd=drawn[1])
    world.set.set_effort_limit(everyone, None, drawn[2])
    state = bits(world.set.state())
    world.set.set_gains(everyone, None, kp=7.0, kd=8.0)
    world.set.set_effort_limit(everyone, None, 9.0)
    for name, value in world.set.state().items():
        value.copy_(state[name])
    assert torch.equal(world.set.stiffness, drawn[0])
    assert torch.equal(world.set.damping, drawn[1])
    assert torch.equal(world.set.effort_limit, drawn[2])


def test_a_world_with_new_gains_moves_as_a_model_compiled_with_them():
    def cfg(kp: float, kd: float, limit: float) -> PositionActuatorCfg:
        return PositionActuatorCfg(
            target_names_expr=ALL, stiffness=kp, damping=kd, effort_limit=limit
        )

    world = World(cfg(5.0, 0.5, 9.0), vary=GAINS)
    fresh = World(cfg(32.0, 2.0, 4.0))
    world.set.set_gains(MASK, None, kp=32.0, kd=2.0)
    world.set.set_effort_limit(MASK, None, 4.0)
    for each in (world, fresh):
        each.place(np.random.default_rng(4))
        for _ in range(50):
            each.step()
    assert torch.equal(world.sim.data.qpos[0], fresh.sim.data.qpos[0])
    assert not torch.equal(world.sim.data.qpos[1], fresh.sim.data.qpos[1])


def test_explicit_gains_act_in_their_world_only():
    cfgs = [
        IdealPdActuatorCfg(target_names_expr=(name,), stiffness=2.0, damping=0.0)
        for name in BOTH
    ]
    world = World(*cfgs)
    world.targets.joint_pos.fill_(1.0)
    world.set.set_gains(MASK, torch.tensor([1]), kp=10.0)
    world.set.apply(world.targets)
    assert torch.equal(world.ctrl("elbow"), row(10.0, 2.0))
    assert torch.equal(world.ctrl("shoulder"), row(2.0, 2.0))


def test_required_model_fields_are_those_that_are_written():
    world = mixed_world(vary=())
    fields = world.set.required_model_fields("stiffness", "damping", "effort_limit")
    assert fields == {*GAINS, "tendon_actfrcrange"}
    with pytest.raises(SharedFieldError, match="actuator_gainprm"):
        world.set.set_gains(MASK, None, kp=1.0)
    world.sim.expand(*fields)
    world.set.set_gains(MASK, None, kp=1.0)
    world.set.set_effort_limit(MASK, None, 1.0)


def test_automatic_muscle_force_is_scale_over_acc0():
    world = World(
        MuscleActuatorCfg(
            target_names_expr=("elbow",), scale=50.0, length_range=(-1, 1)
        ),
        vary=GAINS,
    )
    acc0 = world.model.actuator_acc0[1]
    assert world.set.effort_limit[0, 0].item() == pytest.approx(50.0 / acc0, rel=1e-6)
    world.set.set_effort_limit(MASK, None, 12.0)
    prm = world.sim.model.actuator_gainprm[:, 1, 2]
    assert torch.equal(prm, row(12.0, -1.0))


def test_missing_actuator_quantity_is_named():
    world = mixed_world()
    assert world.set.find("shoul.*") == [0, 2, 6]
    world.set.check("stiffness", [0, 2])
    with pytest.raises(UnknownNameError, match="'shoulder' has no stiffness"):
        world.set.check("stiffness", [0, 6])
    with pytest.raises(UnknownNameError, match="'shoulder' has no effort limit"):
        world.set.check("effort_limit", [6])


# --- Bad input --------------------------------------------------------------------


def servo(**kwargs: object) -> PositionActuatorCfg:
    values: dict = {"target_names_expr": ALL, "stiffness": 1.0, "damping": 1.0} | kwargs
    return PositionActuatorCfg(**values)


WRONG = {
    "unknown joint": (
        [servo(target_names_expr=("elbw",))],
        "No joint of 'robot' matches 'elbw'. Valid names, nearest first: 'elbow', "
        "'shoulder'.",
    ),
    "two drive one": (
        [servo(target_names_expr=("el.*",)), MotorActuatorCfg(target_names_expr=ALL)],
        "actuators[0] (PositionActuatorCfg) and actuators[1] (MotorActuatorCfg) both "
        "drive the joint 'elbow' of 'robot'. Make their patterns disjoint, or set "
        "share_targets=True.",
    ),
    "negative gain": (
        [servo(stiffness={"elbow": -3.0, "shoulder": 1.0})],
        "PositionActuatorCfg.stiffness of joint 'elbow' is -3.0; it has to be 0 or "
        "more, and finite.",
    ),
    "gain that is no number": (
        [servo(damping=float("nan"))],
        "PositionActuatorCfg.damping of joint 'shoulder' is nan; it has to be 0 or "
        "more, and finite.",
    ),
    "no gain": (
        [servo(stiffness={"elbow": 3.0})],
        "PositionActuatorCfg.stiffness: No pattern matches the joint 'shoulder' (1 "
        "of 2 have no value). Patterns: 'elbow'.",
    ),
    "no effort": (
        [servo(effort_limit=0.0)],
        "PositionActuatorCfg.effort_limit of joint 'shoulder' is 0.0; it has to be "
        "above 0.",
    ),
    "negative delay": (
        [servo(delay=DelayCfg(min_lag=-1, max_lag=2))],
        "PositionActuatorCfg of ('.*',) has a delay of min_lag=-1 to max_lag=2 physics "
        "steps; it has to be 0 <= min_lag <= max_lag.",
    ),
    "inverted delay": (
        [servo(delay=DelayCfg(min_lag=3, max_lag=2))],
        "PositionActuatorCfg of ('.*',) has a delay of min_lag=3 to max_lag=2 physics "
        "steps; it has to be 0 <= min_lag <= max_lag.",
    ),
    "unequal delays in a group": (
        [
            servo(target_names_expr=("elbow",), delay_group="bus", delay=DelayCfg()),
            servo(target_names_expr=("shoulder",), delay_group="bus"),
        ],
        "actuators[0] and actuators[1] share delay_group='bus', but their delays are "
        f"{DelayCfg()} and None; they have to be equal, and not None.",
    ),
    "servo on a site": (
        [servo(transmission="site")],
        "PositionActuatorCfg.transmission is 'site'; it has to be 'joint' or 'tendon'.",
    ),
    "armature of a site": (
        [MotorActuatorCfg(target_names_expr=ALL, transmission="site", armature=1.0)],
        "MotorActuatorCfg.armature is set, but sites have no armature. Set it to None.",
    ),
    "no gear": (
        [MotorActuatorCfg(target_names_expr=("elbow",), gear=0.0)],
        "MotorActuatorCfg.gear of 'elbow' is 0.0; it has to be one to six numbers, "
        "not all 0.",
    ),
    "half a datasheet": (
        [DcMotorActuatorCfg(target_names_expr=ALL, voltage=24.0)],
        "DcMotorActuatorCfg has voltage=24.0, stall_torque=None and "
        "no_load_speed=None; set all three.",
    ),
    "voltage and effort": (
        [
            DcMotorActuatorCfg(
                target_names_expr=ALL, **DATASHEET, inputs=("effort", "voltage")
            )
        ],
        "DcMotorActuatorCfg.inputs is ('effort', 'voltage'); effort and voltage are "
        "set by the same command, so only one of them can be an input.",
    ),
    "muscle that cannot shorten": (
        [MuscleActuatorCfg(target_names_expr=ALL, vmax=0.0)],
        "MuscleActuatorCfg.vmax is 0.0; it has to be above 0.",
    ),
    "no velocity": (
        [
            DcPdActuatorCfg(
                target_names_expr=ALL,
                stiffness=1,
                damping=1,
                saturation_effort=1,
                velocity_limit=0,
            )
        ],
        "DcPdActuatorCfg.velocity_limit of joint 'shoulder' is 0; it has to be above "
        "0.",
    ),
    "nothing to wrap": (
        [XmlActuatorCfg(target_names_expr=("elbow",))],
        "No joint of 'robot' matches 'elbow'. There are none.",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_bad_configuration_is_named_before_the_model_is_compiled(name):
    cfgs, message = WRONG[name]
    spec = make_spec()
    with pytest.raises(ValueError) as caught:
        for cfg, targets in zip(
            cfgs, resolve_targets(cfgs, spec, "robot"), strict=True
        ):
            cfg.add_to_spec(spec, targets)
    assert str(caught.value) == message


def test_motor_without_constants_is_named_with_mujocos_reason():
    cfg = DcMotorActuatorCfg(target_names_expr=("elbow",))
    with pytest.raises(ActuatorError, match="of 'elbow' is not a valid DC motor"):
        cfg.add_to_spec(make_spec(), ["elbow"])


def test_joint_already_driven_by_the_file_is_named():
    spec = make_spec('<motor name="old" joint="elbow"/>')
    with pytest.raises(
        ActuatorError, match="the actuator 'old' of the file already drives"
    ):
        resolve_targets([servo()], spec, "robot")
    assert resolve_targets([servo(share_targets=True)], spec) == [[*BOTH]]


def test_two_wrapped_actuators_with_one_target_are_named():
    xml = '<motor name="a" joint="elbow"/><motor name="b" joint="elbow"/>'
    with pytest.raises(ActuatorError, match="two actuators, 'robot/a' and 'robot/b'"):
        World(XmlActuatorCfg(target_names_expr=ALL), actuators=xml)


def test_configuration_is_never_written():
    cfg = servo(stiffness={"elbow": 3.0, "shoulder": 4.0}, delay=DelayCfg(max_lag=2))
    before = repr(cfg)
    world = World(cfg)
    world.step()
    assert repr(cfg) == before


def test_error_lists_at_most_eight_actuators():
    sim: Any = SimpleNamespace(num_envs=2, device=torch.device("cpu"))
    names = [f"joint{i}" for i in range(11)]
    parts = [(range(10), TensorParameter(torch.zeros(2, 10)))]
    stiffness = ActuatorQuantity("stiffness", names, parts, sim)
    with pytest.raises(UnknownNameError) as error:
        stiffness.check([10])
    shown = ", ".join(repr(name) for name in names[:8])
    assert str(error.value).endswith(f"with one: {shown} and more.")
