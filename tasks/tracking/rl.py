"""Learner settings of motion tracking."""

from mjlab.rl import CheckpointCfg, GaussianCfg, MlpModelCfg, PpoAgentCfg, PpoCfg

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
        num_steps_per_env=24,
        max_iterations=max_iterations,
        actor=MlpModelCfg(
            hidden_dims=hidden_dims,
            activation="elu",
            obs_normalization=True,
            distribution_cfg=GaussianCfg(init_std=init_std, std_type="scalar"),
        ),
        critic=MlpModelCfg(
            hidden_dims=hidden_dims, activation="elu", obs_normalization=True
        ),
        algorithm=PpoCfg(
            num_learning_epochs=5,
            num_mini_batches=4,
            clip_param=0.2,
            gamma=0.99,
            lam=0.95,
            value_loss_coef=1.0,
            entropy_coef=entropy_coef,
            learning_rate=1e-3,
            schedule="adaptive",
            desired_kl=0.01,
            max_grad_norm=1.0,
        ),
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
