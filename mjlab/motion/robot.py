"""Robot of a motion: names, limits, and forward kinematics of frames."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import replace

import mujoco
import numpy as np
import torch

from mjlab.entity import EntityCfg
from mjlab.motion.motion import Motion, MotionError
from mjlab.names import UnknownNameError, suggest
from mjlab.random import WorldRng
from mjlab.scene import Scene, SceneCfg, build_scene
from mjlab.sim import Simulation, SimulationCfg, Stage, compile_model

_WORLDS = 64
"""Number of worlds, equal to the number of frames computed in parallel."""

_AWAY = 0.01
"""Tolerance of body positions in files against forward kinematics, in metres."""


class MotionRobot:
    """Robot for forward kinematics of a motion, one frame per simulated world."""

    def __init__(self, cfg: EntityCfg, name: str = "") -> None:
        """Build the worlds.

        Args:
            cfg: The robot, with a floating base.
            name: Short name, such as "G1", for files and messages.
        """
        self.name = name
        """Short name; empty if not given."""
        scene_cfg = SceneCfg(num_envs=_WORLDS, entities={"robot": cfg})
        sim_cfg = SimulationCfg(backend="native", num_threads=1)
        built = build_scene(scene_cfg)
        self.sim = Simulation(compile_model(built.spec, sim_cfg), _WORLDS, sim_cfg)
        """Worlds with the robot only, without ground."""
        rng = WorldRng(_WORLDS, 0, self.sim.device)
        self.scene = Scene(scene_cfg, built, self.sim, rng)
        """Scene with the robot as entity "robot"."""
        self.entity = self.scene.entity("robot")
        """The robot."""
        if self.entity.is_fixed_base:
            raise MotionError(
                f"The robot {name or cfg.source} has a fixed base; motions need a "
                "floating base."
            )
        self.joint_names = self.entity.joint_names
        """Joint names, in the order of the model."""
        self.body_names = self.entity.body_names
        """Body names, in the order of the model; the first one is the floating base."""
        self.joint_limits = self.entity.data.joint_pos_limits[0].double().numpy()
        """Lower and upper joint limits, rad or m, shape (joints, 2)."""
        self.hash = kinematics_hash(self.sim.mj_model, self.entity.name)
        """Hash of the kinematics: names, links and joint axes."""

    @property
    def root_body(self) -> str:
        """Name of the floating base."""
        return self.body_names[0]

    def completed(self, motion: Motion) -> Motion:
        """Return a motion with all bodies and joints, in the robot model's order.

        Bodies that the motion already has must agree with forward kinematics.
        """
        self.check(motion)
        columns = motion.joint_columns(self.joint_names)
        root = motion.body_columns([self.root_body])[0]
        state = (motion.body_pos_w, motion.body_quat_w)
        state += (motion.body_lin_vel_w, motion.body_ang_vel_w)
        found = self.bodies(
            np.concatenate([part[:, root] for part in state], axis=-1),
            motion.joint_pos[:, columns],
            motion.joint_vel[:, columns],
        )
        self._compare(motion, found["body_pos_w"])
        info = motion.info
        return replace(
            motion,
            joint_names=self.joint_names,
            joint_pos=motion.joint_pos[:, columns],
            joint_vel=motion.joint_vel[:, columns],
            root_body=self.root_body,
            body_names=self.body_names,
            info=replace(info, robot=info.robot or self.name, model_hash=self.hash),
            **found,
        )

    def check(self, motion: Motion) -> None:
        """Raise if the motion's names or model hash do not match this robot."""
        label = f"Motion {motion.name!r}"
        for what, theirs, ours in (
            ("joint", motion.joint_names, self.joint_names),
            ("body", motion.body_names, self.body_names),
        ):
            strange = [name for name in theirs if name not in ours]
            if strange:
                raise UnknownNameError(
                    f"{label} has the {what} {strange[0]!r}, but {self._label()} does "
                    f"not. {suggest(strange[0], ours)}"
                )
        missing = [name for name in self.joint_names if name not in motion.joint_names]
        if missing:
            raise UnknownNameError(
                f"{label} lacks the joint {missing[0]!r} of {self._label()}."
            )
        if motion.root_body != self.root_body:
            raise MotionError(
                f"{label} has root body {motion.root_body!r}, but {self._label()} "
                f"has {self.root_body!r}."
            )
        known = motion.info.model_hash
        if known and known != self.hash:
            raise MotionError(
                f"{label} was made for {motion.info.robot or 'a robot'} with link hash "
                f"{known}; the link hash of {self._label()} is {self.hash}. Import it "
                "for this robot."
            )

    def bodies(
        self, root_state: np.ndarray, joint_pos: np.ndarray, joint_vel: np.ndarray
    ) -> dict[str, np.ndarray]:
        """Return poses and velocities of all bodies, (frames, bodies, ...), by name.

        Args:
            root_state: Position, quaternion, linear and angular velocity in the world,
                shape (frames, 13).
            joint_pos: Shape (frames, joints), in the order of the robot.
            joint_vel: Shape (frames, joints).
        """
        parts = (root_state, joint_pos, joint_vel)
        rows = [torch.from_numpy(np.asarray(part, dtype=np.float32)) for part in parts]
        chunks = list(self._chunks(*rows))
        return {
            key: np.concatenate([chunk[key] for chunk in chunks])
            for key in ("body_pos_w", "body_quat_w", "body_lin_vel_w", "body_ang_vel_w")
        }

    def _chunks(
        self, root: torch.Tensor, pos: torch.Tensor, vel: torch.Tensor
    ) -> Iterator[Mapping[str, np.ndarray]]:
        everyone = torch.ones(_WORLDS, dtype=torch.bool)
        for first in range(0, len(root), _WORLDS):
            # Unused worlds of the last batch repeat the last frame.
            frames = torch.arange(first, first + _WORLDS).clamp_(max=len(root) - 1)
            self.entity.write_root_state(everyone, root[frames])
            self.entity.write_joint_state(everyone, pos[frames], vel[frames])
            self.sim.forward(Stage.VELOCITY)
            self.scene.refresh()
            data, count = self.entity.data, min(_WORLDS, len(root) - first)
            yield {
                "body_pos_w": data.body_pos_w[:count].double().numpy(),
                "body_quat_w": data.body_quat_w[:count].double().numpy(),
                "body_lin_vel_w": data.body_lin_vel_w[:count].double().numpy(),
                "body_ang_vel_w": data.body_ang_vel_w[:count].double().numpy(),
            }

    def _compare(self, motion: Motion, body_pos_w: np.ndarray) -> None:
        """Raise if bodies of the motion disagree with forward kinematics."""
        columns = [self.body_names.index(name) for name in motion.body_names]
        away = np.linalg.norm(motion.body_pos_w - body_pos_w[:, columns], axis=-1)
        if away.max() <= _AWAY:
            return
        frame, body = np.unravel_index(away.argmax(), away.shape)
        found = (
            f"Motion {motion.name!r} has {motion.body_names[body]!r} "
            f"{100.0 * away.max():.0f} cm from its forward kinematics in frame {frame}"
        )
        turned = self._read_as_xyzw(motion)[:, columns]
        if np.linalg.norm(motion.body_pos_w - turned, axis=-1).max() <= _AWAY:
            raise MotionError(
                f"{found}, but matches with quaternions read as xyzw. They have to be "
                "wxyz: import it with --quat xyzw."
            )
        raise MotionError(
            f"{found}. Check that it was made for {self._label()}, and that its names "
            "are in the order of its columns."
        )

    def _read_as_xyzw(self, motion: Motion) -> np.ndarray:
        """Return the body positions that result if quaternions are read as xyzw."""
        turned = replace(motion.bare(), joint_names=motion.joint_names)
        columns = turned.joint_columns(self.joint_names)
        state = np.zeros((turned.num_frames, 13))
        state[:, :3], state[:, 3:7] = turned.root_pos, turned.root_quat[:, [3, 0, 1, 2]]
        joints = turned.joint_pos[:, columns]
        return self.bodies(state, joints, np.zeros_like(joints))["body_pos_w"]

    def _label(self) -> str:
        return self.name or "this robot"


