"""Triangles of meshes and height fields for ray casting."""

import mujoco
import numpy as np
import warp as wp


class Surfaces:
    """Bounding volume hierarchies of the model's meshes, then of its height fields."""

    def __init__(self, model: mujoco.MjModel) -> None:
        parts = [_mesh(model, i) for i in range(model.nmesh)]
        parts += [_height_field(model, i) for i in range(model.nhfield)]
        self._meshes = [
            wp.Mesh(
                points=wp.array(points, dtype=wp.vec3, device="cpu"),
                indices=wp.array(faces.ravel(), dtype=wp.int32, device="cpu"),
            )
            for points, faces in parts
        ]
        handles = [mesh.id for mesh in self._meshes]
        low = [points.min(axis=0) for points, _ in parts]
        high = [points.max(axis=0) for points, _ in parts]
        sums, spans = (
            np.array(values, np.float32).reshape(-1, 3)
            for values in (
                [a + b for a, b in zip(low, high, strict=True)],
                [b - a for a, b in zip(low, high, strict=True)],
            )
        )
        self.handles = wp.array(np.array(handles, np.uint64), device="cpu")
        """Handles of the hierarchies in kernels."""
        self.centers = wp.array(sums / 2, dtype=wp.vec3, device="cpu")
        """Centres of their bounding boxes, in the geom frame, m."""
        self.halves = wp.array(spans / 2, dtype=wp.vec3, device="cpu")
        """Half extents of these boxes, m."""


def _mesh(model: mujoco.MjModel, index: int) -> tuple[np.ndarray, np.ndarray]:
    first, count = model.mesh_vertadr[index], model.mesh_vertnum[index]
    face, faces = model.mesh_faceadr[index], model.mesh_facenum[index]
    return model.mesh_vert[first : first + count], model.mesh_face[face : face + faces]


def _height_field(model: mujoco.MjModel, index: int) -> tuple[np.ndarray, np.ndarray]:
    """Return vertices and triangles: surface, side walls and bottom, as in MuJoCo."""
    rows, columns = int(model.hfield_nrow[index]), int(model.hfield_ncol[index])
    first = int(model.hfield_adr[index])
    data = model.hfield_data[first : first + rows * columns].reshape(rows, columns)
    half_x, half_y, height, depth = model.hfield_size[index]
    x, y = np.linspace(-half_x, half_x, columns), np.linspace(-half_y, half_y, rows)
    xs, ys = np.meshgrid(x, y)
    top = np.stack((xs, ys, data * height), axis=-1).reshape(-1, 3)
    ground = top * (1.0, 1.0, 0.0) - (0.0, 0.0, depth)
    at = np.arange(rows * columns).reshape(rows, columns)
    quads = [_quads(at[:-1, :-1], at[:-1, 1:], at[1:, 1:], at[1:, :-1])]
    below = at + rows * columns
    ring = np.concatenate((at[0, :-1], at[:-1, -1], at[-1, :0:-1], at[:0:-1, 0]))
    onward = np.roll(ring, -1)
    quads.append(_quads(ring + rows * columns, onward + rows * columns, onward, ring))
    quads.append(
        _quads(*(below[i, j] for i, j in ((0, 0), (-1, 0), (-1, -1), (0, -1))))
    )
    return np.concatenate((top, ground)), np.concatenate(quads)


def _quads(a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray) -> np.ndarray:
    """Return two triangles per quad, split along `a` to `c` as in MuJoCo."""
    a, b, c, d = (np.ravel(corner) for corner in (a, b, c, d))
    return np.concatenate((np.stack((a, b, c), 1), np.stack((a, c, d), 1)))
