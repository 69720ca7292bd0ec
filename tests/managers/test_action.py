"""Actions: columns of the terms, history, and terms on joints and tendons."""

import copy
from typing import Any

import pytest
import torch

from mjlab.actuator import (
    IdealPdActuatorCfg,
    MotorActuatorCfg,
    PositionActuatorCfg,
    VelocityActuatorCfg,
    XmlActuatorCfg,
)
from mjlab.entity import ArticulationCfg, InitialStateCfg
from mjlab.managers.action import ActionManager, ActionTermCfg
from mjlab.managers.term import TermError
from mjlab.mdp.actions import (
    BinaryJointPositionActionCfg,
    JointEffortActionCfg,
    JointPositionActionCfg,
    JointVelocityActionCfg,
    RelativeJointPositionActionCfg,
    SiteEffortActionCfg,
    TendonEffortActionCfg,
    TendonLengthActionCfg,
    TendonVelocityActionCfg,
)
from mjlab.names import UnknownNameError
from tests.worlds.physics_env import DECIMATION, PhysicsEnv, from_xml

WORLDS = 3

# Two arms of a hinge, a slide and a ball joint, each driven in a way of its own.
ROBOT = """
<mujoco model="robot">
  <worldbody>
    <body name="trunk">
      <geom size=".1"/>
      <body name="a"><joint name="left_hip" axis="0 1 0"/><geom size=".1"/>
        <body name="b" pos="0 0 -.3"><joint name="left_knee" axis="0 1 0"/>
          <geom size=".1"/><site name="left_foot"/></body></body>
      <body name="c" pos="0 1 0"><joint name="right_hip" axis="0 1 0"/>
        <geom size=".1"/>
        <body name="d" pos="0 0 -.3"><joint name="right_knee" axis="0 1 0"/>
          <geom size=".1"/><site name="right_foot"/></body></body>
      <body name="e" pos="0 2 0"><joint name="wheel" axis="0 1 0"/><geom size=".1"/>
      </body>
      <body name="f" pos="0 3 0"><joint name="motor" axis="0 1 0"/><geom size=".1"/>
      </body>
      <body name="g" pos="0 4 0"><joint name="loose" axis="0 1 0"/><geom size=".1"/>
      </body>
      <body name="h" pos="0 5 0"><joint name="neck" type="ball"/><geom size=".1"/>
      </body>
    </body>
  </worldbody>
  <tendon>
    <fixed name="pull"><joint joint="left_hip" coef="1"/></fixed>
    <fixed name="spin"><joint joint="wheel" coef="1"/></fixed>
    <fixed name="fibre"><joint joint="loose" coef="1"/></fixed>
  </tendon>
  <actuator><position name="by_file" joint="right_knee" kp="3"/></actuator>
</mujoco>
"""

DEFAULTS = {"left_hip": 0.1, "left_knee": 0.2, "right_hip": 0.3, "right_knee": 0.4}


def make_env(actions: dict[str, ActionTermCfg | None], num_envs: int = WORLDS) -> Any:
    actuators = (
        PositionActuatorCfg(target_names_expr=(".*_hip",), stiffness=20.0, damping=1.0),
        IdealPdActuatorCfg(
            target_names_expr=("left_knee",), stiffness=5.0, damping=0.1
        ),
        XmlActuatorCfg(target_names_expr=("right_knee",)),
        VelocityActuatorCfg(target_names_expr=("wheel",), damping=1.0),
        MotorActuatorCfg(target_names_expr=("motor",)),
        PositionActuatorCfg(
            target_names_expr=("pull",),
            stiffness=1.0,
            damping=0.1,
            transmission="tendon",
        ),
        VelocityActuatorCfg(
            target_names_expr=("spin",), damping=1.0, transmission="tendon"
        ),
        MotorActuatorCfg(target_names_expr=("fibre",), transmission="tendon"),
        MotorActuatorCfg(
            target_names_expr=(".*_foot",), transmission="site", gear=(0, 0, 1)
        ),
    )
    cfg = from_xml(
        ROBOT,
        articulation=ArticulationCfg(actuators=actuators),
        init_state=InitialStateCfg(joint_pos=dict(DEFAULTS)),
    )
    env = PhysicsEnv({"robot": cfg}, num_envs, gravity=0.0)
    env.action_manager = ActionManager(actions, env)  # type: ignore[attr-defined]
    return env


