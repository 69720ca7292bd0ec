"""Cascades of muscle networks in worlds, and their training."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from mjlab.envs import ManagerBasedRlEnv
from mjlab.export import ExportError
from mjlab.export.muscles import muscle_controllers
from mjlab.export.trace import Tracer
from mjlab.muscle import MuscleCascade, WeightError, muscle_action
from mjlab.rl import load_policy
from mjlab.rl.checkpoint import load_model
from mjlab.rl.vecenv import RslRlVecEnv
from mjlab.runs.checkpoints import find_checkpoint
from mjlab.tasks.muscle.single import make_muscle_env
from tests.muscle.test_action import env_cfg, make_env
from tests.muscle.test_learner import published
from tests.tasks.test_muscle_tasks import agent, hooks, run, small

TWO = ((), (0,))


def half_in_the_second_world(env) -> torch.Tensor:
    weights = torch.ones(env.num_envs, 2)
    weights[1, 1] = 0.5
    return weights


def step(env: ManagerBasedRlEnv, count: int = 1) -> None:
    for i in range(count):
        actions = torch.sin(torch.arange(env.num_envs * 6.0) + i)
        env.step(actions.reshape(env.num_envs, 6))


def test_worlds_act_with_the_sum_of_the_networks_of_a_cascade():
    env, term = make_env(cascade=TWO, cascade_weights=half_in_the_second_world)
    step(env)
    cascade, red = term.network, term.muscles.red
    assert isinstance(cascade, MuscleCascade)
    first, second = cascade.networks
    earlier = first(red, term.wanted_torque)
    weight = torch.tensor([[1.0], [0.5], [1.0]])
    inputs = torch.cat(
        (0.5 * earlier, weight, red / 200.0, term.wanted_torque / 200.0), dim=-1
    )
    y = earlier + weight * second.fc(inputs)
    expected = torch.relu(torch.tanh(y))
    torch.testing.assert_close(term.activation, expected, atol=1e-5, rtol=1e-5)


def test_rows_of_a_cascade_contain_the_earlier_output_and_the_weight():
    env, term = make_env(cascade=TWO, cascade_weights=half_in_the_second_world)
    step(env, 2)
    rows = term.rows()
    assert rows.shape == (2 * 3, 24 + 6 + 18 + 1)
    parts = term.buffer.layout.parts(rows)
    assert isinstance(term.network, MuscleCascade)
    earlier = term.network.first(parts["red"], parts["torque"])
    torch.testing.assert_close(parts["previous"], earlier, atol=1e-5, rtol=1e-5)
    assert parts["weight"].flatten().tolist() == [1.0, 0.5, 1.0] * 2


def test_a_world_of_a_cascade_is_the_same_alone_and_among_others():
    found = []
    for num_envs in (2, 5):
        env, term = make_env(num_envs, cascade=TWO)
        env.step(torch.full((num_envs, 6), 0.2))
        found.append(term.activation[:2])
    assert torch.equal(*found)


@pytest.mark.parametrize("options", [{"coordinator": "qp"}, {"cascade": ((),)}])
def test_a_cascade_without_effect_is_refused(options):
    with pytest.raises(ValueError, match=r"two or more networks, such as \(\(\), "):
        make_env(**{"cascade": TWO} | options)


def test_a_learner_of_a_cascade_trains_the_last_network_of_a_world():
    cfg = env_cfg(1, cascade=TWO)
    env = make_muscle_env(cfg, seed=1)
    env.reset()
    before = env._term.network_state()
    for _ in range(16):
        env.step(np.full(6, 0.5, np.float32))
    learner = published(is_cascaded=True)
    learner.learn(env.get_muscle_tuples())
    env.update_muscle_weights(learner.get_state_dict())
    after = env._term.network_state()
    changed = {n for n in before if not torch.equal(before[n], after[n])}
    assert changed == {n for n in before if n.startswith("networks.1.fc.")}
    for name, value in learner.get_state_dict().items():
        assert torch.equal(after[f"networks.1.{name}"], value)


def train_cascade(folder: Path, earlier: str | None, cascade=TWO):
    cfg = small()
    cfg.actions["muscles"].cascade = cascade
    cfg_of_agent = agent(1)
    cfg_of_agent.hooks = hooks(earlier=earlier)
    return run(folder, cfg=cfg, agent_cfg=cfg_of_agent)[0], cfg, cfg_of_agent


def saved(place: Path):
    return load_model(find_checkpoint(place))["hooks"]["muscles"]


@pytest.mark.slow
def test_training_keeps_the_earlier_network_and_plays_with_the_whole_cascade(tmp_path):
    first, _ = run(tmp_path / "first", 1)
    second, cfg, trained = train_cascade(tmp_path / "second", str(first.path))
    earlier, state = saved(first.path)["learner"]["network"], saved(second.path)
    for name, value in earlier.items():
        assert torch.equal(state["cascade"][f"networks.0.{name}"], value)
    last = state["learner"]["network"]
    for name, value in last.items():
        assert torch.equal(state["cascade"][f"networks.1.{name}"], value)

    env = ManagerBasedRlEnv(cfg)
    untrained = muscle_action(env).network_state()
    assert not torch.equal(untrained["networks.1.fc.0.weight"], last["fc.0.weight"])
    load_policy(second.path, RslRlVecEnv(env), trained)
    for name, value in muscle_action(env).network_state().items():
        assert torch.equal(value, state["cascade"][name])

    with pytest.raises(WeightError, match="2 networks that do not match the first 3"):
        deep = ((), (0,), (0, 1), (0, 1, 2))
        train_cascade(tmp_path / "third", str(second.path), cascade=deep)


def test_a_cascade_without_earlier_networks_is_refused():
    cfg = small()
    cfg.actions["muscles"].cascade = TWO
    hook = hooks()["muscles"].bind("muscles", ManagerBasedRlEnv(cfg))
    with pytest.raises(
        WeightError, match=r"Set agent\.hooks\.muscles\.earlier to a run"
    ):
        hook.before_first_iteration(SimpleNamespace())


def test_a_cascade_has_no_onnx_form():
    env = ManagerBasedRlEnv(env_cfg(1, cascade=TWO))
    with pytest.raises(ExportError, match="has a cascade of muscle networks"):
        muscle_controllers(Tracer(env, ("actor",)))
