"""Actuator networks, trained on measurements of a real actuator."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import Any, Literal

import torch

from mjlab.actuator.explicit import (
    Clip,
    Commands,
    ControlLaw,
    EffortClip,
    ExplicitActuatorCfg,
    LawNumbers,
    torque_speed_clip,
)
from mjlab.actuator.place import ActuatorError
from mjlab.extras import missing
from mjlab.tensors.buffers import HistoryBuffer
from mjlab.tensors.masks import fill_where

Network = Callable[[torch.Tensor], torch.Tensor]
"""Function that maps inputs, shape (rows, num_inputs), to outputs, shape (rows, 1)."""

_ROWS_MULTIPLE = 16
"""The number of rows is padded to a multiple of this number. Otherwise the last bits of
a world's effort would depend on the number of worlds: torch's vectorised loops process
the remainder of a tensor with other instructions, and torch uses another routine for a
matrix product with one row."""

_WARM_UP_RUNS = 3
"""Number of warm-up runs. TorchScript specialises and compiles a network in its first
runs, so these must come before the capture of a CUDA graph."""


class LearnedActuatorCfg(ExplicitActuatorCfg):
    """Actuator network that maps recent position errors and velocities to the effort.

    All targets share one network, which is evaluated for each target separately. Its
    inputs are, for each entry of `input_idx`, the position error (target minus
    position) times `pos_scale` and the velocity times `vel_scale`. The effort is the
    output times `torque_scale`, plus the commanded effort, clipped to ±effort_limit or
    to the torque-speed curve. After a reset, the history is filled with the first
    values.
    """

    network_file: str | Path
    """Network file: TorchScript, or ONNX (`.onnx`). ONNX networks are evaluated by
    onnxruntime on the CPU, and are not supported for worlds on a GPU."""

    pos_scale: float = 1.0
    """Factor by which position errors (rad or m) are multiplied."""

    vel_scale: float = 1.0
    """Factor by which velocities (rad/s or m/s) are multiplied."""

    torque_scale: float = 1.0
    """Factor that converts the network's output to an effort, in N m or N."""

    input_order: Literal["pos_vel", "vel_pos"] = "pos_vel"
    """Order of the position errors and the velocities."""

    input_idx: tuple[int, ...] = (0, 1, 2)
    """Ages of the inputs in physics steps, in input order; 0 is the current step."""

    effort_limit: float | dict[str, float] | None = None
    """Maximum torque or force, in N m or N. None uses `saturation_effort`; if that is
    also None, the effort is unlimited."""

    saturation_effort: float | dict[str, float] | None = None
    """Stall effort, in N m or N; enables the torque-speed curve of `DcPdActuatorCfg`.
    None disables it."""

    velocity_limit: float | dict[str, float] | None = None
    """No-load speed of the torque-speed curve, in rad/s or m/s."""

    number_fields = ("effort_limit", "saturation_effort", "velocity_limit")

    def check(self, targets: Sequence[str]) -> None:
        """Raise if a value is invalid or the network file is missing."""
        if not Path(self.network_file).is_file():
            raise ActuatorError(
                f"{self.kind} of {self.target_names_expr}: there is no network file "
                f"{str(self.network_file)!r}."
            )
        if self.input_order not in ("pos_vel", "vel_pos"):
            raise ActuatorError(
                f"{self.kind}.input_order is {self.input_order!r}; it has to be "
                "'pos_vel' or 'vel_pos'."
            )
        if not self.input_idx or min(self.input_idx) < 0:
            raise ActuatorError(
                f"{self.kind}.input_idx is {self.input_idx}; each entry is a lag in "
                "physics steps and has to be 0 or more."
            )
        if (self.saturation_effort is None) != (self.velocity_limit is None):
            raise ActuatorError(
                f"{self.kind} has saturation_effort={self.saturation_effort} and "
                f"velocity_limit={self.velocity_limit}; set both or neither."
            )
        super().check(targets)

    def law_key(self) -> Hashable:
        """Return a key that is equal for configurations that share one network."""
        return (
            str(Path(self.network_file).resolve()),
            self.pos_scale,
            self.vel_scale,
            self.torque_scale,
            self.input_order,
            self.input_idx,
            self.saturation_effort is None,
        )

    def build_law(self, numbers: LawNumbers) -> ControlLaw:
        return LearnedLaw(self, _clip_of(self, numbers))