def uniform(num_envs: int, dim: int, seed: int = 0) -> torch.Tensor:
    return torch.rand(num_envs, dim, generator=torch.Generator().manual_seed(seed))


# The manager.


def test_terms_occupy_adjacent_columns_of_the_action() -> None:
    env = make_env(
        {
            "hips": JointPositionActionCfg(joint_names=".*_hip", scale=2.0),
            "off": None,
            "wheel": JointVelocityActionCfg(scale=3.0, offset=1.0),
        }
    )
    manager = env.action_manager
    assert manager.active_terms == ["hips", "wheel"]
    assert manager.action_term_dim == [2, 2]  # The explicit PD takes velocities too.
    assert manager.total_action_dim == 4
    action = uniform(WORLDS, 4)
    manager.process_action(action)
    targets = env.scene.entity("robot").data.targets
    torch.testing.assert_close(
        targets.joint_pos[:, [0, 2]], 2.0 * action[:, :2] + torch.tensor([0.1, 0.3])
    )
    torch.testing.assert_close(targets.joint_vel[:, [1, 4]], 3.0 * action[:, 2:] + 1.0)
    assert manager.term("wheel").raw_action.tolist() == action[:, 2:].tolist()
    assert manager.get_term("hips").raw_action.data_ptr() == manager.action.data_ptr()


def test_the_last_three_actions_have_fixed_addresses() -> None:
    env = make_env({"hips": JointPositionActionCfg(joint_names=".*_hip")})
    manager = env.action_manager
    kept = (manager.action, manager.prev_action, manager.prev_prev_action)
    addresses = [tensor.data_ptr() for tensor in kept]
    actions = [uniform(WORLDS, 2, seed) for seed in range(4)]
    for action in actions:
        manager.process_action(action)
    names = ("action", "prev_action", "prev_prev_action")
    for name, action, address in zip(names, actions[:0:-1], addresses, strict=True):
        assert getattr(manager, name).equal(action)
        assert getattr(manager, name).data_ptr() == address
        assert manager.state()[name].data_ptr() == address


def test_reset_clears_actions_only_in_the_worlds_of_the_mask() -> None:
    env = make_env({"hips": JointPositionActionCfg(joint_names=".*_hip")})
    manager = env.action_manager
    for seed in range(3):
        manager.process_action(uniform(WORLDS, 2, seed))
    before = {name: value.clone() for name, value in manager.state().items()}
    manager.reset(env.mask(1))
    for name, value in manager.state().items():
        assert value[[0, 2]].equal(before[name][[0, 2]]), name
        assert (value[1] == 0).all(), name


@pytest.mark.parametrize(
    ("action", "error", "said"),
    [
        (
            torch.zeros(1, 2),
            ValueError,
            r"shape \(1, 2\).*\(3, 2\): 3 environments.*'hips' 2",
        ),
        (torch.zeros(3, 3), ValueError, r"shape \(3, 3\).*it has to be \(3, 2\)"),
        (torch.zeros(2), ValueError, r"shape \(2,\)"),
        (torch.zeros(3, 2, dtype=torch.float64), TypeError, "torch.float64.*float32"),
        (torch.zeros(3, 2, dtype=torch.int64), TypeError, "torch.int64"),
        (torch.zeros(3, 2, device="meta"), ValueError, "on meta.*on cpu"),
        ([[0.0, 0.0]] * 3, TypeError, "is a list.*tensor"),
    ],
)
def test_an_action_of_the_wrong_kind_is_an_error(
    action: Any, error: type[Exception], said: str
) -> None:
    env = make_env({"hips": JointPositionActionCfg(joint_names=".*_hip")})
    with pytest.raises(error, match=said):
        env.action_manager.take(action)
    assert (env.action_manager.incoming == 0).all()


