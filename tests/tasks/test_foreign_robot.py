"""The pages about foreign robots, executed as written."""

import re
from pathlib import Path

import mujoco
import numpy as np
import pytest

from mjlab.random import WorldRng
from mjlab.scene import Scene, SceneCfg, build_scene
from mjlab.sim import MujocoCfg, Simulation, SimulationCfg, compile_model
from tests.tasks.test_first_task import installed, run

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = DOCS / "tutorials/your_robot.md"


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    pytest.importorskip("gymnasium")
    return installed(PAGE, tmp_path_factory.mktemp("walker"))


@pytest.mark.slow
def test_the_robot_of_the_page_is_trained_and_played(folder):
    small = ["--env.scene.num-envs", "64", "--agent.evaluation.every", "0"]
    said = run(folder, "train.py", "Walker", "--agent.max-iterations", "2", *small)
    assert "2 of 2 iterations" in said
    said = run(folder, "play.py", "Walker", "--viewer", "none", "--steps", "5")
    assert "Mean reward per step, over 5 steps" in said


def test_the_linkage_of_the_page_moves_as_its_file_to_the_last_bit():
    text = (DOCS / "howto/closed_linkage.md").read_text("utf-8")
    (linkage,) = re.findall(r'LINKAGE = """(.*?)"""', text, re.DOTALL)
    cfg = SceneCfg(num_envs=3, source=lambda: mujoco.MjSpec.from_string(linkage))
    sim_cfg = SimulationCfg(backend="native", mujoco=MujocoCfg(timestep=0.001))
    built = build_scene(cfg)
    sim = Simulation(compile_model(built.spec, sim_cfg), 3, sim_cfg)
    scene = Scene(cfg, built, sim, WorldRng(3, 0, sim.device))
    assert {*scene.entities} == {"crank", "rocker"}
    alone = mujoco.MjModel.from_xml_string(linkage)
    data = mujoco.MjData(alone)
    sim.data.ctrl[:] = data.ctrl[:] = 12.0
    angles = []
    for step in range(750):
        sim.step()
        mujoco.mj_step(alone, data)
        angles.append(float(data.qpos[alone.joint("rocker").qposadr[0]]))
        if step % 25:
            continue
        # MuJoCo's state: time, positions, velocities, and derived values.
        state = sim.snapshot()["state"][:, : 1 + alone.nq + alone.nv].numpy()
        assert np.array_equal(state, [[data.time, *data.qpos, *data.qvel]] * 3)
    assert data.qpos[0] > 2 * np.pi and 0.2 < np.ptp(angles) < 2.0
