"""ONNX files: outputs equal the network's, and contents of the contract."""

import json
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import mujoco
import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from rsl_rl.models import CNNModel, MLPModel
from tensordict import TensorDict

from mjlab.envs import ManagerBasedRlEnv, mdp
from mjlab.export import ExportError, FilePolicy, OnnxPolicy, driven_by
from mjlab.export.graph import onnx_model, traced
from mjlab.export.network import Network
from mjlab.export.quantities import known_measured
from mjlab.export.runner.policy import NO_CHECKSUM, ContractError, with_checksum
from mjlab.managers import ObservationGroupCfg
from mjlab.names import UnknownNameError
from mjlab.rl import (
    BetaCfg,
    GaussianCfg,
    HeteroscedasticGaussianCfg,
    MlpModelCfg,
    RnnModelCfg,
    load_policy,
)
from mjlab.scene import SceneEntityCfg
from mjlab.tasks.cartpole.env import CartpoleBalanceCfg
from mjlab.tasks.velocity import VelocityGo1FlatCfg
from mjlab.tensors import DelayCfg
from tests.worlds.export_runs import cartpole, errors, record, stir, write
from tests.worlds.rl_runs import agent_cfg

ROOT = Path(__file__).resolve().parents[2]


def perceptron(**more) -> MlpModelCfg:
    given = {"obs_normalization": True, "distribution_cfg": GaussianCfg()}
    return MlpModelCfg(hidden_dims=(16, 8), **(given | more))


def recurrent(**more) -> RnnModelCfg:
    given = {"obs_normalization": True, "distribution_cfg": GaussianCfg()}
    sizes = {"rnn_hidden_dim": 6, "rnn_num_layers": 2}
    return RnnModelCfg(hidden_dims=(8,), **(given | sizes | more))


def go1() -> VelocityGo1FlatCfg:
    """The robot as in training, with encoder bias but without noise."""
    cfg = VelocityGo1FlatCfg(seed=1, episode_length_s=1.0)
    actor = cfg.observations["actor"]
    assert actor is not None
    actor.enable_corruption = False
    actor.terms["joint_vel"].scale = 0.05
    actor.terms["joint_vel"].history_length = 3
    actor.terms["base_ang_vel"].clip = (-2.0, 2.0)
    actor.terms["base_ang_vel"].scale = (0.2, 0.3, 0.4)
    actor.terms["projected_gravity"].delay = DelayCfg(min_lag=1, max_lag=1)
    return cfg


# --- Outputs equal the network's ------------------------------------------------------


class Gated(MLPModel):
    """Custom network: a gate on its input before the perceptron."""

    def get_latent(self, obs, masks=None, hidden_state=None):
        return gated(super().get_latent(obs, masks, hidden_state))

    def as_onnx(self, verbose):
        form = super().as_onnx(verbose)
        form.obs_normalizer = torch.nn.Sequential(form.obs_normalizer, Gate())
        return form


class Gate(torch.nn.Module):
    def forward(self, seen):
        return gated(seen)


def gated(seen: torch.Tensor) -> torch.Tensor:
    return seen * torch.softmax(seen, dim=-1)


class Forgetful(Gated):
    """Its export form lacks the gate."""

    as_onnx = MLPModel.as_onnx


@dataclass(kw_only=True)
class GatedCfg(MlpModelCfg):
    class_name = f"{__name__}:Gated"


@dataclass(kw_only=True)
class ForgetfulCfg(MlpModelCfg):
    class_name = f"{__name__}:Forgetful"


NETWORKS = {
    "mlp": perceptron(),
    "custom": GatedCfg(
        hidden_dims=(16, 8), obs_normalization=True, distribution_cfg=GaussianCfg()
    ),
    "lstm, a spread that depends on the state": recurrent(
        rnn_type="lstm", distribution_cfg=HeteroscedasticGaussianCfg()
    ),
    "gru, beta, no normaliser": recurrent(
        rnn_type="gru",
        distribution_cfg=BetaCfg(action_range=(-0.5, 2.0)),
        obs_normalization=False,
    ),
}


