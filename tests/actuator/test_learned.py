"""Learned actuators, and requirements of a captured step for all actuators."""

import re
import sys

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from mjlab.actuator import (
    ActuatorError,
    DcPdActuatorCfg,
    DelayCfg,
    IdealPdActuatorCfg,
    LearnedActuatorCfg,
    LearnedLstmActuatorCfg,
    MotorActuatorCfg,
    PdActuatorCfg,
    PositionActuatorCfg,
)
from tests.actuator.world import World, make_spec

ALL = (".*",)

# Users' networks are TorchScript, which torch has deprecated.
pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")


class Weighted(torch.nn.Module):
    """Network that returns the weighted sum of its inputs, for hand arithmetic."""

    def __init__(self, weights: list[float]) -> None:
        super().__init__()
        self.register_buffer("weights", torch.tensor(weights))

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return (inputs * self.weights).sum(dim=1, keepdim=True)


def save(module: torch.nn.Module, path) -> str:
    example = torch.zeros(2, 6)
    if isinstance(module, Weighted):
        example = torch.zeros(2, len(module.weights))
    torch.jit.trace(module, example).save(str(path))
    return str(path)


def perceptron() -> torch.nn.Module:
    torch.manual_seed(5)
    return torch.nn.Sequential(
        torch.nn.Linear(6, 32),
        torch.nn.Softsign(),
        torch.nn.Linear(32, 32),
        torch.nn.Tanh(),
        torch.nn.Linear(32, 1),
    )


def drive(world: World, positions: list[float], targets: list[float]) -> list[float]:
    """Return the elbow's effort in world 0 after each command."""
    position, velocity = world.joint_state()
    efforts = []
    for now, target in zip(positions, targets, strict=True):
        position.fill_(now)
        velocity.fill_(10.0 * now)
        world.targets.joint_pos.fill_(target)
        world.set.apply(world.targets)
        efforts.append(world.ctrl("elbow")[0].item())
    return efforts


@pytest.mark.parametrize(
    ("order", "weights"),
    [
        ("pos_vel", [1.0, 2.0, 0.25, 0.5]),
        ("vel_pos", [0.25, 0.5, 1.0, 2.0]),
    ],
)
def test_the_network_receives_errors_and_velocities_of_the_selected_steps(
    tmp_path, order, weights
):
    cfg = LearnedActuatorCfg(
        target_names_expr=("elbow",),
        network_file=save(Weighted(weights), tmp_path / "net.pt"),
        pos_scale=2.0,
        vel_scale=0.5,
        torque_scale=4.0,
        input_order=order,
        input_idx=(0, 2),
    )
    world = World(cfg)
    efforts = drive(world, [0.0, 0.5, -1.0, 0.25], [1.0, 1.0, 1.0, 1.0])
    # Errors times 2 are 2, 1, 4, 1.5, velocities times .5 are 0, 2.5, -5, 1.25. The
    # first values fill the history. Effort = 4 * (e0 + 2 e2 + v0 / 4 + v2 / 2).
    assert efforts == [
        4 * (2 + 2 * 2),
        4 * (1 + 2 * 2 + 2.5 / 4),
        4 * (4 + 2 * 2 - 5 / 4),
        4 * (1.5 + 2 * 1 + 1.25 / 4 + 2.5 / 2),
    ]


def test_learned_effort_is_limited_by_the_torque_speed_line(tmp_path):
    cfg = LearnedActuatorCfg(
        target_names_expr=("elbow",),
        network_file=save(Weighted([1000.0, 0.0]), tmp_path / "net.pt"),
        input_idx=(0,),
        saturation_effort=8.0,
        velocity_limit=20.0,
        effort_limit=6.0,
    )
    # Velocities are 0, 10 and 15: the torque-speed curve is at 8, 4 and 2.
    assert drive(World(cfg), [0.0, 1.0, 1.5], [9.0, 9.0, 9.0]) == [6.0, 4.0, 2.0]


def test_commanded_effort_is_added_to_the_learned_one_unscaled(tmp_path):
    for scale in (1.0, 4.0):
        cfg = LearnedActuatorCfg(
            target_names_expr=("elbow",),
            network_file=save(Weighted([1.0, 0.0]), tmp_path / "net.pt"),
            input_idx=(0,),
            pos_scale=3.0,
            torque_scale=scale,
        )
        world = World(cfg)
        world.targets.joint_effort.fill_(0.5)
        assert drive(world, [0.0], [2.0]) == [3.0 * 2.0 * scale + 0.5]


