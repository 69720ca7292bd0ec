"""Warp compiles machine code, so that a precompiled cache can be used."""

from types import SimpleNamespace
from typing import Any

import pytest
import warp as wp

from mjlab.warp_start import start_warp

context: Any = wp._src.context  # pyright: ignore[reportAttributeAccessIssue]


def output_on(arch: int, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return Warp's output for a device whose driver is newer than Warp's toolkit."""
    runtime = SimpleNamespace(driver_version=(99, 0), toolkit_version=(13, 4))
    device = SimpleNamespace(
        arch=arch, is_cpu=False, is_cubin_supported=True, runtime=runtime
    )
    monkeypatch.setattr(wp, "get_cuda_devices", lambda: [device])
    start_warp()
    return context.Device.get_cuda_output_format(device)


@pytest.mark.parametrize(
    ("arch", "chosen", "output"),
    [(90, None, "cubin"), (999, None, "ptx"), (90, "ptx", "ptx")],
)
def test_machine_code_is_compiled_unless_it_is_impossible_or_the_user_decides(
    arch: int, chosen: str | None, output: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    wp.init()
    monkeypatch.setattr(wp.config, "cuda_output", chosen)
    assert output_on(arch, monkeypatch) == output