@pytest.mark.parametrize(
    "kind",
    ["mlp", "lstm, a spread that depends on the state"]
    + [
        pytest.param(kind, marks=pytest.mark.slow)
        for kind in ("custom", "gru, beta, no normaliser")
    ],
)
def test_the_file_matches_torch_in_200_recorded_steps(kind, tmp_path):
    cfg = cartpole()
    agent = agent_cfg(1, actor=NETWORKS[kind], clip_actions=0.9)
    checkpoint, exported = write(tmp_path, cfg, agent)
    file = OnnxPolicy(exported.path)
    moments = record(
        checkpoint, cfg, agent, file.contract, entity="cartpole", steps=200
    )
    assert sum(moment.ends.sum() for moment in moments) >= 8  # Both worlds.
    actions = np.stack([moment.action for moment in moments])
    assert np.ptp(actions) > 0.1
    assert max(errors(file, moments)) < 1e-5


@pytest.mark.slow
def test_a_robot_with_twelve_joints_receives_the_same_targets_as_from_torch(tmp_path):
    cfg = go1()
    actor = MlpModelCfg(
        hidden_dims=(512, 256, 128),
        obs_normalization=True,
        distribution_cfg=GaussianCfg(),
    )
    agent = agent_cfg(1, actor=actor, clip_actions=1.5)
    checkpoint, exported = write(tmp_path, cfg, agent, "Velocity-Go1-Flat")
    assert exported.error < 1e-5
    file = OnnxPolicy(exported.path)
    moments = record(checkpoint, cfg, agent, file.contract, entity="robot", steps=200)
    assert sum(moment.ends.sum() for moment in moments) >= 6
    assert max(errors(file, moments)) < 1e-5
    # A missing history, delay or clip would be detected.
    without = [replace(m, begins=np.ones(2, bool)) for m in moments]
    assert errors(file, without)[0] > 1e-3
    check_contract_of_go1(exported.contract)
    check_ways_to_play(checkpoint, agent, file, cfg)


def check_ways_to_play(checkpoint, agent, file, cfg):
    """The file moves the worlds like the network, for any scales of the environment."""
    cfg = replace(cfg, scene=replace(cfg.scene, num_envs=2))
    worlds = ManagerBasedRlEnv(cfg, device="cpu")
    other = go1()  # Settings that the file contains can differ in the task.
    terms = other.observations["actor"].terms
    terms["joint_vel"] = replace(terms["joint_vel"], scale=9.0, history_length=0)
    terms["base_ang_vel"] = replace(terms["base_ang_vel"], clip=None)
    terms["actions"] = None
    action = other.actions["joint_pos"]
    other.actions["joint_pos"] = replace(action, scale=9.0, use_default_offset=False)
    other.scene.num_envs = 2
    driven = ManagerBasedRlEnv(driven_by(other, file.contract), device="cpu")
    network = load_policy(checkpoint, worlds, agent)
    policies = ((worlds, network), (driven, FilePolicy(driven, file)))
    totals = []
    for env, policy in policies:
        observations, _ = env.reset(seed=4)
        total = torch.zeros(2)
        for _ in range(15):
            observations, reward, ended, late, _ = env.step(policy(observations))
            policy.reset(ended | late)
            total += reward
        totals.append(total)
    assert torch.allclose(*totals, rtol=1e-4, atol=1e-5)
    first, second = (env.sim.data.qpos for env, _ in policies)
    assert torch.allclose(first, second, atol=1e-4)


def session_of(
    models: dict[str, MLPModel], seen: TensorDict
) -> onnxruntime.InferenceSession:
    """Networks in one file, each with its own output name."""
    networks = {name: Network.of(model) for name, model in models.items()}

    def act(given: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        return {name: network(given)["action"] for name, network in networks.items()}

    examples = dict(seen.items())
    content = onnx_model(traced(act, examples), examples, {}).SerializeToString()
    return onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])


ACTIVATIONS = "elu selu relu crelu lrelu tanh sigmoid softplus gelu swish mish identity"


def test_activations_are_those_of_torch():
    seen = TensorDict({"a": torch.randn(1, 5)}, batch_size=[1])
    groups, models = {"actor": ["a"]}, {}
    for name in ACTIVATIONS.split():
        model = MLPModel(seen, groups, "actor", 3, (7, 6), name).eval()
        stir(model)
        models[f"out_{name}"] = model
    session = session_of(models, seen)
    for _ in range(5):
        seen["a"] = 3.0 * torch.randn(1, 5)
        found = session.run(list(models), {"a": seen["a"].numpy()})
        with torch.no_grad():
            for action, model in zip(found, models.values(), strict=True):
                assert np.abs(action - model(seen).numpy()).max() < 1e-5


