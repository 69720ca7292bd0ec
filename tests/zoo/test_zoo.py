"""Unmodified models of other projects, compared with MuJoCo stepping their files alone.

Each model is built once for all tests, because large ones take seconds to build.
`python -m tests.zoo.table` writes the page of the docs.
"""

import copy

import mujoco
import numpy as np
import pytest
import torch

from mjlab.sim import Stage
from tests.zoo import zoo
from tests.zoo.table import PAGE

SAMPLE = [
    "gymnasium/envs/mujoco/assets/ant.xml",
    "gymnasium/envs/mujoco/assets/half_cheetah.xml",
    "gymnasium/envs/mujoco/assets/inverted_pendulum.xml",
    "gymnasium/envs/mujoco/assets/pusher.xml",
    "gymnasium/envs/mujoco/assets/reacher.xml",
    "dm_control/suite/ball_in_cup.xml",
    "robosuite/models/assets/grippers/panda_gripper.xml",
    "own/tests/sim/every_element.xml",
]
ON_WARP = {
    "gymnasium/envs/mujoco/assets/half_cheetah.xml": 2e-4,
    "gymnasium/envs/mujoco/assets/inverted_double_pendulum.xml": 2e-4,
    "dm_control/suite/humanoid_CMU.xml": 1e-3,
    "robosuite/models/assets/robots/panda/robot.xml": 2e-4,
}
"""Tolerance of velocities after ten steps on Warp's CPU device, relative to the largest
one.
"""

COUNTS = {"gymnasium": 14, "dm_control": 19}
"""Files of the versions in constraints.txt."""

FILES = zoo.files()
ABSENT = [name for name in zoo.PACKAGES if zoo.folder(name) is None]


def _params() -> list[object]:
    slow = pytest.mark.slow
    rest = [f for f in (*FILES, *zoo.own_files()) if f not in SAMPLE]
    return [*SAMPLE, *(pytest.param(f, marks=slow) for f in rest)]


def _skip_absent(package: str) -> None:
    if package in ABSENT:
        pytest.skip(f"{package} is not installed (make setup does, extra zoo)")


@pytest.mark.parametrize("package", zoo.PACKAGES)
def test_the_zoo_has_all_files_of_its_packages(package: str) -> None:
    _skip_absent(package)
    found = [file for file in FILES if file.startswith(f"{package}/")]
    assert len(found) >= COUNTS.get(package, 36)


@pytest.mark.parametrize("file", _params())
def test_a_foreign_model_on_native_equals_mujocos_model_of_its_file(file: str) -> None:
    _skip_absent(file.split("/")[0])
    if reason := zoo.unreadable(file):
        pytest.skip(f"MuJoCo cannot read it: {reason}")
    world = zoo.worlds(file)
    sim, model = world.sim, world.file
    data = [mujoco.MjData(model) for _ in range(zoo.NUM_ENVS)]
    models = [model] * zoo.NUM_ENVS
    _defaults(world)

    world.state(data)
    for step in range(200):
        world.step(data, models)
        if step % 20 == 19:
            world.check(data, f"step {step + 1}")
    _contacts(world, data)

    mask = torch.tensor([True, False, True, False])
    sim.reset(mask)
    for index in (0, 2):
        mujoco.mj_resetData(model, data[index])
    kept = sim.snapshot()
    copies = [mujoco.MjData(model) for _ in data]
    for one, each in zip(copies, data, strict=True):
        mujoco.mj_copyData(one, model, each)
    controls = world.draw.bit_generator.state
    for _ in range(30):
        world.step(data, models)
    world.check(data, "30 steps after a reset of worlds 0 and 2")

    sim.restore(kept)
    world.draw.bit_generator.state = controls
    for _ in range(30):
        world.step(copies, models)
    world.check(copies, "30 steps after a snapshot was restored")
    _writers(world, copies)
    _expansions(world)


def _defaults(world: zoo.Zoo) -> None:
    """The initial state of a scene is the first keyframe, or that of a reset."""
    model, data = world.file, mujoco.MjData(world.file)
    if model.nkey:
        mujoco.mj_resetDataKeyframe(model, data, 0)
    everywhere = torch.ones(zoo.NUM_ENVS, dtype=torch.bool)
    for entity in world.scene.entities.values():
        entity.reset_to_default(everywhere)
    for name in ("qpos", "qvel", "ctrl"):
        found = getattr(world.sim.data, name).numpy()
        expected = np.float32(getattr(data, name))
        np.testing.assert_allclose(found, np.tile(expected, (4, 1)), atol=1e-6)
    world.sim.reset()


