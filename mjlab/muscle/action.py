"""Action term from joint targets to muscle excitations, at the physics rate."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Literal

import mujoco
import torch

from mjlab.managers.action import ActionTarget, ActionTerm, ActionTermCfg
from mjlab.managers.env import Env
from mjlab.muscle.buffer import MuscleTupleBuffer, SharedMuscles, TupleLayout
from mjlab.muscle.config import MuscleNetworkCfg, TorqueLawCfg
from mjlab.muscle.coordinator import (
    BoxQp,
    CascadeCoordinator,
    Coordinator,
    NetworkCoordinator,
    QpCoordinator,
    RefinedCoordinator,
)
from mjlab.muscle.force import direct_excitation, inverse_excitation
from mjlab.muscle.law import clip_to_capacity, make_law
from mjlab.muscle.map import MuscleMap, MuscleMapError
from mjlab.muscle.network import MuscleCascade, MuscleNetwork
from mjlab.muscle.state import MuscleState
from mjlab.muscle.store import check_weights
from mjlab.names import resolve_values, suggest
from mjlab.sim.engine import Engine

CoordinatorKind = Literal["network", "qp", "refined"]
ExcitationKind = Literal["direct", "inverse"]
_ITERATIONS: dict[CoordinatorKind, int] = {"network": 0, "qp": 50, "refined": 10}


class MuscleActionCfg(ActionTermCfg):
    """Action term: joint targets that the muscles of an entity track.

    In each physics step a torque law turns targets into torques, and a coordinator
    (network or optimisation) turns the torques into activations.
    """

    joint_names: str | tuple[str, ...] | None = None
    """Patterns of the controlled joints. None selects all joints that a muscle
    crosses."""

    ignore: tuple[str, ...] = ()
    """Patterns of joints to leave uncontrolled, such as joints that an equality
    constraint couples."""

    scale: float | dict[str, float] = 1.0
    """Factor that multiplies the action, or factors by joint pattern (default 1)."""

    use_default_offset: bool = True
    """Add the default joint positions. No effect if `reference` is set."""

    reference: Callable[[Env], torch.Tensor] | None = None
    """Function that returns reference joint positions, shape (num_envs, joints), in the
    order of the model. The scaled action is added to them."""

    law: TorqueLawCfg = TorqueLawCfg()
    """Torque law, from targets to torques."""

    clip_torque: bool = True
    """Clip the torque targets to the capacity of each joint's muscles."""

    coordinator: CoordinatorKind = "network"
    """Coordinator that computes activations: "network" is the muscle network, "qp" the
    optimisation, "refined" the network followed by a few optimisation steps."""

    iterations: int | None = None
    """Steps of the optimisation. None uses 50 for "qp" and 10 for "refined"."""

    network: MuscleNetworkCfg = MuscleNetworkCfg()
    """Architecture of the muscle network."""

    cascade: tuple[tuple[int, ...], ...] = ()
    """Cascade of networks: for each network, the earlier networks whose outputs it
    corrects, as in ((), (0,)) for two networks. Only the last network is trained. () is
    a single network."""

    cascade_weights: Callable[[Env], torch.Tensor] | None = None
    """Function that returns the weight of each network of the cascade, shape (num_envs,
    networks), evaluated in each environment step. None leaves the weights at 1, or as
    written to `MuscleAction.cascade.weights`."""

    excitation: ExcitationKind = "direct"
    """Control of the muscles: "direct" is the target activation, "inverse" the
    excitation with which MuJoCo's muscle reaches it in one physics step."""

    kept_steps: int = 96
    """Number of environment steps in the learner's buffer, which stores one training
    sample (row) per world and step."""

    block: int = 64
    """Batch size of the network on a CPU, in worlds."""

    def bind(self, name: str, env: Env) -> ActionTerm:
        return MuscleAction(name, self, env)


class SubstepFields:
    """Access to `sim.data` within a physics step, after the velocity stage is computed.

    Fields of later stages, such as constraint forces, have the values of the previous
    physics step. Torque laws need these values, but `sim.data` raises for stale fields.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._held: torch.Tensor | None = None
        self._constraint = torch.empty_like(engine.data("qfrc_constraint"))

    def begin(self) -> None:
        """Copy the constraint forces of the last step, for use in the first substep.

        After a restored snapshot these forces are in the tensor `qfrc_constraint` but
        not in the engine's own state, which recomputes them in every substep.
        """
        self._constraint.copy_(self._engine.data("qfrc_constraint"))
        self._held = self._constraint

    def move_on(self) -> None:
        """Discard the copy of the constraint forces, and read the engine's instead."""
        self._held = None

    @property
    def qfrc_constraint(self) -> torch.Tensor:
        """Constraint forces of the previous substep, shape (num_envs, nv)."""
        held = self._held
        return self._engine.data("qfrc_constraint") if held is None else held

    def __getattr__(self, name: str) -> torch.Tensor:
        return self._engine.data(name)


