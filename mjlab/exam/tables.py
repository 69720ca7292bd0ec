"""Exams of the Unitree G1 (public) and of the Unitree Go1."""

from mjlab.exam.rules import Arms, Exam, HandBox, Payload, Punches, mirrored
from mjlab.tasks.robots.g1 import G1
from mjlab.tasks.robots.go1 import GO1

_LEG = tuple(
    f"left_{name}_joint"
    for name in (
        *("hip_pitch", "hip_roll", "hip_yaw"),
        *("knee", "ankle_pitch", "ankle_roll"),
    )
)
_WAIST = ("waist_yaw_joint", "waist_roll_joint", "waist_pitch_joint")
_ARM = tuple(
    f"left_{name}_joint"
    for name in (
        *("shoulder_pitch", "shoulder_roll", "shoulder_yaw", "elbow"),
        *("wrist_roll", "wrist_pitch", "wrist_yaw"),
    )
)
_MIRROR = (1.0, -1.0, -1.0, 1.0, -1.0, 1.0, -1.0)
_LEG_STANCE = (-0.312, 0.0, 0.0, 0.669, -0.363, 0.0)
_ARM_STANCE = (0.2, 0.2, 0.0, 0.6, 0.0, 0.0, 0.0)
_RIGHT_ARM_STANCE = tuple(s * q for s, q in zip(_MIRROR, _ARM_STANCE, strict=True))

G1_EXAM = Exam(
    name="g1",
    robot=G1,
    joints=(*_LEG, *mirrored(_LEG), *_WAIST, *_ARM, *mirrored(_ARM)),
    stance=(
        *_LEG_STANCE,
        *_LEG_STANCE,
        0.0,
        0.0,
        0.0,
        *_ARM_STANCE,
        *_RIGHT_ARM_STANCE,
    ),
    base="pelvis",
    imu="imu_in_pelvis",
    feet=("left_ankle_roll_link", "right_ankle_roll_link"),
    crane_height=0.793,
    fall_height=0.20,
    foot_loads=(30.0, 10.0),
    arms=Arms(
        left=_ARM,
        right=mirrored(_ARM),
        mirror=_MIRROR,
        torso="torso_link",
        hands=(
            HandBox(
                body="left_wrist_yaw_link",
                low=(0.0415, -0.0449, -0.0430),
                high=(0.1733, 0.0217, 0.0635),
            ),
            HandBox(
                body="right_wrist_yaw_link",
                low=(0.0415, -0.0217, -0.0430),
                high=(0.1733, 0.0449, 0.0635),
            ),
        ),
        chin_joint="left_shoulder_pitch_joint",
    ),
)
"""The public exam of rhoyn/teleop-walking-benchmark (2026)."""

_MASS_RATIO = 12.743 / 35.112
"""Mass of the Go1 divided by the mass of the G1 in the public exam."""

_GO1_LEGS = ("FR", "FL", "RR", "RL")

GO1_EXAM = Exam(
    name="go1",
    robot=GO1,
    joints=tuple(
        f"{leg}_{part}_joint" for leg in _GO1_LEGS for part in ("hip", "thigh", "calf")
    ),
    stance=tuple(
        q for leg in _GO1_LEGS for q in (0.1 if leg.endswith("R") else -0.1, 0.9, -1.8)
    ),
    base="trunk",
    imu="imu",
    feet=tuple(f"{leg}_calf" for leg in _GO1_LEGS),
    crane_height=0.315,
    fall_height=0.15,
    foot_loads=(30.0 * _MASS_RATIO, 10.0 * _MASS_RATIO),
    punches=Punches(ceiling=500.0 * _MASS_RATIO),
    payload=Payload(
        mass=(0.0, 4.0),
        centre=(0.0, 0.0, 0.10),
        offset=(0.08, 0.04),
        half_size=(0.10, 0.08, 0.05),
    ),
)
"""Exam of the Go1: the G1's route, punches scaled by mass, and a changing payload."""

EXAMS = {exam.name: exam for exam in (G1_EXAM, GO1_EXAM)}
"""Exams by name."""