@pytest.mark.parametrize("bad", [torch.nan, torch.inf, -torch.inf])
def test_an_action_that_is_not_finite_is_counted_and_reaches_the_state(
    bad: float,
) -> None:
    env = make_env(
        {
            "hips": JointPositionActionCfg(joint_names=".*_hip", clip=(-1.0, 1.0)),
            "knee": BinaryJointPositionActionCfg(
                joint_names="left_knee", open_command=1.0, close_command=-1.0
            ),
        }
    )
    manager = env.action_manager
    for column in (0, 2):
        action = torch.zeros(WORLDS, 3)
        action[1, column] = bad
        manager.process_action(action)
    assert manager.nonfinite.tolist() == [0, 2, 0]
    targets = env.scene.entity("robot").data.targets.joint_pos
    assert targets[1, [0, 1]].isnan().tolist() == [False, True]  # The last action's.
    assert targets[[0, 2]].isfinite().all()
    env.step(action)
    assert (env.sim.health.find_nonfinite() == env.mask(1)).all()
    assert manager.take_nonfinite() == {"action": 3}
    assert manager.take_nonfinite() == {"action": 0}


def test_finite_actions_keep_their_bits_and_are_not_counted() -> None:
    env = make_env({"hips": JointPositionActionCfg(joint_names=".*_hip")})
    action = torch.tensor([[3e38, -3e38], [1e-40, -0.0], [0.1, 1.0]])
    env.action_manager.process_action(action)
    assert env.action_manager.action.view(torch.int32).equal(action.view(torch.int32))
    assert env.action_manager.nonfinite.tolist() == [0, 0, 0]


def test_an_unknown_term_lists_the_known_ones() -> None:
    env = make_env({"hips": JointPositionActionCfg(joint_names=".*_hip")})
    with pytest.raises(UnknownNameError, match=r"no action term 'hip'.*'hips'"):
        env.action_manager.term("hip")


# Two terms on one thing.


def test_two_terms_on_one_joint_are_an_error_that_names_both() -> None:
    with pytest.raises(
        TermError,
        match=r"'hips' and 'legs' both act on the joint 'left_hip' of 'robot'",
    ):
        make_env(
            {
                "hips": JointPositionActionCfg(joint_names=".*_hip"),
                "legs": JointPositionActionCfg(joint_names="left_.*"),
            }
        )


def test_second_quantity_of_a_joint_needs_an_option() -> None:
    position = JointPositionActionCfg(joint_names="left_knee")
    effort = JointEffortActionCfg(joint_names="left_knee")
    with pytest.raises(
        TermError, match=r"joint_pos, the other its joint_effort.*share_targets"
    ):
        make_env({"position": position, "effort": effort})
    effort.share_targets = True
    env = make_env({"position": position, "effort": effort})
    env.action_manager.process_action(torch.ones(WORLDS, 2))
    targets = env.scene.entity("robot").data.targets
    assert targets.joint_effort[:, 1].tolist() == [1.0] * WORLDS
    position.share_targets = True
    with pytest.raises(TermError, match="disjoint"):
        make_env({"one": position, "two": position})


# Joint terms.


def test_position_is_default_plus_scaled_action_less_encoder_bias() -> None:
    env = make_env(
        {
            "legs": JointPositionActionCfg(
                scale={".*_hip": 0.5, "left_knee": 0.25}, offset={"right_.*": 0.01}
            )
        }
    )
    robot = env.scene.entity("robot")
    bias = torch.zeros(WORLDS, len(robot.index.joints))
    bias[:, 0], bias[:, 3] = 0.02, -0.03
    robot.write_encoder_bias(env.everyone, bias)
    term = env.action_manager.term("legs")
    assert term.target_names == ("left_hip", "left_knee", "right_hip", "right_knee")
    action = uniform(WORLDS, 4)
    env.action_manager.process_action(action)
    wanted = torch.stack(
        (
            0.1 + 0.5 * action[:, 0],
            0.2 + 0.25 * action[:, 1],
            0.3 + 0.5 * action[:, 2] + 0.01,
            0.4 + action[:, 3] + 0.01,
        ),
        dim=-1,
    )
    torch.testing.assert_close(term.processed_action, wanted)
    wanted[:, 0] -= 0.02
    wanted[:, 3] += 0.03
    torch.testing.assert_close(robot.data.targets.joint_pos[:, :4], wanted)


