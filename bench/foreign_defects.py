"""Plant mistakes in foreign policies, and check that `mjlab verify --as` names them.

    python bench/foreign_defects.py FOLDER
    python bench/foreign_defects.py FOLDER --only rl_lab

FOLDER is the unpacked `../shared/reference/policies.tar.xz`. A mistake is in the
program that runs the policy, or in a file of its contract. A program with a mistake
walks in plain MuJoCo until it falls, at most 4 s, and its recording is compared with
the correct contract. Writes bench/results/foreign_defects.json.
"""

import argparse
import json
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.foreign_recorder import Mistake, record
from bench.record import save
from mjlab.export.foreign import ForeignVerdict, verify_foreign

LEGGED_GYM = """
simulation_dt: 0.002
control_decimation: 10
kps: [100, 100, 100, 150, 40, 40, 100, 100, 100, 150, 40, 40]
kds: [2, 2, 2, 4, 2, 2, 2, 2, 2, 4, 2, 2]
default_angles: [-0.1, 0.0, 0.0, 0.3, -0.2, 0.0, -0.1, 0.0, 0.0, 0.3, -0.2, 0.0]
ang_vel_scale: 0.25
dof_pos_scale: 1.0
dof_vel_scale: 0.05
action_scale: 0.25
cmd_scale: [2.0, 2.0, 0.25]
num_actions: 12
num_obs: 47
"""
"""Values of unitree_rl_gym's deploy/deploy_mujoco/configs/g1.yaml."""


@dataclass(frozen=True)
class Policy:
    """Policy of the archive, and the files of its contract."""

    form: str
    properties: str
    robot: str
    files: Callable[[Path, Path], tuple[Path, list[Path]]]
    """Returns the ONNX file and the configuration files.

    Arguments are the archive and an empty folder for new files.
    """


@dataclass(frozen=True)
class Defect:
    """Planted mistake, and the place and reason that a verdict must name."""

    policy: str
    kind: str
    said: str
    place: str
    """Pattern of the place."""
    reason: str
    """Pattern of the reason."""
    mistake: Mistake = field(default_factory=Mistake)
    edit: Callable[[str], str] | None = None
    """Changes the text of the contract's file."""
    is_simulated: bool = False
    """The evidence is a simulation instead of a recording."""


# The policies.


def _mjlab(pack: Path, folder: Path) -> tuple[Path, list[Path]]:
    """Add the metadata of mjlab 1.6 to a network of unitree_rl_mjlab."""
    facts = json.loads((pack / "rl_mjlab/policy.json").read_text("utf-8"))
    model = onnx.load(pack / "rl_mjlab/policy.onnx")
    names = "base_ang_vel,projected_gravity,command,joint_pos,joint_vel,actions"
    texts = {"joint_names": ",".join(facts["joints"]), "observation_names": names}
    for key, own in (
        ("joint_stiffness", "kp"),
        ("joint_damping", "kd"),
        ("default_joint_pos", "default"),
        ("action_scale", "action_scale"),
    ):
        texts[key] = ",".join(f"{value:.3f}" for value in facts[own])
    for key, value in (
        ("observation_terms_scale", "1.000"),
        ("observation_terms_history_length", "0.000"),
        ("observation_terms_clip", "-inf;inf"),
    ):
        texts[key] = ",".join([value] * 6)
    for key, value in texts.items():
        entry = model.metadata_props.add()
        entry.key, entry.value = key, value
    onnx.save(model, folder / "policy.onnx")
    return folder / "policy.onnx", []


def _rl_lab(pack: Path, folder: Path) -> tuple[Path, list[Path]]:
    """Return rl_lab with the arm damping that the archive's driver uses, 1.8."""
    text = (pack / "rl_lab/deploy.yaml").read_text("utf-8")
    (folder / "deploy.yaml").write_text(text.replace("10.0", "1.8"))
    return pack / "rl_lab/policy.onnx", [folder / "deploy.yaml"]


