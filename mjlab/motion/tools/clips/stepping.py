"""Clips with steps: side steps, a kick, a full turn, and a walk."""

import math

from mjlab.motion.tools.sketch import Sketch

LEFT, RIGHT = "left_foot", "right_foot"
HALF_STANCE = 0.1185
"""Half the distance between the feet, in metres."""


def side_steps(m: Sketch) -> None:
    """Step to the left three times and back again, the arms opening and closing."""
    m.hold(1.0)
    for first, second, way in ((LEFT, RIGHT, 0.1), (RIGHT, LEFT, -0.1)):
        for _ in range(3):
            start = m.now
            m.step(first, 0.6, left=way, shift=0.35)
            m.step(second, 0.6, left=way, shift=0.35)
            m.at(start).move(0.95, shoulder_roll=0.5)
            m.move(0.95, shoulder_roll=0.2)
        m.stand_on(None, 0.6)
        m.hold(0.3)
    m.hold(0.7)


def kick(m: Sketch) -> None:
    """Kick forward with the right leg and then with the left one, hands in guard."""
    m.hold(1.0)
    m.move(0.8, shoulder_pitch=-0.5, shoulder_roll=0.3, elbow=-0.3)
    for foot, other in ((RIGHT, LEFT), (LEFT, RIGHT)):
        m.stand_on(other, 0.9)
        m.hold(0.2)
        inward = 0.04 if foot == RIGHT else -0.04
        m.lift(foot, 0.6, up=0.16, forward=0.02, left=inward, pitch=0.3)
        m.lift(foot, 0.4, up=0.26, forward=0.42, left=inward, pitch=-0.5)
        m.lift(foot, 0.5, up=0.16, forward=0.02, left=inward, pitch=0.3)
        m.lift(foot, 0.6)
        m.stand_on(None, 0.8)
        m.hold(0.3)
    m.home(0.9)
    m.hold(1.0)


def pivot(m: Sketch, foot: str, angle: float, *, shift: float) -> None:
    """Place a foot around the centre of the stance."""
    side = HALF_STANCE if foot == LEFT else -HALF_STANCE
    m.step(
        foot,
        0.5,
        forward=-side * math.sin(angle),
        left=-side * (1.0 - math.cos(angle)),
        turn=angle,
        up=0.05,
        shift=shift,
    )


def full_turn(m: Sketch) -> None:
    """Turn left by one full turn on the spot, in nine steps of each foot."""
    m.hold(1.0)
    angle = 2.0 * math.pi / 9
    for count in range(9):
        pivot(m, LEFT, angle, shift=0.25 if count else 0.4)
        pivot(m, RIGHT, angle, shift=0.25)
    m.stand_on(None, 0.6)
    m.hold(1.2)


def walk(m: Sketch) -> None:
    """Walk forward with fourteen steps, with counter-swinging arms."""
    stride, swing, shift = 0.4, 0.5, 0.15
    m.hold(0.4)
    m.move(0.6, height=-0.03)
    m.step(LEFT, swing, forward=0.5 * stride, shift=0.4)
    start = m.now
    for count in range(12):
        m.step((RIGHT, LEFT)[count % 2], swing, forward=stride, shift=shift)
    m.step(RIGHT, swing, forward=0.5 * stride, shift=shift)
    end = m.now
    m.stand_on(None, 0.6)
    m.hold(1.2)
    m.at(start - swing)
    beat = swing + shift
    for count in range(13):
        ahead, behind = ("right", "left") if count % 2 == 0 else ("left", "right")
        m.move(
            beat if count else swing,
            **{f"{ahead}_shoulder_pitch": -0.25, f"{ahead}_elbow": 0.4},
            **{f"{behind}_shoulder_pitch": 0.6, f"{behind}_elbow": 0.8},
            waist_yaw=0.12 if ahead == "right" else -0.12,
        )
    m.home(beat)
    m.at(end + 1.8)