def kinematics_hash(model: mujoco.MjModel, entity: str) -> str:
    """Hash an entity's links, joints and names to twelve characters.

    The hash is the same in every scene with the entity, and does not depend on root
    pose, masses, limits or actuators.

    Args:
        model: A compiled scene.
        entity: Name of the entity in the scene.
    """
    prefix = f"{entity}/"
    names = [model.body(i).name for i in range(model.nbody)]
    digest = hashlib.sha256()

    def add(name: str, *values: np.ndarray) -> None:
        digest.update(name.removeprefix(prefix).encode() + b"\0")
        for value in values:
            # Round to micrometres; the offset keeps round numbers off the bin edges, so
            # float errors do not change the hash.
            grid = np.floor(np.asarray(value, dtype=np.float64) * 1e6 + 0.317)
            digest.update(grid.astype(np.int64).tobytes())

    for body, name in enumerate(names):
        if not name.startswith(prefix):
            continue
        parent = names[model.body_parentid[body]]
        is_root = not parent.startswith(prefix)
        add(name)
        if not is_root:
            add(parent, model.body_pos[body], _positive(model.body_quat[body]))
        first = model.body_jntadr[body]
        for joint in range(first, first + model.body_jntnum[body]):
            place = (model.jnt_pos[joint], model.jnt_axis[joint])
            zero = () if is_root else (model.qpos0[model.jnt_qposadr[joint]],)
            add(model.joint(joint).name, model.jnt_type[joint], *place, *zero)
    return digest.hexdigest()[:12]


def _positive(quat: np.ndarray) -> np.ndarray:
    return quat if quat[0] >= 0.0 else -quat
