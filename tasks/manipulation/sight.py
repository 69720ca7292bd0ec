"""Depth cameras, and what a policy observes that sees with them."""

from mjlab.managers import ObservationGroupCfg, ObservationTermCfg
from mjlab.render import RayRendererCfg, camera_depth
from mjlab.sensor import CameraSensorCfg

EYE = "eye"
"""Name of the camera as a sensor."""

CAMERA = "camera"
"""Name of the group with its picture."""

PIXELS = 32
"""Width and height of a picture."""


def eye(farthest: float, **place: object) -> CameraSensorCfg:
    """Return a depth camera of 32 by 32 pixels.

    Args:
        farthest: Depth beyond which it sees nothing, m. The less, the more contrast.
        **place: Fields that say where it is.
    """
    return CameraSensorCfg(
        name=EYE,
        width=PIXELS,
        height=PIXELS,
        data_types=("depth",),
        max_distance=farthest,
        renderer=RayRendererCfg(),
        **place,  # type: ignore[arg-type]
    )


def seeing(
    groups: dict[str, ObservationGroupCfg | None],
    farthest: float,
    *,
    instead_of: tuple[str, ...],
    **more: ObservationTermCfg,
) -> dict[str, ObservationGroupCfg | None]:
    """Return groups in which the policy has a picture; the critic sees what it did.

    Args:
        groups: Groups "actor" and "critic".
        farthest: Depth that the picture shows as white, m.
        instead_of: Terms that the policy does without.
        **more: Terms that it has besides.
    """
    actor = groups["actor"]
    assert actor is not None
    kept = {name: term for name, term in actor.terms.items() if name not in instead_of}
    seen = {"sensor_name": EYE, "cutoff": farthest, "as_bytes": True}
    depth = ObservationTermCfg(func=camera_depth, params=seen)
    return {
        **groups,
        "actor": ObservationGroupCfg(terms={**kept, **more}),
        CAMERA: ObservationGroupCfg(terms={"depth": depth}),
    }
