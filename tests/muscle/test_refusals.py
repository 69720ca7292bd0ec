"""Error messages for invalid muscle settings, by the user's entry point."""

from pathlib import Path

import mujoco
import pytest

from mjlab.cli import run_program
from mjlab.cli import train as script
from mjlab.cli.training import train
from mjlab.entity import ArticulationCfg
from mjlab.envs import ManagerBasedRlEnv
from mjlab.managers import TermError
from mjlab.muscle import MuscleNetwork, WeightError
from mjlab.rl import EvaluationCfg, LoggingCfg, load_policy
from mjlab.rl.vecenv import RslRlVecEnv
from mjlab.runs import CheckpointError
from mjlab.runs.checkpoints import find_checkpoint
from mjlab.tasks.muscle import WalkW18Cfg
from mjlab.tasks.muscle.learning import MuscleHookCfg
from mjlab.tasks.muscle.models import W18_XML
from mjlab.tasks.muscle.single import make_muscle_env
from tests.rl.test_train import Quiet
from tests.worlds.rl_runs import agent_cfg

TASK = "Muscle-Walk-W18"
SMALL = (
    "--env.scene.num-envs 4 --env.actions.muscles.network.hidden 16 16 "
    "--agent.num-steps-per-env 4 --agent.evaluation.every 0 --seed 3 "
    "--agent.logging.tensorboard False"
).split()


def walk_cfg(source: mujoco.MjSpec | Path = W18_XML) -> WalkW18Cfg:
    cfg = WalkW18Cfg(seed=5)
    cfg.scene.num_envs = 2
    cfg.sim.backend = "native"
    cfg.actions["muscles"].network.hidden = (16, 16)  # pyright: ignore
    cfg.scene.entities["robot"].source = source
    return cfg


def walker() -> mujoco.MjSpec:
    return mujoco.MjSpec.from_file(str(W18_XML))


def complaint(line: list[str], folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """What the training script says of a command line, in one message."""
    arguments = [TASK, *SMALL, *line, "--logs", str(folder)]
    assert run_program(script.main, arguments) == 2
    return capsys.readouterr().err


def refusal(cfg: WalkW18Cfg) -> str:
    with pytest.raises(TermError) as caught:
        ManagerBasedRlEnv(cfg)
    return str(caught.value)


def test_a_walker_without_muscles_is_refused() -> None:
    spec = walker()
    for actuator in spec.actuators:
        spec.delete(actuator)
    cfg = walk_cfg(spec)
    cfg.scene.entities["robot"].articulation = ArticulationCfg()
    assert refusal(cfg) == (
        "Action term 'muscles': The model has no muscle: none of its 0 actuators has "
        "gaintype='muscle'."
    )


def test_joints_that_leave_one_out_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = ["--env.actions.muscles.joint-names", "hip_."]
    assert complaint(line, tmp_path, capsys) == (
        "error: Action term 'muscles': Muscle 'robot/hamstrings_r' crosses joint "
        "'robot/knee_r', which is not among the controlled joints ['robot/hip_r', "
        "'robot/hip_l']. Control it too, or name it in `ignore`.\n"
    )


def test_a_limit_of_force_is_refused() -> None:
    spec = walker()
    actuator = spec.actuator("soleus_r")
    actuator.forcelimited, actuator.forcerange = 1, [-3000.0, 0.0]
    assert refusal(walk_cfg(spec)) == (
        "Action term 'muscles': Muscle 'robot/soleus_r' has a force limit, "
        "forcerange=[-3000.0, 0.0], so torques are not linear in activations. "
        "Remove it."
    )


def test_more_workers_than_walkers_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = ["--placement", "dual", "--workers", "5"]
    assert complaint(line, tmp_path, capsys) == (
        "error: 5 workers are too many for 4 worlds. Use at most 4 workers, or more "
        "worlds (env.scene.num_envs).\n"
    )


def test_a_batch_of_more_rows_than_there_are_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    muscles = "--agent.hooks.muscles"
    line = [f"{muscles}.learner.batch-size", "5000"]
    line += [f"{muscles}.learner.allow-small-batch", "False"]
    line += [f"{muscles}.pretraining-rows", "64"]
    assert complaint(line, tmp_path, capsys) == (
        "error: There are 64 rows, fewer than batch_size=5000. Collect more, lower it, "
        "or set allow_small_batch=True.\n"
    )


def test_a_checkpoint_of_a_walker_with_other_muscles_is_refused(
    tmp_path: Path,
) -> None:
    agent = agent_cfg(
        1,
        logging=LoggingCfg(tensorboard=False),
        evaluation=EvaluationCfg(every=0),
        hooks={"muscles": MuscleHookCfg(pretraining_updates=0)},
    )
    run, _ = train(walk_cfg(), agent, task=TASK, root=tmp_path, display=Quiet())
    spec = walker()
    spec.delete(spec.actuator("soleus_r"))
    worlds = RslRlVecEnv(ManagerBasedRlEnv(walk_cfg(spec), device="cpu"))
    with pytest.raises(CheckpointError) as caught:
        load_policy(run.path, worlds, agent)
    first, second = str(caught.value).split("\n")
    assert first == (
        f"{find_checkpoint(run.path)} does not fit this environment and agent. "
        "Saved, here:"
    )
    saved, here = second.removeprefix("  action/muscles: ").split("], [")
    assert "'robot/soleus_r tendon_effort'" in saved
    assert "'robot/soleus_r tendon_effort'" not in here
    assert saved.count("tendon_effort") == here.count("tendon_effort") + 1 == 18


def test_weights_of_another_muscle_count_are_refused() -> None:
    env = make_muscle_env("Muscle-Track-Arm6", seed=1)
    muscles = env.get_muscle_map()
    other = MuscleNetwork(muscles.num_entries, muscles.num_dofs, 7)
    weights = {name: value.numpy() for name, value in other.state_dict().items()}
    with pytest.raises(WeightError) as caught:
        env.update_muscle_weights(weights)
    assert str(caught.value) == (
        "'fc.6.weight' has shape (7, 256), but this network needs (6, 256). Use "
        "weights of the same model."
    )