class LearnedLstmActuatorCfg(LearnedActuatorCfg):
    """Recurrent actuator network (LSTM), as in Isaac Lab's `ActuatorNetLSTMCfg`.

    The network is TorchScript with one LSTM. It maps inputs of shape (rows, 1, 2), the
    current position error and velocity, and the hidden state (h, c), each of shape
    (layers, rows, hidden), to one output per row and the next hidden state. The hidden
    state is zero after a reset.
    """

    input_idx: tuple[int, ...] = (0,)
    """Must be (0,), the current step: the hidden state stores the past."""

    def check(self, targets: Sequence[str]) -> None:
        """Raise if a value is invalid or the network file is missing."""
        super().check(targets)
        if self.input_idx != (0,):
            raise ActuatorError(
                f"{self.kind}.input_idx is {self.input_idx}; it has to be (0,), "
                "because the hidden state stores the past."
            )

    def build_law(self, numbers: LawNumbers) -> ControlLaw:
        return LearnedLstmLaw(self, _clip_of(self, numbers))


class LearnedLaw:
    """Control law that evaluates a network for all targets of all worlds."""

    def __init__(self, cfg: LearnedActuatorCfg, clip: Clip) -> None:
        """Load the network and run it for warm-up.

        Args:
            cfg: The network and its inputs.
            clip: Clip of the efforts, which determines their shape and device.
        """
        self.stiffness: torch.Tensor | None = None
        self.damping: torch.Tensor | None = None
        self.effort_limit = clip.effort_limit
        self._clip = clip
        num_envs, count = clip.effort_limit.shape
        device = clip.effort_limit.device
        self._shape = (num_envs, count)
        self._scales = (cfg.pos_scale, cfg.vel_scale, cfg.torque_scale)
        self._velocity_first = cfg.input_order == "vel_pos"
        length = max(cfg.input_idx) + 1
        self._history = HistoryBuffer(num_envs, (2, count), length, device)
        self._ages = torch.tensor(cfg.input_idx, device=device)
        rows = num_envs * count
        padded = rows + -rows % _ROWS_MULTIPLE
        self._inputs = torch.zeros(padded, 2 * len(cfg.input_idx), device=device)
        shape = (num_envs, count, 2, len(cfg.input_idx))
        self._filled = self._inputs[:rows].view(shape)
        self._network = _load(cfg, device)
        self._try_out(cfg)

    def compute(
        self, commands: Commands, position: torch.Tensor, velocity: torch.Tensor
    ) -> torch.Tensor:
        """Compute the efforts, shape (num_envs, n)."""
        pos_scale, vel_scale, torque_scale = self._scales
        sample = [(commands.position - position) * pos_scale, velocity * vel_scale]
        if self._velocity_first:
            sample.reverse()
        self._history.append(torch.stack(sample, dim=1))
        # From (num_envs, age, 2, n) to one row for each target of each world.
        recent = self._history.values.index_select(1, self._ages)
        self._filled.copy_(recent.permute(0, 3, 2, 1))
        with torch.no_grad():
            output = self._network(self._inputs)
        rows = self._shape[0] * self._shape[1]
        effort = output[:rows].view(self._shape) * torque_scale + commands.effort
        return self._clip.clip(effort, velocity)

    def reset(self, mask: torch.Tensor) -> None:
        """Reset the internal state of the worlds in `mask`, shape (num_envs,), bool."""
        self._history.reset(mask)

    def state(self) -> dict[str, torch.Tensor]:
        """Return the live state tensors, for snapshots."""
        return {**self._history.state(), "effort_limit": self.effort_limit}

    def _try_out(self, cfg: LearnedActuatorCfg) -> None:
        rows, inputs = self._inputs.shape
        try:
            with torch.no_grad():
                outputs = [self._network(self._inputs) for _ in range(_WARM_UP_RUNS)]
        except Exception as error:
            raise ActuatorError(
                f"The network {str(cfg.network_file)!r} does not take {inputs} inputs, "
                f"two for each entry of input_idx={cfg.input_idx}: {error}"
            ) from error
        output = outputs[-1]
        if output.shape != (rows, 1) or output.dtype != torch.float32:
            raise ActuatorError(
                f"The network {str(cfg.network_file)!r} maps {rows} rows of inputs to "
                f"{output.dtype} of shape {tuple(output.shape)}; it has to give one "
                f"float32 number for each row, shape ({rows}, 1)."
            )


