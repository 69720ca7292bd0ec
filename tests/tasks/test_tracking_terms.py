"""Terms and clips of the tracking tasks."""

from pathlib import Path

from mjlab.motion import MotionCommandCfg
from mjlab.tasks.tracking import TrackingG1ClipsCfg
from mjlab.tasks.tracking.clips import G1_CLIPS, G1_RANDOM_CLIPS
from mjlab.tasks.tracking.terms import terminations


def test_the_end_of_time_and_of_a_clip_are_no_failures_and_all_else_is() -> None:
    terms = terminations(("left_foot", "right_foot"))
    assert {name for name, term in terms.items() if term.time_out} == {
        "time_out",
        "motion_ends",
    }


def test_random_motions_are_clips_of_the_training_only() -> None:
    cfg = TrackingG1ClipsCfg()

    def clips(of: TrackingG1ClipsCfg) -> tuple[Path, ...]:
        command = of.commands["motion"]
        assert isinstance(command, MotionCommandCfg)
        return command.clips

    assert clips(cfg) == clips(cfg.play()) == (G1_CLIPS,)
    assert clips(cfg.for_training()) == (G1_CLIPS, G1_RANDOM_CLIPS)
    cfg.training_clips = ()
    assert clips(cfg.for_training()) == (G1_CLIPS,)
