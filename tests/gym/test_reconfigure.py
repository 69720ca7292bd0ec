"""Rebuilt scenes: when they are built, their contents, and freeing of the old scene."""

import copy
import gc
import os
import weakref
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.vector import SyncVectorEnv
from gymnasium.vector.utils import batch_space

import mjlab
from mjlab.envs import ManagerBasedRlEnv, ManagerBasedRlEnvCfg
from mjlab.gym import (
    ActionRepeat,
    FrameStack,
    GymWorlds,
    ManagedWorlds,
    NumpyVectorEnv,
    SingleEnv,
    TorchVectorEnv,
    VectorEnv,
)
from mjlab.gym.worlds import scene_seed
from mjlab.tasks.cartpole.classic import ClassicCartpoleCfg, TensorCartpoles
from mjlab.terrain import RandomGridCfg, TerrainCfg, TerrainGeneratorCfg
from tests.worlds import gym_tasks

SIZES = [4, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 16))]
AGAIN: dict[str, Any] = {"reconfigure": True}


def bumpy() -> ManagerBasedRlEnvCfg:
    """Cartpole on random bumps that depend on the seed; at most 25 steps."""
    cfg = gym_tasks.cartpole()
    cfg.sim.num_threads = 1
    cfg.scene.terrain = TerrainCfg(
        kind="generator",
        generator=TerrainGeneratorCfg(
            size=(4.0, 4.0),
            num_rows=1,
            num_cols=2,
            sub_terrains={"grid": RandomGridCfg(grid_width=1.0)},
        ),
    )
    return cfg


def timed() -> ManagerBasedRlEnvCfg:
    """The same with a time limit only: three steps, in all rows."""
    cfg = bumpy()
    cfg.terminations = {"time_out": cfg.terminations["time_out"]}
    cfg.episode_length_s = 3 * cfg.decimation * cfg.sim.mujoco.timestep
    return cfg


def worlds(
    num_envs: int = 2, seed: int = 5, cfg: ManagerBasedRlEnvCfg | None = None
) -> ManagedWorlds:
    cfg = bumpy() if cfg is None else cfg
    cfg.seed = seed
    return gym_tasks.worlds(cfg, num_envs)


def ground(made: Any) -> bytes:
    """Return the bumps of a scene."""
    model = made.env.sim.mj_model
    return model.geom_pos.tobytes() + model.geom_size.tobytes()


def torch_env(num_envs: int = 2, seed: int = 5, **settings: Any) -> TorchVectorEnv:
    settings = {"autoreset_mode": "disabled"} | settings
    cfg = settings.pop("cfg", None)
    return TorchVectorEnv(worlds(num_envs, seed, cfg), **settings)


# --- Which scene --------------------------------------------------------------------


@pytest.mark.parametrize("num_envs", SIZES)
def test_the_same_seed_gives_the_same_scenes_in_the_same_order(num_envs: int) -> None:
    runs = []
    for _ in range(2):
        env = torch_env(num_envs)
        scenes = [ground(env.worlds)]
        for _ in range(3):
            env.reset(options=AGAIN)
            scenes.append(ground(env.worlds))
        runs.append(scenes)
    assert runs[0] == runs[1]
    assert len(set(runs[0])) == 4
    assert ground(worlds(num_envs, seed=6)) not in runs[0]
    # Random numbers of one environment do not depend on its number of worlds.
    assert ground(worlds(3, seed=5)) == runs[0][0]


def test_a_seed_passed_with_the_request_determines_the_scene() -> None:
    env = torch_env(seed=5)
    env.reset(options=AGAIN)
    observations, _ = env.reset(seed=7, options=AGAIN)
    fresh = torch_env(seed=7)
    expected, _ = fresh.reset(seed=7)
    assert ground(env.worlds) == ground(fresh.worlds)
    assert torch.equal(observations, expected)
    action = torch.full((2, 1), 0.3)
    for _ in range(5):
        assert torch.equal(env.step(action)[0], fresh.step(action)[0])
    # Afterwards, both also have the same scenes.
    for each in (env, fresh):
        each.reset(options=AGAIN)
    assert ground(env.worlds) == ground(fresh.worlds)
    other = torch_env(seed=99)
    other.reset(seed=[7, 8])
    assert ground(other.worlds) != ground(fresh.worlds)
    other.reset(options=AGAIN)
    assert ground(other.worlds) == ground(fresh.worlds)


def test_scene_seeds_are_the_given_one_and_then_others() -> None:
    found = {scene_seed(seed, scenes) for seed in range(50) for scenes in range(50)}
    assert scene_seed(7, 0) == 7
    assert len(found) == 50 * 50
    assert all(0 <= seed < 2**31 for seed in found)


