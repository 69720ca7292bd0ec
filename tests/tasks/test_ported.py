"""Terms under the names of mjlab 1.6's velocity task."""

import math
from typing import Any

import pytest
import torch

from mjlab.envs import ManagerBasedRlEnv
from mjlab.managers import CurriculumTermCfg, ObservationTermCfg, TerminationTermCfg
from mjlab.managers.term import TermError
from mjlab.mdp import UniformVelocityCommandCfg, VelocityRanges
from mjlab.tasks.velocity import VelocityG1Cfg, VelocityG1FlatCfg, mdp

STAGES = (
    {"step": 0, "lin_vel_x": (-1.0, 1.0), "ang_vel_z": (-0.5, 0.5)},
    {"step": 4, "lin_vel_x": (-1.5, 2.0), "lin_vel_y": None},
    {"step": 8, "ang_vel_z": (-0.7, 0.7)},
)


def walker(cfg: Any, **curriculum: CurriculumTermCfg) -> ManagerBasedRlEnv:
    cfg.scene.num_envs, cfg.seed, cfg.curriculum = 3, 1, {**curriculum}
    return ManagerBasedRlEnv(cfg)


def widening(stages: Any) -> CurriculumTermCfg:
    params = {"command_name": "twist", "velocity_stages": stages}
    return CurriculumTermCfg(func=mdp.commands_vel, params=params)


def test_ranges_widen_at_their_steps_and_the_others_stay() -> None:
    env = walker(VelocityG1FlatCfg(), wider=widening(STAGES))
    before = env.command_manager.term("twist").ranges["lin_vel_y"].tolist()
    seen = []
    for step in (0, 3, 4, 7, 8, 20):
        env.common_step_counter.fill_(step)
        env.reset()
        ranges = env.command_manager.term("twist").ranges
        assert ranges["lin_vel_y"].tolist() == before
        top = float(env.curriculum_manager.log_values()["Curriculum/wider"])
        assert top == float(ranges["lin_vel_x"][1])
        seen.append([round(float(ranges[n][1]), 4) for n in ("lin_vel_x", "ang_vel_z")])
    assert seen == [[1, 0.5], [1, 0.5], [2, 0.5], [2, 0.5], [2, 0.7], [2, 0.7]]


@pytest.mark.parametrize(
    ("stages", "message"),
    [
        (
            ({"step": 0, "lin_vel": (0, 1)},),
            r"sets the unknown range 'lin_vel'\. .*nearest first: ",
        ),
        (({"step": 0},), "No stage of commands_vel names a range"),
    ],
)
def test_stages_without_a_command_range_are_refused(stages, message) -> None:
    with pytest.raises(TermError, match=message):
        walker(VelocityG1FlatCfg(), wider=widening(stages))


def test_a_robot_at_the_edge_of_its_tile_has_reached_it() -> None:
    cfg = VelocityG1Cfg()
    cfg.events = {"reset_base": cfg.events["reset_base"]}
    cfg.terminations = {
        "edge": TerminationTermCfg(
            func=mdp.terrain_edge_reached,
            params={"threshold_fraction": 0.5},
            time_out=True,
        )
    }
    cfg.observations["actor"].terms["up"] = ObservationTermCfg(
        func=mdp.projected_gravity_from_sensor,
        params={"sensor_name": "robot/imu_upvector"},
    )
    env = walker(cfg)
    env.reset()
    robot, everyone = env.scene.entity("robot"), torch.ones(3, dtype=torch.bool)
    root = robot.data.root_pos_w.clone()
    # Half of half a tile of 8 m is 2 m, along x or along y, from the spawn position.
    spawn = env.scene.spawn_origins
    state = torch.cat((root, robot.data.root_quat_w, torch.zeros(3, 6)), dim=1)
    ways = torch.tensor([[1.9, -1.9], [2.1, 0.0], [0.0, -2.1]])
    state[:, :2] = spawn[:, :2] + ways
    robot.write_root_state(everyone, state)
    env.sim.forward()
    reached = mdp.terrain_edge_reached(env, 0.5, env_selection(env))
    assert reached.tolist() == [False, True, True]
    assert not mdp.terrain_edge_reached(env, 1.1, env_selection(env)).any()


def env_selection(env: ManagerBasedRlEnv) -> Any:
    return mdp.ROBOT.resolve(env.scene)


def test_no_robot_reaches_the_edge_of_a_plane() -> None:
    env = walker(VelocityG1FlatCfg())
    env.reset()
    assert (
        mdp.terrain_edge_reached(env, 0.0, env_selection(env)).tolist() == [False] * 3
    )


def twist(heading: Any = None, **settings: Any) -> UniformVelocityCommandCfg:
    still = (0.0, 0.0)
    return UniformVelocityCommandCfg(
        resampling_time_range=(1.0, 2.0),
        ranges=VelocityRanges(
            lin_vel_x=(0.0, 1.0), lin_vel_y=still, ang_vel_z=still, heading=heading
        ),
        **settings,
    )


def test_a_command_without_a_heading_needs_no_range_of_it() -> None:
    """The same commands are drawn as with an unused range."""
    drawn = []
    for heading in (None, (-math.pi, math.pi)):
        cfg = VelocityG1FlatCfg()
        cfg.commands = {"twist": twist(heading, heading_command=False)}
        env = walker(cfg)
        env.reset()
        drawn.append(env.command_manager.get_command("twist").clone())
    assert torch.equal(*drawn) and drawn[0][:, 0].std() > 0.0


def test_a_heading_command_needs_its_range() -> None:
    cfg = VelocityG1FlatCfg()
    cfg.commands = {"twist": twist(heading_command=True, rel_heading_envs=0.5)}
    with pytest.raises(ValueError, match=r"ranges\.heading is None, .*envs=0\.5"):
        walker(cfg)
