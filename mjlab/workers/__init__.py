"""Environments in worker processes, for CPUs with many cores and for a separate GPU."""

from mjlab.workers.env import WorkerEnv as WorkerEnv
from mjlab.workers.pool import WorkerError as WorkerError
from mjlab.workers.shards import ShardError as ShardError
