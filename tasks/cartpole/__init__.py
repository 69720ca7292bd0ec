"""Cartpole tasks: balance the pole, and swing it up."""

from pathlib import Path

from mjlab.registry import Task
from mjlab.tasks.cartpole.env import CartpoleBalanceCfg as CartpoleBalanceCfg
from mjlab.tasks.cartpole.env import CartpoleBalancePlayCfg as CartpoleBalancePlayCfg
from mjlab.tasks.cartpole.env import CartpoleSwingupCfg as CartpoleSwingupCfg
from mjlab.tasks.cartpole.env import CartpoleSwingupPlayCfg as CartpoleSwingupPlayCfg
from mjlab.tasks.cartpole.rl import CartpoleAgentCfg as CartpoleAgentCfg

BALANCE = Task(
    env=CartpoleBalanceCfg,
    play=CartpoleBalancePlayCfg,
    rl=CartpoleAgentCfg,
    summary="Keep a pole upright on a cart.",
    trained=Path(__file__).parent / "trained" / "Cartpole-Balance",
)
SWINGUP = Task(
    env=CartpoleSwingupCfg,
    play=CartpoleSwingupPlayCfg,
    rl=CartpoleAgentCfg,
    summary="Swing a pole up on a cart and keep it there.",
    trained=Path(__file__).parent / "trained" / "Cartpole-Swingup",
)
