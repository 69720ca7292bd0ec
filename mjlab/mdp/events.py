"""Event terms: state resets, pushes, external forces, terrain randomisation.

Poses and velocities are in the world frame.
"""

from collections.abc import Mapping
from typing import Any

import torch

from mjlab.managers.event import steps_of
from mjlab.managers.managed_env import ManagedEnv
from mjlab.managers.term import ManagerTermBase, TermCfg
from mjlab.mdp.lookup import ROBOT, chosen, ground_of
from mjlab.mdp.randomize.distributions import Choice, Range, Sampler, with_all_axes
from mjlab.names import UnknownNameError, suggest
from mjlab.scene import SceneEntityCfg
from mjlab.tensors.masks import fill_where, write_where
from mjlab.tensors.math import quat_from_axis_angle, quat_from_euler_xyz, quat_mul

Box = Mapping[str, Range]
"""Ranges by axis: "x", "y", "z", "roll", "pitch", "yaw". Missing axes are 0."""

_AXES = ("x", "y", "z", "roll", "pitch", "yaw")


def reset_scene_to_default(env: ManagedEnv, mask: torch.Tensor) -> None:
    """Reset every entity to its default state, at the world's spawn origin."""
    for entity in env.scene.entities.values():
        entity.reset_to_default(mask)
        if entity.index.free_joint_id is None and entity.index.mocap_body_id is None:
            continue
        pose = entity.data.default_root_state[:, :7].clone()
        pose[:, :3].add_(env.scene.spawn_origins)
        entity.write_root_pose_w(mask, pose)


# The root.


class _RootReset(ManagerTermBase):
    """Base class of terms that reset a root to its default state plus offsets."""

    def __init__(self, cfg: TermCfg, env: ManagedEnv) -> None:
        super().__init__(cfg, env)
        pose = cfg.params.get("pose_range") or {}
        velocity = cfg.params.get("velocity_range") or {}
        entity = self._entity = chosen(cfg.params, env).entity
        if velocity and entity.is_fixed_base:
            raise ValueError(
                f"velocity_range is set, but entity {entity.name!r} has a fixed base. "
                "Leave velocity_range out, or give the base a free joint."
            )
        if entity.is_fixed_base and entity.index.mocap_body_id is None:
            raise ValueError(
                f"Entity {entity.name!r} is fixed to the world body, so its root pose "
                "cannot be written. Choose an entity with a free joint or a mocap body."
            )
        self._moves = not entity.is_fixed_base
        self._turns = any(axis in pose for axis in _AXES[3:])
        self._tilts = any(axis in pose for axis in _AXES[3:5])
        self._axis = torch.tensor([0.0, 0.0, 1.0], device=env.device)
        self._varies_velocity = bool(velocity)
        targets = [*_box("pose_range", pose), *_box("velocity_range", velocity)]
        self._sampler = Sampler(targets, "root state", env.device)

    def _put(
        self, mask: torch.Tensor, origin: torch.Tensor, offset: torch.Tensor
    ) -> None:
        """Write the default state plus offsets, relative to `origin`, (num_envs, 3)."""
        default = self._entity.data.default_root_state
        pos = default[:, :3] + origin
        quat = default[:, 3:7]
        if self._turns:
            roll, pitch, yaw = offset[:, 3:6].unbind(dim=1)
            if self._tilts:
                turn = quat_from_euler_xyz(roll, pitch, yaw)
            else:
                turn = quat_from_axis_angle(self._axis, yaw)
            quat = quat_mul(quat, turn)
        pose = torch.cat((pos.add_(offset[:, :3]), quat), dim=1)
        self._entity.write_root_pose_w(mask, pose)
        if self._moves:
            velocity = default[:, 7:]
            if self._varies_velocity:
                velocity = velocity + offset[:, 6:]
            self._entity.write_root_velocity_w(mask, velocity)


