# Kernel bodies are in Warp's language, which has Python syntax.
# pyright: reportInvalidTypeForm=false, reportCallIssue=false, reportOperatorIssue=false
# pyright: reportArgumentType=false, reportAssignmentType=false, reportIndexIssue=false
# pyright: reportGeneralTypeIssues=false
"""Ray-surface intersections: functions for Warp kernels.

A ray starts at `o` and goes along `d`, both in the geom frame. Each function returns
the normal and the ray parameter at which the surface is entered, -1 for a miss.
"""

import warp as wp

_MISS = wp.constant(wp.vec4(0.0, 0.0, 0.0, -1.0))
_TINY = wp.constant(1e-12)
FARTHEST = wp.constant(1e10)
"""Ray parameter that represents infinity."""
_BACK_FACES = wp.constant(8)


@wp.func
def _least(a: float, b: float, c: float) -> float:
    """Return the minimum of three; `wp.min` also checks for NaN, in twice the time."""
    less = wp.where(b < c, b, c)
    return wp.where(a < less, a, less)


@wp.func
def _most(a: float, b: float, c: float) -> float:
    more = wp.where(b > c, b, c)
    return wp.where(a > more, a, more)


@wp.func
def _away_from_zero(x: float) -> float:
    return wp.where(wp.abs(x) < _TINY, wp.where(x < 0.0, -_TINY, _TINY), x)


@wp.func
def hit_plane(o: wp.vec3, d: wp.vec3, size: wp.vec3) -> wp.vec4:
    """Intersect a plane, which is visible from above only; size 0 means infinite."""
    if o[2] <= 0.0 or d[2] >= 0.0:
        return _MISS
    t = -o[2] / d[2]
    x = wp.abs(o[0] + t * d[0])
    y = wp.abs(o[1] + t * d[1])
    if (size[0] > 0.0 and x > size[0]) or (size[1] > 0.0 and y > size[1]):
        return _MISS
    return wp.vec4(0.0, 0.0, 1.0, t)


@wp.func
def hit_sphere(o: wp.vec3, d: wp.vec3, radius: float) -> wp.vec4:
    """Intersect a sphere."""
    dd = wp.dot(d, d)
    b = wp.dot(o, d) / dd
    # Start at the ray's closest point: float32 loses precision far from the camera.
    nearest = o - b * d
    left = radius * radius - wp.dot(nearest, nearest)
    if left < 0.0:
        return _MISS
    t = -b - wp.sqrt(left / dd)
    n = (o + t * d) / radius
    return wp.vec4(n[0], n[1], n[2], t)


@wp.func
def _side(o: wp.vec3, d: wp.vec3, radius: float) -> wp.vec2:
    """Return the parameters at which a ray enters and leaves an infinite z cylinder."""
    a = d[0] * d[0] + d[1] * d[1]
    if a < _TINY:
        inside = o[0] * o[0] + o[1] * o[1] <= radius * radius
        return wp.where(inside, wp.vec2(-FARTHEST, FARTHEST), wp.vec2(1.0, -1.0))
    b = (o[0] * d[0] + o[1] * d[1]) / a
    x = o[0] - b * d[0]
    y = o[1] - b * d[1]
    left = radius * radius - x * x - y * y
    if left < 0.0:
        return wp.vec2(1.0, -1.0)
    root = wp.sqrt(left / a)
    return wp.vec2(-b - root, -b + root)


@wp.func
def hit_capsule(o: wp.vec3, d: wp.vec3, radius: float, half: float) -> wp.vec4:
    """Intersect a capsule along z."""
    side = _side(o, d, radius)
    if side[0] > side[1]:
        return _MISS
    t = side[0]
    z = o[2] + t * d[2]
    if wp.abs(z) <= half:
        return wp.vec4((o[0] + t * d[0]) / radius, (o[1] + t * d[1]) / radius, 0.0, t)
    # A ray that enters the cylinder beyond an end can hit the capsule at that end only.
    end = wp.where(z > 0.0, half, -half)
    return hit_sphere(wp.vec3(o[0], o[1], o[2] - end), d, radius)


