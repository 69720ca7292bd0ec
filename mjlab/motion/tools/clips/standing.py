"""Clips in place: wave, bow, squat, box, look around, and single-leg stance."""

from mjlab.motion.tools.sketch import Sketch

HAND_UP = {
    "right_shoulder_pitch": -0.2,
    "right_shoulder_roll": -1.35,
    "right_shoulder_yaw": -1.45,
    "right_elbow": -0.1,
}
GUARD = {
    "shoulder_pitch": -0.55,
    "shoulder_roll": 0.3,
    "shoulder_yaw": -0.05,
    "elbow": -0.55,
}
PUNCH_LEFT = {
    "left_shoulder_pitch": -1.5,
    "left_shoulder_roll": 0.05,
    "left_shoulder_yaw": 0.0,
    "left_elbow": 1.35,
}
PUNCH_RIGHT = {
    "right_shoulder_pitch": -1.5,
    "right_shoulder_roll": -0.05,
    "right_shoulder_yaw": 0.0,
    "right_elbow": 1.35,
}
GUARD_LEFT = {f"left_{name}": value for name, value in GUARD.items()}
GUARD_RIGHT = {
    "right_shoulder_pitch": -0.55,
    "right_shoulder_roll": -0.3,
    "right_shoulder_yaw": 0.05,
    "right_elbow": -0.55,
}
ARMS_WIDE = {"shoulder_pitch": 0.0, "shoulder_roll": 1.35, "elbow": 1.35}


def wave(m: Sketch) -> None:
    """Raise the right hand and wave five times, with a slight sway of the body."""
    m.hold(1.0)
    m.move(1.0, **HAND_UP, waist_roll=-0.05)
    for _ in range(5):
        m.move(0.4, right_elbow=0.55, waist_roll=0.04)
        m.move(0.4, right_elbow=-0.45, waist_roll=-0.04)
    m.hold(0.2)
    m.home(1.2)
    m.hold(1.0)


def bow(m: Sketch) -> None:
    """Bow twice from hips and waist, arms at the sides; the second bow is deeper."""
    m.hold(1.0)
    m.move(0.8, shoulder_pitch=0.15, shoulder_roll=0.22, elbow=1.3)
    m.move(1.2, pitch=0.25, waist_pitch=0.3, shoulder_pitch=0.0)
    m.hold(0.7)
    m.move(1.1, pitch=0.0, waist_pitch=0.0, shoulder_pitch=0.15)
    m.hold(0.6)
    m.move(1.4, pitch=0.45, waist_pitch=0.45, shoulder_pitch=-0.15, height=-0.02)
    m.hold(1.0)
    m.move(1.3, pitch=0.0, waist_pitch=0.0, shoulder_pitch=0.15, height=0.0)
    m.home(0.9)
    m.hold(1.0)


def squat(m: Sketch) -> None:
    """Squat three times, arms stretched forward as a counterweight."""
    m.hold(1.0)
    for depth in (0.14, 0.2, 0.24):
        m.move(
            1.5,
            height=-depth,
            pitch=0.25,
            waist_pitch=0.1,
            shoulder_pitch=-1.3,
            shoulder_roll=0.1,
            elbow=1.2,
        )
        m.hold(0.4)
        m.home(1.4)
        m.hold(0.3)
    m.hold(0.7)


def box(m: Sketch) -> None:
    """Take a guard with the weight low, and throw straight punches and a hook."""
    m.hold(1.0)
    m.move(0.8, **GUARD, height=-0.03)
    for _ in range(3):
        m.move(0.3, **PUNCH_LEFT, waist_yaw=-0.35)
        m.move(0.35, **GUARD_LEFT, waist_yaw=0.0)
        m.move(0.3, **PUNCH_RIGHT, waist_yaw=0.45)
        m.move(0.35, **GUARD_RIGHT, waist_yaw=0.0)
        m.move(0.4, height=-0.08, waist_roll=0.15)
        m.move(0.4, height=-0.03, waist_roll=0.0)
    m.move(0.35, waist_yaw=0.5, right_shoulder_roll=-1.2, right_elbow=-0.1)
    m.move(0.3, waist_yaw=-0.4)
    m.move(0.5, waist_yaw=0.0, **GUARD_RIGHT)
    m.home(1.0)
    m.hold(1.0)


def look_around(m: Sketch) -> None:
    """Turn the trunk to both sides, down and up, shading the eyes with a hand."""
    m.hold(1.0)
    m.move(1.2, waist_yaw=0.9, left_shoulder_roll=0.35, right_shoulder_pitch=-0.1)
    m.hold(0.5)
    m.move(1.8, waist_yaw=-0.9, left_shoulder_roll=0.2, right_shoulder_roll=-0.35)
    m.hold(0.5)
    m.move(1.0, waist_yaw=0.0, right_shoulder_roll=-0.2)
    m.move(
        1.0,
        right_shoulder_pitch=-0.9,
        right_shoulder_roll=-0.5,
        right_shoulder_yaw=0.45,
        right_elbow=-0.85,
    )
    m.move(1.2, waist_yaw=0.5, waist_pitch=0.12)
    m.move(1.6, waist_yaw=-0.5)
    m.home(1.3)
    m.hold(1.0)


def single_leg_stand(m: Sketch) -> None:
    """Stand on the left leg, arms out, then on the right one."""
    m.hold(1.0)
    for foot in ("right_foot", "left_foot"):
        other = "left_foot" if foot == "right_foot" else "right_foot"
        m.stand_on(other, 1.2)
        m.hold(0.3)
        m.move(0.8, shoulder_roll=0.9, elbow=1.2)
        inward = 0.06 if foot == "right_foot" else -0.06
        m.lift(foot, 0.8, up=0.15, left=inward, pitch=0.2)
        m.hold(1.6)
        m.lift(foot, 0.8)
        m.home(1.3)
        m.hold(0.3)
    m.hold(0.7)
