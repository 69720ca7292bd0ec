"""The classic cartpole, as tensors and as one kernel, in Gymnasium's three modes."""

from typing import Any

import pytest
import torch
from gymnasium.vector import AutoresetMode

from docs.examples.check_vector_env import check_vector_env
from mjlab.gym import GymWorlds, SingleEnv, TorchVectorEnv
from mjlab.gym.torch_env import EndedRowsError
from mjlab.tasks.cartpole.classic import (
    ClassicCartpoleCfg,
    KernelCartpoles,
    TensorCartpoles,
)

WAYS = [TensorCartpoles, KernelCartpoles]
ALL_MODES = [pytest.param(mode, id=mode.name) for mode in AutoresetMode]


def worlds(way: Any, num_envs: int, max_steps: int = 30) -> GymWorlds:
    """Worlds that fall after about ten random steps, or end after `max_steps`."""
    cfg = ClassicCartpoleCfg(num_envs=num_envs, autoreset=False, max_steps=max_steps)
    return GymWorlds(way(cfg))


@pytest.mark.parametrize("mode", ALL_MODES)
@pytest.mark.parametrize("way", WAYS)
def test_batched_env_keeps_the_contract_in_every_mode(
    way: Any, mode: AutoresetMode
) -> None:
    check_vector_env(
        lambda mode: TorchVectorEnv(worlds(way, 3), autoreset_mode=mode),
        lambda row: SingleEnv(worlds(way, 1)),
        modes=(mode,),
        steps=120,
        allow_popped_mask=False,
    )


def test_finished_world_waits_for_its_reset_in_disabled_mode() -> None:
    """By hand: of three rows, the first two fall, the last is balanced."""
    env = TorchVectorEnv(worlds(TensorCartpoles, 3), autoreset_mode="disabled")
    env.reset(seed=0)
    ended, steps = torch.zeros(3, dtype=torch.bool), 0
    while not ended.any():
        state = env.worlds.env.memory.state  # pyright: ignore[reportAttributeAccessIssue]
        balanced = (state[2, 2] + state[2, 3] > 0).long()
        actions = torch.stack([torch.tensor(1), torch.tensor(0), balanced])
        seen, reward, terminated, truncated, info = env.step(actions)
        ended, steps = terminated | truncated, steps + 1
    assert "final_obs" not in info
    # It fell: the observation is the state beyond the limit of 12 degrees.
    row = int(ended.nonzero()[0, 0])
    assert abs(float(seen[row, 2])) > 0.2094 and reward[row] == 1.0
    with pytest.raises(EndedRowsError, match=rf"Worlds \[{row}.*have finished"):
        env.step(torch.ones(3, dtype=torch.int64))
    others = ~ended
    kept = seen.clone()
    begun, news = env.reset(options={"reset_mask": ended})
    assert torch.equal(begun[others], kept[others])
    assert (begun[ended].abs() <= 0.05).all()
    assert news["_elapsed_steps"].tolist() == ended.tolist()
    assert news["elapsed_steps"].tolist() == torch.where(ended, 0, steps).tolist()
    _, reward, terminated, _, info = env.step(torch.ones(3, dtype=torch.int64))
    assert not terminated[ended].any() and reward.tolist() == [1.0] * 3
    assert info["elapsed_steps"][ended].tolist() == [1] * int(ended.sum())


def test_unsupported_operations_are_refused() -> None:
    cfg = ClassicCartpoleCfg(num_envs=2)
    with pytest.raises(ValueError, match="Use autoreset=False"):
        TorchVectorEnv(GymWorlds(TensorCartpoles(cfg)))
    live = ClassicCartpoleCfg(num_envs=2, autoreset=False, results="live")
    with pytest.raises(ValueError, match="resets would overwrite the results"):
        TorchVectorEnv(GymWorlds(TensorCartpoles(live)))
    batch = worlds(TensorCartpoles, 2)
    with pytest.raises(ValueError, match=r"'never_again'.*'never'"):
        batch.choose_resets("never_again")  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="ignore_terminations=True is not supported"):
        batch.choose_resets("same_step", ignore_terminations=True)
    with pytest.raises(ValueError, match="for every world, or none of them"):
        TorchVectorEnv(batch).reset(seed=[1, None])
    with pytest.raises(NotImplementedError, match="cannot be rendered"):
        batch.frames()
