"""Coordinators and cascades, compared with exact optima and hand arithmetic."""

import itertools

import numpy as np
import pytest
import torch

from mjlab.muscle import (
    BoxQp,
    CascadeCoordinator,
    MuscleCascade,
    MuscleNetwork,
    MuscleState,
    NetworkCoordinator,
    QpCoordinator,
    RefinedCoordinator,
    cascade_weights,
)
from tests.muscle.world import dense, muscle_map, random_states


def problems(name: str, count: int, size: float, seed: int = 0):
    """Torque maps of random states, and target torques, many of them infeasible."""
    _, state = random_states(name, count, seed)
    generator = torch.Generator().manual_seed(seed)
    shape = (count, state.torque_map.num_dofs)
    torque = size * torch.randn(shape, generator=generator, dtype=torch.float64)
    return state, torque


def hessian(state: MuscleState, torque: torch.Tensor, row: int):
    """The problem of one row in numpy: ½ aᵀHa − gᵀa + c, from the written objective."""
    matrix = dense(state.torque_map, state.red)[row].numpy()
    nd, nm = matrix.shape
    t = torque[row].numpy()
    curvature = matrix.T @ matrix / (1e4 * nd) + 0.01 / nm * np.eye(nm)
    return curvature, matrix.T @ t / (1e4 * nd), 0.5 * t @ t / (1e4 * nd)


def exact_optimum(h: np.ndarray, g: np.ndarray, c: float) -> float:
    """Try every combination of muscles at 0, at 1 and in between."""
    best, n = np.inf, len(g)
    for choice in itertools.product((0.0, 1.0, None), repeat=n):
        free = [i for i in range(n) if choice[i] is None]
        a = np.array([0.0 if v is None else v for v in choice])
        if free:
            a[free] = np.linalg.solve(h[np.ix_(free, free)], (g - h @ a)[free])
            if (a < 0.0).any() or (a > 1.0).any():
                continue
        best = min(best, 0.5 * a @ h @ a - g @ a + c)
    return best


def test_optimum_of_the_arm_is_the_best_of_all_active_sets():
    state, torque = problems("arm6", 12, 30.0)
    qp = BoxQp(state.torque_map)
    found = qp.objective(state.red, torque, qp.solve(state.red, torque, iterations=200))
    for row in range(12):
        best = exact_optimum(*hessian(state, torque, row))
        assert float(found[row]) == pytest.approx(best, rel=1e-4)


@pytest.mark.parametrize("name", ["w18", "w54"])
def test_optimum_of_the_walkers_is_certified_by_its_duality_gap(name):
    state, torque = problems(name, 40, 60.0)
    qp = BoxQp(state.torque_map)
    a = qp.solve(state.red, torque, iterations=1500)
    found = qp.objective(state.red, torque, a)
    for row in range(40):
        h, g, c = hessian(state, torque, row)
        x = a[row].numpy()
        assert float(found[row]) == pytest.approx(0.5 * x @ h @ x - g @ x + c)
        slope = h @ x - g
        # No point of the box is better by more than this.
        gap = np.maximum(slope * x, slope * (x - 1.0)).sum()
        assert gap <= 1e-4 * float(found[row]) + 1e-12
    assert (a >= 0).all() and (a <= 1).all() and (a > 0.99).any()


def test_optimum_in_float32_is_within_1e_4_of_that_in_float64():
    state, torque = problems("w18", 64, 50.0)
    qp = BoxQp(state.torque_map)
    exact = qp.objective(
        state.red, torque, qp.solve(state.red, torque, iterations=2000)
    )
    red, wanted = state.red.float(), torque.float()
    found = qp.objective(red, wanted, qp.solve(red, wanted, iterations=300))
    assert ((found - exact) / exact).max() < 1e-4


def test_a_warm_start_needs_fewer_iterations():
    state, torque = problems("w18", 32, 50.0)
    qp = BoxQp(state.torque_map)
    coordinator = QpCoordinator(qp, torch.zeros(32, 18).double(), iterations=20)
    first = qp.objective(state.red, torque, coordinator.act(state.red, torque)).mean()
    for _ in range(10):
        last = qp.objective(state.red, torque, coordinator.act(state.red, torque))
    cold = qp.objective(state.red, torque, qp.solve(state.red, torque, iterations=220))
    assert last.mean() < first
    assert float(last.mean()) == pytest.approx(float(cold.mean()), rel=1e-2)
    mask = torch.arange(32) < 1
    coordinator.reset(mask)
    again = coordinator.act(state.red, torque)[0]
    once = qp.solve(state.red[:1], torque[:1], iterations=20)[0]
    assert torch.equal(again, once)


def test_refinement_improves_a_network_towards_the_optimum():
    state, torque = problems("w18", 32, 40.0)
    red, torque = state.red.float(), torque.float()
    qp = BoxQp(state.torque_map)
    network = NetworkCoordinator(MuscleNetwork.for_map(muscle_map("w18")), 32)
    raw = qp.objective(red, torque, network.act(red, torque))
    refined = RefinedCoordinator(network, qp, iterations=20).act(red, torque)
    best = qp.objective(red, torque, qp.solve(red, torque, iterations=1000))
    better = qp.objective(red, torque, refined)
    assert (better <= raw).all()
    assert (better - best).mean() < 0.1 * (raw - best).mean()


