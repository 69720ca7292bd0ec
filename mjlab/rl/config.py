"""Configurations of learning: the agent, and the loop around it."""

from typing import Annotated, Literal

from mjlab.rl.algorithms.config import (
    CloningCfg,
    DistillationCfg,
    ObservedActionsCfg,
    PpoCfg,
)
from mjlab.rl.hook import HookCfg
from mjlab.rl.models.config import GaussianCfg, MlpModelCfg
from mjlab.settings import Config
from mjlab.settings.bounds import at_least


class CheckpointCfg(Config):
    """Checkpoints of the run."""

    every: Annotated[int, at_least(1)] = 50
    """Iterations between checkpoints. The last iteration is saved in any case."""

    keep: Annotated[int, at_least(0)] = 3
    """Newest checkpoints that are kept, besides the best. 0 keeps all."""

    env_state: bool = True
    """Save the state of all worlds too, without which a run that is resumed
    starts new episodes."""


class EvaluationCfg(Config):
    """Runs of the policy without exploration, in worlds of their own."""

    every: Annotated[int, at_least(0)] = 100
    """Iterations between evaluations. 0 turns them off."""

    num_envs: Annotated[int, at_least(1)] = 16
    """Worlds, each of which runs one episode."""

    seed: int = 0
    """Seed of these worlds. It is the same each time, so that scores compare."""

    max_steps: int = 2000
    """Steps after which an evaluation ends, whatever the length of an episode."""


class StopCfg(Config):
    """Reasons to end training before `max_iterations`."""

    max_seconds: float | None = None
    """Time that this process may train, in seconds."""

    max_env_steps: int | None = None
    """Steps of all worlds together, over the whole run."""

    metric: str | None = None
    """The figure that decides which checkpoint is best, and what `target` and
    `patience` look at; higher is better. None takes "Eval/mean_reward" where there are
    evaluations, and "Train/mean_reward" otherwise."""

    target: float | None = None
    """Value of the metric that is enough."""

    patience: int | None = None
    """Values of the metric in a row, none better than the best, that are put up
    with."""


class LoggingCfg(Config):
    """Writers of figures, besides the console and `metrics.jsonl`."""

    tensorboard: bool = True
    """Write TensorBoard's files."""

    wandb: bool = False
    """Send figures to Weights & Biases."""

    wandb_project: str = "mjlab"
    """Project there."""

    wandb_entity: str | None = None
    """User or team there. None takes the account's own."""

    wandb_mode: Literal["online", "offline"] | None = None
    """Send at once, or keep on this machine for `wandb sync`. None goes by wandb's own
    settings, such as WANDB_MODE, and sends where they say nothing."""

    wandb_artifacts: bool = False
    """Send the run's files as well: each checkpoint, the ONNX file and films, in an
    artifact that `wandb:ENTITY/PROJECT/RUN` names."""

    window: Annotated[int, at_least(1)] = 100
    """Episodes, the latest, that "Train/mean_reward" is a mean of, at least."""


class DumpCfg(Config):
    """Dumps of worlds in which something went wrong.

    A dump lies in the run's folder, as `dumps/<iteration>_<reason>`, and
    `play.py --dump` replays it.
    """

    enabled: bool = True
    """Record the last steps, so that there is something to keep."""

    steps: int | None = None
    """Steps that are kept before a fault, at least where there were as many. None takes
    the steps of an iteration, which is also the least."""

    max_worlds: int = 4
    """Worlds that one dump keeps, those that went wrong first."""

    max_dumps: int = 8
    """Dumps of a run."""

    max_megabytes: float = 256.0
    """Room that the dumps of a run may take."""


class AgentCfg(Config):
    """Settings that all ways of learning share."""

    num_steps_per_env: Annotated[int, at_least(1)] = 24
    """Steps of each world in an iteration."""

    max_iterations: Annotated[int, at_least(0)] = 1500
    """Iterations of the whole run."""

    obs_groups: dict[str, tuple[str, ...]] = {}
    """Groups of observations that each network sees, by its name."""

    clip_actions: float | None = None
    """Largest size of an action. None leaves actions as the policy draws them."""

    init_at_random_ep_len: bool = True
    """Start worlds at random moments of an episode, so that they do not all
    end together."""

    torch_compile_mode: Literal["default", "max-autotune-no-cudagraphs"] | None = None
    """Mode in which networks are compiled; worth it for convolutions."""

    checkpoint: CheckpointCfg = CheckpointCfg()
    """Checkpoints of the run."""

    evaluation: EvaluationCfg = EvaluationCfg()
    """Evaluations of the policy."""

    stop: StopCfg = StopCfg()
    """Reasons to end training early."""

    logging: LoggingCfg = LoggingCfg()
    """Writers of figures."""

    dumps: DumpCfg = DumpCfg()
    """Dumps of worlds in which something went wrong."""

    hooks: dict[str, HookCfg | None] = {}
    """Hooks after each iteration, by name."""


def _actor() -> MlpModelCfg:
    return MlpModelCfg(distribution_cfg=GaussianCfg())


class PpoAgentCfg(AgentCfg):
    """Learning by trial and error."""

    obs_groups = {"actor": ("actor",), "critic": ("critic",)}

    actor: MlpModelCfg = _actor()
    """The policy."""

    critic: MlpModelCfg = MlpModelCfg()
    """The estimate of what is still to come."""

    algorithm: PpoCfg = PpoCfg()
    """The algorithm."""


class DistillationAgentCfg(AgentCfg):
    """Learning from a policy that is there already and sees more."""

    obs_groups = {"student": ("student",), "teacher": ("teacher",)}

    student: MlpModelCfg = _actor()
    """The policy that learns."""

    teacher: MlpModelCfg | ObservedActionsCfg = _actor()
    """The policy that is imitated; built as it was when it was trained."""

    teacher_checkpoint: str | None = None
    """Run folder or checkpoint of the teacher, if it is a network, or the task that it
    ships with. A run that is resumed brings its own."""

    algorithm: DistillationCfg = DistillationCfg()
    """The algorithm."""


class CloningAgentCfg(AgentCfg):
    """Learning from a recording. What comes of it is a run, and PPO can begin with it.

    The worlds' steps in an iteration are for their figures alone.
    """

    num_steps_per_env = 1

    obs_groups = {"actor": ("actor",)}

    actor: MlpModelCfg = _actor()
    """The policy."""

    algorithm: CloningCfg = CloningCfg()
    """The algorithm, with the recording."""
