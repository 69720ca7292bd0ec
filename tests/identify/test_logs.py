"""Logs of the runner, and CSV with and without a mapping of columns."""

import json

import numpy as np
import pytest

from mjlab.identify import IdentifyError, Log, read_csv, read_runner_log, write_csv

TIMES = 0.01 * np.arange(30)
WAVE = np.sin(TIMES)


def csv_file(tmp_path, header: str, *columns: np.ndarray):
    path = tmp_path / "log.csv"
    rows = [",".join(f"{v:.8g}" for v in row) for row in zip(*columns, strict=True)]
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


def test_a_written_log_is_read_back(tmp_path):
    log = Log(TIMES, {"a": WAVE}, {"a": 2.0 * WAVE, "b": -WAVE}, {"a": WAVE}, {})
    write_csv(tmp_path / "log.csv", log)
    found = read_csv(tmp_path / "log.csv", ("a", "b"))
    for signal in ("target", "pos", "vel", "torque"):
        assert found.signal(signal).keys() == log.signal(signal).keys()
        for joint, values in log.signal(signal).items():
            assert np.allclose(found.signal(signal)[joint], values, atol=1e-6)


def test_columns_are_mapped_with_factors_and_stars(tmp_path):
    path = csv_file(
        tmp_path, "t_ms,q_a,q_b,want", 1e3 * TIMES + 70.0, WAVE, -WAVE, WAVE
    )
    columns = ("time=t_ms:0.001", "*.pos=q_*:2", "a.target=want")
    log = read_csv(path, ("a", "b"), columns)
    assert np.allclose(log.times, TIMES, atol=1e-6)
    assert np.allclose(log.pos["b"], -2.0 * WAVE, atol=1e-6)
    assert list(log.targets) == ["a"]


@pytest.mark.parametrize(
    ("header", "columns", "message"),
    [
        ("t,a.pos,a.target", (), r"no column 'time'.*'t'.*--columns time=COLUMN"),
        ("time,a.pos,x", (), r"has no targets"),
        ("time,x,a.target", (), r"has no positions"),
        ("time,x,a.target", ("a.pos=y",), r"no column 'y'.*'x'"),
        ("time,x,a.target", ("a.position=x",), r"'a\.pos'"),
        ("time,x,a.target", ("a.pos",), r"is not NAME=COLUMN"),
    ],
)
def test_a_wrong_column_is_named_with_the_right_ones(
    tmp_path, header, columns, message
):
    path = csv_file(tmp_path, header, TIMES, WAVE, WAVE)
    with pytest.raises(IdentifyError, match=message):
        read_csv(path, ("a",), columns)


@pytest.mark.parametrize(
    ("row", "value", "message"),
    [(4, 0.0, "time does not increase at row 5"), (0, np.nan, "time does not")],
)
def test_bad_times_are_refused(tmp_path, row, value, message):
    times = TIMES.copy()
    times[row] = value
    path = csv_file(tmp_path, "time,a.pos,a.target", times, WAVE, WAVE)
    with pytest.raises(IdentifyError, match=message):
        read_csv(path, ("a",))


def test_a_gap_and_a_short_log_are_refused(tmp_path):
    gap = WAVE.copy()
    gap[7] = np.nan
    path = csv_file(tmp_path, "time,a.pos,a.target", TIMES, gap, WAVE)
    with pytest.raises(IdentifyError, match=r"a\.pos is nan in row 8"):
        read_csv(path, ("a",))
    path = csv_file(tmp_path, "time,a.pos,a.target", TIMES[:5], WAVE[:5], WAVE[:5])
    with pytest.raises(IdentifyError, match="5 rows; at least 20"):
        read_csv(path, ("a",))


class FakePolicy:
    """Contract of a policy with two servos."""

    entity = {"joints": [{"name": "a"}, {"name": "b"}]}
    contract = {
        "robot": "robot",
        "actions": [
            {
                "entity": "robot",
                "quantity": "joint_pos",
                "relative_to": None,
                "output": "joint_pos_target",
                "targets": ["b", "a"],
            }
        ],
        "inputs": [
            {
                "name": "vel",
                "elements": ["a", "b"],
                "measured": {"kind": "joint_vel", "entity": "robot"},
            }
        ],
    }


def runner_log(tmp_path, *, positions: bool):
    rows = []
    for index in range(25):
        row = {
            "time": 5.0 + 0.02 * index,
            "commands": {},
            "measured": {"vel": [0.1 * index, -0.1 * index]},
            "targets": {"joint_pos_target": [index, 2.0 * index]},
            "damped": None,
        }
        if positions:
            row["joint_pos"] = [0.5 * index, 0.25 * index]
        rows.append(json.dumps(row))
    rows.append(json.dumps({**json.loads(rows[-1]), "damped": "fell", "targets": {}}))
    path = tmp_path / "steps.jsonl"
    path.write_text("\n".join(rows) + "\n")
    return path


def test_a_runner_log_is_read_up_to_the_stop(tmp_path):
    log = read_runner_log(runner_log(tmp_path, positions=True), FakePolicy())
    assert log.times[:2].tolist() == pytest.approx([0.0, 0.02])
    assert len(log.times) == 25
    assert log.targets["a"][3] == 6.0 and log.targets["b"][3] == 3.0
    assert log.pos["b"][4] == 1.0
    assert log.vel["b"][2] == pytest.approx(-0.2)


def test_a_runner_log_without_positions_is_refused(tmp_path):
    with pytest.raises(IdentifyError, match="has no positions"):
        read_runner_log(runner_log(tmp_path, positions=False), FakePolicy())
