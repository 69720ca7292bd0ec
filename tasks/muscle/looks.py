"""Visual geoms of the walkers, and their soles."""

from __future__ import annotations

from xml.etree import ElementTree

_BONE, _DISC, _HEAD = "bone", "disc", "head"

# Segment -> (shape, material, numbers). Numbers of the right side in MuJoCo's axes: a
# capsule's two ends, or a centre; then the size.
_SHAPES: dict[str, list[tuple[str, str, str, str]]] = {
    "pelvis": [
        ("ellipsoid", _BONE, "-0.07 0 0.02", "0.055 0.11 0.06"),
        ("capsule", _BONE, "-0.0707 -0.0835 -0.0661 -0.0707 0.0835 -0.0661", "0.022"),
        ("capsule", _BONE, "-0.02 -0.09 0.06 -0.02 0.09 0.06", "0.016"),
    ],
    "torso": [
        ("capsule", _DISC, "-0.01 0 0 -0.02 0 0.3", "0.03"),
        ("capsule", _DISC, "-0.02 0 0.3 0.015 0 0.56", "0.026"),
        ("ellipsoid", _BONE, "0.025 0 0.33", "0.088 0.13 0.16"),
        ("ellipsoid", _BONE, "0.03 0 0.24", "0.075 0.12 0.11"),
        ("capsule", _BONE, "0.01 -0.17 0.46 0.01 0.17 0.46", "0.02"),
        ("ellipsoid", _HEAD, "0.03 0 0.655", "0.095 0.075 0.115"),
        ("ellipsoid", _HEAD, "0.075 0 0.6", "0.045 0.045 0.055"),
    ],
    "femur": [
        ("sphere", _DISC, "0 0 0", "0.03"),
        ("capsule", _BONE, "0 0 0 0.0 -0.03 -0.05", "0.017"),
        ("capsule", _BONE, "0.0 -0.03 -0.05 -0.0045 0 -0.37", "0.018"),
        ("capsule", _DISC, "-0.0045 -0.03 -0.3958 -0.0045 0.03 -0.3958", "0.024"),
    ],
    "tibia": [
        ("capsule", _BONE, "0 0 -0.03 0 0 -0.41", "0.017"),
        ("capsule", _BONE, "-0.02 -0.035 -0.06 -0.01 -0.025 -0.4", "0.008"),
    ],
    "talus": [("sphere", _DISC, "0 0 0", "0.026")],
    "calcn": [
        ("capsule", _BONE, "0.015 0 0.012 0.075 0 0.028", "0.022"),
        ("capsule", _BONE, "0.06 0.012 0.022 0.165 0.02 0.003", "0.014"),
        ("capsule", _BONE, "0.06 -0.012 0.022 0.165 -0.02 0.003", "0.014"),
    ],
    "toes": [
        ("capsule", _BONE, "0 0.02 0 0.045 0.016 0", "0.011"),
        ("capsule", _BONE, "0 -0.02 0 0.04 -0.022 0", "0.011"),
    ],
}

# Segment -> geoms that touch the ground: (name, shape, numbers, size).
_SOLES = {
    "calcn": [
        ("heel", "sphere", "0.031 0 0.010", "0.035"),
        ("ball", "capsule", "0.14 0.03 -0.005 0.14 -0.035 -0.005", "0.02"),
    ],
    "toes": [("toe", "capsule", "0.03 0.03 -0.01 0.03 -0.025 -0.01", "0.015")],
}


def add_materials(root: ElementTree.Element) -> None:
    """Add the materials."""
    assets = ElementTree.SubElement(root, "asset")
    for name, rgba in (
        (_BONE, "0.91 0.87 0.78 1"),
        (_DISC, "0.62 0.66 0.71 1"),
        (_HEAD, "0.93 0.90 0.83 1"),
    ):
        attributes = {"name": name, "rgba": rgba, "specular": "0.3", "shininess": "0.4"}
        ElementTree.SubElement(assets, "material", attributes)


def add_defaults(parent: ElementTree.Element) -> None:
    """Add the default class of visual geoms."""
    visual = ElementTree.SubElement(parent, "default", {"class": "visual"})
    attributes = {"group": "2", "contype": "0", "conaffinity": "0", "mass": "0"}
    ElementTree.SubElement(visual, "geom", attributes)


def add_segment(body: ElementTree.Element, segment: str, side: float) -> None:
    """Add the geoms of a segment.

    Args:
        body: The body.
        segment: Its name without a side.
        side: 1 for the right side and the middle, -1 for the left.
    """
    for shape, material, numbers, size in _SHAPES[segment]:
        attributes = {"class": "visual", "type": shape, "material": material}
        _add_shape(body, attributes, numbers, size, side)
    suffix = "r" if side > 0 else "l"
    for name, shape, numbers, size in _SOLES.get(segment, []):
        attributes = {"name": f"{name}_{suffix}", "class": "sole", "type": shape}
        _add_shape(body, attributes, numbers, size, side)


def _add_shape(
    body: ElementTree.Element,
    attributes: dict[str, str],
    numbers: str,
    size: str,
    side: float,
) -> None:
    where = "fromto" if attributes["type"] == "capsule" else "pos"
    values = [float(v) for v in numbers.split()]
    values[1::3] = [side * v + 0.0 for v in values[1::3]]
    text = " ".join(f"{v:.6g}" for v in values)
    ElementTree.SubElement(body, "geom", {**attributes, where: text, "size": size})
