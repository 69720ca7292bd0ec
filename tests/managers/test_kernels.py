"""The kernel of managers on Warp's CPU device, against plain torch."""

import torch

from mjlab.managers.reward import weigh

WORLDS, TERMS, DT = 37, 5, 0.02


def test_the_kernel_of_rewards_weighs_and_leaves_out_as_torch_does() -> None:
    from mjlab.managers import kernels
    from mjlab.warp_stream import launch

    random = torch.Generator().manual_seed(0)
    weights = torch.tensor([1.0, -2.0, 0.0, 0.1, 1e-5])
    lost = torch.arange(WORLDS) % 7 == 3

    def written() -> list[torch.Tensor]:
        part = torch.zeros(WORLDS, TERMS)
        flags = torch.zeros(WORLDS, dtype=torch.bool)
        return [part, part.clone(), part.long(), flags, lost.clone()]

    reward, plain_reward = torch.zeros(2, WORLDS)
    found, plain = written(), written()
    for _ in range(3):
        values = torch.randn(WORLDS, TERMS, generator=random)
        values[1, 0], values[2, 1], values[4, 2] = torch.nan, torch.inf, -torch.inf
        arguments = values, weights, DT
        launch(kernels.weigh, reward.shape, reward, *arguments, *found)
        weigh(plain_reward, *arguments, *plain)
        for one, other in zip(found, plain, strict=True):
            assert torch.equal(one, other)
        # Torch adds up in another order.
        torch.testing.assert_close(reward, plain_reward, rtol=1e-5, atol=1e-7)
    _, sums, counts, nonfinite, out = found
    assert nonfinite.nonzero().flatten().tolist() == [1, 2, 4]
    assert counts.sum(dim=0).tolist() == [3, 3, 3, 0, 0]
    assert torch.equal(out, lost | nonfinite)
    assert (sums[out] == 0.0).all() and (reward[out] == 0.0).all()
    assert (reward[~out] != 0.0).all()
