"""Learning to follow clips."""

from mjlab.rl import CheckpointCfg, GaussianCfg, MlpModelCfg, PpoAgentCfg, PpoCfg

HIDDEN_DIMS = (512, 256, 128)

WORLDS_ON_CPU = 512


def tracking_rl(
    *, max_iterations: int = 30_000, hidden_dims: tuple[int, ...] = HIDDEN_DIMS
) -> PpoAgentCfg:
    """Return PPO with perceptrons over normalised observations.

    Args:
        max_iterations: Iterations of a whole run.
        hidden_dims: Sizes of the layers of both networks.
    """
    return PpoAgentCfg(
        num_steps_per_env=24,
        max_iterations=max_iterations,
        actor=MlpModelCfg(
            hidden_dims=hidden_dims,
            activation="elu",
            obs_normalization=True,
            distribution_cfg=GaussianCfg(init_std=1.0, std_type="scalar"),
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
            entropy_coef=0.005,
            learning_rate=1e-3,
            schedule="adaptive",
            desired_kl=0.01,
            max_grad_norm=1.0,
        ),
        checkpoint=CheckpointCfg(every=50),
    )


def tracking_rl_on_cpu() -> PpoAgentCfg:
    """Return settings for the cores of a laptop."""
    return tracking_rl(max_iterations=1000, hidden_dims=(256, 128, 64))
