"""MyoLegs, with `myo-sim` installed, and the error without it."""

import sys

import mujoco
import numpy as np
import pytest
import torch

from mjlab.envs import ManagerBasedRlEnv
from mjlab.muscle import MuscleActionCfg, muscle_action
from mjlab.muscle.config import MuscleNetworkCfg
from mjlab.tasks.muscle import WalkW18Cfg
from mjlab.tasks.muscle.myolegs import TIED, myolegs, myolegs_cfg
from tests.tasks.test_muscle_tasks import small


def legs(**more) -> ManagerBasedRlEnv:
    """Two worlds of legs that fall freely, high above the ground."""
    cfg = small(WalkW18Cfg, num_envs=2)
    cfg.scene.entities = {"robot": myolegs_cfg()}
    cfg.scene.entities["robot"].init_state.pos = (0.0, 0.0, 3.0)
    network = MuscleNetworkCfg(hidden=(16, 16))
    cfg.actions = {"muscles": MuscleActionCfg(network=network, **more)}
    cfg.commands, cfg.observations, cfg.rewards = {}, {}, {}
    cfg.terminations, cfg.metrics = {}, {}
    cfg.sim.nconmax = cfg.sim.njmax = None
    return ManagerBasedRlEnv(cfg, device="cpu")


def test_without_the_package_the_installation_is_suggested(monkeypatch):
    monkeypatch.setitem(sys.modules, "myo_sim", None)
    with pytest.raises(ImportError) as error:
        myolegs()
    assert str(error.value) == (
        "MyoLegs needs myo-sim, which is not installed: "
        'pip install "mjlab-fused[myo-sim]".'
    )


def test_eighty_muscles_move_fourteen_joints_with_the_torques_of_mujoco():
    pytest.importorskip("myo_sim", reason="myo-sim is not installed")
    env = legs(ignore=TIED, coordinator="qp", excitation="inverse")
    env.reset()
    term = muscle_action(env)
    assert (term.map.num_muscles, term.map.num_dofs) == (80, 14)
    for _ in range(3):
        env.step(torch.zeros(2, 14))
    model = env.sim.engine.mj_model_of(0)
    data = env.sim.engine.mj_data_of(0)
    data.ctrl[:], data.act[:] = 0.0, env.sim.data.act[0].numpy()
    mujoco.mj_forward(model, data)
    state = term.present()
    made = state.torque_map.torque(state.red, env.sim.data.act) + state.passive_torque
    wanted = data.qfrc_actuator[list(term.map.dof_ids)]
    np.testing.assert_allclose(made[0].numpy(), wanted, atol=1e-3 * abs(wanted).max())


def test_joints_that_are_tied_are_refused_by_name_unless_they_are_ignored():
    pytest.importorskip("myo_sim", reason="myo-sim is not installed")
    with pytest.raises(ValueError, match=r"knee_angle_translation2_r.*`ignore`"):
        legs()