def _playground(name: str) -> Callable[[Path, Path], tuple[Path, list[Path]]]:
    return lambda pack, _: (pack / f"playground/{name}.onnx", [])


def _rl_gym(pack: Path, folder: Path) -> tuple[Path, list[Path]]:
    (folder / "g1.yaml").write_text(LEGGED_GYM)
    return pack / "rl_gym/g1_motion.onnx", [folder / "g1.yaml"]


EXAM = "g1_exam_model/exam.xml"
POLICIES = {
    "rl_mjlab": Policy("mjlab", "rl_mjlab/policy.json", EXAM, _mjlab),
    "rl_lab": Policy("isaaclab", "rl_lab/policy.json", EXAM, _rl_lab),
    "go1": Policy(
        "playground",
        "playground/go1_policy.json",
        "playground/robots/go1.xml",
        _playground("go1_policy"),
    ),
    "g1": Policy(
        "playground",
        "playground/g1_policy.json",
        "playground/robots/g1.xml",
        _playground("g1_policy"),
    ),
    "rl_gym": Policy(
        "legged-gym",
        "rl_gym/g1_motion_12dof.json",
        "rl_gym/robots/g1_12dof.xml",
        _rl_gym,
    ),
}


# Mistakes of a program.


def _columns(walker: Any, term: str) -> np.ndarray:
    """Return the columns of a term, shape (history, elements)."""
    facts, first = walker.true, 0
    length = (facts.get("history") or {}).get("length", 1)
    sizes = {"gyro": 3, "gravity": 3, "lin_vel": 3, "command": 3}
    sizes |= {"last_action": len(walker.acted)}
    phases = len((facts.get("clock") or {}).get("offsets", ()))
    sizes |= {"cos_phase": phases, "sin_phase": phases}
    for entry in facts["observation"]:
        size = sizes.get(entry["term"], len(entry.get("joints", facts["joints"])))
        if entry["term"] == term:
            return first + np.arange(length * size).reshape(length, size)
        first += length * size
    raise KeyError(term)


def changed(term: str, change: Callable[[Any, np.ndarray], np.ndarray]) -> Mistake:
    """Change the values of a term, shape (history, elements)."""

    def observe(walker: Any, seen: np.ndarray) -> np.ndarray:
        columns, seen = _columns(walker, term), seen.copy()
        seen[columns] = change(walker, seen[columns])
        return seen

    return Mistake(observation=observe)


def times(term: str, factor: Any) -> Mistake:
    """Multiply the values of a term."""
    return changed(term, lambda walker, rows: rows * np.asarray(factor))


def ordered(term: str, order: Callable[[Any], Sequence[int]]) -> Mistake:
    """Reorder the elements of a term."""
    return changed(term, lambda walker, rows: rows[:, list(order(walker))])


def late(term: str) -> Mistake:
    """Delay the values of a term by one control step."""

    def change(walker: Any, rows: np.ndarray) -> np.ndarray:
        before, walker.before = getattr(walker, "before", rows), rows
        return before

    return changed(term, change)


def _motor_order(walker: Any) -> list[int]:
    """Return the policy's index of each joint in the order of the motors."""
    return [walker.true["joints"].index(name) for name in walker.names]


def _swapped(walker: Any, one: str, other: str) -> list[int]:
    """Return joint indices in which the joints of two name prefixes are exchanged."""
    joints, order = walker.true["joints"], []
    for name in joints:
        twin = name
        if name.startswith(one):
            twin = other + name.removeprefix(one)
        elif name.startswith(other):
            twin = one + name.removeprefix(other)
        order.append(joints.index(twin))
    return order


def _quat(walker: Any) -> np.ndarray:
    return walker.data.xquat[walker.model.jnt_bodyid[0]]


def _turn(quat: np.ndarray) -> np.ndarray:
    import mujoco

    found = np.zeros(9)
    mujoco.mju_quat2Mat(found, quat / np.linalg.norm(quat))
    return found.reshape(3, 3)


