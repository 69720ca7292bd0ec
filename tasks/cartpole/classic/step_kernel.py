# Kernel bodies are in Warp's language, which has Python syntax.
# pyright: reportInvalidTypeForm=false, reportCallIssue=false, reportOperatorIssue=false
# pyright: reportArgumentType=false, reportAssignmentType=false, reportIndexIssue=false
# pyright: reportGeneralTypeIssues=false
"""Classic cartpole as one kernel: step, termination, reset and random initial states.

This module imports Warp, so it is imported only when `KernelCartpoles` is created.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
import warp as wp

from mjlab.random import WorldRng, stream_id
from mjlab.random.kernels import uniform
from mjlab.tasks.cartpole.classic import equations as eq
from mjlab.tasks.cartpole.classic.worlds import WorldTensors
from mjlab.warp_stream import current_warp_stream, warp_stream

wp.init()
# Fused multiply-add rounds once where torch rounds twice, so results would differ.
wp.set_module_options({"enable_backward": False, "fuse_fp": False, "fast_math": False})

_PUSH = wp.constant(wp.float32(eq.PUSH))
_POLE_SHARE = wp.constant(wp.float32(eq.POLE_SHARE))
_INERTIA = wp.constant(wp.float32(eq.INERTIA))
_INERTIA_COS = wp.constant(wp.float32(eq.INERTIA_COS))
_GRAVITY = wp.constant(wp.float32(eq.GRAVITY))
_TAU = wp.constant(wp.float32(eq.TAU))
_MAX_POSITION = wp.constant(wp.float32(eq.MAX_POSITION))
_MAX_ANGLE = wp.constant(wp.float32(eq.MAX_ANGLE))
_LOW = wp.constant(wp.float32(-eq.SPREAD))
_SPAN = wp.constant(wp.float32(2.0 * eq.SPREAD))
_STREAM = wp.constant(wp.int64(stream_id(eq.STREAM)))
_SIN_3 = wp.constant(wp.float32(eq.SIN[0]))
_SIN_5 = wp.constant(wp.float32(eq.SIN[1]))
_SIN_7 = wp.constant(wp.float32(eq.SIN[2]))
_COS_2 = wp.constant(wp.float32(eq.COS[0]))
_COS_4 = wp.constant(wp.float32(eq.COS[1]))
_COS_6 = wp.constant(wp.float32(eq.COS[2]))
_COS_8 = wp.constant(wp.float32(eq.COS[3]))


@wp.func
def _start(seed: wp.int64, counter: wp.int64) -> wp.vec4:
    """Return the initial state of a world's episode."""
    return wp.vec4(
        uniform(seed, counter, _STREAM, 0) * _SPAN + _LOW,
        uniform(seed, counter, _STREAM, 1) * _SPAN + _LOW,
        uniform(seed, counter, _STREAM, 2) * _SPAN + _LOW,
        uniform(seed, counter, _STREAM, 3) * _SPAN + _LOW,
    )


@wp.func
def _moved(state: wp.vec4, push: wp.float32, semi_implicit: wp.int32) -> wp.vec4:
    """Return the state after a step, by the operations of `tensors.moved` in order."""
    velocity = state[1]
    angle = state[2]
    turning = state[3]
    square = angle * angle
    sin = ((square * _SIN_7 + _SIN_5) * square + _SIN_3) * square + 1.0
    sin = sin * angle
    cos = ((square * _COS_8 + _COS_6) * square + _COS_4) * square + _COS_2
    cos = cos * square + 1.0
    thrust = turning * turning * sin * _POLE_SHARE + push
    inertia = cos * cos * _INERTIA_COS + _INERTIA
    pole = (sin * _GRAVITY - cos * thrust) / inertia
    cart = thrust - cos * pole * _POLE_SHARE
    new_velocity = velocity + cart * _TAU
    new_turning = turning + pole * _TAU
    if semi_implicit != 0:
        velocity = new_velocity
        turning = new_turning
    return wp.vec4(
        state[0] + velocity * _TAU, new_velocity, angle + turning * _TAU, new_turning
    )


