"""Mirror symmetry of robots, for RSL-RL's data augmentation and networks.

Each term name has a mirror rule, which applies in every group; the columns follow from
the names of joints, feet and rays of the term.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar
from weakref import WeakKeyDictionary

import numpy as np
import torch

from mjlab.envs import ManagerBasedRlEnv
from mjlab.managers.term import BoundTerm
from mjlab.mdp.lookup import contact_sensor
from mjlab.names import suggest
from mjlab.rl import MlpModelCfg, SymmetryCfg
from mjlab.rl.models.mirrored_columns import MirroredColumns, SignedColumns
from mjlab.sensor import RayCastSensorCfg
from mjlab.tasks.robots.g1 import G1, MIRROR
from mjlab.tasks.robots.go1 import GO1
from mjlab.tasks.robots.go1 import MIRROR as GO1_MIRROR
from mjlab.tasks.robots.robot import Mirror, Robot

if TYPE_CHECKING:  # Their import takes seconds.
    from tensordict import TensorDict

    from mjlab.rl.vecenv import RslRlVecEnv


class SymmetryError(ValueError):
    """Error for a term without a defined mirror image."""


Rule = Callable[[ManagerBasedRlEnv, Mirror, BoundTerm], SignedColumns]


def sign_columns(*signs: float) -> SignedColumns:
    """Return columns that only change their signs."""
    return SignedColumns(list(range(len(signs))), list(signs))


def sign_rule(*signs: float) -> Rule:
    """Return a rule that only changes signs."""
    columns = sign_columns(*signs)
    return lambda env, mirror, term: columns


def _joints(env: ManagerBasedRlEnv, mirror: Mirror, term: BoundTerm) -> SignedColumns:
    return joint_columns(mirror, term.params["asset_cfg"].names("joint"))


def _actions(env: ManagerBasedRlEnv, mirror: Mirror, term: BoundTerm) -> SignedColumns:
    name = term.params.get("action_name")
    return _action_columns(env, mirror, None if name is None else (name,))


def _foot_sites(
    env: ManagerBasedRlEnv, mirror: Mirror, term: BoundTerm
) -> SignedColumns:
    sensor = term.params.get("sensor_name")
    if sensor is None:
        names = term.params["asset_cfg"].names("site")
    else:
        names = [frame.name for frame in _ray_cfg(env, sensor).frames]
    return _part_columns(mirror, names)


def _feet(env: ManagerBasedRlEnv, mirror: Mirror, term: BoundTerm) -> SignedColumns:
    sensor = contact_sensor(env, term.params["sensor_name"])
    names = [name.rpartition("/")[2] for name in sensor.primary_names]
    return _part_columns(mirror, names)


def _foot_clocks(
    env: ManagerBasedRlEnv, mirror: Mirror, term: BoundTerm
) -> SignedColumns:
    feet = _feet(env, mirror, term)
    return feet.then(feet)


def _foot_forces(
    env: ManagerBasedRlEnv, mirror: Mirror, term: BoundTerm
) -> SignedColumns:
    """Mirror world frame forces: the mirror plane is vertical, so y changes sign."""
    feet = _feet(env, mirror, term).places
    places = [3 * foot + axis for foot in feet for axis in range(3)]
    return SignedColumns(places, [1.0, -1.0, 1.0] * len(feet))


def _rays(env: ManagerBasedRlEnv, mirror: Mirror, term: BoundTerm) -> SignedColumns:
    """Map each ray to its mirror image, with y of start and direction negated."""
    cfg = _ray_cfg(env, term.params["sensor_name"])
    starts, directions = cfg.local_rays()
    rays = np.concatenate((starts, directions), axis=1)
    images = rays * np.array((1.0, -1.0, 1.0, 1.0, -1.0, 1.0))
    distances = np.abs(images[:, None] - rays[None]).max(axis=2)
    if distances.min(axis=1).max() > 1e-6:
        raise SymmetryError(f"The ray pattern of {cfg.name!r} is not symmetric.")
    return SignedColumns(distances.argmin(axis=1).tolist(), [1.0] * len(rays))


def _ray_cfg(env: ManagerBasedRlEnv, name: str) -> RayCastSensorCfg:
    cfgs = {sensor.name: sensor for sensor in env.cfg.scene.sensors}
    cfg = cfgs[name]
    assert isinstance(cfg, RayCastSensorCfg), f"{name!r} casts rays."
    return cfg


RULES: dict[str, Rule] = {
    "base_lin_vel": sign_rule(1.0, -1.0, 1.0),
    "base_ang_vel": sign_rule(-1.0, 1.0, -1.0),
    "projected_gravity": sign_rule(1.0, -1.0, 1.0),
    "joint_pos": _joints,
    "joint_vel": _joints,
    "actions": _actions,
    "command": sign_rule(1.0, -1.0, -1.0),
    "height_scan": _rays,
    "gait_clock": sign_rule(-1.0, -1.0),
    "foot_clocks": _foot_clocks,
    "base_height": sign_rule(1.0),
    "support": sign_rule(1.0),
    "punch": sign_rule(1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0, 1.0, 1.0),
    "foot_height": _foot_sites,
    "foot_air_time": _feet,
    "foot_contact": _feet,
    "foot_contact_forces": _foot_forces,
}
"""Mirror rules of observation terms, by name."""


def joint_columns(mirror: Mirror, joints: Sequence[str]) -> SignedColumns:
    """Return the mirrored columns of one value per joint."""
    return SignedColumns(mirror.permutation(joints), mirror.joint_signs(joints))


def _part_columns(mirror: Mirror, parts: list[str]) -> SignedColumns:
    return SignedColumns(mirror.permutation(parts), [1.0] * len(parts))


def _action_columns(
    env: ManagerBasedRlEnv, mirror: Mirror, names: tuple[str, ...] | None = None
) -> SignedColumns:
    manager = env.action_manager
    columns = SignedColumns([], [])
    for name in names or tuple(manager.active_terms):
        term = manager.get_term(name)
        joints = [target.name for target in term.targets]
        if len(joints) != term.action_dim or {t.kind for t in term.targets} != {
            "joint"
        }:
            raise SymmetryError(
                f"Action term {name!r} does not have one number per joint, so its "
                "mirror image is unknown."
            )
        columns = columns.then(joint_columns(mirror, joints))
    return columns


class Reflection:
    """Mirror images of an environment's observations and actions."""

    def __init__(
        self,
        env: ManagerBasedRlEnv,
        mirror: Mirror,
        rules: Mapping[str, Rule] = RULES,
    ) -> None:
        """Compute the mirrored columns of all 1D observation groups.

        Args:
            env: The environment.
            mirror: Mirror of the robot.
            rules: Mirror rules of observation terms, by name.
        """
        manager = env.observation_manager
        groups = {
            group: self._group(env, mirror, rules, group, terms)
            for group, terms in manager.active_terms.items()
            if _is_flat(manager.group_obs_dim[group])
        }
        self.columns = MirroredColumns(groups, _action_columns(env, mirror))
        """Mirrored columns of each observation group, and of the actions."""
        self._groups = {
            name: _Tensors(columns, env.device) for name, columns in groups.items()
        }
        self._actions = _Tensors(self.columns.acted, env.device)

    def observations(self, observations: "TensorDict") -> "TensorDict":
        """Return the observations of the mirrored robot."""
        from tensordict import TensorDict

        seen = {name: self.group(name, observations[name]) for name in self._groups}
        return TensorDict(dict(seen), batch_size=observations.batch_size)

    def group(self, name: str, values: torch.Tensor) -> torch.Tensor:
        """Return the mirror image of one group, shape (..., columns)."""
        if name not in self._groups:
            hint = suggest(name, list(self._groups))
            raise SymmetryError(f"The group {name!r} has no mirror image. {hint}")
        return self._groups[name].image(values)

    def actions(self, actions: torch.Tensor) -> torch.Tensor:
        """Return the actions of the mirrored robot, shape (..., actions)."""
        return self._actions.image(actions)

    @staticmethod
    def _group(
        env: ManagerBasedRlEnv,
        mirror: Mirror,
        rules: Mapping[str, Rule],
        group: str,
        terms: list[str],
    ) -> SignedColumns:
        columns = SignedColumns([], [])
        slots = env.observation_manager.groups[group].slots
        for name, slot in zip(terms, slots, strict=True):
            label = f"Observation term '{group}/{name}'"
            if name not in rules:
                hint = suggest(name, list(rules))
                raise SymmetryError(f"{label} has no mirror image. {hint}")
            term = env.observation_manager.term(f"{group}/{name}")
            found = rules[name](env, mirror, term)
            times = max(slot.history, 1)
            if slot.output_shape != (times * len(found.places),):
                raise SymmetryError(
                    f"{label} has shape {slot.output_shape}; its mirror image is only "
                    f"defined for ({times * len(found.places)},)."
                )
            for _ in range(times):
                columns = columns.then(found)
        return columns


