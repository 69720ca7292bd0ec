"""Call trace of one environment step.

`python -m bench.step_trace Cartpole-Balance`

Prints every call of a function of this project in order, indented by depth.
"""

import argparse
import sys
from collections import Counter
from types import FrameType
from typing import Any, NamedTuple

import torch

from mjlab.envs import ManagerBasedRlEnv
from mjlab.registry import load_task
from tests.tools.architecture import ROOT

NUM_ENVS = 4
OWN = tuple(f"{ROOT / folder}/" for folder in ("mjlab",))
# Counted as part of the enclosing function, since Python 3.12 has no frames for them.
COMPREHENSIONS = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")


class Call(NamedTuple):
    """A call of a function of this project."""

    depth: int
    """Number of frames of this project on the stack, including itself."""
    file: str
    function: str


class StepTrace:
    """The calls between `__enter__` and `__exit__`, in order."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self._depth = 0

    def __enter__(self) -> "StepTrace":
        sys.setprofile(self._see)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)

    def _see(self, frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if not code.co_filename.startswith(OWN) or code.co_name in COMPREHENSIONS:
            return
        if event == "call":
            self._depth += 1
            file = code.co_filename.removeprefix(f"{ROOT}/")
            self.calls.append(Call(self._depth, file, code.co_qualname))
        elif event == "return":
            self._depth -= 1

    @property
    def files(self) -> set[str]:
        return {call.file for call in self.calls}

    @property
    def functions(self) -> Counter[tuple[str, str]]:
        """Number of calls of each function."""
        return Counter((call.file, call.function) for call in self.calls)

    @property
    def deepest(self) -> int:
        return max(call.depth for call in self.calls)

    def __str__(self) -> str:
        return (
            f"{len(self.files)} files, {len(self.functions)} functions, "
            f"{self.deepest} frames deep, {len(self.calls)} calls"
        )


def trace_step(task: str) -> StepTrace:
    """Trace a step of a task on the native engine."""
    cfg = load_task(task).env()
    cfg.scene.num_envs, cfg.seed, cfg.sim.backend = NUM_ENVS, 0, "native"
    env = ManagerBasedRlEnv(cfg)
    env.reset()
    action = torch.zeros(NUM_ENVS, env.action_manager.total_action_dim)
    env.step(action)  # The first step also calls functions that run only once.
    with StepTrace() as trace:
        env.step(action)
    env.close()
    return trace


def main() -> None:
    """Print the calls of one step."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("task")
    trace = trace_step(parser.parse_args().task)
    print(trace)
    for call in trace.calls:
        print(f"{call.depth:3d} {'  ' * (call.depth - 1)}{call.function}  {call.file}")


if __name__ == "__main__":
    main()
