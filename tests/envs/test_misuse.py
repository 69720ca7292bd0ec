"""Environments in forked processes, after `close`, in threads; invalid numbers."""

import copy
import gc
import multiprocessing
import os
import pickle
import signal
import threading
from typing import Any

import numpy as np
import pytest
import torch

import mjlab
from mjlab.envs import ConfigError, ManagerBasedRlEnv
from mjlab.managers import RewardTermCfg
from mjlab.sim import Simulation, SimulationUseError
from mjlab.tasks.cartpole import CartpoleBalanceCfg
from tests.worlds.models import g1_model


def cfg(num_envs: Any = 4, **changes: Any) -> CartpoleBalanceCfg:
    made = CartpoleBalanceCfg(**({"seed": 1} | changes))
    made.sim.backend = "native"
    made.scene.num_envs = num_envs
    return made


@pytest.fixture
def env() -> ManagerBasedRlEnv:
    made = ManagerBasedRlEnv(cfg())
    made.reset()
    made.step(torch.zeros(4, 1))
    return made


# --- Forks ----------------------------------------------------------------------------


def answer_of(call: Any) -> str:
    """Return the error of a call, as one line."""
    try:
        call()
    except RuntimeError as error:
        return str(error)
    return "nothing"


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_that_steps_suggests_spawn(env: ManagerBasedRlEnv) -> None:
    """A child process that hangs is ended by the alarm and prints nothing."""
    calls = (
        lambda: env.step(torch.zeros(4, 1)),
        env.reset,
        env.sim.step,
        env.sim.forward,
        env.sim.reset,
    )
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        signal.alarm(20)
        answers = [answer_of(call) for call in calls]
        os.write(writing, "\n".join(answers).encode())
        os._exit(0)
    os.close(writing)
    _, status = os.waitpid(child, 0)
    with os.fdopen(reading) as file:
        answers = file.read().splitlines()
    assert status == 0 and len(answers) == len(calls)
    for answer in answers:
        assert f"built in process {os.getpid()}" in answer
        assert "forked process" in answer and "get_context('spawn')" in answer
    env.step(torch.zeros(4, 1))


