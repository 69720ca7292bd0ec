"""Configuration of torque laws, the muscle network and its learning."""

from __future__ import annotations

from typing import Literal

from mjlab.settings import Config

LawKind = Literal["stable_pd", "diagonal_stable_pd", "pd", "direct"]
Filter = Literal["relu_tanh", "sigmoid"]


class TorqueLawCfg(Config):
    """The law from joint targets to the torques that muscles are asked for."""

    kind: LawKind = "stable_pd"
    """A stable spring and damper with the whole inertia matrix, or with its diagonal,
    a plain one, or the targets themselves as torques."""

    stiffness: float = 300.0
    """In N m/rad; for "direct", N m for each unit of the target."""

    damping: float | None = None
    """In N m s/rad. None takes √(2 · stiffness)."""


class MuscleNetworkCfg(Config):
    """The shape of a muscle network."""

    hidden: tuple[int, ...] = (256, 256, 256)
    """Widths of the hidden layers."""

    output: Filter = "relu_tanh"
    """The way from raw outputs to activations."""

    muscle_scale: float = 200.0
    """Entries of the torque map count in units of this, in N m."""

    torque_scale: float = 200.0
    """Torques count in units of this, in N m."""

    seed: int = 0
    """Of the initial weights."""


class MuscleLearnerCfg(Config):
    """A regression of activations on wanted torques, after each iteration of PPO.

    The defaults are our preset; `original_preset` is that of the published two-level
    controllers.
    """

    effort_weight: float = 0.01
    """Weight of the mean squared activation."""

    output_weight: float = 1e-4
    """Weight of the mean squared raw output, which keeps outputs from getting stuck."""

    teacher_weight: float = 0.1
    """Weight of the mean squared distance from the optimum's activations. 0 leaves the
    optimum out."""

    teacher_iterations: int = 300
    """Iterations of the optimisation that teaches."""

    torque_scale: float = 100.0
    """Errors of torques count in units of this, in N m."""

    learning_rate: float = 1e-3
    """Of Adam, at first."""

    final_learning_rate: float = 1e-4
    """Of Adam, after `decay_updates` updates."""

    decay_updates: int = 300
    """Updates over which the learning rate falls, in a straight line."""

    max_grad_norm: float | None = 1.0
    """Largest norm of all gradients together. None does not limit it."""

    max_grad: float | None = None
    """Largest size of each gradient by itself. None does not limit it."""

    epochs: int = 4
    """Passes over the rows in an update."""

    batch_size: int = 4096
    """Rows of a minibatch; the last of an epoch may be smaller."""

    allow_small_batch: bool = True
    """Allow fewer rows together than `batch_size`."""

    max_rows: int = 65536
    """Rows used in an update; of more, as many are drawn."""

    kept_iterations: int = 4
    """Iterations whose rows the buffer keeps."""

    held_out: int = 512
    """Rows that are not learned from but measured, at most an eighth of all."""

    seed: int = 0
    """Of the order of rows."""


def original_preset() -> MuscleLearnerCfg:
    """Return the way in which the published two-level controllers learn."""
    return MuscleLearnerCfg(
        output_weight=0.01,
        teacher_weight=0.0,
        learning_rate=1e-4,
        final_learning_rate=1e-4,
        max_grad_norm=None,
        max_grad=0.5,
        batch_size=512,
        allow_small_batch=False,
        kept_iterations=1,
    )
