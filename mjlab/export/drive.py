"""Environments driven by a policy file, as a robot would be.

The environment measures the inputs of the file and applies its outputs. The task's own
clipping, scales, histories, defaults and offsets are not used: the file contains them.
"""

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from mjlab import mdp
from mjlab.actuator import IdealPdActuatorCfg, PositionActuatorCfg
from mjlab.envs import ManagerBasedRlEnv, ManagerBasedRlEnvCfg
from mjlab.export.clips import clips_of
from mjlab.export.leaves import input_term
from mjlab.export.muscles import reading
from mjlab.export.reader import FOREIGN, ExportError, OnnxPolicy
from mjlab.export.runner.policy import FileGraph
from mjlab.export.targets import ACTION
from mjlab.managers import (
    ActionTerm,
    ActionTermCfg,
    ObservationGroupCfg,
    ObservationTermCfg,
)
from mjlab.managers.action import ActionTarget
from mjlab.managers.env import Env
from mjlab.managers.observation_config import resolve_delay
from mjlab.motion import MotionCommandCfg, save_motion
from mjlab.muscle.action import MuscleAction, MuscleActionCfg
from mjlab.names import UnknownNameError, find_name, suggest
from mjlab.spec import load_spec
from mjlab.tensors.columns import Columns

GROUP = "onnx"
"""Name of the observation group that measures the inputs of a file."""


def driven_by(
    cfg: ManagerBasedRlEnvCfg, contract: Mapping[str, Any]
) -> ManagerBasedRlEnvCfg:
    """Return a task's configuration with the inputs and actions of a policy file."""
    step = cfg.decimation * cfg.sim.mujoco.timestep
    if abs(step - contract["rates"]["control_dt"]) > 1e-9:
        raise ExportError(
            f"The file acts every {contract['rates']['control_dt']} s, but the task "
            f"acts every {step} s (decimation times sim.mujoco.timestep). Set these "
            "fields so that both periods are equal."
        )
    if "motion" in contract:
        _check_terms(cfg, contract)
    if contract["network"].get("class_name") == FOREIGN:
        cfg = with_gains(cfg, contract)
    return dataclasses.replace(
        cfg,
        observations={GROUP: input_group(cfg, contract)},
        actions={term["name"]: _command_cfg(term, cfg) for term in contract["actions"]},
    )


def with_gains(
    cfg: ManagerBasedRlEnvCfg, contract: Mapping[str, Any]
) -> ManagerBasedRlEnvCfg:
    """Return the task's configuration with the actuator gains of a foreign contract."""
    name = contract["robot"]
    robot = cfg.scene.entities[name]
    if robot.articulation is None:
        raise ExportError(
            f"The task's entity {name!r} has no actuators, but the file has gains for "
            "its joints."
        )
    known = {each["target"]: each for each in contract["entities"][name]["actuators"]}
    spec, actuators = load_spec(robot.source), []
    for actuator in robot.articulation.actuators:
        targets = actuator.find_targets(spec, name)
        absent = [target for target in targets if target not in known]
        if absent or not isinstance(actuator, _WITH_GAINS):
            raise ExportError(
                f"The file's gains cannot be set on the {type(actuator).__name__} of "
                f"{(absent or targets)[0]!r}: use IdealPdActuatorCfg or "
                "PositionActuatorCfg, for joints that the file lists."
            )
        gains = {
            key: {target: known[target][key] for target in targets}
            for key in ("stiffness", "damping")
        }
        actuators.append(dataclasses.replace(actuator, **gains))
    articulation = dataclasses.replace(robot.articulation, actuators=tuple(actuators))
    changed = dataclasses.replace(robot, articulation=articulation)
    entities = {**cfg.scene.entities, name: changed}
    return dataclasses.replace(
        cfg, scene=dataclasses.replace(cfg.scene, entities=entities)
    )


_WITH_GAINS = (IdealPdActuatorCfg, PositionActuatorCfg)
"""Actuators whose gains can be replaced."""


