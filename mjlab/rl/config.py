"""Configuration of agents and of the training loop."""

from typing import Annotated, Literal

from mjlab.rl.algorithms.config import (
    CloningCfg,
    CriticCfg,
    DistillationCfg,
    ObservedActionsCfg,
    PpoCfg,
    StyleCfg,
)
from mjlab.rl.hook import HookCfg
from mjlab.rl.models.config import GaussianCfg, MlpModelCfg
from mjlab.settings import Config
from mjlab.settings.bounds import at_least, between


class CheckpointCfg(Config):
    """When a run saves checkpoints, how many it keeps, and what they contain."""

    every: Annotated[int, at_least(1)] = 50
    """Iterations between checkpoints. The last iteration is saved in any case."""

    keep: Annotated[int, at_least(0)] = 3
    """Number of newest checkpoints to keep, besides the best. 0 keeps all."""

    env_state: bool = True
    """Save the state of all worlds too. Without it, a resumed run starts new
    episodes."""


class EvaluationCfg(Config):
    """Evaluations of the policy without exploration, in separate worlds."""

    every: Annotated[int, at_least(0)] = 100
    """Iterations between evaluations. 0 turns them off."""

    num_envs: Annotated[int, at_least(1)] = 16
    """Number of worlds; each runs one episode."""

    seed: int = 0
    """Seed of these worlds, the same in each evaluation, for comparable scores."""

    max_steps: int = 2000
    """Largest number of steps of an evaluation, regardless of the episode length."""


class StopCfg(Config):
    """Conditions that end training before `max_iterations`."""

    max_seconds: float | None = None
    """Time limit of training in this process, in seconds."""

    max_env_steps: int | None = None
    """Limit on the total environment steps of all worlds, over the whole run."""

    metric: str | None = None
    """Metric for the best checkpoint, `target` and `patience`; higher is better. None
    uses "Eval/mean_reward" if evaluations are on, else "Train/mean_reward"."""

    target: float | None = None
    """Value of the metric at which training stops."""

    patience: int | None = None
    """Number of consecutive metric values without an improvement before training
    stops."""


class LoggingCfg(Config):
    """Logging of metrics, besides the console and `metrics.jsonl`."""

    tensorboard: bool = True
    """Write TensorBoard event files."""

    wandb: bool = False
    """Log metrics to Weights & Biases."""

    wandb_project: str = "mjlab"
    """W&B project."""

    wandb_entity: str | None = None
    """W&B user or team. None uses the account's default."""

    wandb_mode: Literal["online", "offline"] | None = None
    """Upload during training ("online"), or store locally for `wandb sync`
    ("offline"). None uses wandb's own settings, such as WANDB_MODE; the default is
    online."""

    wandb_artifacts: bool = False
    """Upload the run's files too: each checkpoint, the ONNX file and videos, in the
    artifact `wandb:ENTITY/PROJECT/RUN`."""

    window: Annotated[int, at_least(1)] = 100
    """Smallest number of latest episodes to average in "Train/mean_reward"."""


class DumpCfg(Config):
    """Dumps of worlds with a fault, such as non-finite values.

    Dumps are in the run's folder, as `dumps/<iteration>_<reason>`. `play.py --dump`
    replays them.
    """

    enabled: bool = True
    """Record the last steps for dumps."""

    steps: int | None = None
    """Smallest number of recorded steps before a fault, if the run has as many. None
    uses the steps of an iteration, which is also the minimum."""

    max_worlds: int = 4
    """Largest number of worlds in a dump; those with the earliest fault are kept."""

    max_dumps: int = 8
    """Largest number of dumps in a run."""

    max_megabytes: float = 256.0
    """Largest total size of the dumps of a run, in MB."""


class AgentCfg(Config):
    """Settings shared by all agents."""

    num_steps_per_env: Annotated[int, at_least(1)] = 24
    """Steps per world in an iteration."""

    max_iterations: Annotated[int, at_least(0)] = 300
    """Iterations of the whole run."""

    obs_groups: dict[str, tuple[str, ...]] = {}
    """Observation groups of each network, by network name."""

    clip_actions: float | None = None
    """Bound for clipping the absolute value of actions. None disables clipping."""

    init_at_random_ep_len: bool = True
    """Start worlds at random times of an episode, so that episodes do not all end
    in the same step."""

    average_decay: Annotated[float, between(0, 1)] | None = None
    """Decay of an exponential average of the policy's weights, such as 0.98, applied
    after each iteration. `play`, `evaluate`, `export` and evaluations during training
    then use the average, and rollouts the newest weights. None disables it."""

    torch_compile_mode: Literal["default", "max-autotune-no-cudagraphs"] | None = None
    """Mode of `torch.compile` for the networks; useful for convolutions. None does not
    compile."""

    checkpoint: CheckpointCfg = CheckpointCfg()
    """Checkpoints of the run."""

    evaluation: EvaluationCfg = EvaluationCfg()
    """Evaluations of the policy."""

    stop: StopCfg = StopCfg()
    """Reasons to end training early."""

    logging: LoggingCfg = LoggingCfg()
    """Logging of metrics."""

    dumps: DumpCfg = DumpCfg()
    """Dumps of worlds with a fault."""

    hooks: dict[str, HookCfg | None] = {}
    """Hooks after each iteration, by name."""


def _actor() -> MlpModelCfg:
    return MlpModelCfg(distribution_cfg=GaussianCfg())


class PpoAgentCfg(AgentCfg):
    """Learner configuration for reinforcement learning with PPO."""

    obs_groups = {"actor": ("actor",), "critic": ("critic",)}

    actor: MlpModelCfg = _actor()
    """The policy."""

    critic: MlpModelCfg = MlpModelCfg()
    """The value function."""

    critics: dict[str, CriticCfg] = {}
    """Additional critics by name, each for some of the reward terms and with its own
    discount. The main critic learns from the other terms, with `algorithm.gamma` and
    `algorithm.lam`."""

    style: StyleCfg | None = None
    """Reward for moving like motion clips. None disables it. It needs
    `env.final_obs=True`, and the observation groups of the features as
    `obs_groups["style"]`."""

    algorithm: PpoCfg = PpoCfg()
    """The algorithm."""


class DistillationAgentCfg(AgentCfg):
    """Distillation of a student from a trained teacher with privileged observations."""

    obs_groups = {"student": ("student",), "teacher": ("teacher",)}

    student: MlpModelCfg = _actor()
    """The policy to train."""

    teacher: MlpModelCfg | ObservedActionsCfg = _actor()
    """The policy to imitate, with the settings of its training."""

    teacher_checkpoint: str | None = None
    """Run folder or checkpoint of the teacher, if it is a network, or the task that
    ships with it. A resumed run has the teacher in its own checkpoint."""

    algorithm: DistillationCfg = DistillationCfg()
    """The algorithm."""


class CloningAgentCfg(AgentCfg):
    """Behaviour cloning of a recording. PPO can start from the resulting run.

    The environment steps of an iteration only produce metrics.
    """

    num_steps_per_env = 1

    obs_groups = {"actor": ("actor",)}

    actor: MlpModelCfg = _actor()
    """The policy."""

    algorithm: CloningCfg = CloningCfg()
    """The algorithm, with the recording."""
