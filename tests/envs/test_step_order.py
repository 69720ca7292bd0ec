"""`step_order`: when interval events run and commands are drawn in a step."""

import json
import os
import subprocess
from typing import Any

import pytest
import torch

from mjlab.envs import ManagerBasedRlEnv
from mjlab.envs.config import ConfigError
from mjlab.managers import (
    CommandTerm,
    CommandTermCfg,
    EventTermCfg,
    IndexedCommandTerm,
    IndexedCommandTermCfg,
    StepOrder,
    TermError,
)
from mjlab.tasks.cartpole import CartpoleBalanceCfg
from tests.tools import step_calls

PEER = os.environ.get("MJLAB_PEER_PYTHON")

ACT = ["process_action", "apply_action", "step", "termination", "reward", "metric"]
RESET = ["curriculum", "reset", "reset event"]
OBSERVE = ["command updated", "sense", "observation"]

MJLAB = [
    *ACT,
    "step event",
    "interval event",
    *RESET,
    "command drawn in [0]",
    "forward",
    "command metrics",
    "command drawn in [1]",
    *OBSERVE,
]
"""Calls of mjlab 1.6.0, in a step in which world 0 ends and each command is due."""

DEFAULT = [
    *ACT,
    "step event",
    *RESET,
    "command drawn in [0]",
    "interval event",
    "command metrics",
    "command drawn in [1]",
    "forward",
    *OBSERVE,
]


def calls_of(order: StepOrder, command: Any, calls: list[str]) -> list[str]:
    cfg = CartpoleBalanceCfg(seed=3, step_order=order)
    step_calls.add_terms(cfg, calls)
    cfg.commands = {"mark": command}
    return step_calls.step_calls(ManagerBasedRlEnv(cfg), calls)


@pytest.mark.parametrize(
    ("order", "expected"), [("mjlab", MJLAB), ("default", DEFAULT)]
)
def test_a_command_with_indices_is_drawn_in_the_order_of_the_step(
    order: StepOrder, expected: list[str]
) -> None:
    calls: list[str] = []
    command = step_calls.command(calls, IndexedCommandTerm, IndexedCommandTermCfg)
    assert calls_of(order, command, calls) == expected


@pytest.mark.skipif(PEER is None, reason="MJLAB_PEER_PYTHON is not set")
@pytest.mark.slow
def test_the_installed_mjlab_makes_these_calls() -> None:
    assert PEER is not None
    run = [PEER, "-I", step_calls.__file__]
    printed = subprocess.run(run, check=True, stdout=subprocess.PIPE, text=True).stdout
    _, _, found = printed.partition(step_calls.MARK)
    assert json.loads(found.splitlines()[0]) == MJLAB


class Masked(CommandTerm):
    """Command that records the worlds of each draw."""

    def __init__(self, name: str, cfg: "MaskedCfg", env: Any) -> None:
        super().__init__(name, cfg, env, num_draws=1)
        self.cfg: MaskedCfg = cfg
        self.writes_state = cfg.writes_state
        self.value = torch.zeros(env.num_envs, 1)

    @property
    def command(self) -> torch.Tensor:
        return self.value

    def _resample(self, mask: torch.Tensor, unit: torch.Tensor) -> None:
        self.value.copy_(torch.where(mask.unsqueeze(1), unit, self.value))
        if mask.any():
            worlds = mask.nonzero().flatten().tolist()
            self.cfg.calls.append(f"command drawn in {worlds}")

    def _update_metrics(self) -> None:
        self.cfg.calls.append("command metrics")

    def _update(self) -> None:
        self.cfg.calls.append("command updated")


class MaskedCfg(CommandTermCfg):
    calls: list[str]
    writes_state: bool = False

    def bind(self, name: str, env: Any) -> Masked:
        return Masked(name, self, env)


def masked(calls: list[str], *, writes_state: bool = False) -> MaskedCfg:
    times = (1e-3, 1e-3)
    return MaskedCfg(
        resampling_time_range=times, calls=calls, writes_state=writes_state
    )