def test_each_target_of_each_world_is_a_separate_sample_of_the_network(tmp_path):
    network = perceptron()
    cfg = LearnedActuatorCfg(
        target_names_expr=ALL,
        network_file=save(network, tmp_path / "net.pt"),
        effort_limit={"shoulder": 0.1, "elbow": 100.0},
    )
    world = World(cfg, num_envs=5)
    world.place(np.random.default_rng(0))
    world.targets.joint_effort.zero_()
    world.set.apply(world.targets)
    position, velocity = world.joint_state()
    error = world.targets.joint_pos - position
    for env in range(5):
        for joint, name in enumerate(("shoulder", "elbow")):
            inputs = torch.stack([error[env, joint]] * 3 + [velocity[env, joint]] * 3)
            with torch.no_grad():
                expected = network(inputs[None]).item()
            if name == "shoulder":
                expected = min(max(expected, -0.1), 0.1)
            assert world.ctrl(name)[env].item() == pytest.approx(expected, abs=1e-6)


def test_configurations_of_one_network_are_evaluated_together(tmp_path):
    file = save(perceptron(), tmp_path / "net.pt")
    cfgs = [
        LearnedActuatorCfg(
            target_names_expr=("elbow",), network_file=file, effort_limit=1
        ),
        LearnedActuatorCfg(target_names_expr=("shoulder",), network_file=file),
    ]
    world, one = World(*cfgs), World(cfgs[1], cfgs[0])
    assert len(world.set._groups) == 1
    assert world.set.effort_limit.tolist() == [[1.0, float("inf")]] * 2
    for each in (world, one):
        each.place(np.random.default_rng(0))
        each.set.apply(each.targets)
    assert torch.equal(world.ctrl("elbow"), one.ctrl("elbow"))


def test_reset_clears_the_history_of_its_worlds_only(tmp_path):
    cfg = LearnedActuatorCfg(
        target_names_expr=("elbow",),
        network_file=save(Weighted([1.0, 1.0, 0.0, 0.0]), tmp_path / "net.pt"),
        input_idx=(0, 1),
    )
    world = World(cfg, num_envs=3)
    drive(world, [0.0, 0.0], [1.0, 2.0])
    world.set.reset(torch.tensor([False, True, False]))
    drive(world, [0.0], [5.0])
    assert world.ctrl("elbow").tolist() == [7.0, 10.0, 7.0]


# Networks with memory.


