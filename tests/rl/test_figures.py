"""Training figures: patience, files of figures, and decaying rates."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from tensordict import TensorDict

from mjlab.rl.algorithms import cloning
from mjlab.rl.algorithms.dagger import Dagger
from mjlab.rl.figures import Scores, Window
from mjlab.rl.logging import JsonlWriter, TensorboardWriter


def test_patience_is_a_number_of_evaluations_without_a_better_score() -> None:
    scores = Scores("score", target=None, patience=2)
    reasons = []
    for value in (1.0, 0.5, float("nan"), 0.9, 2.0, 1.0):
        figures = {"score": value}
        scores.judge(figures)
        reasons.append(scores.reason_to_stop(figures))
    assert [reason is not None for reason in reasons] == [False] * 3 + [True] + [
        False
    ] * 2
    assert "has not beaten 1 in 3 checks" in str(reasons[3])


def test_figures_up_to_the_resumed_iteration_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    writer = JsonlWriter(path)
    for iteration in range(1, 6):
        writer.write(iteration, {"a": float(iteration)})
    writer.close()
    writer = JsonlWriter(path, start=3)
    writer.write(4, {"a": -4.0})
    writer.close()
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [(one["iteration"], one["a"]) for one in lines] == [
        *((1, 1.0), (2, 2.0), (3, 3.0)),
        (4, -4.0),
    ]


@pytest.mark.parametrize(("start", "purged"), [(0, None), (1, 2), (7, 8)])
def test_tensorboard_purges_figures_after_the_resumed_iteration(
    start: int, purged: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []
    module = SimpleNamespace(
        SummaryWriter=lambda folder, purge_step: asked.append((folder, purge_step))
    )
    monkeypatch.setattr("importlib.import_module", lambda name: module)
    TensorboardWriter(tmp_path, start=start)
    assert asked == [(str(tmp_path), purged)]


def test_student_learning_rate_has_the_given_half_life() -> None:
    class Learner(Dagger):
        def __init__(self) -> None:
            self._first_rate, self._half_life, self._added = 0.8, 100, 200
            self._capacity, self._batch_size, self._num_updates = 4, 2, 0
            self.num_updates, self.device = 0, "cpu"
            self.optimizer = SimpleNamespace(param_groups=[{}])  # type: ignore
            self.student = SimpleNamespace(update_normalization=lambda seen: None)  # type: ignore
            self.storage = SimpleNamespace(  # type: ignore
                observations=torch.zeros(1, 1), clear=lambda: None
            )

        def _store(self) -> TensorDict:
            """Nothing is added."""
            rows = {"observations": torch.zeros(4, 1), "actions": torch.zeros(4, 1)}
            return TensorDict(rows, [4])

    learner = Learner()
    assert learner.update() == {}  # Without updates there is no loss.
    assert learner.learning_rate == pytest.approx(0.2)
    assert learner.optimizer.param_groups[0]["lr"] == pytest.approx(0.2)


@pytest.mark.parametrize("term", ["a", "b", "c"])
def test_the_columns_of_the_named_term_are_shuffled_and_no_others(term: str) -> None:
    manager: Any = SimpleNamespace(
        active_terms={"actor": ["a", "b", "c"]},
        group_obs_term_dim={"actor": [(1,), (2,), (1,)]},
    )
    rows = torch.arange(50.0)[:, None] + torch.arange(4.0) * 100.0
    seen = TensorDict({"actor": rows.clone()}, [50])
    torch.manual_seed(0)
    cloning._shuffle(seen, [term], manager)
    moved = (seen["actor"] != rows).any(dim=0).tolist()
    columns = {"a": [0], "b": [1, 2], "c": [3]}[term]
    assert moved == [column in columns for column in range(4)]
    own = seen["actor"][:, columns]
    assert torch.equal(own.sort(dim=0).values, rows[:, columns])


def test_reward_window_holds_the_latest_episodes() -> None:
    window = Window(10)
    assert window.means() == {}
    window.add(100.0, 50.0, 5.0)
    window.add(0.0, 0.0, 0.0)
    window.add(40.0, 30.0, 4.0)
    # Nine episodes are too few, so all of them count.
    assert window.means()["Train/mean_reward"] == pytest.approx(140 / 9)
    window.add(6.0, 12.0, 6.0)
    # The last two iterations have ten, so the first is dropped.
    assert window.means()["Train/mean_reward"] == pytest.approx(46 / 10)
    assert window.means()["Train/mean_episode_length"] == pytest.approx(42 / 10)
    other = Window(10)
    other.load_state(window.state())
    assert other.means() == window.means()