def test_a_rebuilt_scene_equals_one_built_from_its_seed() -> None:
    env = torch_env(4, autoreset_mode="next_step")
    env.reset(seed=3)
    space, action_space = env.observation_space, env.action_space
    env.reset(options=AGAIN)
    made = env.worlds
    assert isinstance(made, ManagedWorlds)
    twin = torch_env(4, seed=made.env.seed, autoreset_mode="next_step")
    twin.reset()
    assert made.env.seed == scene_seed(3, 1)
    assert env.num_envs == made.num_envs == made.env.num_envs == 4
    assert env.observation_space is space and env.action_space is action_space
    assert space == batch_space(made.single_observation_space, 4)
    # The selected reset mode and all other settings are kept.
    assert made.env.program.resets.when == "next_step"
    ended = 0
    for step in range(40):
        action = torch.full((4, 1), 1.0 if step % 20 < 10 else -1.0)
        ours, theirs = env.step(action), twin.step(action)
        for value, other in zip(ours[:4], theirs[:4], strict=True):
            assert torch.equal(value, other), step
        ended += int((ours[2] | ours[3]).sum())
    assert ended > 4


# --- When ---------------------------------------------------------------------------


def test_without_a_request_infos_contain_no_scene() -> None:
    env = torch_env()
    before = ground(env.worlds)
    for options in (None, {"env_idx": [1]}):
        _, info = env.reset(options=options)
        assert "reconfigure" not in info
    _, info = env.reset(options={"reconfigure": False})
    assert info["reconfigure"].tolist() == [False, False]
    assert info["_reconfigure"].tolist() == [True, True]
    assert ground(env.worlds) == before


@pytest.mark.parametrize("num_envs", SIZES)
def test_every_kth_full_reset_builds_a_new_scene(num_envs: int) -> None:
    env = torch_env(num_envs, reconfiguration_freq=2)
    happened, scenes = [], []
    for _ in range(5):
        _, info = env.reset()
        # Partial resets do not count.
        env.reset(options={"env_idx": [0]})
        happened.append(info["reconfigure"].tolist())
        scenes.append(ground(env.worlds))
    assert happened == [[n in (2, 4)] * num_envs for n in (1, 2, 3, 4, 5)]
    assert [scenes.index(scene) for scene in scenes] == [0, 1, 1, 3, 3]
    # A request restarts the count.
    assert env.reset(options=AGAIN)[1]["reconfigure"].all()
    assert not env.reset()[1]["reconfigure"].any()
    assert env.reset()[1]["reconfigure"].all()


def test_all_forms_and_wrappers_rebuild() -> None:
    options = copy.deepcopy(AGAIN)
    single = SingleEnv(worlds(1), reconfiguration_freq=3)
    said = [single.reset()[1]["reconfigure"] for _ in range(4)]
    assert said == [False, False, True, False]
    before = ground(single.worlds)
    assert single.reset(options=options)[1]["reconfigure"] is True
    assert ground(single.worlds) != before
    assert "reconfigure" not in SingleEnv(worlds(1)).reset()[1]
    arrays = NumpyVectorEnv(
        worlds(2), autoreset_mode="disabled", reconfiguration_freq=1
    )
    info = arrays.reset()[1]
    assert info["reconfigure"].tolist() == [True, True]
    assert info["reconfigure"].dtype == np.bool_
    stack = VectorEnv(FrameStack(ActionRepeat(torch_env(), 2), 3), auto_reset=False)
    before = ground(stack.unwrapped.worlds)  # pyright: ignore
    stack.reset()
    observations, info = stack.reset(options=options)
    assert info["reconfigure"].all() and observations.shape == (2, 3, 5)
    assert ground(stack.unwrapped.worlds) != before  # pyright: ignore
    assert options == AGAIN


def test_a_request_returns_the_infos_of_single_environments() -> None:
    arrays = NumpyVectorEnv(worlds(2), autoreset_mode="disabled")
    singles = SyncVectorEnv(
        [lambda row=row: SingleEnv(worlds(1, 5 + row)) for row in range(2)],
        autoreset_mode=gymnasium.vector.AutoresetMode.DISABLED,
    )
    ours = arrays.reset(seed=5, options=AGAIN)[1]
    theirs = singles.reset(seed=5, options=AGAIN)[1]
    assert ours.keys() == theirs.keys()
    for key in ("reconfigure", "_reconfigure"):
        assert np.array_equal(ours[key], theirs[key])
        assert ours[key].dtype == theirs[key].dtype


