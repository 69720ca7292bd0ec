"""Checkpoints: complete or ignored, safe to open, and with the right layout."""

import contextlib
import copy
import hashlib
import io
import json
import os
import pickle
import random
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch

from mjlab import files
from mjlab.envs import ManagerBasedRlEnv, mdp
from mjlab.managers import ObservationTermCfg, RewardTermCfg
from mjlab.rl import CheckpointCfg, GaussianCfg, MlpModelCfg, Ranks, TrainingLoop
from mjlab.rl.checkpoint import (
    load_model,
    load_own,
    save_best,
    save_checkpoint,
)
from mjlab.rl.layout import check_layout, policy_layout, saved_layout
from mjlab.rl.state import (
    random_state,
    seed_everything,
    set_random_state,
)
from mjlab.runs import CheckpointError, Checkpoints
from mjlab.runs.checkpoints import find_checkpoint, read_manifest
from tests.worlds.rl_runs import agent_cfg, env_cfg, make_loop, network

ALONE = Ranks()


def model(value):
    return {"learner": {"weights": torch.full((4,), float(value))}}


def own(value):
    return {"world": 1, "state": torch.full((2,), float(value))}


def save(checkpoints, iteration):
    return save_checkpoint(
        checkpoints, iteration, model(iteration), own(iteration), ALONE
    )


def value_of(path):
    return load_model(path)["learner"]["weights"][0].item()


# --- Complete or absent -------------------------------------------------------------


def test_newest_checkpoint_is_used_and_old_ones_are_deleted(tmp_path):
    checkpoints = Checkpoints(tmp_path, keep=2)
    for iteration in (1, 2, 10):
        save(checkpoints, iteration)
    assert checkpoints.newest() == tmp_path / "model_000010.pt"
    assert value_of(checkpoints.newest()) == 10.0
    assert load_own(checkpoints.newest(), ALONE)["state"][0] == 10.0
    assert checkpoints.iterations() == [10, 2]
    names = {file.name for file in tmp_path.iterdir()}
    assert names == {
        f"model_{i:06d}{end}" for i in (2, 10) for end in (".pt", ".rank0.pt", ".json")
    }


def damages():
    def truncate(path):
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])

    def flip(path):
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.write_bytes(data)

    def empty(path):
        path.write_bytes(b"")

    return [truncate, flip, empty, os.unlink]


@pytest.mark.parametrize("ending", [".pt", ".rank0.pt", ".json"])
@pytest.mark.parametrize("damage", damages(), ids=lambda f: f.__name__)
def test_damaged_checkpoint_is_skipped(tmp_path, damage, ending):
    checkpoints = Checkpoints(tmp_path)
    save(checkpoints, 1)
    save(checkpoints, 2)
    damage(tmp_path / f"model_000002{ending}")
    assert checkpoints.newest() == tmp_path / "model_000001.pt"
    # The next save of that iteration makes it complete again.
    save(checkpoints, 2)
    assert value_of(checkpoints.newest()) == 2.0


def flip_a_weight(path):
    """One bit of a number, which only a checksum detects."""
    data = bytearray(path.read_bytes())
    data[data.index(np.full(2, 2.0, np.float32).tobytes()) + 3] ^= 1
    path.write_bytes(data)


def test_a_damaged_checkpoint_is_also_refused_by_its_own_name(tmp_path):
    path = save(Checkpoints(tmp_path), 2)
    flip_a_weight(path)
    with pytest.raises(CheckpointError, match=r"is damaged: its checksum differs"):
        load_model(path)


def test_a_checkpoint_without_its_manifest_is_refused_in_one_line(tmp_path):
    path = save(Checkpoints(tmp_path), 2)
    path.with_suffix(".json").unlink()
    with pytest.raises(CheckpointError) as caught:
        load_model(path)
    said = str(caught.value)
    assert "has no manifest model_000002.json" in said and "run folder" in said
    assert "\n" not in said


def test_a_damaged_state_of_the_worlds_is_refused_by_name(tmp_path):
    path = save(Checkpoints(tmp_path), 2)
    flip_a_weight(path.with_suffix(".rank0.pt"))
    with pytest.raises(CheckpointError, match=r"rank0\.pt is damaged"):
        load_own(path, ALONE)


def test_checkpoint_missing_in_its_manifest_is_skipped(tmp_path):
    path = save(Checkpoints(tmp_path), 2)
    manifest = json.loads(path.with_suffix(".json").read_text())
    path.with_suffix(".json").write_text(json.dumps(manifest | {"files": {}}))
    assert Checkpoints(tmp_path).newest() is None
    with pytest.raises(CheckpointError, match=r"is damaged: its checksum differs"):
        load_model(path)


class Killed(BaseException):
    """Simulates a process that ends here."""