def _contacts(world: zoo.Zoo, data: list[mujoco.MjData]) -> None:
    """Contact counts of each body, compared with MuJoCo's list."""
    for each in data:
        mujoco.mj_forward(world.file, each)
    world.sim.forward(Stage.ACCELERATION)
    world.scene.refresh()
    sensor = world.scene.sensors["touch"]
    found = sensor.data.found
    assert found is not None
    for index, each in enumerate(data):
        expected = zoo.touches(world.file, each)
        for column, name in enumerate(sensor.primary_names):
            local = name.removeprefix("it/")
            if local in expected and local != "world":
                low, high = expected[local]
                assert low <= int(found[index, column]) <= high, (index, name)


def _writers(world: zoo.Zoo, data: list[mujoco.MjData]) -> None:
    """Joints written in worlds 1 and 3 have these values, and move bodies as in C."""
    sim, written = world.sim, (1, 3)
    mask = torch.tensor([False, True, False, True])
    batch = sim.engine.batch
    expected = [(batch.qpos[i].copy(), batch.qvel[i].copy()) for i in range(4)]
    for name, entity in world.scene.entities.items():
        shape = (zoo.NUM_ENVS, entity.num_joints)
        pos, vel = world.draw.uniform(-0.5, 0.5, (2, *shape)).astype(np.float32)
        entity.write_joint_state(mask, torch.from_numpy(pos), torch.from_numpy(vel))
        for column, joint in enumerate(entity.joint_names):
            found = world.joint(name, joint)
            for index in written:
                expected[index][0][found.qposadr[0]] = pos[index, column]
                expected[index][1][found.dofadr[0]] = vel[index, column]
    sim.forward(Stage.VELOCITY)
    for index, (each, (qpos, qvel)) in enumerate(zip(data, expected, strict=True)):
        np.testing.assert_array_equal(batch.qpos[index], qpos)
        np.testing.assert_array_equal(batch.qvel[index], qvel)
        each.qpos[:], each.qvel[:] = qpos, qvel
        mujoco.mj_kinematics(world.file, each)
    for entity in world.scene.entities.values():
        for column, body in enumerate(entity.body_names):
            known = mujoco.mj_name2id(world.file, mujoco.mjtObj.mjOBJ_BODY, body)
            where = entity.data.body_pos_w[:, column].numpy()
            if known > 0:
                theirs = np.array([each.xpos[known] for each in data])
                np.testing.assert_allclose(where, theirs, 1e-5, 1e-5, True, body)


def _expansions(world: zoo.Zoo) -> None:
    """Compare per-world masses and friction with `mj_setConst`.

    A placeable base has contact pairs, which have their own friction.
    """
    sim, model = world.sim, world.file
    fields = ["body_mass", "geom_friction"][: 1 + (sim.mj_model.npair == model.npair)]
    sim.reset()
    sim.expand(*fields)
    variants = [copy.copy(model) for _ in range(zoo.NUM_ENVS)]
    for index, factor in enumerate((1.0625, 0.9375, 0.96875, 1.125)):
        for field in fields:
            values = np.float32(getattr(sim.mj_model, field) * factor)
            getattr(sim.model, field)[index] = torch.from_numpy(values)
            own = getattr(variants[index], field)
            # A separate base precedes the file's bodies.
            own[field == "body_mass" :] = values[len(values) - len(own) :][
                field == "body_mass" :
            ]
        mujoco.mj_setConst(variants[index], mujoco.MjData(variants[index]))
    sim.recompute_constants()
    data = [mujoco.MjData(variant) for variant in variants]
    world.state(data)
    for _ in range(30):
        world.step(data, variants)
    world.check(data, "30 steps with masses of its own", exact=False)


def test_table_in_the_docs_lists_these_files() -> None:
    if ABSENT:
        pytest.skip(f"{', '.join(ABSENT)}: not installed")
    page = PAGE.read_text("utf-8")
    assert all(f"`{file}`" in page for file in FILES)


@pytest.mark.slow
@pytest.mark.parametrize("file", ON_WARP)
def test_a_foreign_model_on_warp_equals_mujocos_model_of_its_file(
    file: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """Warp compiles each model for minutes, and prints this."""
    _skip_absent(file.split("/")[0])
    world = zoo.worlds(file, "warp")
    data = [mujoco.MjData(world.file) for _ in range(zoo.NUM_ENVS)]
    world.state(data)
    for _ in range(10):
        world.step(data, [world.file] * zoo.NUM_ENVS)
    expected = np.array([each.qvel for each in data])
    found = world.sim.data.qvel.double().numpy()
    most = np.abs(found - expected).max() / np.abs(expected).max()
    assert np.abs(expected - 0.25).max() > 0.1, "Nothing has moved."
    assert most < ON_WARP[file], most
    assert "load on device 'cpu'" in capfd.readouterr().out
