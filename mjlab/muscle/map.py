"""Constant structure of a muscle model: muscles and the joints that they cross."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from mjlab.names import match_names

_MUSCLE = int(mujoco.mjtGain.mjGAIN_MUSCLE)
_TENDON = int(mujoco.mjtTrn.mjTRN_TENDON)
_SIMPLE = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))


class MuscleMapError(ValueError):
    """Raised for a model whose muscles or joints a muscle map cannot represent."""


@dataclass(frozen=True)
class MuscleMap:
    """Sparsity of a model's moment arms, found over random poses.

    A sparse matrix of shape (num_dofs, num_muscles) maps activations to torques. Its
    non-zero entries, ordered by muscle and then by dof, are the reduced torque map,
    `red` in this package. A muscle is an actuator with MuJoCo's muscle gain. Muscles
    are numbered from 0 in the order of the model.
    """

    muscle_names: tuple[str, ...]
    actuator_ids: tuple[int, ...]
    """Actuator id of each muscle."""
    joint_names: tuple[str, ...]
    """Joint name of each controlled dof."""
    dof_ids: tuple[int, ...]
    """Model ids of the controlled dofs, ascending."""
    qpos_ids: tuple[int, ...]
    """Index of each controlled dof in `qpos`."""
    entry_muscle: tuple[int, ...]
    """Muscle index of each entry."""
    entry_dof: tuple[int, ...]
    """Index of each entry's dof among the controlled dofs."""
    entry_address: tuple[int, ...]
    """Index of each entry in `ten_J`."""
    entry_gear: tuple[float, ...]
    """Factor from `ten_J` to the moment arm of the actuator."""

    @classmethod
    def from_model(
        cls,
        model: mujoco.MjModel,
        joints: Sequence[str] | None = None,
        *,
        muscles: str | Sequence[str] | None = None,
        ignore: Sequence[str] = (),
        num_poses: int = 1000,
        threshold: float = 1e-3,
    ) -> MuscleMap:
        """Find the joints that each muscle crosses.

        Args:
            model: A compiled model.
            joints: Patterns of the controlled joints. None selects every joint that a
                muscle crosses.
            muscles: Patterns of the actuators to use. None selects every muscle.
            ignore: Patterns of joints to leave uncontrolled, although muscles cross
                them, such as joints that an equality constraint couples.
            num_poses: Number of random poses over the joint ranges.
            threshold: Moment arms below this in every pose, in m, are left out.
        """
        actuators = _muscle_actuators(model, muscles)
        arms = _largest_moment_arms(model, num_poses)
        ignored = _dofs_of(model, ignore)
        entries = [
            (muscle, int(model.ten_J_colind[k]), k, float(model.actuator_gear[i, 0]))
            for muscle, i in enumerate(actuators)
            for k in _tendon_row(model, int(model.actuator_trnid[i, 0]))
            if arms[k] > threshold and int(model.ten_J_colind[k]) not in ignored
        ]
        entries.sort(key=lambda entry: entry[:2])
        crossed = sorted({entry[1] for entry in entries})
        dofs = crossed if joints is None else sorted(_dofs_of(model, joints) - ignored)
        names = tuple(model.actuator(i).name for i in actuators)
        _check_joints(model, entries, dofs, names)
        _check_limits(model, actuators, dofs)
        joint_ids = [int(model.dof_jntid[dof]) for dof in dofs]
        return cls(
            muscle_names=names,
            actuator_ids=tuple(actuators),
            joint_names=tuple(model.joint(j).name for j in joint_ids),
            dof_ids=tuple(dofs),
            qpos_ids=tuple(int(model.jnt_qposadr[j]) for j in joint_ids),
            entry_muscle=tuple(entry[0] for entry in entries),
            entry_dof=tuple(dofs.index(entry[1]) for entry in entries),
            entry_address=tuple(entry[2] for entry in entries),
            entry_gear=tuple(entry[3] for entry in entries),
        )

    @property
    def num_muscles(self) -> int:
        """Number of muscles."""
        return len(self.muscle_names)

    @property
    def num_dofs(self) -> int:
        """Number of controlled dofs."""
        return len(self.dof_ids)

    @property
    def num_entries(self) -> int:
        """Number of non-zero moment arms."""
        return len(self.entry_muscle)

    @property
    def fingerprint(self) -> str:
        """Hash of the structure, equal for models with interchangeable networks."""
        names = (self.muscle_names, self.joint_names)
        parts = (*names, self.entry_muscle, self.entry_dof)
        return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def _muscle_actuators(
    model: mujoco.MjModel, patterns: str | Sequence[str] | None
) -> list[int]:
    actuators = [i for i in range(model.nu) if model.actuator_gaintype[i] == _MUSCLE]
    if not actuators:
        raise MuscleMapError(
            f"The model has no muscle: none of its {model.nu} actuators has "
            "gaintype='muscle'."
        )
    if patterns is not None:
        names = [model.actuator(i).name for i in actuators]
        actuators = [actuators[k] for k in match_names(patterns, names, what="muscle")]
    for i in actuators:
        name = model.actuator(i).name
        if int(model.actuator_trntype[i]) != _TENDON:
            raise MuscleMapError(
                f"Muscle {name!r} does not act on a tendon; only tendons are supported."
            )
        if int(model.actuator_biastype[i]) != int(mujoco.mjtBias.mjBIAS_MUSCLE):
            raise MuscleMapError(
                f"Muscle {name!r} has a biastype other than 'muscle'; only 'muscle' is "
                "supported."
            )
        if int(model.actuator_dyntype[i]) not in (
            int(mujoco.mjtDyn.mjDYN_NONE),
            int(mujoco.mjtDyn.mjDYN_MUSCLE),
        ):
            raise MuscleMapError(
                f"Muscle {name!r} has a dyntype other than 'none' and 'muscle'; only "
                "these two are supported."
            )
    return actuators


