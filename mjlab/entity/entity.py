"""An entity at run time: what it is made of, how it is, and how to change that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import mujoco
import torch

from mjlab.actuator import ActuatorBinding, ActuatorCfg, ActuatorSet
from mjlab.entity.build import read_actuators
from mjlab.entity.config import EntityCfg
from mjlab.entity.data import EntityData
from mjlab.entity.defaults import Defaults
from mjlab.entity.index import EntityIndex
from mjlab.entity.root import bind_root
from mjlab.entity.write import EntityWriter
from mjlab.names import find_name
from mjlab.random.rng import WorldRng
from mjlab.sim import Simulation
from mjlab.tensors.masks import write_where

Found = tuple[list[int], list[str]]
"""Local indices, and the names they belong to."""


class Entity(EntityWriter):
    """A robot or an object in every world of a simulation.

    Its methods may run inside a captured graph, except those that look up names.
    """

    def __init__(
        self, name: str, cfg: EntityCfg, sim: Simulation, rng: WorldRng
    ) -> None:
        """Bind an entity to the simulation of its scene.

        Args:
            name: Its name: its elements are called "<name>/<element>" in the model.
            cfg: What its spec was built from.
            sim: The simulation.
            rng: Random numbers, for the delays of actuators.
        """
        _check_built(name, sim.mj_model)
        index = EntityIndex(name, sim.mj_model, sim.device)
        factor = cfg.articulation.soft_joint_pos_limit_factor
        if not 0.0 < factor <= 1.0:
            raise ValueError(
                f"soft_joint_pos_limit_factor={factor} of the entity {name!r} has to "
                "be above 0 and at most 1."
            )
        root = bind_root(sim, index)
        defaults = Defaults(sim, index, factor)
        data = EntityData(sim, index, root, defaults)
        super().__init__(sim, index, root, defaults, data)
        self.name = name
        self.cfg = cfg
        self.actuators = ActuatorSet(_bindings(cfg, sim, index), sim, rng)
        """The actuators of `cfg.articulation`."""
        everyone = torch.ones(sim.num_envs, dtype=torch.bool, device=sim.device)
        self.reset(everyone)

    @property
    def is_fixed_base(self) -> bool:
        """Whether the root has a pose but no velocity."""
        return self.index.free_joint_id is None

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the hinge and slide joints, in the order of the model."""
        return self.index.joints.names

    @property
    def num_joints(self) -> int:
        """Number of hinge and slide joints."""
        return len(self.index.joints)

    @property
    def body_names(self) -> tuple[str, ...]:
        """Names of the bodies, in the order of the model."""
        return self.index.bodies.names

    @property
    def num_bodies(self) -> int:
        """Number of bodies."""
        return len(self.index.bodies)

    # The step.

    def apply(self) -> None:
        """Have the actuators write the controls that follow from their targets."""
        self.actuators.apply(self.data.targets)
        self.data.invalidate()

    def update(self, dt: float) -> None:
        """Take notice that the simulation has advanced by `dt` seconds."""
        self.data.invalidate()

    def refresh(self) -> None:
        """Take notice that `sim.forward()`, or anything else, changed quantities."""
        self.data.invalidate()

    def reset(self, mask: torch.Tensor) -> None:
        """Set the targets to the default pose and clear the actuators' memory.

        It does not touch the state of the physics; `reset_to_default` does.

        Args:
            mask: The worlds, shape (num_envs,), bool.
        """
        for field, target in vars(self.data.targets).items():
            pose = self.data.default_joint_pos if field == "joint_pos" else 0.0
            if target.shape[1]:
                write_where(target, mask, pose)
        self.actuators.reset(mask)
        self.data.invalidate()

    def refresh_defaults(self, mask: torch.Tensor) -> None:
        """Derive limits and default positions anew from the model.

        Whoever randomises `jnt_range` or `qpos0` calls this afterwards: the event
        manager does, for the events that say they vary one of them.

        Args:
            mask: The worlds, shape (num_envs,), bool.
        """
        self._defaults.refresh(mask)
        # A reset had set the targets to the default pose of before.
        count = len(self.index.joints)
        target = self.data.targets.joint_pos[:, :count]
        write_where(target, mask, self.data.default_joint_pos)
        self.data.invalidate()

    def assign_defaults(
        self, mask: torch.Tensor, rows: Mapping[str, torch.Tensor]
    ) -> None:
        """Take over another model's initial state and limits.

        Args:
            mask: The worlds, shape (num_envs,), bool.
            rows: What `default_rows` names, with a row for each world.
        """
        self._defaults.assign(mask, rows)
        self.reset(mask)

    mirrored_fields = frozenset({"jnt_range", "qpos0"})
    """Model fields whose randomisation calls for `refresh_defaults`."""

    def state(self) -> dict[str, torch.Tensor]:
        """Return the live tensors that change; copy into them to restore a snapshot.

        Then call `refresh()`.
        """
        parts = {
            "default": self._defaults.tensors(),
            "target": vars(self.data.targets),
            "actuator": self.actuators.state(),
            "encoder": {"bias": self.data.encoder_bias},
        }
        return {
            f"{part}.{name}": value
            for part, tensors in parts.items()
            for name, value in tensors.items()
        }

    # Looking up names. Each returns local indices and names, and raises an error with
    # the nearest names for a pattern that matches nothing. Kinds that are not here are
    # found through the index: `entity.index.cameras.find(...)`.

    def find_bodies(
        self, patterns: str | Sequence[str], *, preserve_order: bool = False
    ) -> Found:
        """Find bodies."""
        return self.index.bodies.find(patterns, preserve_order=preserve_order)

    def find_joints(
        self, patterns: str | Sequence[str], *, preserve_order: bool = False
    ) -> Found:
        """Find hinge and slide joints."""
        return self.index.joints.find(patterns, preserve_order=preserve_order)

    def find_balls(
        self, patterns: str | Sequence[str], *, preserve_order: bool = False
    ) -> Found:
        """Find ball joints."""
        return self.index.balls.find(patterns, preserve_order=preserve_order)

    def find_geoms(
        self, patterns: str | Sequence[str], *, preserve_order: bool = False
    ) -> Found:
        """Find geoms."""
        return self.index.geoms.find(patterns, preserve_order=preserve_order)

    def find_sites(
        self, patterns: str | Sequence[str], *, preserve_order: bool = False
    ) -> Found:
        """Find sites."""
        return self.index.sites.find(patterns, preserve_order=preserve_order)

    def find_tendons(
        self, patterns: str | Sequence[str], *, preserve_order: bool = False
    ) -> Found:
        """Find tendons."""
        return self.index.tendons.find(patterns, preserve_order=preserve_order)

    def find_actuators(
        self, patterns: str | Sequence[str], *, preserve_order: bool = False
    ) -> Found:
        """Find MuJoCo actuators."""
        return self.index.actuators.find(patterns, preserve_order=preserve_order)

    def find_sensors(
        self, patterns: str | Sequence[str], *, preserve_order: bool = False
    ) -> Found:
        """Find MuJoCo sensors."""
        return self.index.sensors.find(patterns, preserve_order=preserve_order)


