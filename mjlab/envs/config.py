"""Configurations of environments, as users write them."""

from dataclasses import replace
from typing import Annotated, Literal, Self, get_args

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
    TermCfg,
    TerminationTermCfg,
)
from mjlab.mdp.events import reset_scene_to_default
from mjlab.names import suggest
from mjlab.random.seeds import check_seed
from mjlab.recording.config import RecordingCfg
from mjlab.scene import SceneCfg
from mjlab.settings import Config
from mjlab.settings.bounds import at_least, between, check_bounds
from mjlab.sim import SimulationCfg, check_num_envs
from mjlab.spec import GeomCfg

ModeName = Literal["auto", "fused", "segmented", "eager"]


class ViewerCfg(Config):
    """Camera of viewers and videos."""

    width: int = 1280
    """Width of a frame, in pixels."""

    height: int = 720
    """Height of a frame, in pixels."""

    distance: float | None = None
    """Distance of the camera from what it looks at, in metres. None fits what it
    follows, or else all that can move, into half of the picture's height."""

    azimuth: float = 135.0
    """Direction of the camera around the vertical, in degrees. In pictures and videos
    that follow an entity, it is from the entity's heading when it is first seen: 90
    shows its right side, 135 its front from the right."""

    elevation: float = -15.0
    """Angle of the camera above the horizon, in degrees; negative looks down."""

    lookat: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Point that the camera looks at, in metres, when it follows nothing."""

    entity: str | None = None
    """The entity that the camera follows."""

    body: str | None = None
    """The body of that entity that the camera follows. None takes its root."""

    world: int = 0
    """The world that is shown first."""


class ManagerBasedRlEnvCfg(Config):
    """An environment: a scene, physics, and the terms of a Markov decision process.

    Terms are dictionaries from names to configurations. A term that is None is switched
    off, which is how a subclass leaves out one that it inherits.
    """

    scene: SceneCfg = SceneCfg()
    """Ground, entities, sensors, and the number of worlds."""

    sim: SimulationCfg = SimulationCfg()
    """Engine and options of physics."""

    decimation: Annotated[int, at_least(1)] = 1
    """Physics steps in a step of the environment."""

    episode_length_s: float = 10.0
    """Duration of an episode, in seconds. A `time_out` term ends it then."""

    observations: dict[str, ObservationGroupCfg | None] = {}
    """Groups of observations, such as "actor" and "critic"."""

    actions: dict[str, ActionTermCfg | None] = {}
    """Terms that share the action, in their order."""

    rewards: dict[str, RewardTermCfg | None] = {}
    """Weighted terms of the reward."""

    terminations: dict[str, TerminationTermCfg | None] = {}
    """Conditions that end an episode."""

    events: dict[str, EventTermCfg | None] = {
        "reset_scene_to_default": EventTermCfg(
            func=reset_scene_to_default, mode="reset"
        )
    }
    """Changes of worlds at start, at resets and in between. By default, as in mjlab, a
    reset writes the `init_state` of every entity. A task that replaces this dictionary
    resets by events of its own; building it warns if these leave out `init_state`."""

    commands: dict[str, CommandTermCfg | None] = {}
    """Goals, drawn anew from time to time."""

    curriculum: dict[str, CurriculumTermCfg | None] = {}
    """Changes while training."""

    metrics: dict[str, MetricsTermCfg | None] = {}
    """Figures of episodes that are not rewards."""

    outcomes: dict[str, OutcomeTermCfg | None] = {}
    """Aims of the task: a term "success", a term "fail", both or neither."""

    recorders: dict[str, RecorderTermCfg | None] = {}
    """Terms that write episodes down, into the files of `recording`."""

    recording: RecordingCfg = RecordingCfg()
    """Files of the recorders' episodes, and the choice of these."""

    seed: int | None = None
    """Seed of all chance. None draws one, which the start-up report shows."""

    viewer: ViewerCfg = ViewerCfg()
    """Camera of viewers and videos."""

    scale_rewards_by_dt: bool = True
    """True for rewards that are rates, multiplied by the duration of a step, so that
    returns do not depend on the control frequency."""

    is_finite_horizon: bool = False
    """True if the end of time is part of the task. If not, time-outs are truncations,
    and learners bootstrap from the value of the last state."""

    final_obs: bool = False
    """True to also return the observation of the moment before each reset."""

    max_nonfinite_share: Annotated[float, between(0, 1)] = 0.05
    """Share of world steps that may have ended in numbers that are not finite, since
    the log was last taken, before the run is stopped."""

    mode: ModeName = "auto"
    """Mode of a step: as one CUDA graph ("fused"), with graphs for physics only
    ("segmented"), or without graphs ("eager"). "auto" takes the first that works."""

    def for_training(self) -> Self:
        """Return the configuration for training, with the physics of `sim.training`.

        Tasks override this to add training aids, such as a supporting force or growing
        pushes.
        """
        training = self.sim.training
        if training is None:
            return self
        check_bounds(training, "env.sim.training")
        step = self.decimation * self.sim.mujoco.timestep
        mujoco = replace(
            self.sim.mujoco,
            timestep=step / training.decimation,
            cone=training.cone or self.sim.mujoco.cone,
            impratio=training.impratio or self.sim.mujoco.impratio,
        )
        entities = dict(self.scene.entities)
        for name, geoms in training.without_contacts.items():
            quiet = GeomCfg(geom_names=geoms, contype=0, conaffinity=0)
            entity = entities.get(name)
            if not isinstance(entity, EntityCfg):
                raise ConfigError(
                    f"sim.training.without_contacts names {name!r}, which is no entity "
                    f"with one model for all worlds. {suggest(name, list(entities))}"
                )
            entities[name] = replace(entity, geoms=(*entity.geoms, quiet))
        return replace(
            self,
            sim=replace(self.sim, mujoco=mujoco, training=None),
            decimation=training.decimation,
            scene=replace(self.scene, entities=entities),
        )


