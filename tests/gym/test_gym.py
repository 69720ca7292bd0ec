"""Gymnasium's own checkers, and messages for invalid input."""

import subprocess
import sys
import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.envs.registration import EnvSpec
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env, data_equivalence
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers import TimeAwareObservation

import mjlab
from mjlab.gym import (
    ActionRepeat,
    FlattenActionSpace,
    FrameStack,
    NumpyVectorEnv,
    SingleEnv,
    TorchVectorEnv,
)
from mjlab.gym.torch_env import EndedRowsError
from mjlab.names import UnknownNameError
from mjlab.registry import load_task
from tests.worlds import gym_tasks

ID = "mjlab/Cartpole-Balance-v0"


def cartpole(num_envs: int = 3, **settings: Any) -> TorchVectorEnv:
    worlds = gym_tasks.worlds(gym_tasks.cartpole(), num_envs)
    return TorchVectorEnv(worlds, **settings)


# External checkers.


@pytest.mark.usefixtures("renderer_works")
@pytest.mark.parametrize(
    "task",
    ["Cartpole-Balance", pytest.param("Velocity-Go1-Flat", marks=pytest.mark.slow)],
)
def test_gymnasiums_checker_accepts_the_single_form(task: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gymnasium.make(f"mjlab/{task}-v0", backend="native", seed=1)
        check_env(env.unwrapped)


def test_the_checker_of_every_step_reports_no_errors() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gymnasium.make(ID, backend="native", max_episode_steps=40)
        env.action_space.seed(0)
        env.reset(seed=0)
        ends = 0
        for _ in range(100):
            _, _, terminated, truncated, _ = env.step(env.action_space.sample())
            if terminated or truncated:
                ends += 1
                env.reset()
    assert ends == 2


# Registration.


def test_all_tasks_are_known_to_gymnasium_by_name() -> None:
    from mjlab.registry import entries

    known = {name for name in gymnasium.registry if name.startswith("mjlab/")}
    assert known == {f"mjlab/{task_id}-v0" for task_id in entries()}


@pytest.mark.parametrize(
    "program",
    [
        "import mjlab.gym, gymnasium",
        "import gymnasium, mjlab.gym",
        "import gymnasium",
    ],
)
def test_id_is_registered_for_any_import_order(program: str) -> None:
    prefix = "" if "mjlab" in program else "mjlab.gym:"
    program += f"\nprint(gymnasium.envs.registration._find_spec('{prefix}{ID}').id)"
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=240
    )
    assert result.stdout.strip() == ID, result.stderr


def test_a_spec_survives_conversion_to_json() -> None:
    env = gymnasium.make(ID, backend="native", max_episode_steps=7, seed=1)
    again = gymnasium.make(EnvSpec.from_json(env.spec.to_json()))  # pyright: ignore[reportOptionalMemberAccess]
    assert data_equivalence(env.reset(seed=5), again.reset(seed=5), exact=True)
    many = gymnasium.make_vec(
        ID, num_envs=3, backend="native", autoreset_mode="disabled", numpy=True
    )
    more = gymnasium.make_vec(EnvSpec.from_json(many.spec.to_json()))  # pyright: ignore[reportOptionalMemberAccess]
    assert isinstance(more, NumpyVectorEnv) and more.num_envs == 3
    assert more.metadata["autoreset_mode"] is AutoresetMode.DISABLED
    assert many.spec == more.spec


def test_make_vec_returns_tensors_and_its_steps_are_limited() -> None:
    env = gymnasium.make_vec(ID, num_envs=2, backend="native", max_episode_steps=2)
    assert isinstance(env, TorchVectorEnv)
    env.reset(seed=0)
    assert not env.step(env.action_space.sample())[3].any()
    assert env.step(env.action_space.sample())[3].all()


@pytest.mark.usefixtures("renderer_works")
def test_each_row_has_its_own_picture() -> None:
    env = cartpole(2, render_mode="rgb_array")
    env.reset(seed=0)
    env.worlds.env.sim.data.qpos[1, 0] = 1.0  # pyright: ignore[reportAttributeAccessIssue]
    env.worlds.env.sim.forward()  # pyright: ignore[reportAttributeAccessIssue]
    frames = env.render()
    assert frames is not None and len(frames) == 2
    single = SingleEnv(
        gym_tasks.worlds(gym_tasks.cartpole(), 1), render_mode="rgb_array"
    )
    single.reset(seed=0)
    own = single.render()
    assert own is not None and own.shape == frames[0].shape == (720, 1280, 3)
    assert np.array_equal(frames[0], own) and not np.array_equal(frames[0], frames[1])


