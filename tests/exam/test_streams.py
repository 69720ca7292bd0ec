"""Random streams, compared with the published numbers of the G1 exam."""

import math

import numpy as np
import pytest

from mjlab.exam.draws import draw_payloads, draw_punches, draw_route
from mjlab.exam.rules import Punches
from mjlab.exam.streams import Purpose, Stream
from mjlab.exam.tables import G1_EXAM, GO1_EXAM


def test_first_draws_of_the_route_are_the_published_ones() -> None:
    assert Stream(0, Purpose.ROUTE).draws(2).tolist() == [3825457058, 706492411]


@pytest.mark.parametrize(
    ("run", "purpose", "first", "second", "thousandth"),
    [
        (511, 4, 1018263017, 381883001, 238585820),
        (12345, 3, 2296465203, 2809435725, 283110492),
        (4000000000, 5, 1845186209, 4271813084, 1524800735),
    ],
)
def test_streams_equal_those_of_a_cpp_compiler(
    run: int, purpose: int, first: int, second: int, thousandth: int
) -> None:
    # From g++: std::seed_seq s{run, purpose}; std::mt19937 g(s);
    drawn = Stream(run, purpose).draws(1000)
    assert drawn[[0, 1, 999]].tolist() == [first, second, thousandth]


def test_first_target_is_the_published_one() -> None:
    route = draw_route(G1_EXAM, range(1))
    np.testing.assert_allclose(route.places[0, 0], (0.66225, 0.60810), atol=5e-6)
    assert route.headings[0, 0] == pytest.approx(3.12274, abs=5e-6)


def test_first_punch_is_the_published_one() -> None:
    plan = draw_punches(G1_EXAM, range(1))
    assert plan.joints[0, 0] == 23
    assert plan.on_child[0, 0]
    expected = (48.043, -88.537, -128.501)
    np.testing.assert_allclose(plan.forces[0, 0], expected, atol=5e-4)


def test_random_numbers_of_a_run_do_not_depend_on_other_runs() -> None:
    together, alone = (
        draw_punches(G1_EXAM, range(5, 9)),
        draw_punches(G1_EXAM, range(7, 8)),
    )
    np.testing.assert_array_equal(together.forces[2], alone.forces[0])


def test_targets_are_uniformly_distributed_on_their_disc() -> None:
    route = draw_route(G1_EXAM, range(64))
    distance = np.hypot(route.places[..., 0] - 0.3, route.places[..., 1])
    assert distance.max() <= 0.75
    # Uniform on a disc: the mean distance is two thirds of the radius.
    assert distance.mean() == pytest.approx(0.5, abs=0.03)
    assert (np.abs(route.headings) <= math.pi).all()


def test_impulses_of_punches_are_in_the_published_ranges() -> None:
    size = np.linalg.norm(draw_punches(G1_EXAM, range(64)).forces, axis=-1) * 0.08
    assert 6.6 < size[:, 0].min() and size[:, 0].max() < 13.4
    assert 20.0 <= size[:, 12:].min() and size[:, 12:].max() <= 40.0


def test_maximum_punch_grows_to_its_final_value() -> None:
    punches = Punches()
    shares = [punches.ceiling_at(s) / 500.0 for s in (0.0, 30.0, 60.0, 85.0)]
    assert shares == pytest.approx([1 / 3, 2 / 3, 1.0, 1.0])


def test_payload_stays_in_its_range() -> None:
    plan = draw_payloads(GO1_EXAM, range(8))
    assert plan.masses.min() >= 0.0 and plan.masses.max() <= 4.0
    assert plan.masses.std() > 0.8
    assert (np.abs(plan.offsets) <= (0.08, 0.04)).all()
