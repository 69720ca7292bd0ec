"""Cloning of recorded behaviour, and training that starts from it."""

from pathlib import Path

import pytest
import torch
from rsl_rl.modules import EmpiricalNormalization
from tensordict import TensorDict

from mjlab.cli import UsageError, clone
from mjlab.cli.training import train
from mjlab.envs import ManagerBasedRlEnv, mdp
from mjlab.managers import RecorderTermCfg
from mjlab.recording import RecordingCfg
from mjlab.recording.config import RecordingError
from mjlab.rl import CloningAgentCfg, DistillationAgentCfg, RslRlVecEnv, load_policy
from mjlab.rl.algorithms.cloning import read_demonstrations
from mjlab.rl.check import AgentError
from mjlab.runs import Run, find
from mjlab.tasks.cartpole.rl import CartpoleAgentCfg
from tests.worlds.rl_runs import agent_cfg, env_cfg, make_loop

TASK = "Cartpole-Balance"
GAINS = torch.tensor([0.4, -0.3, 0.2, -0.5, 0.1])
STEPS = 60


def controller(seen: torch.Tensor) -> torch.Tensor:
    """Controller that a perceptron can represent."""
    return torch.tanh(seen @ GAINS).unsqueeze(1)


@pytest.fixture(scope="module")
def demos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Actions of the controller in 16 worlds, in three episodes of 20 steps each."""
    folder = tmp_path_factory.mktemp("demos")
    cfg = env_cfg(worlds=16)
    cfg.recording = RecordingCfg(folder=str(folder), name="demos")
    cfg.recorders = {
        "actions": RecorderTermCfg(func=mdp.raw_actions),
        "obs": RecorderTermCfg(func=mdp.observation_group, when="pre_step"),
    }
    env = ManagerBasedRlEnv(cfg)
    seen = env.reset()[0]["actor"]
    for _ in range(STEPS):
        assert isinstance(seen, torch.Tensor)
        seen = env.step(controller(seen))[0]["actor"]
    env.close()
    return folder / "demos.h5"


@pytest.fixture(scope="module")
def run(demos: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run that cloned the controller."""
    root = tmp_path_factory.mktemp("logs")
    options = f"--demos {demos} --logs {root} --device cpu --agent.max-iterations 4 "
    options += "--agent.actor.hidden-dims 32 --agent.evaluation.num-envs 4"
    clone.main([TASK, *options.split()])
    return find("latest", root).run


def observed() -> TensorDict:
    worlds = RslRlVecEnv(ManagerBasedRlEnv(env_cfg(seed=9)))
    for _ in range(20):
        worlds.step(controller(worlds.get_observations()["actor"]))
    return worlds.get_observations()


def test_the_steps_of_a_recording_are_those_of_the_controller(demos: Path) -> None:
    steps = read_demonstrations(demos, {"actor": torch.Size([5])}, 1)
    assert len(steps) == 16 * STEPS
    seen = steps["observations", "actor"]
    torch.testing.assert_close(steps["actions"], controller(seen))


def test_a_cloned_policy_acts_like_the_controller_in_new_states(
    run: Run,
) -> None:
    assert run.task == TASK and run.info()["status"] == "finished"
    agent = run.configs()["agent"]
    assert isinstance(agent, CloningAgentCfg)
    env = ManagerBasedRlEnv(env_cfg())
    policy = load_policy(run.path, env, agent)
    seen = observed()
    torch.testing.assert_close(
        policy(seen), controller(seen["actor"]), rtol=0, atol=0.05
    )
    assert (run.path / "export" / f"{TASK}.onnx").is_file()


def test_ppo_begins_with_a_cloned_policy_and_keeps_it_while_the_critic_learns(
    run: Run, tmp_path: Path
) -> None:
    agent = agent_cfg(2)
    agent.actor.hidden_dims, agent.actor.obs_normalization = (32,), False
    train(
        env_cfg(),
        agent,
        task=TASK,
        root=tmp_path,
        device="cpu",
        init_from=run.path,
        critic_first=2,
    )
    begun = find("latest", tmp_path).run
    env = ManagerBasedRlEnv(env_cfg())
    seen = observed()
    before = load_policy(run.path, env, run.configs()["agent"])(seen)
    after = load_policy(begun.path, env, agent)(seen)
    torch.testing.assert_close(after, before, rtol=0, atol=0)


