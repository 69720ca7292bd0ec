"""skrl: its own wrapper, the adapter, and its PPO."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from gymnasium import spaces

import mjlab
from mjlab.gym import FlattenActionSpace, FrameStack, GymWorlds, TorchVectorEnv
from mjlab.tasks.cartpole.classic import ClassicCartpoleCfg, TensorCartpoles
from tests.worlds import gym_tasks

pytest.importorskip("skrl", reason="skrl is not installed (pip install skrl)")

from skrl.envs.wrappers.torch import wrap_env

from docs.examples.skrl_env import SeesEnds, SkrlEnv


def tensors(make: Any, num_envs: int, **more: Any) -> TorchVectorEnv:
    return TorchVectorEnv(gym_tasks.worlds(make(), num_envs, **more))


@pytest.mark.parametrize(
    "num_envs", [4, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 16))]
)
@pytest.mark.filterwarnings("ignore:To copy construct from a tensor")
def test_skrls_wrapper_and_ours_give_the_same_values(num_envs: int) -> None:
    """T-16."""
    theirs = wrap_env(tensors(gym_tasks.cartpole, num_envs), verbose=False)
    ours = SkrlEnv(tensors(gym_tasks.cartpole, num_envs))
    assert type(theirs).__name__ == "GymnasiumWrapper"
    for name in ("num_envs", "device", "observation_space", "action_space"):
        assert getattr(ours, name) == getattr(theirs, name), name
    assert ours.state_space is None and ours.state() is None
    # skrl's wrapper uses skrl's global seed; these are the worlds' own numbers.
    theirs._seed = None
    assert torch.equal(ours.reset()[0], theirs.reset()[0])
    ends, random = 0, np.random.default_rng(0)
    for _ in range(40):
        action = torch.as_tensor(random.uniform(-1, 1, (num_envs, 1)))
        *mine, info = ours.step(action.float())
        *others, other_info = theirs.step(action.float())
        for one, other in zip(mine, others, strict=True):
            assert one.shape == other.shape and one.dtype == other.dtype
            assert torch.equal(one, other)
        assert torch.equal(info["final_obs"], other_info["final_obs"])
        assert torch.equal(ours.reset()[0], mine[0])  # No double reset.
        ends += int((mine[2] | mine[3]).sum())
    assert ends >= num_envs
    ours.close()


def test_critic_observations_are_skrls_state() -> None:
    env = SkrlEnv(tensors(gym_tasks.go1, 2, groups=("actor", "critic")), seed=4)
    twin = tensors(gym_tasks.go1, 2, groups=("actor", "critic"))
    shown: Any = twin.single_observation_space
    assert env.observation_space == shown["actor"]
    assert env.state_space == shown["critic"]
    seen, _ = env.reset()
    raw, _ = twin.reset(seed=4)
    assert torch.equal(seen, raw["actor"])  # pyright: ignore[reportCallIssue, reportArgumentType]
    assert torch.equal(env.state(), raw["critic"])  # pyright: ignore[reportCallIssue, reportArgumentType]
    for _ in range(6):  # An episode.
        *_, info = env.step(torch.zeros(2, 12))
        *_, other = twin.step(torch.zeros(2, 12))
    assert info["_final_obs"].all()
    assert torch.equal(info["final_obs"], other["final_obs"]["actor"])
    assert torch.equal(info["final_states"], other["final_obs"]["critic"])


def test_dict_spaces_are_flattened_in_skrls_order() -> None:
    """It sorts names, so "front" comes before "rear" for any order of terms."""
    env = SkrlEnv(tensors(gym_tasks.two_terms, 2))
    env.reset()
    action = torch.arange(24.0).view(2, 12) / 100
    env.step(action)
    manager: Any = env.unwrapped.worlds.env.action_manager
    assert torch.equal(manager.part("front"), action[:, :6])
    assert torch.equal(manager.part("rear"), action[:, 6:])
    stack = FrameStack(FlattenActionSpace(tensors(gym_tasks.two_terms, 2)), 3)
    assert SkrlEnv(stack).reset()[0].shape == (2, 3 * stack.observation_space.shape[2])
    remembering = SkrlEnv(tensors(gym_tasks.remembering, 2, groups=None))
    assert isinstance(remembering.observation_space, spaces.Dict)
    assert set(remembering.observation_space.spaces) == {"actor", "memory"}
    assert remembering.reset()[0].shape == (2, 5 + 6 + 2)


def test_integer_actions_are_accepted() -> None:
    cfg = ClassicCartpoleCfg(num_envs=3, autoreset=False)
    env = SkrlEnv(TorchVectorEnv(GymWorlds(TensorCartpoles(cfg))))
    seen, _ = env.reset()
    pushed, *_ = env.step(torch.tensor([[0], [1], [1]]))
    assert (pushed - seen)[:, 1].sign().tolist() == [-1.0, 1.0, 1.0]


def test_other_autoreset_modes_are_refused() -> None:
    worlds = gym_tasks.worlds(gym_tasks.cartpole(), 1)
    with pytest.raises(ValueError, match="autoreset_mode='same_step'"):
        SkrlEnv(TorchVectorEnv(worlds, autoreset_mode="next_step"))


def ppo(env: Any, folder: Path, *, ends: bool) -> Any:
    """Agent whose critic returns the first observation element."""
    from skrl.agents.torch.ppo import PPO
    from skrl.memories.torch import RandomMemory
    from skrl.models.torch import DeterministicMixin, GaussianMixin, Model

    class Policy(GaussianMixin, Model):
        def __init__(self, **spaces: Any) -> None:
            Model.__init__(self, **spaces)
            GaussianMixin.__init__(self)
            self.mean = torch.nn.Linear(self.num_observations, self.num_actions)
            self.log_std = torch.nn.Parameter(torch.zeros(self.num_actions))

        def compute(self, inputs: Any, role: str = "") -> Any:
            return self.mean(inputs["observations"]), {"log_std": self.log_std}

    class Value(DeterministicMixin, Model):
        def __init__(self, **spaces: Any) -> None:
            Model.__init__(self, **spaces)
            DeterministicMixin.__init__(self)
            self.net = torch.nn.Linear(self.num_observations, 1, bias=False)
            with torch.no_grad():
                self.net.weight.zero_()[0, 0] = 1.0

        def compute(self, inputs: Any, role: str = "") -> Any:
            return self.net(inputs["observations"]), {}

    class Ending(SeesEnds, PPO):
        pass

    shape = {
        "observation_space": env.observation_space,
        "state_space": env.state_space,
        "action_space": env.action_space,
        "device": env.device,
    }
    return (Ending if ends else PPO)(
        models={"policy": Policy(**shape), "value": Value(**shape)},
        memory=RandomMemory(memory_size=16, num_envs=env.num_envs, device=env.device),
        cfg={
            "rollouts": 16,
            "time_limit_bootstrap": True,
            "discount_factor": 0.5,
            "experiment": {
                "directory": str(folder),
                "write_interval": 0,
                "checkpoint_interval": 0,
            },
        },
        **shape,
    )


@pytest.mark.parametrize("ends", [False, True])
def test_a_truncated_episode_bootstraps_from_its_own_terminal_observation(
    ends: bool, tmp_path: Path
) -> None:
    """Row 4 reaches the time limit in its sixth step.

    Observation and reward are a counter. Row 3 falls in the same step, so it is not
    bootstrapped.
    """
    env = SkrlEnv(tensors(gym_tasks.scripted, 5))
    agent = ppo(env, tmp_path, ends=ends)
    agent.init()
    agent.enable_training_mode(True)
    seen, _ = env.reset()
    for step in range(6):
        with torch.no_grad():
            action, _ = agent.act(seen, None, timestep=step, timesteps=16)
            following, *flags, info = env.step(action)
            agent.record_transition(
                observations=seen,
                states=None,
                actions=action,
                rewards=flags[0],
                next_observations=following,
                next_states=None,
                terminated=flags[1],
                truncated=flags[2],
                infos=info,
                timestep=step,
                timesteps=16,
            )
        seen = following
    assert flags[1].flatten().tolist()[3:] == [True, False]
    assert flags[2].flatten().tolist()[3:] == [True, True]
    rewards = agent.memory.get_tensor_by_name("rewards")[:6, 3:, 0]
    fallen, kept = rewards.T.tolist()
    assert fallen == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    # Half the value of 6, the terminal observation, or of 0, the first of the next
    # episode.
    assert kept == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0 + (3.0 if ends else 0.0)]


@pytest.mark.slow
def test_library_ppo_trains_for_ten_iterations(tmp_path: Path) -> None:
    """T-16."""
    from skrl.trainers.torch import SequentialTrainer

    torch.manual_seed(0)
    env = SkrlEnv(mjlab.make("Cartpole-Balance", num_envs=16, backend="native"), seed=0)
    agent = ppo(env, tmp_path, ends=True)
    before = [value.clone() for value in agent.policy.parameters()]
    cfg = {"timesteps": 160, "headless": True, "disable_progressbar": True}
    SequentialTrainer(env=env, agents=agent, cfg=cfg).train()
    after = list(agent.policy.parameters())
    assert all(value.isfinite().all() for value in after)
    assert all((a != b).any() for a, b in zip(after, before, strict=True))