class MuscleAction(ActionTerm):
    """Action term that drives muscles towards joint targets and records training rows.

    A learner uses `rows`, `network_state` and `load_network`.
    """

    def __init__(self, name: str, cfg: MuscleActionCfg, env: Env) -> None:
        super().__init__(name, cfg, env)
        self.cfg: MuscleActionCfg = cfg
        model, device = env.sim.mj_model, env.device
        self.entity = env.scene.entity(cfg.entity_name)
        """Entity with the muscles."""
        self.map = _map_of(cfg, model)
        """Muscles and the joints that they cross."""
        self.muscles = MuscleState(self.map, env.num_envs, device)
        """Torque map, passive torques, lengths and gains of the muscles, live."""
        self.network = make_network(cfg, self.map).to(device)
        """Network or cascade in use. Its weights change in place."""
        self.version = 0
        """Version of the network weights: the number passed to the last `load_network`
        call, 0 initially."""
        self.qp = BoxQp(self.muscles.torque_map)
        """Optimisation of the activations; also the baseline for the network."""
        self.law = make_law(cfg.law, model, self.map, device)
        """Torque law, from targets to torques."""
        self._activations = _activations(self.map, model.actuator_actadr, device)
        _check_excitation(cfg.excitation, has_dynamics=self._activations is not None)
        self._follows = self._activations is not None and cfg.excitation == "direct"
        self.buffer = MuscleTupleBuffer(
            TupleLayout.for_map(
                self.map,
                is_cascaded=bool(cfg.cascade),
                has_activation=self._follows,
            ),
            env.num_envs,
            cfg.kept_steps,
            round(env.step_dt / env.physics_dt),
            device,
        )
        """Training rows of the muscle network."""
        self.shared = SharedMuscles(self.network, self.buffer)
        """Memory shared with the learner, used if the worlds run in other processes."""
        joints = [n.removeprefix(f"{cfg.entity_name}/") for n in self.map.joint_names]
        self.joint_names = tuple(joints)
        """Names of the controlled joints, in the order of the action."""
        self._joints = torch.tensor(self.entity.find_joints(joints)[0], device=device)
        scale = resolve_values(cfg.scale, joints, what="joint", owner=cfg.entity_name)
        self.scale = torch.tensor(
            [1.0 if value is None else float(value) for value in scale], device=device
        )
        """Factor of each action dimension, shape (action_dim,)."""
        self._sim: Any = env.sim
        self.fields: Any = SubstepFields(env.sim.engine)
        """Fields of MuJoCo's data in the current physics step."""
        self.watches: list[Callable[[torch.Tensor], None]] = []
        """Functions called in each physics step with the excitations, shape (num_envs,
        muscles), before physics uses the excitations."""
        self._actuators = torch.tensor(self.map.actuator_ids, device=device)
        self._left, self._is_past = 0, True
        env.scene.caches.append(self.invalidate)

        def zeros(count: int) -> torch.Tensor:
            return torch.zeros(env.num_envs, count, device=device)

        self.target = zeros(self.map.num_dofs)
        """Joint targets in this step, shape (num_envs, joints), live."""
        self.wanted_torque = zeros(self.map.num_dofs)
        """Target torques of the muscles in the last physics step, without passive
        torques, in N m, shape (num_envs, joints), live."""
        self.activation = zeros(self.map.num_muscles)
        """Activations computed by the coordinator in the last physics step, shape
        (num_envs, muscles), live."""
        self.cascade: CascadeCoordinator | None = None
        """Cascade in use, with the weights of its networks; None without a cascade."""
        self.coordinator = self._make_coordinator()
        """Coordinator, from torques to activations."""

    @property
    def action_dim(self) -> int:
        """Number of action dimensions: one per controlled joint."""
        return self.map.num_dofs

    @property
    def targets(self) -> tuple[ActionTarget, ...]:
        """Controlled quantities: position of each joint, and effort of each muscle."""
        entity = self.entity.name
        muscles = [m.removeprefix(f"{entity}/") for m in self.map.muscle_names]
        return (
            *(ActionTarget(entity, "joint", j, "joint_pos") for j in self.joint_names),
            *(ActionTarget(entity, "tendon", m, "tendon_effort") for m in muscles),
        )

    @property
    def sim_model(self) -> mujoco.MjModel:
        """Compiled model, the same for all worlds."""
        return self._env.sim.mj_model

    def dynamics(self, device: torch.device) -> dict[str, Any]:
        """Return `dynprm` and `timestep` for the learner, if muscles have dynamics."""
        prm = self.sim_model.actuator_dynprm[list(self.map.actuator_ids)]
        dynprm = torch.from_numpy(prm).float().to(device)
        known = {"dynprm": dynprm, "timestep": self._env.physics_dt}
        return known if self._follows else {}

    # Interface of the learner.

    def rows(self) -> torch.Tensor:
        """Return the rows of the last steps, shape (n, width), as `buffer.rows`."""
        return self.buffer.rows()

    def network_state(self) -> dict[str, torch.Tensor]:
        """Return copies of the network weights and input scales in use."""
        return {k: v.detach().clone() for k, v in self.network.state_dict().items()}

    def load_network(self, state: dict[str, torch.Tensor], version: int) -> None:
        """Load new network weights, in place.

        Args:
            state: State dict of a network of the same shape, on any device.
            version: Version number, which the learner increments for new weights.
        """
        own = self.network.state_dict()
        check_weights(state, {name: tensor.shape for name, tensor in own.items()})
        for name, tensor in own.items():
            tensor.copy_(state[name])
        self.version = version
        self.shared.publish(state)

    # A step.

    def process_actions(self, actions: torch.Tensor) -> None:
        """Set the joint targets, and draw the physics step to record in each world."""
        self.aim(actions)
        self.muscles.set_constants(self._sim.model)
        self.buffer.begin(self._env.rng.draw(f"action/{self.name}/substep", ()))
        if self.cascade is not None and self.cfg.cascade_weights is not None:
            self.cascade.weights.copy_(self.cfg.cascade_weights(self._env))
        self.fields.begin()
        self._left = self.buffer.num_substeps

    def aim(self, actions: torch.Tensor) -> None:
        """Set the joint targets of an environment step from the actions."""
        torch.addcmul(self._offset(), actions, self.scale, out=self.target)

    def apply_late(self) -> None:
        """Write the excitations of this physics step, and record a training row."""
        excitation = self.excite()
        red = self.muscles.red
        more = {"activation": self._mujoco_act()} if self._follows else {}
        if self.cascade is not None:
            more["previous"] = self.cascade.previous
            more["weight"] = self.cascade.weights[:, -1:]
        self.buffer.record(red=red, torque=self.wanted_torque, **more)
        self._sim.data.ctrl.index_copy_(1, self._actuators, excitation)
        for watch in self.watches:
            watch(excitation)
        self.fields.move_on()
        self._left -= 1
        if self._left == 0:
            self.buffer.end()

    def excite(self) -> torch.Tensor:
        """Compute the muscles' excitations, shape (num_envs, muscles).

        Reads the joint targets and `fields`.
        """
        self.muscles.update(self.fields)
        self._is_past = True
        torque = self.law.compute(self.fields, self.target)
        torque = torque - self.muscles.passive_torque
        if self.cfg.clip_torque:
            torque = clip_to_capacity(torque, self.muscles.capacity())
        self.wanted_torque.copy_(torque)
        red = self.muscles.red
        self.activation.copy_(self.coordinator.act(red, self.wanted_torque))
        if self.cfg.excitation == "direct":
            return direct_excitation(self.activation)
        return inverse_excitation(
            self.activation,
            self._mujoco_act(),
            self._sim.model.actuator_dynprm.index_select(1, self._actuators),
            self._env.physics_dt,
        )

    def present(self) -> MuscleState:
        """Return the muscle state after the last `forward()`."""
        if self._is_past:
            self.muscles.set_constants(self._sim.model)
            self.muscles.update(self._sim.data)
            self._is_past = False
        return self.muscles

    def made_torque(self) -> torch.Tensor:
        """Return the active muscle torques of the last physics step.

        In N m, shape (num_envs, joints).
        """
        return self.muscles.torque_map.torque(self.muscles.red, self.activation)

    def act(self) -> torch.Tensor:
        """Return activations, shape (num_envs, muscles).

        With activation dynamics, this is MuJoCo's `act`; otherwise, the coordinator's
        output in the last physics step.
        """
        return self.activation if self._activations is None else self._mujoco_act()

    def reset(self, mask: torch.Tensor) -> None:
        """Reset targets, activations and coordinator in the worlds in `mask`."""
        for tensor in (self.target, self.wanted_torque, self.activation):
            tensor.masked_fill_(mask.unsqueeze(1), 0.0)
        self.coordinator.reset(mask)
        self.invalidate()

    def invalidate(self) -> None:
        """Mark the muscle state as stale."""
        self._is_past = True

    def state(self) -> dict[str, torch.Tensor]:
        rows = self.buffer.state_dict()
        cascade = {} if self.cascade is None else {"weights": self.cascade.weights}
        return {
            **cascade,
            "target": self.target,
            "wanted_torque": self.wanted_torque,
            "activation": self.activation,
            "rows.row": rows["row"],
            "rows.ring": rows["ring"].transpose(0, 1),
            "shared.step": rows["step"],
        }

    # Helpers.

    def _offset(self) -> torch.Tensor:
        if self.cfg.reference is not None:
            return self.cfg.reference(self._env)
        if not self.cfg.use_default_offset:
            return torch.zeros_like(self.target)
        return self.entity.data.default_joint_pos.index_select(1, self._joints)

    def _mujoco_act(self) -> torch.Tensor:
        """Return a copy of MuJoCo's `act` for the muscles, which have dynamics."""
        assert self._activations is not None
        return self._env.sim.data.act.index_select(1, self._activations)

    def _make_coordinator(self) -> Coordinator:
        cfg, num_envs = self.cfg, self._env.num_envs
        if cfg.coordinator not in _ITERATIONS:
            hint = suggest(cfg.coordinator, list(_ITERATIONS))
            raise ValueError(f"coordinator is {cfg.coordinator!r}. {hint}")
        iterations = cfg.iterations or _ITERATIONS[cfg.coordinator]
        if cfg.coordinator == "qp":
            return QpCoordinator(self.qp, self.activation, iterations)
        if isinstance(self.network, MuscleCascade):
            network = CascadeCoordinator(self.network, num_envs, block=cfg.block)
            self.cascade = network
        else:
            network = NetworkCoordinator(self.network, num_envs, block=cfg.block)
        if cfg.coordinator == "refined":
            return RefinedCoordinator(network, self.qp, iterations)
        return network


