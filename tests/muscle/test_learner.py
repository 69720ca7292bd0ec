"""The tuple buffer, the learner, the weight store and the original format."""

import math
from typing import Any

import numpy as np
import pytest
import torch

from mjlab.muscle import (
    LearnerError,
    MuscleLearner,
    MuscleLearnerCfg,
    MuscleNetwork,
    MuscleRegression,
    MuscleTupleBuffer,
    MuscleTuples,
    TorqueMap,
    TupleLayout,
    WeightError,
    WeightStore,
    generating_muscle_nn,
    load_original,
    muscle_act_rate,
    original_preset,
    to_original,
)
from mjlab.muscle.network import cascade_term
from tests.muscle.world import dense, muscle_map, random_states

W18 = TupleLayout(24, 6, 18)


# The buffer.


def stamped(step: int, substep: int, num_envs: int) -> dict[str, torch.Tensor]:
    """Samples whose values encode world, step and substep."""
    code = (1000.0 * step + 10.0 * substep + torch.arange(num_envs) / 100.0).view(-1, 1)
    return {"red": code.repeat(1, 24), "torque": code.repeat(1, 6)}


def run(buffer: MuscleTupleBuffer, draws: torch.Tensor, step: int) -> None:
    buffer.begin(draws)
    for substep in range(buffer.num_substeps):
        buffer.record(**stamped(step, substep, len(draws)))
    buffer.end()


def test_a_row_is_whole_and_of_the_substep_that_was_drawn():
    buffer = MuscleTupleBuffer(W18, 5, 3, 4)
    draws = torch.tensor([0.0, 0.26, 0.5, 0.74, 0.999])
    run(buffer, draws, 0)
    rows = buffer.rows()
    assert rows.shape == (5, 30)
    for world, substep in enumerate([0, 1, 2, 2, 3]):
        expected = torch.tensor(10.0 * substep + world / 100.0)
        assert torch.equal(rows[world], expected.expand(30))


def test_non_finite_values_keep_the_previous_sample():
    buffer = MuscleTupleBuffer(W18, 3, 1, 1)
    run(buffer, torch.zeros(3), 0)
    parts = stamped(1, 0, 3)
    parts["torque"][1, 4], parts["red"][2, 0] = torch.nan, torch.inf
    buffer.begin(torch.zeros(3))
    buffer.record(**parts)
    buffer.end()
    wanted = [1000.0, *stamped(0, 0, 3)["red"][1:, 0].tolist()]
    assert buffer.rows()[:, 0].tolist() == wanted


def test_oldest_steps_are_overwritten_in_place():
    buffer = MuscleTupleBuffer(W18, 2, 3, 2)
    assert buffer.rows().shape == (0, 30)
    for step in range(4):
        run(buffer, torch.zeros(2), step)
    assert buffer.rows()[::2, 0].tolist() == [3000.0, 1000.0, 2000.0]
    saved = {k: v.clone() for k, v in buffer.state_dict().items()}
    other = MuscleTupleBuffer(W18, 2, 3, 2)
    other.load_state_dict(saved)
    run(other, torch.zeros(2), 4)
    assert other.rows()[::2, 0].tolist() == [3000.0, 4000.0, 2000.0]
    buffer.clear()
    assert not buffer.rows().numel()


def test_every_substep_is_as_likely_as_any_other():
    buffer = MuscleTupleBuffer(TupleLayout(1, 1, 1), 2000, 1, 20)
    generator = torch.Generator().manual_seed(0)
    counts = torch.zeros(20)
    for _ in range(5):
        buffer.begin(torch.rand(2000, generator=generator))
        for k in range(20):
            value = torch.full((2000, 1), float(k))
            buffer.record(red=value, torque=value)
        buffer.end()
        counts += torch.bincount(buffer.rows()[:, 0].long(), minlength=20)
    expected = counts.sum() / 20
    chi_square = float(((counts - expected) ** 2 / expected).sum())
    assert chi_square < 36.19  # 19 degrees of freedom, p = 0.01.


def test_parts_of_a_row_come_back_by_name():
    layout = TupleLayout(3, 2, 4, is_cascaded=True, has_activation=True)
    assert layout.width == 3 + 2 + 4 + 1 + 4
    parts = layout.parts(torch.arange(14.0).view(1, 14))
    assert parts["torque"].tolist() == [[3.0, 4.0]]
    assert parts["weight"].tolist() == [[9.0]]
    assert parts["activation"].tolist() == [[10.0, 11.0, 12.0, 13.0]]


