"""Events: their times, and the worlds that they change."""

from typing import Any

import pytest
import torch

from mjlab.managers.event import EventManager, EventTermCfg, required_fields
from mjlab.managers.term import ManagerTermBase, TermError
from tests.worlds.fake_env import FakeEnv
from tests.worlds.small_world import small_world


class record(ManagerTermBase):
    """Count the calls for each world."""

    def __init__(self, cfg: EventTermCfg, env: Any) -> None:
        super().__init__(cfg, env)
        self.count = torch.zeros(env.num_envs, dtype=torch.int64)
        self.resets = torch.zeros(env.num_envs, dtype=torch.int64)

    def __call__(self, env: Any, mask: torch.Tensor) -> None:
        self.count += mask

    def reset(self, mask: torch.Tensor) -> None:
        self.resets += mask


def manager(env: FakeEnv, **terms: EventTermCfg | None) -> EventManager:
    return EventManager(terms, env)  # type: ignore[arg-type]


def counts(events: EventManager, name: str) -> list[int]:
    term: Any = events.term(name).instance
    return term.count.tolist()


def run_step(env: FakeEnv, events: EventManager, reset: torch.Tensor | None = None):
    """Run events as the environment does in a step."""
    env.rng.advance()
    env.common_step_counter += 1
    events.apply("step", env.step_dt)
    if reset is not None:
        env.rng.advance(reset)
        events.apply("reset", mask=reset)
        events.reset(reset)
    events.apply("interval", env.step_dt)


def happening_times(
    env: FakeEnv, events: EventManager, steps: int, resets: dict[int, torch.Tensor]
) -> list[list[int]]:
    """Return the steps in which the event `record` ran in each world."""
    times: list[list[int]] = [[] for _ in range(env.num_envs)]
    before = counts(events, "record")
    for step in range(1, steps + 1):
        run_step(env, events, resets.get(step))
        now = counts(events, "record")
        for world, (old, new) in enumerate(zip(before, now, strict=True)):
            times[world] += [step] * (new - old)
        before = now
    return times


def test_events_run_in_their_mode_for_worlds_of_the_mask():
    env = FakeEnv(4)
    events = manager(
        env,
        first=EventTermCfg(func=record, mode="startup"),
        anew=EventTermCfg(func=record, mode="reset"),
        always=EventTermCfg(func=record, mode="step"),
        off=None,
    )
    events.apply("startup")
    events.apply("reset", mask=env.mask(1, 3))
    events.apply("step", dt=env.step_dt)
    assert counts(events, "first") == [1, 1, 1, 1]
    assert counts(events, "anew") == [0, 1, 0, 1]
    assert counts(events, "always") == [1, 1, 1, 1]
    assert events.active_terms == ["first", "anew", "always"]


def test_fixed_interval_runs_every_k_steps_without_drift():
    env = FakeEnv(2)
    # Three times 0.02 is not 0.06 in binary, so a sum of times would be off.
    events = manager(
        env,
        record=EventTermCfg(
            func=record, mode="interval", interval_range_s=(0.06, 0.06)
        ),
    )
    times = happening_times(env, events, 3000, {})
    assert times[0] == list(range(3, 3001, 3))
    assert times[1] == times[0]


def test_times_between_intervals_are_uniform_over_the_steps_of_the_range():
    env = FakeEnv(64)
    events = manager(
        env,
        record=EventTermCfg(func=record, mode="interval", interval_range_s=(0.1, 0.2)),
    )
    times = happening_times(env, events, 400, {})
    gaps = torch.cat([torch.tensor(t).diff() for t in times])
    seen = torch.bincount(gaps, minlength=11)
    assert seen[:5].sum() == 0
    expected = gaps.numel() / 6
    chi2 = ((seen[5:11] - expected) ** 2 / expected).sum()
    # 5 degrees of freedom: 20.5 is passed once in a thousand.
    assert chi2 < 20.5
    assert len({tuple(t) for t in times}) == 64


