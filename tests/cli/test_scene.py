"""`scene.py`: the written file equals the task's model."""

from pathlib import Path

import mujoco
import numpy as np
import pytest

from mjlab.cli import UsageError
from mjlab.cli.scene import main
from mjlab.envs.build import load
from mjlab.registry import entries, load_task


def names_of(model: mujoco.MjModel, kind: str) -> list[str]:
    number = {"body": model.nbody, "joint": model.njnt, "actuator": model.nu}
    number["sensor"] = model.nsensor
    return [getattr(model, kind)(index).name for index in range(number[kind])]


def test_mujoco_opens_the_scene_that_was_written(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    main(["Cartpole-Balance"])
    assert capsys.readouterr().out == (
        "Wrote scene_Cartpole-Balance: 3 bodies, 2 joints, 1 actuators.\n"
    )
    model = mujoco.MjModel.from_xml_path("scene_Cartpole-Balance/scene.xml")
    of_task = load(load_task("Cartpole-Balance").env()).model
    for kind in ("joint", "body", "actuator", "sensor"):
        names = [names_of(each, kind) for each in (model, of_task)]
        assert names[0] == names[1]
    assert (model.body_mass == of_task.body_mass).all()
    assert model.opt.timestep == of_task.opt.timestep


@pytest.mark.slow
@pytest.mark.parametrize("task", entries())
def test_mujoco_opens_the_scene_of_every_task(task: str, tmp_path: Path):
    """Sizes, masses, terrain heights and pixels equal the task's model."""
    out = tmp_path / "scene"
    main([task, "--out", str(out), "--env.seed", "3"])
    model = mujoco.MjModel.from_xml_path(str(out / "scene.xml"))
    cfg = load_task(task).env()
    cfg.seed = 3
    of_task = load(cfg).model
    for size in ("nbody", "ngeom", "nq", "nv", "nu", "nsensor", "ntex", "nhfield"):
        assert getattr(model, size) == getattr(of_task, size), size
    # MJCF stores decimal text of 6 to 8 digits.
    for field in ("body_mass", "geom_pos", "hfield_data"):
        expected = getattr(of_task, field)
        np.testing.assert_allclose(
            getattr(model, field), expected, rtol=1e-4, atol=1e-5
        )
    np.testing.assert_array_equal(model.tex_data, of_task.tex_data)
    mujoco.mj_step(model, mujoco.MjData(model))


def test_a_scene_is_selected_by_task_id():
    with pytest.raises(UsageError, match=r"TASK is missing: scene\.py TASK"):
        main([])
