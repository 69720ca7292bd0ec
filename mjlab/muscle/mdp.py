"""MDP terms of tasks with muscles; event terms are in `events.py`.

Each term takes the name of the muscle action. Observations use the current state;
rewards and metrics use the last physics step.
"""

from __future__ import annotations

import torch

from mjlab.managers import ManagerTermBase, TermCfg
from mjlab.managers.managed_env import ManagedEnv
from mjlab.muscle.action import MuscleAction

# Imported under a private name, because it is not a term.
from mjlab.muscle.action import muscle_action as _muscles
from mjlab.muscle.events import muscle_contracture as muscle_contracture
from mjlab.muscle.events import muscle_fatigue as muscle_fatigue
from mjlab.muscle.events import muscle_strength as muscle_strength

# Observations.


def muscle_torque_capacity(
    env: ManagedEnv, scale: float = 0.008, action_name: str = "muscles"
) -> torch.Tensor:
    """Torque capacity of each joint's muscles, shape (num_envs, 3 · joints).

    Concatenates 0.5 times the lowest active torque, 0.5 times the highest active torque
    and the passive torque of each joint, in N m times `scale`.
    """
    return _muscles(env, action_name).present().joint_capacity() * scale


def muscle_length(env: ManagedEnv, action_name: str = "muscles") -> torch.Tensor:
    """Muscle-tendon lengths, m, shape (num_envs, muscles)."""
    return _muscles(env, action_name).present().length


def muscle_velocity(env: ManagedEnv, action_name: str = "muscles") -> torch.Tensor:
    """Muscle-tendon velocities, m/s, shape (num_envs, muscles)."""
    return _muscles(env, action_name).present().velocity


def muscle_activation(env: ManagedEnv, action_name: str = "muscles") -> torch.Tensor:
    """Muscle activations, shape (num_envs, muscles)."""
    return _muscles(env, action_name).act()


def muscle_force(env: ManagedEnv, action_name: str = "muscles") -> torch.Tensor:
    """Muscle forces, N, at most 0, shape (num_envs, muscles)."""
    term = _muscles(env, action_name)
    return term.present().force(term.act())


# Rewards, with the sign of a cost.


class muscle_effort(ManagerTermBase):
    """Mean activation of the muscles, optionally squared or weighted by muscle mass.

    The mass of a muscle is proportional to its peak force times its optimal length.
    """

    def __init__(self, cfg: TermCfg, env: ManagedEnv) -> None:
        super().__init__(cfg, env)
        self._term = _muscles(env, cfg.params.get("action_name", "muscles"))
        mass = _muscle_mass(self._term)
        self._shares = mass / mass.sum()
        self._alike = torch.full_like(self._shares, 1.0 / self._shares.shape[0])

    def __call__(
        self,
        env: ManagedEnv,
        squared: bool = True,
        by_mass: bool = False,
        action_name: str = "muscles",
    ) -> torch.Tensor:
        """Return the effort, 0 to 1, shape (num_envs,)."""
        activation = self._term.act()
        effort = activation.square() if squared else activation
        return (effort * (self._shares if by_mass else self._alike)).sum(dim=1)


def _muscle_mass(term: MuscleAction) -> torch.Tensor:
    """Return peak force times optimal length of each muscle, in N m, (muscles,).

    Values of the compiled model: muscle weakness does not change the mass.
    """
    model = term.sim_model
    ids = list(term.map.actuator_ids)
    ranges, prm = model.actuator_lengthrange[ids], model.actuator_gainprm[ids]
    length = (ranges[:, 1] - ranges[:, 0]) / (prm[:, 1] - prm[:, 0])
    scaled = prm[:, 3] / model.actuator_acc0[ids]
    force = [s if f < 0.0 else f for f, s in zip(prm[:, 2], scaled, strict=True)]
    mass = torch.tensor(force, dtype=torch.float64) * torch.from_numpy(length)
    return mass.float().to(term.device)


def torque_residual(env: ManagedEnv, action_name: str = "muscles") -> torch.Tensor:
    """RMS difference between target and muscle torques, N m, shape (num_envs,)."""
    term = _muscles(env, action_name)
    miss = term.made_torque() - term.wanted_torque
    return miss.square().mean(dim=1).sqrt()


# Metrics.


def full_share(
    env: ManagedEnv, threshold: float = 0.99, action_name: str = "muscles"
) -> torch.Tensor:
    """Fraction of muscles with activation above `threshold`, shape (num_envs,)."""
    activation = _muscles(env, action_name).activation
    return (activation > threshold).float().mean(dim=1)


def idle_share(env: ManagedEnv, action_name: str = "muscles") -> torch.Tensor:
    """Fraction of muscles with activation 0, shape (num_envs,)."""
    return (_muscles(env, action_name).activation == 0.0).float().mean(dim=1)


def optimality_gap(
    env: ManagedEnv, iterations: int = 100, action_name: str = "muscles"
) -> torch.Tensor:
    """Objective of the activations minus its minimum, shape (num_envs,).

    See `BoxQp` for the objective. Finding the minimum takes `iterations` solver steps,
    which makes this metric expensive.
    """
    term = _muscles(env, action_name)
    red, torque = term.muscles.red, term.wanted_torque
    best = term.qp.solve(red, torque, start=term.activation, iterations=iterations)
    own = term.qp.objective(red, torque, term.activation)
    return own - term.qp.objective(red, torque, best)