@pytest.mark.parametrize("place", range(16))
def test_a_save_that_ends_anywhere_leaves_a_checkpoint_that_loads(
    tmp_path, monkeypatch, place
):
    """Every write, sync and rename of a save is a possible time of death."""
    checkpoints = Checkpoints(tmp_path, keep=1)
    save(checkpoints, 1)
    calls = 0

    def dying(original):
        def call(*args, **kwargs):
            nonlocal calls
            calls += 1
            if calls > place:
                raise Killed
            return original(*args, **kwargs)

        return call

    with monkeypatch.context() as patch:
        for name in ("fsync", "replace"):
            patch.setattr(files.os, name, dying(getattr(os, name)))
        # A dead process does not clean up.
        patch.setattr(files.Path, "unlink", dying(files.Path.unlink))
        try:
            save(checkpoints, 2)
            died = False
        except Killed:
            died = True
    assert died, f"a save has only {calls} places to die at"
    found = checkpoints.newest()
    assert value_of(found) == float(found.stem[-1])
    assert load_own(found, ALONE)["state"][0] == float(found.stem[-1])
    save(checkpoints, 3)
    assert value_of(checkpoints.newest()) == 3.0
    assert not list(tmp_path.glob("*.tmp"))


@pytest.mark.parametrize("names_given", range(3))
def test_complete_best_checkpoint_is_found_during_a_write(
    tmp_path, monkeypatch, names_given
):
    checkpoints = Checkpoints(tmp_path)
    best = save_best(checkpoints, 1, model(1), 0.1)
    replace, given = os.replace, []

    def power_goes(*names):
        if len(given) == names_given:
            raise KeyboardInterrupt
        given.append(replace(*names))

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", power_goes)
        with pytest.raises(KeyboardInterrupt):
            save_best(checkpoints, 2, model(2), 0.2)
    manifest = read_manifest(best)
    assert checkpoints.best() == best and manifest is not None
    assert manifest["iteration"] == value_of(best) == 1 + (names_given > 1)
    save_best(checkpoints, 3, model(3), 0.3)
    assert value_of(best) == 3 and read_manifest(best)["score"] == 0.3
    assert sorted(file.name for file in tmp_path.iterdir()) == ["best.json", "best.pt"]


# --- Safe to open --------------------------------------------------------------------


class Attack:
    def __reduce__(self):
        return os.mkdir, ("attacked",)


def attack_files():
    plain = io.BytesIO()
    pickle.dump({"format": 1, "learner": Attack()}, plain)
    torches = io.BytesIO()
    torch.save({"format": 1, "learner": Attack()}, torches)
    crafted = io.BytesIO()
    with zipfile.ZipFile(crafted, "w") as archive:
        archive.writestr("archive/data.pkl", pickle.dumps(Attack()))
        archive.writestr("archive/version", "3\n")
        archive.writestr("archive/byteorder", "little")
    return [plain.getvalue(), torches.getvalue(), crafted.getvalue()]


def vouch_for(path):
    """Write a manifest with the checksum of a file, as an attacker could."""
    files = {path.name: hashlib.sha256(path.read_bytes()).hexdigest()}
    manifest = {"format": 2, "iteration": 1, "files": files}
    path.with_suffix(".json").write_text(json.dumps(manifest))


@pytest.mark.filterwarnings("ignore:Detected pickle protocol")
@pytest.mark.parametrize("data", attack_files(), ids=["pickle", "torch", "zip"])
def test_a_crafted_pickle_is_refused_and_not_executed(tmp_path, monkeypatch, data):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "model_000001.pt"
    path.write_bytes(data)
    vouch_for(path)
    with pytest.raises(CheckpointError, match="could run code"):
        load_model(path)
    assert not (tmp_path / "attacked").exists()


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"actor_state_dict": {}, "iter": 3}, "is not a checkpoint of this project"),
        ({"format": 99, "learner": {}}, "has format 99; this version reads format 2"),
        ({"format": 1, "learner": {}}, "has format 1; this version reads format 2"),
        ({"format": 2, "model": {}}, "it contains 'format', 'model'"),
    ],
)
def test_a_file_of_something_else_is_refused_by_name(tmp_path, data, said):
    torch.save(data, tmp_path / "model.pt")
    vouch_for(tmp_path / "model.pt")
    with pytest.raises(CheckpointError, match=said):
        load_model(tmp_path / "model.pt")


def test_a_run_checkpoint_holds_tensors_and_plain_values_only(tmp_path):
    loop = make_loop(agent_cfg(1), folder=tmp_path)
    path = loop.run().checkpoint
    assert path is not None
    for file in (path, path.with_name(f"{path.stem}.rank0.pt")):
        torch.load(file, weights_only=True)