class LearnedLstmLaw:
    """Control law that evaluates an LSTM for all targets of all worlds."""

    def __init__(self, cfg: LearnedLstmActuatorCfg, clip: Clip) -> None:
        """Load the network and run it for warm-up.

        Args:
            cfg: The network and its inputs.
            clip: Clip of the efforts, which determines their shape and device.
        """
        self.stiffness: torch.Tensor | None = None
        self.damping: torch.Tensor | None = None
        self.effort_limit = clip.effort_limit
        self._clip = clip
        num_envs, count = clip.effort_limit.shape
        device = clip.effort_limit.device
        self._scales = (cfg.pos_scale, cfg.vel_scale, cfg.torque_scale)
        self._velocity_first = cfg.input_order == "vel_pos"
        self._network = _load_script(cfg, Path(cfg.network_file), device)
        layers, hidden = _lstm_size(cfg, self._network)
        rows = num_envs * count
        padded = rows + -rows % _ROWS_MULTIPLE
        self._inputs = torch.zeros(padded, 1, 2, device=device)
        self._filled = self._inputs[:rows].view(num_envs, count, 2)
        self._hidden = torch.zeros(num_envs, count, 2, layers, hidden, device=device)
        """Hidden state h and cell state c of each target."""
        # Copy of the hidden state in the layout of the network, padded like the inputs.
        self._padded = torch.zeros(2, layers, padded, hidden, device=device)
        self._rows = self._padded[:, :, :rows].unflatten(2, (num_envs, count))
        self._try_out(cfg)

    def compute(
        self, commands: Commands, position: torch.Tensor, velocity: torch.Tensor
    ) -> torch.Tensor:
        """Compute the efforts, shape (num_envs, n)."""
        pos_scale, vel_scale, torque_scale = self._scales
        sample = [(commands.position - position) * pos_scale, velocity * vel_scale]
        if self._velocity_first:
            sample.reverse()
        torch.stack(sample, dim=2, out=self._filled)
        # Convert the hidden state to one row per target and world, and back below.
        self._rows.copy_(self._hidden.permute(2, 3, 0, 1, 4))
        with torch.no_grad():
            output, hidden = self._network(self._inputs, tuple(self._padded.unbind()))
        num_envs, count = position.shape
        rows = num_envs * count
        latest = torch.stack(hidden)[:, :, :rows].unflatten(2, (num_envs, count))
        self._hidden.copy_(latest.permute(2, 3, 0, 1, 4))
        effort = output.reshape(-1)[:rows].view(num_envs, count) * torque_scale
        return self._clip.clip(effort + commands.effort, velocity)

    def reset(self, mask: torch.Tensor) -> None:
        """Reset the hidden state of the worlds in `mask`, shape (num_envs,), bool."""
        fill_where(self._hidden, mask, 0.0)

    def state(self) -> dict[str, torch.Tensor]:
        """Return the live state tensors, for snapshots."""
        return {"hidden": self._hidden, "effort_limit": self.effort_limit}

    def _try_out(self, cfg: LearnedLstmActuatorCfg) -> None:
        rows = self._inputs.shape[0]
        hidden = tuple(self._padded.unbind())
        try:
            with torch.no_grad():
                tried = [
                    self._network(self._inputs, hidden) for _ in range(_WARM_UP_RUNS)
                ]
            output, latest = tried[-1]
            shapes = [tuple(tensor.shape) for tensor in latest]
        except Exception as error:
            raise ActuatorError(
                f"The network {str(cfg.network_file)!r} does not map inputs of shape "
                f"({rows}, 1, 2) and a hidden state (h, c) to an output and the next "
                f"hidden state: {error}"
            ) from error
        if output.numel() != rows or shapes != [tuple(hidden[0].shape)] * 2:
            raise ActuatorError(
                f"The network {str(cfg.network_file)!r} returns an output of shape "
                f"{tuple(output.shape)} and hidden states of shapes {shapes}; it has "
                f"to return {rows} numbers, and two hidden states of shape "
                f"{tuple(hidden[0].shape)}."
            )


