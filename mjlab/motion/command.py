"""Motion command: track a reference clip frame by frame."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar, cast, get_args

import torch

from mjlab.entity import Entity
from mjlab.managers import CommandTerm, CommandTermCfg, ManagedEnv
from mjlab.managers.env import Env
from mjlab.mdp import DrawRanges
from mjlab.motion.clips import ClipTable, clip_weights, load_clips
from mjlab.motion.poses import reanchored, seen_from
from mjlab.motion.robot import MotionRobot
from mjlab.motion.sampling import (
    AdaptiveSampling,
    FailureBins,
    Range,
    first_frame,
    start_ranges,
)
from mjlab.names import find_name, suggest
from mjlab.settings import Config
from mjlab.tensors.columns import Columns
from mjlab.tensors.masks import write_where
from mjlab.tensors.math import (
    quat_from_euler_xyz,
    quat_mul,
    quat_to_matrix,
    spread,
)

T = TypeVar("T")
Sampling = Literal["start", "uniform", "adaptive"]

_REFERENCE_AXES = ((1.0, 0.5, 0.5), (0.5, 1.0, 0.5), (0.5, 0.5, 1.0))
"""Axis colours of the reference bodies, lighter than the robot's."""

_REFERENCE_SCALE, _ROBOT_SCALE = 0.08, 0.12
"""Length of the drawn body axes, m."""


class VizCfg(Config):
    """How the reference is drawn in viewers and videos."""

    mode: Literal["ghost", "frames"] = "ghost"
    """Draw a transparent robot in the reference pose, or the frames of the tracked
    bodies of reference and robot."""

    ghost_color: tuple[float, float, float, float] = (0.5, 0.7, 0.5, 0.5)
    """Red, green, blue and opacity of the ghost, each from 0 to 1."""


class MotionCommandCfg(CommandTermCfg):
    """Command to track a reference clip. Episodes start in the pose of a clip frame.

    The command has the reference joint positions and velocities for the end of the
    step, shape (num_envs, 2 * joints). The clip advances by a frame per step; at its
    end, the termination `motion_ends` ends the episode.
    """

    VizCfg = VizCfg

    resampling_time_range = (math.inf, math.inf)

    entity_name: str = "robot"
    """Name of the robot."""

    clips: tuple[Path, ...] = ()
    """Motion files, and folders of motion files."""

    weights: dict[str, float] = {}
    """Sampling weight per second of each clip, by pattern of clip names; default 1."""

    anchor_body: str
    """Anchor body; its heading and horizontal position align reference and robot."""

    body_names: tuple[str, ...]
    """Tracked bodies, compared with the reference."""

    sampling: Sampling = "adaptive"
    """Sampling of the start frame: the first frame, uniform, or adaptive. Adaptive
    sampling prefers frames before failures, which couples the worlds."""

    adaptive: AdaptiveSampling = AdaptiveSampling()
    """Settings of adaptive sampling."""

    pose_range: dict[str, Range] = {}
    """Offsets of the root's pose at the start, by axis x, y, z (m), roll, pitch, yaw
    (rad), in world axes."""

    velocity_range: dict[str, Range] = {}
    """Offsets of the root's velocity at the start, by axis, in m/s and rad/s."""

    joint_range: Range = (0.0, 0.0)
    """Offsets of joint positions at the start, in rad, clipped to the soft limits."""

    viz: VizCfg = VizCfg()
    """How the reference is drawn, if `debug_vis` is set."""

    def bind(self, name: str, env: Env) -> CommandTerm:
        """Create the term for one environment."""
        return MotionCommand(name, self, env)