class ConfigError(ValueError):
    """An environment that cannot be built."""


def check_config(cfg: ManagerBasedRlEnvCfg) -> None:
    """Raise for what has no meaning, before anything is built."""
    _check_terms(cfg)
    check_bounds(cfg, "env")
    try:
        check_num_envs(cfg.scene.num_envs, "scene.num_envs")
        if cfg.seed is not None:
            check_seed(cfg.seed, "seed")
    except (TypeError, ValueError) as error:
        raise ConfigError(str(error)) from None
    step = cfg.decimation * cfg.sim.mujoco.timestep
    if not cfg.episode_length_s >= step:
        raise ConfigError(
            f"episode_length_s={cfg.episode_length_s} has to be at least one step of "
            f"{step} s (decimation times sim.mujoco.timestep)."
        )
    modes = str(get_args(ModeName))[1:-1]
    if cfg.mode not in get_args(ModeName):
        raise ConfigError(f"mode={cfg.mode!r} is unknown. Valid: {modes}.")


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
    """Raise for anything else where the configuration of a term belongs."""
    places = [(key, getattr(cfg, key), kind) for key, kind in _TERMS.items()]
    for name, group in cfg.observations.items():
        if isinstance(group, ObservationGroupCfg):
            where = f"observations[{name!r}].terms"
            places.append((where, group.terms, ObservationTermCfg))
    for where, terms, kind in places:
        for name, term in terms.items():
            if not isinstance(term, kind | None):
                called = getattr(term, "__name__", repr(term))
                wrapped = f"Wrap it: {kind.__name__}(func={called})."
                taken = f"It takes an instance of {kind.__name__}."
                can_be_wrapped = callable(term) and issubclass(kind, TermCfg)
                raise ConfigError(
                    f"{where}[{name!r}] is {called}, where the configuration of a "
                    f"term belongs. {wrapped if can_be_wrapped else taken}"
                )
