"""Tasks and robots that ship with mjlab."""

import mjlab

if getattr(mjlab, "DISTRIBUTION", None) != "mjlab-fused":
    # An editable install comes after site-packages, so the other one is found first.
    raise ImportError(
        f"`import mjlab` finds another project's package ({mjlab.__file__}), not "
        "mjlab-fused. Run `pip uninstall mjlab`, or use a virtual environment."
    )
