"""The environment: logs, terminal observations, diverged worlds, errors."""

import copy
from collections.abc import Callable
from typing import Any

import mujoco
import pytest
import torch

from mjlab.envs import Box, ConfigError, ManagerBasedRlEnv, mdp
from mjlab.envs.nonfinite import TooManyNonfiniteError
from mjlab.envs.runner import self_test
from mjlab.envs.state import StateError
from mjlab.managers import (
    EventTermCfg,
    ManagerTermBase,
    ObservationGroupCfg,
    ObservationTermCfg,
    RewardTermCfg,
    SceneEntityCfg,
    TermError,
    TerminationTermCfg,
)
from mjlab.names import UnknownNameError
from mjlab.registry import load_task
from mjlab.sim import StaleReadError
from mjlab.tasks.cartpole import CartpoleBalanceCfg
from tests.worlds.synthetic import SyntheticCfg


def cartpole(num_envs: int = 4, **changes: Any) -> CartpoleBalanceCfg:
    cfg = CartpoleBalanceCfg(seed=1, **changes)
    cfg.scene.num_envs = num_envs
    return cfg


def short(steps: int, num_envs: int = 4) -> ManagerBasedRlEnv:
    """Cartpole with a given episode length in steps."""
    env = ManagerBasedRlEnv(cartpole(num_envs, episode_length_s=steps * 0.05))
    env.reset()
    return env


def still(env: ManagerBasedRlEnv) -> torch.Tensor:
    return torch.zeros(env.num_envs, env.action_manager.total_action_dim)


# Outputs.


def test_step_returns_tensors_of_the_documented_shapes() -> None:
    env = short(10)
    observations, reward, terminated, truncated, extras = env.step(still(env))
    assert observations["actor"].shape == (4, 5)
    assert reward.shape == (4,) and reward.dtype == torch.float32
    assert terminated.shape == truncated.shape == (4,)
    assert terminated.dtype == truncated.dtype == torch.bool
    assert "log" in extras


def test_an_episode_of_five_steps_is_truncated_at_the_fifth() -> None:
    env = short(5)
    ended = [env.step(still(env))[3].tolist() for _ in range(10)]
    assert [all(each) for each in ended] == [False] * 4 + [True] + [False] * 4 + [True]
    assert env.max_episode_length == 5


def test_the_log_is_a_mean_over_episodes_weighted_by_their_number() -> None:
    env = short(6)
    env.take_log()
    # World 0 is one step ahead, so one episode ends first and three end later.
    env.episode_length_buf[0] = 1
    rewards = torch.zeros(4)
    sums: list[float] = []
    for _ in range(6):
        _, reward, _, done, extras = env.step(still(env))
        rewards += reward
        sums += (rewards[done] / env.max_episode_length_s).tolist()
        rewards[done] = 0.0
    assert len(sums) == 4
    latest = extras["log"]["Episode_Reward/smooth"]
    assert torch.isclose(latest, torch.tensor(sums[1:]).mean())
    log = env.take_log()
    assert log["Episode_Reward/smooth"] == pytest.approx(sum(sums) / 4, rel=1e-5)
    assert log["Episode_Termination/time_out"] == 1.0
    assert "Episode_Reward/smooth" not in env.take_log()


def test_the_log_of_a_step_is_a_new_dictionary() -> None:
    env = short(2)
    env.step(still(env))
    *_, first = env.step(still(env))
    kept = {name: value.clone() for name, value in first["log"].items()}
    for _ in range(5):
        *_, later = env.step(torch.ones(4, 1))
    assert later["log"] is not first["log"]
    assert all(torch.equal(first["log"][name], value) for name, value in kept.items())


def test_spaces_have_the_shapes_of_actions_and_observations() -> None:
    env = short(10)
    assert env.single_action_space == Box((1,))
    assert env.action_space == Box((4, 1))
    assert env.single_observation_space.spaces["actor"] == Box((5,))
    assert env.observation_space.spaces["critic"] == Box((4, 5))


class drawing(ManagerTermBase):
    """Reward with a debug visualisation."""

    def __call__(self, env: Any) -> torch.Tensor:
        return torch.zeros(env.num_envs)

    def debug_vis(self, visualizer: Any) -> None:
        visualizer.append("reward")