@wp.kernel
def _step(
    actions: wp.array(dtype=wp.int64),
    observations: wp.array(dtype=wp.vec4),
    reward: wp.array(dtype=wp.float32),
    terminated: wp.array(dtype=wp.bool),
    truncated: wp.array(dtype=wp.bool),
    final: wp.array(dtype=wp.vec4),
    state: wp.array(dtype=wp.vec4),
    steps: wp.array(dtype=wp.int32),
    over: wp.array(dtype=wp.uint8),
    world_seed: wp.array(dtype=wp.int64),
    counter: wp.array(dtype=wp.int64),
    max_steps: wp.int32,
    semi_implicit: wp.int32,
    fall_reward: wp.float32,
) -> None:
    world = wp.tid()
    if over:
        # Without automatic resets, a finished world stays in place.
        how = over[world]
        if how != wp.uint8(0):
            observations[world] = state[world]
            reward[world] = 0.0
            terminated[world] = (how & wp.uint8(1)) != wp.uint8(0)
            truncated[world] = (how & wp.uint8(2)) != wp.uint8(0)
            if final:
                final[world] = state[world]
            return
    push = -_PUSH
    if actions[world] == wp.int64(1):
        push = _PUSH
    new = _moved(state[world], push, semi_implicit)
    step = steps[world] + 1
    fallen = wp.abs(new[0]) > _MAX_POSITION or wp.abs(new[2]) > _MAX_ANGLE
    late = step >= max_steps
    reward[world] = 1.0
    if fallen:
        reward[world] = fall_reward
    terminated[world] = fallen
    truncated[world] = late
    if final:
        final[world] = new
    if fallen or late:
        if over:
            how = wp.uint8(0)
            if fallen:
                how = how | wp.uint8(1)
            if late:
                how = how | wp.uint8(2)
            over[world] = how
        else:
            episode = counter[world] + wp.int64(1)
            counter[world] = episode
            new = _start(world_seed[world], episode)
            step = 0
    steps[world] = step
    state[world] = new
    observations[world] = new


@wp.kernel
def _reset(
    mask: wp.array(dtype=wp.bool),
    state: wp.array(dtype=wp.vec4),
    steps: wp.array(dtype=wp.int32),
    over: wp.array(dtype=wp.uint8),
    world_seed: wp.array(dtype=wp.int64),
    counter: wp.array(dtype=wp.int64),
    terminated: wp.array(dtype=wp.bool),
    truncated: wp.array(dtype=wp.bool),
) -> None:
    world = wp.tid()
    if mask[world]:
        episode = counter[world] + wp.int64(1)
        counter[world] = episode
        state[world] = _start(world_seed[world], episode)
        steps[world] = 0
        terminated[world] = False
        truncated[world] = False
        if over:
            over[world] = wp.uint8(0)


@dataclass(frozen=True)
class KernelRollout:
    """Actions and results of several steps of all worlds."""

    actions: torch.Tensor
    """Actions, shape (steps, num_envs), int64; write them before a run."""

    observations: torch.Tensor
    """Shape (steps, num_envs, 4)."""

    reward: torch.Tensor
    """Shape (steps, num_envs)."""

    terminated: torch.Tensor
    """Shape (steps, num_envs), bool."""

    truncated: torch.Tensor
    """Shape (steps, num_envs), bool."""

    @classmethod
    def of(cls, steps: int, num_envs: int, device: torch.device) -> "KernelRollout":
        """Allocate memory for a number of steps."""
        size = (steps, num_envs)
        bools = {"dtype": torch.bool, "device": device}
        return cls(
            actions=torch.zeros(size, dtype=torch.int64, device=device),
            observations=torch.zeros(*size, 4, device=device),
            reward=torch.zeros(size, device=device),
            terminated=torch.zeros(size, **bools),
            truncated=torch.zeros(size, **bools),
        )


