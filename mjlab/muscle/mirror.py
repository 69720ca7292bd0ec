"""Left for right: what a mirrored body does with mirrored muscles."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import mujoco
import numpy as np
import torch

from mjlab.muscle.map import MuscleMap
from mjlab.names import suggest

_STEP = 0.05
"""How far a joint is moved to see which way its mirror image turns, in rad."""
_TOLERANCE = 1e-6
"""Lengths that differ by less are equal, in m."""


class MirrorError(ValueError):
    """A model that is not its own mirror image."""


def swap_sides(name: str) -> str:
    """Return the name of the other side: `_r` and `_l` at the end are swapped."""
    if name.endswith(("_r", "_l")):
        return name[:-1] + ("l" if name.endswith("r") else "r")
    return name


class MuscleMirror:
    """Swaps the sides of torque maps, torques and activations.

    Which way a mirrored joint turns is found from the model: the mirrored muscles of a
    mirrored pose have the same lengths.
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        muscle_map: MuscleMap,
        *,
        mirror_name: Callable[[str], str] = swap_sides,
        device: torch.device | str = "cpu",
    ) -> None:
        """Find the other side of everything.

        Args:
            model: The compiled model.
            muscle_map: Its map.
            mirror_name: The name on the other side of a muscle or joint; its own for
                what is in the middle.
            device: Where the worlds are.
        """
        muscles = _partners(muscle_map.muscle_names, mirror_name, "muscle")
        dofs = _partners(muscle_map.joint_names, mirror_name, "joint")
        signs = _signs(model, muscle_map, muscles, dofs)
        entries = list(zip(muscle_map.entry_muscle, muscle_map.entry_dof, strict=True))
        place = {entry: k for k, entry in enumerate(entries)}
        images = [(muscles[m], dofs[d]) for m, d in entries]
        for image, (m, d) in zip(images, entries, strict=True):
            if image not in place:
                raise MirrorError(
                    f"Muscle {muscle_map.muscle_names[m]!r} crosses joint "
                    f"{muscle_map.joint_names[d]!r}, but its mirror image does not "
                    "cross that joint's."
                )
        self._muscles = torch.tensor(muscles, device=device)
        self._dofs = torch.tensor(dofs, device=device)
        self._entries = torch.tensor([place[i] for i in images], device=device)
        self.dof_sign = torch.tensor(signs, device=device)
        """-1 for dofs that a mirror turns the other way, shape (num_dofs,)."""
        self._entry_sign = self.dof_sign[torch.tensor(muscle_map.entry_dof)]

    def red(self, red: torch.Tensor) -> torch.Tensor:
        """Return the reduced torque map of the mirrored pose."""
        return red.index_select(-1, self._entries) * self._entry_sign.to(red.dtype)

    def torque(self, torque: torch.Tensor) -> torch.Tensor:
        """Return mirrored torques, or positions, or velocities, of the dofs."""
        return torque.index_select(-1, self._dofs) * self.dof_sign.to(torque.dtype)

    def activation(self, activation: torch.Tensor) -> torch.Tensor:
        """Return mirrored activations, or whatever else each muscle has one of."""
        return activation.index_select(-1, self._muscles)


def _partners(
    names: Sequence[str], mirror_name: Callable[[str], str], what: str
) -> list[int]:
    partners = []
    for name in names:
        image = mirror_name(name)
        if image not in names or mirror_name(image) != name:
            raise MirrorError(
                f"The mirror image of {what} {name!r} would be {image!r}, which is not "
                f"there. {suggest(image, names)}"
            )
        partners.append(names.index(image))
    return partners


def _signs(
    model: mujoco.MjModel, muscle_map: MuscleMap, muscles: list[int], dofs: list[int]
) -> list[float]:
    data = mujoco.MjData(model)
    actuators = list(muscle_map.actuator_ids)

    def lengths(dof: int, move: float) -> np.ndarray:
        mujoco.mj_resetData(model, data)
        data.qpos[muscle_map.qpos_ids[dof]] += move
        mujoco.mj_fwdPosition(model, data)
        return data.actuator_length[actuators]

    signs = []
    for dof, image in enumerate(dofs):
        wanted = lengths(dof, _STEP)[muscles]
        misses = {
            sign: np.abs(lengths(image, sign * _STEP) - wanted) for sign in (1.0, -1.0)
        }
        sign = min(misses, key=lambda sign: misses[sign].max())
        miss = misses[sign]
        if miss.max() > _TOLERANCE:
            raise MirrorError(
                f"The model is not symmetric: with joint "
                f"{muscle_map.joint_names[dof]!r} moved, muscle "
                f"{muscle_map.muscle_names[miss.argmax()]!r} and its mirror image "
                f"differ in length by {1000.0 * miss.max():.3g} mm."
            )
        signs.append(sign)
    return signs
