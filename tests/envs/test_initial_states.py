"""Cached resets: only stored states, and only where requested."""

from typing import Any

import pytest
import torch

from mjlab.envs import ManagerBasedRlEnv, ManagerBasedRlEnvCfg
from mjlab.envs.initial_states import CachedInitialStates, CacheError
from mjlab.gym import CachedReset, TorchVectorEnv
from tests.envs.test_properties import TASKS, actions, make, rows
from tests.tools.step_watch import watch
from tests.worlds.gym_tasks import cartpole, remembering, worlds
from tests.worlds.synthetic import SyntheticCfg

NUMBER = 3


def synthetic(num_envs: int, **changes: Any) -> ManagerBasedRlEnv:
    cfg = SyntheticCfg(seed=11, **changes)
    cfg.scene.num_envs, cfg.sim.backend = num_envs, "native"
    return ManagerBasedRlEnv(cfg, device="cpu")


def cached_states(env: ManagerBasedRlEnv, number: int) -> CachedInitialStates:
    return CachedInitialStates(env.program, env.state, env.cfg.events, number)


def poles(venv: Any) -> torch.Tensor:
    """Positions and velocities of the cartpoles, which identify a state."""
    data = venv.unwrapped.worlds.env.sim.data
    return torch.cat((data.qpos, data.qvel), dim=1)


@pytest.fixture(scope="module")
def made() -> tuple[CachedReset, torch.Tensor]:
    """Three worlds and their cached initial states, shape (number, worlds, 4)."""
    venv = CachedReset(TorchVectorEnv(worlds(remembering(), 3)), NUMBER)
    env = venv.unwrapped.worlds.env
    kept = env.get_state()
    known = []
    for index in range(NUMBER):
        states = venv.cache.states(torch.full((3,), index))
        env.set_state(kept | states)
        known.append(poles(venv).clone())
    env.set_state(kept)
    return venv, torch.stack(known)


def which(known: torch.Tensor, present: torch.Tensor) -> torch.Tensor:
    """Return the index of each world's state among its stored ones, or -1."""
    equal = (known == present).all(dim=-1)
    return torch.where(equal.any(dim=0), equal.long().argmax(dim=0), -1)


def test_every_episode_starts_from_a_cached_state_of_its_world(
    made: tuple[CachedReset, torch.Tensor],
) -> None:
    venv, known = made
    assert len(known.flatten(0, 1).unique(dim=0)) == 3 * NUMBER
    seen = set()
    for _ in range(20):
        venv.reset()
        found = which(known, poles(venv))
        assert (found >= 0).all()
        seen.update(enumerate(found.tolist()))
    assert len(seen) == 3 * NUMBER


@pytest.mark.parametrize("mode", ["same_step", "next_step", "disabled"])
def test_automatic_resets_start_from_cached_states(
    made: tuple[CachedReset, torch.Tensor], mode: str
) -> None:
    venv, known = made
    venv.use_autoreset(mode)
    venv.reset(seed=1)
    ended = torch.zeros(3, dtype=torch.bool)
    number = 0
    for _ in range(60):
        if mode == "disabled" and ended.any():
            venv.reset(options={"reset_mask": ended})
        _, _, terminated, truncated, _ = venv.step(torch.ones(3, 1))
        now = terminated | truncated
        begun = {"same_step": now, "next_step": ended, "disabled": ended & False}[mode]
        found = which(known, poles(venv))
        assert (found[begun] >= 0).all() and (found[~begun] == -1).all()
        number += int(begun.sum()) + (mode == "disabled" and int(ended.sum()))
        ended = now
    assert number > 6


def test_partial_reset_leaves_other_worlds_bit_identical(
    made: tuple[CachedReset, torch.Tensor],
) -> None:
    venv, known = made
    venv.use_autoreset("same_step")
    env = venv.unwrapped.worlds.env
    venv.reset(seed=2)
    for _ in range(4):
        venv.step(torch.zeros(3, 1))
    mask = torch.tensor([False, True, False])
    before = rows(env)
    venv.reset(options={"reset_mask": mask})
    after = rows(env)
    derived = {k for k in before if k.startswith(("data.", "derived."))}
    for key in (before.keys() - derived) | {"data.qpos", "data.qvel"}:
        assert torch.equal(before[key][~mask], after[key][~mask]), key
    assert int(which(known, poles(venv))[1]) >= 0


