"""Learner settings of the velocity tasks."""

from mjlab.rl import CheckpointCfg, GaussianCfg, MlpModelCfg, PpoAgentCfg, PpoCfg
from mjlab.tasks.robots.symmetry import (
    EquivariantModelCfg,
    G1EquivariantModelCfg,
    Go1EquivariantModelCfg,
)

HIDDEN_DIMS = (512, 256, 128)

HIDDEN_DIMS_ON_CPU = (256, 128, 64)
"""Hidden layer sizes for a CPU. The learner takes a third of the time of an iteration,
with `HIDDEN_DIMS` half of it."""

AVERAGE_DECAY = 0.98
"""Decay of the averaged policy with few worlds: a mean over about 50 iterations."""


def velocity_rl(
    *,
    max_iterations: int,
    hidden_dims: tuple[int, ...] = HIDDEN_DIMS,
    entropy_coef: float = 0.01,
    init_std: float = 1.0,
) -> PpoAgentCfg:
    """Return PPO with MLPs and observation normalisation.

    Args:
        max_iterations: Iterations of a complete training.
        hidden_dims: Hidden layer sizes of both networks.
        entropy_coef: Entropy coefficient.
        init_std: Initial standard deviation of the action noise.
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


def g1_rl() -> PpoAgentCfg:
    """Return PPO settings for the G1, with MLPs and 30,000 iterations."""
    return velocity_rl(max_iterations=30_000)


def go1_rl() -> PpoAgentCfg:
    """Return PPO settings for the Go1, with MLPs and 10,000 iterations."""
    return velocity_rl(max_iterations=10_000)


def mirrored_rl_on_cpu(
    model: type[EquivariantModelCfg],
    *,
    max_iterations: int,
    entropy_coef: float,
    init_std: float = 1.0,
    tied_actor: bool = False,
    tied_critic: bool = True,
) -> PpoAgentCfg:
    """Return PPO with mirror-equivariant networks, which learn from fewer steps.

    Args:
        model: The networks of a robot.
        max_iterations: Iterations of a complete training.
        entropy_coef: Entropy coefficient.
        init_std: Initial standard deviation of the action noise.
        tied_actor: Form of the actor; see `EquivariantModelCfg`.
        tied_critic: Form of the critic.
    """
    agent = velocity_rl(max_iterations=max_iterations, entropy_coef=entropy_coef)
    agent.actor = model(
        hidden_dims=HIDDEN_DIMS_ON_CPU,
        obs_normalization=True,
        distribution_cfg=GaussianCfg(init_std=init_std),
        tied=tied_actor,
        output_gain=0.5,
    )
    agent.critic = model(
        hidden_dims=HIDDEN_DIMS_ON_CPU,
        obs_normalization=True,
        tied=tied_critic,
    )
    agent.algorithm.desired_kl = 0.02
    agent.algorithm.gamma = 0.985
    agent.average_decay = AVERAGE_DECAY
    return agent


WORLDS_ON_CPU = 256
"""Number of worlds on a CPU; a batch has 6,144 steps. With a gait clock, little
exploration is needed to find a gait. Without a clock 512 worlds were needed, and
without equivariant networks 2,048 (docs/decisions/0027)."""


def go1_flat_rl() -> PpoAgentCfg:
    """Return PPO settings that train a Go1 to walk in 2 million steps."""
    agent = mirrored_rl_on_cpu(
        Go1EquivariantModelCfg, max_iterations=400, entropy_coef=0.005, tied_actor=True
    )
    agent.algorithm.num_learning_epochs = 4
    return agent


def g1_flat_rl() -> PpoAgentCfg:
    """Return PPO settings that train a G1 to walk in 3.7 million steps."""
    return mirrored_rl_on_cpu(
        G1EquivariantModelCfg,
        max_iterations=600,
        entropy_coef=0.001,
        tied_critic=False,
    )


def go1_rough_rl_on_cpu() -> PpoAgentCfg:
    """Return settings to train a Go1 on rough terrain, without a pretrained policy."""
    agent = go1_flat_rl()
    agent.max_iterations = 1000
    return agent


def g1_rough_rl_on_cpu() -> PpoAgentCfg:
    """Return settings to train a G1 on rough terrain, without a pretrained policy."""
    agent = g1_flat_rl()
    agent.max_iterations = 2000
    return agent
