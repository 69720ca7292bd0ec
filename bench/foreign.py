"""Measures the gait of other projects' policies (`../shared/reference`).

The archive `policies.tar.xz` is unpacked outside the repository. Its `drive.py` runs
the networks; here the robots are simulated in plain MuJoCo and recorded. G1 policies
use the robot of the gait table, `g1_rev_1_0_model`; other policies use the model in
their archive.
"""

import importlib.util
import json
import math
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import mujoco
import numpy as np

from mjlab.gait.commands import COMMANDS, Command, Figures
from mjlab.gait.limits import QUIET
from mjlab.gait.motion import GRAVITY, LeggedMotion, measure
from mjlab.gait.walk import EPISODE_S, START_S

G1_MODEL = Path("g1_rev_1_0_model", "g1_29dof_rev_1_0.xml")

ARMATURES = {
    ("hip_pitch", "hip_yaw", "waist_yaw"): 0.01017752,
    ("hip_roll", "knee"): 0.025101925,
    ("ankle", "waist_roll", "waist_pitch"): 0.00721945,
    ("shoulder", "elbow", "wrist_roll"): 0.003609725,
    ("wrist_pitch", "wrist_yaw"): 0.00425,
}
"""Armature of the G1's joints by parts of their names, kg m²."""

TOUCHING = 0.02
"""Maximum height of a foot geom of a standing robot, m."""


def gait_of_foreign(
    path: Path,
    *,
    robots: int,
    seed: int,
    commands: Mapping[str, Command] = COMMANDS,
) -> tuple[dict[str, Any], dict[str, dict[str, Figures]]]:
    """Return a description of a policy, and its gait without noise and pushes.

    Args:
        path: JSON file with the properties of the policy.
        robots: Robots per command.
        seed: Seed of the initial states.
        commands: The commands by name.
    """
    pack = path.resolve().parent.parent
    drive = load_module(pack / "drive.py")
    facts = json.loads(path.read_text("utf-8"))
    with tempfile.TemporaryDirectory(prefix="mjlab-foreign-") as folder:
        walker = _Walker(drive, pack, path, facts, Path(folder))
    found = {
        name: measure(walker.walk(command, robots, seed).after(START_S), command)
        for name, command in commands.items()
    }
    return {"robot": facts["robot"], "model": walker.model_name}, {QUIET: found}