def test_cached_states_equal_states_after_resets() -> None:
    """Return the fields that events write, with masses and derived values."""
    cached, plain = synthetic(3), synthetic(3)
    cached.use_initial_states(cached_states(cached, 1))
    everyone = torch.ones(3, dtype=torch.bool)
    plain.rng.advance(everyone)
    plain.program.write_states(everyone)
    plain.program.refresh(0.0)
    cached.reset()
    assert torch.equal(cached.sim.data.qpos, plain.sim.data.qpos)
    assert torch.equal(cached.sim.data.qvel, plain.sim.data.qvel)
    for field in ("body_mass", "body_inertia", "body_invweight0", "dof_M0"):
        ours, theirs = cached.sim.model[field], plain.sim.model[field]
        assert torch.equal(ours, theirs), field
    robots = [env.scene.entity("robot").data for env in (cached, plain)]
    assert torch.equal(robots[0].encoder_bias, robots[1].encoder_bias)
    assert (robots[0].encoder_bias != 0.0).any()


def test_cached_reset_runs_no_reset_event() -> None:
    env = synthetic(3)
    env.reset(seed=4)
    before = env.get_state()
    cache = cached_states(env, 2)
    after = env.get_state()
    assert before.keys() == after.keys()
    for name, value in before.items():
        assert torch.equal(value, after[name]), name
    env.use_initial_states(cache)
    calls: list[str] = []
    apply = env.event_manager.apply

    def note(mode: Any, *settings: Any) -> None:
        calls.append(mode)
        apply(mode, *settings)

    env.event_manager.apply = note
    env.reset()
    assert "reset" not in calls
    env.use_initial_states()
    env.reset()
    assert "reset" in calls


def test_initial_state_does_not_depend_on_the_number_of_worlds() -> None:
    runs = []
    for number in (1, 4):
        venv = CachedReset(TorchVectorEnv(worlds(cartpole(), number)), NUMBER)
        seen = [venv.reset(seed=6)[0]]
        for _ in range(40):
            seen.append(venv.step(torch.ones(number, 1))[0])
        runs.append(torch.stack([each[0] for each in seen]))
    assert torch.equal(runs[0], runs[1])
    again, _ = venv.reset(seed=6)
    assert torch.equal(again, seen[0])


@pytest.mark.parametrize("engine", ["native", "warp"])
def test_an_episode_from_a_state_continues_identically(engine: str) -> None:
    """The first steps after a reset equal those after restoring the same state."""
    env = make("synthetic", 4, engine=engine)
    cache = cached_states(env, 2)
    env.use_initial_states(cache)
    env.reset(seed=8)
    for action in actions(env, 12):
        env.step(action)
    env.reset()
    state = env.get_state()
    states = cache.states(cache.draw())
    name = "sim.state" if engine == "native" else "sim.data.qpos"
    assert torch.equal(state[name], states[name])
    first = [env.step(action)[0]["actor"] for action in actions(env, 5)]
    env.set_state(state)
    again = [env.step(action)[0]["actor"] for action in actions(env, 5)]
    assert all(torch.equal(one, two) for one, two in zip(first, again, strict=True))


def test_no_host_read_occurs(monkeypatch: pytest.MonkeyPatch) -> None:
    env = make("synthetic", 4, engine="warp")
    cache = cached_states(env, 2)
    env.use_initial_states(cache)
    env.reset()
    mask = torch.tensor([True, False, True, False])
    with watch(env, monkeypatch) as seen:
        cache(mask)
    assert not seen.problems
    assert seen.launches > 5


def test_an_uncacheable_state_is_refused_with_the_reason() -> None:
    venv = TorchVectorEnv(worlds(cartpole(), 2))
    with pytest.raises(CacheError, match="number=0 is invalid: cache at least one"):
        CachedReset(venv, 0)
    cfg: ManagerBasedRlEnvCfg = TASKS["Velocity-Go1"]()
    cfg.scene.num_envs, cfg.sim.backend = 1, "native"
    with pytest.raises(CacheError) as caught:
        cached_states(ManagerBasedRlEnv(cfg, device="cpu"), 2)
    assert str(caught.value).startswith(
        "Cached initial states do not follow a terrain curriculum. Remove these "
        "curriculum terms: "
    )