class StepKernel:
    """Kernels with prepared arguments, so that a launch costs little.

    Warp's CPU device runs a kernel in one thread, one world after another.
    """

    def __init__(
        self,
        memory: WorldTensors,
        rng: WorldRng,
        over: torch.Tensor | None,
        *,
        max_steps: int,
        semi_implicit: bool,
        fall_reward: float,
        threads_per_block: int,
    ) -> None:
        """Compile and prepare the kernels.

        Args:
            memory: The worlds' tensors.
            rng: Seeds and counters of the worlds.
            over: How each world's episode ended, shape (num_envs,), uint8: 1 for
                terminated plus 2 for truncated. None resets finished worlds in the same
                step.
            max_steps: Steps after which an episode is truncated.
            semi_implicit: Whether to integrate positions with the new velocities.
            fall_reward: Reward of the step in which an episode terminates.
            threads_per_block: Threads per block on a CUDA device.
        """
        self._torch_device = memory.state.device
        self._device = wp.device_from_torch(self._torch_device)
        self._memory = memory
        self._block = threads_per_block if self._device.is_cuda else 1
        self._num_envs = memory.state.shape[0]
        self._state = wp.from_torch(memory.state, dtype=wp.vec4)
        self._final = None
        if len(memory.final):
            self._final = wp.from_torch(memory.final, dtype=wp.vec4)
        self._kept = [
            self._state,
            wp.from_torch(memory.steps, dtype=wp.int32),
            None if over is None else wp.from_torch(over, dtype=wp.uint8),
            wp.from_torch(rng.world_seed, dtype=wp.int64),
            wp.from_torch(rng.counter, dtype=wp.int64),
        ]
        self._rules = [max_steps, int(semi_implicit), fall_reward]
        flags = [
            wp.from_torch(value, dtype=wp.bool)
            for value in (memory.terminated, memory.truncated)
        ]
        actions = torch.zeros_like(rng.counter)
        self._actions = self._actions_type(actions)
        self._step = self._prepared(
            _step, [wp.from_torch(actions), *self._outputs(memory), *self._inputs()]
        )
        everyone = torch.ones_like(memory.terminated)
        self._reset = self._prepared(
            _reset, [wp.from_torch(everyone, dtype=wp.bool), *self._kept, *flags]
        )

    def step(self, actions: torch.Tensor) -> None:
        """Step all worlds in place, with one launch."""
        self._step.set_param_at_index_from_ctype(0, self._actions_type(actions))
        self._launch(self._step)

    def reset(self, mask: torch.Tensor) -> None:
        """Reset the worlds in `mask` with one launch."""
        mask = mask.contiguous()
        array = wp.from_torch(mask, dtype=wp.bool, return_ctype=True)
        self._reset.set_param_at_index_from_ctype(0, array)
        self._launch(self._reset)

    def record(self, rollout: KernelRollout) -> "LaunchSequence":
        """Prepare the steps of a rollout, as one CUDA graph or as launches."""
        launches = [
            self._prepared(
                _step,
                [
                    wp.from_torch(rollout.actions[row]),
                    wp.from_torch(rollout.observations[row], dtype=wp.vec4),
                    wp.from_torch(rollout.reward[row]),
                    wp.from_torch(rollout.terminated[row], dtype=wp.bool),
                    wp.from_torch(rollout.truncated[row], dtype=wp.bool),
                    self._final,
                    *self._inputs(),
                ],
            )
            for row in range(len(rollout.actions))
        ]
        return LaunchSequence(launches, self._torch_device)

    def _inputs(self) -> list[Any]:
        return [*self._kept, *self._rules]

    def _outputs(self, memory: WorldTensors) -> list[Any]:
        return [
            self._state,
            wp.from_torch(memory.reward),
            wp.from_torch(memory.terminated, dtype=wp.bool),
            wp.from_torch(memory.truncated, dtype=wp.bool),
            self._final,
        ]

    def _prepared(self, kernel: Any, inputs: list[Any]) -> Any:
        return wp.launch(
            kernel,
            dim=self._num_envs,
            inputs=inputs,
            device=self._device,
            block_dim=self._block,
            record_cmd=True,
        )

    def _launch(self, launch: Any) -> None:
        stream = None
        if self._device.is_cuda:
            stream = current_warp_stream(self._torch_device)
        launch.launch(stream=stream)

    @staticmethod
    def _actions_type(actions: torch.Tensor) -> Any:
        return wp.from_torch(actions, dtype=wp.int64, return_ctype=True)


class LaunchSequence:
    """Sequence of prepared steps: one graph on CUDA, a loop of launches on the CPU."""

    def __init__(self, launches: list[Any], device: torch.device) -> None:
        self._launches = launches
        self._device = device
        self._graph = self._recorded() if device.type == "cuda" else None

    def run(self) -> None:
        """Run all steps."""
        if self._graph is not None:
            stream = current_warp_stream(self._device)
            wp.capture_launch(self._graph, stream=stream)
            return
        for launch in self._launches:
            launch.launch()

    def _recorded(self) -> Any:
        # The default stream cannot be captured, so recording uses a separate stream.
        stream = torch.cuda.Stream(self._device)
        stream.wait_stream(torch.cuda.current_stream(self._device))
        device = wp.device_from_torch(self._device)
        scoped = wp.ScopedStream(warp_stream(stream), sync_enter=False)
        with _nothing_freed(), torch.cuda.stream(stream), scoped:
            with wp.ScopedCapture(device, force_module_load=False) as found:
                for launch in self._launches:
                    launch.launch(stream=warp_stream(stream))
        torch.cuda.current_stream(self._device).wait_stream(stream)
        return found.graph


@contextmanager
def _nothing_freed() -> Iterator[None]:
    """Disable the garbage collector: nothing may be freed during a capture."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()