class MotionCommand(CommandTerm):
    """Command term that plays a clip in each world as the reference of the robot.

    The reference is the clip frame for the end of the current step, until `update`
    advances to the next one. It is available in world coordinates and re-anchored:
    aligned with the heading and horizontal position of the robot's anchor body.
    Re-anchoring removes drift, but not errors in height and pose.
    """

    writes_state = True

    cfg: MotionCommandCfg

    def __init__(self, name: str, cfg: MotionCommandCfg, env: Env) -> None:
        self.entity: Entity = env.scene.entity(cfg.entity_name)
        """Entity of the tracked robot."""
        if cfg.sampling not in get_args(Sampling):
            hint = suggest(cfg.sampling, get_args(Sampling))
            raise ValueError(f"sampling is {cfg.sampling!r}. {hint}")
        joints = self.entity.num_joints
        super().__init__(name, cfg, env, num_draws=14 + joints)
        self.cfg = cfg
        self._managed = cast(ManagedEnv, env)
        self.couples_worlds = cfg.sampling == "adaptive"
        motions = load_clips(cfg.clips)
        robot = MotionRobot(self.entity.cfg)
        wanted = dict.fromkeys((*cfg.body_names, cfg.anchor_body, robot.root_body))
        ids = [
            find_name(body, self.entity.body_names, what="body", owner=cfg.entity_name)
            for body in wanted
        ]
        self.table = ClipTable(
            motions, robot, list(wanted), 1.0 / env.step_dt, env.device
        )
        """Table of the clips' frames."""
        self._compared = len(cfg.body_names)
        self._anchor = list(wanted).index(cfg.anchor_body)
        self._anchor_id = ids[self._anchor]
        parts = [*ids[: self._compared], self._anchor_id]
        self._parts = Columns.of(parts, env.device)
        self._root = list(wanted).index(robot.root_body)
        boxes = {"pose_range": cfg.pose_range, "velocity_range": cfg.velocity_range}
        ranges = start_ranges(boxes, cfg.joint_range, joints)
        self._ranges = DrawRanges(ranges, env.device)
        self._weights = clip_weights(cfg.weights, self.table.names, env.device)
        shares = self._weights * self.table.lengths
        self._clip_ends = (shares / shares.sum()).cumsum(0)
        self._is_spread = env.scene.ground is not None
        self.bins = FailureBins(
            cfg.adaptive, self.table.lengths, self._weights, 1.0 / env.step_dt
        )
        """Failure statistics, in bins of about one second of each clip."""
        self._allocate(env)
        env.scene.on_change.append(self._known.clear)
        self._update()

    def _allocate(self, env: Env) -> None:
        ints = {"dtype": torch.int64, "device": env.device}
        self.clip = torch.zeros(env.num_envs, **ints)
        """Clip of each world, shape (num_envs,)."""
        self.begin = torch.zeros(env.num_envs, **ints)
        """Table row at which the episode started, shape (num_envs,)."""
        self.row = torch.zeros(env.num_envs, **ints)
        """Row of the target frame of the current step, shape (num_envs,)."""
        self._last_rows = self.table.starts + self.table.lengths - 1
        self._row_ends = self._last_rows.repeat_interleave(self.table.lengths)
        self._is_last = torch.zeros(len(self.table.rows), dtype=torch.bool)
        self._is_last[self._last_rows.cpu()] = True
        self._is_last = self._is_last.to(env.device)
        size = (env.num_envs, self.table.rows.shape[1])
        self.reference = torch.zeros(size, device=env.device)
        """Row of the table at `row`, shape (num_envs, columns), live."""
        pos, vel, *bodies = self.reference.split(self.table.widths, dim=1)
        self.joint_pos = pos
        """Reference joint positions, rad, shape (num_envs, joints), live."""
        self.joint_vel = vel
        """Reference joint velocities, rad/s, shape (num_envs, joints)."""
        self._command = self.reference[:, : pos.shape[1] + vel.shape[1]]
        sizes = (3, 4, 3, 3)
        all_pos, all_quat, all_lin, all_ang = (
            part.unflatten(1, (-1, size))
            for part, size in zip(bodies, sizes, strict=True)
        )
        self._all_pos, self._all_quat = all_pos, all_quat
        chosen = slice(self._compared)
        self.body_pos_w = all_pos[:, chosen]
        """Reference positions of the tracked bodies, m, (num_envs, bodies, 3)."""
        self.body_quat_w = all_quat[:, chosen]
        """Reference orientations, wxyz, shape (num_envs, bodies, 4)."""
        self.body_lin_vel_w = all_lin[:, chosen]
        """Reference velocities, m/s, shape (num_envs, bodies, 3)."""
        self.body_ang_vel_w = all_ang[:, chosen]
        """Reference angular velocities, rad/s, shape (num_envs, bodies, 3)."""
        anchor = self._anchor
        self.anchor_pos_w, self.anchor_quat_w = all_pos[:, anchor], all_quat[:, anchor]
        self.anchor_lin_vel_w = all_lin[:, anchor]
        self.anchor_ang_vel_w = all_ang[:, anchor]
        shape = (env.num_envs, self._compared + 1, 2, 3)
        self._axes = torch.eye(3, device=env.device)[:2].expand(shape)
        self._known: dict[str, Any] = {}
        self._later: dict[tuple[int, ...], torch.Tensor] = {}

    def once(self, name: str, compute: Callable[[], T]) -> T:
        """Return a result, cached until the robot state or the reference changes.

        Args:
            name: Name in the cache.
            compute: Computes the result from robot and reference.
        """
        if name not in self._known:
            self._known[name] = compute()
        return self._known[name]

    # The robot.

    @property
    def robot_anchor_pos_w(self) -> torch.Tensor:
        """Position of the robot's anchor, m, shape (num_envs, 3)."""
        return self.once("anchor_pos", lambda: self._of_anchor("body_pos_w"))

    @property
    def robot_anchor_quat_w(self) -> torch.Tensor:
        """Orientation of the robot's anchor, wxyz, shape (num_envs, 4)."""
        return self.once("anchor_quat", lambda: self._of_anchor("body_quat_w"))

    @property
    def robot_anchor_lin_vel_w(self) -> torch.Tensor:
        """Velocity of the robot's anchor, m/s, shape (num_envs, 3)."""
        return self.entity.data.body_lin_vel_w[:, self._anchor_id]

    @property
    def robot_anchor_ang_vel_w(self) -> torch.Tensor:
        """Angular velocity of the robot's anchor, rad/s, shape (num_envs, 3)."""
        return self.entity.data.body_ang_vel_w[:, self._anchor_id]

    def robot_parts(self, quantity: str) -> torch.Tensor:
        """Return a quantity of the robot's tracked bodies, and of its anchor (last)."""
        return self.once(
            quantity, lambda: self._parts.read(getattr(self.entity.data, quantity))
        )

    def robot_bodies(self, quantity: str) -> torch.Tensor:
        """Return a quantity of the robot's tracked bodies, such as "body_pos_w"."""
        return self.robot_parts(quantity)[:, : self._compared]

    @property
    def seen(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Poses of robot bodies and reference anchor in the robot's anchor frame.

        Positions, (num_envs, bodies + 1, 3), and the first two columns of rotation
        matrices, row by row, (num_envs, bodies + 1, 6). The reference anchor is last.
        """
        return self.once("seen", self._see)

    @property
    def seen_anchor(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Reference anchor in the robot's anchor frame, as the last entries of `seen`.

        Shapes (num_envs, 3) and (num_envs, 6).
        """
        if "seen_anchor" in self._known:
            return self._known["seen_anchor"]
        places, axes = self.seen
        return places[:, -1], axes[:, -1]

    # The reference.

    @property
    def command(self) -> torch.Tensor:
        """Reference joint positions and velocities, shape (num_envs, 2 * joints)."""
        return self._command

    @property
    def num_bodies(self) -> int:
        """Number of tracked bodies."""
        return self._compared

    @property
    def frame(self) -> torch.Tensor:
        """Target frame of the current step, from 0, shape (num_envs,)."""
        return self.row - self.table.starts[self.clip]

    @property
    def reanchored(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Re-anchored reference positions and orientations of the tracked bodies.

        Shapes (num_envs, bodies, 3) and (num_envs, bodies, 4).
        """
        return self.once("reanchored", self._reanchor)

    def preview(self, frames: Sequence[int]) -> torch.Tensor:
        """Return future reference frames, shape (num_envs, (joints + 9) * frames).

        For each frame: joint positions, rad, then position, m, and orientation of the
        anchor in the frame of the current reference anchor. Orientations are the first
        two columns of rotation matrices, row by row. After the end of the clip, the
        last frame is repeated.

        Args:
            frames: Offsets from the target frame of the current step.
        """
        return self.once(f"preview {frames}", lambda: self._look_ahead(frames))

    def _look_ahead(self, frames: Sequence[int]) -> torch.Tensor:
        key = tuple(frames)
        if key not in self._later:
            # Allocated once: a graph cannot record the copy from the host.
            self._later[key] = torch.tensor(key, device=self.row.device)
        rows = self.row.unsqueeze(1) + self._later[key]
        rows = torch.minimum(rows, self._row_ends[self.row].unsqueeze(1))
        joint_pos, _, *bodies = self.table.rows[rows].split(self.table.widths, dim=2)
        place, quat = (
            part.unflatten(2, (-1, size))[:, :, self._anchor]
            for part, size in zip(bodies[:2], (3, 4), strict=True)
        )
        if self._is_spread:
            place = place + self._env.scene.spawn_origins.unsqueeze(1)
        axes = self._axes[:, :1].expand(-1, place.shape[1], -1, -1)
        anchor = (self.anchor_pos_w, self.anchor_quat_w)
        seen = seen_from(anchor, (place, quat), axes)
        return torch.cat((joint_pos, *seen), dim=2).flatten(1)

    @property
    def has_ended(self) -> torch.Tensor:
        """True if the target frame is the last one, shape (num_envs,), bool.

        Valid after the step is counted and before `update` advances the frame.
        """
        return self._is_last[self.row]

    def reset(self, mask: torch.Tensor) -> None:
        """Reset the worlds in `mask`, and count failures for adaptive sampling."""
        if self.couples_worlds:
            began = self._env.episode_length_buf > 0
            failed = self._managed.termination_manager.terminated & mask & began
            # Before `update`, this is the target frame of the current step.
            self.bins.count(self.row, failed)
        super().reset(mask)

    def advance(self, dt: float) -> None:
        """Update the failure statistics, and resample the commands that are due."""
        if self.couples_worlds and dt > 0.0:
            self.bins.advance()
        super().advance(dt)

    def state(self) -> dict[str, torch.Tensor]:
        own = {
            "clip": self.clip,
            "begin": self.begin,
            "row": self.row,
            "reference": self.reference,
        }
        bins = self.bins.state() if self.couples_worlds else {}
        return super().state() | own | {f"bins.{k}": v for k, v in bins.items()}

    @property
    def clip_frames(self) -> dict[str, int]:
        """Number of frames of each clip, by name."""
        return dict(zip(self.table.names, self.table.lengths.tolist(), strict=True))

    def begin_at(self, mask: torch.Tensor, clip: int, frame: int) -> None:
        """Start episodes exactly in the pose of a frame.

        Args:
            mask: The worlds, between the phases `apply` and `update_kinematics`.
            clip: Index of the clip.
            frame: Frame, from 0; at most the last but one.
        """
        self.clip.masked_fill_(mask, clip)
        self.begin.masked_fill_(mask, int(self.table.starts[clip]) + frame)
        self.write_row(mask, self.begin)
        self._ends.masked_fill_(mask, self._shortest)

    def debug_vis(self, visualizer: Any) -> None:
        """Draw the reference as a ghost robot or as body frames, in the world frame."""
        for world in visualizer.worlds:
            if self.cfg.viz.mode == "ghost":
                self._draw_ghost(visualizer, world)
            else:
                self._draw_frames(visualizer, world)

    def _draw_ghost(self, visualizer: Any, world: int) -> None:
        model, index = self._env.sim.mj_model, self.entity.index
        assert index.free_joint_id is not None  # `MotionRobot` requires one.
        root = model.jnt_qposadr[index.free_joint_id]
        pose = (self._all_pos[world, self._root] + self._origin(world)).cpu().numpy()
        qpos = model.qpos0.copy()
        qpos[root : root + 3] = pose
        qpos[root + 3 : root + 7] = self._all_quat[world, self._root].cpu().numpy()
        qpos[index.joint_qpos.ids.cpu().numpy()] = self.joint_pos[world].cpu().numpy()
        visualizer.add_ghost_mesh(
            world,
            qpos,
            model,
            geoms=index.geoms.ids.tolist(),
            color=self.cfg.viz.ghost_color,
        )

    def _draw_frames(self, visualizer: Any, world: int) -> None:
        robot = (self.robot_bodies("body_pos_w"), self.robot_bodies("body_quat_w"))
        target = (self.body_pos_w + self._origin(world), self.body_quat_w)
        looks = ((robot, _ROBOT_SCALE, {}),)
        looks += ((target, _REFERENCE_SCALE, {"axis_colors": _REFERENCE_AXES}),)
        for (positions, quats), scale, colors in looks:
            axes = quat_to_matrix(quats[world]).cpu().numpy()
            for place, matrix in zip(positions[world].cpu(), axes, strict=True):
                visualizer.add_frame(world, place, matrix, scale=scale, **colors)

    def _origin(self, world: int) -> torch.Tensor:
        """Return the position of the clip's origin in a world, m, shape (3,)."""
        origins = self._env.scene.spawn_origins
        return origins[world] if self._is_spread else torch.zeros_like(origins[world])

    def _resample(self, mask: torch.Tensor, unit: torch.Tensor) -> None:
        clip, begin = self._draw(unit[:, 0].contiguous(), unit[:, 1])
        write_where(self.clip, mask, clip)
        write_where(self.begin, mask, begin)
        self.write_row(mask, begin, spread(self._ranges.bounds, unit[:, 2:]))

    def write_row(
        self, mask: torch.Tensor, row: torch.Tensor, noise: torch.Tensor | None = None
    ) -> None:
        """Write the robot states of table rows, shape (num_envs,), plus start noise."""
        found = self.table.rows.index_select(0, row)
        pos, vel, *bodies = found.split(self.table.widths, dim=1)
        at, quat, *velocities = (
            part.unflatten(1, (-1, size))[:, self._root]
            for part, size in zip(bodies, (3, 4, 3, 3), strict=True)
        )
        velocity = torch.cat(velocities, dim=1)
        if noise is not None:
            place, roll, extra, joints = noise.split((3, 3, 6, pos.shape[1]), dim=1)
            quat = quat_mul(quat_from_euler_xyz(*roll.unbind(dim=1)), quat)
            at, velocity = at + place, velocity + extra
            limits = self.entity.data.soft_joint_pos_limits
            pos = (pos + joints).clamp(limits[..., 0], limits[..., 1])
        if self._is_spread:
            at = at + self._env.scene.spawn_origins
        self.entity.write_root_state(mask, torch.cat((at, quat, velocity), dim=1))
        self.entity.write_joint_state(mask, pos, vel)

    def _draw(
        self, choice: torch.Tensor, within: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Draw a clip and the table row of the start frame for each world."""
        if self.cfg.sampling == "adaptive":
            return self.bins.draw(choice, within)
        clip = torch.searchsorted(self._clip_ends, choice, right=True)
        clip = clip.clamp_(max=len(self._clip_ends) - 1)
        start = self.table.starts[clip]
        if self.cfg.sampling == "start":
            return clip, start
        return clip, start + first_frame(within, self.table.lengths[clip])

    def _update(self) -> None:
        self._known.clear()
        ahead = (self.begin + self._env.episode_length_buf).add_(1)
        torch.minimum(ahead, self._last_rows[self.clip], out=self.row)
        torch.index_select(self.table.rows, 0, self.row, out=self.reference)
        if self._is_spread:
            self._all_pos.add_(self._env.scene.spawn_origins.unsqueeze(1))

    def follow(
        self, row: torch.Tensor, anchor: tuple[torch.Tensor, torch.Tensor]
    ) -> None:
        """Set the reference to table rows, given the pose of the robot's anchor.

        Args:
            row: Rows, float, shape (num_envs,), clamped to the table.
            anchor: Position and orientation of the robot's anchor in the world.
        """
        last = len(self.table.rows) - 1
        self.row.copy_(row.round().clamp(0, last).long())
        torch.index_select(self.table.rows, 0, self.row, out=self.reference)
        self._known = dict(zip(("anchor_pos", "anchor_quat"), anchor, strict=True))
        reference = (self.anchor_pos_w.unsqueeze(1), self.anchor_quat_w.unsqueeze(1))
        place, axes = seen_from(anchor, reference, self._axes[:, -1:])
        self._known["seen_anchor"] = place[:, 0], axes[:, 0]

    def _of_anchor(self, quantity: str) -> torch.Tensor:
        return getattr(self.entity.data, quantity)[:, self._anchor_id]

    def _see(self) -> tuple[torch.Tensor, torch.Tensor]:
        anchor = (self.anchor_pos_w.unsqueeze(1), self.anchor_quat_w.unsqueeze(1))
        places = torch.cat((self.robot_bodies("body_pos_w"), anchor[0]), dim=1)
        quats = torch.cat((self.robot_bodies("body_quat_w"), anchor[1]), dim=1)
        robot = (self.robot_anchor_pos_w, self.robot_anchor_quat_w)
        return seen_from(robot, (places, quats), self._axes)

    def _reanchor(self) -> tuple[torch.Tensor, torch.Tensor]:
        return reanchored(
            (self.robot_anchor_pos_w, self.robot_anchor_quat_w),
            (self.anchor_pos_w, self.anchor_quat_w),
            (self.body_pos_w, self.body_quat_w),
        )


def motion_command(env: ManagedEnv, name: str) -> MotionCommand:
    """Return the motion command `name`, for terms that read it."""
    term = env.command_manager.term(name)
    if not isinstance(term, MotionCommand):
        kind = type(term).__name__
        raise TypeError(f"Command {name!r} is a {kind}, not a motion command.")
    return term