def test_a_single_graph_step_also_checks_the_process(
    env: ManagerBasedRlEnv, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A replay calls no method of the simulation, which would also raise."""
    replays: list[int] = []
    monkeypatch.setattr(env.runner, "run", lambda: replays.append(1))
    env.step(torch.zeros(4, 1))
    env.sim.process += 1
    with pytest.raises(SimulationUseError, match="was built in process"):
        env.step(torch.zeros(4, 1))
    assert replays == [1]


def step_in_child(env: ManagerBasedRlEnv, pipe: Any) -> None:
    pipe.send(answer_of(lambda: env.step(torch.zeros(4, 1))))


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_multiprocessing_child_suggests_spawn(
    env: ManagerBasedRlEnv,
) -> None:
    forked: Any = multiprocessing.get_context("fork")
    here, there = forked.Pipe()
    process = forked.Process(target=step_in_child, args=(env, there))
    process.start()
    answer = here.recv() if here.poll(20) else "it hangs"
    process.kill()
    process.join()
    assert "get_context('spawn')" in answer


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_can_free_the_environments_of_its_parent() -> None:
    """The alarm ends a child that waits for the threads of the parent."""
    made = [ManagerBasedRlEnv(cfg()), ManagerBasedRlEnv(cfg())]
    made[0].step(torch.zeros(4, 1))
    child = os.fork()
    if not child:
        signal.alarm(30)
        made.clear()
        gc.collect()
        own = ManagerBasedRlEnv(cfg())
        own.reset()
        del own
        gc.collect()
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert status == 0
    made[0].step(torch.zeros(4, 1))


# --- After close ----------------------------------------------------------------------


def test_a_closed_environment_is_read_but_not_stepped(env: ManagerBasedRlEnv) -> None:
    env.close()
    env.close()
    for call in (lambda: env.step(torch.zeros(4, 1)), env.reset, env.sim.step):
        with pytest.raises(SimulationUseError, match=r"is closed.* Build a new one"):
            call()
    assert env.episode_length_buf.tolist() == [1] * 4
    assert len(env.get_state()) > 10


def test_a_closed_simulation_neither_steps_nor_resets() -> None:
    sim = Simulation(g1_model(), 1, device="cpu")
    sim.close()
    for call in (sim.step, sim.forward, sim.reset):
        with pytest.raises(SimulationUseError, match="is closed"):
            call()


@pytest.mark.parametrize("numpy", [False, True])
def test_gymnasium_forms_are_not_stepped_after_close(numpy: bool) -> None:
    worlds: Any = mjlab.make("Cartpole-Balance", num_envs=2, numpy=numpy, seed=0)
    worlds.reset()
    actions = worlds.action_space.sample()
    worlds.close()
    with pytest.raises(SimulationUseError, match="is closed"):
        worlds.step(actions if numpy else torch.as_tensor(actions))


# --- Threads --------------------------------------------------------------------------


def test_a_second_thread_that_steps_is_refused() -> None:
    """The first thread stays in its step until the second one has finished."""
    entered, told = threading.Event(), threading.Event()

    def waiting(env: Any) -> torch.Tensor:
        if told.is_set() or threading.current_thread() is threading.main_thread():
            return torch.zeros(env.num_envs)
        entered.set()
        assert told.wait(20)
        return torch.zeros(env.num_envs)

    made = cfg()
    made.rewards["waiting"] = RewardTermCfg(func=waiting, weight=0.0)
    env = ManagerBasedRlEnv(made)
    env.reset()
    thread = threading.Thread(target=env.step, args=(torch.zeros(4, 1),))
    thread.start()
    assert entered.wait(20)
    for call in (lambda: env.step(torch.zeros(4, 1)), env.reset):
        with pytest.raises(RuntimeError, match="while another thread steps"):
            call()
    told.set()
    thread.join()
    env.step(torch.zeros(4, 1))
    assert env.episode_length_buf.tolist() == [2] * 4


def test_a_step_that_failed_does_not_block_the_next(env: ManagerBasedRlEnv) -> None:
    with pytest.raises(ValueError):
        env.step(torch.zeros(3, 1))
    env.step(torch.zeros(4, 1))
    with pytest.raises(TypeError):
        env.reset(seed=1.5)  # pyright: ignore[reportArgumentType]
    env.reset()


# --- Copies ---------------------------------------------------------------------------


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps])
def test_copies_of_environments_are_refused_with_a_remedy(
    env: ManagerBasedRlEnv, copied: Any
) -> None:
    with pytest.raises(TypeError, match=r"other\.set_state\(env\.get_state\(\)\)"):
        copied(env)
    with pytest.raises(TypeError, match=r"other\.restore\(sim\.snapshot\(\)\)"):
        copied(env.sim)


# --- Seeds, masks and numbers of worlds -----------------------------------------------


@pytest.mark.parametrize(
    "seed, error, text",
    [
        (-3, ValueError, r"seed is -3; it has to be from 0 to 2\*\*63 - 1"),
        (2**64, ValueError, "it has to be from 0"),
        (2**63 - 2, ValueError, "seed of the last world is"),
        (1.5, TypeError, "seed is a float; it has to be an integer"),
        (True, TypeError, "seed is a bool"),
        ("7", TypeError, "seed is a str"),
        ([1, 2], ValueError, "seed has 2 entries for 4 worlds"),
        ([1, 2, 3, 4.5], TypeError, r"seed\[3\] is 4\.5, a float"),
        ([1, None, 3, 4], TypeError, r"seed\[1\] is None"),
    ],
)
def test_an_invalid_seed_is_refused_with_the_valid_type(
    env: ManagerBasedRlEnv, seed: Any, error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text) as raised:
        env.reset(seed=seed)
    assert "\n" not in str(raised.value)


def test_numpy_seeds_equal_python_seeds(env: ManagerBasedRlEnv) -> None:
    seeds: list[Any] = [5, np.int64(5), np.uint8(5), [5, 6, 7, 8], np.arange(5, 9)]
    seen = [env.reset(seed=seed)[0]["actor"] for seed in seeds]
    others: Any = seen[1:]
    assert all(torch.equal(each, seen[0]) for each in others)  # pyright: ignore


@pytest.mark.parametrize("mask", [[True] * 4, np.ones(4, bool), True])
def test_a_mask_that_is_not_a_tensor_is_refused_with_the_valid_type(
    env: ManagerBasedRlEnv, mask: Any
) -> None:
    with pytest.raises(TypeError, match=r"has to be a bool tensor of shape \(4,\)"):
        env.reset(mask=mask)


@pytest.mark.parametrize("number", [2.5, "4", None, True, 0, -1])
def test_an_invalid_number_of_worlds_is_refused_with_the_valid_range(
    number: Any,
) -> None:
    said = r"scene\.num_envs.* has to be .*1 or more"
    with pytest.raises(ValueError, match=said):
        ManagerBasedRlEnv(cfg(number))
    with pytest.raises(ValueError, match=said):
        mjlab.make("Cartpole-Balance", num_envs=number)
    with pytest.raises((TypeError, ValueError), match=r"num_envs=.* 1 or more"):
        Simulation(g1_model(), number, device="cpu")


def test_numpy_numbers_are_accepted() -> None:
    env = ManagerBasedRlEnv(cfg(np.int64(3), seed=np.int32(5)))
    assert env.num_envs == 3 and type(env.num_envs) is int
    assert env.seed == 5 and type(env.seed) is int


@pytest.mark.parametrize("seed", [1.5, -1, "x", 2**64])
def test_a_seed_of_a_configuration_is_validated_too(seed: Any) -> None:
    with pytest.raises(ConfigError, match=r"seed is .*has to be"):
        ManagerBasedRlEnv(cfg(seed=seed))
