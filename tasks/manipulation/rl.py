"""Learner settings of the manipulation tasks."""

from mjlab.rl import (
    CheckpointCfg,
    CnnCfg,
    DaggerCfg,
    DistillationAgentCfg,
    EvaluationCfg,
    GaussianCfg,
    MlpModelCfg,
    ObservedActionsCfg,
    PpoAgentCfg,
    PpoCfg,
    SpatialCnnModelCfg,
)
from mjlab.tasks.manipulation.sight import CAMERA

WORLDS_ON_CPU = 256
TAUGHT_WORLDS_ON_CPU = 64


def manipulation_rl(*, max_iterations: int = 3000) -> PpoAgentCfg:
    """Return PPO with MLPs and observation normalisation."""
    hidden = (256, 128, 64)
    return PpoAgentCfg(
        num_steps_per_env=32,
        max_iterations=max_iterations,
        actor=MlpModelCfg(
            hidden_dims=hidden,
            obs_normalization=True,
            distribution_cfg=GaussianCfg(),
        ),
        critic=MlpModelCfg(hidden_dims=hidden, obs_normalization=True),
        algorithm=PpoCfg(
            num_learning_epochs=8, gamma=0.97, entropy_coef=0.003, desired_kl=0.015
        ),
        checkpoint=CheckpointCfg(every=50),
        evaluation=EvaluationCfg(every=50, num_envs=64),
    )


def reach_rl() -> PpoAgentCfg:
    """Return PPO settings for reaching, with 250 iterations."""
    return manipulation_rl(max_iterations=250)


def lift_rl() -> PpoAgentCfg:
    """Return PPO settings for lifting, with 300 iterations."""
    return manipulation_rl(max_iterations=300)


def taught_rl() -> DistillationAgentCfg:
    """Return settings for imitating the script in the states visited by the policy."""
    return DistillationAgentCfg(
        num_steps_per_env=25,
        max_iterations=150,
        obs_groups={"student": ("actor",), "teacher": ("expert",)},
        student=MlpModelCfg(
            hidden_dims=(256, 128, 64),
            obs_normalization=True,
            distribution_cfg=GaussianCfg(init_std=0.1),
        ),
        teacher=ObservedActionsCfg(),
        algorithm=DaggerCfg(max_grad_norm=1.0),
        checkpoint=CheckpointCfg(every=20),
        evaluation=EvaluationCfg(every=40, num_envs=32),
    )


def seeing_student() -> SpatialCnnModelCfg:
    """Return a spatial-softmax CNN for small images.

    The outputs of the convolutions are small at first, so the softmax needs a low
    temperature: with a temperature of 1, it stays nearly uniform for hundreds of
    updates.
    """
    return SpatialCnnModelCfg(
        hidden_dims=(256, 128, 64),
        obs_normalization=True,
        distribution_cfg=GaussianCfg(init_std=0.1),
        temperature=0.03,
        cnn_cfg=CnnCfg(
            output_channels=(8, 8, 8),
            kernel_size=(5, 3, 3),
            stride=(2, 1, 1),
            padding="zeros",
        ),
    )


def reach_depth_rl() -> DistillationAgentCfg:
    """Return settings for imitating Reach-Yam's policy, which observes the goal."""
    return DistillationAgentCfg(
        num_steps_per_env=25,
        max_iterations=60,
        obs_groups={"student": ("actor", CAMERA), "teacher": ("critic",)},
        student=seeing_student(),
        teacher=manipulation_rl().actor,
        teacher_checkpoint="Reach-Yam",
        algorithm=DaggerCfg(
            max_grad_norm=1.0,
            learning_rate=1.5e-3,
            batch_size=256,
            num_updates_per_iteration=60,
            teacher_share=0.25,
            capacity=200_000,
        ),
        checkpoint=CheckpointCfg(every=20),
        evaluation=EvaluationCfg(every=20, num_envs=50),
    )


def lift_seeing_rl() -> DistillationAgentCfg:
    """Return settings for imitating the script from images of the wrist camera."""
    settings = taught_rl()
    settings.max_iterations = 400
    settings.obs_groups = {"student": ("actor", CAMERA), "teacher": ("expert",)}
    settings.student = seeing_student()
    settings.algorithm = DaggerCfg(
        max_grad_norm=1.0,
        batch_size=256,
        num_updates_per_iteration=100,
        half_life=250_000,
    )
    return settings
