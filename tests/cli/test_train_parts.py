"""Evaluation worlds of a training."""

from mjlab.cli.training import _eval_maker
from mjlab.rl import EvaluationCfg
from tests.worlds.rl_runs import agent_cfg, env_cfg


def test_an_evaluation_has_its_own_number_of_worlds_and_its_own_seed() -> None:
    agent = agent_cfg(evaluation=EvaluationCfg(every=1, num_envs=3, seed=11))
    env = _eval_maker(env_cfg(seed=3, worlds=6), agent, None, "cpu")()
    assert (env.num_envs, env.seed) == (3, 11)
    env.close()
