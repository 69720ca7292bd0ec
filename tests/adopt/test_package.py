"""The written task: short, importable, and trained for two and six legs."""

import runpy
from pathlib import Path

import numpy as np
import pytest
import torch

from mjlab.adopt.motors import standing_torques
from mjlab.adopt.notes import AdoptError
from mjlab.adopt.package import write_task
from mjlab.adopt.page import draw, write_page
from mjlab.adopt.robot import Adopted, adopt
from mjlab.adopt.stance import feet_gap
from mjlab.envs import ManagerBasedRlEnv, mdp
from mjlab.managers import RewardTermCfg
from mjlab.registry import Task, load_task
from mjlab.rl import TrainingLoop
from mjlab.task_file import typed_task
from mjlab.tasks.robots.g1 import G1_XML
from tests.adopt.models import hexapod, point_biped


@pytest.fixture(scope="module", params=["hexapod", "point"])
def made(request, tmp_path_factory) -> tuple[Adopted, Task, int]:
    """Return findings, the task of the written file, and its number of lines."""
    folder = tmp_path_factory.mktemp(request.param)
    file = folder / f"{request.param}.xml"
    file.write_text({"hexapod": hexapod, "point": point_biped}[request.param]())
    robot = adopt(file)
    task = write_task(robot, folder / "task")
    lines = len(task.read_text().splitlines())
    with pytest.raises(AdoptError, match=r"already exists.*\.py:TASK --resume latest"):
        write_task(robot, folder / "task")
    return robot, load_task(typed_task(f"{task}:TASK")), lines


def test_the_file_is_short(made):
    assert made[2] <= 80


def test_the_robot_of_the_task_starts_in_the_stance(made):
    robot, task, _ = made
    env = small(task)
    env.reset()
    data = env.scene["robot"].data
    names = env.scene.entity("robot").joint_names
    wanted = torch.tensor([robot.stance[name] for name in names])
    assert torch.allclose(data.default_joint_pos[0], wanted, atol=6e-3)
    assert env.action_manager.total_action_dim == len(robot.acted)


def test_clock_of_each_foot_has_the_order_of_the_contact_sensor(made):
    robot, task, _ = made
    env = small(task)
    legs = env.cfg.rewards["gait_contact"].params["legs"]
    names = env.scene.sensor("feet_contact").primary_names
    feet = {leg.foot: leg for leg in robot.legs}
    feet |= {geom: leg for leg in robot.legs for geom in leg.geoms}
    assert legs == tuple(feet[name.removeprefix("robot/")].clock for name in names)


@pytest.mark.parametrize("made", ["hexapod"], indirect=True)
def test_the_reference_gait_of_a_hexapod_walks_without_a_policy(made):
    """It follows a command, and its contacts match the clock."""
    _, task, _ = made
    cfg = task.env()
    command = cfg.commands["twist"]
    command.heading_command, command.rel_standing_envs = False, 0.0
    command.ranges.lin_vel_x, command.ranges.lin_vel_y = (0.5, 0.5), (0.0, 0.0)
    command.ranges.ang_vel_z = (0.0, 0.0)
    cfg.scene.num_envs, cfg.seed = 8, 0
    env = ManagerBasedRlEnv(cfg, device="cpu")
    env.reset()
    gait = env.cfg.rewards["gait_contact"].params["gait"]
    halves = list(env.cfg.rewards["gait_contact"].params["legs"])
    feet, matches, speeds = env.scene.sensor("feet_contact"), [], []
    for _ in range(100):
        env.step(torch.zeros(env.num_envs, env.action_manager.total_action_dim))
        phases = gait.phases(env.episode_length_buf * env.step_dt)
        should = (phases < gait.duty)[:, halves]
        matches.append((feet.is_in_contact() == should).float().mean().item())
        speed = env.scene["robot"].data.root_lin_vel_b[:, 0]
        speeds.append(speed.mean().item())
    assert np.mean(matches[25:]) > 0.7
    assert np.mean(speeds[25:]) > 0.15


@pytest.mark.parametrize("made", ["point"], indirect=True)
def test_the_target_of_a_stance_knee_compensates_for_the_load(made):
    """In the middle of the stance, at zero velocity, the gait adds nothing else."""
    robot, task, _ = made
    env = small(task)
    env.reset()
    command = env.command_manager.term("twist")
    env.command_manager.get_command("twist").zero_()
    command.moving.fill_(1.0)
    term = env.action_manager.get_term("joint_pos")
    gait = env.cfg.actions["joint_pos"].gait
    stance = 0.5 * gait.duty * gait.period - gait.lead
    env.episode_length_buf.fill_(round(stance / env.step_dt))
    knee = list(term.target_names).index("left_knee")
    change = term.summand()[:, knee] - robot.stance["left_knee"]
    (leg,) = [leg for leg in robot.legs if leg.side > 0]
    torque = standing_torques(robot.posed, [leg])["left_knee"]
    load = torque / robot.motors["left_knee"].stiffness
    assert load < -0.05
    assert change.tolist() == pytest.approx([load] * env.num_envs, abs=0.012)