def test_make_and_gymnasium_pass_the_setting_on() -> None:
    cartpole = mjlab.make(
        "Cartpole-Balance",
        num_envs=2,
        seed=1,
        backend="native",
        autoreset_mode="disabled",
        reconfiguration_freq=2,
    )
    happened = [bool(cartpole.reset()[1]["reconfigure"].all()) for _ in range(3)]
    assert happened == [False, True, False]
    single = gymnasium.make(
        "mjlab/Cartpole-Balance-v0", reconfiguration_freq=1, backend="native"
    )
    assert single.reset(seed=3)[1]["reconfigure"] is True


# --- Automatic resets ---------------------------------------------------------------


@pytest.mark.parametrize("num_envs", SIZES)
def test_an_automatic_reset_of_all_rows_counts_in_the_same_step(num_envs: int) -> None:
    env = torch_env(
        num_envs, cfg=timed(), reconfiguration_freq=2, autoreset_mode="same_step"
    )
    outer = VectorEnv(env, ignore_terminations=True, record_metrics=True)
    action = torch.zeros(num_envs, 1)
    _, info = outer.reset(seed=5)
    assert not info["reconfigure"].any()
    twin = torch_env(num_envs, cfg=timed())
    twin.reset(seed=5)
    first = ground(env.worlds)
    for step in range(1, 13):
        observations, reward, _, truncated, info = outer.step(action)
        expected = twin.step(action)
        assert torch.equal(reward, expected[1])
        assert bool(truncated.all()) == (step % 3 == 0)
        assert ("reconfigure" in info) == (step % 3 == 0)
        if step % 3:
            assert torch.equal(observations, expected[0])
            continue
        # The terminal observation belongs to the old scene, the first one to the new
        # scene.
        assert torch.equal(info["final_obs"], expected[0])
        assert info["final_info"]["episode"]["episode_len"].tolist() == [3] * num_envs
        # The first full reset was called by the test.
        is_new = step in (3, 9)
        assert bool(info["reconfigure"].all()) == is_new
        # The twin is reset manually.
        began, _ = twin.reset(options={"reconfigure": is_new})
        assert torch.equal(observations, began)
        assert ground(env.worlds) == ground(twin.worlds)
    assert ground(env.worlds) != first


@pytest.mark.parametrize("freq", [1, 2])
def test_an_automatic_reset_of_all_rows_counts_in_the_next_step(freq: int) -> None:
    env = torch_env(
        1, cfg=timed(), reconfiguration_freq=freq, autoreset_mode="next_step"
    )
    env.reset(seed=5)
    action = torch.ones(1, 1)
    scenes, said = [ground(env.worlds)], []
    for step in range(1, 17):
        _, reward, terminated, truncated, info = env.step(action)
        # Steps 4, 8, 12 and 16 are resets, without reward or termination.
        assert bool(truncated) == (step % 4 == 3) and not terminated
        assert (float(reward) == 0.0) == (step % 4 == 0)
        assert int(info["elapsed_steps"]) == step % 4
        scenes.append(ground(env.worlds))
        if step % 4 == 0:
            said.append(scenes[-1] != scenes[-2])
        else:
            assert scenes[-1] == scenes[-2]
    assert said == {1: [True] * 4, 2: [True, False, True, False]}[freq]


# --- Invalid requests ---------------------------------------------------------------


def test_impossible_requests_are_refused_with_a_reason() -> None:
    env = torch_env()
    for selector in ({"env_idx": [0]}, {"reset_mask": np.array([True, False])}):
        with pytest.raises(ValueError) as caught:
            env.reset(options=AGAIN | selector)
        name = next(iter(selector))
        assert str(caught.value) == (
            f"options have 'reconfigure' and '{name}'. All worlds share the scene, so "
            f"only a full reset rebuilds it: remove '{name}'."
        )
        env.reset(options={"reconfigure": False} | selector)
    with pytest.raises(TypeError) as wrong_type:
        env.reset(options={"reconfigure": 1})
    assert str(wrong_type.value) == (
        "options['reconfigure'] is 1, a int; it has to be True or False."
    )
    with pytest.raises(ValueError, match=r"'reconfigur'.*'reconfigure'"):
        env.reset(options={"reconfigur": True})
    with pytest.raises(ValueError) as wrong_key:
        SingleEnv(worlds(1)).reset(options={"env_idx": [0]})
    assert str(wrong_key.value) == (
        "Unknown reset option 'env_idx': a single environment accepts only "
        "'reconfigure'."
    )
    for freq in (-1, 0.5, True):
        with pytest.raises(ValueError) as wrong_freq:
            torch_env(reconfiguration_freq=freq)
        assert str(wrong_freq.value) == (
            f"reconfiguration_freq={freq!r} has to be an integer of 0 or more: "
            "0 builds the scene once, k rebuilds it in every k-th full reset."
        )


