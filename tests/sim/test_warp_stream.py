"""One Warp object per torch stream, without a CUDA device."""

from types import SimpleNamespace
from typing import Any

import pytest
import torch
import warp as wp

from mjlab.warp_stream import warp_stream


def stream(handle: int, device: int = 0) -> Any:
    return SimpleNamespace(device=torch.device("cuda", device), cuda_stream=handle)


def test_a_stream_has_one_object_for_any_number_of_requests(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("mjlab.warp_stream._STREAMS", {})
    monkeypatch.setattr(wp, "stream_from_torch", lambda torchs: object())
    first = warp_stream(stream(7))
    assert warp_stream(stream(7)) is first
    others = [warp_stream(stream(8)), warp_stream(stream(7, device=1))]
    assert len({id(each) for each in [first, *others]}) == 3


def test_warp_distinguishes_streams_by_object() -> None:
    """Reason for the module; when it fails, `mjlab/warp_stream.py` can be removed."""
    assert wp.Stream.__eq__ is object.__eq__
    assert wp.Stream.__hash__ is object.__hash__
