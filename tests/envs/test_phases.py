"""`reset` and `step`, compared with their phases called one by one."""

from itertools import pairwise
from typing import Any

import pytest
import torch
from mujoco import batch as mj_batch

from mjlab.envs import ManagerBasedRlEnv, ManagerBasedRlEnvCfg, load
from mjlab.envs.manual import RESET, STEP, PhaseError
from mjlab.managers import EventTermCfg, ManagerTermBase, RewardTermCfg, copied
from tests.envs.test_properties import actions, rows
from tests.worlds.gym_tasks import cartpole, remembering
from tests.worlds.synthetic import SyntheticCfg

SIZES = [1, 4, 16]
ON_BOTH = [*[("native", n) for n in SIZES]]
ON_BOTH += [pytest.param("warp", n, marks=pytest.mark.slow) for n in SIZES]

PLACE = torch.tensor([0.3, -0.2, 0.41])
TURN = torch.tensor([0.8, 0.0, 0.0, 0.6])
SPEED = torch.tensor([0.5, 0.1, -0.2])


def joints(num_envs: int) -> torch.Tensor:
    """Return distinct joint positions per world, shape (num_envs, 12)."""
    return torch.linspace(-0.4, 0.4, num_envs * 12).view(num_envs, 12)


def place(env: Any, mask: torch.Tensor) -> None:
    """Event that places the robot with the writers of the entity."""
    robot = env.scene.entity("robot")
    state = torch.cat([PLACE, TURN, SPEED, torch.zeros(3)]).expand(env.num_envs, 13)
    robot.write_root_state(mask, state.to(env.device))
    robot.write_joint_state(mask, joints(env.num_envs), 0.0)


def place_by_hand(env: ManagerBasedRlEnv, mask: torch.Tensor) -> None:
    """The same with MuJoCo's fields: a free joint, then twelve hinges."""
    root = torch.cat([PLACE, TURN]).expand(env.num_envs, 7)
    qpos = torch.cat([root, joints(env.num_envs)], dim=1)
    qvel = torch.zeros_like(env.sim.data.qvel)
    qvel[:, :3] = SPEED
    for target, value in ((env.sim.data.qpos, qpos), (env.sim.data.qvel, qvel)):
        target.copy_(torch.where(mask[:, None], value, target))


def placed(engine: str, num_envs: int) -> ManagerBasedRlEnvCfg:
    """A task with every feature, and one reset event that places the robot."""
    cfg = SyntheticCfg(seed=11)
    cfg.scene.num_envs, cfg.sim.backend = num_envs, engine
    cfg.sim.nconmax, cfg.sim.njmax = 256, 256
    cfg.episode_length_s = 30 * cfg.decimation * cfg.sim.mujoco.timestep
    kept = {k: v for k, v in cfg.events.items() if v is None or v.mode != "reset"}
    cfg.events = kept | {"place": EventTermCfg(func=place, mode="reset")}
    return cfg


def by_hand(env: ManagerBasedRlEnv, mask: torch.Tensor) -> Any:
    life = env.lifecycle
    life.initialise(mask, events=False)
    place_by_hand(env, mask)
    life.apply(mask)
    life.update_kinematics(mask)
    return life.observe(mask)


def differences(
    ours: dict[str, Any], theirs: dict[str, Any], tolerance: float
) -> list[str]:
    assert ours.keys() == theirs.keys()
    return [
        name
        for name, value in ours.items()
        if not torch.allclose(
            value.double(),
            theirs[name].double(),
            rtol=0,
            atol=tolerance,
            equal_nan=True,
        )
    ]


