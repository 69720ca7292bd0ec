"""`mjlab.make`, `mjlab.load_policy` and `mjlab.rollout`, as typed in a notebook."""

from pathlib import Path

import pytest
import torch

import mjlab
from mjlab.names import UnknownNameError
from mjlab.registry import load_task
from mjlab.rl import load_policy
from tests.tools.film_reader import read_film

TASK = "Cartpole-Balance"
SMALL = {"num_envs": 4, "backend": "native", "seed": 1}


@pytest.fixture
def env():
    made = mjlab.make(TASK, **SMALL)
    yield made
    made.close()


@pytest.fixture
def shipped() -> Path:
    place = load_task(TASK).trained
    assert place is not None
    return place


def test_a_task_names_the_policy_that_ships_with_it(env, shipped, tmp_path):
    policy = mjlab.load_policy(TASK, env, logs=tmp_path)
    expected = load_policy(shipped, env.worlds.env)
    seen = env.reset(seed=0)[0]
    assert torch.equal(policy(seen), expected({"actor": seen}))
    assert torch.equal(policy({"actor": seen}), expected({"actor": seen}))
    alone = policy(seen[0].numpy())
    torch.testing.assert_close(alone, expected({"actor": seen})[0])


def test_a_run_and_a_checkpoint_are_the_same_policy(env, shipped, tmp_path):
    seen = env.reset(seed=0)[0]
    (checkpoint,) = (shipped / "checkpoints").glob("*.pt")
    of_run = mjlab.load_policy(shipped, env, logs=tmp_path)
    of_file = mjlab.load_policy(str(checkpoint), env, logs=tmp_path)
    assert torch.equal(of_run(seen), of_file(seen))


def test_an_unbound_policy_says_how_to_bind_it(tmp_path):
    policy = mjlab.load_policy(TASK, logs=tmp_path)
    with pytest.raises(ValueError, match=r"mjlab\.load_policy\(place, env\)"):
        policy(torch.zeros(4, 5))


def test_a_gymnasium_id_names_a_policy(tmp_path):
    assert mjlab.load_policy(f"mjlab/{TASK}-v0", logs=tmp_path).task == TASK


def test_rewards_by_term_add_up_to_the_reward(env, tmp_path):
    policy = mjlab.load_policy(TASK, logs=tmp_path)
    steps = 30
    seconds = steps * env.worlds.env.step_dt
    result = mjlab.rollout(env, policy, seconds=seconds, seed=3)
    # The same episodes, stepped by hand.
    observations, totals = env.reset(seed=3)[0], []
    for _ in range(steps):
        observations, reward, *_ = env.step(policy(observations))
        totals.append(reward.mean())
    found = torch.stack([*result.rewards.values()]).sum(dim=0)
    torch.testing.assert_close(found, torch.stack(totals))
    assert [*result.rewards] == env.worlds.env.reward_manager.active_terms
    returns = torch.stack(totals).double().sum()
    torch.testing.assert_close(result.returns.mean(), returns, rtol=1e-5, atol=0.0)
    assert result.lengths.tolist() == [steps] * 4
    assert result.film is None


def test_a_function_gets_what_the_environment_returns(env):
    seen = []

    def still(observations: torch.Tensor) -> torch.Tensor:
        seen.append(observations)
        return torch.zeros(4, 1)

    mjlab.rollout(env, still, seconds=0.1, seed=3)
    assert torch.equal(seen[0], env.reset(seed=3)[0])


def test_the_chart_names_the_terms_with_the_largest_first(env):
    result = mjlab.rollout(env, lambda seen: torch.zeros(4, 1), seconds=0.2, seed=3)
    chart = result.plot_rewards()
    means = [sum(line.y) for line in chart.lines]
    assert means == sorted(means, reverse=True)
    drawn = chart._repr_svg_()
    assert drawn.startswith("<svg")
    assert all(name in drawn for name in result.rewards)


def test_a_film_has_the_frames_of_the_rollout(env, tmp_path, renderer_works):
    path = tmp_path / "balance.mp4"
    size = {"film_size": (128, 96), "film_worlds": 4}
    result = mjlab.rollout(
        env, lambda seen: torch.zeros(4, 1), seconds=0.5, seed=0, film=path, **size
    )
    film = read_film(path)
    # Four worlds fill the size of the film.
    assert film.size == (128, 96)
    assert len(film.frames) / film.fps == pytest.approx(0.5, abs=1.0 / film.fps)
    assert result.film is not None
    assert result.film._repr_html_().startswith("<video")


def test_a_file_with_a_configuration_makes_worlds(tmp_path):
    file = tmp_path / "shorter.py"
    file.write_text(
        "from mjlab.tasks.cartpole import CartpoleBalanceCfg\n\n\n"
        "class ShortCfg(CartpoleBalanceCfg):\n    episode_length_s = 0.1\n"
    )
    env = mjlab.make(f"{file}:ShortCfg", **SMALL)
    assert env.worlds.max_episode_steps == round(0.1 / env.worlds.env.step_dt)
    env.close()


def test_a_run_makes_the_environment_of_its_policy(shipped):
    env = mjlab.make(shipped, **SMALL)
    assert env.worlds.env.task == TASK
    assert env.num_envs == 4
    env.close()


def test_a_mistyped_task_is_answered_with_the_nearest():
    with pytest.raises(UnknownNameError, match="no task 'Cartpole-Balanse'"):
        mjlab.make("Cartpole-Balanse")


@pytest.mark.slow
def test_an_onnx_file_runs_in_the_environment_of_its_contract(env, shipped, tmp_path):
    from mjlab.export import export_run
    from mjlab.runs import Run

    run = Run(shipped)
    file = export_run(run, run.configs(), to=tmp_path / "balance.onnx").path
    with pytest.raises(ValueError, match=r"mjlab\.make\("):
        mjlab.load_policy(file, env)
    worlds = mjlab.make(file, **SMALL)
    result = mjlab.rollout(worlds, mjlab.load_policy(file), seconds=2.0, seed=3)
    trained = mjlab.rollout(env, mjlab.load_policy(shipped), seconds=2.0, seed=3)
    torch.testing.assert_close(result.returns, trained.returns, rtol=1e-3, atol=1e-3)
    worlds.close()
