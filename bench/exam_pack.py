"""Exam adapter for policies of other projects: `../shared/reference/policies.tar.xz`.

    mjlab exam POLICIES/falcon/g1_29dof.json --adapter bench/exam_pack.py:PackPolicy

Unpack the archive outside the repository. The JSON files describe the inputs of the
networks; README.md of the archive explains their entries.
"""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime

from mjlab.exam import CommandCfg, Exam, Readings

OWN_MOTORS = 15
"""Number of leg and waist joints, which the policy controls; the rest are arms."""

FALCON_STANDS = 75
"""Number of initial control steps in which falcon receives a standing command."""

ASAP_REST = (0.04, 0.05)
ASAP_WALK = (0.08, 0.10)
"""Errors of position (m) and heading (rad): `asap` stops if both are at most
`ASAP_REST`, and walks again if one exceeds `ASAP_WALK`."""


class PackPolicy:
    """A policy of the archive. All arrays have one row per run."""

    def __init__(self, path: Path, exam: Exam) -> None:
        """Read the JSON file of a policy, and its network."""
        self._facts: dict[str, Any] = json.loads(path.read_text("utf-8"))
        self._project = path.resolve().parent.name
        facts, joints = self._facts, list(exam.joints)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        file = str(path.parent / facts["policy"])
        self._network = onnxruntime.InferenceSession(
            file, options, ["CPUExecutionProvider"]
        )
        self._order = np.array([joints.index(name) for name in facts["joints"]])
        names = facts.get("acted", facts["joints"])
        self._acted = np.array([facts["joints"].index(name) for name in names])
        self._default = np.array(facts["default"], float)
        self.owned = np.arange(len(joints)) < OWN_MOTORS
        self.owned[self._order[self._acted]] = True
        self.kp, self.kd = self._in_exam(facts["kp"]), self._in_exam(facts["kd"])
        self.command = _command(facts)
        self.reset(0)

    def described(self) -> dict[str, Any]:
        """Notes about the command, and joints that the network does not observe."""
        note = self._facts.get("exam", {}).get("note")
        return {} if note is None else {"note": note}

    def reset(self, runs: int) -> None:
        """Clear the history, last actions and network states, one row per run."""
        self._last = np.zeros((runs, len(self._acted)))
        self._past: list[list[np.ndarray]] | None = None
        self._turn = np.zeros(runs)
        self._was_still = np.zeros(runs, bool)
        self._walks = np.zeros(runs, bool)
        self._hidden = {
            entry["input"]: np.zeros((runs, *entry["shape"]), np.float32)
            for entry in self._facts.get("recurrent", [])
        }

    def act(self, seen: Readings) -> np.ndarray:
        """Return position targets in the exam's order."""
        command = self._reshape(seen)
        fed = self._observe(seen, command).astype(np.float32)
        inputs = self._network.get_inputs()[0].name
        outputs = [output.name for output in self._network.get_outputs()]
        clip = self._facts.get("action_clip", 100.0)
        recurrent = self._facts.get("recurrent", [])
        for run in np.flatnonzero(seen.active):
            hidden = {name: value[run] for name, value in self._hidden.items()}
            given = {inputs: fed[run : run + 1], **hidden}
            answers = map(np.asarray, self._network.run(None, given))
            found = dict(zip(outputs, answers, strict=True))
            for entry in recurrent:
                self._hidden[entry["input"]][run] = found[entry["output"]]
            self._last[run] = np.clip(found[outputs[0]].reshape(-1), -clip, clip)
        target = np.tile(self._default, (len(fed), 1))
        target[:, self._acted] += np.asarray(self._facts["action_scale"]) * self._last
        return self._in_exam(target)

    def _in_exam(self, values: Any) -> np.ndarray:
        """Reorder values by joint of the policy's file into the exam's joint order."""
        given = np.asarray(values, float)
        ordered = np.zeros_like(given)
        ordered[..., self._order] = given
        return ordered

    def _reshape(self, seen: Readings) -> np.ndarray:
        command = seen.command.copy()
        if self._project == "falcon" and seen.step < FALCON_STANDS:
            command[:] = 0.0
        if self._project == "asap":
            distance, heading = seen.target.distance, np.abs(seen.target.heading)
            rests = (distance <= ASAP_REST[0]) & (heading <= ASAP_REST[1])
            starts = (distance > ASAP_WALK[0]) | (heading > ASAP_WALK[1])
            self._walks = np.where(self._walks, ~rests, starts)
            command[~self._walks] = 0.0
        return command

    def _observe(self, seen: Readings, command: np.ndarray) -> np.ndarray:
        facts = self._facts
        known = self._known(seen, command)
        terms: list[np.ndarray] = []
        middle = None
        for entry in facts["observation"]:
            name = entry["term"]
            if name == "history":
                middle = len(terms)
                continue
            if name == "constant":
                shape = len(command), entry["size"]
                value = np.full(shape, float(entry.get("value", 0.0)))
            else:
                value = known[name]
            if "joints" in entry:
                chosen = [facts["joints"].index(joint) for joint in entry["joints"]]
                value = value[:, chosen]
            terms.append(value * np.asarray(entry.get("scale", 1.0)))
        return np.concatenate(self._with_history(terms, middle), axis=1)

    def _known(self, seen: Readings, command: np.ndarray) -> dict[str, Any]:
        position = seen.joint_pos[:, self._order] - self._default
        velocity = seen.joint_vel[:, self._order].copy()
        for name in self._facts.get("unread", []):
            joint = self._facts["joints"].index(name)
            position[:, joint] = velocity[:, joint] = 0.0
        if self._project == "rl_lab":
            # The policy expects its last targets as arm positions, at zero velocity.
            arms = self._order >= OWN_MOTORS
            scale = self._facts["action_scale"]
            position[:, arms], velocity[:, arms] = scale * self._last[:, arms], 0.0
        phases = self._phases(command) if "clock" in self._facts else np.zeros((0, 0))
        return {
            "gyro": seen.gyro,
            "lin_vel": seen.lin_vel,
            "gravity": seen.gravity,
            "command": command,
            "command_yaw": command[:, 2:],
            "command_xy": command[:, :2],
            "going": (np.abs(command) > 1e-9).any(axis=1, keepdims=True) * 1.0,
            "joint_pos": position,
            "joint_vel": velocity,
            "last_action": self._last,
            "cos_phase": np.cos(phases),
            "sin_phase": np.sin(phases),
            "targets": seen.load_targets[:, self._order] - self._default,
        }

    def _phases(self, command: np.ndarray) -> np.ndarray:
        """Return the phases of the gait clock, rad, shape (runs, phases)."""
        clock = self._facts["clock"]
        linear, turning = np.hypot(*command[:, :2].T), np.abs(command[:, 2])
        still = (linear < 0.01) & (turning < 0.01)
        step = np.full(
            len(command), 2.0 * math.pi * clock["hz"] * self._facts["control_s"]
        )
        if clock.get("stops", False):
            step[still] = 0.0
        if clock["advance"] == "before":
            self._turn = self._turn + step
        if clock.get("restarts"):
            self._turn = np.where(self._was_still & ~still, 0.0, self._turn)
        self._was_still = still
        phases = np.array(clock["offsets"]) + self._turn[:, None]
        if clock["advance"] == "after":
            self._turn = self._turn + step
        if "still" in clock:
            phases[still] = clock["still"]
        if "stance_share" in clock:
            # Map the stance to the first half of the cycle, for any stance duration.
            x, share = phases / (2.0 * math.pi) % 1.0, clock["stance_share"]
            stance, swing = 0.5 * x / share, 0.5 + 0.5 * (x - share) / (1.0 - share)
            phases = 2.0 * math.pi * np.where(x < share, stance, swing)
        return phases

    def _with_history(
        self, terms: list[np.ndarray], middle: int | None
    ) -> list[np.ndarray]:
        history = self._facts.get("history")
        if not history:
            return terms
        length = history["length"]
        if middle is not None:
            # The history has past steps only, newest first, between the terms.
            past = self._past or [terms] * length
            self._past = [terms, *past[:-1]]
            rows = [part for group in zip(*past, strict=True) for part in group]
            return [*terms[:middle], *rows, *terms[middle:]]
        past = [terms] * length if self._past is None else [*self._past[1:], terms]
        self._past = past
        return [part for group in zip(*past, strict=True) for part in group]


def _command(facts: dict[str, Any]) -> CommandCfg:
    settings, ranges = facts.get("exam", {}), facts.get("command_range", {})
    named = {"vx": "lin_vel_x", "vy": "lin_vel_y", "wz": "ang_vel_z"}
    given: dict[str, Any] = {named[k]: tuple(v) for k, v in ranges.items()}
    given |= {
        name: tuple(settings[name])
        for name in ("gain", "reach_m", "reach_rad")
        if name in settings
    }
    return CommandCfg(speed=settings.get("speed"), **given)
