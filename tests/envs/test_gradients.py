"""Actions of policies with an autograd graph."""

from typing import Any

import pytest
import torch

from mjlab.envs import ManagerBasedRlEnv
from mjlab.gym import NumpyVectorEnv, SingleEnv, TorchVectorEnv
from tests.worlds.gym_tasks import cartpole, two_terms, worlds

ENGINES = ["native", pytest.param("warp", marks=pytest.mark.slow)]


def with_graph(rows: int, width: int = 1) -> torch.Tensor:
    """An action with an autograd graph."""
    weight = torch.full((1, width), 0.5, requires_grad=True)
    return torch.linspace(-1.0, 1.0, rows)[:, None] * weight


@pytest.mark.parametrize("engine", ENGINES)
def test_step_detaches_actions_from_autograd(engine: Any) -> None:
    made = []
    for _ in range(2):
        cfg = cartpole()
        cfg.scene.num_envs, cfg.sim.backend = 3, engine
        made.append(ManagerBasedRlEnv(cfg, "cpu"))
        made[-1].reset(seed=2)
    env, twin = made
    action = with_graph(3)
    for _ in range(30):
        shown, reward, *_ = env.step(action)
        expected, its_reward, *_ = twin.step(action.detach())
        assert not reward.requires_grad
        assert torch.equal(reward, its_reward)
        assert torch.equal(shown["actor"], expected["actor"])  # pyright: ignore[reportArgumentType]
    assert not any(tensor.requires_grad for tensor in env.get_state().values())
    # The policy's own graph is intact, and its action unchanged.
    action.sum().backward()


def test_phases_of_a_step_detach_actions() -> None:
    env = ManagerBasedRlEnv(cartpole(), "cpu")
    env.reset()
    env.lifecycle.set_action(with_graph(env.num_envs))
    env.lifecycle.set_targets()
    assert not any(tensor.requires_grad for tensor in env.get_state().values())


def test_gymnasium_environments_accept_actions_that_require_grad() -> None:
    for form in (TorchVectorEnv, NumpyVectorEnv):
        venv: Any = form(worlds(cartpole(), 3))
        venv.reset(seed=1)
        reward = [venv.step(with_graph(3))[1] for _ in range(30)][-1]
        assert not getattr(reward, "requires_grad", False)
        venv.close()
    single = SingleEnv(worlds(cartpole(), 1))
    single.reset(seed=1)
    single.step(with_graph(1)[0])
    single.close()


def test_dict_actions_can_require_grad() -> None:
    venv = TorchVectorEnv(worlds(two_terms(), 3))
    venv.reset(seed=1)
    space: Any = venv.single_action_space
    action = {name: with_graph(3, part.shape[0]) for name, part in space.items()}
    _, reward, *_ = venv.step(action)
    assert not reward.requires_grad
    venv.close()
