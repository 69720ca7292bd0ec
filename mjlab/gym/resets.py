"""Options of Gymnasium's `reset`: seeds, masks of worlds, and scene rebuilds."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from gymnasium.vector import AutoresetMode

from mjlab.envs import Step
from mjlab.envs.worlds import When
from mjlab.gym.worlds import GymWorlds, Info, Tree
from mjlab.names import suggest
from mjlab.tensors.masks import ids_to_mask

RECONFIGURE = "reconfigure"
"""Reset option that requests a new scene."""

OPTIONS = ("reset_mask", "env_idx", RECONFIGURE)
"""Valid reset options; the first two select worlds."""

WHEN: dict[AutoresetMode, When] = {
    AutoresetMode.SAME_STEP: "same_step",
    AutoresetMode.NEXT_STEP: "next_step",
    AutoresetMode.DISABLED: "never",
}
"""Reset mode of finished worlds, by Gymnasium's autoreset mode."""


def to_mode(mode: AutoresetMode | str) -> AutoresetMode:
    """Convert a mode's value, such as "SameStep", or its name to an autoreset mode."""
    for known in AutoresetMode:
        if mode in (known, known.value, known.name, known.name.lower()):
            return known
    names = [known.name.lower() for known in AutoresetMode]
    raise ValueError(f"autoreset_mode={mode!r} is unknown. {suggest(str(mode), names)}")


def to_mask(
    options: Mapping[str, Any] | None, num_envs: int, device: torch.device
) -> torch.Tensor | None:
    """Return the mask of worlds that reset options select, None for all worlds.

    Args:
        options: "reset_mask" with a bool per world, or "env_idx" with indices.
            "reconfigure" selects no worlds, and cannot be combined with these two.
        num_envs: Number of worlds.
        device: Device of the mask.
    """
    options = options or {}
    for key in options:
        if key not in OPTIONS:
            hint = suggest(str(key), OPTIONS)
            raise ValueError(f"Unknown reset option {key!r}. {hint}")
    given = [key for key in OPTIONS[:2] if key in options]
    if len(given) > 1:
        raise ValueError(
            "options have 'reset_mask' and 'env_idx', which both select worlds. Pass "
            "only one of them."
        )
    if given and wants_reconfigure(options):
        raise ValueError(
            f"options have 'reconfigure' and {given[0]!r}. All worlds share the scene, "
            f"so only a full reset rebuilds it: remove {given[0]!r}."
        )
    if not given:
        return None
    read = _from_mask if given == ["reset_mask"] else _from_indices
    return read(options[given[0]], num_envs, device)


def wants_reconfigure(options: Mapping[str, Any] | None) -> bool | None:
    """True if a reset requests a new scene; None if the option is not passed."""
    value = (options or {}).get(RECONFIGURE, ...)
    if value is ...:
        return None
    if not isinstance(value, bool | np.bool_):
        raise TypeError(
            f"options['reconfigure'] is {value!r}, a {type(value).__name__}; it has to "
            "be True or False."
        )
    return bool(value)


def _from_mask(mask: Any, num_envs: int, device: torch.device) -> torch.Tensor:
    if not isinstance(mask, np.ndarray | torch.Tensor):
        raise TypeError(
            f"options['reset_mask'] is a {type(mask).__name__}; it has to be an array "
            "or a tensor of bools."
        )
    if tuple(mask.shape) != (num_envs,) or mask.dtype not in (bool, torch.bool):
        raise ValueError(
            f"options['reset_mask'] has shape {tuple(mask.shape)} and type "
            f"{mask.dtype}; it has to be bools of shape ({num_envs},)."
        )
    # Masks on a CUDA device are not checked, because that would synchronise. An empty
    # mask resets nothing.
    on_host = isinstance(mask, np.ndarray) or mask.device.type == "cpu"
    if on_host and not bool(mask.any()):
        raise ValueError(
            "options['reset_mask'] is False in all worlds. Omit the reset, or pass "
            "'env_idx': [] to reset none."
        )
    return torch.as_tensor(mask).to(device, copy=True)


def _from_indices(rows: Any, num_envs: int, device: torch.device) -> torch.Tensor:
    if isinstance(rows, slice) or (
        isinstance(rows, torch.Tensor) and rows.device.type != "cpu"
    ):
        return ids_to_mask(rows, num_envs, device)
    try:
        indices = np.atleast_1d(np.asarray(rows))
    except ValueError as error:
        raise ValueError(f"options['env_idx'] is {rows!r}: {error}") from error
    if indices.size and not np.issubdtype(indices.dtype, np.integer):
        extra = " Pass bools as 'reset_mask'." if indices.dtype == bool else ""
        raise TypeError(
            f"options['env_idx'] has type {indices.dtype}; it has to be integers."
            + extra
        )
    ids = [int(row) for row in indices.ravel()]
    outside = [row for row in ids if not 0 <= row < num_envs]
    if outside:
        raise ValueError(
            f"options['env_idx'] has {outside[0]}; worlds have indices 0 to "
            f"{num_envs - 1}."
        )
    return ids_to_mask(ids, num_envs, device)