@wp.func
def hit_cylinder(o: wp.vec3, d: wp.vec3, radius: float, half: float) -> wp.vec4:
    """Intersect a cylinder along z."""
    side = _side(o, d, radius)
    dz = _away_from_zero(d[2])
    sign = wp.where(dz < 0.0, 1.0, -1.0)
    enter = (sign * half - o[2]) / dz
    leave = (-sign * half - o[2]) / dz
    if wp.max(side[0], enter) > wp.min(side[1], leave):
        return _MISS
    if enter > side[0]:
        return wp.vec4(0.0, 0.0, sign, enter)
    t = side[0]
    return wp.vec4((o[0] + t * d[0]) / radius, (o[1] + t * d[1]) / radius, 0.0, t)


@wp.struct
class Slabs:
    """Box, prepared for rays from one camera position.

    A ray of direction d meets the plane of a face at the parameter t = c / d[axis],
    where c is the signed distance from the camera to the plane. The fields store 1 / c,
    so 1 / t is a product. The face that is entered last has the smallest 1 / t.
    """

    entered: wp.vec3
    inside: wp.vec3
    left: wp.vec3
    other: wp.vec3
    sides: wp.vec3


@wp.func
def slabs_of(o: wp.vec3, half: wp.vec3) -> Slabs:
    """Compute the slabs of a box with half sizes `half`, for rays that start at `o`."""
    slabs = Slabs()
    for i in range(3):
        side = wp.where(o[i] < 0.0, -1.0, 1.0)
        near = 1.0 / _away_from_zero(side * half[i] - o[i])
        far = 1.0 / _away_from_zero(-side * half[i] - o[i])
        within = wp.abs(o[i]) < half[i]
        # Between two opposite faces no face is entered, and the ray can leave through
        # either.
        slabs.entered[i] = wp.where(within, 0.0, near)
        slabs.inside[i] = wp.where(within, FARTHEST, 0.0)
        slabs.left[i] = far
        slabs.other[i] = wp.where(within, near, far)
        slabs.sides[i] = side
    return slabs


@wp.func
def hit_box(slabs: Slabs, d: wp.vec3) -> wp.vec4:
    """Intersect a box."""
    enter = wp.cw_mul(slabs.entered, d) + slabs.inside
    left = wp.cw_mul(slabs.left, d)
    other = wp.cw_mul(slabs.other, d)
    u = _least(enter[0], enter[1], enter[2])
    if (
        u <= 0.0
        or u < _most(left[0], left[1], left[2])
        or u < _most(other[0], other[1], other[2])
    ):
        return _MISS
    if u == enter[0]:
        return wp.vec4(slabs.sides[0], 0.0, 0.0, 1.0 / u)
    if u == enter[1]:
        return wp.vec4(0.0, slabs.sides[1], 0.0, 1.0 / u)
    return wp.vec4(0.0, 0.0, slabs.sides[2], 1.0 / u)


@wp.func
def hit_ellipsoid(o: wp.vec3, d: wp.vec3, size: wp.vec3) -> wp.vec4:
    """Intersect an ellipsoid."""
    hit = hit_sphere(wp.cw_div(o, size), wp.cw_div(d, size), 1.0)
    n = wp.normalize(wp.vec3(hit[0] / size[0], hit[1] / size[1], hit[2] / size[2]))
    return wp.vec4(n[0], n[1], n[2], hit[3])


@wp.func
def hit_surface(
    surface: wp.uint64, o: wp.vec3, d: wp.vec3, near: float, far: float
) -> wp.vec4:
    """Intersect a triangle mesh, and skip up to 8 triangles that face away."""
    begin = near
    for _ in range(_BACK_FACES):
        query = wp.mesh_query_ray(surface, o + begin * d, d, far - begin)
        if not query.result:
            return _MISS
        begin = begin + query.t
        n = query.normal
        if wp.dot(n, d) < 0.0:
            return wp.vec4(n[0], n[1], n[2], begin)
        begin = begin + 1e-5
    return _MISS