def test_a_command_with_a_mask_is_drawn_in_the_same_order() -> None:
    calls: list[str] = []
    # The draw of world 0 must not repeat after `forward()`.
    assert calls_of("mjlab", masked(calls), calls) == MJLAB


def test_a_command_that_writes_state_is_drawn_before_forward_in_both_orders() -> None:
    for order in ("default", "mjlab"):
        calls: list[str] = []
        found = calls_of(order, masked(calls, writes_state=True), calls)
        assert found.index("command drawn in [0, 1]") < found.index("forward")


class Placing(IndexedCommandTerm):
    """Command that moves the cart when it is drawn, as terms of mjlab do."""

    forwards = True

    @property
    def command(self) -> torch.Tensor:
        return torch.zeros(self.num_envs, 1)

    def _resample_command(self, env_ids: torch.Tensor) -> None:
        self._env.sim.data.qpos[env_ids, 0] = 0.125

    def _update_command(self, env_ids: torch.Tensor | None) -> None:
        if self.forwards:
            self._env.sim.forward()


class PlacingOnly(Placing):
    forwards = False


class PlacingCfg(IndexedCommandTermCfg):
    term: type[Placing] = Placing

    def build(self, env: Any) -> Placing:
        return self.term(self, env)


def placed(term: type[Placing]) -> ManagerBasedRlEnv:
    cfg = CartpoleBalanceCfg(seed=3, step_order="mjlab")
    cfg.scene.num_envs = 2
    cfg.commands = {"place": PlacingCfg(resampling_time_range=(1e-3, 1e-3), term=term)}
    return ManagerBasedRlEnv(cfg)


def test_command_that_writes_after_forward_updates_derived_quantities() -> None:
    env = placed(Placing)
    env.reset()
    env.step(torch.ones(2, 1))
    assert env.sim.data.qpos[:, 0].tolist() == [0.125, 0.125]
    assert env.sim.data.xpos[:, :, 0].eq(0.125).any(dim=1).all()


def test_a_command_that_leaves_derived_quantities_stale_is_refused_by_name() -> None:
    with pytest.raises(TermError) as caught:
        placed(PlacingOnly).step(torch.ones(2, 1))
    assert "Command term 'place' wrote the state after forward()" in str(caught.value)
    assert str(caught.value).endswith("or call sim.forward() afterwards.")


def push(env: Any, mask: torch.Tensor) -> None:
    env.sim.data.qvel[:] = torch.where(mask.unsqueeze(1), 5.0, env.sim.data.qvel)


@pytest.mark.parametrize(("order", "is_pushed"), [("mjlab", False), ("default", True)])
def test_push_reaches_new_episodes_only_in_the_default_order(
    order: StepOrder, is_pushed: bool
) -> None:
    cfg = CartpoleBalanceCfg(seed=3, step_order=order)
    cfg.scene.num_envs = 2
    cfg.events["push"] = EventTermCfg(
        func=push, mode="interval", interval_range_s=(1e-3, 1e-3), is_global_time=True
    )
    env = ManagerBasedRlEnv(cfg)
    env.reset()
    env.episode_length_buf[0] = env.max_episode_length - 1
    _, _, _, truncated, _ = env.step(torch.zeros(2, 1))
    assert truncated.tolist() == [True, False]
    pushed = (env.sim.data.qvel == 5.0).all(dim=1)
    assert pushed.tolist() == [is_pushed, True]


def test_an_unknown_order_is_refused_with_the_valid_ones() -> None:
    cfg: Any = CartpoleBalanceCfg(step_order="isaac")  # type: ignore[arg-type]
    with pytest.raises(ConfigError) as caught:
        ManagerBasedRlEnv(cfg)
    assert str(caught.value) == (
        "step_order='isaac' is unknown. Valid: 'default', 'mjlab'."
    )
