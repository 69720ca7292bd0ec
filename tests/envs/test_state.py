"""A world's row of a state: restored, moved, and without effect on other rows."""

import itertools

import pytest
import torch

from mjlab.envs import ManagerBasedRlEnv
from mjlab.envs.state import StateError, is_per_world, world_row
from mjlab.sim.fields import STAGE_OF
from tests.envs.test_properties import TASKS, actions, make, rows

ENGINES = ["native", "warp"]
SLOW = pytest.mark.slow
NUMBERS = [1, 4, pytest.param(16, marks=SLOW)]
# Large robots test the same as small ones, and are slow.
NAMES = ["synthetic", "Cartpole-Balance"]
NAMES += [pytest.param(n, marks=SLOW) for n in TASKS if n not in NAMES]
DERIVED = {f"data.{name}" for name, stage in STAGE_OF.items() if stage}

Seen = list[dict[str, torch.Tensor]]


def run(env: ManagerBasedRlEnv, plan: torch.Tensor) -> Seen:
    """Return all results of the steps of a plan, by name."""
    seen = []
    for action in plan:
        observations, *rest, _ = env.step(action)
        names = ("reward", "terminated", "truncated")
        seen.append({**observations, **dict(zip(names, rest, strict=True))})
    return seen


def assert_same_row(ours: Seen, mine: int, theirs: Seen, other: int) -> None:
    for step, (one, two) in enumerate(zip(ours, theirs, strict=True)):
        for name, value in one.items():
            assert torch.equal(value[mine], two[name][other]), f"{name}, step {step}"


def mask_of(num_envs: int, worlds: set[int]) -> torch.Tensor:
    return torch.tensor([world in worlds for world in range(num_envs)])


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("num_envs", NUMBERS)
def test_restoring_some_worlds_leaves_others_bit_identical(
    engine: str, num_envs: int
) -> None:
    env = make("synthetic", num_envs, engine=engine)
    back = set(range(0, num_envs, 3))
    mask = mask_of(num_envs, back)
    plan = actions(env, 72)
    # By now the curriculum has changed its values, which worlds share.
    run(env, plan[:41])
    state = env.get_state()
    first = run(env, plan[41:52])
    env.reset(mask=~mask)  # Randomises the masses of the other worlds again.
    rows(env)  # All derived fields have been read and are stored from now on.
    before, whole = rows(env), env.get_state()
    env.set_state(state, mask)
    after = rows(env)
    assert before.keys() == after.keys()
    for key in before:
        assert torch.equal(before[key][~mask], after[key][~mask]), key
    # World by world, with the same actions as after the snapshot, or later ones.
    later = plan[52:63].clone()
    later[:, mask] = plan[41:52][:, mask]
    again = run(env, later)
    env.set_state(whole)
    straight = run(env, later)
    for world in range(num_envs):
        if world in back:
            assert_same_row(again, world, first, world)
        else:
            assert_same_row(again, world, straight, world)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("num_envs", NUMBERS)
def test_a_world_continues_identically_in_another_environment(
    name: str, num_envs: int
) -> None:
    # With the same seed, because startup events and terrain have used it. Adaptive
    # start frames would depend on failures of other worlds.
    home, away = (make(name, number, uncoupled=True) for number in (5, num_envs))
    plan = actions(home, 30)
    run(home, plan[:6])
    run(away, actions(away, 9))
    row = world_row(home.get_state(), 3)
    before = rows(away)
    place = num_envs - 1
    # Curricula depend on the number of steps, which all worlds share.
    away.put_rows({place: row}, shared=True)
    after, mask = rows(away), mask_of(num_envs, {place})
    for key, value in before.items():
        if is_per_world(key, value, num_envs):
            assert torch.equal(value[~mask], after[key][~mask]), key
    there = actions(away, 30)[6:]
    there[:, place] = plan[6:, 3]
    assert_same_row(run(home, plan[6:]), 3, run(away, there), place)


@pytest.mark.parametrize("engine", ENGINES)
def test_states_of_different_times_continue_side_by_side(engine: str) -> None:
    home, away = (make("synthetic", n, engine=engine) for n in (4, 3))
    plan = actions(home, 30)
    taken, seen = [], []
    for start in (0, 5, 11):
        taken.append(world_row(home.get_state(), 2))
        seen.append(run(home, plan[start : start + 5]))
        run(home, plan[start + 5 : start + 6])
    away.put_rows(dict(enumerate(taken)), shared=True)
    assert int(away.common_step_counter) == int(taken[0]["step_counter"])
    steps = [plan[start : start + 5, 2] for start in (0, 5, 11)]
    again = run(away, torch.stack(steps, dim=1))
    for place, expected in enumerate(seen):
        assert_same_row(again, place, expected, 2)


