"""Factories of all Gymnasium interfaces of a task. Importing this registers the ids."""

import copy
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from mjlab.extras import missing
from mjlab.registry import entries, load_task
from mjlab.watched import watched

try:
    import gymnasium
except ModuleNotFoundError as error:
    raise ImportError(missing("This", "Gymnasium", "gym")) from error

if TYPE_CHECKING:
    from gymnasium.envs.registration import EnvSpec

    from mjlab.envs import ManagerBasedRlEnvCfg
    from mjlab.gym.batched_env import BatchedEnv
    from mjlab.gym.numpy_env import NumpyVectorEnv, SingleEnv
    from mjlab.gym.torch_env import TorchVectorEnv
    from mjlab.gym.worlds import ManagedWorlds

NAMESPACE = "mjlab"
VERSION = 0
FORM_SETTINGS = ("autoreset_mode", "render_mode", "reconfiguration_freq")


def gym_id(task_id: str) -> str:
    """Return the id of a task in Gymnasium: "Velocity-G1" is "mjlab/Velocity-G1-v0"."""
    return f"{NAMESPACE}/{task_id}-v{VERSION}"


def task_of(name: str) -> str:
    """Convert a Gymnasium id to a task id; task ids are returned unchanged."""
    name = name.rpartition(":")[2].removeprefix(f"{NAMESPACE}/")
    return name.removesuffix(f"-v{VERSION}")


def make_worlds(
    task: str,
    num_envs: int = 1,
    *,
    cfg: "ManagerBasedRlEnvCfg | None" = None,
    play: bool = False,
    seed: int | None = None,
    device: str | None = None,
    backend: Literal["auto", "warp", "native"] | None = None,
    max_episode_steps: int | None = None,
    first_world: int = 0,
    groups: str | Sequence[str] | None = "actor",
    action_bound: float = 1.0,
) -> "ManagedWorlds":
    """Build the worlds of a task.

    Args:
        task: Task id or Gymnasium id.
        num_envs: Number of worlds.
        cfg: Configuration to use instead of the task's own. It is not modified.
        play: Use the configuration for play.
        seed: Random seed. None draws one.
        device: Device of the tensors. None uses the engine's device.
        backend: The engine. None uses the task's engine.
        max_episode_steps: Steps after which an episode is truncated. None uses the
            task's limit.
        first_world: Global index of the first world.
        groups: Name of the observation group to return. With several names, or None
            for all groups, observations are a Dict.
        action_bound: Bound of the action space. Actions are not clipped.
    """
    if cfg is None:
        chosen = load_task(task_of(task))
        built = chosen.play() if play else chosen.env()
    else:
        built = copy.copy(watched(cfg) if play else cfg)
    built.scene, built.sim = copy.copy(built.scene), copy.copy(built.sim)
    built.scene.num_envs = num_envs
    built.final_obs = True
    built.seed = built.seed if seed is None else seed
    if backend is not None:
        built.sim.backend = backend
    if max_episode_steps is not None:
        _limit(built, max_episode_steps)
    from mjlab.envs import ManagerBasedRlEnv
    from mjlab.gym.worlds import ManagedWorlds

    name = task_of(task)
    env = ManagerBasedRlEnv(built, device=device, first_world=first_world, task=name)
    return ManagedWorlds(env, groups=groups, action_bound=action_bound)


def make(
    task: str, *, num_envs: int = 1, numpy: bool = False, **settings: Any
) -> "TorchVectorEnv | NumpyVectorEnv":
    """Create a vector environment of a task.

    Args:
        task: Task id or Gymnasium id.
        num_envs: Number of worlds.
        numpy: Return arrays instead of tensors.
        **settings: `autoreset_mode`, `render_mode`, `reconfiguration_freq`, and the
            arguments of `make_worlds`.
    """
    if numpy:
        settings["numpy"] = True
    env = make_vector(task, num_envs, **settings)
    if gym_id(task_of(task)) in gymnasium.registry and settings.get("cfg") is None:
        env.unwrapped.spec = _spec_of(task_of(task), num_envs, settings)
    return env


def make_vector(
    task: str, num_envs: int = 1, *, numpy: bool = False, **settings: Any
) -> "TorchVectorEnv | NumpyVectorEnv":
    """Create a vector environment; entry point of `gymnasium.make_vec`."""
    from mjlab.gym.numpy_env import NumpyVectorEnv
    from mjlab.gym.torch_env import TorchVectorEnv

    of_form, of_worlds = _divided(settings)
    form = NumpyVectorEnv if numpy else TorchVectorEnv
    return form(make_worlds(task, num_envs, **of_worlds), **of_form)


def make_single(
    task: str, *, num_envs: int | None = None, **settings: Any
) -> "SingleEnv | BatchedEnv":
    """Create an environment; entry point of `gymnasium.make`.

    Without `num_envs`, it has one world and no batch dimension.
    """
    from mjlab.gym.batched_env import BatchedEnv
    from mjlab.gym.numpy_env import SingleEnv

    of_form, of_worlds = _divided(settings)
    if num_envs is not None:
        return BatchedEnv(make_worlds(task, num_envs, **of_worlds), **of_form)
    return SingleEnv(make_worlds(task, **of_worlds), **of_form)


# Gymnasium derives the modes "human" and "rgb_array_list" from this metadata.
make_single.metadata = {"render_modes": ["rgb_array"]}  # pyright: ignore[reportFunctionMemberAccess]


def _divided(settings: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split settings into arguments of the environment class and of `make_worlds`.

    Settings of the environment class that are None are omitted, so that its defaults
    apply.
    """
    of_worlds = {key: settings[key] for key in settings if key not in FORM_SETTINGS}
    given = {key: settings[key] for key in settings.keys() - of_worlds.keys()}
    return {key: value for key, value in given.items() if value is not None}, of_worlds


def _spec_of(task: str, num_envs: int, settings: dict[str, Any]) -> "EnvSpec":
    """Return the spec that `gymnasium.make_vec` would create for the same worlds."""
    spec = copy.deepcopy(gymnasium.spec(gym_id(task)))
    number = {} if num_envs == 1 else {"num_envs": num_envs}
    mode = gymnasium.VectorizeMode.VECTOR_ENTRY_POINT.value
    spec.kwargs = spec.kwargs | settings | number | {"vectorization_mode": mode}
    return spec


def _limit(cfg: "ManagerBasedRlEnvCfg", steps: int) -> None:
    if steps < 1:
        raise ValueError(f"max_episode_steps={steps} has to be 1 or more.")
    cfg.episode_length_s = steps * cfg.decimation * cfg.sim.mujoco.timestep


for _task in entries():
    gymnasium.register(
        id=gym_id(_task),
        entry_point="mjlab.gym.build:make_single",
        vector_entry_point="mjlab.gym.build:make_vector",
        kwargs={"task": _task},
        # gymnasium.make adds both wrappers, and neither supports a batch. The
        # environment itself raises if it is stepped or rendered before a reset.
        order_enforce=False,
        disable_env_checker=True,
    )
