"""Properties of every task: independent worlds, reproducible runs, exact resume."""

import hashlib
import itertools
from collections.abc import Callable

import pytest
import torch

from mjlab.envs import ManagerBasedRlEnv, ManagerBasedRlEnvCfg
from mjlab.envs.state import is_per_world
from mjlab.motion import MotionCommandCfg
from mjlab.registry import entries, load_task
from mjlab.sim.fields import STAGE_OF
from tests.worlds.synthetic import SyntheticCfg

MakeCfg = Callable[[], ManagerBasedRlEnvCfg]


def registered(task_id: str) -> MakeCfg:
    return lambda: load_task(task_id).env()


TASKS: dict[str, MakeCfg] = {"synthetic": SyntheticCfg}
TASKS |= {task_id: registered(task_id) for task_id in entries()}

# Warp compiles kernels for each model, 45 s the first time; by default tests take four.
CARTPOLE_ON_WARP = pytest.param("warp", "Cartpole-Balance", marks=pytest.mark.slow)
# The other tasks are slow tests: the synthetic task has a term of each kind.
FAST = ("synthetic", "Cartpole-Balance", "Velocity-G1")


def marks(name: str) -> tuple[pytest.MarkDecorator, ...]:
    return () if name in FAST else (pytest.mark.slow,)


NAMES = [pytest.param(name, marks=marks(name)) for name in TASKS]
ON_BOTH = [pytest.param("native", name, marks=marks(name)) for name in TASKS]
ON_BOTH += [("warp", "synthetic"), CARTPOLE_ON_WARP]


def make(
    name: str,
    num_envs: int,
    *,
    engine: str = "native",
    num_threads: int | None = None,
    seed: int = 11,
    uncoupled: bool = False,
) -> ManagerBasedRlEnv:
    cfg = TASKS[name]()
    if uncoupled:
        uncouple(cfg)
    cfg.scene.num_envs = num_envs
    cfg.sim.backend = engine
    cfg.sim.num_threads = num_threads
    cfg.seed = seed
    cfg.episode_length_s = min(cfg.episode_length_s, 30 * cfg.decimation * 0.01)
    # With few worlds, MuJoCo Warp's contact buffer is small.
    cfg.sim.nconmax, cfg.sim.njmax = 256, 256
    env = ManagerBasedRlEnv(cfg, device="cpu")
    env.reset()
    return env


def uncouple(cfg: ManagerBasedRlEnvCfg) -> None:
    """Make start frames of a tracking task independent of failures in other worlds."""
    for command in cfg.commands.values():
        if isinstance(command, MotionCommandCfg):
            command.sampling = "uniform"


def actions(env: ManagerBasedRlEnv, steps: int, worlds: int = 64) -> torch.Tensor:
    """Return the same numbers for world i for any number of worlds."""
    random = torch.Generator().manual_seed(2)
    size = (steps, worlds, env.action_manager.total_action_dim)
    return torch.randn(size, generator=random)[:, : env.num_envs]


def rows(env: ManagerBasedRlEnv) -> dict[str, torch.Tensor]:
    """Return copies of all tensors with one row per world."""
    tensors = env.state.live() | env.sim.snapshot()
    for name in STAGE_OF:
        tensors[f"data.{name}"] = env.sim.engine.data(name)
    return {
        name: tensor.clone()
        for name, tensor in tensors.items()
        if is_per_world(name, tensor, env.num_envs)
    }


def disturb(env: ManagerBasedRlEnv, step: int) -> None:
    """Disturb world 0 only."""
    mask = torch.zeros(env.num_envs, dtype=torch.bool)
    mask[0] = True
    if step % 17 == 3:
        env.reset(mask=mask)
    if step % 17 == 8:
        env.sim.data.qvel[0] += 0.7
    if step % 17 == 12:
        env.sim.data.qpos[0] = float("nan")


@pytest.mark.parametrize("engine, name", ON_BOTH)
def test_disturbances_of_world_0_do_not_change_other_worlds(
    engine: str, name: str
) -> None:
    steps = 100 if engine == "native" else 40
    calm, rough = (make(name, 4, engine=engine, uncoupled=True) for _ in range(2))
    for step, action in enumerate(actions(calm, steps)):
        disturb(rough, step)
        ours, theirs = calm.step(action), rough.step(action)
        for value, other in zip(ours[1:4], theirs[1:4], strict=True):
            assert torch.equal(value[1:], other[1:]), f"step {step}"
        for group, value in ours[0].items():
            assert torch.equal(value[1:], theirs[0][group][1:]), f"{group}, {step}"
    before, after = rows(calm), rows(rough)
    assert before.keys() == after.keys()
    for key, value in before.items():
        assert torch.equal(value[1:], after[key][1:]), key
    changed = [
        key for key, value in before.items() if not _same(value[0], after[key][0])
    ]
    assert changed
    assert rough.sim.health.read().nonfinite > 0
    assert not any(rough.sim.health.read().overflow.values())


def _same(a: torch.Tensor, b: torch.Tensor) -> bool:
    return torch.equal(a.nan_to_num() if a.is_floating_point() else a, b)


