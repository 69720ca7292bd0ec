"""Mirror rules of motion tracking, and the preview of a clip."""

from pathlib import Path

import pytest
import torch

from mjlab.envs import ManagerBasedRlEnv
from mjlab.motion.command import MotionCommand, motion_command
from mjlab.motion.files import load_motion, save_motion
from mjlab.motion.mirror import mirrored
from mjlab.names import UnknownNameError
from mjlab.tasks.robots.g1 import MIRROR
from mjlab.tasks.robots.symmetry import Reflection
from mjlab.tasks.tracking import TrackingG1ClipsCfg
from mjlab.tasks.tracking.clips import G1_CLIPS
from mjlab.tasks.tracking.g1 import PREVIEW
from mjlab.tasks.tracking.symmetry import TRACKING_RULES
from mjlab.tensors.math import quat_mul, quat_rotate_inverse


def pair(folder: Path) -> tuple[ManagerBasedRlEnv, MotionCommand]:
    """Build two worlds, one with a kick and one with its mirror image."""
    kick = load_motion(G1_CLIPS / "kick.npz")
    save_motion(mirrored(kick, MIRROR), folder / "kick_mirrored.npz")
    cfg = TrackingG1ClipsCfg(seed=1).play()
    cfg.scene.num_envs = 2
    cfg.events = {}
    cfg.commands["motion"].clips = (G1_CLIPS / "kick.npz", folder / "kick_mirrored.npz")  # type: ignore[union-attr]
    env = ManagerBasedRlEnv(cfg, device="cpu")
    env.reset()
    return env, motion_command(env, "motion")


def begin(env: ManagerBasedRlEnv, command: MotionCommand, frame: int) -> None:
    """Set both worlds to the same frame of the clip and of its mirror image."""
    for world in range(2):
        mask = torch.tensor([world == 0, world == 1])
        clip = command.table.names.index(("kick", "kick_mirrored")[world])
        command.begin_at(mask, clip, frame)
    env.sim.forward()
    env.scene.update(0.0)
    env.episode_length_buf.zero_()
    command._update()


def test_the_mirrored_robot_in_the_mirrored_clip_observes_the_mirror_image(tmp_path):
    env, command = pair(tmp_path)
    begin(env, command, 250)
    reflection = Reflection(env, MIRROR, TRACKING_RULES)
    robot = env.scene.entity("robot")
    pose = torch.cat((robot.data.root_pos_w, robot.data.root_quat_w), dim=1)
    # The robot is turned and away from its reference.
    pose[0, :3] += torch.tensor([0.1, 0.2, 0.05])
    pose[0, 3:] = quat_mul(torch.tensor([0.9, 0.2, -0.3, 0.245]), pose[0, 3:])
    pose[0, 3:] /= pose[0, 3:].norm()
    pose[1] = pose[0] * torch.tensor([1.0, -1.0, 1.0, 1.0, -1.0, 1.0, -1.0])
    robot.write_root_pose_w(torch.ones(2, dtype=torch.bool), pose)
    env.sim.forward()
    env.scene.update(0.0)
    command._update()
    names = {
        "command",
        "preview",
        "motion_anchor_pos_b",
        "motion_anchor_ori_b",
        "body_pos",
        "body_ori",
    }
    assert names < TRACKING_RULES.keys()
    for name in names:
        term = env.observation_manager.term(f"critic/{name}")
        seen = term()
        columns = TRACKING_RULES[name](env, MIRROR, term)
        image = seen[0, columns.places] * torch.tensor(columns.signs)
        assert (seen[0] - seen[1]).abs().max() > 0.05, name
        # The robot model is asymmetric by millimetres.
        torch.testing.assert_close(image, seen[1], atol=0.01, rtol=0, msg=name)
    for group in ("actor", "critic"):
        (width,) = env.observation_manager.group_obs_dim[group]
        assert isinstance(width, int)
        assert reflection.group(group, torch.zeros(1, width)).shape == (1, width)


def test_the_preview_has_the_later_frames_relative_to_the_reference(tmp_path):
    env, command = pair(tmp_path)
    begin(env, command, 100)
    preview = env.step(torch.zeros(2, 29))[0]
    del preview
    joints = env.scene.entity("robot").num_joints
    seen = command.preview(PREVIEW).view(2, len(PREVIEW), joints + 9)
    motion = command.table.motions[int(command.clip[0])]
    now = int(command.frame[0])
    anchor = motion.body_columns((command.cfg.anchor_body,))[0]
    for place, later in enumerate(PREVIEW):
        wanted = torch.from_numpy(motion.joint_pos[now + later]).float()
        torch.testing.assert_close(seen[0, place, :joints], wanted)
        away = motion.body_pos_w[now + later, anchor] - motion.body_pos_w[now, anchor]
        turn = torch.from_numpy(motion.body_quat_w[now, anchor]).float()
        inside = quat_rotate_inverse(turn, torch.from_numpy(away).float())
        found = seen[0, place, joints : joints + 3]
        torch.testing.assert_close(found, inside, atol=1e-5, rtol=0)


def test_the_preview_ends_with_the_clip(tmp_path):
    env, command = pair(tmp_path)
    last = command.clip_frames["kick"] - 1
    begin(env, command, last - 20)
    env.step(torch.zeros(2, 29))
    first = command.clip[0] == command.clip[1]
    assert not first
    seen = command.preview((5, 40, 400)).view(2, 3, -1)
    assert torch.equal(seen[:, 1], seen[:, 2])
    assert not torch.equal(seen[:, 0], seen[:, 1])
    motion = command.table.motions[int(command.clip[0])]
    wanted = torch.from_numpy(motion.joint_pos[-1]).float()
    torch.testing.assert_close(seen[0, 2, : len(wanted)], wanted)


def test_bodies_of_the_command_are_symmetric():
    names = TrackingG1ClipsCfg().commands["motion"].body_names  # type: ignore[union-attr]
    assert MIRROR.permutation(names) != list(range(len(names)))
    with pytest.raises(UnknownNameError):
        MIRROR.permutation(names[:2])
