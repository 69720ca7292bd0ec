"""Learner settings of muscle-driven walking."""

from mjlab.muscle.config import MuscleLearnerCfg
from mjlab.rl import CheckpointCfg, GaussianCfg, MlpModelCfg, PpoAgentCfg, PpoCfg
from mjlab.tasks.muscle.learning import MuscleHookCfg

WORLDS_ON_CPU = 512
"""Number of worlds on a CPU. Few worlds allow more iterations per hour. Small batches
suffice, because episodes start in mid-stride and end when a walker falls behind."""


def walk_rl(
    *, max_iterations: int = 3000, hidden_dims: tuple[int, ...] = (256, 128)
) -> PpoAgentCfg:
    """Return PPO with MLPs and observation normalisation.

    Args:
        max_iterations: Iterations of a complete training.
        hidden_dims: Hidden layer sizes of both networks.
    """
    return PpoAgentCfg(
        max_iterations=max_iterations,
        actor=MlpModelCfg(
            hidden_dims=hidden_dims,
            obs_normalization=True,
            distribution_cfg=GaussianCfg(init_std=0.35),
        ),
        critic=MlpModelCfg(hidden_dims=hidden_dims, obs_normalization=True),
        algorithm=PpoCfg(gamma=0.98, entropy_coef=0.002),
        checkpoint=CheckpointCfg(every=20),
        hooks={"muscles": MuscleHookCfg(learner=muscle_learner())},
    )


def walk_rl_on_cpu() -> PpoAgentCfg:
    """Return PPO settings for a laptop CPU, with 600 iterations."""
    return walk_rl(max_iterations=600)


def track_rl() -> PpoAgentCfg:
    """Return PPO settings for the arm, with 200 iterations."""
    return walk_rl(max_iterations=200, hidden_dims=(64, 64))


def muscle_learner() -> MuscleLearnerCfg:
    """Return settings of the muscle network's training.

    The optimal activations are computed with few solver iterations, because each update
    has new training samples.
    """
    return MuscleLearnerCfg(
        max_rows=8_192,
        batch_size=1024,
        teacher_iterations=50,
        decay_updates=150,
    )