def test_the_encoder_bias_is_subtracted_at_any_joint_position() -> None:
    names = ("left_hip", "left_knee", "right_knee")
    env = make_env({"some": JointPositionActionCfg(joint_names=names)})
    robot = env.scene.entity("robot")
    bias = uniform(WORLDS, len(robot.index.joints))
    robot.write_encoder_bias(env.everyone, bias)
    action = uniform(WORLDS, 3)
    env.action_manager.process_action(action)
    places = [0, 1, 3]
    wanted = torch.tensor([0.1, 0.2, 0.4]) + action - bias[:, places]
    torch.testing.assert_close(robot.data.targets.joint_pos[:, places], wanted)


def test_position_follows_default_positions_that_change() -> None:
    env = make_env({"hips": JointPositionActionCfg(joint_names=".*_hip")})
    robot = env.scene.entity("robot")
    robot.data.default_joint_pos[1, 0].fill_(0.7)
    env.action_manager.process_action(torch.zeros(WORLDS, 2))
    hips = robot.data.targets.joint_pos[:, 0]
    torch.testing.assert_close(hips, torch.tensor([0.1, 0.7, 0.1]))


def test_preserve_order_maps_actions_in_the_order_of_the_patterns() -> None:
    names = ("right_knee", "left_.*", "right_hip")
    env = make_env(
        {
            "legs": JointPositionActionCfg(
                joint_names=names,
                preserve_order=True,
                use_default_offset=False,
                scale={"right_knee": 10.0, "left_hip": 2.0},
            )
        }
    )
    term = env.action_manager.term("legs")
    assert term.target_names == ("right_knee", "left_hip", "left_knee", "right_hip")
    env.action_manager.process_action(torch.tensor([[1.0, 2.0, 3.0, 4.0]] * WORLDS))
    targets = env.scene.entity("robot").data.targets.joint_pos
    assert targets[0, :4].tolist() == [4.0, 3.0, 4.0, 10.0]


def test_clip_is_per_pattern_and_after_scale_and_offset() -> None:
    env = make_env(
        {
            "legs": JointPositionActionCfg(
                joint_names="left_.*",
                use_default_offset=False,
                scale=2.0,
                clip={"left_hip": (-0.5, 0.25)},
            )
        }
    )
    env.action_manager.process_action(torch.tensor([[1.0, 1.0]] * WORLDS))
    processed = env.action_manager.term("legs").processed_action
    assert processed[0].tolist() == [0.25, 2.0]


def test_relative_position_moves_along_with_the_joint_or_holds() -> None:
    for hold in (False, True):
        cfg = RelativeJointPositionActionCfg(
            joint_names="left_hip", scale=0.5, hold=hold
        )
        env = make_env({"hip": cfg})
        robot = env.scene.entity("robot")
        robot.write_encoder_bias(env.everyone, 0.5)  # It cancels.
        start = robot.data.joint_pos[:, 0].clone()
        env.action_manager.process_action(torch.ones(WORLDS, 1))
        for _ in range(DECIMATION):
            env.action_manager.apply_action()
            reference = start if hold else robot.data.joint_pos[:, 0]
            torch.testing.assert_close(
                robot.data.targets.joint_pos[:, 0], reference + 0.5
            )
            env.substep()
        assert (robot.data.joint_pos[:, 0] != start).all()


def test_velocity_and_effort_reach_mujoco_controls() -> None:
    env = make_env(
        {
            "wheel": JointVelocityActionCfg(joint_names="wheel", scale=2.0),
            "motor": JointEffortActionCfg(joint_names="motor"),
            "length": TendonLengthActionCfg(offset=0.3),
            "rate": TendonVelocityActionCfg(),
            "fibre": TendonEffortActionCfg(),
            "feet": SiteEffortActionCfg(site_names="right_foot"),
        }
    )
    manager = env.action_manager
    assert manager.total_action_dim == 6
    env.step(torch.arange(1.0, 7.0).repeat(WORLDS, 1))
    wanted = {"wheel": 2.0, "motor": 2.0, "pull": 3.3, "spin": 4.0, "fibre": 5.0}
    wanted |= {"right_foot": 6.0}
    model = env.sim.mj_model
    for name, value in wanted.items():
        address = int(model.actuator_ctrladr[model.actuator(f"robot/{name}").id])
        control = env.sim.data.ctrl[:, address]
        torch.testing.assert_close(control, torch.full((WORLDS,), value))