def test_reset_restarts_the_interval_timer_of_its_world_only():
    interval = EventTermCfg(func=record, mode="interval", interval_range_s=(0.1, 0.1))
    env = FakeEnv(2)
    times = happening_times(
        env, manager(env, record=interval), 14, {3: env.mask(0), 12: env.mask(0)}
    )
    assert times[0] == [8]
    assert times[1] == [5, 10]


def test_reset_does_not_change_random_intervals_of_other_worlds():
    def times(resets: dict[int, torch.Tensor]) -> list[list[int]]:
        env = FakeEnv(3)
        events = manager(
            env,
            record=EventTermCfg(
                func=record, mode="interval", interval_range_s=(0.02, 0.3)
            ),
            alike=EventTermCfg(
                func=record, mode="interval", interval_range_s=(0.02, 0.3)
            ),
        )
        return happening_times(env, events, 100, resets)

    env = FakeEnv(3)
    calm, reset = times({}), times({7: env.mask(0), 20: env.mask(0)})
    assert calm[1:] == reset[1:]
    assert calm[0] != reset[0]


def test_a_global_timer_fires_in_all_worlds_regardless_of_resets():
    def times(num_envs: int, resets: dict[int, list[int]]) -> list[list[int]]:
        env = FakeEnv(num_envs)
        events = manager(
            env,
            record=EventTermCfg(
                func=record,
                mode="interval",
                interval_range_s=(0.02, 0.4),
                is_global_time=True,
            ),
        )
        masks = {step: env.mask(*worlds) for step, worlds in resets.items()}
        return happening_times(env, events, 200, masks)

    calm = times(3, {})
    assert calm[0] == calm[1] == calm[2]
    assert len(set(torch.tensor(calm[0]).diff().tolist())) > 5
    assert times(3, {4: [0], 9: [0, 1, 2]}) == calm
    assert times(1, {})[0] == calm[0]


def test_restarted_global_timer_repeats_its_intervals():
    env = FakeEnv(2)
    events = manager(
        env,
        record=EventTermCfg(
            func=record,
            mode="interval",
            interval_range_s=(0.02, 0.4),
            is_global_time=True,
        ),
    )
    first = happening_times(env, events, 60, {})
    events.restart_global_clock()
    assert happening_times(env, events, 60, {}) == first


def test_reset_events_are_skipped_within_min_step_count():
    env = FakeEnv(3)
    events = manager(
        env,
        rare=EventTermCfg(func=record, mode="reset", min_step_count_between_reset=10),
        each=EventTermCfg(func=record, mode="reset"),
    )
    run_step(env, events, env.mask(0, 1, 2))
    for _ in range(8):
        run_step(env, events)
    run_step(env, events, env.mask(0))  # 9 steps after the first
    assert counts(events, "rare") == [1, 1, 1]
    run_step(env, events, env.mask(0, 1))  # 10 steps after it
    assert counts(events, "rare") == [2, 2, 1]
    run_step(env, events, env.mask(0, 1))  # 1 step after the second
    assert counts(events, "rare") == [2, 2, 1]
    assert counts(events, "each") == [4, 3, 1]


def test_state_of_terms_is_cleared_in_reset_worlds():
    env = FakeEnv(3)
    events = manager(env, record=EventTermCfg(func=record, mode="step"))
    run_step(env, events, env.mask(1))
    term: Any = events.term("record").instance
    assert term.resets.tolist() == [0, 1, 0]