def test_initial_updates_of_the_critic_leave_the_policy_unchanged() -> None:
    held, free = make_loop(agent_cfg(1)), make_loop(agent_cfg(1))
    held.learner.critic_first = 1
    states = {}
    for name, loop in (("held", held), ("free", free)):
        algorithm = loop.learner.algorithm
        parts = {"actor": algorithm.actor, "critic": algorithm.critic}  # type: ignore
        before = {
            k: [p.detach().clone() for p in m.parameters()] for k, m in parts.items()
        }
        loop.run()
        states[name] = {
            k: all(
                torch.equal(p, q)
                for p, q in zip(before[k], m.parameters(), strict=True)
            )
            for k, m in parts.items()
        }
        moments = algorithm.optimizer.state  # type: ignore[union-attr]
        kept = [weights in moments for weights in algorithm.actor.parameters()]  # type: ignore
        assert set(kept) == {name == "free"}
    # Training then starts with the smallest learning rate.
    assert held.learner.learning_rate == 1e-5 < free.learner.learning_rate
    assert states["held"] == {"actor": True, "critic": False}
    assert states["free"] == {"actor": False, "critic": False}


def test_student_starts_from_the_policy_of_another_run(
    run: Run, tmp_path: Path
) -> None:
    """By the role of the acting network, not by its name."""
    agent = DistillationAgentCfg(
        num_steps_per_env=1,
        max_iterations=0,
        obs_groups={"student": ("actor",), "teacher": ("critic",)},
        student=run.configs()["agent"].actor,
        teacher=CartpoleAgentCfg().actor,
        teacher_checkpoint=TASK,
    )
    agent.algorithm.gradient_length = 1
    agent.evaluation.every = 0
    train(env_cfg(), agent, task=TASK, root=tmp_path, device="cpu", init_from=run.path)
    env = ManagerBasedRlEnv(env_cfg())
    seen = observed()
    before = load_policy(run.path, env, run.configs()["agent"])(seen)
    begun = find("latest", tmp_path).run
    torch.testing.assert_close(load_policy(begun.path, env, agent)(seen), before)


def test_normalisation_from_demonstrations_stays_fixed(demos: Path) -> None:
    agent = CloningAgentCfg(max_iterations=1)
    agent.actor.obs_normalization = True
    agent.algorithm.demonstrations = str(demos)
    agent.evaluation.every = 0
    normaliser = make_loop(agent).learner.policy.obs_normalizer
    assert isinstance(normaliser, EmpiricalNormalization)
    steps = read_demonstrations(demos, {"actor": torch.Size([5])}, 1)
    seen = steps["observations", "actor"]
    before = normaliser.mean.clone()
    torch.testing.assert_close(before, seen.mean(dim=0))
    normaliser.update(seen + 10.0)
    torch.testing.assert_close(normaliser.mean, before, rtol=0, atol=1e-4)


# Invalid configurations.


def test_data_missing_in_a_recording_are_named(demos: Path) -> None:
    def refused(shapes: dict[str, torch.Size], num_actions: int) -> str:
        with pytest.raises(RecordingError) as error:
            read_demonstrations(demos, shapes, num_actions)
        return str(error.value)

    episode = f"Episode 0 of {demos}"
    actor = torch.Size([5])
    assert refused({"camera": actor}, 1).startswith(
        f"{episode} has no observations 'camera'."
    )
    assert refused({"actor": torch.Size([7])}, 1) == (
        f"{episode}: 'obs' has shape (5,); the task's observation group 'actor' has "
        "shape (7,)."
    )
    assert refused({"actor": actor}, 2) == (
        f"{episode} has actions of shape (20, 1); the task needs shape (20, 2)."
    )


def test_a_missing_recording_option_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as error:
        clone.main([TASK, "--logs", str(tmp_path)])
    assert str(error.value) == "Name the recording: --demos recordings/demos.h5."
    with pytest.raises(AgentError) as unnamed:
        train(env_cfg(), CloningAgentCfg(), task=TASK, root=tmp_path, device="cpu")
    assert "agent.algorithm.demonstrations is None: name a recording." in str(
        unnamed.value
    )