PARTIAL = (
    "reconfiguration_freq=1 rebuilds the scene when all 2 worlds reset together, but "
    "autoreset_mode '{mode}' resets each finished world separately. Use "
    "autoreset_mode='disabled', or wrap the environment in VectorEnv(auto_reset=False) "
    "or VectorEnv(ignore_terminations=True)."
)


@pytest.mark.parametrize("mode", ["same_step", "next_step"])
def test_rows_that_reset_individually_cannot_rebuild_scenes(
    mode: str,
) -> None:
    env = torch_env(reconfiguration_freq=1, autoreset_mode=mode)
    with pytest.raises(ValueError) as caught:
        env.reset()
    assert str(caught.value) == PARTIAL.format(mode=mode)
    with pytest.raises(ValueError) as caught:
        VectorEnv(env)
    assert str(caught.value) == PARTIAL.format(mode="same_step")
    VectorEnv(env, ignore_terminations=True).reset()
    VectorEnv(env, auto_reset=False).reset()
    torch_env(1, reconfiguration_freq=1, autoreset_mode=mode).reset()
    # On request, it works in every mode.
    torch_env(autoreset_mode=mode).reset(options=AGAIN)


def test_references_to_old_worlds_and_missing_scenes_are_reported() -> None:
    env = torch_env()
    assert isinstance(env.worlds, ManagedWorlds)
    held = env.worlds.env
    env.worlds.hold("A recorder")
    with pytest.raises(RuntimeError) as caught:
        env.reset(options=AGAIN)
    assert str(caught.value) == (
        "The scene cannot be rebuilt, because wrappers keep references to it: A "
        "recorder. Set reconfiguration_freq=0, or remove these wrappers. For a time "
        "limit, pass max_episode_steps to mjlab.make, or apply TimeLimit before these "
        "wrappers."
    )
    assert env.worlds.env is held
    env.reset()
    # Without a request it is detected.
    other = torch_env()
    assert isinstance(other.worlds, ManagedWorlds)
    kept = other.worlds.env
    with pytest.warns(
        RuntimeWarning, match=(r"still referenced.*Read worlds\.env again")
    ):
        other.reset(options=AGAIN)
    assert other.worlds.env is not kept
    cartpoles = TensorCartpoles(ClassicCartpoleCfg(num_envs=2, autoreset=False))
    plain = TorchVectorEnv(GymWorlds(cartpoles))
    with pytest.raises(ValueError, match="no scene that can be rebuilt"):
        plain.reset(options=AGAIN)


# --- Memory -------------------------------------------------------------------------


@pytest.mark.parametrize("num_envs", SIZES)
def test_the_old_environment_is_gone(num_envs: int) -> None:
    env = torch_env(num_envs)
    env.reset()
    env.step(torch.zeros(num_envs, 1))
    assert isinstance(env.worlds, ManagedWorlds)
    old = env.worlds.env
    parts = [
        old,
        old.sim,
        old.sim.engine,
        old.scene,
        old.event_manager,
        old.program,
        old.runner,
    ]
    dying = [weakref.ref(part) for part in parts]
    del old, parts
    env.reset(options=AGAIN)
    assert [each() for each in dying] == [None] * 7


def resident_mb() -> float:
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


@pytest.mark.slow
def test_memory_stays_bounded(record_property: Any) -> None:
    cfg = timed()
    # Ten times as many bumps, so that an unreleased scene is measurable.
    assert cfg.scene.terrain is not None and cfg.scene.terrain.generator is not None
    cfg.scene.terrain.generator.num_cols = 20
    env = torch_env(64, cfg=cfg)
    kept: list[ManagerBasedRlEnv] = []
    for _ in range(5):
        env.reset(options=AGAIN)
    start = resident_mb()
    for _ in range(20):
        env.reset(options=AGAIN)
    growth = resident_mb() - start
    # Check of the measure: the memory of twenty environments that are kept.
    before = resident_mb()
    for seed in range(20):
        kept.append(worlds(64, seed, cfg=copy.deepcopy(cfg)).env)
    weight = resident_mb() - before
    figures = f"20 scenes built anew: {growth:.0f} MB; 20 kept: {weight:.0f} MB"
    record_property("summary", figures)
    assert weight > 20.0
    assert growth < 0.25 * weight, (growth, weight)
