"""`scene.py`: what it writes is what the task compiles."""

import mujoco
import pytest

from mjlab.cli import UsageError
from mjlab.envs.build import load
from mjlab.registry import load_task
from scripts.scene import main


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


def test_a_scene_is_asked_for_by_a_task():
    with pytest.raises(UsageError, match=r"Name a task first: scene\.py TASK"):
        main([])