def input_group(
    cfg: ManagerBasedRlEnvCfg, contract: Mapping[str, Any]
) -> ObservationGroupCfg:
    """Return an observation group with the inputs of an exported policy.

    The inputs get the noise and delay that the task adds to its observations: the noise
    of the first observation term that is computed from this input only, and the delay
    of the terms that are computed from the input, if all have the same delay.
    """
    terms: dict[str, ObservationTermCfg | None] = {}
    corrupted = False
    for entry in contract["inputs"]:
        whole = entry["observation"] is not None
        plain = input_term(entry, _measured_cfg(cfg, entry) if whole else None)
        readers = [
            (each, _term_cfg(cfg, each["term"]))
            for each in contract["observations"]
            if entry["name"] in each["depends_on"]
        ]
        known = [options for _, options in readers if options is not None]
        alone = [
            options
            for each, options in readers
            if options is not None and _inputs_of(each) == [entry["name"]]
        ]
        noise = alone[0].noise if alone else None
        delays = [resolve_delay(options, "An observation term") for options in known]
        delay = delays[0] if delays and delays.count(delays[0]) == len(delays) else None
        late = {"delay": delay, "delay_min_lag": 0, "delay_max_lag": 0}
        terms[entry["name"]] = dataclasses.replace(plain, noise=noise, **late)
        for each, _ in readers:
            holder = cfg.observations.get(each["term"].partition("/")[0])
            corrupted |= holder is not None and holder.enable_corruption
    return ObservationGroupCfg(
        terms=terms, concatenate_terms=False, enable_corruption=corrupted
    )


def _inputs_of(observation: Mapping[str, Any]) -> list[str]:
    """Return the inputs that an observation depends on, without its states."""
    used = observation["depends_on"]
    return [name for name in used if not name.startswith("state_")]


def _term_cfg(cfg: ManagerBasedRlEnvCfg, place: str) -> ObservationTermCfg | None:
    """Return the observation term "group/term" of a task, if it exists."""
    group, _, term = place.partition("/")
    holder = cfg.observations.get(group)
    return None if holder is None else holder.terms.get(term)


def _measured_cfg(
    cfg: ManagerBasedRlEnvCfg, entry: Mapping[str, Any]
) -> ObservationTermCfg:
    """Return the observation term whose value is an input of the file."""
    place: str = entry["observation"]
    options = _term_cfg(cfg, place)
    if options is None:
        group, _, term = place.partition("/")
        holder = cfg.observations.get(group)
        there = {} if holder is None else holder.terms
        valid = [key for key, value in there.items() if value is not None]
        raise UnknownNameError(
            f"The file's input {entry['name']!r} is measured by the observation term "
            f"{place!r}, which the task does not have. {suggest(term, valid)}"
        )
    return options


def with_clips(
    cfg: ManagerBasedRlEnvCfg, policy: OnnxPolicy, folder: Path
) -> ManagerBasedRlEnvCfg:
    """Save the file's clips in a folder; return a configuration that tracks them."""
    clips = tuple(
        save_motion(clip, folder / f"{clip.name}.npz") for clip in clips_of(policy)
    )
    commands = {
        name: dataclasses.replace(command, clips=clips, weights={})
        if isinstance(command, MotionCommandCfg)
        else command
        for name, command in cfg.commands.items()
    }
    return dataclasses.replace(cfg, commands=commands)


def _check_terms(cfg: ManagerBasedRlEnvCfg, contract: Mapping[str, Any]) -> None:
    """Raise unless file and task observe exactly the same terms.

    Two motion policies, for example with and without state estimation, can differ in
    observations only.
    """
    seen = [entry["term"] for entry in contract["observations"]]
    groups = dict.fromkeys(place.partition("/")[0] for place in seen)
    there = [
        f"{name}/{term}"
        for name in groups
        if (group := cfg.observations.get(name)) is not None
        for term, options in group.terms.items()
        if options is not None
    ]
    for place in seen:
        if place not in there:
            raise ExportError(
                f"The file's policy observes {place!r}, which this task does not "
                "observe. The file was trained in another task."
            )
    for place in there:
        if place not in seen:
            raise ExportError(
                f"This task observes {place!r}, which the file's policy does not "
                "observe. The file was trained in another task."
            )


