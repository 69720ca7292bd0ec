"""Learner settings of motion tracking."""

from mjlab.rl import CheckpointCfg, GaussianCfg, MlpModelCfg, PpoAgentCfg, PpoCfg
from mjlab.tasks.tracking.symmetry import G1TrackingModelCfg

HIDDEN_DIMS = (512, 256, 128)

WORLDS_ON_CPU = 256


def tracking_rl(
    *,
    max_iterations: int = 30_000,
    hidden_dims: tuple[int, ...] = HIDDEN_DIMS,
    init_std: float = 1.0,
    entropy_coef: float = 0.005,
) -> PpoAgentCfg:
    """Return PPO with MLPs and observation normalisation.

    Args:
        max_iterations: Iterations of a complete training.
        hidden_dims: Hidden layer sizes of both networks.
        init_std: Initial standard deviation of the actions.
        entropy_coef: Entropy coefficient.
    """
    return PpoAgentCfg(
        max_iterations=max_iterations,
        actor=MlpModelCfg(
            hidden_dims=hidden_dims,
            obs_normalization=True,
            distribution_cfg=GaussianCfg(init_std=init_std),
        ),
        critic=MlpModelCfg(hidden_dims=hidden_dims, obs_normalization=True),
        algorithm=PpoCfg(entropy_coef=entropy_coef),
        checkpoint=CheckpointCfg(every=50),
    )


def tracking_rl_on_cpu() -> PpoAgentCfg:
    """Return settings for a laptop CPU: smaller networks, less exploration noise."""
    return tracking_rl(
        max_iterations=1000,
        hidden_dims=(256, 128, 64),
        init_std=0.5,
        entropy_coef=0.001,
    )


def clips_rl_on_cpu() -> PpoAgentCfg:
    """Return settings for many clips on a CPU, with equivariant networks.

    The learning rate is fixed: with the adaptive schedule its median was 5e-5, and
    learning was slow.
    """
    agent = tracking_rl_on_cpu()
    agent.max_iterations = 2000
    agent.actor = G1TrackingModelCfg(
        hidden_dims=(384, 192, 96),
        obs_normalization=True,
        distribution_cfg=GaussianCfg(init_std=0.5),
        tied=True,
        output_gain=0.1,
    )
    agent.critic = G1TrackingModelCfg(
        hidden_dims=(256, 128, 64), obs_normalization=True, tied=True
    )
    agent.algorithm.schedule = "fixed"
    agent.algorithm.learning_rate = 2e-4
    agent.average_decay = 0.98
    return agent
