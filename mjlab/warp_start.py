"""Initialise Warp. This module imports Warp, so import it only where needed."""

import warp as wp


def start_warp() -> None:
    """Initialise Warp, and let it compile machine code (cubin) instead of PTX.

    By default Warp 1.19 compiles PTX for compute capability 7.5 if the driver is as new
    as Warp's CUDA toolkit, and machine code for the device otherwise. Kernels that
    `mjlab warm` compiled ahead are machine code, which Warp would ignore in the first
    case. A value of `wp.config.cuda_output` that the user has set is kept. A device
    that is newer than Warp's compiler still gets PTX.
    """
    wp.init()
    runtime = wp._src.context.runtime  # pyright: ignore[reportAttributeAccessIssue]
    devices = {device.arch for device in wp.get_cuda_devices()}
    if wp.config.cuda_output is None and devices <= runtime.nvrtc_supported_archs:
        wp.config.cuda_output = "cubin"
