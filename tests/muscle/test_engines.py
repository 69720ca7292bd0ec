"""The same checkpoint with muscles on both engines, from the same state.

Slow, because MuJoCo Warp compiles kernels for the walker the first time.
"""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import mujoco
import pytest
import torch

from mjlab.envs import ManagerBasedRlEnv
from mjlab.muscle import MuscleLearnerCfg, muscle_action
from mjlab.rl import EvaluationCfg, LoggingCfg, load_policy
from mjlab.rl.vecenv import RslRlVecEnv
from mjlab.tasks.muscle import WalkW18Cfg
from mjlab.tasks.muscle.learning import MuscleHookCfg
from tests.tools.parity import copy_state
from tests.worlds.rl_runs import Display, agent_cfg, train_without_export

pytestmark = pytest.mark.slow

WORLDS = 3
STEPS = 5
HEIGHT = 1.0
"""How far above the ground a walker begins: in 100 substeps it falls by 0.14 m."""
NAMES = ("red", "passive_torque", "wanted_torque", "activation")


def walk_cfg(engine: str) -> WalkW18Cfg:
    cfg = WalkW18Cfg(seed=5)
    cfg.scene.num_envs = WORLDS
    cfg.sim.backend = engine  # pyright: ignore
    cfg.scene.entities["robot"].init_state.joint_pos = {"root_z": HEIGHT}
    cfg.actions["muscles"].kept_steps = 12  # pyright: ignore
    # In the air nobody walks, so that nobody falls or loses the pace either.
    cfg.terminations = {"time_out": cfg.terminations["time_out"]}
    return cfg


def learning() -> Any:
    """Train both networks for a few iterations, after training on random poses."""
    learner = MuscleLearnerCfg(teacher_iterations=20, batch_size=128)
    hook = MuscleHookCfg(learner=learner, pretraining_rows=400, pretraining_updates=4)
    return agent_cfg(
        2,
        logging=LoggingCfg(tensorboard=False),
        evaluation=EvaluationCfg(every=0),
        hooks={"muscles": hook},
    )


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> dict[str, SimpleNamespace]:
    """Return results of a run's checkpoint on both engines, in the air."""
    folder, _ = train_without_export(
        walk_cfg("native"),
        learning(),
        task="Muscle-Walk-W18",
        root=tmp_path_factory.mktemp("runs"),
        display=Display(),
    )
    both = {
        engine: RslRlVecEnv(ManagerBasedRlEnv(walk_cfg(engine), device="cpu"))
        for engine in ("native", "warp")
    }
    copy_state(both["native"].env, both["warp"].env)
    return {name: play(worlds, folder.path) for name, worlds in both.items()}


def play(worlds: RslRlVecEnv, run: Path) -> SimpleNamespace:
    """Play the policy of a run, and return its states."""
    env, term = worlds.env, muscle_action(worlds.env)
    policy = load_policy(run, worlds, learning())
    found = SimpleNamespace(env=env, substeps=[], joints=[], actions=[])
    found.version = term.version
    act = term.apply_late

    def watched() -> None:
        act()
        values = vars(term) | vars(term.muscles)
        found.substeps.append({name: values[name].clone() for name in NAMES})

    term.apply_late = watched
    for _ in range(STEPS):
        with torch.inference_mode():
            action = policy(worlds.get_observations())
        worlds.step(action)
        found.actions.append(action.clone())
        found.joints.append(env.scene.entity("robot").data.joint_pos.clone())
    return found


def contacts(env: ManagerBasedRlEnv) -> list[tuple[str, ...]]:
    """Return MuJoCo C's contacts in the current state of the worlds."""
    model = env.sim.mj_model
    data = mujoco.MjData(model)
    found = []
    for qpos in env.sim.data.qpos.double().numpy():
        data.qpos = qpos
        mujoco.mj_forward(model, data)
        pairs = data.contact.geom[: data.ncon]
        found += [tuple(model.geom(geom).name for geom in pair) for pair in pairs]
    return found


def test_muscles_do_the_same_in_the_first_substep_on_both_engines(
    played: dict[str, SimpleNamespace],
) -> None:
    native, warp = (played[name].substeps[0] for name in ("native", "warp"))
    for name in NAMES:
        size = float(native[name].abs().max())
        error = float((native[name] - warp[name]).abs().max())
        print(f"{name}: {error:.2e} of {size:.4g}")
        assert size > 1e-2
        assert error <= 1e-4 * size


def test_the_same_checkpoint_plays_on_both_engines(
    played: dict[str, SimpleNamespace],
) -> None:
    native, warp = played["native"], played["warp"]
    assert len(native.substeps) == len(warp.substeps) == 100
    assert contacts(native.env) == contacts(warp.env) == []
    apart = [
        float((a - b).abs().max())
        for a, b in zip(native.joints, warp.joints, strict=True)
    ]
    print("joint angles apart, in rad, after each step:", apart)
    assert max(apart) <= 1e-3
    assert native.version == warp.version > 0
    # The policy and the muscles do something all the while.
    assert float(native.actions[-1].abs().max()) > 0.02
    assert float((native.joints[-1] - native.joints[0]).abs().max()) > 0.1