class Recurrent(torch.nn.Module):
    """Network of two LSTM layers and a linear output, as Isaac Lab's networks."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = torch.nn.LSTM(2, 8, num_layers=2, batch_first=True)
        self.head = torch.nn.Linear(8, 1)

    def forward(
        self, inputs: torch.Tensor, memory: tuple[torch.Tensor, torch.Tensor]
    ) -> tuple[torch.Tensor, tuple[torch.Tensor, torch.Tensor]]:
        output, memory = self.lstm(inputs, memory)
        return self.head(output[:, -1]), memory


def recurrent(tmp_path) -> tuple[Recurrent, str]:
    torch.manual_seed(3)
    network, path = Recurrent(), tmp_path / "lstm.pt"
    torch.jit.script(network).save(str(path))
    return network, str(path)


def lstm_by_hand(network: Recurrent, samples: np.ndarray) -> list[float]:
    """Outputs for a sequence of inputs, shape (steps, 2), by the equations."""
    weights = {k: v.double().numpy() for k, v in network.state_dict().items()}
    sigmoid = lambda x: 1.0 / (1.0 + np.exp(-x))  # noqa: E731
    hidden, cells = np.zeros((2, 8)), np.zeros((2, 8))
    outputs = []
    for sample in samples:
        value = sample
        for layer in range(2):
            w_in, w_past, b_in, b_past = (
                weights[f"lstm.{name}_l{layer}"]
                for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
            )
            gates = w_in @ value + b_in + w_past @ hidden[layer] + b_past
            enter, forget, new, leave = gates.reshape(4, 8)
            cells[layer] *= sigmoid(forget)
            cells[layer] += sigmoid(enter) * np.tanh(new)
            value = hidden[layer] = sigmoid(leave) * np.tanh(cells[layer])
        outputs.append(
            float(weights["head.weight"][0] @ value + weights["head.bias"][0])
        )
    return outputs


def test_lstm_motor_follows_the_equations_and_reset_clears_its_state(tmp_path):
    network, file = recurrent(tmp_path)
    cfg = LearnedLstmActuatorCfg(
        target_names_expr=ALL,
        network_file=file,
        pos_scale=2.0,
        vel_scale=0.5,
        torque_scale=3.0,
        effort_limit={"elbow": 0.2, "shoulder": 100.0},
    )
    world = World(cfg, num_envs=3)
    samples, efforts = [], []
    for step in range(8):
        if step == 5:
            world.set.reset(torch.tensor([False, True, False]))
        world.place(np.random.default_rng(step))
        world.targets.joint_effort.zero_()
        world.set.apply(world.targets)
        position, velocity = world.joint_state()
        error = 2.0 * (world.targets.joint_pos - position)
        samples.append(torch.stack((error, 0.5 * velocity), dim=2).double().numpy())
        efforts.append([world.ctrl(name).tolist() for name in ("shoulder", "elbow")])
    for env in range(3):
        start = 5 if env == 1 else 0
        for joint in range(2):
            inputs = np.array([sample[env, joint] for sample in samples[start:]])
            expected = 3.0 * np.array(lstm_by_hand(network, inputs))
            if joint == 1:
                expected = expected.clip(-0.2, 0.2)
            found = [effort[joint][env] for effort in efforts[start:]]
            np.testing.assert_allclose(found, expected, atol=1e-5)


def test_network_without_lstm_is_named(tmp_path):
    file = save(perceptron(), tmp_path / "net.pt")
    cfg = LearnedLstmActuatorCfg(target_names_expr=ALL, network_file=file)
    with pytest.raises(ActuatorError, match=r"contains no LSTM; use LearnedActuator"):
        World(cfg)
    _, file = recurrent(tmp_path)
    cfg = LearnedLstmActuatorCfg(
        target_names_expr=ALL, network_file=file, input_idx=(0, 1)
    )
    with pytest.raises(ActuatorError, match=r"input_idx is \(0, 1\); it has to be"):
        World(cfg)


def test_onnx_network_equals_the_torchscript_one(tmp_path):
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    network = perceptron()
    script = save(network, tmp_path / "net.pt")
    file = tmp_path / "net.onnx"
    onnx.save(_as_onnx(onnx, network), str(file))
    worlds = []
    for path in (script, file):
        cfg = LearnedActuatorCfg(target_names_expr=ALL, network_file=path)
        world = World(cfg, num_envs=4)
        for seed in range(4):
            world.place(np.random.default_rng(seed))
            world.set.apply(world.targets)
        worlds.append(world)
    ctrl, other = (world.sim.data.ctrl for world in worlds)
    assert ctrl.abs().max() > 0.1
    torch.testing.assert_close(ctrl, other, rtol=0, atol=1e-6)


def _as_onnx(onnx, network):
    """Write the perceptron as ONNX, without torch's exporter."""
    helper, floats = onnx.helper, onnx.TensorProto.FLOAT
    nodes, weights, last = [], [], "inputs"
    for index, layer in enumerate(network):
        out = f"out{index}"
        if isinstance(layer, torch.nn.Linear):
            pairs = {"w": layer.weight.detach().T, "b": layer.bias.detach()}
            names = [last]
            for key, value in pairs.items():
                array = np.ascontiguousarray(value.numpy())
                names.append(f"{key}{index}")
                weights.append(onnx.numpy_helper.from_array(array, names[-1]))
            nodes.append(helper.make_node("Gemm", names, [out]))
        else:
            kind = "Softsign" if isinstance(layer, torch.nn.Softsign) else "Tanh"
            nodes.append(helper.make_node(kind, [last], [out]))
        last = out
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info("inputs", floats, ["rows", 6])],
        [helper.make_tensor_value_info(last, floats, ["rows", 1])],
        weights,
    )
    opset = [helper.make_opsetid("", 17)]
    return helper.make_model(graph, opset_imports=opset, ir_version=8)


# --- Bad input --------------------------------------------------------------------


def test_missing_network_is_named_before_the_model_is_compiled(tmp_path):
    cfg = LearnedActuatorCfg(target_names_expr=ALL, network_file=tmp_path / "none.pt")
    with pytest.raises(ActuatorError, match=re.escape("there is no network file")):
        cfg.add_to_spec(make_spec(), ["elbow"])


def test_incomplete_torque_speed_line_is_named(tmp_path):
    cfg = LearnedActuatorCfg(
        target_names_expr=ALL,
        network_file=save(Weighted([1.0, 0.0]), tmp_path / "net.pt"),
        saturation_effort=3.0,
    )
    with pytest.raises(ActuatorError, match="velocity_limit=None; set both"):
        cfg.add_to_spec(make_spec(), ["elbow"])