def _wrong_quaternion(walker: Any, rows: np.ndarray) -> np.ndarray:
    w, x, y, z = _quat(walker)
    return -_turn(np.array([x, y, z, w]))[2][None]


def _in_world(walker: Any, rows: np.ndarray) -> np.ndarray:
    return rows @ _turn(_quat(walker)).T


def _at_root(walker: Any, rows: np.ndarray) -> np.ndarray:
    arm = walker.model.site_pos[walker.imu]
    spin = walker.measured()["root_ang_vel_b"]
    return rows - np.cross(spin, arm)


def _without_default(walker: Any, rows: np.ndarray) -> np.ndarray:
    return rows + walker.default


def _by_step(walker: Any, seen: np.ndarray) -> np.ndarray:
    terms = [each["term"] for each in walker.true["observation"]]
    parts = [seen[_columns(walker, term)] for term in terms]
    return np.concatenate([np.concatenate(row) for row in zip(*parts, strict=True)])


def _newest_first(walker: Any, seen: np.ndarray) -> np.ndarray:
    terms = [each["term"] for each in walker.true["observation"]]
    return np.concatenate([seen[_columns(walker, t)][::-1].ravel() for t in terms])


def _empty_history(walker: Any, seen: np.ndarray) -> np.ndarray:
    seen, step = seen.copy(), len(walker.rows)
    for term in (each["term"] for each in walker.true["observation"]):
        columns = _columns(walker, term)
        seen[columns[: max(len(columns) - 1 - step, 0)]] = 0.0
    return seen


def _command_first(walker: Any, seen: np.ndarray) -> np.ndarray:
    return np.concatenate((seen[-3:], seen[:-3]))


def _swapped_phases(walker: Any, seen: np.ndarray) -> np.ndarray:
    cos, sin = (_columns(walker, f"{name}_phase") for name in ("cos", "sin"))
    found = seen.copy()
    found[cos], found[sin] = seen[sin], seen[cos]
    return found


def _clock(**changes: Any) -> Mistake:
    return Mistake(properties=lambda facts: facts["clock"].update(changes))


def _negated(index: int) -> Callable[[np.ndarray], np.ndarray]:
    def change(target: np.ndarray) -> np.ndarray:
        target = target.copy()
        target[index] *= -1.0
        return target

    return change


def _exchanged(one: int, other: int) -> Callable[[np.ndarray], np.ndarray]:
    def change(gains: np.ndarray) -> np.ndarray:
        gains = gains.copy()
        gains[[one, other]] = gains[[other, one]]
        return gains

    return change


def _text(old: str, new: str) -> Callable[[str], str]:
    def edit(text: str) -> str:
        found, count = re.subn(old, new, text, count=1)
        if not count:
            raise ValueError(f"{old!r} is not in the file.")
        return found

    return edit


DEGREE = 180.0 / np.pi

