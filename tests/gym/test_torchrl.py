"""TorchRL: its own checker, rollouts and PPO."""

from functools import partial
from typing import Any

import pytest
import torch
from tensordict import TensorDict

import mjlab
from mjlab.gym import (
    FlattenActionSpace,
    FrameStack,
    GymWorlds,
    TorchVectorEnv,
    VectorEnv,
)
from mjlab.tasks.cartpole.classic import ClassicCartpoleCfg, TensorCartpoles
from tests.worlds import gym_tasks

pytest.importorskip("torchrl", reason="TorchRL is not installed (pip install torchrl)")

from torchrl.envs.utils import check_env_specs

from docs.examples.torchrl_env import TorchRlEnv

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def tensors(make: Any, num_envs: int, **more: Any) -> TorchVectorEnv:
    return TorchVectorEnv(gym_tasks.worlds(make(), num_envs, **more))


def classic(num_envs: int) -> TorchVectorEnv:
    """At most eleven steps, so that episodes end; actions are integers."""
    cfg = ClassicCartpoleCfg(num_envs=num_envs, autoreset=False, max_steps=11)
    return TorchVectorEnv(GymWorlds(TensorCartpoles(cfg)))


FORMS: dict[str, Any] = {
    "box": partial(tensors, gym_tasks.cartpole),
    "dict": partial(tensors, gym_tasks.remembering, groups=None),
    "terms": partial(tensors, gym_tasks.two_terms),
    "stack": lambda num_envs: FrameStack(tensors(gym_tasks.cartpole, num_envs), 3),
    "flat": lambda num_envs: FlattenActionSpace(tensors(gym_tasks.two_terms, num_envs)),
    "discrete": classic,
}


@pytest.mark.parametrize("num_envs", [1, 4])
@pytest.mark.parametrize("form", FORMS)
def test_torchrl_check_env_specs_passes(form: str, num_envs: int) -> None:
    """T-16."""
    env = TorchRlEnv(FORMS[form](num_envs))
    check_env_specs(env)
    check_env_specs(env, seed=3)
    env.close()


@pytest.mark.parametrize("num_envs", [1, 4, 16])
def test_worlds_end_with_their_terminal_observation_and_reset_alone(
    num_envs: int,
) -> None:
    """World i ends after 3 + i steps, and the time limit is 6."""
    env = TorchRlEnv(tensors(gym_tasks.scripted, num_envs))
    run: Any = env.rollout(20, break_when_any_done=False)
    assert run.batch_size == (num_envs, 20)
    after = run["next"]
    for row in range(num_envs):
        length = min(3 + row, 6)
        before = [float(step % length) for step in range(20)]
        assert run["observation"][row, :, 0].tolist() == before
        # The last observation belongs to the end of the episode, not to the next
        # episode.
        last = [number + 1.0 for number in before]
        assert after["observation"][row, :, 0].tolist() == last
        assert after["reward"][row, :, 0].tolist() == last
        ends = [number == length for number in last]
        assert after["done"][row, :, 0].tolist() == ends
        assert after["terminated"][row, :, 0].tolist() == [
            over and 3 + row <= 6 for over in ends
        ]
        assert after["truncated"][row, :, 0].tolist() == [
            over and length == 6 for over in ends
        ]


def test_partial_reset_resets_the_given_worlds_only() -> None:
    env = TorchRlEnv(tensors(gym_tasks.scripted, 3))
    now: Any = env.reset()
    for _ in range(2):
        now = env.step_mdp(env.rand_step(now))
    asked = TensorDict({"_reset": torch.tensor([[False], [True], [False]])}, [3])
    seen: Any = env.reset(now.update(asked))
    assert seen["observation"][:, 0].tolist() == [2.0, 0.0, 2.0]
    assert not seen["done"].any()
    stepped: Any = env.rand_step(seen)
    assert stepped["next", "observation"][:, 0].tolist() == [3.0, 1.0, 3.0]


def test_a_seed_has_the_same_effect_as_in_gymnasium() -> None:
    env, twin = (tensors(gym_tasks.cartpole, 3) for _ in range(2))
    theirs = TorchRlEnv(env)
    theirs.set_seed(5)
    first: Any = theirs.reset()
    assert torch.equal(first["observation"], twin.reset(seed=5)[0])
    # It is used once: the next episodes differ.
    again: Any = theirs.reset()
    assert torch.equal(again["observation"], twin.reset()[0])


def test_environments_with_automatic_reset_are_refused() -> None:
    env = VectorEnv(tensors(gym_tasks.cartpole, 1))
    with pytest.raises(TypeError, match="Pass the environment inside VectorEnv"):
        TorchRlEnv(env)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_library_ppo_trains_for_ten_iterations() -> None:
    """T-16."""
    from tensordict.nn import (
        ProbabilisticTensorDictModule,
        ProbabilisticTensorDictSequential,
        TensorDictModule,
    )
    from torchrl.modules import NormalParamExtractor, TanhNormal, ValueOperator
    from torchrl.objectives import ClipPPOLoss
    from torchrl.objectives.value import GAE

    torch.manual_seed(0)
    env = TorchRlEnv(mjlab.make("Cartpole-Balance", num_envs=32, backend="native"))
    inputs = env.observation_spec["observation"].shape[-1]
    body = torch.nn.Sequential(
        torch.nn.Linear(inputs, 32),
        torch.nn.Tanh(),
        torch.nn.Linear(32, 2),
        NormalParamExtractor(),
    )
    # Without TorchRL's `ProbabilisticActor`, whose old versions do not work with new
    # versions of tensordict.
    actor = ProbabilisticTensorDictSequential(
        TensorDictModule(body, in_keys=["observation"], out_keys=["loc", "scale"]),
        ProbabilisticTensorDictModule(
            in_keys=["loc", "scale"],
            out_keys=["action"],
            distribution_class=TanhNormal,
            return_log_prob=True,
        ),
    )
    critic = ValueOperator(torch.nn.Linear(inputs, 1), in_keys=["observation"])
    advantage = GAE(gamma=0.99, lmbda=0.95, value_network=critic)
    loss_of = ClipPPOLoss(actor, critic)
    optimizer = torch.optim.Adam(loss_of.parameters(), lr=3e-3)
    env.set_seed(0)
    now: Any = env.reset()
    before, frames = [value.clone() for value in actor.parameters()], 0
    for _ in range(10):
        with torch.no_grad():
            data: Any = env.rollout(
                32, actor, auto_reset=False, tensordict=now, break_when_any_done=False
            )
        now = env.step_mdp(data[:, -1])
        frames += data.numel()
        for _ in range(4):
            advantage(data)
            losses: Any = loss_of(data.reshape(-1))
            loss = sum(value for key, value in losses.items() if key[:5] == "loss_")
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    env.close()
    after = list(actor.parameters())
    assert all(value.isfinite().all() for value in after)
    assert all((a != b).any() for a, b in zip(after, before, strict=True))
    assert frames == 10 * 32 * 32
