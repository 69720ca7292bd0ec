"""Inputs of an exported policy: measured or commanded quantities.

Inputs are joint positions and velocities, the orientation and velocities of the root,
readings of MuJoCo sensors, commands, the pose of a motion's anchor, and observation
terms declared as measured, such as images. Each input has a name, a unit, a frame and
an order of elements.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import torch

from mjlab import mdp, motion
from mjlab.entity import Entity
from mjlab.envs import ManagerBasedRlEnv
from mjlab.export.cameras import CHANNELS, camera_facts
from mjlab.export.clips import TIME_STEP
from mjlab.export.quantities import (
    WORLD,
    WXYZ,
    XYZ,
    joint_units,
    known_measured,
    meaning,
    root_frame,
    sensor_quantity,
)
from mjlab.export.reader import ExportError
from mjlab.managers import BoundTerm, ObservationTermCfg
from mjlab.managers.managed_env import ManagedEnv
from mjlab.managers.quantity import Quantity
from mjlab.mdp.lookup import ROBOT
from mjlab.mdp.velocity_command import UniformVelocityCommand
from mjlab.motion import MotionCommand
from mjlab.scene import SceneEntityCfg, Selection
from mjlab.sensor.native import MujocoSensor


@dataclass(frozen=True)
class Leaf:
    """Input of an exported policy: how it is measured, its unit and its frame."""

    name: str
    """Name of the input."""

    kind: str
    """Kind of measurement, such as "joint_pos", "sensor" or "command"."""

    term: ObservationTermCfg
    """Observation term that returns the input's value in simulation."""

    quantity: Quantity
    """Unit, frame and element names of the input."""

    about: Mapping[str, Any]
    """Details of the measurement, such as the name of the sensor."""

    meaning: str
    """One sentence for readers of the contract."""

    observation: str | None = None
    """Observation term "group/term" that this input replaces, if any."""

    def bind(self, env: ManagerBasedRlEnv) -> BoundTerm:
        """Return an observation term that reads the input in simulation."""
        return BoundTerm(self.name, self.term, env, kind="input")

    def described(self, value: torch.Tensor) -> dict[str, Any]:
        """Return the contract entry; `value` is an example value of one world."""
        return {
            "name": self.name,
            "shape": list(value.shape),
            "dtype": str(value.dtype).removeprefix("torch."),
            **asdict(self.quantity),
            "meaning": self.meaning,
            "measured": {"kind": self.kind, **self.about},
            "observation": self.observation,
        }


# Observation functions that read inputs in simulation.


def encoder_pos(env: ManagedEnv, asset_cfg: Selection = ROBOT) -> torch.Tensor:
    """Joint positions with encoder bias, m or rad, shape (num_envs, joints)."""
    return asset_cfg.entity.data.joint_pos_biased


def anchor_pos_w(env: ManagedEnv, command_name: str) -> torch.Tensor:
    """Position of the robot's anchor body relative to its environment's spawn origin.

    World axes, m, shape (num_envs, 3).
    """
    return motion.mdp.robot_anchor_pose_w(env, command_name)[:, :3]


_JOINTS: dict[str, tuple[Any, str, str, str]] = {
    "joint_pos": (encoder_pos, "rad", "m", "Joint positions."),
    "joint_vel": (mdp.joint_vel, "rad/s", "m/s", "Joint velocities."),
}
_ROOT: dict[str, tuple[Any, Quantity, str]] = {
    "root_quat_w": (
        mdp.root_quat_w,
        Quantity("1", WORLD, WXYZ),
        "Orientation of the root, wxyz.",
    ),
    "root_ang_vel_b": (
        mdp.base_ang_vel,
        Quantity("rad/s", None, XYZ),
        "Angular velocity of the root in its axes.",
    ),
    "root_lin_vel_b": (
        mdp.base_lin_vel,
        Quantity("m/s", None, XYZ),
        "Velocity of the root's origin in its axes.",
    ),
}
ENTITY_KINDS = (*_JOINTS, *_ROOT)
"""Kinds of inputs that are fields of `EntityData`."""


def entity_leaves(env: ManagerBasedRlEnv, entity: Entity, *, only: bool) -> list[Leaf]:
    """Return the joint and root inputs of a robot.

    Args:
        env: The environment.
        entity: The robot.
        only: Whether this is the only robot. If not, input names start with its name.
    """
    prefix = "" if only else f"{entity.name}_"
    params = {"asset_cfg": SceneEntityCfg(entity.name)}
    found, names = [], list(entity.joint_names)
    for kind, (func, hinge, slide, text) in _JOINTS.items():
        if names:
            unit = joint_units(env, entity, names, hinge, slide)
            term = ObservationTermCfg(func=func, params=params)
            about = {"entity": entity.name}
            leaf = Leaf(
                prefix + kind, kind, term, Quantity(unit, None, names), about, text
            )
            found.append(leaf)
    if entity.is_fixed_base:
        return found
    frame = root_frame(env, entity)
    for kind, (func, quantity, text) in _ROOT.items():
        term = ObservationTermCfg(func=func, params=params)
        framed = replace(quantity, frame=quantity.frame or frame)
        about = {"entity": entity.name, "body": frame}
        found.append(Leaf(prefix + kind, kind, term, framed, about, text))
    return found


def sensor_leaves(env: ManagerBasedRlEnv, robots: list[Entity]) -> Iterator[Leaf]:
    """Yield the inputs of MuJoCo sensors. Names lose the first robot's prefix."""
    for name, sensor in env.scene.sensors.items():
        if not isinstance(sensor, MujocoSensor):
            continue
        plain = name.removeprefix(f"{robots[0].name}/").replace("/", "_")
        term = ObservationTermCfg(func=mdp.builtin_sensor, params={"sensor_name": name})
        quantity = sensor_quantity(env, name)
        text = f"Readings of the sensor {name!r}."
        yield Leaf(plain, "sensor", term, quantity, {"name": name}, text)