def test_targets_hold_through_all_physics_steps_of_a_step() -> None:
    env = make_env({"motor": JointEffortActionCfg(joint_names="motor")})
    env.step(torch.ones(WORLDS, 1))
    # A constant torque on a disc: velocity is torque over inertia times time.
    model = env.sim.mj_model
    inertia = float(model.dof_M0[model.joint("robot/motor").dofadr[0]])
    speed = env.scene.entity("robot").data.joint_vel[0, 5]
    assert float(speed) == pytest.approx(env.step_dt / inertia, rel=1e-5)


def test_a_gripper_closes_below_zero() -> None:
    env = make_env(
        {
            "grip": BinaryJointPositionActionCfg(
                joint_names="left_.*",
                open_command={"left_hip": 0.4, "left_knee": 0.6},
                close_command=-0.1,
            )
        }
    )
    assert env.action_manager.total_action_dim == 1
    env.action_manager.process_action(torch.tensor([[-0.01], [0.0], [2.0]]))
    targets = env.scene.entity("robot").data.targets.joint_pos[:, :2]
    wanted = torch.tensor([[-0.1, -0.1], [0.4, 0.6], [0.4, 0.6]])
    torch.testing.assert_close(targets, wanted)


def test_actuator_names_select_like_target_names() -> None:
    env = make_env({"hips": JointPositionActionCfg(actuator_names=(".*_hip",))})
    assert env.action_manager.term("hips").target_names == ("left_hip", "right_hip")


# What cannot work.


@pytest.mark.parametrize(
    ("cfg", "said"),
    [
        (
            JointPositionActionCfg(joint_names="left_hop"),
            "Action term 'term': No position-driven joint of 'robot' matches "
            "'left_hop'. Valid names, nearest first: 'left_hip'",
        ),
        (
            JointPositionActionCfg(joint_names="loose"),
            "No position-driven joint.*'loose'",
        ),
        (
            JointPositionActionCfg(joint_names="motor"),
            "No position-driven joint.*'motor'",
        ),
        (
            JointPositionActionCfg(joint_names="neck"),
            "No position-driven joint.*'neck'",
        ),
        (JointEffortActionCfg(joint_names="left_hip"), "No effort-driven joint"),
        (JointPositionActionCfg(entity_name="robto"), "no entity 'robto'.*'robot'"),
        (
            JointPositionActionCfg(joint_names=".*_hip", scale={"left_knee": 1.0}),
            "'term': scale: No joint of 'robot' matches 'left_knee'",
        ),
        (
            JointPositionActionCfg(scale={".*_hip": 1.0, "left_.*": 2.0}),
            "scale: The patterns '.*_hip' and 'left_.*' both match",
        ),
        (
            JointPositionActionCfg(clip={"left_hip": (1.0, 0.0)}),
            "'left_hip'.*with low <= high",
        ),
        (
            JointPositionActionCfg(joint_names="left_hip", actuator_names="left_hip"),
            "joint_names and actuator_names are both set",
        ),
        (
            BinaryJointPositionActionCfg(
                joint_names="left_.*", open_command={"left_hip": 1.0}, close_command=0.0
            ),
            "open_command has no value for the joint 'left_knee'",
        ),
    ],
)
def test_invalid_term_is_an_error_when_it_is_built(
    cfg: ActionTermCfg, said: str
) -> None:
    with pytest.raises(TermError, match=said):
        make_env({"term": cfg})


def test_configurations_are_not_written_to() -> None:
    cfg = JointPositionActionCfg(
        joint_names=(".*_hip",), scale={".*": 2.0}, clip={".*": (-1.0, 1.0)}
    )
    before = copy.deepcopy(cfg)
    env = make_env({"hips": cfg})
    env.step(torch.ones(WORLDS, 2))
    env.action_manager.reset(env.everyone)
    assert cfg == before


# Cost and independence.


def test_worlds_do_not_depend_on_the_number_of_worlds() -> None:
    def targets(num_envs: int) -> torch.Tensor:
        cfg = JointPositionActionCfg(scale=0.3, offset=0.1, clip=(-2.0, 2.0))
        env = make_env({"legs": cfg}, num_envs)
        env.action_manager.process_action(uniform(16, 4)[:num_envs].clone())
        return env.scene.entity("robot").data.targets.joint_pos

    whole = targets(16)
    for num_envs in (1, 3, 8):
        assert targets(num_envs).equal(whole[:num_envs])