def test_term_can_draw_debug_shapes() -> None:
    cfg = cartpole()
    cfg.rewards["drawing"] = RewardTermCfg(func=drawing, weight=1.0)
    drawn: list[str] = []
    ManagerBasedRlEnv(cfg).debug_vis(drawn)
    assert drawn == ["reward"]


# Terminal observations.


def test_final_observations_keep_their_address() -> None:
    """A replay writes only to the memory of its capture."""
    env = ManagerBasedRlEnv(SyntheticCfg(seed=5, final_obs=True))
    env.reset()
    places = []
    for _ in range(3):
        env.step(still(env))
        final = env.program.resets.final_obs
        places.append([value.data_ptr() for value in final.values()])
    assert places[0] == places[1] == places[2]


# Non-finite worlds.


def test_non_finite_world_is_terminated_counted_and_reset() -> None:
    env = short(100)
    env.step(still(env))
    env.sim.data.qvel[2, 0] = float("nan")
    observations, reward, terminated, _, _ = env.step(still(env))
    assert terminated.tolist() == [False, False, True, False]
    assert reward[2] == 0.0 and reward.isfinite().all()
    assert observations["actor"].isfinite().all()
    observations, reward, terminated, *_ = env.step(still(env))
    assert not terminated.any() and observations["actor"].isfinite().all()
    # One in twelve exceeds the allowed fraction.
    with pytest.raises(TooManyNonfiniteError, match=r"1 of 12 world steps \(8\.3%"):
        env.take_log()


@pytest.mark.parametrize("engine", ["native", "warp"])
def test_a_world_beyond_mujocos_limit_ends_and_is_never_observed(engine: Any) -> None:
    cfg = cartpole(max_nonfinite_share=1.0, final_obs=True)
    cfg.sim.backend = engine
    env = ManagerBasedRlEnv(cfg, device="cpu")
    env.reset()
    env.step(still(env))
    before = env.get_state()
    expected: Any = env.step(still(env)).observations["actor"]
    for value in (1e12, 1e18):
        env.set_state(before)
        env.sim.data.qvel[2, 0] = value
        step = env.step(still(env))
        assert step.terminated.tolist() == [False, False, True, False]
        assert step.reward[2] == 0.0
        final: Any = step.extras["final_obs"]["actor"]
        assert not final[2].any()
        observed: Any = step.observations["actor"]
        assert observed.abs().max() < 1e3
        others = torch.tensor([0, 1, 3])
        assert torch.equal(observed[others], expected[others])
        assert not env.step(still(env)).terminated.any()
        assert env.take_log()["Health/nonfinite"] == 1.0


@pytest.mark.parametrize("when", ["next_step", "never"])
def test_a_diverged_world_that_is_not_reset_yet_is_observed_as_zeros(
    when: Any,
) -> None:
    env = short(100)
    env.choose_resets(when)
    env.step(still(env))
    env.sim.data.qvel[2, 0] = 1e12
    step = env.step(still(env))
    assert step.terminated.tolist() == [False, False, True, False]
    observed: Any = step.observations["actor"]
    assert not observed[2].any()
    assert observed[[0, 1, 3]].any(dim=1).all()


@pytest.mark.parametrize("lost_before", [0, 1])
def test_fraction_of_diverged_worlds_counts_since_the_last_log(
    lost_before: int,
) -> None:
    """Half of the worlds diverge in one step after 100 good ones."""
    env = short(10_000)
    env.sim.data.qvel[:lost_before, 0] = float("nan")
    for _ in range(100):
        env.step(still(env))
    assert env.take_log()["Health/nonfinite"] == lost_before
    env.sim.data.qvel[:2, 0] = float("nan")
    env.step(still(env))
    with pytest.raises(TooManyNonfiniteError, match=r"2 of 4 world steps \(50\.0%"):
        env.take_log()


def always_one(env: Any) -> torch.Tensor:
    return torch.ones(env.num_envs)


def test_values_of_a_non_finite_step_are_excluded_from_the_episode_sums() -> None:
    cfg = cartpole(max_nonfinite_share=1.0)
    cfg.rewards["one"] = RewardTermCfg(func=always_one, weight=1.0)
    env = ManagerBasedRlEnv(cfg)
    env.reset()
    for _ in range(3):
        env.step(still(env))
    env.sim.data.qvel[2, 0] = float("nan")
    _, reward, terminated, *_ = env.step(still(env))
    assert terminated.tolist() == [False, False, True, False]
    assert reward[2] == 0.0 and reward[0] >= env.step_dt
    # Three steps count, although the term was also 1 in the fourth.
    rate = 3 * env.step_dt / env.max_episode_length_s
    assert env.take_log()["Episode_Reward/one"] == pytest.approx(rate)