class reset_root_state_uniform(_RootReset):
    """Reset an entity's root near its default state, at the world's spawn origin."""

    def __call__(
        self,
        env: ManagedEnv,
        mask: torch.Tensor,
        pose_range: Box | None = None,
        velocity_range: Box | None = None,
        asset_cfg: SceneEntityCfg = ROBOT,
        stream: str = "event",
    ) -> None:
        """Draw a pose and a velocity and write them.

        Args:
            env: The environment.
            mask: The worlds to write, shape (num_envs,), bool.
            pose_range: Offsets from the default pose, in m and rad. Rotations are about
                the axes of the default root orientation.
            velocity_range: Offsets from the default velocity, in m/s and rad/s.
            asset_cfg: The entity.
            stream: Name of the random stream, set by the event manager.
        """
        offset = self._sampler.draw(env.rng, stream)
        self._put(mask, env.scene.spawn_origins, offset)


class reset_root_state_from_flat_patches(_RootReset):
    """Reset an entity's root on a random flat patch of the world's terrain tile."""

    def __init__(self, cfg: TermCfg, env: ManagedEnv) -> None:
        super().__init__(cfg, env)
        self._ground = ground_of(env, "reset_root_state_from_flat_patches")
        name = cfg.params.get("patch_name", "spawn")
        if name not in self._ground.patch_names:
            hint = suggest(name, self._ground.patch_names)
            raise UnknownNameError(f"The terrain has no flat patches {name!r}. {hint}")
        self._worlds = torch.arange(env.num_envs, device=env.device)
        self._count = self._ground.patches(name).shape[1]

    def __call__(
        self,
        env: ManagedEnv,
        mask: torch.Tensor,
        patch_name: str = "spawn",
        pose_range: Box | None = None,
        velocity_range: Box | None = None,
        asset_cfg: SceneEntityCfg = ROBOT,
        stream: str = "event",
    ) -> None:
        """Draw a patch, a pose and a velocity and write them.

        Args:
            env: The environment.
            mask: The worlds to write, shape (num_envs,), bool.
            patch_name: Name of the flat patches in the terrain's configuration.
            pose_range: Offsets from the default pose, in m and rad. The position is
                relative to the patch.
            velocity_range: Offsets from the default velocity, in m/s and rad/s.
            asset_cfg: The entity.
            stream: Name of the random stream, set by the event manager.
        """
        offset = self._sampler.draw(env.rng, stream)
        spot = env.rng.integers(0, self._count, (), f"{stream}/patch")
        spots = self._ground.patches(patch_name)[self._worlds, spot]
        self._put(mask, spots, offset)


class push_by_setting_velocity(ManagerTermBase):
    """Push an entity by an instantaneous change of its root velocity."""

    def __init__(self, cfg: TermCfg, env: ManagedEnv) -> None:
        super().__init__(cfg, env)
        self._entity = chosen(cfg.params, env).entity
        if self._entity.is_fixed_base:
            raise ValueError(
                f"The entity {self._entity.name!r} has a fixed base, which cannot be "
                "pushed. Choose an entity with a free joint."
            )
        targets = _box("velocity_range", cfg.params["velocity_range"])
        self._sampler = Sampler(targets, "velocity_range", env.device)

    def __call__(
        self,
        env: ManagedEnv,
        mask: torch.Tensor,
        velocity_range: Box,
        asset_cfg: SceneEntityCfg = ROBOT,
        stream: str = "event",
    ) -> None:
        """Draw velocity changes, m/s and rad/s; add them in the worlds of `mask`."""
        self._entity.add_root_velocity_w(mask, self._sampler.draw(env.rng, stream))


# Joints.