def test_closing_twice_is_harmless() -> None:
    env = cartpole()
    env.close()
    env.close()
    assert env.closed


# Seeds and rows.


def test_seed_none_in_a_list_keeps_the_random_state_of_that_world() -> None:
    env, other = cartpole(), cartpole()
    first, _ = env.reset(seed=[5, 6, 7])
    other.reset(seed=[5, 6, 7])
    mixed, _ = env.reset(seed=[5, None, 7])
    going_on, _ = other.reset()
    assert torch.equal(mixed[[0, 2]], first[[0, 2]])
    assert torch.equal(mixed[1], going_on[1])


@pytest.mark.parametrize("rows", [[1], np.array([1]), torch.tensor([1]), slice(1, 2)])
def test_partial_reset_does_not_change_other_worlds(rows: Any) -> None:
    env = cartpole()
    env.reset(seed=0)
    before, *_ = env.step(torch.ones(3, 1))
    options = {"env_idx": rows}
    after, info = env.reset(options=options)
    assert options == {"env_idx": rows} or options["env_idx"] is rows
    assert torch.equal(after[[0, 2]], before[[0, 2]])
    assert not torch.equal(after[1], before[1])
    assert info["elapsed_steps"].tolist() == [1, 0, 1]
    assert env.elapsed_steps.tolist() == [1, 0, 1]
    nobody, _ = env.reset(options={"env_idx": []})
    assert torch.equal(nobody, after)


BAD_RESETS: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"seed": "7"}, TypeError, "seed is a str; it has to be an integer, or a list"),
    ({"seed": 1.5}, TypeError, "seed is a float; it has to be an integer"),
    ({"seed": True}, TypeError, "seed is a bool; it has to be an integer"),
    ({"seed": -1}, ValueError, r"seed is -1; it has to be from 0 to 2\*\*63 - 1"),
    ({"seed": [1, 2]}, ValueError, "seed has 2 entries for 3 worlds"),
    ({"seed": [1, 2, 0.5]}, TypeError, r"seed\[2\] is 0.5, a float"),
    (
        {"options": {"reset_mask": np.ones(3, bool), "env_idx": [0]}},
        ValueError,
        "which both select worlds. Pass only one of them",
    ),
    (
        {"options": {"reset_maks": np.ones(3, bool)}},
        ValueError,
        "Unknown reset option 'reset_maks'.*'reset_mask'",
    ),
    (
        {"options": {"reset_mask": [True, False, False]}},
        TypeError,
        r"options\['reset_mask'\] is a list; it has to be an array or a tensor",
    ),
    (
        {"options": {"reset_mask": torch.ones(3)}},
        ValueError,
        r"type torch.float32; it has to be bools of shape \(3,\)",
    ),
    (
        {"options": {"reset_mask": np.ones(4, bool)}},
        ValueError,
        r"has shape \(4,\) and type bool; it has to be bools of shape \(3,\)",
    ),
    (
        {"options": {"reset_mask": np.zeros(3, bool)}},
        ValueError,
        "is False in all worlds",
    ),
    ({"options": {"env_idx": [3]}}, ValueError, "has 3; worlds have indices 0 to 2"),
    ({"options": {"env_idx": [-1]}}, ValueError, "has -1; worlds have indices 0 to 2"),
    (
        {"options": {"env_idx": np.ones(3, bool)}},
        TypeError,
        "has to be integers. Pass bools as 'reset_mask'",
    ),
]


@pytest.mark.parametrize("call, error, words", BAD_RESETS)
def test_an_ambiguous_reset_is_refused_with_the_reason(
    call: dict[str, Any], error: type[Exception], words: str
) -> None:
    env = _CARTPOLE[0] if _CARTPOLE else cartpole()
    _CARTPOLE.append(env)
    for each in (env, FrameStack(env, 2)):
        with pytest.raises(error, match=words):
            each.reset(**call)


_CARTPOLE: list[TorchVectorEnv] = []


def test_stepping_before_or_after_an_episode_is_an_error() -> None:
    env = cartpole(autoreset_mode="disabled")
    with pytest.raises(ResetNeeded, match=r"Call reset\(\) before the first step"):
        env.step(torch.zeros(3, 1))
    env.reset(seed=0)
    with pytest.raises(EndedRowsError, match=r"Worlds \[.*have finished.*reset_mask"):
        for _ in range(30):
            env.step(torch.ones(3, 1))


