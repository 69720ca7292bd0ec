"""Functions that build the parts of an environment: scene, state, guard and resets."""

import secrets
from dataclasses import dataclass

import mujoco

from mjlab.envs.autoreset import AutoReset
from mjlab.envs.config import ManagerBasedRlEnvCfg, check_config
from mjlab.envs.nonfinite import NonfiniteGuard
from mjlab.envs.state import EnvState
from mjlab.envs.worlds import When
from mjlab.managers import ManagedEnv, Managers, copied, required_fields
from mjlab.scene import SceneSpec, build_scene
from mjlab.sim import compile_model


@dataclass(frozen=True)
class LoadedScene:
    """Scene that is built and compiled, but has no worlds yet."""

    cfg: ManagerBasedRlEnvCfg
    """Configuration of the environment."""

    seed: int
    """Seed of the scene's random generation, such as the terrain."""

    built: SceneSpec
    """Scene as an MjSpec, and its components."""

    model: mujoco.MjModel
    """The compiled model."""

    vary: frozenset[str]
    """Model fields that events vary per world."""


def load(cfg: ManagerBasedRlEnvCfg) -> LoadedScene:
    """Build and compile the scene of an environment.

    Args:
        cfg: Configuration of the environment.
    """
    check_config(cfg)
    seed = secrets.randbits(31) if cfg.seed is None else int(cfg.seed)
    built = build_scene(cfg.scene, seed=seed)
    vary = frozenset(required_fields(cfg.events))
    return LoadedScene(cfg, seed, built, compile_model(built.spec, cfg.sim, vary), vary)


def managers_of(env: ManagedEnv) -> Managers:
    """Return the managers of an environment as one record."""
    return Managers(*(getattr(env, f"{name}_manager") for name in Managers._fields))


def guard_nonfinite(env: ManagedEnv, max_share: float) -> NonfiniteGuard:
    """Create the guard against non-finite values.

    All managers except the recorders must exist.

    Args:
        env: The environment.
        max_share: Maximum fraction of diverged world steps before the run is stopped.
    """
    counting = (
        env.action_manager,
        env.reward_manager,
        env.observation_manager,
        env.metrics_manager,
    )
    return NonfiniteGuard(
        env.sim.health,
        env.termination_manager,
        counting,
        env.common_step_counter,
        max_share,
    )


def collect_state(env: ManagedEnv, guard: NonfiniteGuard) -> EnvState:
    """Create the environment state. All managers except the recorders must exist."""
    counters = {
        "episode_length": env.episode_length_buf,
        "step_counter": env.common_step_counter,
    }
    names = [name for name in Managers._fields if name != "recorder"]
    owners = {name: getattr(env, f"{name}_manager") for name in names}
    owners |= dict(rng=env.rng, scene=env.scene, log=env.episode_log, quarantine=guard)
    return EnvState(env.sim, env.scene, counters, owners)


def make_resets(
    env: ManagedEnv,
    when: When = "same_step",
    *,
    ignore_terminations: bool = False,
    final_obs: bool = False,
) -> AutoReset:
    """Create the automatic resets of an environment; see `AutoReset`."""
    m = env.managers
    figures = [env.episode_length_buf, m.reward.episode_sums, m.termination.values]
    return AutoReset(
        m.termination,
        m.reward,
        when,
        ignore_terminations=ignore_terminations,
        final_obs=copied(m.observation.output) if final_obs else None,
        figures=[*figures, *m.metrics.figures(), *m.outcome.figures()],
    )
