"""Learning of the cartpole, on two cores of a CPU in a quarter of a minute."""

from dataclasses import dataclass, field

from mjlab.rl import (
    CheckpointCfg,
    EvaluationCfg,
    GaussianCfg,
    MlpModelCfg,
    PpoAgentCfg,
)


def actor() -> MlpModelCfg:
    """Return a small policy."""
    return MlpModelCfg(hidden_dims=(64, 64), distribution_cfg=GaussianCfg())


def critic() -> MlpModelCfg:
    """Return a critic of the same size."""
    return MlpModelCfg(hidden_dims=(64, 64))


@dataclass(kw_only=True)
class CartpoleAgentCfg(PpoAgentCfg):
    """Small networks and short rollouts. Tuned for 256 worlds."""

    num_steps_per_env: int = 32
    max_iterations: int = 150
    actor: MlpModelCfg = field(default_factory=actor)
    critic: MlpModelCfg = field(default_factory=critic)
    checkpoint: CheckpointCfg = field(default_factory=lambda: CheckpointCfg(every=25))
    evaluation: EvaluationCfg = field(default_factory=lambda: EvaluationCfg(every=50))
