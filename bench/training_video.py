"""CPU time of training videos, from blocks of iterations with and without a video.

    python bench/training_video.py
    python bench/training_video.py --task Velocity-Go1-Flat --pairs 6

One process trains. A video is recorded in every other block of iterations, from the
first step to the last. The CPU time of a block includes all threads of the training
and ffmpeg; it depends less on the load of the machine than elapsed time. The cost at
the default interval is the additional time of a recorded step, multiplied by the steps
of a video and divided by the time of all steps of an interval.
"""

import argparse
import contextlib
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bench.record import save
from mjlab.threads import prepare_threads

prepare_threads()

from mjlab.cli.hardware import with_worlds
from mjlab.envs import ManagerBasedRlEnv
from mjlab.registry import load_task
from mjlab.rl import TrainingLoop
from mjlab.viewer.training_video import SIZE, TrainingVideo, VideoSchedule


def processor_seconds() -> float:
    """Return the processor time of this process and its ended children."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def main() -> None:
    """Measure pairs of blocks, and save the cost."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--task", default="Velocity-G1-Flat")
    parser.add_argument("--pairs", type=int, default=4)
    parser.add_argument("--iterations", type=int, default=2, help="per block")
    options = parser.parse_args()
    task = load_task(options.task)
    assert task.on_cpu is not None
    agent = task.on_cpu.rl()
    env = ManagerBasedRlEnv(with_worlds(task.env(), task.on_cpu.num_envs), "cpu")
    loop = TrainingLoop(env, agent)
    steps = options.iterations * agent.num_steps_per_env
    said: list[str] = []

    def block(folder: str | None) -> float:
        """Return the CPU time of a block; record a video if a folder is given."""
        start = processor_seconds()
        schedule = VideoSchedule(interval=steps, length=steps)
        film: Any = contextlib.nullcontext()
        if folder is not None:
            film = TrainingVideo(env, Path(folder), schedule, say=said.append)
        with film:
            for _ in range(options.iterations):
                loop._iterate()
        return processor_seconds() - start

    loop._begin()
    with tempfile.TemporaryDirectory() as folder:
        block(f"{folder}/warm")
        pairs = []
        begin = time.perf_counter()
        for number in range(options.pairs):
            # Each variant comes first in half of the pairs.
            order = ("plain", "filmed") if number % 2 else ("filmed", "plain")
            found = {
                arm: block(f"{folder}/{number}" if arm == "filmed" else None)
                for arm in order
            }
            pairs.append(found)
            print(number, found, flush=True)
        seconds = time.perf_counter() - begin
        films = [*Path(folder).glob("*/*.mp4")]
    assert not said and len(films) == options.pairs + 1, said
    plain = statistics.median(pair["plain"] for pair in pairs) / steps
    more = statistics.median(pair["filmed"] - pair["plain"] for pair in pairs) / steps
    usual = VideoSchedule()
    result = {
        "task": options.task,
        "num_envs": env.num_envs,
        "size": list(SIZE),
        "steps_per_block": steps,
        "processor_seconds": pairs,
        "plain_processor_seconds_per_step": plain,
        "additional_processor_seconds_per_filmed_step": more,
        "interval": usual.interval,
        "length": usual.length,
        "cost_at_default_interval": more * usual.length / (plain * usual.interval),
        "elapsed_seconds": seconds,
        "load_average": os.getloadavg()[0],
    }
    print(save("training_video", result))
    print(f"cost {result['cost_at_default_interval']:.2%}")


if __name__ == "__main__":
    main()
