"""Record the states of a foreign policy in plain MuJoCo, with or without a mistake.

The observation comes from `drive.py` of the archive of foreign policies, a program that
shares no code with `mjlab.export.foreign`. A mistake changes the properties of the
policy, its observation, its targets, or the motors.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import mujoco
import numpy as np

from bench.foreign import load_module

COMMANDS = ((0.0, 0.0, 0.0), (0.5, 0.0, 0.0), (0.4, 0.2, 0.1), (0.6, -0.1, -0.15))
"""Commands in sequence: forward and left velocity, m/s, and yaw rate, rad/s."""

STEPS = 50
"""Control steps per command."""


@dataclass(frozen=True)
class Mistake:
    """Mistake to plant in a program that runs a policy."""

    properties: Callable[[dict[str, Any]], Any] = lambda facts: None
    """Changes the properties of the policy in place."""

    observation: Callable[[Any, np.ndarray], np.ndarray] = lambda walker, seen: seen
    """Returns the observation that the network gets."""

    kept: Callable[[np.ndarray, np.ndarray], np.ndarray] = lambda raw, target: raw
    """Returns the last action that the next observation contains."""

    targets: Callable[[np.ndarray], np.ndarray] = lambda target: target
    """Returns the targets that are sent, in the order of the policy's joints."""

    late: int = 0
    """Control steps between a target and its use."""

    stiffness: Callable[[np.ndarray], np.ndarray] = lambda gains: gains
    damping: Callable[[np.ndarray], np.ndarray] = lambda gains: gains
    """Returns the damping gains that the motors use."""


def record(path: Path, mistake: Mistake, to: Path) -> int:
    """Run a policy, save the recording, and return its number of steps.

    Args:
        path: JSON file with the properties of the policy.
        mistake: The mistake.
        to: The recording, NPZ.
    """
    walker = _walker(load_module(path.resolve().parent.parent / "drive.py"))(path)
    walker.begin(mistake)
    for command in COMMANDS:
        for _ in range(STEPS):
            if not walker.fallen:
                walker.act(command)
    rows = walker.rows
    arrays: dict[str, Any] = {
        name: np.array([row[name] for row in rows]) for name in rows[0]
    }
    np.savez(to, joints=np.array(walker.names), **arrays)
    return len(rows)


def _walker(drive: ModuleType) -> Any:
    """Return a subclass of the archive's driver that records states and actions."""

    class Walker(drive.Driver):
        def begin(self, mistake: Mistake) -> None:
            self.mistake, self.true = mistake, json.loads(json.dumps(self.facts))
            mistake.properties(self.facts)
            self.reset()
            self.rows: list[dict[str, Any]] = []
            self.sent = [self.default] * (mistake.late + 1)
            model = self.model
            free = int(mujoco.mjtJoint.mjJNT_FREE)
            kept = [j for j in range(model.njnt) if model.jnt_type[j] != free]
            self.names = [model.joint(j).name for j in kept]
            self.kp = mistake.stiffness(np.array(self.true["kp"], float))
            self.kd = mistake.damping(np.array(self.true["kd"], float))

        def act(self, command: Any) -> None:
            facts, data = self.facts, self.data
            row = self.measured() | {"command": np.array(command, float)}
            seen = self.mistake.observation(self, self.observe(np.array(command)))
            raw = self.answer(seen)
            clip = facts.get("action_clip", np.inf)
            target = self.default.copy()
            used = np.clip(raw, -clip, clip)
            target[self.acted] += np.asarray(facts["action_scale"]) * used
            target = self.mistake.targets(target)
            self.last = self.mistake.kept(raw, target[self.acted])
            self.sent = [*self.sent[1:], target]
            effort = self.effort(self.sent[0])
            row |= {"observation": seen, "action": raw}
            row |= {"joint_pos_target": target, "effort": effort}
            order = [facts["joints"].index(name) for name in self.names]
            for name in ("joint_pos_target", "effort"):
                row[name] = row[name][order]
            self.rows.append(row)
            for _ in range(self.substeps):
                is_model = facts["servo"] == "model"
                used = self.sent[0]
                data.ctrl[self.motors] = used if is_model else self.effort(used)
                mujoco.mj_step(self.model, data)

        def measured(self) -> dict[str, Any]:
            model, data = self.model, self.data
            body, speed = int(model.jnt_bodyid[0]), np.zeros(6)
            kind = mujoco.mjtObj.mjOBJ_XBODY
            mujoco.mj_objectVelocity(model, data, kind, body, speed, 1)
            return {
                "time": len(self.rows) * self.facts["control_s"],
                "joint_pos": data.qpos[7:].copy(),
                "joint_vel": data.qvel[6:].copy(),
                "root_quat_w": data.xquat[body].copy(),
                "root_ang_vel_b": speed[:3],
                "root_lin_vel_b": speed[3:],
            }

        def answer(self, seen: np.ndarray) -> np.ndarray:
            name = self.net.get_inputs()[0].name
            outputs = [output.name for output in self.net.get_outputs()]
            fed = {name: seen[None].astype(np.float32)} | self.hidden
            found = dict(zip(outputs, self.net.run(None, fed), strict=True))
            for each in self.facts.get("recurrent", []):
                self.hidden[each["input"]] = found[each["output"]]
            return found[outputs[0]].reshape(-1).astype(float)

        def effort(self, target: np.ndarray) -> np.ndarray:
            away = target - self.data.qpos[self.q]
            return self.kp * away - self.kd * self.data.qvel[self.dq]

    return Walker
