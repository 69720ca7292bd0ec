"""Worlds in worker processes: many cores without threads, and no GPU in their way."""

from mjlab.envs import ManagerBasedRlEnv
from mjlab.workers.env import WorkerEnv as WorkerEnv
from mjlab.workers.pool import WorkerError as WorkerError
from mjlab.workers.shards import ShardError as ShardError

TrainingEnv = ManagerBasedRlEnv | WorkerEnv
"""What a training loop can step."""


def terms_of(env: TrainingEnv) -> ManagerBasedRlEnv:
    """An environment that can be asked about terms; perhaps not the one that steps."""
    return env.sample if isinstance(env, WorkerEnv) else env
