"""Longer clips: a karate form, and a dance composed of the other clips."""

from mjlab.motion.tools.clips.standing import (
    ARMS_WIDE,
    HAND_UP,
    PUNCH_LEFT,
    PUNCH_RIGHT,
)
from mjlab.motion.tools.clips.stepping import LEFT, RIGHT, pivot
from mjlab.motion.tools.sketch import Sketch

CHAMBER_LEFT = {
    "left_shoulder_pitch": 0.7,
    "left_shoulder_roll": 0.12,
    "left_shoulder_yaw": 0.0,
    "left_elbow": -0.15,
}
CHAMBER_RIGHT = {
    "right_shoulder_pitch": 0.7,
    "right_shoulder_roll": -0.12,
    "right_shoulder_yaw": 0.0,
    "right_elbow": -0.15,
}
BLOCK_DOWN_LEFT = {
    "left_shoulder_pitch": -0.5,
    "left_shoulder_roll": 0.35,
    "left_shoulder_yaw": 0.2,
    "left_elbow": 1.2,
}
BLOCK_UP_RIGHT = {
    "right_shoulder_pitch": -1.7,
    "right_shoulder_roll": -0.35,
    "right_shoulder_yaw": 0.9,
    "right_elbow": -0.2,
}


def karate(m: Sketch) -> None:
    """Perform a karate form: block, step and punch, high block, kick, and step back."""
    m.hold(1.0)
    m.move(0.8, **CHAMBER_LEFT, **CHAMBER_RIGHT, height=-0.04)
    m.step(LEFT, 0.6, forward=0.18, left=0.02, shift=0.4)
    m.stand_on(None, 0.3)
    m.move(0.4, **BLOCK_DOWN_LEFT, waist_yaw=-0.2, height=-0.07)
    m.hold(0.3)
    m.move(0.35, **PUNCH_RIGHT, **CHAMBER_LEFT, waist_yaw=0.3)
    m.hold(0.3)
    m.step(RIGHT, 0.7, forward=0.36, left=-0.02, shift=0.4)
    m.stand_on(None, 0.3)
    m.move(0.35, **PUNCH_LEFT, **CHAMBER_RIGHT, waist_yaw=-0.3)
    m.hold(0.3)
    m.move(0.5, **BLOCK_UP_RIGHT, **CHAMBER_LEFT, waist_yaw=0.1)
    m.hold(0.3)
    m.move(0.35, **PUNCH_LEFT, **CHAMBER_RIGHT, waist_yaw=-0.3)
    m.hold(0.3)
    m.stand_on(RIGHT, 0.8)
    m.lift(LEFT, 0.6, up=0.16, forward=0.2, left=-0.04, pitch=0.3)
    m.lift(LEFT, 0.4, up=0.25, forward=0.55, left=-0.04, pitch=-0.45)
    m.lift(LEFT, 0.4, up=0.16, forward=0.2, left=-0.04, pitch=0.3)
    m.lift(LEFT, 0.6)
    m.stand_on(LEFT, 0.5)
    m.step(RIGHT, 0.7, forward=-0.18, left=0.02, shift=0.4)
    m.step(LEFT, 0.5, left=-0.02, shift=0.4)
    m.stand_on(None, 0.4)
    m.home(1.0)
    m.hold(1.0)


def dance(m: Sketch) -> None:
    """Dance for twenty seconds: side steps, a wave, a turn and back, and a bow."""
    beat = 0.5
    m.hold(2 * beat)
    for _ in range(2):
        start = m.now
        m.step(LEFT, beat, left=0.1, shift=0.3)
        m.step(RIGHT, beat, left=0.1, shift=0.3)
        m.step(RIGHT, beat, left=-0.1, shift=0.3)
        m.step(LEFT, beat, left=-0.1, shift=0.3)
        end = m.now
        m.at(start)
        for side in (1.0, -1.0, 1.0, -1.0):
            m.move(
                (end - start) / 4,
                left_shoulder_roll=0.9 + 0.5 * side,
                right_shoulder_roll=-0.9 + 0.5 * side,
                elbow=0.3,
                waist_yaw=0.25 * side,
            )
    m.stand_on(None, beat)
    m.move(2 * beat, **HAND_UP, height=-0.05, waist_roll=0.1, waist_yaw=0.0)
    for _ in range(3):
        m.move(beat, right_elbow=0.5, height=-0.01, waist_roll=-0.1)
        m.move(beat, right_elbow=-0.4, height=-0.05, waist_roll=0.1)
    m.home(2 * beat)
    for foot, side in ((LEFT, 1.0), (RIGHT, 1.0), (RIGHT, -1.0), (LEFT, -1.0)):
        pivot(m, foot, 0.6 * side, shift=0.3)
    m.stand_on(None, beat)
    m.move(2 * beat, **ARMS_WIDE)
    m.move(2 * beat, pitch=0.35, waist_pitch=0.35, shoulder_roll=0.5)
    m.home(2 * beat)
    m.hold(2 * beat)
