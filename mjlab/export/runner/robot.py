"""Interface between control loop and robot, and a robot simulated in MuJoCo."""

import importlib
import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from mjlab.export.runner.camera import DepthCamera
from mjlab.export.runner.policy import (
    PD,
    Arrays,
    ContractError,
    ContractPolicy,
    FileGraph,
    is_depth,
)
from mjlab.export.runner.reach import Reach

FIELD, TARGET = "mujoco", "target"
"""Kinds of muscle controller inputs: columns of a field of MuJoCo's data, and joint
targets of the policy."""

Gains = dict[str, dict[str, float | None]]
"""Gains by target: `stiffness`, `damping` and `effort_limit`; None for no limit."""


class RobotInterface(ABC):
    """Robot that the control loop reads and moves. Subclass it for your own robot."""

    @abstractmethod
    def read(self, commands: Arrays) -> Arrays:
        """Return the current readings of the policy's inputs, by name."""

    @abstractmethod
    def write(self, targets: Arrays) -> None:
        """Send the policy's targets, by output name."""

    @abstractmethod
    def damp(self) -> None:
        """Discard all targets and damp the joints. Called in every period of a stop."""

    @abstractmethod
    def wait(self) -> None:
        """Wait for the end of the control period."""

    @abstractmethod
    def now(self) -> float:
        """Return the time, s, on the clock that measures control periods."""

    @abstractmethod
    def joint_pos(self) -> np.ndarray:
        """Return the joint positions, rad or m, in the contract's order."""

    @abstractmethod
    def upright(self) -> float:
        """Return the cosine of the angle between the root's z axis and the vertical."""

    def gains(self) -> Gains:
        """Return motor gains by target; {} if the robot cannot report them.

        `run` compares them with the contract before the first control step.
        """
        return {}


