"""The kernel of sensors on Warp's CPU device, against plain torch."""

import torch

from mjlab.sensor.contact_data import count_phases

WORLDS, FEET, DT = 37, 3, 0.005


def test_the_kernel_of_phases_counts_as_torch_does() -> None:
    from mjlab.sensor import kernels
    from mjlab.warp_stream import launch

    random = torch.Generator().manual_seed(0)
    steps = torch.zeros(WORLDS, FEET, 4, dtype=torch.int32)
    times = torch.zeros(WORLDS, FEET, 4)
    plain = steps.clone(), times.clone()
    for _ in range(40):
        # Contacts of a sensor lie apart from each other in its block.
        block = torch.randint(0, 3, (WORLDS, 2 * FEET, 4), generator=random).float()
        found = block[:, ::2, 0]
        launch(kernels.count_phases, found.shape, found, DT, steps, times)
        count_phases(found, DT, *plain)
        assert torch.equal(steps, plain[0]) and torch.equal(times, plain[1])
    assert (steps[..., 2:] > 1).any()