def load_module(file: Path) -> ModuleType:
    """Import `drive.py` from the archive."""
    spec = importlib.util.spec_from_file_location("foreign_drive", file)
    if spec is None or spec.loader is None or not file.is_file():
        raise FileNotFoundError(
            f"{file} is missing: unpack the complete archive of foreign policies."
        )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class _Walker:
    """Runs a policy of another project, and records each physics step."""

    def __init__(
        self,
        drive: ModuleType,
        pack: Path,
        path: Path,
        facts: dict[str, Any],
        folder: Path,
    ) -> None:
        is_g1 = facts["robot"].startswith("Unitree G1, 29 joints")
        model = pack / G1_MODEL if is_g1 else (path.parent / facts["model"]).resolve()
        self.model_name = model.name
        spec = mujoco.MjSpec.from_file(str(model))
        spec.meshdir = str((model.parent / spec.meshdir).resolve())
        if is_g1:
            _prepare_g1(spec)
            facts = facts | {"servo": "explicit"}
        self._facts = facts
        policy = str((path.parent / facts["policy"]).resolve())
        self._driver = self._drive(drive, spec, folder, facts | {"policy": policy})
        feet = _feet(self._driver)
        for body in feet:
            spec.add_sensor(
                name=f"foot:{body}",
                type=mujoco.mjtSensor.mjSENS_CONTACT,
                objtype=mujoco.mjtObj.mjOBJ_BODY,
                objname=body,
                # Net force of all contacts, in the world frame.
                intprm=[1 << 1, 3, 1],
            )
        self._driver = self._drive(drive, spec, folder, facts | {"policy": policy})
        model = self._driver.model
        self._feet, self._geoms = tuple(feet), list(feet.values())
        self._bodies = [model.body(name).id for name in feet]
        adr = [model.sensor(f"foot:{body}").adr[0] for body in feet]
        self._vertical = np.array(adr) + 2

    def _drive(
        self, drive: ModuleType, spec: mujoco.MjSpec, folder: Path, facts: dict
    ) -> Any:
        spec.compile()
        model, file = folder / "model.xml", folder / "facts.json"
        model.write_text(spec.to_xml(), "utf-8")
        file.write_text(json.dumps(facts | {"model": str(model)}), "utf-8")
        driver = drive.Driver(file)
        # Physics is stepped here, because it is recorded here.
        self._substeps, driver.substeps = driver.substeps, 0
        return driver

    def walk(self, command: Command, robots: int, seed: int) -> LeggedMotion:
        """Return the motion of several robots from rest."""
        rows = [self._walk(command, seed + robot) for robot in range(robots)]
        model = self._driver.model
        series = {
            name: np.stack([row[name] for row in rows], axis=1)
            for name in rows[0]
            if name != "fell"
        }
        return LeggedMotion(
            feet=self._feet,
            weight=float(model.body_subtreemass[0]) * GRAVITY,
            physics_dt=float(model.opt.timestep),
            step_dt=self._substeps * float(model.opt.timestep),
            fell=np.array([row["fell"] for row in rows]),
            **series,
        )

    def _walk(self, command: Command, seed: int) -> dict[str, Any]:
        driver, rng = self._driver, np.random.default_rng(seed)
        driver.reset()
        legs = [i for i, name in enumerate(self._facts["joints"]) if _is_leg(name)]
        driver.data.qpos[driver.q[legs]] += rng.uniform(-0.05, 0.05, len(legs))
        driver.data.qvel[:3] += rng.uniform(-0.1, 0.1, 3)
        mujoco.mj_forward(driver.model, driver.data)
        samples: list[tuple[np.ndarray, np.ndarray, float]] = []
        steps: list[tuple[np.ndarray, float, np.ndarray, np.ndarray]] = []
        fell = False
        for _ in range(round(EPISODE_S[QUIET] / self._facts["control_s"])):
            driver.step(command)
            self._physics(samples)
            data, yaw = driver.data, driver.heading
            cos, sin = math.cos(yaw), math.sin(yaw)
            vx, vy = data.qvel[:2]
            velocity = np.array((cos * vx + sin * vy, cos * vy - sin * vx))
            torque = data.qfrc_actuator[driver.dq].copy()
            steps.append((velocity, yaw, data.qvel[driver.dq].copy(), torque))
            fell |= driver.fallen
        feet = ("foot_pos", "foot_force", "foot_heading")
        body = ("velocity", "heading", "joint_vel", "joint_torque")
        found = dict(zip(feet, map(np.array, zip(*samples, strict=True)), strict=True))
        found |= dict(zip(body, map(np.array, zip(*steps, strict=True)), strict=True))
        return found | {"fell": fell}

    def _physics(self, samples: list[tuple[np.ndarray, np.ndarray, float]]) -> None:
        """Hold the target of the last action for a control step."""
        driver, facts = self._driver, self._facts
        model, data = driver.model, driver.data
        target = driver.default.copy()
        target[driver.acted] += np.asarray(facts["action_scale"]) * driver.last
        kp, kd = np.asarray(facts["kp"]), np.asarray(facts["kd"])
        for _ in range(self._substeps):
            if facts["servo"] == "model":
                data.ctrl[driver.motors] = target
            else:
                error = target - data.qpos[driver.q]
                data.ctrl[driver.motors] = kp * error - kd * data.qvel[driver.dq]
            yaw = driver.heading
            mujoco.mj_step(model, data)
            # After `mj_step`, positions and forces belong to the start of the step.
            places = [
                data.xpos[body] if geom is None else data.geom_xpos[geom]
                for body, geom in zip(self._bodies, self._geoms, strict=True)
            ]
            force = np.abs(data.sensordata[self._vertical])
            samples.append((np.array(places), force, yaw))


def _is_leg(joint: str) -> bool:
    return any(
        part in joint.lower() for part in ("hip", "thigh", "knee", "calf", "ank")
    )


def _feet(driver: Any) -> dict[str, int | None]:
    """Return the geom id of each foot, by body name.

    Feet are the bodies that touch the ground. For a body with several touching geoms,
    the id is None, and the foot's position is the origin of the body.

    Args:
        driver: The archive's driver, with model, data and the id of the floor geom.
    """
    model, data = driver.model, driver.data
    touching: dict[str, list[int]] = {}
    for geom in range(model.ngeom):
        body = model.geom_bodyid[geom]
        if body == 0:
            continue
        gap = mujoco.mj_geomDistance(model, data, driver.floor, geom, 1.0, None)
        if gap < TOUCHING:
            touching.setdefault(model.body(body).name, []).append(geom)
    return {
        body: geoms[0] if len(geoms) == 1 else None for body, geoms in touching.items()
    }


def _prepare_g1(spec: mujoco.MjSpec) -> None:
    """Add armature, damping and friction to the joints of the gait table's robot."""
    spec.option.timestep = 0.002
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.option.iterations = 100
    spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_ISLAND
    for joint in spec.joints:
        if joint.type == mujoco.mjtJoint.mjJNT_FREE:
            continue
        joint.armature = next(
            armature
            for parts, armature in ARMATURES.items()
            if any(part in joint.name for part in parts)
        )
        joint.damping[0], joint.frictionloss = 0.01, 0.01