class FilePolicy:
    """Run a policy file in an environment of `driven_by`, with one state per world."""

    def __init__(self, env: ManagerBasedRlEnv, policy: OnnxPolicy) -> None:
        """Check the shapes of the measured inputs, and create a policy per world."""
        shapes = {
            slot.name: list(slot.shape)
            for slot in env.observation_manager.groups[GROUP].slots
        }
        for entry in policy.contract["inputs"]:
            if shapes[entry["name"]] != entry["shape"]:
                raise ExportError(
                    f"The task measures {entry['name']!r} with shape "
                    f"{tuple(shapes[entry['name']])}, but the file expects "
                    f"{tuple(entry['shape'])}."
                )
            _check_joints(env, entry)
        self._policies = [policy.another() for _ in range(env.num_envs)]
        output = env.observation_manager.output[GROUP]
        assert isinstance(output, dict), "This group is not concatenated."
        self._measured = output
        kinds = (ExternalCommand, ExternalReach, ExternalMuscles)
        terms = env.action_manager.terms.values()
        for term in terms:
            if isinstance(term, ExternalMuscles):
                term.controllers = [p.controllers[term.name] for p in self._policies]
        self._terms = {f"{t.name}_target": t for t in terms if isinstance(t, kinds)}
        self._device = env.device

    def __call__(self, observations: Any) -> torch.Tensor:
        """Set the robots' targets; return the raw actions, which rewards can use.

        `observations` is not used: the environment measures the inputs of the file.
        """
        measured = {name: value.cpu().numpy() for name, value in self._measured.items()}
        answers = [
            policy({name: values[world] for name, values in measured.items()})
            for world, policy in enumerate(self._policies)
        ]

        def gathered(output: str) -> torch.Tensor:
            rows = [torch.from_numpy(answer[output]) for answer in answers]
            return torch.stack(rows).to(self._device)

        for output, term in self._terms.items():
            term.command.copy_(gathered(output))
        return gathered(ACTION)

    def reset(self, dones: torch.Tensor | None = None) -> None:
        """Reset the policy's state in the worlds of `dones`, (num_envs,), or in all."""
        is_done = [True] * len(self._policies) if dones is None else dones.tolist()
        for policy, done in zip(self._policies, is_done, strict=True):
            if done:
                policy.reset()


def _check_joints(env: ManagerBasedRlEnv, entry: Mapping[str, Any]) -> None:
    """Raise if a joint input lists the joints in another order than the task."""
    how = entry["measured"]
    if how["kind"] not in ("joint_pos", "joint_vel"):
        return
    own = list(env.scene.entity(how["entity"]).joint_names)
    if entry["elements"] != own:
        pairs = zip(entry["elements"], own, strict=True)
        found, wanted = next(pair for pair in pairs if pair[0] != pair[1])
        raise ExportError(
            f"The file's {entry['name']!r} has {found!r} where the task's robot has "
            f"{wanted!r}: export the policy for the robot model of the task."
        )


def _command_cfg(term: Mapping[str, Any], cfg: ManagerBasedRlEnvCfg) -> ActionTermCfg:
    start, stop = term["action"]
    own = cfg.actions.get(term["name"])
    if "tracked_by" in term:
        if not isinstance(own, MuscleActionCfg):
            raise ExportError(
                f"The file's action {term['name']!r} drives muscles, but this task's "
                f"action is a {type(own).__name__}. The file was trained in another "
                "task."
            )
        inputs = tuple(term["tracked_by"]["inputs"])
        return ExternalMusclesCfg(**vars(own), inputs=inputs)
    if "reach" in term:
        if not isinstance(own, mdp.DifferentialIKActionCfg):
            raise ExportError(
                f"The file's action {term['name']!r} sets a frame target, but this "
                f"task's action is a {type(own).__name__}. The file was trained in "
                "another task."
            )
        plain = {"position_scale": 1.0, "rotation_scale": 1.0, "clip": None}
        return ExternalReachCfg(**(vars(own) | plain))
    return ExternalCommandCfg(
        entity_name=term["entity"],
        quantity=term["quantity"],
        targets=tuple(term["targets"]),
        size=stop - start,
        relative_to=term["relative_to"],
    )


class ExternalCommandCfg(ActionTermCfg):
    """Configuration of an action term whose targets come from a policy file."""

    quantity: str
    """Quantity of the targets, such as "joint_pos"."""

    targets: tuple[str, ...]
    """Names of the targets, in the file's order."""

    size: int
    """Number of action elements of the term."""

    relative_to: str | None = None
    """Reference of relative targets, such as "position at each physics step"."""

    def bind(self, name: str, env: Env) -> ActionTerm:
        """Create the term for one environment."""
        return ExternalCommand(name, self, env)


