"""The muscle action inside the step of an environment."""

import mujoco
import numpy as np
import pytest
import torch

from mjlab.entity import ArticulationCfg
from mjlab.envs import ManagerBasedRlEnv, ManagerBasedRlEnvCfg, mdp
from mjlab.managers import (
    EventTermCfg,
    ObservationGroupCfg,
    ObservationTermCfg,
    TermError,
    TerminationTermCfg,
)
from mjlab.muscle import (
    BoxQp,
    MuscleActionCfg,
    MuscleMap,
    MuscleNetwork,
    TorqueLawCfg,
    TorqueMap,
    WeightError,
    muscle_action,
)
from mjlab.scene import SceneCfg
from mjlab.sim import MujocoCfg, SimulationCfg
from mjlab.tasks.muscle.models import arm6_cfg, w18_cfg

SUBSTEPS = 10


def env_cfg(num_envs=3, *, entity=None, **options):
    return ManagerBasedRlEnvCfg(
        scene=SceneCfg(num_envs=num_envs, entities={"robot": entity or w18_cfg()}),
        sim=SimulationCfg(backend="native", mujoco=MujocoCfg(timestep=1 / 600)),
        decimation=SUBSTEPS,
        episode_length_s=5.0,
        actions={"muscles": MuscleActionCfg(scale=0.3, **options)},
        observations={
            "actor": ObservationGroupCfg(
                terms={"q": ObservationTermCfg(func=mdp.joint_pos)}
            )
        },
        terminations={"time_out": TerminationTermCfg(func=mdp.time_out, time_out=True)},
        events={
            "spread": EventTermCfg(
                func=mdp.reset_joints_by_offset,
                mode="reset",
                params={"position_range": (-0.2, 0.2), "velocity_range": (-0.5, 0.5)},
            )
        },
        seed=3,
    )


def make_env(num_envs=3, **options):
    env = ManagerBasedRlEnv(env_cfg(num_envs, **options))
    env.reset()
    return env, muscle_action(env)


class Watch:
    """Stores muscle inputs and outputs, and MuJoCo's state, for each substep."""

    def __init__(self, env):
        self.env, self.term = env, muscle_action(env)
        self.rows, self.qpos, self.qvel, self.ctrl = [], [], [], []
        self._inner = self.term.apply_late
        self.term.apply_late = self.watch

    def watch(self):
        data = self.env.sim.engine.batch
        self.qpos.append(data.bind("qpos").copy())
        self.qvel.append(data.bind("qvel").copy())
        self._inner()
        row = torch.cat((self.term.muscles.red, self.term.wanted_torque), dim=1)
        self.rows.append(row.clone())
        self.ctrl.append(self.env.sim.data.ctrl.clone())


def test_requested_muscle_torques_belong_to_the_state_of_that_substep():
    env, term = make_env()
    watch = Watch(env)
    env.step(torch.full((3, 6), 0.5))
    model, data = env.sim.mj_model, mujoco.MjData(env.sim.mj_model)
    assert len(watch.rows) == SUBSTEPS
    dofs = list(term.map.dof_ids)
    for substep in (0, 4, SUBSTEPS - 1):
        data.qpos, data.qvel = watch.qpos[substep][1], watch.qvel[substep][1]
        activation = watch.ctrl[substep][1].numpy()
        data.ctrl = activation
        mujoco.mj_forward(model, data)
        made = term.muscles.torque_map.torque(
            watch.rows[substep][1:2, : term.map.num_entries],
            watch.ctrl[substep][1:2],
        )
        data.ctrl = 0.0
        active = data.qfrc_actuator[dofs].copy()
        mujoco.mj_forward(model, data)
        active -= data.qfrc_actuator[dofs]
        assert np.allclose(made[0].numpy(), active, atol=1e-3)


