"""Physics for training, and the finer physics for evaluation."""

from dataclasses import replace

import mujoco
import pytest

from mjlab.cli.sources import find_source
from mjlab.entity import EntityCfg
from mjlab.envs import ManagerBasedRlEnv
from mjlab.envs.config import ConfigError
from mjlab.registry import load_task
from mjlab.sim import TrainingPhysicsCfg
from mjlab.tasks.velocity import VelocityGo1FlatCfg
from mjlab.tensors import DelayCfg
from tests.worlds.rl_runs import agent_cfg, env_cfg, train_without_export

FEET = ("FL_foot_collision", "FR_foot_collision")


def test_training_physics_changes_steps_and_cone_and_keeps_the_control_rate() -> None:
    cfg = VelocityGo1FlatCfg()
    cfg.decimation, cfg.sim.mujoco.timestep = 5, 0.004
    cfg.sim.training = TrainingPhysicsCfg(
        decimation=2,
        cone="pyramidal",
        impratio=1.0,
        without_contacts={"robot": ("trunk_collision",)},
    )
    env = ManagerBasedRlEnv(cfg.for_training(), device="cpu")
    model = env.sim.mj_model
    assert env.step_dt == pytest.approx(0.02)
    assert model.opt.timestep == pytest.approx(0.01)
    assert model.opt.cone == mujoco.mjtCone.mjCONE_PYRAMIDAL
    assert model.opt.impratio == 1.0
    touching = {
        geom: bool(model.geom(f"robot/{geom}").contype[0])
        or bool(model.geom(f"robot/{geom}").conaffinity[0])
        for geom in (*FEET, "trunk_collision")
    }
    assert touching == {FEET[0]: True, FEET[1]: True, "trunk_collision": False}
    env.close()
    assert (cfg.decimation, cfg.sim.mujoco.timestep) == (5, 0.004)
    assert cfg.sim.mujoco.cone == "elliptic"


def test_lags_of_actuators_keep_their_duration_in_training() -> None:
    cfg = VelocityGo1FlatCfg()
    robot = cfg.scene.entities["robot"]
    assert isinstance(robot, EntityCfg)
    delays = [DelayCfg(min_lag=4, max_lag=6, update_period=8, hold_prob=0.5), None]
    delays.append(DelayCfg(min_lag=3, max_lag=3))
    motors = (robot.articulation.actuators * 3)[:3]
    robot.articulation.actuators = tuple(
        replace(motor, delay=delay) for motor, delay in zip(motors, delays, strict=True)
    )
    assert (cfg.decimation, cfg.sim.training.decimation) == (4, 2)
    trained = cfg.for_training().scene.entities["robot"].articulation.actuators
    assert [motor.delay for motor in trained] == [
        DelayCfg(min_lag=2, max_lag=3, update_period=4, hold_prob=0.5),
        None,
        # 15 ms is not a whole number of 10 ms steps.
        DelayCfg(min_lag=1, max_lag=2),
    ]
    assert [motor.delay for motor in robot.articulation.actuators] == delays


def test_without_training_physics_a_configuration_is_unchanged() -> None:
    cfg = load_task("Cartpole-Balance").env()
    assert cfg.sim.training is None
    assert cfg.for_training() is cfg


def test_without_contacts_names_an_entity_of_the_scene() -> None:
    cfg = VelocityGo1FlatCfg()
    cfg.sim.training = TrainingPhysicsCfg(without_contacts={"robt": ("trunk.*",)})
    with pytest.raises(ConfigError, match=r"'robt' is not an EntityCfg.*'robot'"):
        cfg.for_training()


def test_an_environment_step_in_training_has_at_least_one_physics_step() -> None:
    cfg = VelocityGo1FlatCfg()
    cfg.sim.training = TrainingPhysicsCfg(decimation=0)
    with pytest.raises(ValueError, match=r"training.decimation is 0; it has to be 1"):
        cfg.for_training()


def test_run_trains_with_training_physics_and_plays_with_evaluation_physics(
    tmp_path, capsys
) -> None:
    cfg = env_cfg()
    fine = cfg.sim.mujoco.timestep
    cfg.decimation = 4
    cfg.sim.training = TrainingPhysicsCfg(decimation=1)
    run, _ = train_without_export(
        cfg, agent_cfg(1), task="Cartpole-Balance", root=tmp_path, device="cpu"
    )
    said = capsys.readouterr().out
    assert f"Physics: 1 steps of {4000 * fine:g} ms per action." in said
    assert f"Evaluation and play: 4 steps of {1000 * fine:g} ms per action" in said
    source = find_source(
        str(run.path), policy="trained", as_trained=True, logs=tmp_path
    )
    assert source.env.decimation == 4
    assert source.env.sim.mujoco.timestep == fine
    assert source.env.sim.training == TrainingPhysicsCfg(decimation=1)
