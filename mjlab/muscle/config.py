"""Configuration of torque laws, the muscle network and its learning."""

from __future__ import annotations

from typing import Literal

from mjlab.settings import Config

LawKind = Literal["stable_pd", "diagonal_stable_pd", "pd", "direct"]
Filter = Literal["relu_tanh", "sigmoid"]


class TorqueLawCfg(Config):
    """Law that converts joint targets to the target torques of the muscles."""

    kind: LawKind = "stable_pd"
    """Kind of law: "stable_pd" is stable PD with the full inertia matrix,
    "diagonal_stable_pd" uses only its diagonal, "pd" is PD control, and "direct" uses
    the targets as torques."""

    stiffness: float = 300.0
    """Stiffness in N m/rad; for "direct", N m per unit of the target."""

    damping: float | None = None
    """Damping in N m s/rad. None uses √(2 · stiffness)."""


class MuscleNetworkCfg(Config):
    """Architecture and input scales of the muscle network."""

    hidden: tuple[int, ...] = (256, 256, 256)
    """Widths of the hidden layers."""

    output: Filter = "relu_tanh"
    """Function from raw outputs to activations."""

    muscle_scale: float = 200.0
    """Input scale: entries of the torque map are divided by this value, in N m."""

    torque_scale: float = 200.0
    """Input scale: target torques are divided by this value, in N m."""

    seed: int = 0
    """Seed of the initial weights."""


class MuscleLearnerCfg(Config):
    """Training of the muscle network by regression, after each iteration of PPO.

    The network learns activations that produce the target torques. The defaults were
    chosen for this package; `original_preset` returns the published values.
    """

    effort_weight: float = 0.01
    """Weight of the mean squared activation."""

    output_weight: float = 1e-4
    """Weight of the mean squared raw output, which keeps outputs from saturating."""

    teacher_weight: float = 0.1
    """Weight of the mean squared difference from the optimal activations. 0 disables
    the optimisation."""

    teacher_iterations: int = 300
    """Iterations of the optimisation that computes the optimal activations."""

    torque_scale: float = 100.0
    """Torque errors in the loss are divided by this value, in N m."""

    learning_rate: float = 1e-3
    """Initial learning rate of Adam."""

    final_learning_rate: float = 1e-4
    """Learning rate of Adam after `decay_updates` updates."""

    decay_updates: int = 300
    """Updates over which the learning rate decays linearly."""

    max_grad_norm: float | None = 1.0
    """Bound of the global gradient norm. None disables the clipping."""

    max_grad: float | None = None
    """Bound of the absolute value of each gradient element. None disables the
    clipping."""

    epochs: int = 4
    """Passes over the training samples in an update."""

    batch_size: int = 4096
    """Samples per minibatch. The last minibatch of an epoch can be smaller."""

    allow_small_batch: bool = True
    """Allow updates with fewer samples in total than `batch_size`."""

    max_rows: int = 65536
    """Maximum number of samples in an update. If the buffer has more, a random subset
    is used."""

    kept_iterations: int = 4
    """Number of past iterations whose samples stay in the buffer."""

    held_out: int = 512
    """Number of held-out validation samples, at most 1/8 of all samples."""

    seed: int = 0
    """Random seed for shuffling the samples."""


def original_preset() -> MuscleLearnerCfg:
    """Return the training settings of the published two-level controllers."""
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
