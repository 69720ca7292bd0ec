"""Episodes cut from rows, compared with manual lists."""

import numpy as np
import pytest

from mjlab.recording.episodes import EpisodeCutter, Steps
from mjlab.recording.layout import Ending, RecordedField, recording_layout

VALUE = recording_layout([RecordedField("value", (), "uint8")], []).step
NONE = np.zeros((0, 1), np.uint8)


def a_cutter(num_envs: int, block_rows: int = 64) -> EpisodeCutter:
    cutter = EpisodeCutter(num_envs, VALUE.row_bytes)
    cutter._block_rows = block_rows
    return cutter


@pytest.mark.parametrize("block_rows", [1, 2, 5, 64])
@pytest.mark.parametrize("size", [1, 3, 13])
def test_rows_are_cut_into_episodes_by_their_flags(size: int, block_rows: int) -> None:
    written, requested, held, dropped = (
        Ending.WRITTEN,
        Ending.REQUESTED,
        Ending.HELD,
        Ending.DROPPED,
    )
    rows = [
        (1, 0, 0, 10),  # Before the first episode start: no episode.
        (0, 0, 1, 0),
        (1, 0, 0, 11),
        (1, written, 1, 12),
        (1, 0, 0, 13),
        (0, dropped, 1, 0),
        (1, held, 1, 14),
        (1, 0, 0, 15),
        (0, requested, 1, 0),  # Writes 14; 15 continues.
        (1, 0, 0, 16),
        (0, requested, 1, 0),  # No episode waits: 15 and 16 are written.
        (1, written, 0, 17),
        (1, 0, 0, 18),  # After an end and before a start.
    ]
    stream = np.array(rows, np.uint8)[:, None, :]
    beginnings = np.arange(6, dtype=np.uint8)[:, None]
    shared = np.arange(len(rows), dtype=np.uint8)[:, None]
    cutter, found, begun = a_cutter(1, block_rows), [], 0
    for first in range(0, len(rows), size):
        steps = slice(first, first + size)
        found += cutter.add(Steps(stream[steps], beginnings[begun:], shared[steps]))
        begun += int(stream[steps, 0, 2].sum())
    assert [each.rows[:, 3].tolist() for each in found] == [
        [11, 12],
        [14],
        [15, 16],
        [17],
    ]
    assert [int(each.begin.own[0]) for each in found] == [0, 2, 3, 5]
    assert [int(each.begin.shared[0]) for each in found] == [1, 5, 6, 10]
    assert cutter.num_unrequested == 0


@pytest.mark.parametrize(
    ("ending", "found"),
    [
        (Ending.REQUESTED, [[10], [11]]),
        (Ending.REQUESTED_EMPTY, [[10], [11]]),
        (Ending.DISCARDED, []),
    ],
)
def test_a_request_concerns_the_held_episode_before_the_current_one(
    ending: Ending, found: list[list[int]]
) -> None:
    rows = [
        (0, 0, 1, 0),
        (1, Ending.HELD, 1, 10),
        (1, 0, 0, 11),
        (0, ending, 0, 0),
        (0, ending, 0, 0),
    ]
    stream = np.array(rows, np.uint8)[:, None, :]
    beginnings = np.zeros((2, 1), np.uint8)
    shared = np.zeros((len(rows), 1), np.uint8)
    episodes = a_cutter(1).add(Steps(stream, beginnings, shared))
    assert [each.rows[:, 3].tolist() for each in episodes] == found


def test_an_episode_keeps_its_beginning_when_memory_is_used_again() -> None:
    rows = np.zeros((2, 1, VALUE.row_bytes), np.uint8)
    beginnings, shared = np.zeros((2, 3), np.uint8), np.zeros((2, 4), np.uint8)
    cutter, found = a_cutter(1, 3), []
    for block in range(6):
        rows[:, 0] = [[1, 0, 0, 10 * block], [1, 0, 0, 10 * block + 1]]
        beginnings[:], shared[:] = 100 + block, 200 + block
        rows[0, 0, 2] = block == 1  # It starts after step 10, and ends with step 50.
        rows[0, 0, 1] = Ending.WRITTEN if block == 5 else Ending.CONTINUES
        found += cutter.add(Steps(rows, beginnings, shared))
        rows[:], beginnings[:], shared[:] = 255, 255, 255
    (episode,) = found
    assert episode.rows[:, 3].tolist() == [11, 20, 21, 30, 31, 40, 41, 50]
    assert episode.begin.own.tolist() == [101] * 3
    assert episode.begin.shared.tolist() == [201] * 4


def test_episodes_are_written_in_the_order_in_which_they_end() -> None:
    stream = np.zeros((4, 3, VALUE.row_bytes), np.uint8)
    stream[1:, :, 0] = 1
    # All start together; the last world ends first, the others together.
    stream[0, :, 2] = 1
    stream[1, 2, 1] = stream[3, :2, 1] = Ending.WRITTEN
    beginnings = np.arange(3, dtype=np.uint8)[:, None]
    found = a_cutter(3).add(Steps(stream, beginnings, np.zeros((4, 1), np.uint8)))
    assert [episode.world for episode in found] == [2, 0, 1]


@pytest.mark.parametrize(("keep", "worlds"), [(True, [0]), (False, [])])
def test_unfinished_episodes_are_kept_on_request_if_they_have_a_step(
    keep: bool, worlds: list[int]
) -> None:
    """Of three worlds, one has made a step, one none, and one has not started."""
    stream = np.zeros((2, 3, VALUE.row_bytes), np.uint8)
    stream[0, :2, 2] = 1
    stream[1, 0, 0] = 1
    cutter = a_cutter(3)
    beginnings, shared = np.zeros((2, 1), np.uint8), np.zeros((2, 1), np.uint8)
    assert cutter.add(Steps(stream, beginnings, shared)) == []
    assert [each.world for each in cutter.finish(keep=keep)] == worlds


def test_memory_is_bounded_by_the_longest_running_episode() -> None:
    cutter = a_cutter(1, 4)
    most = 0
    for step in range(100):
        rows = np.array([[[1, Ending.WRITTEN, 1, 0]]], np.uint8)
        rows[0, 0, 1:3] *= step % 10 == 0  # Episodes of ten steps.
        beginnings = np.zeros((1, 1), np.uint8)
        cutter.add(Steps(rows, beginnings, np.zeros((1, 1), np.uint8)))
        most = max(most, len(cutter._blocks))
    assert most <= 4