def test_rare_non_finite_worlds_are_logged() -> None:
    env = short(100)
    for step in range(30):
        if step == 7:
            env.sim.data.qpos[0, 0] = float("inf")
        env.step(still(env))
    log = env.take_log()
    assert log["Health/nonfinite"] == 1.0
    assert env.take_log()["Health/nonfinite"] == 0.0


def nan_once(env: Any) -> torch.Tensor:
    bad = (env.common_step_counter == 3) & (torch.arange(env.num_envs) == 1)
    return torch.zeros(env.num_envs).masked_fill_(bad, float("nan"))


def test_a_reward_that_is_not_finite_is_counted_by_its_term() -> None:
    cfg = cartpole()
    cfg.rewards["bad"] = RewardTermCfg(func=nan_once, weight=1.0)
    env = ManagerBasedRlEnv(cfg)
    env.reset()
    ended = [env.step(still(env))[2].tolist() for _ in range(30)]
    assert ended[2] == [False, True, False, False]
    assert sum(any(each) for each in ended) == 1
    assert env.take_log()["Health/nonfinite/reward/bad"] == 1.0


def always_nan(env: Any) -> torch.Tensor:
    return torch.full((env.num_envs,), float("nan"))


def test_a_run_with_only_non_finite_rewards_is_stopped() -> None:
    cfg = cartpole()
    cfg.rewards["bad"] = RewardTermCfg(func=always_nan, weight=1.0)
    env = ManagerBasedRlEnv(cfg)
    env.reset()
    for _ in range(5):
        env.step(still(env))
    with pytest.raises(TooManyNonfiniteError, match=r"20 of 20 .* reward/bad \(20\)"):
        env.take_log()


def test_a_nan_action_ends_that_world_and_is_counted() -> None:
    env = short(100)
    action = still(env)
    action[3] = float("nan")
    _, reward, terminated, *_ = env.step(action)
    assert terminated.tolist() == [False, False, False, True]
    assert reward.isfinite().all()
    for _ in range(30):
        env.step(still(env))
    assert env.take_log()["Health/nonfinite"] == 1.0


# Actions.


@pytest.mark.parametrize(
    "action, text",
    [
        (torch.zeros(1, 1), "shape"),
        (torch.zeros(4, 2), "shape"),
        (torch.zeros(4), "shape"),
        (torch.zeros(4, 1, dtype=torch.float64), "float64"),
        (torch.zeros(4, 1, dtype=torch.int64), "int64"),
    ],
)
def test_an_action_of_the_wrong_kind_is_an_error(
    action: torch.Tensor, text: str
) -> None:
    env = short(10)
    with pytest.raises((ValueError, TypeError), match=text):
        env.step(action)


# Errors at build time, before any physics.


def broken(**changes: Any) -> CartpoleBalanceCfg:
    cfg = cartpole()
    for group, terms in changes.items():
        getattr(cfg, group).update(terms)
    return cfg


def column(env: Any) -> torch.Tensor:
    return torch.zeros(env.num_envs, 1)


def integers(env: Any) -> torch.Tensor:
    return torch.zeros(env.num_envs, dtype=torch.int64)


def needs_sensor(env: Any, sensor_name: str) -> torch.Tensor:
    return mdp.builtin_sensor(env, sensor_name)


