"""Step buffers on the host and on a device, with the same input."""

from typing import Any

import numpy as np
import torch

from mjlab.parallel.memory import SharedArrays
from mjlab.recording.buffers import CopyStream, DeviceBuffer, HostBuffer
from mjlab.recording.layout import (
    Layout,
    RecordedField,
    RecordingLayout,
    recording_layout,
)
from mjlab.recording.writer import Sent, WriterPlan, steps_of

CPU = torch.device("cpu")


class AtOnce(CopyStream):
    """Copies that complete immediately."""

    def __init__(self) -> None:
        pass

    def pin(self, memory: torch.Tensor) -> None:
        pass

    def copy(self, pairs: Any) -> None:
        for target, source in pairs:
            target.copy_(source)

    def is_done(self) -> bool:
        return True

    def wait(self) -> None:
        pass


class Reader:
    """Channel that reads messages immediately, and then overwrites the block."""

    def __init__(self, plan: WriterPlan, memory: SharedArrays) -> None:
        self._blocks = [steps_of(memory, block) for block in range(plan.blocks)]
        self.taken: list[int] = []
        self.sizes: list[int] = []
        self.rows: list[bytes] = []
        self.beginnings: list[bytes] = []
        self.shared: list[bytes] = []

    def take_block(self, block: int) -> None:
        self.taken.append(block)

    def send(self, steps: Sent) -> None:
        block = self._blocks[steps.block]
        part = block.part(steps.steps, steps.beginnings)
        self.sizes.append(len(part.rows))
        self.rows += [row.tobytes() for row in part.rows]
        self.beginnings += [row.tobytes() for row in part.beginnings]
        begins = part.rows[:, :, 2].any(axis=1)
        self.shared += [row.tobytes() for row in part.shared[begins]]
        if steps.is_last:
            for array in block:
                array[:] = 255


def a_plan(layout: RecordingLayout, num_envs: int, rows: int) -> WriterPlan:
    return WriterPlan(layout, num_envs, rows, 3, {}, {}, {}, True)


def field(name: str, number: int) -> RecordedField:
    return RecordedField(name, (number,), "uint8")


def test_a_device_sends_the_same_steps_as_the_host() -> None:
    n = 3
    layout = recording_layout(
        [field("value", 2)], [field("start", 5)], [field("whole", 2), field("clock", 1)]
    )
    plan = a_plan(layout, n, 4)
    for on_device in (False, True):
        random = torch.Generator().manual_seed(0)
        memory = plan.memory()
        reader = Reader(plan, memory)
        buffer: Any = HostBuffer(plan, memory, reader)
        if on_device:
            buffer = DeviceBuffer(plan, memory, reader, CPU, AtOnce())
        rows, beginnings, shared = [], [], []

        def draw(*shape: int, random: torch.Generator = random) -> torch.Tensor:
            return torch.randint(0, 9, shape, dtype=torch.uint8, generator=random)

        for step in range(18):
            flags = draw(n, 3) % 2
            value, start, whole = draw(n, 2), draw(n, 5), draw(3)
            names = ("stepped", "ending", "begins")
            row = dict(zip(names, flags.unbind(1), strict=True)) | {"value": value}
            begins = flags[:, 2].bool()
            # A rehearsed step has no effect.
            for rehearsed in (True, False):
                given = {k: v * (not rehearsed) for k, v in row.items()}
                mask = begins | rehearsed
                begin = {"start": start}, {"whole": whole[:2], "clock": whole[2:]}
                buffer.write(given, mask, lambda begin=begin: begin)
            buffer.commit()
            rows.append(torch.cat((flags, value), dim=1).numpy().tobytes())
            beginnings += [each.numpy().tobytes() for each in start[begins]]
            shared += [whole.numpy().tobytes()] if begins.any() else []
            if step == 9:
                buffer.flush()
        buffer.flush()
        assert reader.rows == rows
        assert reader.beginnings == beginnings
        assert reader.shared == shared


def test_the_host_sends_a_step_with_an_episode_start_or_end_immediately() -> None:
    layout = recording_layout([field("value", 1)], [])
    plan = a_plan(layout, 2, 8)
    memory = plan.memory()
    reader = Reader(plan, memory)
    buffer = HostBuffer(plan, memory, reader)
    nothing, someone = torch.zeros(2, dtype=torch.uint8), torch.tensor([0, 1])
    for step in range(10):
        ends = someone.byte() if step in (2, 5) else nothing
        begins = someone.byte() if step == 3 else nothing
        row = {"stepped": nothing, "ending": ends, "begins": begins}
        row["value"] = torch.zeros(2, 1, dtype=torch.uint8)
        buffer.write(row, begins.bool(), lambda: ({}, {}))
        buffer.commit()
    assert reader.sizes == [3, 1, 2, 2]  # The last one fills the block.
    assert np.asarray(reader.taken).tolist() == [0, 1]
    assert isinstance(plan.layout.shared, Layout)