def test_feet_of_a_biped_stay_apart_in_the_fastest_steps_to_the_side(tmp_path):
    robot = adopt(G1_XML)
    cfg = load_task(typed_task(f"{write_task(robot, tmp_path / 'g1')}:TASK")).env()
    gait, fastest = cfg.actions["joint_pos"].gait, cfg.commands["twist"].ranges
    phases = torch.linspace(0.0, 1.0, 60)
    both = torch.stack((phases, (phases + 0.5) % 1.0), dim=1)
    gap = feet_gap(robot.posed, robot.legs)
    for speed in fastest.lin_vel_y:
        command = torch.tensor([[0.0, speed, 0.0]]).expand(60, 3)
        distances = []
        for columns in gait.offsets(both, command).tolist():
            pose = dict(robot.stance)
            for column, joint, factor in gait.driven():
                pose[joint] += factor * columns[column]
            robot.posed.place(pose)
            distances.append(feet_gap(robot.posed, robot.legs))
        robot.posed.place(robot.stance)
        # With `room=inf` the minimum is 18 % of the gap.
        assert min(distances) == pytest.approx(0.89 * gap, abs=0.03 * gap)


def test_feet_in_another_order_than_the_model_are_refused(made, tmp_path):
    robot, _, _ = made
    file = write_task(robot, tmp_path / "task")
    lines = file.read_text().splitlines(keepends=True)
    feet = [i for i, line in enumerate(lines) if line.lstrip().startswith("Foot(")]
    lines[feet[0]], lines[feet[1]] = lines[feet[1]], lines[feet[0]]
    file.write_text("".join(lines))
    with pytest.raises(ValueError, match=r"in the order of scene\.xml: "):
        runpy.run_path(str(file))


@pytest.mark.parametrize("made", ["point"], indirect=True)
def test_assistance_pushes_the_base_of_a_biped_without_waist(made):
    robot, task, _ = made
    assert robot.base == robot.torso
    env = small(task, training=True)
    env.reset()
    event = env.event_manager.term("support")
    env.observation_manager.term("critic/support")().fill_(1.0)
    velocity = torch.zeros(env.num_envs, 6)
    velocity[:, 0] = -1.0
    everyone = torch.ones(env.num_envs, dtype=torch.bool)
    entity = env.scene.entity("robot")
    entity.write_root_velocity_w(everyone, velocity)
    event(everyone)
    base = env.sim.mj_model.body(f"robot/{robot.base}").id
    wrench = torch.as_tensor(env.sim.data.xfrc_applied)[:, base]
    # Damping against the motion backwards.
    hand = task.env().for_training().events["support"].params["hand"]
    assert wrench[:, :3].norm(dim=1).min() > 0.5 * hand["damper"]


@pytest.mark.parametrize("made", ["point"], indirect=True)
def test_a_biped_is_pushed_harder_in_training_and_falls_have_a_penalty(made):
    cfg = made[1].env()
    training = cfg.for_training().events["push_robot"].params["velocity_range"]
    for axis, (low, high) in cfg.events["push_robot"].params["velocity_range"].items():
        assert high > 0.0
        assert training[axis] == pytest.approx((1.5 * low, 1.5 * high))
    cfg.warm_up.pushes = 1.0
    training = cfg.for_training().events["push_robot"].params["velocity_range"]
    assert training == cfg.events["push_robot"].params["velocity_range"]
    assert cfg.rewards["fall"].weight == -200.0


def test_gains_of_the_task_are_those_of_the_findings(made):
    robot, task, _ = made
    model = small(task).sim.mj_model
    for joint, motor in robot.motors.items():
        (index,) = [
            i for i in range(model.nu) if model.actuator(i).name.endswith(joint)
        ]
        assert model.actuator_gainprm[index, 0] == pytest.approx(
            motor.stiffness, rel=0.05
        )
        assert model.actuator_forcerange[index, 1] == pytest.approx(motor.effort_limit)


def test_a_reward_is_added_as_on_the_page(tmp_path):
    page = Path(__file__).parents[2] / "docs/tutorials/adopt.md"
    block = page.read_text().split("```python\n")[1].split("```")[0]
    file = tmp_path / "hexapod.xml"
    file.write_text(hexapod())
    task = write_task(adopt(file), tmp_path / "task")
    names = runpy.run_path(str(task)) | {"mdp": mdp, "RewardTermCfg": RewardTermCfg}
    exec(block, names)
    plain = names["walk"].rewards(names["ROBOT"])
    assert set(names["RexCfg"]().rewards) == {*plain, "alive"}


def test_two_iterations_of_training_run(made):
    task = made[1]
    agent = task.on_cpu.rl()
    agent.max_iterations, agent.num_steps_per_env = 2, 8
    agent.algorithm.num_mini_batches = 2
    agent.evaluation.every = 0
    env = small(task, training=True)
    assert TrainingLoop(env, agent).run().iteration == 2


def test_the_page_lists_the_messages_and_the_motors(made, tmp_path):
    robot = made[0]
    page = write_page(robot, tmp_path, pictures=False).read_text()
    for line in robot.notes.findings:
        assert line.split("(")[0].split("'")[0] in page
    assert all(joint in page for joint in robot.motors)


def test_pictures_mark_the_feet_in_the_colour_of_their_step(made):
    pictures = draw(made[0])
    assert len(pictures) == 3
    for picture in pictures.values():
        red, green, blue = (picture[..., i].astype(int) for i in range(3))
        assert ((blue > red + 60) & (blue > green + 30)).sum() > 30
        assert ((red > blue + 80) & (red > green + 30)).sum() > 30
        assert np.ptp(picture) > 100


def small(task: Task, *, training: bool = False) -> ManagerBasedRlEnv:
    cfg = task.env()
    cfg = cfg.for_training() if training else cfg
    cfg.scene.num_envs, cfg.seed = 8, 0
    return ManagerBasedRlEnv(cfg, device="cpu")