def test_an_unknown_id_is_refused_with_the_available_ones() -> None:
    with pytest.raises(ValueError, match=r"autoreset_mode='nextstep'.*'next_step'"):
        cartpole(autoreset_mode="nextstep")
    with pytest.raises(ValueError, match="render_mode='human' is unknown"):
        cartpole(render_mode="human")
    with pytest.raises(
        UnknownNameError, match=r"'actr'.*'actor'.*groups=None selects all"
    ):
        gym_tasks.worlds(gym_tasks.cartpole(), 1, groups="actr")
    with pytest.raises(UnknownNameError, match="no task 'Cartpole-Balanse'"):
        mjlab.make("Cartpole-Balanse")
    with pytest.raises(ValueError, match="needs exactly 1 world, but got 3"):
        SingleEnv(cartpole().worlds)
    with pytest.raises(ValueError, match="Unknown reset option 'seed'"):
        SingleEnv(gym_tasks.worlds(gym_tasks.cartpole(), 1)).reset(options={"seed": 1})


def test_an_action_of_the_wrong_shape_is_refused_with_the_right_one() -> None:
    env = cartpole()
    env.reset(seed=0)
    with pytest.raises(ValueError, match=r"has shape \(3, 2\); it has to be \(3, 1\)"):
        env.step(torch.zeros(3, 2))
    with pytest.raises(ValueError, match=r"action is None, but .* shape \(3, 1\)"):
        env.step(None)
    two = TorchVectorEnv(gym_tasks.worlds(gym_tasks.two_terms(), 2))
    two.reset(seed=0)
    with pytest.raises(
        ValueError, match=r"with the keys .'rear', 'front'.*FlattenActionSpace"
    ):
        two.step(torch.zeros(2, 12))
    with pytest.raises(ValueError, match=r"'front' has shape \(2, 5\)"):
        two.step({"rear": torch.zeros(2, 6), "front": torch.zeros(2, 5)})
    with pytest.raises(
        ValueError, match=(r"\(2, 12\): the concatenation of .'rear': 6, 'front': 6.")
    ):
        FlattenActionSpace(two).step(torch.zeros(2, 11))


def test_wrappers_name_the_wrapped_environment() -> None:
    arrays = NumpyVectorEnv(gym_tasks.worlds(gym_tasks.scripted(), 2))
    for wrap in (FlattenActionSpace, lambda env: FrameStack(env, 2)):
        with pytest.raises(TypeError, match="needs an environment with tensors"):
            wrap(arrays)  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="num_stack=0 has to be 1 or more"):
        FrameStack(arrays.tensors, 0)
    with pytest.raises(ValueError, match="repeat=0 has to be 1 or more"):
        ActionRepeat(arrays.tensors, 0)


def test_without_gymnasium_the_extra_is_named() -> None:
    program = (
        "import sys; sys.modules['gymnasium'] = None\n"
        "import mjlab.gym\n"
        "try: mjlab.gym.VectorEnv\n"
        "except ImportError as error: print(error)\n"
        "try: mjlab.make('Cartpole-Balance')\n"
        "except ImportError as error: print(error)"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=240
    )
    lines = result.stdout.splitlines()
    assert len(lines) == 2, result.stderr
    assert all('pip install "mjlab-fused[gym]"' in line for line in lines)


def test_a_spec_has_the_maximum_episode_length() -> None:
    task = load_task("Cartpole-Balance").env()
    steps = round(task.episode_length_s / (task.decimation * task.sim.mujoco.timestep))
    forms = (
        gymnasium.make(ID),
        gymnasium.make_vec(ID, num_envs=2),
        gymnasium.make_vec(ID, num_envs=2, numpy=True),
    )
    for env in forms:
        assert env.spec is not None and env.spec.max_episode_steps == steps
        env.close()
    timed = TimeAwareObservation(gymnasium.make(ID), normalize_time=True, flatten=True)
    first, _ = timed.reset(seed=1)
    second, *_ = timed.step(timed.action_space.sample())
    assert first[-1] == 0.0 and abs(second[-1] - 1.0 / steps) < 1e-9


def test_gymnasium_adds_the_modes_that_follow_from_pictures(
    renderer_works: None,
) -> None:
    env = gymnasium.make(ID, render_mode="rgb_array_list")
    env.reset(seed=1)
    for _ in range(2):
        env.step(env.action_space.sample())
    pictures: Any = env.render()
    assert len(pictures) == 3 and pictures[0].shape == pictures[2].shape
    env.close()
    with (
        pytest.warns(UserWarning, match="render_mode='ascii'"),
        pytest.raises(ValueError, match="Valid: None, 'rgb_array'"),
    ):
        gymnasium.make(ID, render_mode="ascii")
