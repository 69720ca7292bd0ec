"""The muscles of W54, from `gait2354`; credit in `anatomy.py`.

Paths that are those of a muscle of W18 stand there.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from mjlab.tasks.muscle.anatomy import Muscle, Point, Wrap
from mjlab.tasks.muscle.w18_paths import W18_MUSCLES

_OF_W18 = {muscle.name: muscle for muscle in W18_MUSCLES}


def _as_in_w18(muscle: str, **differs: Any) -> Muscle:
    """Return a muscle of W18, but for the attributes that are given."""
    return replace(_OF_W18[muscle], **differs)


W54_MUSCLES = (
    Muscle(
        "glut_med1",
        1119.0,
        0.0535,
        0.078,
        0.1396,
        (
            Point("pelvis", (-0.0408, 0.0304, 0.1209)),
            Point("femur", (-0.0218, -0.0117, 0.0555)),
        ),
    ),
    Muscle(
        "glut_med2",
        873.0,
        0.0845,
        0.053,
        0.0,
        (
            Point("pelvis", (-0.0855, 0.0445, 0.0766)),
            Point("femur", (-0.0258, -0.0058, 0.0527)),
        ),
    ),
    Muscle(
        "glut_med3",
        1000.0,
        0.0646,
        0.053,
        0.3316,
        (
            Point("pelvis", (-0.1223, 0.0105, 0.0648)),
            Point("femur", (-0.0309, -0.0047, 0.0518)),
        ),
    ),
    _as_in_w18("hamstrings", name="bifemlh"),
    _as_in_w18("bifemsh"),
    Muscle(
        "sar",
        156.0,
        0.52,
        0.1,
        0.0,
        (
            Point("pelvis", (-0.0153, -0.0013, 0.1242)),
            Point("femur", (-0.003, -0.3568, -0.0421)),
            Point("tibia", (-0.0056, -0.0419, -0.0399)),
            Point("tibia", (0.006, -0.0589, -0.0383)),
            Point("tibia", (0.0243, -0.084, -0.0252)),
        ),
    ),
    Muscle(
        "add_mag2",
        2343.0,
        0.121,
        0.12,
        0.0524,
        (
            Point("pelvis", (-0.0831, -0.1192, 0.0308)),
            Point("femur", (0.0054, -0.2285, 0.0227)),
        ),
    ),
    Muscle(
        "tfl",
        233.0,
        0.095,
        0.425,
        0.0524,
        (
            Point("pelvis", (-0.0311, 0.0214, 0.1241)),
            Point("femur", (0.0294, -0.0995, 0.0597)),
            Point("femur", (0.0054, -0.4049, 0.0357)),
            Point("tibia", (0.006, -0.0487, 0.0297)),
        ),
    ),
    Muscle(
        "pect",
        266.0,
        0.1,
        0.033,
        0.0,
        (
            Point("pelvis", (-0.0431, -0.0768, 0.0451)),
            Point("femur", (-0.0122, -0.0822, 0.0253)),
        ),
    ),
    Muscle(
        "grac",
        162.0,
        0.352,
        0.126,
        0.0524,
        (
            Point("pelvis", (-0.074, -0.1187, 0.028)),
            Point("tibia", (-0.0194, -0.0515, -0.0358)),
            Point("tibia", (0.006, -0.0836, -0.0229)),
        ),
    ),
    Muscle(
        "glut_max1",
        573.0,
        0.142,
        0.125,
        0.0873,
        (
            Point("pelvis", (-0.1195, 0.0612, 0.07)),
            Point("pelvis", (-0.1291, 0.0012, 0.0886)),
            Point("femur", (-0.0457, -0.0248, 0.0392)),
            Point("femur", (-0.0277, -0.0566, 0.047)),
        ),
    ),
    _as_in_w18("glut_max", name="glut_max2", max_force=819.0),
    Muscle(
        "glut_max3",
        552.0,
        0.144,
        0.145,
        0.0873,
        (
            Point("pelvis", (-0.1556, -0.0314, 0.0058)),
            Point("pelvis", (-0.1529, -0.1052, 0.0403)),
            Point("femur", (-0.0299, -0.1041, 0.0135)),
            Point("femur", (-0.006, -0.1419, 0.0411)),
        ),
    ),
    Muscle(
        "iliacus",
        1073.0,
        0.1,
        0.1,
        0.1222,
        (
            Point("pelvis", (-0.0674, 0.0365, 0.0854)),
            Point("pelvis", (-0.0258, -0.055, 0.0811)),
            Wrap("hip"),
            Point("femur", (-0.0193, -0.0621, 0.0129)),
        ),
    ),
    _as_in_w18("iliopsoas", name="psoas", max_force=1113.0),
    Muscle(
        "quad_fem",
        381.0,
        0.054,
        0.024,
        0.0,
        (
            Point("pelvis", (-0.1143, -0.1151, 0.052)),
            Point("femur", (-0.0381, -0.0359, 0.0366)),
        ),
    ),
    Muscle(
        "gem",
        164.0,
        0.024,
        0.039,
        0.0,
        (
            Point("pelvis", (-0.1133, -0.082, 0.0714)),
            Point("femur", (-0.0142, -0.0033, 0.0443)),
        ),
    ),
    Muscle(
        "peri",
        444.0,
        0.026,
        0.115,
        0.1745,
        (
            Point("pelvis", (-0.1396, 0.0003, 0.0235)),
            Point("pelvis", (-0.1193, -0.0276, 0.0657)),
            Point("femur", (-0.0148, -0.0036, 0.0437)),
        ),
    ),
    _as_in_w18("rect_fem"),
    _as_in_w18("vasti", name="vas_int", fiber_length=0.107, tendon_length=0.116),
    _as_in_w18("gastroc", name="med_gas", fiber_length=0.09, tendon_length=0.36),
    _as_in_w18("soleus", max_force=4000.0),
    Muscle(
        "tib_post",
        3600.0,
        0.031,
        0.31,
        0.2094,
        (
            Point("tibia", (-0.0094, -0.1348, 0.0019)),
            Point("tibia", (-0.0144, -0.4051, -0.0229)),
            Point("calcn", (0.0417, 0.0334, -0.0286)),
            Point("calcn", (0.0772, 0.0159, -0.0281)),
        ),
    ),
    _as_in_w18("tib_ant"),
    Muscle(
        "ercspn",
        2500.0,
        0.12,
        0.03,
        0.0,
        (
            Point("pelvis", (-0.14, 0.044, 0.0436)),
            Point("torso", (-0.055, 0.11, 0.0241)),
        ),
    ),
    Muscle(
        "intobl",
        900.0,
        0.1,
        0.1,
        0.0,
        (
            Point("pelvis", (-0.04, 0.07, 0.1158)),
            Point("torso", (0.07, 0.16, 0.015)),
        ),
    ),
    Muscle(
        "extobl",
        900.0,
        0.12,
        0.14,
        0.0,
        (
            Point("pelvis", (-0.03, -0.0636, 0.01)),
            Point("torso", (0.065, 0.11, 0.11)),
        ),
    ),
)