@pytest.mark.parametrize("kind", ["network", "refined", "cascade"])
def test_activations_have_the_same_bits_whatever_other_worlds_there_are(kind):
    state, torque = problems("w18", 37, 40.0)
    red, torque = state.red.float(), torque.float()
    network = MuscleNetwork.for_map(muscle_map("w18"))
    found = []
    for rows in (37, 16, 1):
        coordinator = NetworkCoordinator(network, rows)
        if kind == "cascade":
            coordinator = CascadeCoordinator(cascade(), rows)
        if kind == "refined":
            coordinator = RefinedCoordinator(coordinator, BoxQp(state.torque_map))
        found.append(coordinator.act(red[:rows], torque[:rows]).clone())
    assert torch.equal(found[0][:16], found[1])
    assert torch.equal(found[0][:1], found[2])


def test_network_is_the_published_perceptron():
    network = MuscleNetwork(24, 6, 18)
    red, torque = torch.randn(5, 24) * 100, torch.randn(5, 6) * 50
    x = torch.cat((red / 200, torque / 200), dim=-1)
    for i in (0, 2, 4, 6):
        layer = network.fc[i]
        assert isinstance(layer, torch.nn.Linear)
        assert not layer.bias.any()
        bound = (6.0 / (layer.in_features + layer.out_features)) ** 0.5
        assert layer.weight.abs().max() <= bound
        x = x @ layer.weight.T
        if i < 6:
            x = torch.where(x > 0, x, 0.2 * x)
    y = network(red, torque)
    assert torch.allclose(y, x, atol=1e-5)
    assert torch.equal(network.activation(y), torch.tanh(y).clamp_min(0))
    sigmoid = MuscleNetwork(24, 6, 18, output="sigmoid")
    assert torch.allclose(sigmoid.activation(y), torch.sigmoid(y - 2), atol=1e-6)


# Cascades.


def cascade() -> MuscleCascade:
    networks = [
        MuscleNetwork(24, 6, 18, is_cascaded=j > 0, hidden=(32, 32, 32), seed=j)
        for j in range(3)
    ]
    return MuscleCascade(networks, [(), (0,), (0, 1)])


def test_a_cascade_is_trained_with_the_output_it_acts_on():
    networks = cascade()
    red, torque = torch.randn(7, 24) * 100, torch.randn(7, 6) * 50
    weights = torch.rand(7, 3)
    n0, n1, n2 = networks.networks
    y0 = n0(red, torque)
    y1 = weights[:, 1:2] * n1(red, torque, y0, weights[:, 1:2])
    y2 = weights[:, 2:3] * n2(red, torque, y0 + y1, weights[:, 2:3])
    assert torch.allclose(networks(red, torque, weights), y0 + y1 + y2, atol=1e-6)
    previous, own = networks.last_terms(red, torque, weights)
    assert torch.allclose(previous, y0 + y1, atol=1e-6)
    assert torch.allclose(own, y2, atol=1e-6)


def test_a_cascade_of_no_weight_is_its_first_network():
    networks = cascade()
    red, torque = torch.randn(7, 24) * 100, torch.randn(7, 6) * 50
    alone = networks.networks[0](red, torque)
    assert torch.equal(networks(red, torque, torch.zeros(7, 3)), alone)
    coordinator = CascadeCoordinator(networks, 7)
    full = coordinator.act(red, torque).clone()
    coordinator.weights[3] = 0.0
    changed = coordinator.act(red, torque)
    assert torch.allclose(changed[3], networks.activation(alone)[3], atol=1e-6)
    coordinator.reset(torch.arange(7) == 3)
    assert torch.equal(coordinator.act(red, torque), full)


def test_a_cascade_with_an_unused_network_is_refused():
    networks = list(cascade().networks)
    with pytest.raises(ValueError, match=r"The last network has children \(1,\)"):
        MuscleCascade(networks, [(), (0,), (1,)])  # pyright: ignore


def test_cascade_weights_are_the_published_formula():
    rng = np.random.default_rng(0)
    capacities = [rng.normal(0, 10, (4, 18)) for _ in range(3)]
    thresholds = rng.uniform(0.3, 0.8, (4, 3))
    edges = [(), (0,), (0, 1)]
    found = cascade_weights(
        [torch.tensor(c) for c in capacities], edges, torch.tensor(thresholds)
    )
    assert (found[:, 0] == 1).all()
    for j in (1, 2):
        d = np.min(
            [
                0.008 * np.linalg.norm(capacities[j] - capacities[k], axis=1)
                for k in edges[j]
            ],
            axis=0,
        )
        expected = 1 / (1 + np.exp(-1000 * (d - thresholds[:, j])))
        assert np.allclose(found[:, j].numpy(), expected, atol=1e-6)


@pytest.mark.parametrize(
    ("muscles", "hidden"),
    [*((n, (256,) * 3) for n in (5, 6, 7, 9, 11, 18)), (18, (6,)), (18, (11, 11))],
)
def test_a_world_has_the_same_activations_at_any_position(
    muscles: int, hidden: tuple[int, ...]
):
    network = MuscleNetwork(7, 3, muscles, hidden=hidden)
    random = torch.Generator().manual_seed(0)
    red, torque = (torch.randn(9, n, generator=random) * 100.0 for n in (7, 3))
    coordinator = NetworkCoordinator(network, 9, block=16)
    first = coordinator.act(red, torque).clone()
    assert first.shape == (9, muscles)
    for shift in range(1, 9):
        found = coordinator.act(red.roll(shift, 0), torque.roll(shift, 0))
        assert torch.equal(found, first.roll(shift, 0))
    with torch.no_grad():
        expected = network.activation(network(red, torque))
    torch.testing.assert_close(first, expected)