# --- Layout ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved")
    make_loop(agent_cfg(1), folder=folder).run()
    return folder


def resume(saved, *, env=None, cfg=None, exact=True):
    loop = TrainingLoop(ManagerBasedRlEnv(env or env_cfg()), cfg or agent_cfg(2))
    loop.resume(saved, exact=exact)
    return loop


def with_observation():
    cfg = env_cfg()
    cfg.observations["actor"].terms["age"] = ObservationTermCfg(func=mdp.last_action)
    return cfg


def without_observation():
    cfg = env_cfg()
    cfg.observations["actor"].terms["cart_pos"] = None
    return cfg


def with_history():
    cfg = env_cfg()
    cfg.observations["actor"].terms["velocity"].history_length = 3
    return cfg


def reordered():
    cfg = env_cfg()
    group = cfg.observations["actor"]
    group.terms = dict(reversed(group.terms.items()))
    return cfg


def with_reward():
    cfg = env_cfg()
    cfg.rewards["alive"] = RewardTermCfg(func=mdp.is_alive, weight=1.0)
    return cfg


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (with_observation, "observation/actor/age: absent, [1] here"),
        (without_observation, "observation/actor/cart_pos: [1], absent here"),
        (with_history, "observation/actor/velocity: [2], [6] here"),
        (reordered, "observation/actor: the order was cart_pos, pole_angle, velocity;"),
        (with_reward, "reward/alive: absent, present here"),
        (lambda: env_cfg(worlds=4), "num_envs: 8, 4 here"),
    ],
)
def test_another_layout_is_refused_by_naming_the_term_that_changed(saved, change, said):
    with pytest.raises(CheckpointError) as caught:
        resume(saved, env=change())
    assert said in str(caught.value)


def test_another_network_is_refused_by_naming_the_field_that_changed(saved):
    actor = MlpModelCfg(
        hidden_dims=(16,), obs_normalization=True, distribution_cfg=GaussianCfg()
    )
    with pytest.raises(CheckpointError) as caught:
        resume(saved, cfg=agent_cfg(2, actor=actor))
    assert "agent/actor/model/hidden_dims: [8], [16] here" in str(caught.value)


def test_a_field_that_is_newer_than_a_file_has_its_default():
    cfg = agent_cfg(1)
    with contextlib.closing(ManagerBasedRlEnv(env_cfg())) as env:
        present = policy_layout(env, cfg)
    older = copy.deepcopy(present)
    del older["agent"]["actor"]["model"]["activation"]
    filled = saved_layout({"layout": older}, cfg)
    check_layout(filled, present, Path("model.pt"))
    del older["agent"]["actor"]["model"]["obs_normalization"]
    assert present["agent"]["actor"]["model"]["obs_normalization"]
    with pytest.raises(CheckpointError, match="obs_normalization: False, True here"):
        check_layout(saved_layout({"layout": older}, cfg), present, Path("model.pt"))


def test_data_unseen_by_the_policy_may_change_when_new_episodes_start(saved):
    assert resume(saved, env=with_reward(), exact=False).iteration == 1


def test_a_run_without_its_worlds_does_not_count_as_an_exact_resume(tmp_path):
    cfg = agent_cfg(1, checkpoint=CheckpointCfg(env_state=False))
    make_loop(cfg, folder=tmp_path).run()
    with pytest.raises(CheckpointError, match="no state of the worlds"):
        resume(tmp_path)
    assert resume(tmp_path, exact=False).iteration == 1


def test_a_run_of_other_processes_does_not_count_as_an_exact_resume(saved):
    path = find_checkpoint(saved)
    with pytest.raises(
        CheckpointError, match="saved by 1 processes, but 2 are running"
    ):
        load_own(path, Ranks(index=0, world=2))
    with pytest.raises(CheckpointError, match=r"rank1.pt is missing"):
        load_own(path, Ranks(index=1, local=1, world=2))


# --- Random numbers ------------------------------------------------------------------


def test_all_random_generators_are_restored():
    device = torch.device("cpu")
    seed_everything(7)
    random.gauss(0, 1)
    np.random.normal()
    buffer = io.BytesIO()
    torch.save(random_state(device), buffer)

    def draw():
        return random.gauss(0, 1), np.random.normal(), torch.randn(2).tolist()

    expected = [draw() for _ in range(3)]
    seed_everything(8)
    buffer.seek(0)
    set_random_state(torch.load(buffer, weights_only=True), device)
    assert [draw() for _ in range(3)] == expected


def test_networks_with_normalisation_are_saved_with_it(saved):
    weights = load_model(find_checkpoint(saved))["learner"]["algorithm"]
    assert weights["actor_state_dict"]["obs_normalizer.count"] == 8 * 6
    assert network().obs_normalization
