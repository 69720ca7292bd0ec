"""Published robots: their properties as data, and MuJoCo models built from them.

`tests/tasks/published/*.json` contains names and numbers of published models, each with
its source and licence. A few shapes are added, because a Menagerie folder has meshes
and the data do not.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

FACTS = Path(__file__).parents[1] / "tasks" / "published"
FOLDERS = {"g1": "unitree_g1", "go1": "unitree_go1", "yam": "i2rt_yam"}
"""Folder of each robot in MuJoCo Menagerie."""
ARCHIVE = Path(__file__).parents[3] / "shared" / "reference" / "robots.tar.xz"
"""The original files, in Menagerie's layout. Only some developers have them."""


def facts(robot: str) -> dict[str, Any]:
    """Return the published data of a robot."""
    return json.loads((FACTS / f"{robot}.json").read_text("utf-8"))


def published_spec(robot: str) -> mujoco.MjSpec:
    """Return bodies, joints, sites, collision geoms and exclusions as published."""
    known = facts(robot)
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    spec.compiler.autolimits = False
    bodies = {"world": spec.worldbody}
    for body in known["bodies"]:
        bodies[body["name"]] = bodies[body["parent"]].add_body(
            **_fields(body, "name", "pos", "quat", "mass", "ipos", "iquat", "inertia"),
            explicitinertial=True,
        )
    for joint in known["joints"]:
        bodies[joint["body"]].add_joint(
            **_fields(joint, "name", "pos", "axis"),
            type=getattr(mujoco.mjtJoint, f"mjJNT_{joint['type'].upper()}"),
            limited=joint["range"] is not None,
            range=joint["range"] or [0.0, 0.0],
        )
    for site in known["sites"]:
        bodies[site["body"]].add_site(**_fields(site, "name", "pos", "quat"))
    for geom in known["collision_geoms"]:
        bodies[geom["body"]].add_geom(
            **_fields(geom, "name", "pos", "quat", "size"),
            type=getattr(mujoco.mjtGeom, f"mjGEOM_{geom['type'].upper()}"),
            group=3,
        )
    for first, second in known["excluded_pairs"]:
        spec.add_exclude(bodyname1=first, bodyname2=second)
    for camera in known.get("cameras", ()):
        bodies[camera["body"]].add_camera(**_fields(camera, "name", "pos", "quat"))
    return spec


def _fields(item: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: item[name] for name in names}


def write_menagerie(folder: Path) -> None:
    """Write each robot in Menagerie's layout, with stand-ins for its meshes.

    Each body has one asymmetric mesh with its own origin, scale and pose, which the
    compiler therefore moves and rotates.
    """
    rng = np.random.default_rng(5)
    for robot, name in FOLDERS.items():
        assets = folder / name / "assets"
        assets.mkdir(parents=True)
        spec = published_spec(robot)
        spec.modelfiledir, spec.meshdir = str(folder / name), "assets"
        for body in spec.bodies[1:]:
            mesh = f"{body.name}_shape"
            write_stl(assets / f"{mesh}.stl", rng.uniform(-0.03, 0.05, (4, 3)))
            spec.add_mesh(name=mesh, file=f"{mesh}.stl", scale=rng.uniform(0.5, 2, 3))
            quat = rng.normal(size=4)
            body.add_geom(
                type=mujoco.mjtGeom.mjGEOM_MESH,
                meshname=mesh,
                pos=rng.uniform(-0.02, 0.02, 3),
                quat=quat / np.linalg.norm(quat),
                group=2,
                contype=0,
                conaffinity=0,
                density=0.0,
            )
        spec.compile()
        (folder / name / f"{robot}.xml").write_text(spec.to_xml(), "utf-8")


def write_stl(path: Path, corners: np.ndarray) -> None:
    """Write a tetrahedron as a binary STL file, its faces seen from outside.

    Args:
        path: The file.
        corners: Shape (4, 3).
    """
    if np.linalg.det(corners[1:] - corners[0]) < 0.0:
        corners = corners[[0, 2, 1, 3]]
    faces = corners[[[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]]
    rows = np.zeros(4, [("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("_", "<u2")])
    rows["corners"] = faces
    path.write_bytes(bytes(80) + np.uint32(4).tobytes() + rows.tobytes())