# The learner.


def rows_of(count: int, seed: int = 0, size: float = 30.0) -> torch.Tensor:
    _, state = random_states("w18", count, seed)
    generator = torch.Generator().manual_seed(seed)
    torque = size * torch.randn(count, 6, generator=generator)
    return torch.cat((state.red.float(), torque), dim=-1)


def learner_of(cfg: MuscleLearnerCfg | None = None, seed: int = 0) -> MuscleRegression:
    network = MuscleNetwork.for_map(muscle_map("w18"), seed=seed)
    return MuscleRegression(network, TorqueMap(muscle_map("w18")), W18, cfg)


def test_loss_is_the_published_one():
    rows = rows_of(20)
    for cfg in (original_preset(), MuscleLearnerCfg()):
        learner = learner_of(cfg)
        red, torque = rows[:, :24], rows[:, 24:]
        y = learner.network(red, torque)
        a = torch.relu(torch.tanh(y))
        matrix = dense(TorqueMap(muscle_map("w18")), red)
        made = (matrix * a.unsqueeze(1)).sum(-1)
        expected = (((made - torque) / 100) ** 2).mean() + 0.01 * (a**2).mean()
        expected = expected + cfg.output_weight * (y**2).mean()
        assert torch.allclose(learner.loss(rows, None), expected, rtol=1e-5)
        taught = torch.rand(20, 18)
        expected = expected + cfg.teacher_weight * ((a - taught) ** 2).mean()
        assert torch.allclose(learner.loss(rows, taught), expected, rtol=1e-5)


def test_loss_of_slow_muscles_counts_the_activation_one_step_later():
    layout = TupleLayout(24, 6, 18, has_activation=True)
    prm = torch.tensor([0.01, 0.04, 0.0])
    network = MuscleNetwork.for_map(muscle_map("w18"))
    torques = TorqueMap(muscle_map("w18"))
    cfg = MuscleLearnerCfg(output_weight=0.0, effort_weight=0.0)
    learner = MuscleRegression(
        network, torques, layout, cfg, dynprm=prm, timestep=1 / 600
    )
    rows = torch.cat((rows_of(20), torch.rand(20, 18)), dim=-1)
    red, torque, act = rows[:, :24], rows[:, 24:30], rows[:, 30:]
    u = torch.relu(torch.tanh(network(red, torque)))
    reached = act + muscle_act_rate(u, act, prm) / 600
    expected = (((torques.torque(red, reached) - torque) / 100) ** 2).mean()
    assert torch.allclose(learner.loss(rows, None), expected, rtol=1e-5)
    with pytest.raises(LearnerError, match="pass `dynprm` and `timestep`"):
        MuscleRegression(network, torques, layout)


def test_the_loss_of_a_cascade_adds_the_outputs_of_the_others():
    layout = TupleLayout(24, 6, 18, is_cascaded=True)
    network = MuscleNetwork(24, 6, 18, is_cascaded=True)
    torques = TorqueMap(muscle_map("w18"))
    learner = MuscleRegression(network, torques, layout, original_preset())
    base = rows_of(20)
    before, weight = torch.randn(20, 18), torch.rand(20, 1)
    rows = torch.cat((base, before, weight), dim=-1)
    red, torque = base[:, :24], base[:, 24:]
    y = before + cascade_term(network, red, torque, before, weight)
    a = torch.relu(torch.tanh(y))
    expected = (((torques.torque(red, a) - torque) / 100) ** 2).mean()
    expected = expected + 0.01 * (a**2).mean() + 0.01 * (y**2).mean()
    assert torch.allclose(learner.loss(rows, None), expected, rtol=1e-5)


def test_two_hundred_steps_lower_the_loss_fivefold():
    rows = rows_of(800, size=50.0)
    cfg = original_preset()
    cfg.learning_rate = cfg.final_learning_rate = 2e-3
    cfg.output_weight, cfg.batch_size, cfg.epochs = 1e-4, 128, 33
    learner = learner_of(cfg)
    with torch.no_grad():
        before = float(learner.loss(rows, None))
    # What the optimum leaves cannot be learned away: much of this cannot be made.
    start = learner.measure(rows)
    floor = 2.0 * (start["objective"] - start["optimality_gap"])
    figures = learner.learn(rows)  # 33 epochs of 6 batches: 198 steps.
    assert figures["loss"] - floor < (before - floor) / 5
    assert figures["rows"] == 800 - 100
    assert figures["tuple_bytes"] == 800 * 30 * 4
    assert figures["learn_ms"] > 0.0
    assert figures["optimality_gap"] > 0.0
    assert figures["rms_torque"] > figures["optimum_rms_torque"] > 0.0


