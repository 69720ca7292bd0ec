"""Randomisations of one field that are more than numbers on their own."""

from typing import Any, ClassVar

import mujoco
import torch

from mjlab.managers.managed_env import ManagedEnv
from mjlab.managers.term import ManagerTermBase, TermCfg
from mjlab.mdp.lookup import ROBOT
from mjlab.mdp.randomize.distributions import (
    Choice,
    Distribution,
    RandomizeError,
    Ranges,
    Sampler,
)
from mjlab.mdp.randomize.engine import (
    FieldTerm,
    chosen,
    kind_of,
    rows_of,
    stream_of,
)
from mjlab.mdp.randomize.numbers import FieldPart
from mjlab.scene import SceneEntityCfg
from mjlab.tensors.columns import Columns
from mjlab.tensors.math import quat_from_euler_xyz, quat_mul

_GEOM = mujoco.mjtGeom


# Orientations.


class QuatTerm(ManagerTermBase):
    """Turns elements by roll, pitch and yaw from how they were compiled."""

    field: ClassVar[str]
    """The model field, of quaternions."""

    @classmethod
    def model_fields(cls, params: dict[str, Any]) -> tuple[str, ...]:
        """Model fields that the term varies, known before the model is compiled."""
        return (cls.field,)

    def __init__(self, cfg: TermCfg, env: ManagedEnv) -> None:
        super().__init__(cfg, env)
        params, label = cfg.params, type(self).__name__
        names, rows = rows_of(chosen(params, env), kind_of(self.field))
        choice = Choice(
            names=names,
            num_axes=3,
            what=kind_of(self.field),
            label=label,
            axis_names=("roll", "pitch", "yaw"),
        )
        targets = choice.resolve(params["ranges"])
        self._sampler = Sampler.of(params, targets, label=label, device=env.device)
        elements = sorted({target.element for target in targets})
        places = [elements.index(t.element) * 3 + t.axis for t in targets]
        self._places = torch.tensor(places, device=env.device)
        self._part = FieldPart.rows(env.sim, self.field, [rows[e] for e in elements])
        self._default = self._part.default.view(1, -1, 4)

    def __call__(
        self,
        env: ManagedEnv,
        mask: torch.Tensor,
        ranges: Ranges,
        asset_cfg: SceneEntityCfg = ROBOT,
        distribution: Distribution = "uniform",
        shared: bool = False,
        group: str | None = None,
        stream: str = "randomize",
    ) -> None:
        """Draw angles and write orientations.

        Args:
            env: The environment.
            mask: The worlds to write, shape (num_envs,), bool.
            ranges: Angles in radians: one range for all three, or one for each of
                "roll", "pitch" and "yaw", about the elements' own axes.
            asset_cfg: The elements.
            distribution: How the angles are distributed.
            shared: Whether all elements have the same draw.
            group: Name of a group of correlated terms.
            stream: Name of the random numbers; the event manager gives one.
        """
        drawn = self._sampler.draw(env.rng, stream_of(group, stream))
        angles = drawn.new_zeros(env.num_envs, self._default.shape[1] * 3)
        angles.index_copy_(1, self._places, drawn)
        roll, pitch, yaw = angles.view(env.num_envs, -1, 3).unbind(dim=-1)
        turned = quat_mul(self._default, quat_from_euler_xyz(roll, pitch, yaw))
        self._part.write(mask, turned.flatten(1))


class body_quat(QuatTerm):
    """Turns bodies in their parents."""

    field = "body_quat"


class geom_quat(QuatTerm):
    """Turns geoms in their bodies."""

    field = "geom_quat"


class site_quat(QuatTerm):
    """Turns sites in their bodies."""

    field = "site_quat"


class cam_quat(QuatTerm):
    """Turns cameras in their bodies."""

    field = "cam_quat"


# Limits, which come in pairs.


class LimitTerm(FieldTerm):
    """Randomises lower and upper limits."""

    axis_names = ("lower", "upper")

    limited: ClassVar[str]
    """The model field that says which elements have limits."""

    def __init__(self, cfg: TermCfg, env: ManagedEnv) -> None:
        super().__init__(cfg, env)
        has_limits = getattr(env.sim.mj_model, self.limited)
        label, names = type(self).__name__, self.choice.names
        for element in sorted({t.element for t in self.numbers.targets}):
            if not has_limits[self.rows[element]]:
                raise RandomizeError(
                    f"{label}: the {self.choice.what} {names[element]!r} has no limits "
                    "that could vary."
                )
        self._check_order()

    def _check_order(self) -> None:
        """Raise if a lower limit may come out above its upper one."""
        compiled = self._env.sim.default(self.field).tolist()
        limits = {
            (t.element, t.axis): extremes
            for t, extremes in zip(
                self.numbers.targets, self.numbers.extremes, strict=False
            )
        }
        for element in sorted({element for element, _ in limits}):
            row = compiled[self.rows[element]]
            lower = limits.get((element, 0), (row[0], row[0]))[1]
            upper = limits.get((element, 1), (row[1], row[1]))[0]
            if lower > upper:
                raise RandomizeError(
                    f"{type(self).__name__}: the lower limit of "
                    f"{self.choice.names[element]!r} can become {lower:g}, above its "
                    f"upper limit of {upper:g}."
                )


class joint_limits(LimitTerm):
    """Scales the limits of joints; those in `EntityData` follow."""

    field = "jnt_range"
    limited = "jnt_limited"


class tendon_range(LimitTerm):
    """Scales the limits of tendons' lengths."""

    field = "tendon_range"
    limited = "tendon_limited"


# Joints and their encoders.


class joint_default_pos(FieldTerm):
    """Shifts reference positions of joints; the entity's default positions follow.

    The reference `qpos0` is the position in which a joint leaves its body where the
    file has it. Shifting it is an error of calibration: the same reading, another pose.
    """

    field = "qpos0"
    operation = "add"


class encoder_bias(ManagerTermBase):
    """Sets what joint encoders add to the positions that policies see."""

    def __init__(self, cfg: TermCfg, env: ManagedEnv) -> None:
        super().__init__(cfg, env)
        params = cfg.params
        selection = chosen(params, env)
        names = selection.joint_names
        choice = Choice(names=names, num_axes=1, what="joint", label="encoder_bias")
        targets = choice.resolve(params["ranges"])
        self._sampler = Sampler.of(
            params, targets, label="encoder_bias", device=env.device
        )
        indices = selection.indices("joint")
        self._columns = Columns.of([indices[t.element] for t in targets], env.device)
        self._entity = selection.entity

    def __call__(
        self,
        env: ManagedEnv,
        mask: torch.Tensor,
        ranges: Ranges,
        asset_cfg: SceneEntityCfg = ROBOT,
        distribution: Distribution = "uniform",
        shared: bool = False,
        group: str | None = None,
        stream: str = "randomize",
    ) -> None:
        """Draw biases and write them.

        Args:
            env: The environment.
            mask: The worlds to write, shape (num_envs,), bool.
            ranges: Bias in radians or metres, or one range for each pattern of joints.
            asset_cfg: The joints.
            distribution: How the biases are distributed.
            shared: Whether all joints have the same bias.
            group: Name of a group of correlated terms.
            stream: Name of the random numbers; the event manager gives one.
        """
        drawn = self._sampler.draw(env.rng, stream_of(group, stream))
        self._columns.write(self._entity.data.encoder_bias, mask, drawn)
        self._entity.data.invalidate()
