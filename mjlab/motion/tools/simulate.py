"""Physics simulation of a motion, with an assistive wrench on the root.

Actuators track the joints, and the wrench pulls the root to the reference. Each world
has a different bound of the wrench. The result is the world with the smallest bound
that stays near the motion to the end. The wrench in this world measures the feasibility
of each frame.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import torch

from mjlab.entity import Entity, EntityCfg
from mjlab.motion.motion import Motion, MotionError
from mjlab.motion.robot import MotionRobot
from mjlab.random import WorldRng
from mjlab.scene import Scene, SceneCfg, build_scene
from mjlab.sim import MujocoCfg, Simulation, SimulationCfg, compile_model
from mjlab.tensors.math import quat_angle, quat_box_minus
from mjlab.terrain import TerrainCfg

STRENGTHS = (0.0, 0.03, 0.06, 0.12, 0.25, 0.5, 1.0)
"""Bounds of the wrench, ascending, as fractions of the robot's weight."""

_RATE = 200.0
"""Physics steps per second."""

_AHEAD = 16.0
"""Gain of the joint error that is added to the target. With the soft actuator gains of
policies, a robot would otherwise sink under its own weight."""

_HAND_HZ = 2.0
"""Natural frequency of the wrench's spring, critically damped, in Hz."""

_GYRATION = 0.07
"""Radius of gyration assumed for the torque, in metres."""

_MOST_AWAY = 0.3
"""Position error of the root above which a world has lost the motion, in metres."""

_MOST_TURNED = 0.8
"""Orientation error of the root above which a world has lost the motion, rad."""


def simulated(
    motion: Motion,
    cfg: EntityCfg,
    robot: MotionRobot,
    progress: Callable[[int, int], None] | None = None,
) -> Motion:
    """Simulate a motion; return the simulated motion with its feasibility.

    Args:
        motion: The motion.
        cfg: The robot, with the actuators that track the motion.
        robot: The same robot, for names and bodies.
        progress: Called with the number of finished frames and the total.
    """
    motion = robot.completed(motion)
    fine = robot.completed(motion.resampled(_RATE))
    hands = _Hands(cfg, fine)
    every = round(_RATE / motion.fps)
    if abs(every * motion.fps - _RATE) > 1e-6:
        raise MotionError(
            f"Motion {motion.name!r} has {motion.fps:g} fps, which does not divide the "
            f"physics rate of {_RATE:g} Hz: import it at 50 fps."
        )
    kept: list[tuple[torch.Tensor, ...]] = []
    lost_at = torch.full((len(STRENGTHS),), fine.num_frames)
    for step in range(fine.num_frames):
        is_lost = hands.is_lost(step)
        lost_at = torch.where(is_lost, lost_at.clamp(max=step), lost_at)
        root, joints = hands.state()
        carried = hands.step(step)
        if step % every == 0:
            kept.append((root, joints, carried))
            if progress is not None:
                progress(len(kept), motion.num_frames)
    stayed = lost_at == fine.num_frames
    if not stayed.any():
        raise MotionError(
            f"Tracking of motion {motion.name!r} fails after "
            f"{int(lost_at.max()) / _RATE:.2f} s even with full weight support."
        )
    hand = int(stayed.long().argmax())
    parts = (torch.stack(part)[:, hand].double() for part in zip(*kept, strict=True))
    roots, joints, carried = (part.numpy() for part in parts)
    share = STRENGTHS[hand]
    log = (
        f"simulated with an assistive wrench on the root of at most {share:.0%} of the "
        "weight"
    )
    quats = roots[:, 3:] / np.linalg.norm(roots[:, 3:], axis=1, keepdims=True)
    return Motion.from_root(
        f"{motion.name}_simulated",
        motion.fps,
        roots[:, :3],
        quats,
        joints,
        root_body=robot.root_body,
        joint_names=robot.joint_names,
        feasibility=carried,
        info=replace(motion.info, loops=False).logged(log),
    )


