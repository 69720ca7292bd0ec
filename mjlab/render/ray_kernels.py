# Kernel bodies are in Warp's language, which has Python syntax.
# pyright: reportInvalidTypeForm=false, reportCallIssue=false, reportOperatorIssue=false
# pyright: reportArgumentType=false, reportAssignmentType=false, reportIndexIssue=false
# pyright: reportGeneralTypeIssues=false, reportReturnType=false
"""Ray casting kernels for images. Each geom is tested at the pixels it can cover.

Only surfaces that face the camera, beyond `near`, are visible, as in OpenGL with back
face culling: a camera inside a geom sees through it.
"""

import warp as wp

from mjlab.render.camera_kernels import (
    Eye,
    PixelRays,
    bounds_of,
    may_show,
    rays_of,
    row_of,
    window_of,
)
from mjlab.render.surface_kernels import (
    FARTHEST,
    hit_box,
    hit_capsule,
    hit_cylinder,
    hit_ellipsoid,
    hit_plane,
    hit_sphere,
    hit_surface,
    slabs_of,
)

# Unrolled loops and adjoint code, which is not needed, take a minute to compile.
wp.set_module_options({"enable_backward": False, "max_unroll": 1})

PLANE, HFIELD, SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX, MESH = range(8)
DIRECTIONAL, SPOT = 1, 0

_floats = wp.array2d(dtype=wp.float32)
_ints = wp.array2d(dtype=wp.int32)
_vectors = wp.array2d(dtype=wp.vec3)
_colors = wp.array2d(dtype=wp.vec4)
_matrices = wp.array2d(dtype=wp.mat33)


@wp.struct
class Shapes:
    """Rendered geoms. 2D arrays have one row per world, or a single row."""

    shown: wp.array(dtype=wp.int32)  # type: ignore
    body: wp.array(dtype=wp.int32)  # type: ignore
    kind: _ints  # type: ignore
    pos: _vectors  # type: ignore
    quat: _colors  # type: ignore
    size: _vectors  # type: ignore
    asset: _ints  # type: ignore
    material: _ints  # type: ignore
    rgba: _colors  # type: ignore
    material_rgba: _colors  # type: ignore
    emission: _floats  # type: ignore
    body_pos: _vectors  # type: ignore
    body_mat: _matrices  # type: ignore
    surfaces: wp.array(dtype=wp.uint64)  # type: ignore
    center: wp.array(dtype=wp.vec3)  # type: ignore
    half: wp.array(dtype=wp.vec3)  # type: ignore
    num_meshes: wp.int32


@wp.struct
class Lights:
    """Lights of the scene, and the headlight."""

    kind: _ints  # type: ignore
    active: _ints  # type: ignore
    pos: _vectors  # type: ignore
    dir: _vectors  # type: ignore
    ambient: _vectors  # type: ignore
    diffuse: _vectors  # type: ignore
    attenuation: _vectors  # type: ignore
    cutoff: _floats  # type: ignore
    exponent: _floats  # type: ignore
    head_ambient: wp.vec3
    head_diffuse: wp.vec3


@wp.struct
class Pixels:
    """Outputs, and the nearest surface so far; unused outputs have no rows.

    If only depth is rendered, `nearest` is the image.
    """

    nearest: _floats  # type: ignore
    geom: _ints  # type: ignore
    normal: _vectors  # type: ignore
    depth: _floats  # type: ignore
    labels: _ints  # type: ignore
    rgb: wp.array2d(dtype=wp.uint8)  # type: ignore


@wp.func
def _matrix(q: wp.vec4) -> wp.mat33:
    return wp.quat_to_matrix(wp.quat(q[1], q[2], q[3], q[0]))


@wp.func
def _hit(
    kind: int,
    o: wp.vec3,
    d: wp.vec3,
    size: wp.vec3,
    surface: wp.uint64,
    near: float,
    far: float,
) -> wp.vec4:
    if kind == CAPSULE:
        return hit_capsule(o, d, size[0], size[1])
    if kind == SPHERE:
        return hit_sphere(o, d, size[0])
    if kind == PLANE:
        return hit_plane(o, d, size)
    if kind == CYLINDER:
        return hit_cylinder(o, d, size[0], size[1])
    if kind == ELLIPSOID:
        return hit_ellipsoid(o, d, size)
    return hit_surface(surface, o, d, near, far)


