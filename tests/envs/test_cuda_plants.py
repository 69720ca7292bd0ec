"""Terms that cannot be captured, on the CUDA stand-in: each is found."""

import random
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from mjlab.envs import ManagerBasedRlEnv
from mjlab.envs.runner import self_test
from mjlab.managers import RewardTermCfg
from mjlab.sim.warp_rows import RowPrograms
from mjlab.tasks.cartpole import CartpoleBalanceCfg
from tests.tools.cuda_stand_in import StandIn, StandInError, stand_in

Plant = Callable[[Any], torch.Tensor]
pytestmark = pytest.mark.slow
TABLE = torch.tensor([1.0, 2.0])
MEMORY: dict[str, Any] = {}


def ages(env: ManagerBasedRlEnv) -> torch.Tensor:
    return env.episode_length_buf.float()


def reads_a_number(env: ManagerBasedRlEnv) -> torch.Tensor:
    return ages(env) * env.common_step_counter.item()


def branches_on_data(env: ManagerBasedRlEnv) -> torch.Tensor:
    return ages(env) if (env.episode_length_buf > 2).any() else -ages(env)


def writes_by_a_mask(env: ManagerBasedRlEnv) -> torch.Tensor:
    value = torch.zeros_like(ages(env))
    value[env.episode_length_buf > 2] = 1.0
    return value


def lists_worlds(env: ManagerBasedRlEnv) -> torch.Tensor:
    ids = (env.episode_length_buf > 2).nonzero().squeeze(-1)
    return torch.zeros_like(ages(env)).index_fill(0, ids, 1.0)


def uploads_numbers(env: ManagerBasedRlEnv) -> torch.Tensor:
    return ages(env) * torch.tensor([1.0, 2.0], device=env.device).sum()


def downloads(env: ManagerBasedRlEnv) -> torch.Tensor:
    return ages(env) * float(ages(env).cpu().sum())


def mixes_devices(env: ManagerBasedRlEnv) -> torch.Tensor:
    return TABLE.expand(env.num_envs, 2).sum(1) * ages(env)


def forgets_the_device(env: ManagerBasedRlEnv) -> torch.Tensor:
    return ages(env) + torch.zeros(env.num_envs)


def asks_numpy(env: ManagerBasedRlEnv) -> torch.Tensor:
    return torch.full_like(ages(env), float(env.episode_length_buf.numpy().sum()))


def counts_in_python(env: ManagerBasedRlEnv) -> torch.Tensor:
    MEMORY["count"] = MEMORY.get("count", 0) + 1
    return ages(env) * MEMORY["count"]


def takes_turns_in_python(env: ManagerBasedRlEnv) -> torch.Tensor:
    MEMORY["turn"] = not MEMORY.get("turn", False)
    return ages(env) if MEMORY["turn"] else -ages(env)


def draws_in_python(env: ManagerBasedRlEnv) -> torch.Tensor:
    return ages(env) * random.random()


def exchanges_a_tensor(env: ManagerBasedRlEnv) -> torch.Tensor:
    MEMORY["kept"] = MEMORY.get("kept", torch.zeros_like(ages(env))) + 1.0
    return MEMORY["kept"]


UNCAPTURED = (
    reads_a_number,
    branches_on_data,
    writes_by_a_mask,
    lists_worlds,
    uploads_numbers,
    downloads,
)
DIFFERING = (
    counts_in_python,
    takes_turns_in_python,
    draws_in_python,
    exchanges_a_tensor,
)
REFUSED = (mixes_devices, forgets_the_device, asks_numpy)


@pytest.fixture(scope="module")
def device() -> Iterator[StandIn]:
    """Record of the device; skips if torch cannot be patched."""
    try:
        with stand_in() as device:
            yield device
    except StandInError as error:
        pytest.skip(f"no CUDA device can be stood in for: {error}")


@pytest.fixture(scope="module")
def world(device: StandIn) -> ManagerBasedRlEnv:
    cfg = CartpoleBalanceCfg(seed=0)
    cfg.scene.num_envs, cfg.sim.backend = 8, "warp"
    cfg.rewards["planted"] = RewardTermCfg(func=ages, weight=1.0)
    env = ManagerBasedRlEnv(cfg, device="cuda:0")
    assert env.mode == "fused"
    return env


@pytest.fixture
def planted(world: ManagerBasedRlEnv) -> Iterator[Callable[[Plant], ManagerBasedRlEnv]]:
    """Replaces the function of a reward; restored at the end."""
    term = world.reward_manager.term("planted")
    MEMORY.clear()

    def plant(function: Plant) -> ManagerBasedRlEnv:
        term.function = function
        world.record_anew()
        return world

    yield plant
    term.function = ages