def _is_flat(dim: tuple[int, ...] | list[tuple[int, ...]]) -> bool:
    """Return True for the shape of one vector."""
    return isinstance(dim, tuple) and len(dim) == 1


class _Tensors:
    """Mirrored column indices and signs as tensors."""

    def __init__(self, columns: SignedColumns, device: torch.device) -> None:
        self._places = torch.tensor(columns.places, device=device)
        self._signs = torch.tensor(columns.signs, device=device)

    def image(self, values: torch.Tensor) -> torch.Tensor:
        return values.index_select(-1, self._places).mul_(self._signs)


_reflections: "WeakKeyDictionary[RslRlVecEnv, Reflection]" = WeakKeyDictionary()


def _with_images(
    robot: Robot,
    env: "RslRlVecEnv",
    obs: "TensorDict | None",
    actions: torch.Tensor | None,
) -> "tuple[TensorDict | None, torch.Tensor | None]":
    """Append mirror images to observations and actions, in the format of RSL-RL."""
    if env not in _reflections:
        if robot.mirror is None:
            raise SymmetryError(f"{robot.name} defines no mirror.")
        _reflections[env] = Reflection(env.terms, robot.mirror)
    reflection = _reflections[env]
    if obs is not None:
        obs = torch.cat((obs, reflection.observations(obs)))  # type: ignore[arg-type]
    if actions is not None:
        actions = torch.cat((actions, reflection.actions(actions)))
    return obs, actions