def test_passive_muscle_torques_are_not_requested():
    env, term = make_env(clip_torque=False)
    asked, compute = [], term.law.compute
    term.law.compute = lambda *given: asked.append(compute(*given)) or asked[-1].clone()
    watch = Watch(env)
    # Legs that are bent to their ends stretch muscles.
    legs = list(term.map.qpos_ids)
    lowest = [env.sim.mj_model.joint(name).range[0] for name in term.map.joint_names]
    env.sim.data.qpos[:, legs] = 0.9 * torch.tensor(lowest, dtype=torch.float32)
    env.step(torch.full((3, 6), 0.5))
    data = mujoco.MjData(env.sim.mj_model)
    dofs = list(term.map.dof_ids)
    for substep in (0, SUBSTEPS - 1):
        data.qpos, data.qvel = watch.qpos[substep][1], watch.qvel[substep][1]
        mujoco.mj_forward(env.sim.mj_model, data)
        # Without controls, only the passive forces of muscles act.
        passive = data.qfrc_actuator[dofs]
        assert np.abs(passive).max() > 1.0
        wanted = watch.rows[substep][1, term.map.num_entries :].numpy()
        expected = asked[substep][1].numpy() - passive
        assert np.allclose(wanted, expected, atol=1e-3)


def test_a_row_is_one_substep_stored_whole_and_drawn_with_equal_chances():
    env, term = make_env(num_envs=200)
    watch = Watch(env)
    chosen = np.zeros(SUBSTEPS, dtype=int)
    for step in range(3):
        watch.rows.clear()
        env.step(torch.randn(200, 6, generator=torch.Generator().manual_seed(step)))
        rows = term.rows()[-200:]
        offered = torch.stack(watch.rows)
        is_same = (offered == rows).all(dim=-1)
        assert bool((is_same.sum(dim=0) == 1).all())
        chosen += is_same.sum(dim=1).numpy()
    # Chi squared with 9 degrees of freedom is below 21.7 in 99 of 100 cases.
    expected = 600 / SUBSTEPS
    assert ((chosen - expected) ** 2 / expected).sum() < 21.7


def test_a_worlds_numbers_do_not_depend_on_how_many_worlds_there_are():
    actions = torch.randn(70, 6, generator=torch.Generator().manual_seed(0))
    found = []
    for number in (70, 3, 1):
        env, term = make_env(num_envs=number)
        for _ in range(2):
            env.step(actions[:number])
        found.append((env.sim.data.qpos.clone(), term.rows().view(2, number, -1)))
    for qpos, rows in found[1:]:
        number = qpos.shape[0]
        assert torch.equal(qpos, found[0][0][:number])
        assert torch.equal(rows, found[0][1][:, :number])


def test_with_the_optimum_joints_reach_the_targets_of_the_action():
    env, term = make_env(entity=arm6_cfg(), coordinator="qp")
    action = torch.tensor([[0.5, 1.0]]).repeat(3, 1)
    for _ in range(60):
        env.step(action)
    wanted = env.scene.entity("robot").data.default_joint_pos + 0.3 * action
    assert (env.scene.entity("robot").data.joint_pos - wanted).abs().max() < 0.1
    miss = term.made_torque() - term.wanted_torque
    assert miss.abs().max() < 0.5


def test_weakness_reduces_torque_in_its_world_only():
    env, term = make_env()
    env.sim.expand("actuator_gainprm", "actuator_biasprm")
    strong = term.present().gain.clone()
    env.sim.model.actuator_gainprm[1, :, 2] *= 0.5
    # Nobody is reset, but what is known of muscles is old from here on.
    env.reset(mask=torch.zeros(3, dtype=torch.bool))
    gain = term.present().gain
    assert torch.equal(gain[[0, 2]], strong[[0, 2]])
    assert torch.equal(gain[1], 0.5 * strong[1])


def test_repeated_step_after_restore_is_identical():
    env, term = make_env()
    action = torch.randn(3, 6, generator=torch.Generator().manual_seed(1))
    env.step(action)
    state = env.get_state()
    env.step(action)
    first = (env.sim.data.qpos.clone(), term.rows().clone())
    env.set_state(state)
    env.step(action)
    assert torch.equal(env.sim.data.qpos, first[0])
    assert torch.equal(term.rows(), first[1])


