"""Configuration classes of environments."""

import math
from dataclasses import replace
from typing import Annotated, Any, Literal, Self, get_args

from mjlab.entity import EntityCfg
from mjlab.managers import (
    ActionTermCfg,
    CommandTermCfg,
    CurriculumTermCfg,
    EventTermCfg,
    MetricsTermCfg,
    ObservationGroupCfg,
    ObservationTermCfg,
    OutcomeTermCfg,
    RecorderTermCfg,
    RewardTermCfg,
    StepOrder,
    TermCfg,
    TerminationTermCfg,
)
from mjlab.mdp.events import reset_scene_to_default
from mjlab.names import suggest
from mjlab.random.seeds import check_seed
from mjlab.recording.config import RecordingCfg
from mjlab.scene import OriginType, SceneCfg
from mjlab.settings import Config
from mjlab.settings.bounds import at_least, between, check_numbers
from mjlab.settings.types import check_type
from mjlab.sim import SimulationCfg, check_num_envs
from mjlab.spec import GeomCfg

ModeName = Literal["auto", "fused", "segmented", "eager"]


class ViewerCfg(Config):
    """Configuration of viewers and videos: camera, image size and visible elements."""

    OriginType = OriginType
    """Kinds of frames that a camera can follow."""

    origin_type: OriginType = OriginType.AUTO
    """Frame that the camera follows."""

    width: int = 1280
    """Width of images and videos, in pixels."""

    height: int = 720
    """Height of images and videos, in pixels."""

    distance: float | None = None
    """Distance of the camera from its target, in metres. None fits the followed entity,
    or else everything that can move, into half of the image height."""

    azimuth: float = 135.0
    """Azimuth of the camera around the vertical axis, in degrees. In images and videos
    that follow an entity, it is relative to the entity's initial heading: 90 shows its
    right side, 135 its front from the right."""

    elevation: float = -15.0
    """Elevation of the camera above the horizon, in degrees; negative looks down."""

    lookat: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Point that the camera looks at, in metres, if it follows no entity."""

    fovy: Annotated[float | None, between(1.0, 179.0)] = None
    """Vertical field of view, in degrees. None uses the model's field of view."""

    entity: str | None = None
    """Entity that the camera follows. None selects it by `origin_type`."""

    body: str | None = None
    """Body of the followed entity that the camera tracks. None uses the root body."""

    world: int = 0
    """Index of the world that viewers and videos show first."""

    max_extra_envs: Annotated[int, at_least(0)] = 2
    """Number of neighbouring worlds that are also drawn, in videos of one world and in
    MuJoCo's window."""

    enable_shadows: bool = True
    """Draw shadows."""

    enable_reflections: bool = True
    """Draw reflections of materials with `reflectance`, except in a browser."""

    geom_group: tuple[int, int, int, int, int, int] = (1, 1, 1, 0, 0, 0)
    """Geom groups that are drawn: 1 shows a group, 0 hides it."""

    site_group: tuple[int, int, int, int, int, int] = (1, 1, 1, 0, 0, 0)
    """Site groups that are drawn: 1 shows a group, 0 hides it."""


class ManagerBasedRlEnvCfg(Config):
    """Configuration of an environment: a scene, physics, and the terms of the MDP.

    Terms are dictionaries from names to configurations. A term set to None is disabled;
    a subclass can disable an inherited term this way.
    """

    scene: SceneCfg = SceneCfg()
    """Ground, entities, sensors, and the number of worlds."""

    sim: SimulationCfg = SimulationCfg()
    """Physics engine and its options."""

    decimation: Annotated[int, at_least(1)] = 1
    """Number of physics steps per environment step."""

    episode_length_s: float = 10.0
    """Duration of an episode, in seconds, after which a `time_out` term ends it."""

    observations: dict[str, ObservationGroupCfg | None] = {}
    """Observation groups, such as "actor" and "critic"."""

    actions: dict[str, ActionTermCfg | None] = {}
    """Action terms, in the order of their parts in the action vector."""

    rewards: dict[str, RewardTermCfg | None] = {}
    """Weighted reward terms."""

    terminations: dict[str, TerminationTermCfg | None] = {}
    """Termination terms: conditions that end an episode."""

    events: dict[str, EventTermCfg | None] = {
        "reset_scene_to_default": EventTermCfg(
            func=reset_scene_to_default, mode="reset"
        )
    }
    """Event terms, which change worlds at startup, at resets and at intervals. By
    default, as in mjlab, a reset writes the `init_state` of every entity. A task that
    replaces this dictionary must reset the worlds with its own events; building the
    environment warns if these omit `init_state`."""

    commands: dict[str, CommandTermCfg | None] = {}
    """Command terms, resampled during an episode."""

    curriculum: dict[str, CurriculumTermCfg | None] = {}
    """Curriculum terms, which change the task during training."""

    metrics: dict[str, MetricsTermCfg | None] = {}
    """Episode statistics other than rewards."""

    outcomes: dict[str, OutcomeTermCfg | None] = {}
    """Task outcomes: a term "success", a term "fail", both or neither."""

    recorders: dict[str, RecorderTermCfg | None] = {}
    """Terms that record episodes to the files of `recording`."""

    recording: RecordingCfg = RecordingCfg()
    """Files of recorded episodes, and the selection of episodes."""

    seed: int | None = None
    """Random seed. None draws a seed, which the startup report shows."""

    viewer: ViewerCfg = ViewerCfg()
    """Camera of viewers and videos."""

    scale_rewards_by_dt: bool = True
    """Multiply rewards, as rates, by the duration of a step, so that returns do not
    depend on the control frequency."""

    is_finite_horizon: bool = False
    """Treat the time limit as part of the task. Otherwise time-outs are truncations,
    and learners bootstrap from the value of the last state."""

    final_obs: bool = False
    """Also return the terminal observation of finished episodes."""

    max_nonfinite_share: Annotated[float, between(0, 1)] = 0.05
    """Maximum fraction of world steps with non-finite values since the last call of
    `take_log`. A larger fraction raises an error, which stops the run."""

    step_order: StepOrder = "default"
    """Order of interval events and commands in a step. With "default", interval events
    run after resets, and commands that write the state are resampled before
    `forward()`.
    With "mjlab", as in mjlab 1.6, interval events run before resets; the first command
    of an episode is sampled before `forward()`, and later ones after it."""

    mode: ModeName = "auto"
    """Execution mode of a step: one CUDA graph ("fused"), graphs for physics only
    ("segmented"), or no graphs ("eager"). "auto" uses the first of these that works."""

    def for_training(self) -> Self:
        """Return the configuration for training, with the physics of `sim.training`.

        Tasks override this to add training aids, such as an assistive force or a push
        curriculum.
        """
        training = self.sim.training
        if training is None:
            return self
        check_numbers(training, "env.sim.training")
        step = self.decimation * self.sim.mujoco.timestep
        mujoco = replace(
            self.sim.mujoco,
            timestep=step / training.decimation,
            cone=training.cone or self.sim.mujoco.cone,
            impratio=training.impratio or self.sim.mujoco.impratio,
        )
        entities = {
            name: _with_delays(entity, training.decimation / self.decimation)
            for name, entity in self.scene.entities.items()
        }
        for name, geoms in training.without_contacts.items():
            quiet = GeomCfg(geom_names=geoms, contype=0, conaffinity=0)
            entity = entities.get(name)
            if not isinstance(entity, EntityCfg):
                raise ConfigError(
                    f"sim.training.without_contacts: {name!r} is not an EntityCfg of "
                    f"the scene. {suggest(name, list(entities))}"
                )
            entities[name] = replace(entity, geoms=(*entity.geoms, quiet))
        return replace(
            self,
            sim=replace(self.sim, mujoco=mujoco, training=None),
            decimation=training.decimation,
            scene=replace(self.scene, entities=entities),
        )


