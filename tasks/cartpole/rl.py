"""PPO settings of the cartpole, which trains in 15 seconds on two CPU cores."""

from mjlab.rl import (
    CheckpointCfg,
    EvaluationCfg,
    GaussianCfg,
    MlpModelCfg,
    PpoAgentCfg,
    PpoCfg,
)


def actor() -> MlpModelCfg:
    """Return an MLP policy with two hidden layers of 64 units."""
    return MlpModelCfg(hidden_dims=(64, 64), distribution_cfg=GaussianCfg())


def critic() -> MlpModelCfg:
    """Return a critic with the same hidden layers as the policy."""
    return MlpModelCfg(hidden_dims=(64, 64))


class CartpoleAgentCfg(PpoAgentCfg):
    """PPO with small networks and short rollouts, tuned for 256 worlds."""

    num_steps_per_env = 32
    max_iterations = 150
    actor = actor()
    critic = critic()
    algorithm = PpoCfg(entropy_coef=0.01)
    checkpoint = CheckpointCfg(every=25)
    evaluation = EvaluationCfg(every=50)
