"""Terminations: finished episodes, their reasons, and logs."""

import pytest
import torch

from mjlab.managers.term import TermError
from mjlab.managers.termination import TerminationManager, TerminationTermCfg
from mjlab.names import UnknownNameError
from tests.worlds.fake_env import FakeEnv


def column(env, index):
    return env.flags[:, index]


def build(num_envs=4):
    env = FakeEnv(num_envs, flags=torch.zeros(num_envs, 3, dtype=torch.bool))
    env.episode_length_buf += 1
    cfg = {
        "fell": TerminationTermCfg(func=column, params={"index": 0}),
        "late": TerminationTermCfg(func=column, params={"index": 1}, time_out=True),
        "lost": TerminationTermCfg(func=column, params={"index": 2}),
    }
    return env, TerminationManager(cfg, env)


def test_terminations_and_time_outs_are_separate_and_can_coincide():
    env, manager = build()
    #                                   fell  late  lost
    env.flags.copy_(torch.tensor([[0, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1]]) > 0)
    assert manager.compute().tolist() == [False, True, True, True]
    assert manager.terminated.tolist() == [False, True, False, True]
    assert manager.time_outs.tolist() == [False, True, True, False]
    assert manager.get_term("late").tolist() == [False, True, True, False]
    assert manager.get_term("lost").tolist() == [False, False, False, True]


def test_logged_termination_is_the_fraction_of_episodes_ended_by_the_term():
    env, manager = build(5)
    flags = [[1, 0, 0], [1, 1, 0], [0, 1, 0], [1, 0, 0], [0, 0, 0]]
    env.flags.copy_(torch.tensor(flags) > 0)
    mask = manager.compute()
    manager.reset(mask)
    env.episode_log.fold(mask)
    figures, count = env.episode_log.take()
    assert count == 4
    assert figures == {
        "Episode_Termination/fell": 0.75,
        "Episode_Termination/late": 0.5,
        "Episode_Termination/lost": 0.0,
    }


def test_termination_flags_persist_after_a_reset():
    env, manager = build()
    env.flags[0, 0] = True
    mask = manager.compute().clone()
    manager.reset(mask)
    env.episode_length_buf.masked_fill_(mask, 0)
    assert manager.terminated.tolist() == [True, False, False, False]
    assert manager.get_term("fell").tolist() == [True, False, False, False]
    assert manager.last_episode("fell").tolist() == [True, False, False, False]
    manager.reset(env.mask(0))
    assert manager.last_episode("fell").tolist() == [False] * 4


def test_the_last_episode_of_a_world_is_available_until_its_next_one_ends():
    env, manager = build()
    env.flags[0, 0] = True
    manager.reset(manager.compute().clone())
    env.flags.copy_(env.flags.roll(1, dims=0))
    manager.reset(manager.compute().clone())
    assert manager.last_episode("fell").tolist() == [True, True, False, False]


def test_worlds_can_be_ended_from_outside_for_one_step():
    env, manager = build()
    manager.compute()
    manager.end(env.mask(2))
    assert manager.dones.tolist() == [False, False, True, False]
    assert manager.terminated.tolist() == [False, False, True, False]
    assert manager.time_outs.any().item() is False
    assert manager.compute().any().item() is False


def test_without_terms_episodes_end_only_externally():
    env = FakeEnv(2)
    manager = TerminationManager({}, env)
    assert manager.compute().tolist() == [False, False]
    manager.end(env.mask(1))
    manager.reset(manager.dones)
    assert manager.dones.tolist() == [False, True]
    assert manager.compute().tolist() == [False, False]
    assert manager.terminated.tolist() == [False, False]


@pytest.mark.parametrize(
    ("func", "message"),
    [
        (lambda env: torch.zeros(4), r"returned torch.float32; .* torch.bool"),
        (lambda env: torch.zeros(4, 1) > 0, r"returned shape \(4, 1\)"),
        (lambda env: torch.zeros(()) > 0, r"returned shape \(\)"),
    ],
)
def test_a_term_of_the_wrong_shape_or_type_is_an_error_when_built(func, message):
    with pytest.raises(TermError, match=f"Termination term 'bad' {message}"):
        TerminationManager({"bad": TerminationTermCfg(func=func)}, FakeEnv(4))


def test_an_unknown_term_is_an_error_that_suggests_one():
    _, manager = build()
    with pytest.raises(UnknownNameError, match=r"no termination term 'fel'.*'fell'"):
        manager.get_term("fel")


def test_tensors_keep_their_address():
    env, manager = build()
    places = {n: t.data_ptr() for n, t in manager.state().items()}
    env.flags.fill_(True)
    manager.reset(manager.compute())
    assert {n: t.data_ptr() for n, t in manager.state().items()} == places
    assert [row[1] for row in manager.rows()] == [
        "termination",
        "time-out",
        "termination",
    ]