class MujocoRobot(RobotInterface):
    """Robot simulated in MuJoCo, without this framework."""

    def __init__(self, policy: ContractPolicy, model: str | Path | None = None) -> None:
        """Load the scene of the policy file, or a model from an MJCF file or text."""
        self.mj = importlib.import_module("mujoco")
        self.contract, self.entity = policy.contract, policy.entity
        if isinstance(model, Path):
            self.model = self.loaded(model)
        else:
            files = {"scene.xml": model.encode()} if model else policy.scene()
            text = files["scene.xml"].decode()
            self.model = self.mj.MjModel.from_xml_string(text, files)
        self.data = self.mj.MjData(self.model)
        self.given: Arrays = {}
        """Values of inputs that the model does not determine, such as colour images."""
        self.cameras: dict[str, DepthCamera] = {}
        """Depth cameras that are rendered, by input; see `render_depth`."""
        self.world: FileGraph | None = None
        """World model that computes `given` and commands; None if they are constant."""
        self.on_step: Callable[[], Any] = lambda: None
        """Called after each control period."""
        self.targets: Arrays = {}
        """Targets of the last `write`; empty after `damp`."""
        self._ids: dict[tuple[str, str], int] = {}
        prefix = self.entity["prefix"]
        self.joints = [self.joint(prefix + j["name"]) for j in self.entity["joints"]]
        """Addresses of the contract's joints in qpos and qvel."""
        for place, pair in enumerate(zip(self.joints, self.joints[1:], strict=False)):
            if pair[0] > pair[1]:
                raise ContractError(
                    "The model has its joints in another order: "
                    f"{self.entity['joints'][place + 1]['name']} comes before "
                    f"{self.entity['joints'][place]['name']}."
                )
        self.controls = {
            (actuator["target"], command): self._control(actuator, place)
            for actuator in self.entity["actuators"]
            for place, command in enumerate(actuator["commands"])
        }
        """Addresses in ctrl, by target and command."""
        self.servos = {
            actuator["target"]: Servo(self, actuator)
            for actuator in self.entity["actuators"]
            if actuator["law"] == PD
        }
        """PD servos whose effort is computed in Python, by target."""
        self.reaches = {
            term["output"]: Reach(self, term)
            for term in self.contract["actions"]
            if "reach" in term
        }
        """Inverse kinematics of frame targets, by output."""
        self._constraint = np.zeros(self.model.nv)
        self.muscles = [
            Muscles(self, controller) for controller in policy.controllers.values()
        ]
        """Muscles that track targets in each physics step."""

    def render_depth(self) -> None:
        """Render depth images in the model, instead of repeating given ones.

        Models with mocap bodies, such as a goal, keep the given images, because the
        file does not contain the poses of these bodies.
        """
        if self.model.nmocap:
            return
        self.cameras = {
            entry["name"]: DepthCamera(self, entry)
            for entry in self.contract["inputs"]
            if is_depth(entry)
        }

    def loaded(self, path: Path) -> Any:
        """Load an MJCF file; raise `ContractError` if MuJoCo cannot load it."""
        try:
            return self.mj.MjModel.from_xml_path(str(path))
        except ValueError as error:
            said = " ".join(str(error).split())
            raise ContractError(f"MuJoCo cannot load {path}: {said}") from error

    def find(self, kind: str, name: str) -> int:
        """Return the id of an element, named with or without the entity's prefix."""
        if (kind, name) not in self._ids:
            known = getattr(self.mj.mjtObj, f"mjOBJ_{kind.upper()}")
            names = (name, name.removeprefix(self.entity["prefix"]))
            found = [self.mj.mj_name2id(self.model, known, each) for each in names]
            if max(found) < 0:
                raise ContractError(f"The model has no {kind} {name!r}.")
            self._ids[kind, name] = found[0] if found[0] >= 0 else found[1]
        return self._ids[kind, name]

    def joint(self, name: str) -> tuple[int, int]:
        """Return the addresses of a joint in qpos and qvel."""
        index = self.find("joint", name)
        return int(self.model.jnt_qposadr[index]), int(self.model.jnt_dofadr[index])

    def start(self, qpos: np.ndarray, qvel: np.ndarray) -> None:
        """Start from a state, with servos at the default pose."""
        self.mj.mj_resetData(self.model, self.data)
        self._constraint[:] = 0.0
        self.targets = {}
        for joint in self.entity["joints"]:
            control = self.controls.get((joint["name"], "position"))
            if control is not None:
                self.data.ctrl[control] = joint["default_pos"]
            if joint["name"] in self.servos:
                asked = {
                    "position": joint["default_pos"],
                    "velocity": 0.0,
                    "effort": 0.0,
                }
                self.servos[joint["name"]].asked = asked
        self.place(qpos, qvel)

    def place(self, qpos: np.ndarray, qvel: np.ndarray) -> None:
        """Set the state. Constraint forces of the last step warm-start the solver."""
        if (len(qpos), len(qvel)) != (self.model.nq, self.model.nv):
            raise ContractError(
                f"The model has nq={self.model.nq} and nv={self.model.nv}, but the "
                f"state has {len(qpos)} and {len(qvel)} values."
            )
        self.data.qpos[:], self.data.qvel[:] = qpos, qvel
        self.mj.mj_forward(self.model, self.data)

    def read(self, commands: Arrays) -> Arrays:
        known = self.given | {n: each.image() for n, each in self.cameras.items()}
        known |= {f"command {k}": v for k, v in commands.items()}
        if self.world is not None:
            found = self.world(self._fields(self.world))
            known |= found | {f"command {k}": v for k, v in found.items()}
        return self.measure(self.contract["inputs"], known)

    def measure(self, entries: list[dict[str, Any]], known: Arrays) -> Arrays:
        """Return inputs by name, in the shapes of the contract.

        Args:
            entries: Contract entries of the inputs.
            known: Values that the model does not determine, by name.
        """
        return {
            entry["name"]: np.array(self._measure(entry, known)).reshape(entry["shape"])
            for entry in entries
        }

    def write(self, targets: Arrays) -> None:
        self.targets = dict(targets)

    def damp(self) -> None:
        self.targets = {}
        self.data.ctrl[:] = 0.0
        muscles = {name for each in self.muscles for name in each.names}
        for actuator in self.entity["actuators"]:
            # Muscles relax without excitation, and keep their passive forces.
            if actuator["law"] is None and actuator["target"] not in muscles:
                index = self.find("actuator", actuator["actuator"])
                self.model.actuator_gainprm[index] = 0.0
                self.model.actuator_biasprm[index, :2] = 0.0
        for servo in self.servos.values():
            servo.stiffness = 0.0

    def wait(self) -> None:
        held = self.data.qpos.copy()
        for output, reach in self.reaches.items() if self.targets else ():
            reach.aim(self.targets[output])
        for _ in range(self.contract["rates"]["decimation"]):
            for term in self.contract["actions"] if self.targets else ():
                if "tracked_by" not in term:
                    self._send(term, held)
            for servo in self.servos.values():
                servo.pull()
            self._step()
        self.mj.mj_forward(self.model, self.data)
        self.on_step()

    def _step(self) -> None:
        """Take a physics step; muscles are excited after its velocity stage."""
        if not self.muscles:
            self.mj.mj_step(self.model, self.data)
            return
        self.mj.mj_step1(self.model, self.data)
        # Restore the constraint forces of the last step: `mj_forward` replaced them.
        self.data.qfrc_constraint[:] = self._constraint
        for muscles in self.muscles if self.targets else ():
            muscles.excite(self.targets)
        self.mj.mj_step2(self.model, self.data)
        self._constraint = self.data.qfrc_constraint.copy()

    def now(self) -> float:
        return float(self.data.time)

    def joint_pos(self) -> np.ndarray:
        return self.data.qpos[[position for position, _ in self.joints]]

    def upright(self) -> float:
        root = self.entity["root"]
        return 1.0 if root["is_fixed"] else float(self._turn(root["frame"])[2, 2])

    def gains(self) -> Gains:
        found: Gains = {}
        for actuator in self.entity["actuators"]:
            # A `Servo` uses the gains of the contract.
            if actuator["commands"] != ["position"] or actuator["law"] is not None:
                continue
            index = self.find("actuator", actuator["actuator"])
            is_limited = self.model.actuator_forcelimited[index]
            limit = float(self.model.actuator_forcerange[index, 1])
            found[actuator["target"]] = {
                "stiffness": float(self.model.actuator_gainprm[index, 0]),
                "damping": float(-self.model.actuator_biasprm[index, 2]),
                "effort_limit": limit if is_limited else None,
            }
        return found

    def _control(self, actuator: dict[str, Any], place: int) -> int:
        if actuator["law"] not in (None, PD):
            raise ContractError(
                f"The actuator of {actuator['target']} uses {actuator['law']}, which "
                "plain MuJoCo does not support."
            )
        index = self.find("actuator", actuator["actuator"])
        return int(self.model.actuator_ctrladr[index]) + place

    def _send(self, term: dict[str, Any], held: np.ndarray) -> None:
        command = _COMMANDS[term["quantity"].rpartition("_")[2]]
        reach = self.reaches.get(term["output"])
        values = self.targets[term["output"]] if reach is None else reach.targets()
        for name, value in zip(term["targets"], values, strict=True):
            if term["relative_to"]:
                address = self.joint(self.entity["prefix"] + name)[0]
                is_live = term["relative_to"].endswith("physics step")
                value = value + (self.data.qpos if is_live else held)[address]
            if name in self.servos:
                self.servos[name].asked[command] = value
            else:
                self.data.ctrl[self.controls[name, command]] = value

    def _fields(self, world: FileGraph) -> Arrays:
        """Return the fields of MuJoCo's data that the world model needs."""
        return {
            entry["name"]: getattr(self.data, entry["name"]).reshape(entry["shape"])
            for entry in world.about["inputs"]
        }

    def _turn(self, body: str) -> np.ndarray:
        return self.data.xmat[self.find("body", body)].reshape(3, 3)

    def _measure(self, entry: dict[str, Any], known: Arrays) -> Any:
        how, name, data = entry["measured"], entry["name"], self.data
        kind = how["kind"]
        if kind in ("given", "command", "clip_row"):
            key = name if kind == "given" else f"command {how['command']}"
            if key not in known:
                raise ContractError(f"No reading for {key}.")
            return known[key]
        if kind == TARGET:
            return known[name]
        if kind == FIELD:
            return getattr(data, how["field"])[how["columns"]]
        if kind == "sensor":
            return data.sensor(self.find("sensor", how["name"])).data
        if kind in ("joint_pos", "joint_vel"):
            prefix = self.contract["entities"][how["entity"]]["prefix"]
            joints = [self.joint(prefix + joint) for joint in entry["elements"]]
            if kind == "joint_vel":
                return data.qvel[[dof for _, dof in joints]]
            return data.qpos[[position for position, _ in joints]]
        index = self.find("body", how["body"])
        if kind in ("root_quat_w", "body_quat"):
            return data.xquat[index]
        if kind == "body_pos":
            return data.xpos[index]
        if kind in ("root_lin_vel_b", "root_ang_vel_b"):
            found, frame = np.zeros(6), self.mj.mjtObj.mjOBJ_XBODY
            self.mj.mj_objectVelocity(self.model, data, frame, index, found, 1)
            return found[3:] if kind == "root_lin_vel_b" else found[:3]
        raise ContractError(
            f"This runner cannot measure {kind!r}: export the policy again."
        )