@pytest.mark.parametrize("num_envs", [1, 4])
@pytest.mark.parametrize("name", NAMES)
def test_shared_tensors_are_identified_by_name(name: str, num_envs: int) -> None:
    """Identified by their shapes in environments of 2 and of 3 worlds."""
    two, three, env = (make(name, n) for n in (2, 3, num_envs))
    kinds = [e.state.live() for e in (two, three)]
    for key, tensor in env.state.live().items():
        shapes = [kind[key].shape for kind in kinds]
        has_rows = shapes[0] != shapes[1]
        assert is_per_world(key, tensor, num_envs) == has_rows, key
        # A tensor with as many rows as worlds is not necessarily per world.
        assert has_rows or not tensor.ndim or not is_per_world(key, tensor, len(tensor))


@pytest.mark.parametrize("num_envs", [1, 4, pytest.param(64, marks=SLOW)])
@pytest.mark.parametrize("name", ["synthetic", "Velocity-Go1-Flat"])
def test_a_seeded_world_does_not_depend_on_other_worlds(
    name: str, num_envs: int
) -> None:
    """Other worlds are reset repeatedly; world 0 has a separate environment."""
    alone, beside = make(name, 1), make(name, num_envs)
    alone.reset(seed=5)
    beside.reset(seed=5)
    others = torch.ones(num_envs, dtype=torch.bool)
    others[0] = False
    plan = actions(beside, 20)
    for step, action in enumerate(plan):
        if step % 3 == 1:
            beside.reset(mask=others)
        if step % 5 == 2:
            beside.reset(seed=[step] * num_envs, mask=others)
        ours, theirs = run(alone, action[None, :1]), run(beside, action[None])
        assert_same_row(ours, 0, theirs, 0)


@pytest.mark.parametrize("num_envs", NUMBERS)
@pytest.mark.parametrize("name", NAMES)
def test_a_partial_reset_changes_only_the_selected_rows(
    name: str, num_envs: int
) -> None:
    """Engine state and model, managers, buffers, histories, random numbers."""
    env = make(name, num_envs, uncoupled=True)
    run(env, actions(env, 7))
    asked = mask_of(num_envs, set(range(0, num_envs, 2)))
    twin = env.get_state()
    before = rows(env)
    env.reset(mask=asked)
    after = rows(env)
    for key in before.keys() - DERIVED - {f"derived.{n}" for n in STAGE_OF}:
        assert torch.equal(before[key][~asked], after[key][~asked]), key
    counters = env.get_state()["rng.counter"]
    assert torch.equal(counters - twin["rng.counter"], asked.long())
    # And the other rows continue as without the change.
    plan = actions(env, 17)[7:]
    partly = run(env, plan)
    env.set_state(twin)
    whole = run(env, plan)
    for world in itertools.compress(range(num_envs), (~asked).tolist()):
        assert_same_row(partly, world, whole, world)


def test_mismatched_world_state_is_refused_by_name() -> None:
    env = make("synthetic", 4)
    row = world_row(env.get_state(), 1)
    with pytest.raises(IndexError, match=r"World 4 is out of range 0\.\.3"):
        world_row(env.get_state(), 4)
    lacking = {k: v for k, v in row.items() if k != "rng.counter"}
    with pytest.raises(StateError) as caught:
        env.put_rows({0: row, 1: lacking})
    assert str(caught.value) == (
        "The row for world 1 has other names than the first row. Present in only one "
        "of them: rng.counter."
    )
    with pytest.raises(StateError, match=r"other terms\. .*: rng\.counter\.$"):
        env.put_rows({0: lacking})
    short = row | {"rng.counter": torch.zeros(2, dtype=torch.int64)}
    with pytest.raises(StateError, match=r"'rng\.counter' has shape \(4, 2\)"):
        env.put_rows({0: short})


def test_a_state_of_the_other_engine_is_refused() -> None:
    ours, theirs = (make("synthetic", 4, engine=engine) for engine in ENGINES)
    with pytest.raises(StateError) as caught:
        theirs.set_state(ours.get_state())
    assert str(caught.value) == (
        "The state was saved on the native engine, but this environment uses the warp "
        "engine. Use get_state_dict(), which works on both."
    )


def test_state_has_the_same_keys_before_and_after_randomisation() -> None:
    """MuJoCo's batch stores constants per world only after they differ."""
    env = make("synthetic", 2)
    cfg = TASKS["synthetic"]()
    cfg.scene.num_envs, cfg.sim.backend, cfg.seed = 2, "native", 11
    fresh = ManagerBasedRlEnv(cfg, device="cpu")
    before = fresh.get_state()
    assert before.keys() <= env.get_state().keys()
    compiled = fresh.sim.mj_model.body_invweight0
    ours = before["sim.model.body_invweight0"][0].numpy()
    assert (ours == compiled).all()
    fresh.reset()
    drawn = fresh.get_state()
    changed = drawn["sim.model.body_invweight0"] != before["sim.model.body_invweight0"]
    assert changed.any()
    fresh.set_state(before)
    after = fresh.get_state()
    assert all(torch.equal(value, after[name]) for name, value in before.items())