class _Hands:
    """Parallel worlds of the robot on the ground, with different wrench bounds."""

    def __init__(self, cfg: EntityCfg, motion: Motion) -> None:
        """Reset all robots to the first frame of a motion at the physics rate."""
        number = len(STRENGTHS)
        scene_cfg = SceneCfg(
            num_envs=number, terrain=TerrainCfg(), entities={"robot": cfg}
        )
        options = MujocoCfg(timestep=1.0 / _RATE)
        sim_cfg = SimulationCfg(backend="native", num_threads=1, mujoco=options)
        built = build_scene(scene_cfg)
        self._sim = Simulation(compile_model(built.spec, sim_cfg), number, sim_cfg)
        rng = WorldRng(number, 0, self._sim.device)
        self._scene = Scene(scene_cfg, built, self._sim, rng)
        self._entity: Entity = self._scene.entity("robot")
        model = self._sim.mj_model
        root_id = self._entity.index.bodies.ids[0]
        self._mass = float(model.body_subtreemass[root_id])
        self._weight = self._mass * float(np.linalg.norm(model.opt.gravity))
        root = (motion.root_pos, motion.root_quat)
        root += (motion.body_lin_vel_w[:, 0], motion.body_ang_vel_w[:, 0])
        self._root = torch.from_numpy(np.concatenate(root, axis=1)).float()
        self._joints = torch.from_numpy(motion.joint_pos).float()
        speed = torch.from_numpy(motion.joint_vel[0]).float()
        self._everyone = torch.ones(number, dtype=torch.bool)
        first = (self._root[0], self._joints[0], speed)
        state, pos, vel = (row.expand(number, -1) for row in first)
        self._entity.write_root_state(self._everyone, state)
        self._entity.write_joint_state(self._everyone, pos, vel)

    def state(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Return root poses, (worlds, 7), and joint positions, (worlds, joints)."""
        data = self._entity.data
        return data.root_pose_w.clone(), data.joint_pos.clone()

    def is_lost(self, step: int) -> torch.Tensor:
        """Return True for robots too far from the motion, shape (worlds,), bool."""
        data, reference = self._entity.data, self._root[step]
        away = (data.root_pos_w - reference[:3]).norm(dim=1)
        asked = reference[3:7].expand(len(away), 4)
        turned = quat_angle(data.root_quat_w, asked)
        return (away > _MOST_AWAY) | (turned > _MOST_TURNED)

    def step(self, step: int) -> torch.Tensor:
        """Step physics; return the wrench in use, as a fraction of the weight."""
        entity, wanted = self._entity, self._joints[step]
        aim = wanted + _AHEAD * (wanted - entity.data.joint_pos)
        entity.data.targets.joint_pos[:, : entity.num_joints] = aim
        force, torque, share = self._pull(entity.data.root_state_w, self._root[step])
        entity.write_external_wrench(
            self._everyone, force.unsqueeze(1), torque.unsqueeze(1), slice(0, 1)
        )
        self._scene.apply()
        self._sim.step()
        self._scene.update(1.0 / _RATE)
        self._scene.invalidate()
        return share

    def _pull(
        self, state: torch.Tensor, reference: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return assistive force and torque, and their size as a fraction of weight."""
        rate = 2.0 * torch.pi * _HAND_HZ
        place = reference[:3] - state[:, :3]
        turn = quat_box_minus(reference[3:7].expand(len(state), 4), state[:, 3:7])
        change = reference[7:] - state[:, 7:]
        force = self._mass * (rate**2 * place + 2.0 * rate * change[:, :3])
        inertia = self._mass * _GYRATION**2
        torque = inertia * (rate**2 * turn + 2.0 * rate * change[:, 3:])
        # A torque counts as the equivalent force at the radius of gyration.
        most = torch.tensor(STRENGTHS) * self._weight
        force, torque = _at_most(force, most), _at_most(torque, most * _GYRATION)
        size = torch.maximum(force.norm(dim=1), torque.norm(dim=1) / _GYRATION)
        return force, torque, size / self._weight


def _at_most(vectors: torch.Tensor, most: torch.Tensor) -> torch.Tensor:
    """Clip the norms of vectors, (worlds, 3), to `most`."""
    lengths = vectors.norm(dim=1).clamp(min=1e-9)
    return vectors * (most / lengths).clamp(max=1.0).unsqueeze(1)