class ExternalCommand(ActionTerm):
    """Action term that sets its targets to the outputs of a policy file."""

    def __init__(self, name: str, cfg: ExternalCommandCfg, env: Env) -> None:
        super().__init__(name, cfg, env)
        self._entity = env.scene.entity(cfg.entity_name)
        # A quantity starts with the kind of its elements: "joint_pos", "site_effort".
        self._kind = cfg.quantity.partition("_")[0]
        names = getattr(self._entity.index, f"{self._kind}s").names
        columns = [
            find_name(target, names, what=self._kind, owner=cfg.entity_name)
            for target in cfg.targets
        ]
        self.cfg: ExternalCommandCfg = cfg
        self._relative_to = cfg.relative_to or ""
        self._columns = Columns.of(columns, env.device)
        self._field: torch.Tensor = getattr(self._entity.data.targets, cfg.quantity)
        self.command = torch.zeros(env.num_envs, len(columns), device=env.device)
        """Last output of the file, shape (num_envs, targets), set by `FilePolicy`."""
        self.processed_action = torch.zeros_like(self.command)
        """Active command, shape (num_envs, targets), live. Zero after a reset."""

    @property
    def action_dim(self) -> int:
        """Number of action elements of the term."""
        return self.cfg.size

    @property
    def targets(self) -> tuple[ActionTarget, ...]:
        """Entity, kind, name and quantity of each target."""
        return tuple(
            ActionTarget(self._entity.name, self._kind, name, self.cfg.quantity)
            for name in self.cfg.targets
        )

    def process_actions(self, actions: torch.Tensor) -> None:
        """Set the targets of this step."""
        self.processed_action.copy_(self.command)
        if not self._relative_to.endswith("physics step"):
            self._set_targets()

    def apply_actions(self) -> None:
        """Update targets that are relative to the current joint positions."""
        if self._relative_to.endswith("physics step"):
            self._set_targets()

    def reset(self, mask: torch.Tensor) -> None:
        """Set the active command to zero in the worlds of `mask`, shape (num_envs,)."""
        self.processed_action.masked_fill_(mask.unsqueeze(1), 0.0)

    def state(self) -> dict[str, torch.Tensor]:
        """Return the live tensors that change."""
        return {"command": self.command, "processed_action": self.processed_action}

    def _set_targets(self) -> None:
        data, value = self._entity.data, self.processed_action
        if self._relative_to:
            value = value + self._columns.read(data.joint_pos)
        elif self.cfg.quantity == "joint_pos":
            # The file's targets include encoder bias, as its measured positions do.
            value = value - self._columns.read(data.encoder_bias)
        self._columns.write_all(self._field, value)


class ExternalReachCfg(mdp.DifferentialIKActionCfg):
    """Configuration of a frame action whose target comes from a policy file."""

    def bind(self, name: str, env: Env) -> ActionTerm:
        """Return the term of one environment."""
        return ExternalReach(name, self, env)


class ExternalReach(mdp.DifferentialIKAction):
    """Frame action whose target comes from a policy file."""

    def __init__(self, name: str, cfg: ExternalReachCfg, env: Env) -> None:
        super().__init__(name, cfg, env)
        self.command = torch.zeros(env.num_envs, self.action_dim, device=env.device)
        """Last output of the file, (num_envs, action_dim), set by `FilePolicy`."""

    def process_actions(self, actions: torch.Tensor) -> None:
        """Set the frame target of this step to the file's last output."""
        super().process_actions(self.command)

    def state(self) -> dict[str, torch.Tensor]:
        """Return the live tensors that change."""
        return super().state() | {"command": self.command}


class ExternalMusclesCfg(MuscleActionCfg):
    """Configuration of a muscle action whose excitations come from a policy file."""

    inputs: tuple[dict[str, Any], ...] = ()
    """Contract entries of the inputs of the file's muscle controller."""

    def bind(self, name: str, env: Env) -> ActionTerm:
        """Return the term of one environment."""
        return ExternalMuscles(name, self, env)


class ExternalMuscles(MuscleAction):
    """Excites muscles with the muscle controller of a file, in each physics step."""

    def __init__(self, name: str, cfg: ExternalMusclesCfg, env: Env) -> None:
        super().__init__(name, cfg, env)
        self.command = torch.zeros_like(self.target)
        """Last output of the file, (num_envs, action_dim), set by `FilePolicy`."""
        self.controllers: list[FileGraph] | None = None
        """Muscle controller of each world, set by `FilePolicy`. None while the
        environment is built; the task's own network computes excitations then."""
        self._inputs = {entry["name"]: reading(self, entry) for entry in cfg.inputs}

    def aim(self, actions: torch.Tensor) -> None:
        """Set the joint targets of this control step to the file's last output."""
        self.target.copy_(self.command)

    def excite(self) -> torch.Tensor:
        """Return the excitations of the file, shape (num_envs, muscles)."""
        own = super().excite()  # Also computes torques that rewards and metrics read.
        if self.controllers is None:
            return own
        inputs = {name: read().cpu().numpy() for name, read in self._inputs.items()}
        worlds = zip(range(self.num_envs), self.controllers, strict=True)
        for world, controller in worlds:
            (found,) = controller({n: v[world] for n, v in inputs.items()}).values()
            self.activation[world] = torch.from_numpy(found)
        return self.activation

    def state(self) -> dict[str, torch.Tensor]:
        """Return the live tensors that change."""
        return super().state() | {"command": self.command}
