"""Worlds in worker processes: many cores without threads, and no GPU in their way."""

from mjlab.workers.env import WorkerEnv as WorkerEnv
from mjlab.workers.pool import WorkerError as WorkerError
from mjlab.workers.shards import ShardError as ShardError