CASES: list[tuple[CartpoleBalanceCfg, type[Exception], str]] = [
    (
        broken(events={"x": EventTermCfg(func=mdp.time_out, mode="intervall")}),  # pyright: ignore[reportArgumentType]
        TermError,
        "Event term 'x' has the unknown mode='intervall'. Valid names, nearest first: "
        "'interval', 'step', 'startup', 'reset'.",
    ),
    (
        broken(
            rewards={
                "x": RewardTermCfg(
                    func=mdp.base_height_l2, weight=1.0, params={"target_hight": 1.0}
                )
            }
        ),
        TermError,
        "Reward term 'x': base_height_l2 has no parameter 'target_hight'. Valid names, "
        "nearest first: 'target_height', 'asset_cfg'.",
    ),
    (
        broken(rewards={"x": RewardTermCfg(func=mdp.base_height_l2, weight=1.0)}),
        TermError,
        "Reward term 'x': base_height_l2 needs the parameter 'target_height'.",
    ),
    (
        broken(
            observations={
                "x": ObservationGroupCfg(
                    terms={
                        "y": ObservationTermCfg(
                            func=mdp.generated_commands, params={"command_name": "twst"}
                        )
                    }
                )
            }
        ),
        UnknownNameError,
        "twst",
    ),
    (
        broken(
            observations={
                "x": ObservationGroupCfg(
                    terms={
                        "y": ObservationTermCfg(
                            func=needs_sensor, params={"sensor_name": "imu"}
                        )
                    }
                )
            }
        ),
        UnknownNameError,
        "The scene has no sensor 'imu'.",
    ),
    (
        broken(rewards={"x": RewardTermCfg(func=column, weight=1.0)}),
        TermError,
        "Reward term 'x' returned shape (4, 1); it has to be (4,), one value per "
        "world.",
    ),
    (
        broken(terminations={"x": TerminationTermCfg(func=integers)}),
        TermError,
        "Termination term 'x' returned torch.int64; it has to be torch.bool.",
    ),
    (
        broken(
            rewards={
                "x": RewardTermCfg(
                    func=mdp.joint_vel_l2,
                    weight=1.0,
                    params={
                        "asset_cfg": SceneEntityCfg("cartpole", joint_names="slidr")
                    },
                )
            }
        ),
        TermError,
        "Reward term 'x', parameter 'asset_cfg': ",
    ),
    (
        broken(
            events={
                "x": EventTermCfg(
                    func=mdp.randomize.geom_friction,
                    mode="startup",
                    params={
                        "ranges": (0.5, 1.0),
                        "asset_cfg": SceneEntityCfg("cartpole", geom_names=()),
                    },
                )
            }
        ),
        TermError,
        "Event term 'x'",
    ),
    (
        broken(observations={"x": ObservationGroupCfg(terms={})}),
        TermError,
        "Observation group 'x' has no terms. Set the group to None to leave it out.",
    ),
    (
        broken(
            actions={
                "again": mdp.JointEffortActionCfg(
                    entity_name="cartpole", joint_names=("slider",)
                )
            }
        ),
        TermError,
        "slider",
    ),
    (
        cartpole(episode_length_s=0.0),
        ConfigError,
        "episode_length_s=0.0 is shorter than one step of 0.05 s (decimation times "
        "sim.mujoco.timestep). Increase it.",
    ),
    (
        cartpole(decimation=0),
        ValueError,
        "env.decimation is 0; it has to be 1 or more.",
    ),
    (
        cartpole(mode="fuse"),  # pyright: ignore[reportArgumentType]
        ConfigError,
        "mode='fuse' is unknown. Valid: 'auto', 'fused', 'segmented', 'eager'.",
    ),
    (
        cartpole(mode="fused"),
        ConfigError,
        "mode='fused' needs CUDA graphs, which the native engine does not support. "
        "Use mode='auto', or sim.backend='warp' on a CUDA device.",
    ),
]


@pytest.mark.parametrize("cfg, error, text", CASES)
def test_an_invalid_configuration_is_reported_when_the_environment_is_built(
    cfg: CartpoleBalanceCfg, error: type[Exception], text: str
) -> None:
    with pytest.raises(error) as caught:
        ManagerBasedRlEnv(cfg)
    assert text in str(caught.value)


def test_one_graph_for_all_of_a_step_needs_cuda() -> None:
    cfg = cartpole(mode="fused")
    cfg.sim.backend = "warp"
    with pytest.raises(
        ConfigError, match="needs a CUDA device, but the device is 'cpu'"
    ):
        ManagerBasedRlEnv(cfg, device="cpu")


class late_reader(ManagerTermBase):
    """Reads an acceleration only after a number of calls."""

    def __init__(self, cfg: Any, env: Any) -> None:
        super().__init__(cfg, env)
        self.calls = 0

    def __call__(self, env: Any) -> torch.Tensor:
        self.calls += 1
        data = env.sim.data.qacc if self.calls > 6 else env.sim.data.qvel
        return data[:, :1].clone()