@pytest.mark.slow
def test_a_network_comes_within_thirty_percent_of_the_optimum():
    # The rows of the study, whose torques are often out of reach.
    rows = torch.cat([rows_of(1000, seed=seed, size=50.0) for seed in range(20)])
    others = torch.cat([rows_of(1000, seed=seed, size=50.0) for seed in (100, 101)])
    updates = 8
    cfg = MuscleLearnerCfg(
        batch_size=512, epochs=5, decay_updates=updates, teacher_iterations=50
    )
    learner = learner_of(cfg)
    for _ in range(updates):
        learner.learn(rows)
    figures = learner.measure(others)
    optimum = figures["objective"] - figures["optimality_gap"]
    print(f"gap {figures['optimality_gap'] / optimum:.3f} of the optimum")
    assert figures["optimality_gap"] <= 0.30 * optimum


def test_a_learner_resumes_from_its_checkpoint_bit_for_bit():
    rows = rows_of(100)
    cfg = MuscleLearnerCfg(batch_size=64, epochs=2, teacher_iterations=20)
    whole, parts = learner_of(cfg), learner_of(cfg)
    whole.learn(rows)
    parts.learn(rows)
    resumed = learner_of(cfg, seed=9)
    resumed.load_state_dict(parts.state_dict())
    whole.learn(rows)
    resumed.learn(rows)
    pairs = zip(
        whole.network.state_dict().values(),
        resumed.network.state_dict().values(),
        strict=True,
    )
    assert all(torch.equal(a, b) for a, b in pairs)


def test_the_learning_rate_falls_in_a_straight_line():
    cfg = MuscleLearnerCfg(batch_size=64, epochs=1, decay_updates=2, teacher_weight=0.0)
    learner, rates = learner_of(cfg), []
    for _ in range(4):
        learner.learn(rows_of(64))
        rates.append(learner.state_dict()["optimizer"]["param_groups"][0]["lr"])
    assert rates == pytest.approx([1e-3, 5.5e-4, 1e-4, 1e-4])


def test_gradients_are_clipped_once_as_in_the_preset():
    seen = []
    for cfg in (original_preset(), MuscleLearnerCfg(teacher_weight=0.0)):
        cfg.batch_size, cfg.epochs = 64, 1
        learner = learner_of(cfg)
        rows = rows_of(64)
        rows[:, 24:] *= 1e4
        learner.learn(rows)
        grads = [p.grad for p in learner.network.parameters() if p.grad is not None]
        largest = max(float(g.abs().max()) for g in grads)
        norm = math.sqrt(sum(float((g * g).sum()) for g in grads))
        seen.append((largest, norm))
    assert seen[0][0] == pytest.approx(0.5) and seen[0][1] > 1.0
    assert seen[1][1] == pytest.approx(1.0, rel=1e-3)


def test_the_original_preset_requires_a_full_batch():
    with pytest.raises(LearnerError) as caught:
        learner_of(original_preset()).learn(rows_of(100))
    assert str(caught.value) == (
        "There are 100 rows, fewer than batch_size=512. Collect more, lower it, or set "
        "allow_small_batch=True."
    )


def test_rows_of_another_model_are_refused():
    with pytest.raises(LearnerError, match="Rows have 31 columns; this model needs"):
        learner_of().learn(torch.zeros(10, 31))


# The weight store.


def same(a: torch.nn.Module, b: torch.nn.Module) -> bool:
    pairs = zip(a.state_dict().values(), b.state_dict().values(), strict=True)
    return all(torch.equal(x, y) for x, y in pairs)


def test_published_weights_and_scales_arrive_bit_for_bit():
    source = MuscleNetwork(24, 6, 18, seed=1, muscle_scale=123.0)
    target = MuscleNetwork(24, 6, 18, seed=2)
    store = WeightStore(source)
    before = [t.data_ptr() for t in target.state_dict().values()]
    assert store.fetch(target) == 0 and not same(source, target)
    assert store.publish(source.state_dict()) == 1
    assert store.fetch(target) == 1 and same(source, target)
    # In place: a captured graph goes on with the new weights.
    assert before == [t.data_ptr() for t in target.state_dict().values()]


