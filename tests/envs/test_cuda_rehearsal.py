"""Each task on the CUDA stand-in: replays of its step compared with eager steps.

Warp's CPU device is deterministic, so both are bit-identical.
"""

import gc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import torch

from mjlab.cli.speed import memory
from mjlab.envs import ManagerBasedRlEnv, ManagerBasedRlEnvCfg, mdp
from mjlab.envs.worlds import When
from mjlab.managers import RecorderTermCfg
from mjlab.recording import RecordingCfg
from mjlab.recording.buffers import CopyStream
from mjlab.registry import OURS, entries, load_task
from mjlab.rl import TrainingLoop
from tests.tools.cuda_stand_in import StandIn, StandInError, stand_in
from tests.tools.cuda_twins import (
    actions_of,
    build,
    config,
    count_events,
    differing,
    equal,
)

NUM_ENVS, STEPS = 8, 14
WAYS: list[tuple[When, bool]] = [
    ("same_step", False),
    ("same_step", True),
    ("next_step", False),
    ("never", False),
]
TASKS = [name for name, entry in entries().items() if entry.origin == OURS]
CASES = [
    pytest.param("Cartpole-Balance", WAYS, id="Cartpole-Balance"),
    # Tasks of one robot are consecutive, because they compile the same kernels.
    *(
        pytest.param(name, WAYS, id=name, marks=pytest.mark.slow)
        for name in TASKS
        if name != "Cartpole-Balance"
    ),
]


@pytest.fixture
def device() -> Iterator[StandIn]:
    """Record of the device; skips if torch cannot be patched."""
    try:
        with stand_in() as device:
            yield device
    except StandInError as error:
        pytest.skip(f"no CUDA device can be stood in for: {error}")


def begin(env: ManagerBasedRlEnv) -> None:
    env.reset(seed=5)
    env.episode_length_buf.copy_(torch.arange(NUM_ENVS, device="cuda:0"))


def compare(
    device: StandIn, fused: ManagerBasedRlEnv, eager: ManagerBasedRlEnv
) -> None:
    """Take the same steps in both; require equal results without host reads."""
    random = torch.Generator().manual_seed(0)
    ended = 0
    for env in (fused, eager):
        begin(env)
    for _ in range(STEPS):
        action = actions_of(fused, random)
        device.clear()
        ours, theirs = fused.step(action), eager.step(action)
        assert not device.reads and not device.uploads
        for one, other in zip(ours[:4], theirs[:4], strict=True):
            assert equal(one, other)
        assert differing(ours.extras, theirs.extras) == []
        ended += int((ours.terminated | ours.truncated).sum())
    assert 0 < ended < STEPS * NUM_ENVS
    assert differing(fused.get_state(), eager.get_state()) == []


def recorded(cfg: ManagerBasedRlEnvCfg, folder: Path) -> ManagerBasedRlEnvCfg:
    """Configure a task to record actions and states to files."""
    cfg.recorders = {
        "actions": RecorderTermCfg(func=mdp.raw_actions),
        "start": RecorderTermCfg(func=mdp.entity_states, when="post_reset"),
    }
    cfg.recording = RecordingCfg(folder=str(folder), name="run")
    return cfg


def episodes(folder: Path) -> dict[str, bytes]:
    """Return the contents of a recording, by path."""
    found: dict[str, bytes] = {}

    def note(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset):
            found[name] = np.asarray(item[()]).tobytes()

    with h5py.File(folder / "run.h5") as file:
        file.visititems(note)
    return found


def collect(device: StandIn, env: ManagerBasedRlEnv, name: str) -> None:
    """Roll out a policy as in training, without reads or uploads."""
    make = load_task(name).rl
    assert make is not None
    agent = make()
    agent.num_steps_per_env = 6
    loop = TrainingLoop(env, agent)
    device.clear()
    loop._collect()
    assert not device.reads and not device.uploads


@pytest.mark.parametrize(("name", "ways"), CASES)
def test_replays_equal_eager_steps_with_any_resets(
    name: str, ways: list[tuple[When, bool]], device: StandIn, tmp_path: Path
) -> None:
    def make(mode: str) -> ManagerBasedRlEnv:
        cfg = recorded(config(name, NUM_ENVS), tmp_path / mode)
        cfg.final_obs |= ways[0][1]
        return build(cfg, mode)

    fused, eager = make("fused"), make("segmented")
    happened = count_events(eager)
    for when, final_obs in ways:
        for env in (fused, eager):
            env.choose_resets(when, final_obs=final_obs)
        assert fused.mode == "fused"
        compare(device, fused, eager)
    assert all(happened.values()), happened
    device.clear()
    assert fused.take_log() == eager.take_log()
    assert device.reads.total() == 2, "once each"
    for env in (fused, eager):
        env.choose_resets("same_step")
        collect(device, env, name)
    assert len(device.pinned) == 4
    for env in (fused, eager):
        env.close()
    del env, fused, eager
    gc.collect()
    assert not device.pinned
    ours, theirs = (episodes(tmp_path / mode) for mode in ("fused", "segmented"))
    assert len(ours) > STEPS and ours == theirs


def test_refused_device_memory_is_an_error_with_the_amount(
    device: StandIn,
) -> None:
    memory = torch.zeros(1024)
    first, second = (CopyStream(torch.device("cuda:0")) for _ in range(2))
    first.pin(memory)
    with pytest.raises(RuntimeError, match="712"):
        second.pin(memory)
    del first
    second.pin(memory)
    del second
    assert not device.pinned


def test_a_memory_figure_equals_the_added_memory(
    device: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = iter([40 << 30, 37 << 30])
    info = lambda _=None: (next(free), 80 << 30)  # noqa: E731
    monkeypatch.setattr(torch.cuda, "mem_get_info", info, raising=False)
    before = memory(torch.device("cuda:0"))
    assert memory(torch.device("cuda:0")) - before == 3 << 30