def _check_built(name: str, model: mujoco.MjModel) -> None:
    """Raise unless the model has an entity of this name."""
    bodies = [model.body(i).name for i in range(model.nbody)]
    geoms = [model.geom(i).name for i in range(model.ngeom)]
    owners = dict.fromkeys(n.split("/")[0] for n in bodies + geoms if "/" in n)
    find_name(name, list(owners), what="entity")


def _bindings(
    cfg: EntityCfg, sim: Simulation, index: EntityIndex
) -> list[ActuatorBinding]:
    made = read_actuators(sim.mj_model, index.name)
    cfgs = cfg.articulation.actuators
    if len(made) != len(cfgs):
        raise ValueError(
            f"The model was built with {len(made)} actuator configurations for the "
            f"entity {index.name!r}, but it is bound with {len(cfgs)}."
        )
    return [
        _binding(actuator_cfg, targets, names, sim, index)
        for actuator_cfg, (targets, names) in zip(cfgs, made, strict=True)
    ]


def _binding(
    cfg: ActuatorCfg,
    targets: list[str],
    actuators: list[str],
    sim: Simulation,
    index: EntityIndex,
) -> ActuatorBinding:
    model, name = sim.mj_model, index.name
    candidates = {
        "joint": index.joints.names,
        "tendon": index.tendons.names,
        "site": index.sites.names,
    }[cfg.transmission]
    joints = targets if cfg.transmission == "joint" else []
    joint_ids = [model.joint(f"{name}/{joint}").id for joint in joints]
    ids = [model.actuator(f"{name}/{actuator}").id for actuator in actuators]

    def on_device(values: Sequence[int]) -> torch.Tensor:
        listed = [int(value) for value in values]
        return torch.tensor(listed, dtype=torch.int64, device=sim.device)

    return ActuatorBinding(
        cfg=cfg,
        target_names=tuple(targets),
        target_ids=on_device([candidates.index(target) for target in targets]),
        actuator_ids=on_device(ids),
        ctrl_adr=on_device(model.actuator_ctrladr[ids]),
        qpos_adr=on_device(model.jnt_qposadr[joint_ids]),
        qvel_adr=on_device(model.jnt_dofadr[joint_ids]),
    )