@pytest.mark.parametrize("engine, num_envs", ON_BOTH)
def test_reset_phases_equal_a_reset_to_the_same_state(
    engine: str, num_envs: int
) -> None:
    tolerance = 0.0 if engine == "native" else 1e-6
    env = ManagerBasedRlEnv(load(placed(engine, num_envs)), "cpu")
    twin = ManagerBasedRlEnv(placed(engine, num_envs), "cpu")
    moves = actions(env, 12)
    for each in (env, twin):
        each.reset()
        for action in moves[:7]:
            each.step(action)
    mask = torch.arange(num_envs) % 3 == 0
    before, _ = rows(env), rows(twin)
    observed = copied(env.observation_manager.output)
    ours, our_extras = by_hand(env, mask)
    theirs, their_extras = twin.reset(mask=mask)
    assert differences(env.get_state(), twin.get_state(), tolerance) == []
    assert differences(ours, theirs, tolerance) == []
    assert our_extras.keys() == their_extras.keys()
    # The requested state is set, and other worlds are unchanged bit for bit.
    assert torch.equal(env.sim.data.qpos[mask, :3], PLACE.expand(int(mask.sum()), 3))
    after = rows(env)
    for name, value in before.items():
        same = (value[~mask] == after[name][~mask]) | value[~mask].isnan()
        assert bool(same.all()), name
    for name, value in observed.items():
        assert torch.equal(value[~mask], ours[name][~mask]), name
    for action in moves[7:]:
        ours, theirs = env.step(action), twin.step(action)
        assert differences(ours[0], theirs[0], 100 * tolerance) == []
        assert torch.allclose(ours[1], theirs[1], rtol=0, atol=100 * tolerance)


@pytest.mark.parametrize(
    "num_envs, when, final_obs",
    [
        (1, "same_step", True),
        (4, "same_step", True),
        (16, "same_step", True),
        (4, "same_step", False),
        (4, "next_step", True),
        (4, "never", False),
    ],
)
def test_step_phases_equal_step(num_envs: int, when: Any, final_obs: bool) -> None:
    made = []
    for _ in range(2):
        cfg = remembering()
        cfg.scene.num_envs = num_envs
        made.append(ManagerBasedRlEnv(cfg, "cpu"))
        made[-1].choose_resets(when, final_obs=final_obs)
        made[-1].reset(seed=4)
    env, twin = made
    ended = 0
    for action in actions(env, 30):
        life = env.lifecycle
        life.set_action(action)
        life.set_targets()
        for _ in range(env.cfg.decimation):
            life.apply_targets()
            life.physics_step()
        reward, terminated, truncated = life.evaluate()
        life.reset_done()
        life.update_kinematics()
        observations, extras = life.observe()
        expected = twin.step(action)
        for value, other in zip(
            (reward, terminated, truncated), expected[1:4], strict=True
        ):
            assert torch.equal(value, other)
        ended += int((terminated | truncated).sum())
        assert extras.keys() == expected[4].keys()
        assert ("final_obs" in extras) == (final_obs and when == "same_step")
        for group in ("observations", "final_obs"):
            ours = observations if group == "observations" else extras.get(group, {})
            theirs = expected[0] if group == "observations" else expected[4].get(group)
            for name, value in ours.items():
                parts = value if isinstance(value, dict) else {"": value}
                for key, part in parts.items():
                    other = theirs[name][key] if key else theirs[name]
                    assert torch.equal(part, other), (group, name, key)
    assert ended >= num_envs
    assert differences(env.get_state(), twin.get_state(), 0.0) == []


class SeesBeginnings(ManagerTermBase):
    """Stores the cart's position at the start of the episode."""

    def __init__(self, cfg: Any, env: Any) -> None:
        super().__init__(cfg, env)
        self.start = torch.full((env.num_envs,), float("nan"))

    def reset(self, mask: torch.Tensor) -> None:
        position = self._env.scene.entity("cartpole").data.joint_pos[:, 0]
        self.start.copy_(torch.where(mask, position, self.start))

    def __call__(self, env: Any) -> torch.Tensor:
        return torch.zeros(env.num_envs)


@pytest.fixture
def env() -> ManagerBasedRlEnv:
    cfg = cartpole()
    cfg.scene.num_envs = 2
    cfg.decimation = 2
    cfg.rewards["seen"] = RewardTermCfg(func=SeesBeginnings, weight=1.0)
    return ManagerBasedRlEnv(cfg, "cpu")