def mirror_g1(
    env: "RslRlVecEnv", obs: "TensorDict | None", actions: torch.Tensor | None
) -> "tuple[TensorDict | None, torch.Tensor | None]":
    """Append the mirror images of a G1's observations and actions."""
    return _with_images(G1, env, obs, actions)


def mirror_go1(
    env: "RslRlVecEnv", obs: "TensorDict | None", actions: torch.Tensor | None
) -> "tuple[TensorDict | None, torch.Tensor | None]":
    """Append the mirror images of a Go1's observations and actions."""
    return _with_images(GO1, env, obs, actions)


class G1SymmetryCfg(SymmetryCfg):
    """Data augmentation with mirror images of a G1's observations and actions."""

    data_augmentation_func = mirror_g1
    """Function that appends the images."""

    use_data_augmentation = True
    """Add mirrored samples to every minibatch."""


class Go1SymmetryCfg(SymmetryCfg):
    """Data augmentation with mirror images of a Go1's observations and actions."""

    data_augmentation_func = mirror_go1
    """Function that appends the images."""

    use_data_augmentation = True
    """Add mirrored samples to every minibatch."""


class EquivariantModelCfg(MlpModelCfg):
    """MLP that is equivariant under a robot's mirror symmetry."""

    class_name = "mjlab.rl.models.equivariant:EquivariantModel"

    mirror: ClassVar[Mirror]
    """Mirror of the robot, defined by a subclass."""

    tied: bool = False
    """Use equivariant layers, in which half of the features are mirror images of the
    other half. Otherwise the output is the mean of an MLP and its mirror image, which
    takes twice the time."""

    output_gain: float | None = None
    """Gain of the last layer's initial weights, with zero biases. None keeps the
    default initialisation."""

    def bound(self, env: ManagerBasedRlEnv) -> dict[str, Any]:
        """Return the mirrored columns of the environment's observations and actions."""
        return {"columns": Reflection(env, self.mirror).columns}


class G1EquivariantModelCfg(EquivariantModelCfg):
    """MLP that is equivariant under the mirror symmetry of a G1."""

    mirror = MIRROR


class Go1EquivariantModelCfg(EquivariantModelCfg):
    """MLP that is equivariant under the mirror symmetry of a Go1."""

    mirror = GO1_MIRROR