ENCODERS = [
    {"kernel_size": 3, "padding": "reflect", "norm": "layer", "max_pool": True},
    {"kernel_size": [5, 3], "stride": 2, "norm": "batch", "global_pool": "avg"},
    {"kernel_size": 3, "dilation": 2, "padding": "zeros", "global_pool": "max"},
    {"kernel_size": 3, "padding": "replicate"},
    {"kernel_size": 3, "padding": "circular"},
]


@pytest.mark.slow
def test_images_are_identical_to_torchs():
    check_images({"a": (4,), "b": (2, 12, 14)}, ENCODERS)


def test_a_network_may_observe_only_images():
    check_images({"b": (1, 8, 8), "c": (2, 6, 6)}, [{"kernel_size": 3}])


def check_images(shapes, encoders):
    seen = TensorDict({k: torch.rand(1, *s) for k, s in shapes.items()}, batch_size=[1])
    groups, models = {"actor": list(shapes)}, {}
    for number, encoder in enumerate(encoders):
        cnn = {"output_channels": [3, 4], **encoder}
        normalised = {"obs_normalization": "a" in shapes, "cnn_cfg": cnn}
        model = CNNModel(seen, groups, "actor", 3, (8,), **normalised).eval()
        stir(model)
        for layer in model.modules():
            if isinstance(layer, torch.nn.LayerNorm | torch.nn.BatchNorm2d):
                layer.eps = 0.1  # Different from ONNX's default.
        models[f"out{number}"] = model
    fed = {name: seen[name].numpy() for name in shapes}
    found = session_of(models, seen).run(list(models), fed)
    with torch.no_grad():
        for action, model in zip(found, models.values(), strict=True):
            expected = model(seen).numpy()
            allowed = 1e-5 * max(1.0, np.abs(expected).max())
            assert np.abs(action - expected).max() < allowed


def test_custom_network_without_onnx_form_is_refused():
    with pytest.raises(ExportError, match=r"a Linear, which cannot .* MLPModel, RNN"):
        Network.of(torch.nn.Linear(5, 3))


def test_operation_unsupported_by_onnx_is_refused():
    class Own(MLPModel):
        def as_onnx(self, verbose):
            form = super().as_onnx(verbose)
            form.deterministic_output = Eigenvalues()
            return form

    class Eigenvalues(torch.nn.Module):
        def forward(self, x):
            return torch.linalg.eigvals(x[:, :4].reshape(1, 2, 2)).real

    seen = TensorDict({"a": torch.zeros(1, 5)}, batch_size=[1])
    model = Own(seen, {"actor": ["a"]}, "actor", 4, (7,))
    with pytest.raises(
        ExportError, match=r"operation that ONNX does not support: .*linalg_eig"
    ):
        session_of({"action": model}, seen)


@pytest.mark.slow
def test_other_kinds_of_actions_document_their_meaning(tmp_path):
    cfg = cartpole()
    cfg.actions["force"] = mdp.BinaryJointEffortActionCfg(
        entity_name="cartpole",
        joint_names="slider",
        open_command=0.25,
        close_command={"slider": -0.5},
    )
    agent = agent_cfg(1, actor=perceptron())
    _, exported = write(tmp_path, cfg, agent)
    chance = np.random.default_rng(0)
    file = OnnxPolicy(exported.path)
    seen = set()
    for _ in range(50):
        inputs = told(file)
        found = file({k: 9.0 * chance.normal(size=v.shape) for k, v in inputs.items()})
        expected = -0.5 if found["action"] < 0.0 else 0.25
        assert found["force_target"] == [expected]
        seen.add(expected)
    assert len(seen) == 2


# --- Contents of the contract ---------------------------------------------------------