def test_terms_observe_values_written_at_the_beginning(env: ManagerBasedRlEnv) -> None:
    term = env.reward_manager.term("seen").instance
    assert isinstance(term, SeesBeginnings)
    env.lifecycle.initialise(events=False)
    env.sim.data.qpos[:, 0] = torch.tensor([0.25, -0.5])
    env.lifecycle.apply()
    assert term.start.tolist() == [0.25, -0.5]


def test_initialise_runs_reset_events_unless_disabled(
    env: ManagerBasedRlEnv,
) -> None:
    env.lifecycle.initialise(events=False)
    assert env.sim.data.qpos.count_nonzero() == 0
    env.lifecycle.initialise()
    assert env.sim.data.qpos.count_nonzero() > 0


# --- Order --------------------------------------------------------------------------

RESET_WORDS = "of a reset: initialise, apply, update_kinematics, observe"
STEP_WORDS = (
    "of a step: set_action, set_targets, apply_targets, physics_step, "
    "evaluate, reset_done, update_kinematics, observe"
)


def objection(env: ManagerBasedRlEnv, name: str, *args: Any, **settings: Any) -> str:
    owner = env if name in ("step", "reset") else env.lifecycle
    with pytest.raises(PhaseError) as caught:
        getattr(owner, name)(*args, **settings)
    return str(caught.value)


def test_phases_out_of_order_name_the_required_phase(
    env: ManagerBasedRlEnv,
) -> None:
    assert objection(env, "apply") == (
        "apply() is out of order: call initialise() or set_action() first. "
        f"Phases {RESET_WORDS}; {STEP_WORDS}."
    )
    for name in (*RESET[1:], *STEP[1:]):
        said = "call initialise() or set_action() first"
        assert said in objection(env, name)


def test_every_phase_of_a_reset_out_of_order_raises(env: ManagerBasedRlEnv) -> None:
    life, mask = env.lifecycle, torch.tensor([True, False])
    action = torch.zeros(2, 1)
    phases = {
        "initialise": lambda: life.initialise(mask),
        "apply": life.apply,
        "update_kinematics": life.update_kinematics,
        "observe": life.observe,
        "set_action": lambda: life.set_action(action),
        "step": lambda: env.step(action),
        "reset": lambda: env.reset(mask=mask),
    }
    phases |= {name: getattr(life, name) for name in STEP[1:-2]}
    for done, due in pairwise(RESET):
        phases[done]()
        for name, call in phases.items():
            if name == due:
                continue
            name = "initialise" if name == "reset" else name
            with pytest.raises(PhaseError) as caught:
                call()
            assert str(caught.value) == (
                f"{name}() is out of order: call {due}() first. Phases {RESET_WORDS}."
            )
    life.observe()
    env.step(action)


def test_every_phase_of_a_step_out_of_order_raises(env: ManagerBasedRlEnv) -> None:
    env.reset()
    life = env.lifecycle
    life.set_action(torch.zeros(2, 1))
    order = ["set_targets", *["apply_targets", "physics_step"] * 2, *STEP[4:]]
    assert order.count("physics_step") == env.cfg.decimation
    for due in order:
        assert life.next_phases == (due,)
        for name in {*STEP[1:], *RESET[1:], "step"} - {due}:
            args = [torch.zeros(2, 1)] if name == "step" else []
            assert objection(env, name, *args) == (
                f"{name}() is out of order: call {due}() first. Phases {STEP_WORDS}."
            )
        getattr(life, due)()
    env.step(torch.zeros(2, 1))


def test_a_reset_is_for_the_same_worlds_in_all_its_phases(
    env: ManagerBasedRlEnv,
) -> None:
    mask = torch.tensor([True, False])
    env.lifecycle.initialise(mask)
    assert objection(env, "apply", ~mask) == (
        "The mask of apply() differs from the mask of initialise(). Pass the same "
        "mask to all phases of a reset."
    )
    # Writing into the passed mask also has no effect.
    given = mask.clone()
    env.reset()
    env.lifecycle.initialise(mask)
    mask.fill_(True)
    env.lifecycle.apply(given)
    env.lifecycle.update_kinematics()
    env.lifecycle.observe()
    env.lifecycle.set_action(torch.zeros(2, 1))
    env.lifecycle.set_targets()
    for _ in range(2):
        env.lifecycle.apply_targets()
        env.lifecycle.physics_step()
    env.lifecycle.evaluate()
    env.lifecycle.reset_done()
    assert objection(env, "update_kinematics", given) == (
        "update_kinematics() in a step applies to all worlds: pass no mask."
    )