class Servo:
    """PD servo whose effort is computed here, from the gains of the contract."""

    def __init__(self, robot: MujocoRobot, actuator: dict[str, Any]) -> None:
        name = actuator["target"]
        self._data = robot.data
        self._control = robot.controls[name, "effort"]
        self._position, self._dof = robot.joint(robot.entity["prefix"] + name)
        self.stiffness: float = actuator["stiffness"]
        """Position gain."""
        self._damping, self._limit = actuator["damping"], actuator["effort_limit"]
        self.asked: dict[str, float] = {}
        """Targets by command."""

    def pull(self) -> None:
        """Write the effort of the next physics step to `data.ctrl`."""
        if not self.asked:
            return
        away = self.asked["position"] - self._data.qpos[self._position]
        speed = self.asked["velocity"] - self._data.qvel[self._dof]
        effort = self.stiffness * away + self._damping * speed + self.asked["effort"]
        most = math.inf if self._limit is None else self._limit
        self._data.ctrl[self._control] = min(max(effort, -most), most)


class Muscles:
    """Muscles of an action term, excited by their controller."""

    def __init__(self, robot: MujocoRobot, controller: FileGraph) -> None:
        self._robot, self._controller = robot, controller
        (output,) = controller.about["outputs"]
        self.names: list[str] = output["elements"]
        """Names of the muscles."""
        self._output = output["name"]
        self._controls = [robot.controls[name, "effort"] for name in self.names]

    def excite(self, targets: Arrays) -> None:
        """Set the excitations of a physics step, after its velocity stage."""
        inputs = self._robot.measure(self._controller.about["inputs"], targets)
        self._robot.data.ctrl[self._controls] = self._controller(inputs)[self._output]


