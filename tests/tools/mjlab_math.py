"""Values of functions of `mjlab.utils.lab_api.math`, of the installed mjlab, as JSON.

Runs in an environment with mjlab 1.6, and imports only that and torch:

    python -I mjlab_math.py
"""

import importlib
import inspect
import json
from typing import Any

import torch

_A, _B = [[0.5, 0.5, -0.5, 0.5], [-0.6, 0.0, 0.8, 0.0]], [[0.8, 0.0, 0.0, 0.6]] * 2
_P, _Q = [[1.0, -2.0, 3.0], [0.5, 0.0, -0.25]], [[0.0, 1.0, 0.5], [4.0, -1.0, 2.0]]
_FRAMES = {"t01": _P, "q01": _A}

CASES: dict[str, dict[str, Any]] = {
    "axis_angle_from_quat": {"quat": _A},
    "combine_frame_transforms": {**_FRAMES, "t12": _Q, "q12": _B},
    "copysign": {"mag": 2.0, "other": [-3.0, 0.5]},
    "default_orientation": {"num": 2, "device": "cpu"},
    "euler_xyz_from_quat": {"quat": [[0.9238795, 0.0, 0.0, -0.3826834], *_B]},
    "matrix_from_quat": {"quaternions": _A},
    "normalize": {"x": _P},
    "quat_apply": {"quat": _A, "vec": _P},
    "quat_apply_inverse": {"quat": _A, "vec": _P},
    "quat_apply_yaw": {"quat": _A, "vec": _P},
    "quat_box_minus": {"q1": _A, "q2": _B},
    "quat_box_plus": {"q": _B, "delta": _Q},
    "quat_conjugate": {"q": _A},
    "quat_error_magnitude": {"q1": _A, "q2": _B},
    "quat_from_angle_axis": {
        "angle": [0.5, -2.0],
        "axis": [[0.0, 0.6, 0.8], [1.0, 0.0, 0.0]],
    },
    "quat_from_euler_xyz": {"roll": [0.1, 2.0], "pitch": [-1.0, 0.3], "yaw": [3.0, 0]},
    "quat_from_matrix": {
        "matrix": [
            [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]],
            [[-1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, -1.0]],
        ]
    },
    "quat_inv": {"q": _A},
    "quat_mul": {"q1": _A, "q2": _B},
    "quat_slerp": {"q1": _A[0], "q2": _B[0], "tau": 0.3},
    "quat_unique": {"q": _A},
    "saturate": {"x": _P, "lower": [-1.0] * 3, "upper": [2.0, 1.0, 0.5]},
    "scale_transform": {"x": _P, "lower": [-4.0] * 3, "upper": [2.0, 4.0, 8.0]},
    "subtract_frame_transforms": {**_FRAMES, "t02": _Q, "q02": _B},
    "transform_points": {"points": [_P, _Q], "pos": _P, "quat": _A},
    "unscale_transform": {"x": _P, "lower": [-4.0] * 3, "upper": [2.0, 4.0, 8.0]},
    "wrap_to_pi": {"angles": [7.0, -4.0, 0.5]},
    "yaw_quat": {"quat": _A},
}
"""Arguments by function. All functions of the table that draw no random numbers."""


def arguments(name: str) -> dict[str, Any]:
    """Return the arguments of a function, with tensors instead of lists."""
    return {
        key: torch.tensor(value) if isinstance(value, list) else value
        for key, value in CASES[name].items()
    }


def plain(value: Any) -> Any:
    """Return a result with lists instead of tensors."""
    if isinstance(value, tuple):
        return [plain(each) for each in value]
    return value.tolist()


def main() -> None:
    """Print the parameters and the value of each function."""
    math = importlib.import_module("mjlab.utils.lab_api.math")
    found = {
        name: {
            "parameters": list(inspect.signature(getattr(math, name)).parameters),
            "value": plain(getattr(math, name)(**arguments(name))),
        }
        for name in CASES
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
