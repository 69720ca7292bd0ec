"""Requirements on every built-in observation, reward, termination and metric."""

import inspect
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import torch

from mjlab.managers.action import ActionManager
from mjlab.mdp import metrics, observations, rewards, terminations
from mjlab.scene import SceneEntityCfg
from mjlab.sensor import CameraData
from tests.tools.step_watch import watch
from tests.worlds.term_world import IdleCfg, TermWorld, contacts, rays, tiles
from tests.worlds.term_world import bound as bind_term

ROOMS: dict[ModuleType, torch.dtype] = {
    observations: torch.float32,
    rewards: torch.float32,
    terminations: torch.bool,
    metrics: torch.float32,
}
TWIST = {"command_name": "twist"}
MOST = 67
CRATE = {"sensor_name": "corners"}
APART = SceneEntityCfg("robot", joint_names=("shoulder", "wag"))
PARAMS: dict[str, dict[str, Any]] = {
    "generated_commands": TWIST,
    "builtin_sensor": {"sensor_name": "robot/gyro"},
    "height_scan": {"sensor_name": "scan", "offset": 0.2},
    "contact_found": CRATE,
    "camera_image": {"sensor_name": "eye"},
    "last_action": {"action_name": "right"},
    "joint_pos_rel": {"biased": True, "asset_cfg": APART},
    "joint_acc_l2": {"asset_cfg": APART},
    "posture": {"std": {".*": 0.3}},
    "base_height_l2": {"target_height": 0.3},
    "track_lin_vel_xy_exp": TWIST | {"std": 0.8},
    "track_ang_vel_z_exp": TWIST | {"std": 0.8},
    "undesired_contacts": CRATE | {"force_threshold": 2.0},
    "contact_force_excess": CRATE | {"force_threshold": 0.01},
    "illegal_contact": CRATE | {"force_threshold": 2.0},
    "bad_orientation": {"limit_angle": 1.0},
    "fell_over": {"limit_angle": 1.0},
    "root_height_below_minimum": {"minimum_height": 0.2},
    "joint_pos_out_of_range": {"bounds": (-0.3, 0.4)},
    "joint_vel_out_of_limit": {"max_velocity": 1.0},
    "out_of_terrain_bounds": {"margin": 0.1},
}
"""Parameters of the terms that have some."""


def _own(room: ModuleType) -> list[tuple[str, Callable[..., Any]]]:
    return [
        (name, term)
        for name, term in vars(room).items()
        if inspect.isroutine(term) | inspect.isclass(term)
        and term.__module__ == room.__name__
        and not name.startswith("_")
    ]


TERMS = {name: (term, room) for room in ROOMS for name, term in _own(room)}


def world(num_envs: int) -> TermWorld:
    """Worlds with all quantities that terms read; each world has distinct values."""
    env: Any = TermWorld(num_envs, terrain=tiles(), sensors=(*contacts(), rays()))
    env.scatter()
    env.substeps(3)
    env.forward()
    env.sim.sense()
    # Drawn for more worlds than there are, so that a world has the same ones always.
    random = torch.Generator().manual_seed(5)
    numbers = torch.randn(MOST, 4, 4, generator=random)[:num_envs].clone()
    env.termination_manager = SimpleNamespace(
        terminated=numbers[:, 3, 3] < 0.0, time_outs=numbers[:, 2, 3] < 0.0
    )
    goals = {"twist": numbers[:, 3, :3]}
    env.command_manager = SimpleNamespace(get_command=goals.__getitem__)
    env.action_manager = ActionManager({"left": IdleCfg(), "right": IdleCfg()}, env)
    for index in range(3):
        env.action_manager.process_action(numbers[:, index])
    env.episode_length_buf.copy_(torch.arange(num_envs) * 100)
    pixels = (100.0 * numbers.abs()).to(torch.uint8)[:, :, :3, None].expand(-1, 4, 3, 3)
    images = {
        "rgb": pixels,
        "depth": numbers.abs()[:, :, :3, None],
        "segmentation": pixels[..., :2].int() % 9 - 1,
    }
    eye = SimpleNamespace(data=CameraData("eye", images, 20.0))
    env.scene.sensors["eye"] = eye
    return env


@pytest.fixture(scope="module")
def worlds() -> dict[int, TermWorld]:
    return {num_envs: world(num_envs) for num_envs in (1, 5, 8, MOST)}


def bound(name: str, env: TermWorld) -> Any:
    return bind_term(env, TERMS[name][0], **PARAMS.get(name, {}))


def test_parameters_are_of_terms_that_exist():
    assert set(PARAMS) <= set(TERMS)
    assert len(TERMS) > 50


@pytest.mark.parametrize("name", TERMS)
def test_a_term_returns_a_finite_row_of_its_type_for_each_world(worlds, name):
    env = worlds[5]
    value = bound(name, env)()
    room = TERMS[name][1]
    assert value.dtype == ROOMS[room]
    assert value.shape[0] == 5
    assert value.dim() >= 2 if room is observations else value.dim() == 1
    assert value.float().isfinite().all()


@pytest.mark.parametrize("name", TERMS)
def test_term_is_bit_identical_for_any_number_of_worlds(worlds, name):
    many = bound(name, worlds[MOST])()
    for num_envs in (1, 5, 8):
        assert torch.equal(bound(name, worlds[num_envs])(), many[:num_envs])


@pytest.mark.parametrize("name", TERMS)
def test_term_does_not_synchronise_with_the_device(worlds, name, monkeypatch):
    env = worlds[5]
    term = bound(name, env)
    term()
    env.robot.data.invalidate()
    with watch(env, monkeypatch) as seen:
        term()
    assert seen.problems == []


LIVE = [
    (name, key)
    for name, params in PARAMS.items()
    for key, value in params.items()
    if isinstance(value, float | tuple)
]


@pytest.mark.parametrize("name, key", LIVE)
def test_curriculum_parameter_takes_effect_without_host_read(
    worlds, name, key, monkeypatch
):
    env = worlds[MOST]
    term = bound(name, env)
    expected = term().clone()
    live = term.live(key)
    torch.testing.assert_close(term(), expected)
    with watch(env, monkeypatch) as seen:
        live *= 10.0
        changed = term()
    assert seen.problems == []
    assert not torch.equal(changed, expected)


@pytest.mark.parametrize("name", TERMS)
def test_a_term_does_not_modify_its_inputs(worlds, name):
    env = worlds[5]
    term = bound(name, env)
    once, again = term().clone(), term()
    assert torch.equal(once, again)