_COMMANDS = {
    **dict.fromkeys(("pos", "len", "pose"), "position"),
    "vel": "velocity",
    "effort": "effort",
}


def refuse_gains(entity: dict[str, Any], robot: RobotInterface) -> Gains:
    """Return the gains of a robot; raise if they differ from the contract."""
    gains = robot.gains()
    faults = gain_faults(entity, gains, "on the robot")
    if faults:
        more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        raise ContractError(faults[0] + more)
    return gains


def gain_faults(entity: dict[str, Any], gains: Gains, where: str) -> list[str]:
    """Describe the gains that differ from a contract.

    Args:
        entity: The robot's entry in the contract.
        gains: Gains to compare.
        where: Source of the gains, such as "in the model".
    """
    faults = []
    for actuator in entity["actuators"]:
        for name, value in gains.get(actuator["target"], {}).items():
            if name not in ("stiffness", "damping", "effort_limit"):
                raise ContractError(
                    f"gains() returned {name!r} of {actuator['target']}: use "
                    "stiffness, damping and effort_limit"
                )
            wanted = actuator[name]
            both = [each for each in (value, wanted) if each is not None]
            if len(both) == 1 or (both and not close(both[:1], both[1:])):
                faults.append(
                    f"gains of {actuator['target']}: {name} is {number(value)} "
                    f"{where}, but {number(wanted)} in the contract"
                )
    return faults


def close(found: Any, wanted: Any) -> bool:
    """Return whether numbers are equal within a relative tolerance of 0.001."""
    return bool(np.allclose(found, wanted, rtol=1e-3, atol=1e-9))


def number(value: float | None) -> str:
    """Format a number for a message; "none" for None."""
    # Adding zero removes the sign of a negative zero.
    return "none" if value is None else f"{value + 0.0:.4g}"
