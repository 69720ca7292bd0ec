"""The written task has the intervals as ranges, and lists undetermined parameters."""

import pytest

from mjlab.envs import ManagerBasedRlEnv
from mjlab.identify import Estimate, FitResult, Robot, candidates, task_file
from mjlab.registry import load_task
from mjlab.task_file import typed_task


@pytest.fixture(scope="module")
def written(tmp_path_factory) -> str:
    """A task file of one leg: 4 % intervals, an unknown limit, 12 to 18 ms of delay."""
    cfg = load_task("Velocity-Go1-Flat").env()
    robot = Robot.of(cfg, joints=("FR_.*",))
    estimates = []
    for each in candidates(robot, robot.joints, ("FR_calf",)):
        value, half = 1.2 * each.start, 0.04 * abs(each.start)
        if each.name == "FR_hip_joint.effort_limit":
            half = each.high
        if each.kind == "delay":
            value, half = 0.015, 0.003
        if each.kind == "com":
            value, half = each.nominal + 0.01, 0.002
        estimates.append(Estimate(each, value, half))
    result = FitResult(tuple(estimates), {}, 1.0)
    text = task_file("Velocity-Go1-Flat", type(cfg), robot, result, logs=["log.csv"])
    path = tmp_path_factory.mktemp("measured") / "measured_leg.py"
    path.write_text(text)
    return str(path)


def test_intervals_become_ranges_of_events(written):
    cfg = load_task(typed_task(f"{written}:TASK")).env()
    events = {n: e for n, e in cfg.events.items() if n.startswith("measured_")}
    kinds = ("armature", "friction", "damping", "effort_limit", "gain", "mass")
    names = [f"measured_{kind}" for kind in kinds]
    assert list(events) == [*names, "measured_com_FR_calf"]
    gains = events["measured_gain"].params["kp_range"]
    assert gains["FR_calf_joint"] == pytest.approx((1.16, 1.24))
    armature = events["measured_armature"].params["ranges"]["FR_hip_joint"]
    assert armature == pytest.approx((1.16 * 0.004026312, 1.24 * 0.004026312), rel=1e-3)
    assert list(events["measured_effort_limit"].params["ranges"]) == [
        "FR_thigh_joint",
        "FR_calf_joint",
    ]
    com = events["measured_com_FR_calf"].params["ranges"]
    assert com["y"] == pytest.approx((0.008, 0.012), rel=1e-3)
    assert set(load_task("Velocity-Go1-Flat").env().events) < set(cfg.events)


def test_the_delay_is_in_physics_steps_and_the_task_keeps_its_own(written):
    cfg = load_task(typed_task(f"{written}:TASK")).env()
    for actuator in cfg.scene.entities["robot"].articulation.actuators:
        delay = actuator.delay
        assert (delay.min_lag, delay.max_lag, delay.hold_prob) == (2, 4, 1.0)
    plain = load_task("Velocity-Go1-Flat").env()
    for actuator in plain.scene.entities["robot"].articulation.actuators:
        assert actuator.delay is None


def test_undetermined_parameters_are_comments(written):
    with open(written) as file:
        text = file.read()
    assert "# The logs do not determine: FR_hip_joint.effort_limit.\n" in text


def test_worlds_of_the_task_draw_within_the_intervals(written):
    cfg = load_task(typed_task(f"{written}:TASK")).env()
    cfg.scene.num_envs, cfg.seed = 32, 1
    env = ManagerBasedRlEnv(cfg, device="cpu")
    dof = env.sim.mj_model.joint("robot/FR_hip_joint").dofadr[0]
    values = env.sim.model["dof_armature"][:, dof]
    nominal = 0.004026312
    assert 1.16 * nominal * 0.999 < values.min() < values.max() < 1.24 * nominal * 1.001
    body = env.sim.mj_model.body("robot/FR_calf").id
    shift = env.sim.model["body_ipos"][:, body, 1] - env.sim.mj_model.body_ipos[body, 1]
    assert 0.0079 < shift.min() < shift.max() < 0.0121
