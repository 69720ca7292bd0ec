"""The muscles of W18, from `gait10dof18musc`; credit in `anatomy.py`."""

from __future__ import annotations

from mjlab.tasks.muscle.anatomy import Muscle, Point, Wrap

W18_MUSCLES = (
    Muscle(
        "hamstrings",
        2700.0,
        0.109,
        0.326,
        0.0,
        (
            Point("pelvis", (-0.126, -0.1026, 0.0694)),
            Point("tibia", (-0.0301, -0.036, 0.0294)),
            Point("tibia", (-0.0234, -0.0563, 0.0343)),
        ),
    ),
    Muscle(
        "bifemsh",
        804.0,
        0.173,
        0.089,
        0.4014,
        (
            Point("femur", (0.005, -0.2111, 0.0234)),
            Point("tibia", (-0.0301, -0.036, 0.0294)),
            Point("tibia", (-0.0234, -0.0563, 0.0343)),
        ),
    ),
    Muscle(
        "glut_max",
        1944.0,
        0.147,
        0.127,
        0.0,
        (
            Point("pelvis", (-0.1349, 0.0176, 0.0563)),
            Point("pelvis", (-0.1376, -0.052, 0.0914)),
            Point("femur", (-0.0426, -0.053, 0.0293)),
            Point("femur", (-0.0156, -0.1016, 0.0419)),
        ),
    ),
    Muscle(
        "iliopsoas",
        2342.0,
        0.1,
        0.16,
        0.1396,
        (
            Point("pelvis", (-0.0647, 0.0887, 0.0289)),
            Point("pelvis", (-0.0238, -0.057, 0.0759)),
            Wrap("hip"),
            Point("femur", (-0.0188, -0.0597, 0.0104)),
        ),
    ),
    Muscle(
        "rect_fem",
        1169.0,
        0.114,
        0.31,
        0.0873,
        (
            Point("pelvis", (-0.0295, -0.0311, 0.0968)),
            Wrap("knee"),
            Point("tibia", (0.0496, 0.0234, 0.0014)),
        ),
    ),
    Muscle(
        "vasti",
        5000.0,
        0.087,
        0.136,
        0.0524,
        (
            Point("femur", (0.029, -0.1924, 0.031)),
            Point("femur", (0.0335, -0.2084, 0.0285)),
            Wrap("knee"),
            Point("tibia", (0.042, 0.0261, 0.0018)),
        ),
    ),
    Muscle(
        "gastroc",
        2500.0,
        0.06,
        0.39,
        0.2967,
        (
            Point("femur", (-0.019, -0.3929, -0.0235)),
            Point("femur", (-0.03, -0.4022, -0.0258)),
            Point("calcn", (0.0, 0.031, -0.0053)),
        ),
    ),
    Muscle(
        "soleus",
        5137.0,
        0.05,
        0.25,
        0.4363,
        (
            Point("tibia", (-0.0024, -0.1533, 0.0071)),
            Point("calcn", (0.0, 0.031, -0.0053)),
        ),
    ),
    Muscle(
        "tib_ant",
        3000.0,
        0.098,
        0.223,
        0.0873,
        (
            Point("tibia", (0.0179, -0.1624, 0.0115)),
            Point("tibia", (0.0329, -0.3951, -0.0177)),
            Point("calcn", (0.1166, 0.0178, -0.0305)),
        ),
    ),
)