def test_publishing_without_readers_leaves_the_last_weights_complete():
    network = MuscleNetwork(3, 2, 4, hidden=(8,))
    store = WeightStore(network)
    for version in range(1, 6):
        for tensor in network.state_dict().values():
            tensor.fill_(float(version))
        assert store.publish(network.state_dict()) == version
    target = MuscleNetwork(3, 2, 4, hidden=(8,))
    assert store.fetch(target) == 5 and same(network, target)


def test_weights_of_another_muscle_count_are_refused():
    store = WeightStore(MuscleNetwork(24, 6, 18))
    with pytest.raises(WeightError) as caught:
        store.publish(MuscleNetwork(24, 6, 20).state_dict())
    assert str(caught.value) == (
        "'fc.6.weight' has shape (20, 256), but this network needs (18, 256). Use "
        "weights of the same model."
    )


def test_insufficient_memory_is_refused():
    network = MuscleNetwork(24, 6, 18)
    size = WeightStore.nbytes_for(network)
    with pytest.raises(WeightError, match=f"need {size} bytes, but memory has 100"):
        WeightStore(network, bytearray(100))


# The original format.


def original_state(outputs: int = 18) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    widths = [30, 256, 256, 256, outputs]
    state = {}
    for i, layer in enumerate((0, 2, 4, 6)):
        shape = (widths[i + 1], widths[i])
        state[f"fc.{layer}.weight"] = rng.normal(0, 0.05, shape).astype(np.float32)
        state[f"fc.{layer}.bias"] = rng.normal(0, 0.05, shape[:1]).astype(np.float32)
    return state


def test_a_network_of_the_original_format_is_loaded_and_written_back():
    state = original_state()
    network = MuscleNetwork(24, 6, 18)
    load_original(network, state)
    back = to_original(network)
    assert set(back) == set(state)
    assert all(np.array_equal(back[k].numpy(), state[k]) for k in state)
    # What the original forgets to save is in ours.
    assert {"muscle_scale", "torque_scale"} <= set(network.state_dict())
    load_original(network, state, muscle_scale=50.0)
    assert float(network.muscle_scale) == 50.0


def test_original_methods_match_numpy():
    network = generating_muscle_nn(24, 6, 18, is_cpu=True)
    state = original_state()
    load_original(network, state)
    red, tau = np.linspace(-300, 300, 24), np.linspace(-40, 80, 6)
    x = np.concatenate((red / 200, tau / 200))
    for layer in (0, 2, 4, 6):
        x = state[f"fc.{layer}.weight"] @ x + state[f"fc.{layer}.bias"]
        if layer < 6:
            x = np.where(x > 0, x, 0.2 * x)
    y = network.unnormalized_no_grad_forward(red, tau, out_np=True)
    assert isinstance(y, np.ndarray)
    assert np.allclose(y, x, atol=1e-5)
    a = network.forward_filter(y)
    assert np.allclose(a.numpy(), np.maximum(np.tanh(x), 0.0), atol=1e-5)
    copy = network.get_state_dict()
    assert all(t.device.type == "cpu" for t in copy.values())


def test_an_original_network_of_a_cascade_receives_the_output_of_the_others():
    network = generating_muscle_nn(24, 6, 18, is_cpu=True, is_cascaded=True)
    red, tau, prev = torch.randn(3, 24), torch.randn(3, 6), torch.randn(3, 18)
    weight = torch.full((3, 1), 0.3)
    y = network.unnormalized_no_grad_forward(red, tau, prev, weight=0.3)
    assert isinstance(y, torch.Tensor)
    x = torch.cat((0.5 * prev, weight, red / 200, tau / 200), dim=-1)
    assert torch.allclose(y, network.fc(x), atol=1e-6)


def test_an_original_network_of_another_muscle_count_is_refused():
    with pytest.raises(RuntimeError, match=r"size mismatch for fc.6.weight: .*20, 256"):
        load_original(MuscleNetwork(24, 6, 18), original_state(outputs=20))


# The published programs' own names.


def published(**changed: Any) -> MuscleLearner:
    sizes = {"num_actuator_action": 6, "num_muscles": 18, "num_muscle_dofs": 24}
    return MuscleLearner(
        **{
            **sizes,
            "learning_rate": 1e-3,
            "num_epochs": 4,
            "batch_size": 64,
            "is_cascaded": False,
            "device": "cpu",
            **changed,
        }
    )


def test_learner_on_a_missing_gpu_is_refused_in_one_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(LearnerError, match=r"^device='cuda', but .* device='cpu'\.$"):
        published(device="cuda")