def muscle_action(env: Env, name: str = "muscles") -> MuscleAction:
    """Return the muscle action `name`, for terms that read it."""
    term = env.action_manager.term(name)
    if not isinstance(term, MuscleAction):
        kind = type(term).__name__
        raise ValueError(
            f"Action {name!r} is a {kind}, not a MuscleAction. Pass the name of a "
            "MuscleActionCfg term."
        )
    return term


def make_network(
    cfg: MuscleActionCfg, muscle_map: MuscleMap
) -> MuscleNetwork | MuscleCascade:
    """Build the muscle network, or cascade of networks, with random initial weights."""
    options = vars(cfg.network)
    if not cfg.cascade:
        return MuscleNetwork.for_map(muscle_map, **options)
    if cfg.coordinator == "qp" or len(cfg.cascade) == 1:
        raise ValueError(
            f"cascade is {cfg.cascade}, with coordinator={cfg.coordinator!r}. A "
            "cascade has two or more networks, such as ((), (0,)), and the coordinator "
            "'network' or 'refined'. Use cascade=() for a single network."
        )
    networks = [
        MuscleNetwork.for_map(
            muscle_map, **options | {"seed": cfg.network.seed + j}, is_cascaded=j > 0
        )
        for j in range(len(cfg.cascade))
    ]
    return MuscleCascade(networks, cfg.cascade)