def test_non_finite_action_stores_no_sample():
    env, term = make_env()
    action = torch.zeros(3, 6)
    env.step(action)
    action[1] = torch.nan
    env.step(action)
    assert bool(term.rows().isfinite().all())


def test_written_weights_are_used_bit_for_bit():
    _, term = make_env()
    other = MuscleNetwork.for_map(term.map, seed=9)
    term.load_network(other.state_dict(), 4)
    assert term.version == 4
    for name, value in term.network_state().items():
        assert torch.equal(value, other.state_dict()[name])
    red, torque = term.muscles.red, torch.randn(3, 6)
    own = term.coordinator.act(red, torque)
    expected = other.activation(other(red, torque))
    assert torch.allclose(own, expected, atol=1e-6)


def test_inverse_excitation_compensates_activation_dynamics():
    env, term = make_env(
        entity=arm6_cfg(has_dynamics=True), coordinator="qp", excitation="inverse"
    )
    for _ in range(30):
        env.step(torch.tensor([[0.5, 1.0]]).repeat(3, 1))
    # The optimum moves slowly by now, so that one substep reaches it.
    assert (term.act() - term.activation).abs().max() < 1e-3


def test_observations_are_of_the_present_state():
    env, term = make_env()
    env.step(torch.zeros(3, 6))
    stale = term.muscles.length.clone()
    fresh = term.present().length
    assert not torch.equal(stale, fresh)
    data = mujoco.MjData(env.sim.mj_model)
    data.qpos = env.sim.data.qpos[2].numpy()
    mujoco.mj_forward(env.sim.mj_model, data)
    assert np.allclose(fresh[2].numpy(), data.actuator_length, atol=1e-6)


# What is said of bad input.


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"excitation": "inverse"},
            "the muscles have no dynamics to invert: their dyntype is 'none'",
        ),
        (
            {"joint_names": "hip_."},
            r"Muscle 'robot/hamstrings_r' crosses joint 'robot/knee_r', which is not "
            r"among the controlled joints \['robot/hip_r', 'robot/hip_l'\]",
        ),
        ({"joint_names": "toe"}, "No joint matches 'robot/toe'"),
        ({"law": TorqueLawCfg(kind="pid")}, "law.kind is 'pid'. Valid names"),
        ({"coordinator": "both"}, "coordinator is 'both'. Valid names"),
    ],
)
def test_an_invalid_configuration_is_refused_with_the_reason(options, message):
    with pytest.raises((TermError, ValueError), match=message):
        make_env(**options)


def test_an_entity_without_muscles_is_refused():
    cfg = env_cfg()
    cfg.scene.entities["robot"].source = mujoco.MjSpec.from_string(
        "<mujoco><worldbody><body><joint name='hinge'/><geom size='.1'/></body>"
        "</worldbody></mujoco>"
    )
    cfg.scene.entities["robot"].articulation = ArticulationCfg()
    with pytest.raises(TermError, match="The model has no muscle: none of its 0"):
        ManagerBasedRlEnv(cfg)


def test_weights_of_another_model_are_refused():
    _, term = make_env()
    arm = MuscleNetwork(12, 2, 6)
    with pytest.raises(WeightError, match=r"'fc.0.weight' has shape \(256, 14\), but"):
        term.load_network(arm.state_dict(), 1)


def test_other_action_terms_are_not_mistaken_for_muscles():
    env, _ = make_env()
    with pytest.raises(ValueError, match="There is no action term 'legs'"):
        muscle_action(env, "legs")


def test_objective_of_the_network_is_never_below_the_optimum():
    env, term = make_env()
    env.step(torch.zeros(3, 6))
    qp = BoxQp(TorqueMap(MuscleMap.from_model(env.sim.mj_model)))
    red, torque = term.muscles.red, term.wanted_torque
    best = qp.objective(red, torque, qp.solve(red, torque, iterations=300))
    own = qp.objective(red, torque, term.activation)
    assert bool((own >= best - 1e-9).all())