def missed(state: dict[str, torch.Tensor], tuples: MuscleTuples) -> float:
    """Root mean square torque error, by NumPy."""
    rows, w18 = torch.as_tensor(tuples.rows), tuples.map
    red, wanted = rows[:, :24], rows[:, 24:]
    y = torch.cat([red / 200.0, wanted / 200.0], dim=1)
    for layer in (0, 2, 4, 6):
        y = y @ state[f"fc.{layer}.weight"].T + state[f"fc.{layer}.bias"]
        y = torch.where(y > 0, y, 0.2 * y) if layer < 6 else y
    activation = torch.relu(torch.tanh(y))
    made = torch.zeros_like(wanted)
    for k, (muscle, dof) in enumerate(
        zip(w18.entry_muscle, w18.entry_dof, strict=True)
    ):
        made[:, dof] += red[:, k] * activation[:, muscle]
    return float((made - wanted).square().mean().sqrt())


def w18_tuples(count: int) -> MuscleTuples:
    generator = torch.Generator().manual_seed(3)
    draws = torch.randn(count, 30, generator=generator)
    scale = torch.cat([torch.full((24,), 60.0), torch.full((6,), 20.0)])
    return MuscleTuples((draws * scale).numpy(), muscle_map("w18"))


def test_a_learner_created_by_sizes_is_trained_with_the_tuples_of_worlds():
    learner = published()
    assert learner.device == torch.device("cpu")
    assert isinstance(learner.model, torch.nn.Module)
    tuples = w18_tuples(512)
    halves = tuple(MuscleTuples(half, tuples.map) for half in np.split(tuples.rows, 2))
    before = learner.get_state_dict()
    kept = {name: tensor.clone() for name, tensor in before.items()}
    figures = [learner.learn(halves) for _ in range(20)]
    assert figures[-1]["loss"] < figures[0]["loss"]
    after = learner.get_state_dict()
    assert all(tensor.device.type == "cpu" for tensor in after.values())
    assert all(torch.equal(before[name], kept[name]) for name in kept)  # Copies.
    assert missed(after, tuples) < 0.8 * missed(before, tuples)
    learner.learn(tuples)  # One world's.


def test_tuples_of_other_sizes_and_bare_rows_are_refused_by_name():
    tuples = w18_tuples(64)
    with pytest.raises(LearnerError, match=r"num_muscles is 17; .* tuples has 18"):
        published(num_muscles=17).learn(tuples)
    with pytest.raises(
        LearnerError, match=r"is a ndarray, not MuscleTuples.*get_muscle"
    ):
        published().learn([tuples.rows])  # pyright: ignore


def test_arrays_of_the_published_environments_train_like_tuples():
    tuples = w18_tuples(512)
    red, torque = np.split(tuples.rows, [24], axis=1)
    dense = np.zeros((512, 6, 18), np.float32)
    dense[:, tuples.map.entry_dof, tuples.map.entry_muscle] = red
    lists = [list(torque), list(red), list(dense)]  # Lists of rows, as from C++.
    halves = [[part[:256] for part in lists], [part[256:] for part in lists]]
    ours, one, several = published(), published(), published()
    loss = ours.learn(tuples)["loss"]
    assert one.learn(lists)["loss"] == loss
    assert several.learn(halves)["loss"] == loss
    for name, value in ours.get_state_dict().items():
        assert torch.equal(value, one.get_state_dict()[name])
        assert torch.equal(value, several.get_state_dict()[name])


def test_arrays_of_a_cascade_include_the_earlier_output_and_the_weight():
    red, torque = np.split(w18_tuples(64).rows, [24], axis=1)
    w18 = muscle_map("w18")
    dense = np.zeros((64, 6, 18), np.float32)
    dense[:, w18.entry_dof, w18.entry_muscle] = red
    earlier, weight = np.ones((64, 18)), np.full(64, 0.5)
    learner = published(is_cascaded=True)
    assert learner.learn([torque, red, dense, earlier, weight])["rows"] == 56
    with pytest.raises(LearnerError, match="30 columns; this model needs 49"):
        learner.learn([torque, red, dense])


def test_arrays_in_another_order_are_refused_with_the_order():
    red, torque = np.split(w18_tuples(8).rows, [24], axis=1)
    w18 = muscle_map("w18")
    dense = np.zeros((8, 6, 18), np.float32)
    dense[:, w18.entry_dof, w18.entry_muscle] = red
    with pytest.raises(LearnerError, match=r"\(tau_des, jta_reduced, jta\)"):
        published().learn([torque, red[:, ::-1], dense])