def check_contract_of_go1(contract):
    """Every number, compared with the compiled model and the task."""
    model = ManagerBasedRlEnv(VelocityGo1FlatCfg(), device="cpu").sim.mj_model
    robot = contract["entities"]["robot"]
    assert contract["rates"] == pytest.approx(
        {"physics_dt": 0.005, "decimation": 4, "control_dt": 0.02, "control_hz": 50.0}
    )
    assert model.opt.timestep == contract["rates"]["physics_dt"]
    names = [joint["name"] for joint in robot["joints"]]
    joints = [model.joint(i) for i in range(model.njnt) if model.jnt_type[i] != 0]
    assert [f"robot/{name}" for name in names] == [joint.name for joint in joints]
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    for said, joint in zip(robot["joints"], joints, strict=True):
        assert said["type"] == "hinge" and said["unit"] == "rad"
        assert said["limits"] == pytest.approx(list(joint.range), rel=1e-6)
        middle = float(np.mean(joint.range))
        soft = [middle + 0.9 * (end - middle) for end in joint.range]
        assert said["soft_limits"] == pytest.approx(soft, rel=1e-5)
        pose = data.qpos[joint.qposadr[0]]
        assert said["default_pos"] == pytest.approx(pose, abs=1e-6)
        assert said["default_vel"] == 0.0
        assert said["armature"] == pytest.approx(float(joint.armature[0]))
        assert said["frictionloss"] == pytest.approx(float(joint.frictionloss[0]))
        assert said["damping"] == pytest.approx(float(joint.damping.flat[0]))
    assert sorted(a["target"] for a in robot["actuators"]) == sorted(names)
    by_joint = {model.actuator_trnid[i, 0]: i for i in range(model.nactuator)}
    for said in robot["actuators"]:
        index = by_joint[model.joint(f"robot/{said['target']}").id]
        assert said["stiffness"] == pytest.approx(model.actuator_gainprm[index, 0])
        assert said["damping"] == pytest.approx(-model.actuator_biasprm[index, 2])
        limit = model.actuator_forcerange[index, 1]
        assert said["effort_limit"] == pytest.approx(limit)
        assert said["gear"] == model.actuator_gear[index, 0] == 1.0
        assert said["delay_in_physics_steps"] is None
    root = robot["root"]
    assert root["default_pos"] == pytest.approx(list(data.qpos[:3]))
    assert root["default_quat"] == [1.0, 0.0, 0.0, 0.0] and not root["is_fixed"]
    check_inputs_of_go1(contract, names)


def check_inputs_of_go1(contract, names):
    said = {
        e["name"]: (e["unit"], e["frame"], e["elements"]) for e in contract["inputs"]
    }
    xyz = ["x", "y", "z"]
    velocity = ["lin_vel_x", "lin_vel_y", "ang_vel_z"]
    assert said == {
        "joint_pos": ("rad", None, names),
        "joint_vel": ("rad/s", None, names),
        "root_lin_vel_b": ("m/s", "robot/trunk", xyz),
        "imu_lin_vel": ("m/s", "robot/imu", xyz),
        "imu_ang_vel": ("rad/s", "robot/imu", xyz),
        "imu_upvector": ("1", "robot/imu", xyz),
        "twist": (["m/s", "m/s", "rad/s"], "robot/trunk", velocity),
    }
    inputs = {entry["name"]: entry for entry in contract["inputs"]}
    assert inputs["imu_ang_vel"]["measured"]["name"] == "robot/imu_ang_vel"
    assert inputs["imu_upvector"]["upright"] == [0.0, 0.0, 1.0]
    terms = {t["term"].removeprefix("actor/"): t for t in contract["observations"]}
    assert terms["projected_gravity"]["delay_in_training"]["max_lag"] == 1
    assert terms["projected_gravity"]["depends_on"] == ["imu_upvector"]
    assert terms["joint_pos"]["delay_in_training"] is None
    assert terms["joint_vel"]["noise_in_training"] is not None
    assert terms["actions"]["depends_on"] == ["state_last_action"]
    (action,) = contract["actions"]
    assert action["targets"] == names and action["quantity"] == "joint_pos"
    assert contract["outputs"][0]["name"] == action["output"] == "joint_pos_target"
    assert contract["outputs"][0]["unit"] == "rad"
    assert contract["action_clip"] == 1.5
    order = [entry["term"].removeprefix("actor/") for entry in contract["observations"]]
    assert order == list(VelocityGo1FlatCfg().observations["actor"].terms)
    assert contract["task"] == "Velocity-Go1-Flat"
    assert contract["made"]["iteration"] == 7
    assert contract["made"]["by"]["mujoco"] == mujoco.__version__


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A file with all kinds of state, and the recorded outputs of torch."""
    folder = tmp_path_factory.mktemp("written")
    cfg, agent = cartpole(), agent_cfg(1, actor=recurrent(rnn_type="gru"))
    checkpoint, exported = write(folder, cfg, agent, "Cartpole-Balance")
    contract = exported.contract
    moments = record(checkpoint, cfg, agent, contract, entity="cartpole", steps=20)
    return exported, moments


def test_the_file_is_valid_for_one_world_and_carries_its_contract(written):
    exported, _ = written
    model = onnx.load(exported.path)
    onnx.checker.check_model(model, full_check=True)
    assert json.loads(exported.contract_path.read_text()) == exported.contract
    props = {prop.key: prop.value for prop in model.metadata_props}
    assert json.loads(props["contract"]) == exported.contract
    shapes = {
        value.name: [dim.dim_value for dim in value.type.tensor_type.shape.dim]
        for value in [*model.graph.input, *model.graph.output]
    }
    contract = exported.contract
    said = {e["name"]: e["shape"] for e in contract["inputs"] + contract["outputs"]}
    for state in contract["states"]:
        said |= {state["name"]: state["shape"], state["next"]: state["shape"]}
    assert shapes == said
    assert shapes["joint_pos"] == [2] and shapes["joint_vel"] == [2]
    # Position of the cart in four steps.
    assert shapes["state_actor_history_4_values"] == [4, 1]
    assert shapes["state_hidden"] == [2, 6]


def test_the_contract_of_a_slide_and_a_hinge_has_two_units(written):
    exported, _ = written
    inputs = {entry["name"]: entry for entry in exported.contract["inputs"]}
    assert inputs["joint_vel"]["unit"] == ["m/s", "rad/s"]
    assert inputs["joint_vel"]["elements"] == ["slider", "hinge_1"]
    assert inputs["joint_pos"]["unit"] == ["m", "rad"]
    slider, hinge = exported.contract["entities"]["cartpole"]["joints"]
    assert (slider["limits"], hinge["limits"]) == ([-1.8, 1.8], [None, None])
    (motor,) = exported.contract["entities"]["cartpole"]["actuators"]
    assert (motor["gear"], motor["control_range"]) == (10.0, [-1.0, 1.0])


PLAIN = """
import sys
for name in ("torch", "mjlab", "rsl_rl", "mujoco"):
    sys.modules[name] = None  # Importing it raises.