def _with_delays(entity: Any, ratio: float) -> Any:
    """Return an entity with the lags of its actuators, in other physics steps.

    Lags that are no longer whole numbers are rounded outwards.

    Args:
        entity: The entity's configuration.
        ratio: New number of physics steps per old step.
    """
    if not isinstance(entity, EntityCfg):
        return entity
    actuators = tuple(
        actuator
        if actuator.delay is None
        else replace(
            actuator,
            delay=replace(
                actuator.delay,
                min_lag=math.floor(ratio * actuator.delay.min_lag),
                max_lag=math.ceil(ratio * actuator.delay.max_lag),
                update_period=round(ratio * actuator.delay.update_period),
            ),
        )
        for actuator in entity.articulation.actuators
    )
    articulation = replace(entity.articulation, actuators=actuators)
    return replace(entity, articulation=articulation)


class ConfigError(ValueError):
    """Raised for an invalid environment configuration."""


def check_config(cfg: ManagerBasedRlEnvCfg) -> None:
    """Raise if a value is invalid. Called before the scene is built."""
    _check_terms(cfg)
    try:
        check_num_envs(cfg.scene.num_envs, "scene.num_envs")
        if cfg.seed is not None:
            check_seed(cfg.seed, "seed")
    except (TypeError, ValueError) as error:
        raise ConfigError(str(error)) from None
    check_numbers(cfg, "env")
    step = cfg.decimation * cfg.sim.mujoco.timestep
    if not cfg.episode_length_s >= step:
        raise ConfigError(
            f"episode_length_s={cfg.episode_length_s} is shorter than one step of "
            f"{step} s (decimation times sim.mujoco.timestep). Increase it."
        )
    for name, kind in (("mode", ModeName), ("step_order", StepOrder)):
        value, valid = getattr(cfg, name), get_args(kind)
        if value not in valid:
            raise ConfigError(
                f"{name}={value!r} is unknown. Valid: {str(valid)[1:-1]}."
            )


_TERMS: dict[str, type[Config]] = {
    "observations": ObservationGroupCfg,
    "actions": ActionTermCfg,
    "commands": CommandTermCfg,
    "rewards": RewardTermCfg,
    "terminations": TerminationTermCfg,
    "events": EventTermCfg,
    "curriculum": CurriculumTermCfg,
    "metrics": MetricsTermCfg,
    "outcomes": OutcomeTermCfg,
    "recorders": RecorderTermCfg,
}


def _check_terms(cfg: ManagerBasedRlEnvCfg) -> None:
    """Raise if a term is not an instance of its manager's configuration class."""
    check_type(cfg.observations, dict, "observations")
    places = [(key, getattr(cfg, key), kind) for key, kind in _TERMS.items()]
    for name, group in cfg.observations.items():
        if isinstance(group, ObservationGroupCfg):
            where = f"observations[{name!r}].terms"
            places.append((where, group.terms, ObservationTermCfg))
    for where, terms, kind in places:
        check_type(terms, dict, where)
        for name, term in terms.items():
            if not isinstance(term, kind | None):
                called = getattr(term, "__name__", repr(term))
                wrapped = f" Wrap it: {kind.__name__}(func={called})."
                can_be_wrapped = callable(term) and issubclass(kind, TermCfg)
                raise ConfigError(
                    f"{where}[{name!r}] is {called}; it has to be an instance of "
                    f"{kind.__name__}.{wrapped if can_be_wrapped else ''}"
                )
