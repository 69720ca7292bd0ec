"""Robot model of a foreign policy: joint names, gains, keyframes and IMU pose."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from mjlab.export.runner.policy import ContractError
from mjlab.names import suggest

if TYPE_CHECKING:
    from mjlab.envs import ManagerBasedRlEnvCfg


@dataclass(frozen=True)
class Mount:
    """Pose of an IMU in the root's frame."""

    place: np.ndarray
    """Position, m."""

    axes: np.ndarray
    """Rotation matrix from the IMU's frame to the root's, shape (3, 3)."""


class RobotModel:
    """MJCF file of a robot with a floating base."""

    def __init__(self, path: Path) -> None:
        """Load the file; raise unless it has one robot with a floating base."""
        self.path = path
        try:
            self.spec = mujoco.MjSpec.from_file(str(path))
            self.model = self.spec.copy().compile()
        except ValueError as error:
            said = " ".join(str(error).split())
            raise ContractError(f"MuJoCo cannot load {path}: {said}") from error
        model = self.model
        free = np.flatnonzero(model.jnt_type == int(mujoco.mjtJoint.mjJNT_FREE))
        if len(free) != 1 or free[0] != 0:
            raise ContractError(
                f"{path} has {len(free)} free joints: it must have exactly one, before "
                "all other joints"
            )
        self.joints = tuple(model.joint(i).name for i in range(1, model.njnt))
        """Joints without the free joint, in the order of qpos."""
        self.root: str = model.body(int(model.jnt_bodyid[0])).name
        """Body with the free joint."""

    @property
    def motors(self) -> tuple[str, ...]:
        """Joints in actuator order; `joints` if the model has no actuators."""
        model = self.model
        kind = int(mujoco.mjtTrn.mjTRN_JOINT)
        driven = [
            model.joint(int(model.actuator_trnid[a, 0])).name
            for a in range(model.nu)
            if int(model.actuator_trntype[a]) == kind
        ]
        return tuple(driven) or self.joints

    def gains(self) -> dict[str, tuple[float, float]]:
        """Stiffness and damping of position servos, by joint.

        The damping includes the joint's passive damping.
        """
        model, found = self.model, {}
        for index in range(model.nu):
            joint = int(model.actuator_trnid[index, 0])
            stiffness = float(model.actuator_gainprm[index, 0])
            is_servo = np.isclose(model.actuator_biasprm[index, 1], -stiffness)
            if stiffness > 0.0 and is_servo:
                dof = int(model.jnt_dofadr[joint])
                own = float(np.ravel(model.dof_damping[dof])[0])
                damping = own - float(model.actuator_biasprm[index, 2])
                found[model.joint(joint).name] = stiffness, damping
        return found

    def pose(self, name: str) -> np.ndarray:
        """Joint positions of a keyframe, in the order of `joints`."""
        keys = [self.model.key(k).name for k in range(self.model.nkey)]
        if name not in keys:
            raise ContractError(
                f"{self.path} has no keyframe {name!r} with the default pose. "
                + suggest(name, keys)
            )
        return self.model.key(name).qpos[7:].copy()

    def limits(self) -> dict[str, tuple[float, float]]:
        """Position limits by joint, for limited joints."""
        model = self.model
        return {
            name: tuple(model.joint(name).range.tolist())
            for name in self.joints
            if model.jnt_limited[model.joint(name).id]
        }

    def mount(self, site: str | None) -> Mount:
        """Pose of the IMU site in the root's frame; identity if `site` is None."""
        if site is None:
            return Mount(np.zeros(3), np.eye(3))
        data = mujoco.MjData(self.model)
        mujoco.mj_kinematics(self.model, data)
        names = [self.model.site(i).name for i in range(self.model.nsite)]
        if site not in names:
            raise ContractError(
                f"{self.path} has no site {site!r} for the IMU. {suggest(site, names)}"
            )
        body = self.model.body(self.root).id
        on = int(self.model.site_bodyid[self.model.site(site).id])
        if self.model.body_weldid[on] != self.model.body_weldid[body]:
            raise ContractError(
                f"The site {site!r} of {self.path} is not fixed to the root body "
                f"{self.root!r}: the IMU must be on the root body"
            )
        turn = data.xmat[body].reshape(3, 3)
        place = turn.T @ (data.site(site).xpos - data.xpos[body])
        return Mount(place, turn.T @ data.site(site).xmat.reshape(3, 3))


def model_file(cfg: "ManagerBasedRlEnvCfg") -> Path:
    """Return the MJCF file of a task's robot.

    Raises:
        ContractError: If no articulated entity of the task is defined by a file.
    """
    for entity in cfg.scene.entities.values():
        if entity.articulation is not None and isinstance(entity.source, str | Path):
            return Path(entity.source)
    raise ContractError("The task's robot is not an MJCF file: pass one with --robot")
