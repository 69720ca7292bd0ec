"""Cartpole: the first user of the environment."""

from pathlib import Path

from tasks.cartpole.env import CartpoleBalanceCfg as CartpoleBalanceCfg
from tasks.cartpole.env import CartpoleBalancePlayCfg as CartpoleBalancePlayCfg
from tasks.cartpole.env import CartpoleSwingupCfg as CartpoleSwingupCfg
from tasks.cartpole.env import CartpoleSwingupPlayCfg as CartpoleSwingupPlayCfg
from tasks.cartpole.rl import CartpoleAgentCfg as CartpoleAgentCfg
from tasks.registry import Task

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
)