def test_continuing_from_a_snapshot_equals_an_uninterrupted_run():
    env = FakeEnv(3)
    cfg = {
        "record": EventTermCfg(
            func=record, mode="interval", interval_range_s=(0.02, 0.3)
        ),
        "all": EventTermCfg(
            func=record,
            mode="interval",
            interval_range_s=(0.02, 0.3),
            is_global_time=True,
        ),
        "rare": EventTermCfg(func=record, mode="reset", min_step_count_between_reset=7),
    }
    events = manager(env, **cfg)
    happening_times(env, events, 20, {5: env.mask(0, 1)})
    live = {**events.state(), **env.rng.state(), "steps": env.common_step_counter}
    held = {name: tensor.clone() for name, tensor in live.items()}
    # The second reset of world 0 is 6 steps after its first, which is too soon.
    resets = {2: env.mask(0), 6: env.mask(2), 8: env.mask(0, 1)}
    before = counts(events, "rare")
    first = happening_times(env, events, 40, resets)
    middle = counts(events, "rare")
    for name, tensor in live.items():
        tensor.copy_(held[name])
    assert happening_times(env, events, 40, resets) == first
    once = [b - a for a, b in zip(before, middle, strict=True)]
    again = [b - a for a, b in zip(middle, counts(events, "rare"), strict=True)]
    assert once == again == [1, 1, 1]


# --- Ported terms, random streams, model fields ---------------------------------------


def test_a_function_of_indices_gets_the_indices_of_the_mask():
    seen: list[list[int]] = []

    def old_style(env: Any, env_ids: torch.Tensor) -> None:
        seen.append(env_ids.tolist())

    env = FakeEnv(4)
    events = manager(env, old=EventTermCfg(func=old_style, mode="reset"))
    events.apply("reset", mask=env.mask(0, 2))
    assert seen == [[0, 2]]


def test_each_event_has_its_own_random_stream():
    def draw(env: Any, mask: torch.Tensor, stream: str) -> None:
        drawn[stream] = env.rng.draw(stream, ())

    drawn: dict[str, torch.Tensor] = {}
    env = FakeEnv(4)
    given = EventTermCfg(func=draw, mode="reset", params={"stream": "mine"})
    cfg = EventTermCfg(func=draw, mode="reset")
    events = manager(env, one=cfg, two=cfg, given=given)
    events.apply("reset", mask=env.everyone)
    assert set(drawn) == {"event/one", "event/two", "mine"}
    assert not torch.equal(drawn["event/one"], drawn["event/two"])
    assert cfg.params == {}


def test_fields_that_events_vary_are_known_from_their_configuration():
    def vary(env: Any, mask: torch.Tensor) -> None: ...

    class vary_field(record):
        @staticmethod
        def model_fields(params: dict[str, Any]) -> tuple[str, ...]:
            return (params["field"],)

    vary.model_fields = ("geom_friction", "opt.gravity")  # type: ignore[attr-defined]
    cfg = {
        "a": EventTermCfg(func=vary, mode="startup"),
        "b": EventTermCfg(func=vary_field, mode="reset", params={"field": "qpos0"}),
        "c": EventTermCfg(func=record, mode="reset"),
        "d": None,
    }
    assert required_fields(cfg) == {"geom_friction", "opt.gravity", "qpos0"}


def test_worlds_with_outdated_constants_accumulate_until_they_are_updated():
    def vary(env: Any, mask: torch.Tensor) -> None: ...

    vary.model_fields = ("body_mass",)  # type: ignore[attr-defined]
    env = FakeEnv(4)
    events = manager(
        env,
        mass=EventTermCfg(func=vary, mode="reset"),
        other=EventTermCfg(func=record, mode="step"),
    )
    assert events.asks_constants_in
    assert events.asks_constants_in == {"reset"}
    events.apply("reset", mask=env.mask(1))
    events.apply("step")
    events.apply("reset", mask=env.mask(2))
    assert events.constants_mask.tolist() == [False, True, True, False]


