"""The diagram of the two levels of muscle control."""

from generator.drawing import Picture

_HIGH = 92


def two_levels() -> str:
    """From observations to activations and back, and how the network learns."""
    picture = Picture(960, 452, "Two levels of muscle control")
    picture.text(24, 34, "A policy moves joints, a network moves muscles", "title")
    picture.box(24, 52, 912, 66, "box manager")
    picture.text(38, 76, "Policy: 30 times a second", "title")
    picture.text(38, 98, "observations → changes of the joints' targets", "small")
    picture.text(560, 76, "learns from rewards: PPO, after each rollout", "small")
    picture.text(560, 98, "knows joints, not muscles", "small")

    picture.box(24, 136, 912, 150, "panel")
    picture.text(266, 160, "Each physics step: 600 times a second", "title")
    parts = (
        ("Torque law", ("targets, state →", "wanted torques τ"), "box"),
        ("Muscle network", ("τ, torque map R →", "activations a in [0, 1]"), "box"),
        (
            "Muscles",
            ("joints get R a + passive", "force, length, velocity"),
            "box simulation",
        ),
        ("Physics", ("MuJoCo: native,", "or Warp"), "box simulation"),
    )
    for index, (name, lines, kind) in enumerate(parts):
        x = 40 + index * 226
        picture.box(x, 176, 196, _HIGH, kind)
        picture.text(x + 14, 200, name, "title")
        for row, words in enumerate(lines):
            picture.text(x + 14, 224 + 20 * row, words)
        if index:
            picture.arrow((x - 29, 222), (x - 2, 222))
    picture.arrow((138, 119), (138, 174))
    picture.text(148, 131, "targets", "small")
    picture.arrow((816, 175), (816, 121))
    picture.text(826, 131, "state", "small")

    picture.box(24, 322, 560, 108, "box")
    picture.text(38, 346, "Learner of the muscle network: after each rollout", "title")
    picture.text(38, 370, "‖R a - τ‖² + effort + distance from the optimum")
    picture.text(38, 392, "regression on rows (R, τ): one physics step, drawn", "small")
    picture.text(38, 409, "by chance, of each world and step of the policy", "small")
    picture.arrow((318, 269), (318, 320))
    picture.text(244, 308, "rows", "small")
    picture.arrow((430, 321), (430, 271))
    picture.text(440, 308, "weights, by version", "small")
    picture.box(604, 322, 332, 108, "box")
    picture.text(618, 346, "Instead of the network, or after it", "title")
    picture.text(618, 370, "the optimum: a box-constrained", "small")
    picture.text(618, 388, "quadratic programme", "small")
    picture.text(618, 412, "which teaches, and says how good a is", "small")
    return picture.finish()