def name_of(plant: Plant) -> str:
    return plant.__name__


@pytest.mark.parametrize("plant", UNCAPTURED, ids=name_of)
def test_uncapturable_code_is_named_and_the_step_runs_in_segments(
    plant: Plant, planted: Callable[[Plant], ManagerBasedRlEnv]
) -> None:
    env = planted(plant)
    assert env.mode == "segmented"
    assert "graph capture failed" in env.runner.reason
    assert "reward term 'planted'" in env.runner.reason
    assert "test_cuda_plants.py" in env.runner.reason


@pytest.mark.parametrize("plant", DIFFERING, ids=name_of)
def test_code_that_a_replay_would_freeze_is_named_and_the_step_runs_in_segments(
    plant: Plant, planted: Callable[[Plant], ManagerBasedRlEnv]
) -> None:
    env = planted(plant)
    assert env.mode == "segmented"
    assert "replays differ from eager steps in reward." in env.runner.reason


@pytest.mark.parametrize("plant", REFUSED, ids=name_of)
def test_mixing_host_and_device_fails_when_the_environment_is_built(
    plant: Plant, planted: Callable[[Plant], ManagerBasedRlEnv]
) -> None:
    with pytest.raises((RuntimeError, TypeError)) as error:
        planted(plant)
    assert "reward term 'planted'" in "".join(error.value.__notes__)


def test_fused_kernels_that_differ_from_torch_are_not_used(
    planted: Callable[[Plant], ManagerBasedRlEnv], monkeypatch: pytest.MonkeyPatch
) -> None:
    def wrong(rows: RowPrograms, kernel: object) -> None:
        rows._compute()
        for *_, written in rows._waiting:
            if written.is_floating_point():
                written.mul_(1.5)

    with monkeypatch.context() as patch:
        patch.setattr(RowPrograms, "_launch", wrong)
        env = planted(ages)
    assert env.mode == "fused"
    assert "without joined row operations: replays differ" in env.runner.reason
    assert "joined row operations" not in planted(ages).runner.reason


def test_a_capture_that_failed_leaves_no_trace(
    device: StandIn, planted: Callable[[Plant], ManagerBasedRlEnv]
) -> None:
    assert planted(reads_a_number).mode == "segmented"
    assert device.stream is device.default_stream
    assert device.graph is None and device.pools == [] and device.warp_captures == 0
    env = planted(ages)
    assert env.mode == "fused" and "equal" in env.runner.reason
    env.step(torch.zeros(8, 1, device="cuda:0"))


def test_replay_keeps_warp_modules_loaded(
    planted: Callable[[Plant], ManagerBasedRlEnv],
) -> None:
    env = planted(ages)
    env.step(torch.zeros(8, 1, device="cuda:0"))
    runner: Any = env.runner
    runner._of_warp = None
    with pytest.raises(RuntimeError, match="may have unloaded"):
        env.step(torch.zeros(8, 1, device="cuda:0"))


def judged(again: dict[str, Any], replayed: dict[str, Any]) -> list[str]:
    """Return the names that the self-test finds if eager steps give zeros."""
    zeros = {name: torch.zeros_like(value) for name, value in replayed.items()}
    ends = iter([zeros, zeros, zeros | again, zeros | replayed])
    env: Any = SimpleNamespace(
        num_envs=64,
        episode_length_buf=torch.zeros(64),
        max_episode_length=9,
        sim=SimpleNamespace(forward=lambda: None),
    )
    state: Any = SimpleNamespace(take=lambda: next(ends), restore=lambda _: None)
    found = self_test(env, state, lambda: None, lambda: None)
    return [text.partition(" ")[0] for text in found]


def test_shared_values_are_compared_only_if_no_world_diverged() -> None:
    one_world = torch.arange(64) == 5
    count, same = torch.tensor(1), torch.tensor(0)
    calm = {"x": torch.zeros(64, dtype=torch.bool), "log.count": count}
    # Two eager runs differ in one world, which one of them counts as non-finite.
    assert (
        judged({"x": one_world, "log.count": count}, calm | {"log.count": same}) == []
    )
    # A replay does the same, and counts it.
    assert judged({}, {"x": one_world, "log.count": count}) == []
    # Worlds agree, so no world explains a different count.
    assert judged({}, calm) == ["log.count"]
    half = torch.arange(64) < 32
    assert judged({}, {"x": half, "log.count": count}) == ["x"]