DEFECTS = (
    Defect(
        *("rl_lab", "order", "joint positions in motor order"),
        *("joint_pos_rel", "^order"),
        ordered("joint_pos", _motor_order),
    ),
    Defect(
        *("rl_lab", "history order", "newest step first"),
        *("history order", "newest step first"),
        Mistake(observation=_newest_first),
    ),
    Defect(
        *("rl_lab", "history order", "grouped by step"),
        *("history order", "grouped by step"),
        Mistake(observation=_by_step),
    ),
    Defect(
        *("rl_lab", "history order", "starts with zeros"),
        *("projected_gravity", "start of the history.*zeros"),
        Mistake(observation=_empty_history),
    ),
    Defect(
        *("rl_lab", "scale", "angular velocity without its scale of 0.2"),
        *("base_ang_vel", "scale: found 5 times"),
        times("gyro", 5.0),
    ),
    Defect(
        *("rl_lab", "units", "joint velocities in degrees/s"),
        *("joint_vel_rel", "degrees"),
        times("joint_vel", DEGREE),
    ),
    Defect(
        *("rl_lab", "gravity sign", "gravity points up"),
        *("projected_gravity", "^sign"),
        times("gravity", -1.0),
    ),
    Defect(
        *("rl_lab", "default pose", "joint positions without the default subtracted"),
        *("joint_pos_rel", "default"),
        changed("joint_pos", _without_default),
    ),
    Defect(
        *("rl_lab", "last action", "joint targets instead of actions"),
        *("last_action", "found the joint targets"),
        Mistake(kept=lambda raw, target: target),
    ),
    Defect(
        *("rl_lab", "delay", "joint velocities one step late"),
        *("joint_vel_rel", "delay: it is 1 control step late"),
        late("joint_vel"),
    ),
    Defect(
        *("rl_mjlab", "gains", "half of the damping"),
        *("gains", "damping: found 0.5 times"),
        Mistake(damping=lambda gains: 0.5 * gains),
    ),
    Defect(
        *("rl_mjlab", "gains", "stiffness of left hip roll and pitch exchanged"),
        *("gains", "order of stiffness"),
        Mistake(stiffness=_exchanged(0, 1)),
    ),
    Defect(
        *("rl_mjlab", "scale", "action scale 0.25 for all joints"),
        *("targets", "^scale"),
        Mistake(properties=lambda facts: facts.update(action_scale=0.25)),
    ),
    Defect(
        *("rl_mjlab", "delay", "targets reach the motors one step late"),
        *("targets", "delay: efforts follow the targets 1 step late"),
        Mistake(late=1),
    ),
    Defect(
        *("rl_mjlab", "sign", "target of the right hip roll negated"),
        *("targets", "sign.*right_hip_roll"),
        Mistake(targets=_negated(7)),
    ),
    Defect(
        *("rl_mjlab", "frame", "angular velocity in world axes"),
        *("base_ang_vel", "frame: found world axes"),
        changed("gyro", _in_world),
    ),
    Defect(
        *("rl_mjlab", "order", "quaternion read as xyzw"),
        *("projected_gravity", "order of a quaternion"),
        changed("gravity", _wrong_quaternion),
    ),
    Defect(
        *("rl_mjlab", "clip", "actions clipped to 1"),
        *("network|targets", "clip"),
        Mistake(properties=lambda facts: facts.update(action_clip=1.0)),
    ),
    Defect(
        *("go1", "frame", "linear velocity in world axes"),
        *("lin_vel", "frame: found world axes"),
        changed("lin_vel", _in_world),
    ),
    Defect(
        *("go1", "frame", "linear velocity at the root instead of the IMU"),
        *("lin_vel", "lever arm"),
        changed("lin_vel", _at_root),
    ),
    Defect(
        *("go1", "order", "front legs exchanged in joint positions"),
        *("joint_pos", "^order"),
        ordered("joint_pos", lambda walker: _swapped(walker, "FR", "FL")),
    ),
    Defect(
        *("go1", "order", "command before all other terms"),
        *("lin_vel", "order of terms"),
        Mistake(observation=_command_first),
    ),
    Defect(
        *("go1", "last action", "clipped to 0.5, the targets are not"),
        *("last_action", "clip: found values clipped to 0.5"),
        Mistake(kept=lambda raw, target: np.clip(raw, -0.5, 0.5)),
    ),
    Defect(
        *("go1", "frame", "IMU turned by 90 degrees about z"),
        *("gyro", "frame: found axes rotated by 90 degrees"),
        changed("gyro", lambda walker, rows: rows[:, [1, 0, 2]] * [1.0, -1.0, 1.0]),
    ),
    Defect(
        *("go1", "gains", "stiffness 20 % too high"),
        *("gains", "stiffness: found 1.2 times"),
        Mistake(stiffness=lambda gains: 1.2 * gains),
    ),
    Defect(
        *("go1", "sign", "velocity of one calf negated"),
        *("joint_vel", "sign.*RR_calf"),
        times("joint_vel", [1.0 - 2.0 * (i == 8) for i in range(12)]),
    ),
    Defect(
        *("g1", "phase offset", "second foot leads the clock by half a period"),
        *("(cos|sin)_phase", "phase offset: found"),
        _clock(offsets=[np.pi, 0.0]),
    ),
    Defect(
        *("g1", "phase offset", "clock of 1.25 Hz instead of 1.5 Hz"),
        *("(cos|sin)_phase", "found 1.25 Hz, expected 1.5 Hz"),
        _clock(hz=1.25),
    ),
    Defect(
        *("g1", "phase offset", "sine before cosine"),
        *("(cos|sin)_phase", "order"),
        Mistake(observation=_swapped_phases),
    ),
    Defect(
        *("rl_gym", "scale", "command without its scale"),
        *("command", "scale: found 0.5"),
        times("command", [0.5, 0.5, 4.0]),
    ),
    Defect(
        *("rl_gym", "phase offset", "clock starts one step late"),
        *("(cos|sin)_phase", "phase offset: found -0.157"),
        _clock(advance="after"),
    ),
    Defect(
        *("rl_gym", "last action", "always zero"),
        *("last_action", "always zero"),
        times("last_action", 0.0),
    ),
    Defect(
        *("rl_gym", "clip", "contract clips actions to 1, the program does not"),
        *("targets|last_action", "clip"),
        edit=lambda text: text + "clip_actions: 1.0\n",
    ),
    Defect(
        *("rl_lab", "order", "identity as joint_ids_map"),
        *("stiffness|default|joint_pos_rel", "order"),
        edit=_text(r"joint_ids_map: \[[^\]]*\]", f"joint_ids_map: {list(range(29))}"),
    ),
    Defect(
        *("rl_lab", "rate", "step_dt of 0.01 s"),
        *("rate", "0.02 s apart, expected 0.01"),
        edit=_text("step_dt: 0.02", "step_dt: 0.01"),
    ),
    Defect(
        *("rl_lab", "default pose", "zero offset of actions"),
        *("offset", "a zero action moves"),
        edit=_text(r"offset: \[[^\]]*\]", f"offset: {[0.0] * 29}"),
    ),
    Defect(
        *("rl_lab", "history order", "history of 4 steps for one term"),
        *("observations", "numbers.*expects 480"),
        edit=_text("history_length: 5", "history_length: 4"),
    ),
    Defect(
        *("rl_lab", "clip", "angular velocity clipped to 0.2 rad/s in the contract"),
        *("base_ang_vel", "clip"),
        edit=_text(
            r"(base_ang_vel:\s+params: \{\}\s+)clip: null", r"\1clip: [-0.2, 0.2]"
        ),
    ),
    Defect(
        *("rl_gym", "gains", "stiffness of the left knee 100"),
        *("kps", "left_knee_joint has 100"),
        edit=_text("kps: .100, 100, 100, 150", "kps: [100, 100, 100, 100"),
    ),
    Defect(
        *("rl_gym", "default pose", "left knee at 0.4 rad"),
        *("default_angles", "left_knee_joint has 0.4"),
        edit=_text("0.0, 0.3, -0.2", "0.0, 0.4, -0.2"),
    ),
)