def test_read_unknown_to_the_rehearsal_raises_instead_of_returning_stale_values() -> (
    None
):
    cfg = cartpole()
    cfg.observations["late"] = ObservationGroupCfg(
        terms={"late": ObservationTermCfg(func=late_reader)}
    )
    env = ManagerBasedRlEnv(cfg)
    with pytest.raises(StaleReadError, match="forward_stage='acceleration'"):
        for _ in range(10):
            env.step(still(env))
    cfg = copy.deepcopy(cfg)
    cfg.sim.forward_stage = "acceleration"
    env = ManagerBasedRlEnv(cfg)
    for _ in range(10):
        env.step(still(env))


def walker_with_accelerometer(num_envs: int) -> ManagerBasedRlEnv:
    cfg = load_task("Velocity-Go1-Flat").env()
    cfg.scene.num_envs, cfg.seed, cfg.events = num_envs, 3, {}
    env = ManagerBasedRlEnv(cfg)
    env.reset()
    return env


def test_any_sensor_can_be_read_between_steps_without_side_effects() -> None:
    watched, left_alone = (walker_with_accelerometer(3) for _ in range(2))
    engine = watched.sim.engine
    for _ in range(6):
        for env in (watched, left_alone):
            env.step(torch.full((3, 12), 0.4))
        with pytest.raises(StaleReadError, match=r"with sim\.reads\.allow_late\(\):"):
            _ = watched.scene["robot/imu_lin_acc"].data
        with watched.sim.reads.allow_late():
            found = {name: each.data for name, each in watched.scene.sensors.items()}
        assert len(found) == 6
        actuators = repr(watched.scene.entity("robot").actuators)
        assert actuators.startswith("ActuatorSet(FR_hip_joint, FR_thigh_joint, ")
        data = mujoco.MjData(engine.mj_model)
        data.qpos, data.qvel = (
            getattr(watched.sim.data, field)[1].double().numpy()
            for field in ("qpos", "qvel")
        )
        data.ctrl = watched.sim.data.ctrl[1].double().numpy()
        mujoco.mj_forward(engine.mj_model, data)
        wanted = torch.from_numpy(data.sensor("robot/imu_lin_acc").data).float()
        torch.testing.assert_close(
            found["robot/imu_lin_acc"][1], wanted, rtol=1e-3, atol=1e-2
        )
    assert watched.sim.forward_stage == left_alone.sim.forward_stage
    assert torch.equal(watched.sim.data.qpos, left_alone.sim.data.qpos)
    assert torch.equal(watched.sim.data.qvel, left_alone.sim.data.qvel)


def writes_late(env: Any, field: str) -> torch.Tensor:
    getattr(env.sim.data, field).fill_(1)
    return torch.zeros(env.num_envs, 1)


@pytest.mark.parametrize("field", ["qvel", "mocap_quat", "eq_active", "plastic"])
def test_a_term_that_writes_the_state_after_forward_is_named(field: str) -> None:
    cfg = cartpole()
    push = ObservationTermCfg(func=writes_late, params={"field": field})
    cfg.observations["late"] = ObservationGroupCfg(terms={"push": push})
    with pytest.raises(TermError, match="Observation term 'late/push' wrote the state"):
        ManagerBasedRlEnv(cfg)


def test_wrong_mask_is_refused_before_any_change() -> None:
    env = short(10)
    before = env.get_state()
    with pytest.raises(ValueError, match="bool tensor of shape"):
        env.reset(mask=torch.tensor([0, 2]))
    after = env.get_state()
    assert all(torch.equal(before[key], after[key]) for key in before)


def test_constants_are_recomputed_only_in_steps_with_a_reset() -> None:
    cfg = SyntheticCfg(seed=1, mode="eager")
    cfg.sim.backend = "warp"
    env = ManagerBasedRlEnv(cfg, device="cpu")
    env.reset()
    launches = env.sim.engine._launches
    derived: list[int] = []
    original = launches._derive_constants

    def counted() -> None:
        derived.append(1)
        original()

    launches._derive_constants = counted
    for step in range(8):
        if step == 5:
            env.episode_length_buf[1] = env.max_episode_length - 1
        derived.clear()
        env.step(still(env))
        assert bool(derived) == bool(env.termination_manager.dones.any())


def test_a_state_of_another_task_is_refused_with_the_differences() -> None:
    state = short(10).get_state()
    cfg = cartpole()
    cfg.rewards["more"] = RewardTermCfg(func=mdp.action_l2, weight=-0.1)
    cfg.terminations["low"] = TerminationTermCfg(
        func=mdp.joint_pos_out_of_range,
        params={"bounds": (-1.0, 1.0), "asset_cfg": SceneEntityCfg("cartpole")},
    )
    other = ManagerBasedRlEnv(cfg)
    with pytest.raises(StateError, match="has shape"):
        other.set_state(state)
    with pytest.raises(StateError, match="Use the same num_envs"):
        short(10, num_envs=3).set_state(state)