def command_leaves(env: ManagerBasedRlEnv) -> Iterator[Leaf]:
    """Yield the inputs of commands: the command, or clip frame and anchor pose."""
    for name, command in env.command_manager.terms.items():
        params = {"command_name": name}
        if isinstance(command, MotionCommand):
            yield from _motion_leaves(command, params)
            continue
        quantity = Quantity()
        if isinstance(command, UniformVelocityCommand):
            entity = env.scene.entity(command.cfg.entity_name)
            quantity = Quantity(
                ["m/s", "m/s", "rad/s"],
                root_frame(env, entity),
                ["lin_vel_x", "lin_vel_y", "ang_vel_z"],
            )
        term = ObservationTermCfg(func=mdp.generated_commands, params=params)
        text = meaning(type(command).command)
        yield Leaf(name, "command", term, quantity, {"command": name}, text)


def _motion_leaves(command: MotionCommand, params: dict[str, Any]) -> Iterator[Leaf]:
    body = command.entity.index.prefix + command.cfg.anchor_body
    about = {"motion": command.name, "body": body}
    parts: list[tuple[str, str, Any, Quantity, dict[str, Any], str]] = [
        (
            TIME_STEP,
            "clip_row",
            motion.mdp.motion_time_step,
            Quantity("1", None, ["frame of the clips"]),
            {"motion": command.name, "command": TIME_STEP},
            "Index of the clip frame at the end of the control step.",
        ),
        (
            "anchor_pos_w",
            "body_pos",
            anchor_pos_w,
            Quantity("m", WORLD, XYZ),
            about,
            "Position of the motion's anchor body in the clip's world frame.",
        ),
        (
            "anchor_quat_w",
            "body_quat",
            motion.mdp.robot_anchor_quat_w,
            Quantity("1", WORLD, WXYZ),
            about,
            "Orientation of the motion's anchor body, wxyz.",
        ),
    ]
    for name, kind, func, quantity, told, text in parts:
        term = ObservationTermCfg(func=func, params=params)
        yield Leaf(name, kind, term, quantity, told, text)


def measured_leaf(
    env: ManagerBasedRlEnv, place: str, term: BoundTerm, value: torch.Tensor
) -> Leaf | None:
    """Return the input that replaces an observation term; None for a traced term.

    Terms declared with `@measured` and camera images are replaced.

    Args:
        env: The environment.
        place: Name of the term, as "group/term".
        term: The term.
        value: Value of the term.
    """
    describe = known_measured(term.cfg.func)
    is_image = term.cfg.func in CHANNELS
    if describe is None and not is_image:
        return None
    quantity = Quantity("1") if describe is None else describe(env, term.params)
    about = {"camera": camera_facts(env, term, value)} if is_image else {}
    assert isinstance(term.cfg, ObservationTermCfg), "It is an observation term."
    plain = replace(term.cfg, clip=None, scale=None, history_length=0)
    return Leaf(
        place.partition("/")[2],
        "given",
        plain,
        quantity,
        about,
        meaning(term.cfg.func),
        place,
    )


def all_leaves(env: ManagerBasedRlEnv) -> dict[str, Leaf]:
    """Return all inputs that terms can be traced from, by name.

    Joint and root inputs belong to the entities that action terms move.
    """
    moved = {t.entity for a in env.action_manager.terms.values() for t in a.targets}
    robots = [entity for name, entity in env.scene.entities.items() if name in moved]
    leaves: dict[str, Leaf] = {}
    for robot in robots:
        for leaf in entity_leaves(env, robot, only=len(robots) == 1):
            leaves[leaf.name] = leaf
    for leaf in (*sensor_leaves(env, robots), *command_leaves(env)):
        if leaf.name in leaves:
            raise ExportError(
                f"The input name {leaf.name!r} is used twice, the second time for: "
                f"{leaf.meaning} Rename the sensor or the command."
            )
        leaves[leaf.name] = leaf
    return leaves


def input_term(
    entry: Mapping[str, Any], measured: ObservationTermCfg | None
) -> ObservationTermCfg:
    """Return the observation term that measures an input of a contract in simulation.

    Args:
        entry: Contract entry of the input.
        measured: Observation term of the task that the input replaces, if any.
    """
    how = entry["measured"]
    kind = how["kind"]
    if kind in ENTITY_KINDS:
        func = (_JOINTS.get(kind) or _ROOT[kind])[0]
        return ObservationTermCfg(
            func=func, params={"asset_cfg": SceneEntityCfg(how["entity"])}
        )
    if kind == "sensor":
        return ObservationTermCfg(
            func=mdp.builtin_sensor, params={"sensor_name": how["name"]}
        )
    if kind in _MOTION:
        params = {"command_name": how["motion"]}
        return ObservationTermCfg(func=_MOTION[kind], params=params)
    if kind == "command":
        params = {"command_name": how["command"]}
        return ObservationTermCfg(func=mdp.generated_commands, params=params)
    assert measured is not None, "The entry names its observation term."
    return replace(measured, clip=None, scale=None, history_length=0)


_MOTION: dict[str, Any] = {
    "clip_row": motion.mdp.motion_time_step,
    "body_pos": anchor_pos_w,
    "body_quat": motion.mdp.robot_anchor_quat_w,
}
"""Observation functions of a motion command's inputs, by kind."""