@wp.func
def _half(kind: int, size: wp.vec3) -> wp.vec3:
    """Return the half extents of a primitive geom."""
    if kind == SPHERE:
        return wp.vec3(size[0], size[0], size[0])
    if kind == CAPSULE:
        return wp.vec3(size[0], size[0], size[0] + size[1])
    if kind == CYLINDER:
        return wp.vec3(size[0], size[0], size[1])
    if kind == PLANE:
        endless = size[0] <= 0.0 or size[1] <= 0.0
        return wp.where(
            endless, wp.vec3(FARTHEST, FARTHEST, 0.0), wp.vec3(size[0], size[1], 0.0)
        )
    return size


@wp.func
def _color(shapes: Shapes, world: int, geom: int) -> wp.vec4:
    """Return a geom's colour; if it is MuJoCo's default, the colour of its material."""
    rgba = shapes.rgba[row_of(shapes.rgba.shape[0], world), geom]
    material = shapes.material[row_of(shapes.material.shape[0], world), geom]
    if material >= 0 and rgba == wp.vec4(0.5, 0.5, 0.5, 1.0):
        rows = shapes.material_rgba.shape[0]
        return shapes.material_rgba[row_of(rows, world), material]
    return rgba


@wp.func
def _keep_nearest(
    world: int,
    pixel: int,
    geom: int,
    axes: wp.mat33,
    hit: wp.vec4,
    eye: Eye,
    out: Pixels,
) -> None:
    if hit[3] >= eye.near and hit[3] < out.nearest[world, pixel]:
        out.nearest[world, pixel] = hit[3]
        if out.geom.shape[0] > 0:
            out.geom[world, pixel] = geom
        if out.normal.shape[0] > 0:
            out.normal[world, pixel] = axes * wp.vec3(hit[0], hit[1], hit[2])


@wp.func
def _draw_box(
    world: int,
    geom: int,
    half: wp.vec3,
    rays: PixelRays,
    axes: wp.mat33,
    eye: Eye,
    out: Pixels,
) -> None:
    slabs = slabs_of(rays.start, half)
    for row in range(rays.top, rays.bottom + 1):
        left = rays.corner + float(row) * rays.down
        for column in range(rays.left, rays.right + 1):
            hit = hit_box(slabs, left + float(column) * rays.across)
            _keep_nearest(world, row * eye.width + column, geom, axes, hit, eye, out)


@wp.func
def _draw_geom(
    world: int, geom: int, shapes: Shapes, eye: Eye, window: wp.vec4, out: Pixels
) -> None:
    kind = shapes.kind[row_of(shapes.kind.shape[0], world), geom]
    size = shapes.size[row_of(shapes.size.shape[0], world), geom]
    middle = wp.vec3(0.0, 0.0, 0.0)
    half = _half(kind, size)
    surface = wp.uint64(0)
    if kind == MESH or kind == HFIELD:
        asset = shapes.asset[row_of(shapes.asset.shape[0], world), geom]
        if kind == HFIELD:
            asset += shapes.num_meshes
        middle = shapes.center[asset]
        half = shapes.half[asset]
        surface = shapes.surfaces[asset]
    cam_mat = wp.transpose(eye.mat[world, eye.index])
    body = shapes.body[geom]
    local = shapes.pos[row_of(shapes.pos.shape[0], world), geom]
    body_mat = cam_mat * shapes.body_mat[world, body]
    offset = shapes.body_pos[world, body] - eye.pos[world, eye.index]
    pos = cam_mat * offset + body_mat * local
    # A bounding sphere at the geom's origin does not depend on its rotation.
    if not may_show(pos, wp.length(middle) + wp.length(half), window, eye.near):
        return
    if _color(shapes, world, geom)[3] == 0.0:
        return
    axes = body_mat * _matrix(shapes.quat[row_of(shapes.quat.shape[0], world), geom])
    rays = rays_of(axes, pos, eye, window)
    if half[0] < FARTHEST:
        bounds = bounds_of(pos + axes * middle, axes, half, eye, window)
        rays.left = int(wp.ceil(bounds[0]))
        rays.right = int(wp.floor(bounds[1]))
        rays.top = int(wp.ceil(bounds[2]))
        rays.bottom = int(wp.floor(bounds[3]))
    # A separate loop for boxes takes a third less time than one loop for all types.
    if kind == BOX:
        _draw_box(world, geom, half, rays, axes, eye, out)
        return
    for row in range(rays.top, rays.bottom + 1):
        left = rays.corner + float(row) * rays.down
        for column in range(rays.left, rays.right + 1):
            d = left + float(column) * rays.across
            hit = _hit(kind, rays.start, d, size, surface, eye.near, eye.far)
            _keep_nearest(world, row * eye.width + column, geom, axes, hit, eye, out)