@pytest.mark.parametrize("engine", ["native", "warp"])
def test_state_contains_unread_quantities(engine: str) -> None:
    """Neither the rehearsal nor the state before `set_state` affects any field."""
    cfg = SyntheticCfg(seed=1)
    cfg.sim.backend = engine
    env = ManagerBasedRlEnv(cfg, device="cpu")
    first = env.sim.data.xipos.clone()
    env.sim.forward()
    assert torch.allclose(first, env.sim.data.xipos, atol=1e-6)
    state = env.get_state()
    for _ in range(5):
        env.step(still(env) + 1.0)
    env.set_state(state)
    second = env.sim.data.subtree_com.clone()
    env.sim.forward()
    assert torch.allclose(second, env.sim.data.subtree_com, atol=1e-6)


# Terms with env_ids, and step modes.


def push_by_ids(env: Any, env_ids: torch.Tensor, speed: float) -> None:
    env.sim.data.qvel[env_ids, 0] = speed


def test_a_term_that_takes_env_ids_runs_and_is_named_in_the_report() -> None:
    cfg = cartpole(episode_length_s=0.25)
    cfg.events["old"] = EventTermCfg(
        func=push_by_ids, mode="reset", params={"speed": 0.4}
    )
    env = ManagerBasedRlEnv(cfg)
    observations, _ = env.reset()
    assert torch.allclose(observations["actor"][:, 3], torch.tensor(0.4))
    assert "Event term 'old'" in str(env)


class frozen_counter(ManagerTermBase):
    """A Python counter, which a capture would freeze."""

    def __init__(self, cfg: Any, env: Any) -> None:
        super().__init__(cfg, env)
        self.count = 0
        self.memory = torch.zeros(env.num_envs)

    def __call__(self, env: Any) -> torch.Tensor:
        self.count += 1
        self.memory.fill_(float(self.count))
        return self.memory

    def state(self) -> dict[str, torch.Tensor]:
        return {"memory": self.memory}


def eager(env: ManagerBasedRlEnv) -> Callable[[], None]:
    return env.program.advance


def test_the_self_test_names_a_term_that_a_replay_would_freeze() -> None:
    cfg = cartpole()
    cfg.rewards["counter"] = RewardTermCfg(func=frozen_counter, weight=1.0)
    env = ManagerBasedRlEnv(cfg)
    term = env.reward_manager.term("counter").instance
    assert isinstance(term, frozen_counter)

    def frozen_replay() -> None:
        before = term.count
        env.program.advance()
        term.count = before

    culprits = self_test(env, env.state, frozen_replay, eager(env))
    assert any("reward.counter" in culprit for culprit in culprits)
    sound = ManagerBasedRlEnv(cartpole())
    assert self_test(sound, sound.state, eager(sound), eager(sound)) == []


# Looking in.


def test_print_shows_managers_and_terms_as_tables() -> None:
    text = str(ManagerBasedRlEnv(SyntheticCfg(seed=1)))
    for line in ("Rewards", "Observations", "Events", "Commands", "Curriculum"):
        assert line in text
    for name in ("joint_pos", "push", "interval", "twist", "weigh_rate", "fell"):
        assert name in text
    assert "4 worlds on native" in text and "Seed 1." in text


def test_profile_shows_the_cost_of_every_term_and_engine_call() -> None:
    env = ManagerBasedRlEnv(SyntheticCfg(seed=1))
    env.reset()
    before = env.get_state()
    profile = env.profile(steps=3)
    after = env.get_state()
    assert all(torch.equal(before[k], after[k]) for k in before if "nan" not in k)
    assert "engine: step" in profile.seconds and "reward/lin" in profile.seconds
    assert "event/push" in profile.seconds
    assert "action/joints" in profile.seconds and "command/twist" in profile.seconds
    # All counters are restored.
    term = env.command_manager.term("twist")
    assert "update" not in vars(term) and "step" not in vars(env.sim.engine)
    assert sum(profile.seconds.values()) == pytest.approx(profile.total, rel=0.05)
    assert "whole step" in str(profile)
