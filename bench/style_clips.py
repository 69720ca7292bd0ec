"""Record the clips of `Velocity-G1-Style`: a crouched walk with high steps of a G1.

    python bench/style_clips.py

The policy of `Velocity-G1-Flat` walks with another reference gait and an offset of its
actions. It was not trained with them, but keeps its balance without pushes. The clips
in the repository were recorded at commit 31a00648, with 2.6 steps per second.
"""

import sys
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mjlab.threads import prepare_threads

prepare_threads()

from mjlab.cli.motion_options import RecordMotionOptions
from mjlab.cli.motion_record import rollout
from mjlab.envs import ManagerBasedRlEnv
from mjlab.motion import save_motion
from mjlab.rl import load_policy
from mjlab.tasks.robots.g1 import G1
from mjlab.tasks.velocity import G1_FLAT, VelocityG1FlatCfg
from mjlab.tasks.velocity.biped import GAIT
from mjlab.tasks.velocity.clips import G1_HELD_OUT, G1_WALK
from mjlab.tasks.velocity.g1 import g1_actions

CLIPS: dict[Path, tuple[float, float, float]] = {
    G1_WALK / "stand.npz": (0.0, 0.0, 0.0),
    G1_WALK / "walk_slow.npz": (0.5, 0.0, 0.0),
    G1_WALK / "walk_fast.npz": (1.0, 0.0, 0.0),
    G1_WALK / "walk_aside.npz": (0.0, 0.4, 0.0),
    G1_WALK / "walk_turn.npz": (0.5, 0.0, 0.5),
    G1_HELD_OUT: (0.75, 0.0, 0.0),
}
"""Velocity command of each clip: forward and left, m/s, and yaw rate, rad/s."""


def main() -> None:
    """Record and save the clips."""
    cfg = VelocityG1FlatCfg().play()
    cfg.scene.num_envs = 1
    cfg.actions = {**g1_actions(replace(GAIT, knee=1.0, hip=0.5))}
    cfg.actions["joint_pos"].offset = {  # type: ignore[union-attr]
        ".*_hip_pitch_joint": -0.06,
        ".*_knee_joint": 0.2,
        ".*_ankle_pitch_joint": -0.1,
    }
    env = ManagerBasedRlEnv(cfg, "cpu")
    assert G1_FLAT.trained is not None
    policy = load_policy(G1_FLAT.trained, env)
    for path, command in CLIPS.items():
        seconds = 4.0 if any(command) else 2.0
        options = RecordMotionOptions(command=command, after=4.0, seconds=seconds)
        motion = rollout(
            env,
            policy,
            options,
            {"G1": G1},
            task="Velocity-G1-Flat",
            source="simulated policy: Velocity-G1-Flat in bench/style_clips.py",
        )
        licensed = replace(motion, info=replace(motion.info, licence="Apache-2.0"))
        print(save_motion(licensed, path, bare=True).name)


if __name__ == "__main__":
    main()