@wp.func
def _light(lights: Lights, world: int, i: int, p: wp.vec3, n: wp.vec3) -> wp.vec3:
    """Return the light of one source at a surface point, by OpenGL's lighting model."""
    if lights.active[row_of(lights.active.shape[0], world), i] == 0:
        return wp.vec3(0.0, 0.0, 0.0)
    kind = lights.kind[row_of(lights.kind.shape[0], world), i]
    axis = lights.dir[world, i]
    to_light = -axis
    share = float(1.0)  # noqa: UP018 - Warp needs a mutable variable.
    if kind != DIRECTIONAL:
        away = lights.pos[world, i] - p
        distance = wp.length(away)
        to_light = away / distance
        fade = lights.attenuation[row_of(lights.attenuation.shape[0], world), i]
        share = 1.0 / (fade[0] + distance * (fade[1] + distance * fade[2]))
    if kind == SPOT:
        along = -wp.dot(to_light, axis)
        widest = lights.cutoff[row_of(lights.cutoff.shape[0], world), i]
        exponent = lights.exponent[row_of(lights.exponent.shape[0], world), i]
        if along < wp.cos(wp.radians(widest)):
            share = 0.0
        else:
            share = share * wp.pow(along, exponent)
    ambient = lights.ambient[row_of(lights.ambient.shape[0], world), i]
    diffuse = lights.diffuse[row_of(lights.diffuse.shape[0], world), i]
    return share * (ambient + wp.max(0.0, wp.dot(n, to_light)) * diffuse)


@wp.func
def _shade(
    world: int,
    pixel: int,
    shapes: Shapes,
    lights: Lights,
    eye: Eye,
    window: wp.vec4,
    out: Pixels,
) -> None:
    geom = out.geom[world, pixel]
    shade = wp.vec3(0.0, 0.0, 0.0)
    if geom >= 0:
        rgba = _color(shapes, world, geom)
        n = out.normal[world, pixel]
        # The headlight points along the camera axis.
        light = lights.head_ambient + wp.max(0.0, n[2]) * lights.head_diffuse
        x = (float(pixel % eye.width) + 0.5) / float(eye.width)
        y = (float(pixel // eye.width) + 0.5) / float(eye.height)
        z = out.nearest[world, pixel]
        right = window[0] + x * (window[1] - window[0])
        up = window[3] - y * (window[3] - window[2])
        cam_mat = eye.mat[world, eye.index]
        p = eye.pos[world, eye.index] + cam_mat * wp.vec3(right * z, up * z, -z)
        for i in range(lights.pos.shape[1]):
            light = light + _light(lights, world, i, p, cam_mat * n)
        material = shapes.material[row_of(shapes.material.shape[0], world), geom]
        if material >= 0:
            glow = shapes.emission[row_of(shapes.emission.shape[0], world), material]
            light = light + wp.vec3(glow, glow, glow)
        color = wp.vec3(rgba[0], rgba[1], rgba[2])
        shade = wp.min(wp.cw_mul(color, light), wp.vec3(1.0, 1.0, 1.0))
    for i in range(3):
        out.rgb[world, 3 * pixel + i] = wp.uint8(255.0 * shade[i] + 0.5)


@wp.func
def _clear(world: int, eye: Eye, out: Pixels) -> None:
    for pixel in range(eye.width * eye.height):
        out.nearest[world, pixel] = eye.far
    if out.geom.shape[0] > 0:
        for pixel in range(eye.width * eye.height):
            out.geom[world, pixel] = -1


@wp.kernel(enable_backward=False)
def draw(
    first: int,
    due: wp.array(dtype=wp.bool),  # type: ignore
    shapes: Shapes,
    lights: Lights,
    eye: Eye,
    out: Pixels,
) -> None:
    """Render one camera of one world, if its image is due."""
    world = first + wp.tid()
    if not due[world]:
        return
    window = window_of(eye, world)
    _clear(world, eye, out)
    for i in range(shapes.shown.shape[0]):
        _draw_geom(world, shapes.shown[i], shapes, eye, window, out)
    if out.geom.shape[0] == 0:
        return
    for pixel in range(eye.width * eye.height):
        geom = out.geom[world, pixel]
        if out.depth.shape[0] > 0:
            out.depth[world, pixel] = wp.min(out.nearest[world, pixel], eye.limit)
        if out.labels.shape[0] > 0:
            out.labels[world, 2 * pixel] = geom
            out.labels[world, 2 * pixel + 1] = wp.where(geom >= 0, 5, -1)
        if out.rgb.shape[0] > 0:
            _shade(world, pixel, shapes, lights, eye, window, out)
