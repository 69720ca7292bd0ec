"""Blending of motions."""

from dataclasses import replace

import numpy as np
import torch

from mjlab.motion.motion import Motion, MotionError
from mjlab.tensors.math import quat_mul, quat_rotate, quat_slerp, quat_yaw

Array = np.ndarray


def blended(first: Motion, second: Motion, seconds: float) -> Motion:
    """Concatenate two motions with a cross-fade.

    Args:
        first: The first motion.
        second: The second motion, of the same robot. It is resampled to the rate of the
            first one, and aligned in heading and horizontal position with the first one
            at the beginning of the overlap.
        seconds: Duration of the cross-fade.
    """
    _check_match(first, second)
    second = second.resampled(first.fps)
    number = round(seconds * first.fps) + 1
    shortest = min(first.num_frames, second.num_frames)
    if not 2 <= number <= shortest:
        raise MotionError(
            f"An overlap of {seconds:g} s of {first.name!r} and {second.name!r} is "
            f"invalid: it has to be at least two frames and at most {shortest}."
        )
    start = first.num_frames - number
    pos, quat = _placed(first, start, second)
    columns = second.joint_columns(first.joint_names)
    x = np.linspace(0.0, 1.0, number)
    share = x * x * (3.0 - 2.0 * x)

    def joined(one: Array, two: Array, middle: Array) -> Array:
        return np.concatenate((one[:start], middle, two[number:]))

    def faded(one: Array, two: Array) -> Array:
        tail, head = one[start:], two[:number]
        return joined(one, two, tail + share[:, None] * (head - tail))

    tail = torch.from_numpy(first.root_quat[start:].copy())
    head = torch.from_numpy(quat[:number].copy())
    middle = quat_slerp(tail, head, torch.from_numpy(share)).numpy()
    contacts = None
    if first.contacts is not None and second.contacts is not None:
        feet = [second.contact_names.index(name) for name in first.contact_names]
        both = first.contacts[start:] & second.contacts[:number, feet]
        contacts = joined(first.contacts, second.contacts[:, feet], both)
    info = replace(first.info, splits={}, loops=False)
    return Motion.from_root(
        f"{first.name}_{second.name}",
        first.fps,
        faded(first.root_pos, pos),
        joined(first.root_quat, quat, middle),
        faded(first.joint_pos, second.joint_pos[:, columns]),
        root_body=first.root_body,
        joint_names=first.joint_names,
        contact_names=first.contact_names if contacts is not None else (),
        contacts=contacts,
        info=info.logged(f"{second.name} after it, {seconds:g} s of both"),
    )


def _placed(first: Motion, start: int, second: Motion) -> tuple[Array, Array]:
    """Return the second motion's root, aligned with a frame of the first motion."""
    here, there = (
        torch.from_numpy(quat.copy())
        for quat in (first.root_quat[start : start + 1], second.root_quat[:1])
    )
    back = quat_yaw(there) * torch.tensor([1.0, -1.0, -1.0, -1.0])
    turn = quat_mul(quat_yaw(here), back).expand(second.num_frames, 4)
    way = torch.from_numpy(second.root_pos - second.root_pos[0] * (1.0, 1.0, 0.0))
    place = first.root_pos[start] * (1.0, 1.0, 0.0)
    pos = quat_rotate(turn, way).numpy() + place
    return pos, quat_mul(turn, torch.from_numpy(second.root_quat.copy())).numpy()


def _check_match(first: Motion, second: Motion) -> None:
    if set(first.joint_names) != set(second.joint_names):
        odd = sorted(set(first.joint_names) ^ set(second.joint_names))[0]
        raise MotionError(
            f"{first.name!r} and {second.name!r} are of different robots: only one of "
            f"them has the joint {odd!r}."
        )
    if set(first.contact_names) != set(second.contact_names):
        raise MotionError(
            f"{first.name!r} labels the contacts of {list(first.contact_names)}, but "
            f"{second.name!r} of {list(second.contact_names)}; they have to be equal."
        )