SIMULATED = (
    Defect(
        *("rl_lab", "gravity sign", "gravity points up"),
        *("projected_gravity", "^sign"),
        edit=_text(
            r"(projected_gravity:\s+params: \{\}\s+clip: null\s+scale: )\[[^]]*\]",
            r"\1[-1.0, -1.0, -1.0]",
        ),
    ),
    Defect(
        *("rl_lab", "scale", "joint velocities without their scale of 0.05"),
        *("joint_vel_rel", "scale: 0.05"),
        edit=_text(
            r"(joint_vel_rel:\s+params: \{\}\s+clip: null\s+scale: )\[[^]]*\]",
            rf"\1{[1.0] * 29}",
        ),
    ),
    Defect(
        *("rl_lab", "scale", "action scale of 0.5"),
        *("action scale", "0.5 times"),
        edit=_text(
            r"(clip: null\s+joint_names: \[\.\*\]\s+scale: )\[[^]]*\]",
            rf"\1{[0.5] * 29}",
        ),
    ),
    Defect(
        *("rl_gym", "sign", "command negated"),
        *("command", "sign"),
        edit=_text(r"cmd_scale: \[[^]]*\]", "cmd_scale: [-2.0, -2.0, -0.25]"),
    ),
    Defect(
        *("rl_gym", "gains", "half of the stiffness"),
        *("gains", "stiffness: 2 times"),
        edit=_text(
            r"kps: \[[^]]*\]",
            f"kps: {[50, 50, 50, 75, 20, 20, 50, 50, 50, 75, 20, 20]}",
        ),
    ),
    Defect(
        *("rl_gym", "scale", "joint velocities without their scale of 0.05"),
        *("joint_vel", "scale: 0.05"),
        edit=_text("dof_vel_scale: 0.05", "dof_vel_scale: 1.0"),
    ),
)
"""Mistakes of files that a simulation shows without a recording."""