def _map_of(cfg: MuscleActionCfg, model: mujoco.MjModel) -> MuscleMap:
    """Build the map of the entity's muscles and the joints that they cross."""
    prefix = re.escape(f"{cfg.entity_name}/")
    return MuscleMap.from_model(
        model,
        _prefixed(prefix, cfg.joint_names),
        muscles=f"{prefix}.*",
        ignore=_prefixed(prefix, cfg.ignore) or (),
    )


def _check_excitation(excitation: ExcitationKind, *, has_dynamics: bool) -> None:
    if excitation == "inverse" and not has_dynamics:
        raise MuscleMapError(
            "excitation is 'inverse', but the muscles have no dynamics to invert: "
            "their dyntype is 'none'. Use 'direct'."
        )


def _prefixed(prefix: str, patterns: Any) -> tuple[str, ...] | None:
    if patterns is None:
        return None
    listed = (patterns,) if isinstance(patterns, str) else patterns
    return tuple(prefix + (f"(?:{p})" if "|" in p else p) for p in listed)


def _activations(
    muscle_map: MuscleMap, addresses: Any, device: torch.device
) -> torch.Tensor | None:
    """Return the indices of activations in `act`; None without activation dynamics."""
    places = [int(addresses[i]) for i in muscle_map.actuator_ids]
    if min(places) < 0:
        return None
    return torch.tensor(places, device=device)