import json, numpy, onnxruntime

session = onnxruntime.InferenceSession(sys.argv[1])
contract = json.loads(session.get_modelmeta().custom_metadata_map["contract"])
states = contract["states"]
memory = {s["name"]: numpy.full(s["shape"], s["initial"], s["dtype"]) for s in states}
outputs = [o["name"] for o in contract["outputs"]] + [s["next"] for s in states]
for line in sys.stdin:
    told = {name: numpy.float32(value) for name, value in json.loads(line).items()}
    found = dict(zip(outputs, session.run(outputs, told | memory)))
    memory = {s["name"]: found[s["next"]] for s in states}
    print(json.dumps({name: found[name].tolist() for name in outputs}))
"""


def test_twenty_lines_of_plain_python_run_it_without_torch_and_mjlab(written):
    exported, moments = written
    lines = [
        json.dumps({name: value[0].tolist() for name, value in moment.measured.items()})
        for moment in moments
    ]
    done = subprocess.run(
        [sys.executable, "-c", PLAIN, str(exported.path)],
        input="\n".join(lines),
        capture_output=True,
        text=True,
        cwd=exported.path.parent,
    )
    assert done.returncode == 0, done.stderr
    assert len(PLAIN.strip().splitlines()) <= 20
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert not any(moment.ends[0] for moment in moments)
    for answer, moment in zip(answers, moments, strict=True):
        assert np.abs(answer["action"] - moment.action[0]).max() < 1e-5
        told = moment.targets["joint_effort"][0, :1]
        assert np.abs(answer["force_target"] - told).max() < 1e-5


def test_our_own_reader_needs_no_torch_either(written):
    exported, _ = written
    code = (
        "import sys\n"
        "for name in ('torch', 'rsl_rl', 'mujoco', 'warp'): sys.modules[name] = None\n"
        "from mjlab.export import OnnxPolicy\n"
        "print(OnnxPolicy(sys.argv[1]).input_names)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(exported.path)],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert "'joint_pos', 'joint_vel'" in done.stdout, done.stderr


# --- Inputs ---------------------------------------------------------------------------


def told(file: OnnxPolicy) -> dict[str, np.ndarray]:
    return {e["name"]: np.zeros(e["shape"]) for e in file.contract["inputs"]}


def test_a_missing_input_is_named(written):
    file = OnnxPolicy(written[0].path)
    inputs = told(file)
    inputs["joint_velocity"] = inputs.pop("joint_vel")
    with pytest.raises(ContractError, match=r"joint_vel is missing from the read"):
        file(inputs)


def test_an_input_of_the_wrong_shape_is_named(written):
    file = OnnxPolicy(written[0].path)
    with pytest.raises(ValueError, match=r"joint_vel has the shape \(3,\): the po"):
        file(told(file) | {"joint_vel": np.zeros(3)})


def test_two_policies_have_separate_states_and_reset_clears_them(written):
    one = OnnxPolicy(written[0].path)
    other = one.another()
    first = one(told(one))["action"]
    second = one(told(one))["action"]
    assert not np.array_equal(first, second)
    assert np.array_equal(other(told(one))["action"], first)
    one.reset()
    assert np.array_equal(one(told(one))["action"], first)


def test_files_not_written_by_export_are_refused(tmp_path, written):
    path = tmp_path / "a.onnx"
    with pytest.raises(ExportError, match="does not exist"):
        OnnxPolicy(path)
    path.write_bytes(b"no onnx")
    with pytest.raises(ExportError, match="incomplete or not an ONNX file"):
        OnnxPolicy(path)
    model = onnx.load(written[0].path)
    onnx.helper.set_model_props(model, {})
    onnx.save(model, path)
    with pytest.raises(ExportError, match="it was not written by export"):
        OnnxPolicy(path)
    text = json.dumps({"format": 99, "checksum": NO_CHECKSUM})
    onnx.helper.set_model_props(model, {"contract": text})
    path.write_bytes(with_checksum(model.SerializeToString())[0])
    with pytest.raises(ExportError, match=r"has format 99, but .* supports 4: export"):
        OnnxPolicy(path)


# --- Unsupported policies and files ---------------------------------------------------


def test_export_fails_if_the_file_differs_from_the_network(tmp_path):
    actor = ForgetfulCfg(hidden_dims=(16, 8), distribution_cfg=GaussianCfg())
    with pytest.raises(ExportError, match="differ from the network's by"):
        write(tmp_path, cartpole(), agent_cfg(1, actor=actor))
    assert not (tmp_path / "policy.onnx").exists()


@pytest.mark.slow
def test_groups_of_the_same_joints_share_their_inputs(tmp_path):
    cfg = cartpole()
    velocity = CartpoleBalanceCfg().observations["actor"].terms["velocity"]
    angle = cfg.observations["actor"].terms["pole_angle"]
    cfg.observations["more"] = ObservationGroupCfg(
        terms={
            "pole_angle": replace(angle, scale=2.0),
            "velocity": replace(velocity, func=mdp.joint_pos),
        }
    )
    groups = {"actor": ("actor", "more"), "critic": ("critic",)}
    agent = agent_cfg(1, actor=perceptron(), obs_groups=groups)
    _, exported = write(tmp_path, cfg, agent)
    names = [entry["name"] for entry in exported.contract["inputs"]]
    assert names == ["joint_pos", "joint_vel"]
    terms = {t["term"]: t["depends_on"] for t in exported.contract["observations"]}
    assert terms["more/velocity"] == ["joint_pos"]


def test_a_task_that_does_not_measure_or_act_as_the_file_does_is_refused(written):
    contract = written[0].contract
    with pytest.raises(ExportError, match=r"0.05 s, but the task acts every 0.1 s"):
        driven_by(replace(cartpole(), decimation=10), contract)
    env = ManagerBasedRlEnv(driven_by(cartpole(), contract), device="cpu")
    file = OnnxPolicy(written[0].path)
    file.contract["inputs"][1]["shape"] = [1]
    with pytest.raises(ExportError, match=r"'joint_vel' with shape \(2,\).*\(1,\)"):
        FilePolicy(env, file)
    given = {"name": "scan", "observation": "actor/scan", "measured": {"kind": "given"}}
    with pytest.raises(UnknownNameError, match=r"'scan' .*'actor/scan', which the ta"):
        driven_by(cartpole(), contract | {"inputs": [given]})


def test_a_pose_is_three_metres_and_four_numbers_body_after_body():
    env = ManagerBasedRlEnv(CartpoleBalanceCfg())
    bodies = SceneEntityCfg("cartpole", body_names=("cart", "pole.*"))
    describe = known_measured(mdp.body_pose_local)
    said = describe(env, {"asset_cfg": bodies.resolve(env.scene)})
    count = len(said.elements) // 7
    assert count > 1 and said.unit == [*["m"] * 3, *["1"] * 4] * count
    assert said.elements[:4] == ["cart x", "cart y", "cart z", "cart quat_w"]