@pytest.mark.parametrize("name", NAMES)
def test_random_numbers_do_not_depend_on_the_number_of_worlds(name: str) -> None:
    drawn = []
    for num_envs in (1, 4, 16, 64):
        env = make(name, num_envs)
        draw = env.rng
        numbers = [draw.draw("a", 5), draw.normal(0.0, 1.0, 3, "b")]
        numbers.append(draw.integers(0, 1000, 2, "c").float())
        drawn.append(torch.cat(numbers, dim=1))
    for few, many in itertools.pairwise(drawn):
        assert torch.equal(few, many[: len(few)])


@pytest.mark.parametrize("name", NAMES)
def test_a_worlds_trajectory_is_the_same_with_16_and_64_worlds(name: str) -> None:
    ends = []
    for num_envs in (16, 64):
        env = make(name, num_envs, uncoupled=True)
        for action in actions(env, 60):
            observations, reward, *_ = env.step(action)
        ends.append((observations["actor"][:16], reward[:16], env.sim.data.qpos[:16]))
    for ours, theirs in zip(*ends, strict=True):
        assert torch.equal(ours, theirs)


def fingerprint(env: ManagerBasedRlEnv, steps: int) -> str:
    digest = hashlib.sha256()
    for action in actions(env, steps):
        observations, reward, terminated, truncated, _ = env.step(action)
        for tensor in (*observations.values(), reward, terminated, truncated):
            digest.update(tensor.numpy().tobytes())
    return digest.hexdigest()


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_gives_the_same_run_for_any_number_of_threads(name: str) -> None:
    runs = [
        fingerprint(make(name, 4, num_threads=threads, seed=seed), 200)
        for threads, seed in ((1, 1), (2, 1), (2, 2))
    ]
    assert runs[0] == runs[1]
    assert runs[1] != runs[2]


@pytest.mark.parametrize("engine, name", ON_BOTH)
def test_continuing_from_a_saved_state_is_bit_identical(engine: str, name: str) -> None:
    env = make(name, 4, engine=engine)
    plan = actions(env, 60)
    for action in plan[:20]:
        env.step(action)
    state = env.get_state()
    straight = [env.step(action) for action in plan[20:]]
    env.reset(seed=99)
    for action in plan[:7]:
        env.step(action)
    env.set_state(state)
    again = [env.step(action) for action in plan[20:]]
    for ours, theirs in zip(straight, again, strict=True):
        for group, value in ours[0].items():
            assert torch.equal(value, theirs[0][group]), group
        for value, other in zip(ours[1:4], theirs[1:4], strict=True):
            assert torch.equal(value, other)


def test_a_state_can_be_set_in_another_environment_of_the_same_config() -> None:
    first, second = make("synthetic", 4, seed=1), make("synthetic", 4, seed=2)
    plan = actions(first, 40)
    for action in plan[:20]:
        first.step(action)
    second.set_state(first.get_state())
    for action in plan[20:]:
        ours, theirs = first.step(action), second.step(action)
        assert torch.equal(ours[0]["actor"], theirs[0]["actor"])
        assert torch.equal(ours[1], theirs[1])


def test_returned_values_are_never_modified() -> None:
    env = make("synthetic", 4)
    plan = actions(env, 12)
    kept = [env.step(action) for action in plan[:3]]
    copies = [
        ({k: v.clone() for k, v in obs.items()}, reward.clone(), done.clone())
        for obs, reward, done, *_ in kept
    ]
    for action in plan[3:]:
        env.step(action)
    for (obs, reward, done, *_), (obs_copy, reward_copy, done_copy) in zip(
        kept, copies, strict=True
    ):
        assert all(torch.equal(v, obs_copy[k]) for k, v in obs.items())
        assert torch.equal(reward, reward_copy) and torch.equal(done, done_copy)


def test_explicit_seed_gives_the_same_episode_after_any_history() -> None:
    # The same seed for both, because startup events have used it.
    first, second = make("synthetic", 4), make("synthetic", 4)
    for action in actions(first, 9):
        first.step(action)
    ours, _ = first.reset(seed=42)
    theirs, _ = second.reset(seed=42)
    assert torch.equal(ours["actor"], theirs["actor"])
    listed, _ = second.reset(seed=[42, 43, 44, 45])
    assert torch.equal(ours["actor"], listed["actor"])
    other, _ = second.reset(seed=[42, 43, 44, 7])
    assert torch.equal(ours["actor"][:3], other["actor"][:3])
    assert not torch.equal(ours["actor"][3], other["actor"][3])


def test_two_resets_in_a_row_give_different_initial_states_in_the_selected_worlds() -> (
    None
):
    env = make("synthetic", 4)
    mask = torch.tensor([False, True, False, True])
    begun = []
    for _ in range(2):
        env.reset(mask=mask)
        joints = env.scene.entity("robot").data.joint_pos
        begun.append((joints.clone(), env.sim.model.body_mass.clone()))
    for first, second in zip(*begun, strict=True):
        assert (first != second).any(dim=1).equal(mask)
