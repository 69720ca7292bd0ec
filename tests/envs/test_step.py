"""The step as a device program: no host reads, the same operations in every step."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, cast

import pytest
import torch

from mjlab import mdp
from mjlab.envs import ManagerBasedRlEnv, ManagerBasedRlEnvCfg
from mjlab.managers import ManagerTermBase, RewardTermCfg
from mjlab.mdp.actions import AffineAction
from mjlab.registry import entries, load_task
from mjlab.tasks.cartpole import CartpoleBalanceCfg
from tests.tools.reachable import reachable_tensors
from tests.tools.step_watch import StepWatch, watch
from tests.worlds.synthetic import SyntheticCfg

NUM_ENVS = 4


def synthetic() -> ManagerBasedRlEnvCfg:
    return SyntheticCfg(seed=1)


def registered(task_id: str) -> Callable[[], ManagerBasedRlEnvCfg]:
    return lambda: load_task(task_id).env()


TASKS = {"synthetic": synthetic} | {id_: registered(id_) for id_ in entries()}
# The other tasks are slow tests.
FAST = ("synthetic", "Cartpole-Balance", "Tracking-Go1", "Velocity-G1")
NAMES = [
    pytest.param(name, marks=[] if name in FAST else [pytest.mark.slow])
    for name in TASKS
]


def make(cfg: ManagerBasedRlEnvCfg) -> ManagerBasedRlEnv:
    cfg.scene.num_envs = NUM_ENVS
    # Short episodes, so that some worlds end while others continue.
    cfg.episode_length_s = 12 * cfg.decimation * cfg.sim.mujoco.timestep
    # With terminal observations, the native engine reads on the host whether to reset.
    cfg.final_obs = False
    env = ManagerBasedRlEnv(cfg)
    env.reset(seed=5)
    env.episode_length_buf.copy_(torch.arange(NUM_ENVS) * 3)
    return env


def tensors_of(env: ManagerBasedRlEnv) -> dict[str, torch.Tensor]:
    """Return all tensors of the environment, by their path.

    Cached quantities of entities are cleared, as after a replay.
    """
    env.scene.invalidate()
    return reachable_tensors(env)


def moved(before: dict[str, torch.Tensor], after: dict[str, torch.Tensor]) -> list[str]:
    """Return new, deleted and moved tensors.

    `before` must be kept alive, so that no new tensor can reuse its memory.
    """
    places = [
        {name: tensor.data_ptr() for name, tensor in tensors.items()}
        for tensors in (before, after)
    ]
    names = places[0].keys() | places[1].keys()
    return sorted(n for n in names if places[0].get(n) != places[1].get(n))


def actions(env: ManagerBasedRlEnv, steps: int) -> torch.Tensor:
    random = torch.Generator().manual_seed(0)
    size = (steps, env.num_envs, env.action_manager.total_action_dim)
    return torch.randn(size, generator=random)


def watch_steps(
    env: ManagerBasedRlEnv, monkeypatch: pytest.MonkeyPatch, steps: int
) -> list[tuple[StepWatch, int]]:
    """Record steps: the operations of each, and its number of finished worlds."""
    seen = []
    for action in actions(env, steps):
        with watch(env, monkeypatch) as step:
            env.step(action)
        seen.append((step, int(env.termination_manager.dones.sum())))
    return seen


@pytest.mark.parametrize("name", NAMES)
def test_every_step_does_the_same_operations_on_the_same_memory(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    env = make(TASKS[name]())
    before = tensors_of(env)
    steps = watch_steps(env, monkeypatch, 100)
    env.reset(mask=torch.arange(NUM_ENVS) % 2 == 0)
    first = steps[0][0].operations
    for step, _ in steps:
        assert step.operations == first
        assert step.problems == [], "it waits for the device"
    assert moved(before, tensors_of(env)) == []
    known = {tensor.data_ptr() for tensor in before.values()}
    assert {tensor.data_ptr() for tensor in env.state.live().values()} <= known
    # The same operations run with and without finished worlds.
    ended = [number for _, number in steps]
    assert any(ended) and not all(ended)


# Checks that each detector works.


def const(env: Any, value: Any) -> torch.Tensor:
    return torch.full((env.num_envs,), float(value))


def nonzero(env: Any) -> torch.Tensor:
    reward = torch.zeros(env.num_envs)
    reward[(env.episode_length_buf > 2).nonzero()[:, 0]] = 1.0
    return reward


def boolean_index(env: Any) -> torch.Tensor:
    reward = torch.zeros(env.num_envs)
    reward[env.episode_length_buf > 2] = 1.0
    return reward


def repeat_interleave(env: Any) -> torch.Tensor:
    ones = torch.ones_like(env.episode_length_buf)
    return torch.repeat_interleave(ones, ones).float()


READS: dict[str, Any] = {
    "item": lambda env: const(env, env.common_step_counter.item()),
    "nonzero": nonzero,
    "boolean index": boolean_index,
    "masked_select": lambda env: torch.masked_select(
        env.episode_length_buf, env.episode_length_buf > -1
    ).float(),
    "unique": lambda env: const(env, 0.0) + env.episode_length_buf.unique().sum(),
    "equal": lambda env: const(env, torch.equal(*[env.episode_length_buf] * 2)),
    "allclose": lambda env: const(env, torch.allclose(*[env.episode_length_buf] * 2)),
    "repeat_interleave": repeat_interleave,
    "from a list": lambda env: const(env, 0.0) + torch.tensor([1.0, 2.0]).sum(),
    "tolist": lambda env: const(env, sum(env.episode_length_buf.tolist())),
    "numpy": lambda env: const(env, env.episode_length_buf.numpy().sum()),
    "cpu": lambda env: env.episode_length_buf.cpu().float(),
    "to a name": lambda env: env.episode_length_buf.to("cpu").float(),
    "to a device": lambda env: env.episode_length_buf.to(device=env.device).float(),
}


def planted(func: Any) -> ManagerBasedRlEnvCfg:
    cfg = CartpoleBalanceCfg()
    cfg.rewards["planted"] = RewardTermCfg(func=func, weight=1.0)
    return cfg


@pytest.mark.parametrize("how", READS)
def test_a_planted_host_read_is_found(
    how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    env = make(planted(READS[how]))
    assert any(step.problems for step, _ in watch_steps(env, monkeypatch, 3))


class python_counter(ManagerTermBase):
    """Python counter, which a capture would freeze."""

    def __init__(self, cfg: Any, env: Any) -> None:
        super().__init__(cfg, env)
        self.count = 0

    def __call__(self, env: Any) -> torch.Tensor:
        self.count += 1
        return torch.zeros(env.num_envs).add_(self.count)


class new_tensor(ManagerTermBase):
    """Reallocates its memory in each call, without declaring it."""

    def __init__(self, cfg: Any, env: Any) -> None:
        super().__init__(cfg, env)
        self.memory = torch.zeros(env.num_envs)

    def __call__(self, env: Any) -> torch.Tensor:
        self.memory = self.memory + 1.0
        return self.memory


class growing(ManagerTermBase):
    """Stores one more tensor in each call."""

    def __init__(self, cfg: Any, env: Any) -> None:
        super().__init__(cfg, env)
        self.past: list[torch.Tensor] = []

    def __call__(self, env: Any) -> torch.Tensor:
        self.past.append(torch.zeros(env.num_envs))
        return self.past[-1]


class new_at_reset(ManagerTermBase):
    """Reallocates its memory after each reset."""

    def __init__(self, cfg: Any, env: Any) -> None:
        super().__init__(cfg, env)
        self.memory = torch.zeros(env.num_envs)

    def __call__(self, env: Any) -> torch.Tensor:
        return self.memory.add_(1.0)

    def reset(self, mask: torch.Tensor) -> None:
        self.memory = torch.where(mask, 0.0, self.memory)


def data_sized(env: Any) -> torch.Tensor:
    grown = torch.zeros(int(env.common_step_counter.max()) + 1)
    return grown.sum().expand(env.num_envs).clone()


@pytest.mark.parametrize("func", [python_counter, data_sized])
def test_planted_operations_that_change_are_found(
    func: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = watch_steps(make(planted(func)), monkeypatch, 6)
    assert any(step.operations != steps[0][0].operations for step, _ in steps)


@pytest.mark.parametrize("func", [new_tensor, growing, new_at_reset])
def test_planted_memory_that_moves_is_found(func: Any) -> None:
    env = make(planted(func))
    before = tensors_of(env)
    for action in actions(env, 6):
        env.step(action)
    found = moved(before, tensors_of(env))
    assert found and all("planted" in name for name in found)


# Acts within the physics steps.


@dataclass(kw_only=True)
class RisingCfg(mdp.JointEffortActionCfg):
    """Effort that increases by 1 in each physics step."""

    def bind(self, name: str, env: Any) -> "Rising":
        return Rising(name, self, env)


class Rising(AffineAction):
    """Records the controls in each physics step."""

    def __init__(self, name: str, cfg: RisingCfg, env: Any) -> None:
        super().__init__(name, cfg, env)
        self.seen: list[float] = []

    def apply_late(self) -> None:
        self.seen += self._env.sim.data.ctrl[:1, 0].tolist()
        self.entity.data.targets.joint_effort.add_(1.0)


def test_targets_of_late_terms_apply_in_the_next_physics_step() -> None:
    cfg = CartpoleBalanceCfg(decimation=4)
    force = RisingCfg(entity_name="cartpole", joint_names=("slider",))
    env = make(replace(cfg, actions={"force": force}))
    term = cast(Rising, env.action_manager.term("force"))
    term.seen.clear()  # Building has run rehearsal steps.
    env.step(torch.full((NUM_ENVS, 1), 5.0))
    assert term.seen == [5.0, 6.0, 7.0, 8.0]