class PartialResetError(ValueError):
    """Raised if scene rebuilds need full resets, but worlds are reset separately."""


class Reconfigurations:
    """Counts full resets, and rebuilds the scene when it is due.

    A full reset is a call of `reset` without a selection of worlds, or an automatic
    reset in a step in which all worlds finish.
    """

    def __init__(self, worlds: GymWorlds, freq: int) -> None:
        """Start counting.

        Args:
            worlds: The worlds.
            freq: Rebuild in every `freq`-th full reset. 0 rebuilds on request only.
        """
        if isinstance(freq, bool) or not isinstance(freq, int) or freq < 0:
            raise ValueError(
                f"reconfiguration_freq={freq!r} has to be an integer of 0 or more: 0 "
                "builds the scene once, k rebuilds it in every k-th full reset."
            )
        self.freq = freq
        self._worlds = worlds
        self._count = 0
        self._is_partial = False
        self._when: When = "never"
        # Whether all worlds finished in the previous step.
        self._all_ended = False

    def choose_resets(self, when: When, *, ignore_terminations: bool = False) -> None:
        """Choose when finished worlds are reset."""
        self._worlds.choose_resets(when, ignore_terminations=ignore_terminations)
        self._when = when
        self._all_ended = False
        resets_by_itself = when != "never" and not ignore_terminations
        self._is_partial = resets_by_itself and self._worlds.num_envs > 1

    def check(self) -> None:
        """Raise if worlds are reset separately: a full reset might never occur."""
        if self.freq and self._is_partial:
            raise PartialResetError(
                f"reconfiguration_freq={self.freq} rebuilds the scene when all "
                f"{self._worlds.num_envs} worlds reset together, but autoreset_mode "
                f"{self._when!r} resets each finished world separately. Use "
                "autoreset_mode='disabled', or wrap the environment in "
                "VectorEnv(auto_reset=False) or VectorEnv(ignore_terminations=True)."
            )

    def reset(
        self,
        options: Mapping[str, Any] | None,
        seeds: Sequence[int | None] | None,
        mask: torch.Tensor | None,
    ) -> tuple[Tree, Info]:
        """Reset the worlds, after rebuilding the scene if it is due.

        If "reconfigure" is passed or full resets are counted, the info "reconfigure" is
        true if the scene was rebuilt, shape (num_envs,), bool.

        Args:
            options: Options of the reset.
            seeds: Seeds of the worlds; the first one also seeds the scene.
            mask: Worlds to reset, shape (num_envs,), bool. None means all.
        """
        self.check()
        asked = wants_reconfigure(options)
        info: Info = {}
        if mask is None:
            self._all_ended = False
            if asked is not None or self.freq:
                is_due = self._count_one() or bool(asked)
                if is_due:
                    self._rebuild(seeds[0] if seeds else None)
                info = self._info(is_due)
        observations, more = self._worlds.reset(seeds, mask)
        return observations, more | info

    def step(self, actions: torch.Tensor) -> Step[Tree]:
        """Step the worlds; an automatic reset of all worlds counts as a full reset."""
        if not self.freq or self._when == "never":
            return self._worlds.step(actions)
        if self._all_ended:
            # In the mode "next_step", this step performs the reset.
            self._all_ended = False
            nobody = torch.zeros_like(self._info(False)[RECONFIGURE])
            flags = nobody, nobody.clone()
            return self._in_new_scene(Step({}, nobody.float(), *flags, {}))
        step = self._worlds.step(actions)
        if not bool((step.terminated | step.truncated).all()):
            return step
        if not self._count_one():
            return step._replace(extras=step.extras | self._info(False))
        if self._when == "next_step":
            self._all_ended = True
            return step
        return self._in_new_scene(step)

    def _in_new_scene(self, step: Step[Tree]) -> Step[Tree]:
        """Rebuild the scene; return the step with the observations after a reset."""
        self._rebuild(None)
        observations, info = self._worlds.reset(None, None)
        extras = step.extras | info | self._info(True)
        return step._replace(observations=observations, extras=extras)

    def _count_one(self) -> bool:
        """Count a full reset; return whether a rebuild is due."""
        self._count += 1
        return bool(self.freq) and self._count >= self.freq

    def _rebuild(self, seed: int | None) -> None:
        self._worlds.reconfigure(seed)
        self._count = 0

    def _info(self, is_new: bool) -> Info:
        size = (self._worlds.num_envs,)
        return {RECONFIGURE: torch.full(size, is_new, device=self._worlds.device)}