class _JointReset(ManagerTermBase):
    """Base class of terms that reset joints to random states near the default."""

    scales = False

    def __init__(self, cfg: TermCfg, env: ManagedEnv) -> None:
        super().__init__(cfg, env)
        selection = chosen(cfg.params, env)
        self._entity, self._ids = selection.entity, selection.joint_ids
        neutral = (1.0, 1.0) if self.scales else (0.0, 0.0)
        targets = []
        for name in ("position_range", "velocity_range"):
            choice = Choice(
                names=selection.joint_names, num_axes=1, what="joint", label=name
            )
            given = cfg.params.get(name, neutral)
            found = {t.element: t for t in choice.resolve(given)}
            rest = choice.resolve(neutral)
            targets += [found.get(target.element, target) for target in rest]
        self._varies = any((t.low, t.high) != neutral for t in targets)
        self._sampler = Sampler(targets, type(self).__name__, env.device)

    def __call__(
        self,
        env: ManagedEnv,
        mask: torch.Tensor,
        position_range: Range | Mapping[str, Range],
        velocity_range: Range | Mapping[str, Range],
        asset_cfg: SceneEntityCfg = ROBOT,
        stream: str = "event",
    ) -> None:
        """Draw positions (clamped to the soft limits) and velocities and write them.

        Args:
            env: The environment.
            mask: The worlds to write, shape (num_envs,), bool.
            position_range: Offsets in m or rad (or factors): one range, or a range per
                joint name pattern. Joints without a range get their default position.
            velocity_range: Offsets in m/s or rad/s (or factors), in the same form.
            asset_cfg: The joints.
            stream: Name of the random stream, set by the event manager.
        """
        data, ids = self._entity.data, self._ids
        state = data.default_joint_state[:, :, ids]
        if self._varies:
            change = self._sampler.draw(env.rng, stream).view(state.shape)
            state = state * change if self.scales else state + change
        pos, vel = state.unbind(dim=1)
        lower, upper = data.soft_joint_pos_limits[:, ids].unbind(dim=-1)
        self._entity.write_joint_state(mask, torch.clamp(pos, lower, upper), vel, ids)


class reset_joints_by_offset(_JointReset):
    """Reset joints to their default state plus random offsets."""


class reset_joints_by_scale(_JointReset):
    """Reset joints to their default state times random factors."""

    scales = True


# Forces.


class apply_external_force_torque(ManagerTermBase):
    """Apply random forces and torques to bodies, until the next occurrence."""

    def __init__(self, cfg: TermCfg, env: ManagedEnv) -> None:
        super().__init__(cfg, env)
        selection = chosen(cfg.params, env)
        self._entity, self._ids = selection.entity, selection.body_ids
        self._shape = (env.num_envs, 2, len(selection.body_names), 3)
        names, xyz, targets = selection.body_names, _AXES[:3], []
        for label in ("force_range", "torque_range"):
            choice = Choice(
                names=names, num_axes=3, what="body", label=label, axis_names=xyz
            )
            targets += choice.resolve(with_all_axes(cfg.params[label], xyz))
        self._sampler = Sampler(targets, type(self).__name__, env.device)

    def __call__(
        self,
        env: ManagedEnv,
        mask: torch.Tensor,
        force_range: Range | Box,
        torque_range: Range | Box,
        asset_cfg: SceneEntityCfg = ROBOT,
        stream: str = "event",
    ) -> None:
        """Draw forces and torques and write them.

        Args:
            env: The environment.
            mask: The worlds to write, shape (num_envs,), bool.
            force_range: Range of each component of the force at the centre of mass, N:
                one range, or ranges by "x", "y", "z".
            torque_range: Range of each component of the torque, N m: one range, or
                ranges by "x", "y", "z".
            asset_cfg: The bodies.
            stream: Name of the random stream, set by the event manager.
        """
        self._push(mask, self._draw(stream))

    def _draw(self, stream: str) -> torch.Tensor:
        """Draw forces (N), then torques (N m), shape (num_envs, 2, bodies, 3)."""
        return self._sampler.draw(self._env.rng, stream).view(self._shape)

    def _push(self, mask: torch.Tensor, wrench: torch.Tensor) -> None:
        force, torque = wrench.unbind(dim=1)
        self._entity.write_external_wrench(mask, force, torque, self._ids)