# Verdicts.


def judge(pack: Path, defect: Defect, folder: Path) -> tuple[ForeignVerdict, int]:
    """Return the verdict about a defect, and the number of recorded steps."""
    policy = POLICIES[defect.policy]
    path, configs = policy.files(pack, folder)
    if defect.edit is not None:
        (config,) = configs
        config.write_text(defect.edit(config.read_text("utf-8")))
    robot = pack / policy.robot
    if defect.is_simulated:
        verdict = verify_foreign(path, policy.form, configs, robot=robot, simulate=True)
        return verdict, 0
    recording = folder / "recording.npz"
    steps = record(pack / policy.properties, defect.mistake, recording)
    verdict = verify_foreign(
        path, policy.form, configs, robot=robot, recording=recording
    )
    return verdict, steps


def is_named(defect: Defect, verdict: ForeignVerdict) -> bool:
    """Return True if a verdict names the defect at the right place."""
    found = verdict.of("mismatch") or verdict.of("undetermined")
    return any(
        re.search(defect.place, each.place) and re.search(defect.reason, each.said)
        for each in found
    )


def trials(pack: Path, only: str | None) -> Iterator[dict[str, Any]]:
    """Yield one row per policy without a defect, and one per defect."""
    right = [Defect(name, "none", "no mistake", "", "") for name in POLICIES]
    simulated = [replace(each, is_simulated=True) for each in SIMULATED]
    for defect in (*right, *DEFECTS, *simulated):
        if only not in (None, defect.policy):
            continue
        with tempfile.TemporaryDirectory(prefix="mjlab-defects-") as folder:
            verdict, steps = judge(pack, defect, Path(folder))
        found = verdict.of("mismatch") or verdict.of("undetermined")
        yield {
            "policy": defect.policy,
            "kind": defect.kind,
            "defect": defect.said,
            "in": "file" if defect.edit else "program",
            "evidence": "simulation" if defect.is_simulated else "recorded states",
            "steps": steps,
            "state": verdict.state,
            "named": is_named(defect, verdict),
            "found": [f"{each.place}: {each.said}" for each in found],
        }


def main() -> None:
    """Try all defects, print and save the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, help="the unpacked archive")
    parser.add_argument("--only", choices=POLICIES, help="one policy")
    options = parser.parse_args()
    rows = []
    for row in trials(options.folder, options.only):
        rows.append(row)
        named = "named" if row["named"] else "-----"
        print(
            f"{row['policy']:9s} {row['kind']:14s} {row['state']:13s} {named} ", end=""
        )
        print(f"{row['defect']} ({row['steps']} steps)")
        for said in row["found"]:
            print(f"          {said}")
    if options.only is None:
        print(f"Saved to {save('foreign_defects', {'defects': rows})}")


if __name__ == "__main__":
    main()