def test_updated_constants_are_no_longer_requested():
    def vary(env: Any, mask: torch.Tensor) -> None: ...

    vary.model_fields = ("body_mass",)  # type: ignore[attr-defined]
    env = FakeEnv(3)
    derived: list[list[bool]] = []
    env.sim.recompute_constants = lambda mask: derived.append(mask.tolist())
    events = manager(env, mass=EventTermCfg(func=vary, mode="reset"))
    for world in (0, 2):
        events.apply("reset", mask=env.mask(world))
        events.recompute_constants()
    assert derived == [[True, False, False], [False, False, True]]


def test_events_on_fields_without_constants_request_no_update():
    def vary(env: Any, mask: torch.Tensor) -> None: ...

    vary.model_fields = ("geom_friction", "dof_damping")  # type: ignore[attr-defined]
    env = FakeEnv(2)
    events = manager(env, vary=EventTermCfg(func=vary, mode="reset"))
    events.apply("reset", mask=env.everyone)
    assert not events.asks_constants_in
    assert not events.constants_mask.any()


def test_entities_follow_a_change_of_their_joint_ranges():
    def narrow(env: Any, mask: torch.Tensor) -> None:
        env.sim.model.jnt_range[:, 1:, 1].masked_fill_(mask.unsqueeze(1), 0.7)

    narrow.model_fields = ("jnt_range",)  # type: ignore[attr-defined]
    env = small_world(2, vary=("jnt_range",))
    events = manager(env, narrow=EventTermCfg(func=narrow, mode="reset"))
    events.apply("reset", mask=env.mask(1))
    upper = env.scene.entity("robot").data.joint_pos_limits[..., 1]
    assert upper.tolist() == [[1.5, 1.5], [pytest.approx(0.7)] * 2]


# --- Errors ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cfg", "message"),
    [
        (
            {"mode": "intervall"},
            "Event term 'x' has the unknown mode='intervall'. "
            "Valid names, nearest first: 'interval', ",
        ),
        (
            {"mode": "interval"},
            "Event term 'x' has mode='interval' and interval_range_s=None. Set "
            "interval_range_s if mode='interval', and leave it None in other modes.",
        ),
        (
            {"mode": "reset", "interval_range_s": (1.0, 2.0)},
            "Event term 'x' has mode='reset' and interval_range_s=(1.0, 2.0). Set "
            "interval_range_s if mode='interval', and leave it None in other modes.",
        ),
        (
            {"mode": "interval", "interval_range_s": (2.0, 1.0)},
            "Event term 'x': interval_range_s is (2.0, 1.0); it has to be (low, high) "
            "with 0 <= low <= high.",
        ),
        (
            {"mode": "step", "is_global_time": True},
            "Event term 'x' has is_global_time=True and mode='step'; is_global_time "
            "applies only to mode='interval'.",
        ),
        (
            {"mode": "step", "min_step_count_between_reset": 3},
            "Event term 'x' has min_step_count_between_reset=3 and mode='step'; it has "
            "to be 0 or more with mode='reset', and 0 in other modes.",
        ),
    ],
)
def test_invalid_event_is_an_error(cfg: dict[str, Any], message: str):
    with pytest.raises(TermError) as error:
        manager(FakeEnv(2), x=EventTermCfg(func=record, **cfg))
    assert str(error.value).startswith(message)


def test_a_reset_event_that_takes_no_mask_is_an_error():
    def blind(env: Any) -> None: ...

    with pytest.raises(TermError) as error:
        manager(FakeEnv(2), x=EventTermCfg(func=blind, mode="reset"))
    assert str(error.value) == (
        "Event term 'x' has mode='reset', but its function has no `mask` parameter. "
        "Add one, and change only the worlds where mask is True."
    )


def test_an_error_of_a_term_that_is_built_names_the_term():
    class refuses(record):
        def __init__(self, cfg: EventTermCfg, env: Any) -> None:
            raise ValueError("no.")

    with pytest.raises(TermError, match=r"^Event term 'x': no\.$"):
        manager(FakeEnv(2), x=EventTermCfg(func=refuses, mode="reset"))


# --- Cost -----------------------------------------------------------------------------