def test_full_reset_is_possible_in_any_phase(env: ManagerBasedRlEnv) -> None:
    action = torch.zeros(2, 1)
    for begin in (
        lambda: env.lifecycle.initialise(torch.tensor([True, False])),
        lambda: env.lifecycle.set_action(action),
    ):
        env.reset(seed=5)
        expected: Any = env.step(action)[0]["actor"]
        begin()
        env.reset(seed=5)
        again: Any = env.step(action)[0]["actor"]
        assert torch.equal(again, expected)


def test_failed_reset_event_leaves_no_open_reset() -> None:
    fails = False

    def fail(env: Any, mask: torch.Tensor) -> None:
        if fails:
            raise RuntimeError("not today")

    cfg = cartpole()
    cfg.events["fail"] = EventTermCfg(func=fail, mode="reset")
    env = ManagerBasedRlEnv(cfg, "cpu")
    fails = True
    with pytest.raises(RuntimeError, match="not today"):
        env.reset(mask=torch.tensor([True]))
    fails = False
    env.reset(mask=torch.tensor([True]))


def test_an_action_is_checked_once(
    env: ManagerBasedRlEnv, monkeypatch: pytest.MonkeyPatch
) -> None:
    env.reset()
    checks: list[torch.Size] = []
    check = env.action_manager.check

    def counted(action: torch.Tensor) -> None:
        checks.append(action.shape)
        check(action)

    monkeypatch.setattr(env.action_manager, "check", counted)
    env.step(torch.zeros(2, 1))
    assert len(checks) == 1
    env.lifecycle.set_action(torch.zeros(2, 1))
    env.lifecycle.set_targets()
    assert len(checks) == 2
    env.reset()
    with pytest.raises(ValueError, match="shape"):
        env.lifecycle.set_action(torch.zeros(2, 2))
    assert env.lifecycle.next_phases == ("initialise", "set_action")


# --- Looking in ---------------------------------------------------------------------


def test_the_phases_of_a_step_appear_by_name_in_the_profile(
    env: ManagerBasedRlEnv,
) -> None:
    env.reset()
    profile = env.profile(4)
    assert list(profile.phases) == list(STEP)
    # Resets within a step run in every step, with empty masks.
    env.choose_resets("same_step", final_obs=False)
    profile = env.profile(4)
    assert all(seconds > 0.0 for seconds in profile.phases.values())
    assert 0.7 * profile.total < sum(profile.phases.values()) <= profile.total
    assert profile.phases["physics_step"] >= profile.seconds["engine: step"]
    assert all(f" {name} " in str(profile) for name in profile.phases)
    assert "step" not in vars(env.sim.engine), "a clock stayed behind"


def test_px_is_the_native_engine(env: ManagerBasedRlEnv) -> None:
    env.reset()
    batch = env.scene.px.batch  # pyright: ignore[reportAttributeAccessIssue]
    assert isinstance(batch, mj_batch.Batch)
    assert torch.equal(torch.from_numpy(batch.bind("qpos")).float(), env.sim.data.qpos)
    assert env.scene.px.mj_model is env.scene.sim.mj_model


@pytest.mark.slow
def test_px_is_the_warp_engine() -> None:
    cfg = cartpole()
    cfg.sim.backend = "warp"
    env = ManagerBasedRlEnv(cfg, "cpu")
    env.reset()
    engine: Any = env.scene.px
    assert engine.wp_data.qpos.shape == tuple(env.sim.data.qpos.shape)
    assert engine.wp_data.qpos.ptr == env.sim.data.qpos.data_ptr()
    assert engine.wp_model.nq == env.sim.mj_model.nq