def _clip_of(cfg: LearnedActuatorCfg, numbers: LawNumbers) -> Clip:
    if cfg.saturation_effort is None:
        return EffortClip(numbers.of("effort_limit"))
    return torque_speed_clip(numbers)


def _lstm_size(cfg: LearnedActuatorCfg, network: Any) -> tuple[int, int]:
    """Return the number of layers and of hidden units of a network's LSTM."""
    weights = {
        name.rpartition(".")[2]: tuple(weight.shape)
        for name, weight in network.named_parameters()
    }
    layers = [shape for name, shape in weights.items() if "weight_hh_l" in name]
    if not layers or layers[0][0] != 4 * layers[0][1]:
        raise ActuatorError(
            f"{cfg.kind}: the network {str(cfg.network_file)!r} contains no LSTM; use "
            "LearnedActuatorCfg for feed-forward networks."
        )
    return len(layers), layers[0][1]


def _load(cfg: LearnedActuatorCfg, device: torch.device) -> Network:
    path = Path(cfg.network_file)
    if path.suffix.lower() == ".onnx":
        return _load_onnx(cfg, path, device)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return torch.jit.freeze(_load_script(cfg, path, device))


def _load_script(cfg: LearnedActuatorCfg, path: Path, device: torch.device) -> Any:
    try:
        with warnings.catch_warnings():
            # Actuator networks are published as TorchScript, which torch deprecates.
            warnings.simplefilter("ignore", DeprecationWarning)
            return torch.jit.load(str(path), map_location=device).eval()
    except Exception as error:
        raise ActuatorError(
            f"{cfg.kind}: {str(path)!r} is not a TorchScript file: {error}"
        ) from error


def _load_onnx(cfg: LearnedActuatorCfg, path: Path, device: torch.device) -> Network:
    if device.type != "cpu":
        raise ActuatorError(
            f"{cfg.kind}: the ONNX network {str(path)!r} would be evaluated on the "
            f"CPU, but the worlds are on {str(device)!r}. Convert it to TorchScript."
        )
    try:
        import onnxruntime
    except ImportError as error:
        raise ActuatorError(
            missing(
                f"{cfg.kind}: the ONNX network {str(path)!r}", "onnxruntime", "export"
            )
        ) from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    try:
        session: Any = onnxruntime.InferenceSession(
            str(path), options, providers=["CPUExecutionProvider"]
        )
    except Exception as error:
        raise ActuatorError(
            f"{cfg.kind}: {str(path)!r} is not an ONNX network: {error}"
        ) from error
    name = session.get_inputs()[0].name

    def evaluate(inputs: torch.Tensor) -> torch.Tensor:
        return torch.from_numpy(session.run(None, {name: inputs.numpy()})[0])

    return evaluate