def _tendon_row(model: mujoco.MjModel, tendon: int) -> range:
    start = int(model.ten_J_rowadr[tendon])
    return range(start, start + int(model.ten_J_rownnz[tendon]))


def _dofs_of(model: mujoco.MjModel, patterns: Sequence[str]) -> set[int]:
    if not patterns:
        return set()
    names = [model.joint(j).name for j in range(model.njnt)]
    dofs: set[int] = set()
    for j in match_names(patterns, names, what="joint"):
        start = int(model.jnt_dofadr[j])
        end = int(model.jnt_dofadr[j + 1]) if j + 1 < model.njnt else model.nv
        dofs.update(range(start, end))
    return dofs


def _largest_moment_arms(model: mujoco.MjModel, num_poses: int) -> np.ndarray:
    """Return the largest absolute value of each entry of `ten_J` over random poses."""
    data = mujoco.MjData(model)
    rng = np.random.default_rng(0)
    largest = np.zeros(model.nJten)
    simple = np.isin(model.jnt_type, _SIMPLE)
    low = np.where(model.jnt_limited, model.jnt_range[:, 0], -np.pi)[simple]
    high = np.where(model.jnt_limited, model.jnt_range[:, 1], np.pi)[simple]
    address = model.jnt_qposadr[simple]
    for _ in range(num_poses):
        data.qpos[address] = rng.uniform(low, high)
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_tendon(model, data)
        np.maximum(largest, np.abs(data.ten_J), out=largest)
    return largest


def _check_joints(
    model: mujoco.MjModel,
    entries: list[tuple[int, int, int, float]],
    dofs: list[int],
    muscles: tuple[str, ...],
) -> None:
    tied = _tied_joints(model)
    for muscle, dof, _, _ in entries:
        joint = int(model.dof_jntid[dof])
        name = model.joint(joint).name
        if dof not in dofs:
            controlled = [model.joint(int(model.dof_jntid[d])).name for d in dofs]
            raise MuscleMapError(
                f"Muscle {muscles[muscle]!r} crosses joint {name!r}, which is not "
                f"among the controlled joints {controlled}. Control it too, or name "
                "it in `ignore`."
            )
        if joint in tied:
            raise MuscleMapError(
                f"Muscle {muscles[muscle]!r} crosses joint {name!r}, which an equality "
                "constraint couples to another joint. Name it in `ignore`."
            )
        if int(model.jnt_type[joint]) not in _SIMPLE:
            raise MuscleMapError(
                f"Muscle {muscles[muscle]!r} crosses joint {name!r}, which is neither "
                "a hinge nor a slide. Name it in `ignore`."
            )


def _tied_joints(model: mujoco.MjModel) -> set[int]:
    joint = int(mujoco.mjtEq.mjEQ_JOINT)
    return {
        int(model.eq_obj1id[e]) for e in range(model.neq) if model.eq_type[e] == joint
    }


def _check_limits(model: mujoco.MjModel, actuators: list[int], dofs: list[int]) -> None:
    for i in actuators:
        tendon = int(model.actuator_trnid[i, 0])
        limited = ""
        if model.actuator_forcelimited[i]:
            limited = f"forcerange={model.actuator_forcerange[i].tolist()}"
        elif model.tendon_actfrclimited[tendon]:
            limited = f"actfrcrange={model.tendon_actfrcrange[tendon].tolist()}"
        if limited:
            raise MuscleMapError(
                f"Muscle {model.actuator(i).name!r} has a force limit, {limited}, so "
                "torques are not linear in activations. Remove the limit."
            )
    for dof in dofs:
        joint = int(model.dof_jntid[dof])
        if model.jnt_actfrclimited[joint]:
            raise MuscleMapError(
                f"Joint {model.joint(joint).name!r} has a force limit, actfrcrange="
                f"{model.jnt_actfrcrange[joint].tolist()}, so torques are not linear "
                "in activations. Remove the limit."
            )
