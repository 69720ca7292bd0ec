"""Motion clips in a policy file: a table of frames, indexed by `time_step`."""

import hashlib
from dataclasses import asdict
from typing import Any

import numpy as np

from mjlab.export.reader import ExportError, OnnxPolicy
from mjlab.motion import Motion, MotionCommand, MotionInfo
from mjlab.safe_names import check_name

TIME_STEP = "time_step"
"""Name of the input that selects the clip frame at the end of the control step."""

REFERENCE = "reference_"
"""Prefix of outputs that return the selected frame, such as `reference_joint_pos`."""

PARTS = ("joint_pos", "joint_vel", "body_pos_w", "body_quat_w")
PARTS += ("body_lin_vel_w", "body_ang_vel_w")
"""Quantities of a clip frame, in storage order."""
PART_SIZES = (0, 0, 3, 4, 3, 3)
"""Number of values per body for each of `PARTS`; 0 means one value per joint."""
_UNITS = ("rad", "rad/s", "m", "1", "m/s", "rad/s")


def described_clips(command: MotionCommand) -> dict[str, Any]:
    """Return the contract entry of the clips that a motion command tracks."""
    table = command.table
    return {
        "time_step": (
            "index of the frame at the end of the control step, counted over all "
            "clips: 1 for a robot in the first frame of the first clip"
        ),
        "fps": table.motions[0].fps,
        "anchor_body": command.cfg.anchor_body,
        "body_names": list(table.body_names),
        "compared_bodies": list(command.cfg.body_names),
        "joint_names": list(command.entity.joint_names),
        "root_body": table.motions[0].root_body,
        "sha256": hashlib.sha256(table.rows.cpu().numpy().tobytes()).hexdigest(),
        "clips": [
            {
                "name": clip.name,
                "first": start,
                "frames": clip.num_frames,
                "info": asdict(clip.info),
            }
            for clip, start in zip(table.motions, table.starts.tolist(), strict=True)
        ],
    }


def reference_outputs(command: MotionCommand) -> list[dict[str, Any]]:
    """Return the contract entries of the `reference_*` outputs."""
    bodies, joints = list(command.table.body_names), list(command.entity.joint_names)
    return [
        {
            "name": REFERENCE + name,
            "shape": [len(bodies), size] if size else [len(joints)],
            "unit": unit,
            "elements": bodies if size else joints,
            "meaning": "Reference at this time step, in the world frame.",
        }
        for name, size, unit in zip(PARTS, PART_SIZES, _UNITS, strict=True)
    ]


def clips_of(policy: OnnxPolicy) -> list[Motion]:
    """Return the clips of a policy file. Runs the file once per clip frame."""
    about = policy.contract["motion"]
    _check_names(policy)
    inputs: dict[str, Any] = {
        entry["name"]: np.zeros(entry["shape"], entry["dtype"])
        for entry in policy.contract["inputs"]
    }
    twin = policy.another()
    total = sum(clip["frames"] for clip in about["clips"])
    rows = []
    for row in range(total):
        inputs[TIME_STEP] = np.array([row], np.float32)
        answer = twin(inputs)
        rows.append([answer[REFERENCE + part] for part in PARTS])
    whole: dict[str, Any] = {
        part: np.array(values, dtype=np.float64)
        for part, values in zip(PARTS, zip(*rows, strict=True), strict=True)
    }
    return [
        Motion(
            name=clip["name"],
            fps=about["fps"],
            joint_names=tuple(about["joint_names"]),
            root_body=about["root_body"],
            body_names=tuple(about["body_names"]),
            info=MotionInfo.of_data(clip["info"], str(policy.path)),
            **{
                part: values[clip["first"] : clip["first"] + clip["frames"]]
                for part, values in whole.items()
            },
        )
        for clip in about["clips"]
    ]


def _check_names(policy: OnnxPolicy) -> None:
    """Raise if a clip's name is not a safe file name, or if two clips share a name."""
    seen: set[str] = set()
    for clip in policy.contract["motion"]["clips"]:
        name = check_name(clip["name"], f"{policy.path} has a clip named", ExportError)
        if name.casefold() in seen:
            raise ExportError(f"{policy.path} has two clips named {name!r}.")
        seen.add(name.casefold())