class apply_body_impulse(apply_external_force_torque):
    """Apply random pushes of finite duration to bodies. Use with `mode="step"`."""

    def __init__(self, cfg: TermCfg, env: ManagedEnv) -> None:
        super().__init__(cfg, env)
        step_dt, device = env.step_dt, env.device
        # Index 0: cooldown. Index 1: push. Matches `_pushing` as an integer.
        steps = []
        for name in ("cooldown_s", "duration_s"):
            low, high = cfg.params[name]
            if not 0.0 <= low <= high:
                raise ValueError(
                    f"{name}={(low, high)} has to be (low, high) with 0 <= low <= high."
                )
            steps.append(steps_of((low, high), step_dt))
        self._lows = torch.tensor([low for low, _ in steps], device=device)
        self._choices = torch.tensor(
            [high - low + 1.0 for low, high in steps], device=device
        )
        # Shape (num_envs,): whether a push is active, and the remaining steps of the
        # push or of the cooldown.
        self._pushing = torch.zeros(env.num_envs, dtype=torch.bool, device=device)
        self._steps_left = torch.zeros(env.num_envs, dtype=torch.int64, device=device)
        self._stream = cfg.params.get("stream", "event")
        self.reset(torch.ones(env.num_envs, dtype=torch.bool, device=device))

    def __call__(  # type: ignore[override]
        self,
        env: ManagedEnv,
        mask: torch.Tensor,
        force_range: Range | Box,
        torque_range: Range | Box,
        duration_s: Range,
        cooldown_s: Range,
        asset_cfg: SceneEntityCfg = ROBOT,
        stream: str = "event",
    ) -> None:
        """Advance the timers in the worlds of `mask`; start and stop pushes.

        `duration_s` is the duration of a push and `cooldown_s` the time between two
        pushes, both in s and rounded to whole steps. See `apply_external_force_torque`
        for the other parameters.
        """
        self._steps_left.sub_(mask.long())
        due = (self._steps_left <= 0) & mask
        self._pushing.logical_xor_(due)
        write_where(self._steps_left, due, self._draw_steps(f"{stream}/time"))
        self._push(due, self._draw(stream) * self._pushing.view(-1, 1, 1, 1))

    def reset(self, mask: torch.Tensor) -> None:
        """Start the worlds of `mask` in cooldown. A reset clears external forces."""
        fill_where(self._pushing, mask, False)
        write_where(self._steps_left, mask, self._draw_steps(f"{self._stream}/reset"))

    def state(self) -> dict[str, torch.Tensor]:
        """Return the push states and timers, live."""
        return {"pushing": self._pushing, "steps_left": self._steps_left}

    def _draw_steps(self, stream: str) -> torch.Tensor:
        """Draw the duration of the current push or cooldown, steps, (num_envs,)."""
        phase = self._pushing.long()
        unit = self._env.rng.draw(stream, ())
        return (unit * self._choices[phase]).long() + self._lows[phase]


# Ground.


class randomize_terrain(ManagerTermBase):
    """Move worlds to a random terrain tile, of any level and any type.

    Declare this event before events that reset entities at the spawn origin. It has no
    effect on a plane.
    """

    def __call__(
        self, env: ManagedEnv, mask: torch.Tensor, stream: str = "event"
    ) -> None:
        """Draw tiles for the worlds of `mask`, shape (num_envs,), bool."""
        if env.scene.ground is not None:
            env.scene.ground.place_anywhere(mask, stream)


def _box(name: str, box: Box) -> list[Any]:
    """Return the range of each axis as a `Target`, in the order of `_AXES`."""
    choice = Choice(
        names=(name,), num_axes=6, what="range", label=name, axis_names=_AXES
    )
    for axis in box:
        if axis not in _AXES:
            raise UnknownNameError(
                f"{name} has no axis {axis!r}. {suggest(axis, _AXES)}"
            )
    return choice.resolve(with_all_axes(box, _AXES))
