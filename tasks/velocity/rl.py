"""Learning of walking."""

from mjlab.rl import CheckpointCfg, GaussianCfg, MlpModelCfg, PpoAgentCfg, PpoCfg

HIDDEN_DIMS = (512, 256, 128)

HIDDEN_DIMS_ON_CPU = (256, 128, 64)
"""The learner takes a third of an iteration with these, and half with those above."""

WORLDS_ON_CPU = 2048
"""Batches of 49,152 steps. With 512 worlds the policy settles on standing still: its
exploration has gone before it finds a gait (docs/decisions.md)."""


def velocity_rl(
    *,
    max_iterations: int,
    hidden_dims: tuple[int, ...] = HIDDEN_DIMS,
    entropy_coef: float = 0.01,
) -> PpoAgentCfg:
    """Return PPO with perceptrons over normalised observations.

    Args:
        max_iterations: Iterations of a whole run.
        hidden_dims: Sizes of the layers of both networks.
        entropy_coef: What exploration is worth.
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
            entropy_coef=entropy_coef,
            learning_rate=1e-3,
            schedule="adaptive",
            desired_kl=0.01,
            max_grad_norm=1.0,
        ),
        checkpoint=CheckpointCfg(every=50),
    )


def g1_rl() -> PpoAgentCfg:
    """Return settings for the G1."""
    return velocity_rl(max_iterations=30_000)


def go1_rl() -> PpoAgentCfg:
    """Return settings for the Go1."""
    return velocity_rl(max_iterations=10_000)


def rl_on_cpu() -> PpoAgentCfg:
    """Return settings for either robot on the cores of a laptop."""
    return velocity_rl(
        max_iterations=600, hidden_dims=HIDDEN_DIMS_ON_CPU, entropy_coef=0.005
    )


ROUGH_WORLDS_ON_CPU = 256
"""Batches of 12,288 steps, to go on from what walks on flat ground."""


def rough_rl_on_cpu() -> PpoAgentCfg:
    """Return settings that teach what walks on flat ground to walk on rough ground.

    Long rollouts of few worlds, and little exploration: with `rl_on_cpu` the adaptive
    rate falls to its lower bound.
    """
    agent = rl_on_cpu()
    agent.num_steps_per_env = 48
    agent.algorithm.num_learning_epochs = 4
    agent.algorithm.desired_kl = 0.02
    agent.algorithm.entropy_coef = 0.001
    return agent