def test_file_without_a_network_is_named(tmp_path):
    file = tmp_path / "net.pt"
    file.write_text("weights")
    with pytest.raises(ActuatorError, match=r"net.pt' is not a TorchScript file"):
        World(LearnedActuatorCfg(target_names_expr=ALL, network_file=file))


def test_network_with_wrong_inputs_is_named(tmp_path):
    file = save(perceptron(), tmp_path / "net.pt")
    cfg = LearnedActuatorCfg(target_names_expr=ALL, network_file=file, input_idx=(0, 1))
    with pytest.raises(ActuatorError, match="does not take 4 inputs"):
        World(cfg)


def test_network_with_wrong_outputs_is_named(tmp_path):
    file = save(torch.nn.Linear(6, 2), tmp_path / "net.pt")
    with pytest.raises(ActuatorError, match="it has to give one float32 number"):
        World(LearnedActuatorCfg(target_names_expr=ALL, network_file=file))


def test_missing_onnxruntime_is_named_with_its_pip_line(tmp_path, monkeypatch):
    file = tmp_path / "net.onnx"
    file.write_bytes(b"")
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(ActuatorError, match=r'pip install "mjlab-fused\[export\]"'):
        World(LearnedActuatorCfg(target_names_expr=ALL, network_file=file))


# --- Requirements of a captured graph ----------------------------------------------

HOST_READS = ("_local_scalar_dense", "nonzero", "masked_select", "is_nonzero", "equal")


class Watch(TorchDispatchMode):
    """Raises on operations that synchronise with the host."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        name = func.__name__.split(".")[0]
        assert name not in HOST_READS, name
        if name in ("index", "index_put_"):
            indices = args[1]
            assert not any(i is not None and i.dtype == torch.bool for i in indices)
        return func(*args, **(kwargs or {}))


def every_kind(tmp_path, num_envs: int) -> World:
    servo = {"stiffness": 3.0, "damping": 0.2, "share_targets": True}
    lagged = DelayCfg(min_lag=0, max_lag=3, update_period=2, hold_prob=0.5)
    file = save(perceptron(), tmp_path / "net.pt")
    _, lstm = recurrent(tmp_path)
    return World(
        PositionActuatorCfg(target_names_expr=ALL, effort_limit=9.0, **servo),
        PdActuatorCfg(target_names_expr=("elbow",), delay=lagged, **servo),
        MotorActuatorCfg(
            target_names_expr=ALL, transmission="site", share_targets=True
        ),
        IdealPdActuatorCfg(target_names_expr=ALL, delay=lagged, **servo),
        IdealPdActuatorCfg(target_names_expr=ALL, transmission="tendon", **servo),
        DcPdActuatorCfg(
            target_names_expr=ALL, saturation_effort=5.0, velocity_limit=10.0, **servo
        ),
        LearnedActuatorCfg(
            target_names_expr=ALL, network_file=file, share_targets=True
        ),
        LearnedLstmActuatorCfg(
            target_names_expr=ALL, network_file=lstm, share_targets=True
        ),
        num_envs=num_envs,
        vary=("actuator_gainprm", "actuator_biasprm", "actuator_forcerange"),
    )


def test_no_host_synchronisation_and_no_tensor_is_replaced(tmp_path):
    world = every_kind(tmp_path, 3)
    mask = torch.tensor([True, False, True])
    ids = torch.tensor([0, 3, 5])
    state = world.set.state()
    addresses = {name: value.data_ptr() for name, value in state.items()}
    with Watch():
        for _ in range(4):
            world.set.apply(world.targets)
            world.set.reset(mask)
            world.set.set_gains(mask, ids, kp=4.0, kd=torch.ones(3, 1))
            world.set.set_effort_limit(mask, None, 2.0)
    after = {name: value.data_ptr() for name, value in world.set.state().items()}
    assert addresses == after


@pytest.mark.parametrize("num_envs", [1, 3, 17])
def test_world_does_not_depend_on_the_number_of_worlds(tmp_path, num_envs):
    many, few = every_kind(tmp_path, 40), every_kind(tmp_path, num_envs)
    random = np.random.default_rng(0)
    for _ in range(12):
        many.place(random)
        for mine, theirs in zip(
            (*few.joint_state(), *vars(few.targets).values()),
            (*many.joint_state(), *vars(many.targets).values()),
            strict=True,
        ):
            mine.copy_(theirs[:num_envs])
        for world in (many, few):
            world.sim.forward()
            world.set.apply(world.targets)
        assert torch.equal(few.sim.data.ctrl, many.sim.data.ctrl[:num_envs])
