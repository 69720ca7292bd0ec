"""Warp kernels of the Warp engine."""

import warp as wp
from mujoco_warp._src import math as mjw_math


@wp.kernel(enable_backward=False)
def zero_columns(columns: wp.array[int], values: wp.array2d[float]) -> None:
    """Set the listed columns to zero in every row."""
    row, i = wp.tid()
    values[row, columns[i]] = 0.0


@wp.kernel(enable_backward=False)
def bury_contacts(
    nacon: wp.array[int],
    mask: wp.array[bool],
    contact_worldid: wp.array[int],
    contact_type: wp.array[int],
    contact_dist: wp.array[float],
    contact_efc_address: wp.array2d[int],
) -> None:
    """Mark the contacts of the worlds in `mask` as unused in the shared buffer."""
    i = wp.tid()
    if i >= nacon[0]:
        return
    world = contact_worldid[i]
    if world < 0:
        return
    if not mask[world]:
        return
    contact_worldid[i] = -1
    contact_type[i] = 0
    contact_dist[i] = 0.0
    for j in range(contact_efc_address.shape[1]):
        contact_efc_address[i, j] = -1


@wp.kernel(enable_backward=False)
def fold_overflow(
    mask: wp.array[bool], overflow: wp.array[int], counts: wp.array2d[wp.int64]
) -> None:
    """Add the overflow bits of the worlds of `mask` to `counts[world, bit]`."""
    world = wp.tid()
    if not mask[world]:
        return
    bits = overflow[world]
    for bit in range(counts.shape[1]):
        if (bits >> bit) & 1 == 1:
            counts[world, bit] = counts[world, bit] + wp.int64(1)


@wp.func
def is_bad(value: float, limit: float) -> bool:
    """Return True for NaN and for values beyond the limit, like MuJoCo's mju_isBad."""
    return not wp.abs(value) <= limit


@wp.kernel(enable_backward=False)
def end_step(
    limit: float,
    ctrl: wp.array2d[float],
    qacc: wp.array2d[float],
    nefc: wp.array[int],
    nacon: wp.array[int],
    qpos: wp.array2d[float],
    qvel: wp.array2d[float],
    most_rows: wp.array[int],
    most_contacts: wp.array[int],
) -> None:
    """Update the maximum buffer use, and mark worlds that MuJoCo would reset.

    A world is marked by setting its state to NaN. One kernel does both tasks, because a
    launch costs more than either computation.
    """
    world = wp.tid()
    most_rows[world] = wp.max(most_rows[world], nefc[world])
    if world == 0:
        most_contacts[0] = wp.max(most_contacts[0], nacon[0])
    bad = bool(False)  # noqa: UP018 (Warp: a variable, not a constant)
    for i in range(ctrl.shape[1]):
        if is_bad(ctrl[world, i], limit):
            bad = True
    for i in range(qacc.shape[1]):
        if is_bad(qacc[world, i], limit):
            bad = True
    if not bad:
        return
    for i in range(qpos.shape[1]):
        qpos[world, i] = wp.nan
    for i in range(qvel.shape[1]):
        qvel[world, i] = wp.nan


@wp.kernel(enable_backward=False)
def place_geoms(
    mask: wp.array[bool],
    geoms: wp.array[int],
    geom_bodyid: wp.array[int],
    geom_pos: wp.array2d[wp.vec3],
    geom_quat: wp.array2d[wp.quat],
    xpos: wp.array2d[wp.vec3],
    xquat: wp.array2d[wp.quat],
    geom_xpos: wp.array2d[wp.vec3],
    geom_xmat: wp.array2d[wp.mat33],
) -> None:
    """Compute the poses of the listed geoms in the worlds of `mask`."""
    world, i = wp.tid()
    if not mask[world]:
        return
    geom = geoms[i]
    body = geom_bodyid[geom]
    pos = geom_pos[world % geom_pos.shape[0], geom]
    quat = geom_quat[world % geom_quat.shape[0], geom]
    turn = xquat[world, body]
    geom_xpos[world, geom] = xpos[world, body] + mjw_math.rot_vec_quat(pos, turn)
    geom_xmat[world, geom] = mjw_math.quat_to_mat(mjw_math.mul_quat(turn, quat))


@wp.kernel(enable_backward=False)
def any_world(mask: wp.array[bool], answer: wp.array[int]) -> None:
    """Set `answer` to 1 if any element of the mask is true."""
    if mask[wp.tid()]:
        answer[0] = 1


@wp.kernel(enable_backward=False)
def restore_rows(
    mask: wp.array[bool], saved: wp.array2d[float], live: wp.array2d[float]
) -> None:
    """Restore saved rows where the mask is False."""
    row, column = wp.tid()
    if not mask[row]:
        live[row, column] = saved[row, column]
