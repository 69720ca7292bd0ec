"""Worlds that a file drives, as it would drive robots.

The environment measures what the file takes, and does what it puts out. Clips, scales,
histories, defaults and offsets of the environment have no part in it.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from mjlab.envs import ManagerBasedRlEnv, ManagerBasedRlEnvCfg
from mjlab.export.errors import ExportError
from mjlab.export.inputs import GROUP, measured_group
from mjlab.export.reader import OnnxPolicy
from mjlab.export.targets import ACTION
from mjlab.managers import ActionTerm, ActionTermCfg
from mjlab.managers.action import ActionTarget
from mjlab.managers.env import Env
from mjlab.names import find_name
from mjlab.tensors.columns import Columns

_KINDS = {
    "joint_pos": ("joint", "joints"),
    "joint_vel": ("joint", "joints"),
    "joint_effort": ("joint", "joints"),
    "tendon_len": ("tendon", "tendons"),
    "tendon_vel": ("tendon", "tendons"),
    "tendon_effort": ("tendon", "tendons"),
    "site_effort": ("site", "sites"),
}


def driven_by(
    cfg: ManagerBasedRlEnvCfg, contract: Mapping[str, Any]
) -> ManagerBasedRlEnvCfg:
    """The configuration of worlds that a file drives.

    Args:
        cfg: The file's task.
        contract: What the file says of itself.
    """
    step = cfg.decimation * cfg.sim.mujoco.timestep
    if abs(step - contract["rates"]["control_dt"]) > 1e-9:
        raise ExportError(
            f"The file acts every {contract['rates']['control_dt']} s, and the task "
            f"every {step} s (decimation times sim.mujoco.timestep)."
        )
    places = {entry["name"]: entry["observation"] for entry in contract["inputs"]}
    return dataclasses.replace(
        cfg,
        observations={GROUP: measured_group(cfg, places)},
        actions={term["name"]: _told(term) for term in contract["actions"]},
    )


class FilePolicy:
    """Acts in worlds made by `driven_by`: a copy of the file's policy in each."""

    def __init__(self, env: ManagerBasedRlEnv, policy: OnnxPolicy) -> None:
        """Check that the worlds measure what the file takes.

        Args:
            env: The worlds.
            policy: The file.
        """
        shapes = {
            slot.name: list(slot.shape)
            for slot in env.observation_manager.groups[GROUP].slots
        }
        for entry in policy.contract["inputs"]:
            if shapes[entry["name"]] != entry["shape"]:
                raise ExportError(
                    f"The task measures {entry['name']!r} with shape "
                    f"{tuple(shapes[entry['name']])}, and the file takes "
                    f"{tuple(entry['shape'])}."
                )
        self._policies = [policy.another() for _ in range(env.num_envs)]
        output = env.observation_manager.output[GROUP]
        assert isinstance(output, dict), "The group is not concatenated."
        self._measured = output
        terms = env.action_manager.terms.values()
        self._terms = {f"{t.name}_target": t for t in terms if isinstance(t, Told)}
        self._device = env.device

    def __call__(self, observations: Any) -> torch.Tensor:
        """Tell the robots their targets; return raw actions, for rewards.

        Args:
            observations: Not used: what was measured last is asked of the environment.
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
            term.told.copy_(gathered(output))
        return gathered(ACTION)

    def reset(self, dones: torch.Tensor | None = None) -> None:
        """Forget the past of the worlds where `dones`, shape (num_envs,), holds."""
        is_done = [True] * len(self._policies) if dones is None else dones.tolist()
        for policy, done in zip(self._policies, is_done, strict=True):
            if done:
                policy.reset()


def _told(term: Mapping[str, Any]) -> "ToldCfg":
    start, stop = term["action"]
    return ToldCfg(
        entity_name=term["entity"],
        quantity=term["quantity"],
        targets=tuple(term["targets"]),
        size=stop - start,
        relative_to=term["relative_to"],
    )


@dataclass(kw_only=True)
class ToldCfg(ActionTermCfg):
    """Targets that come from a file, and not from the action."""

    quantity: str
    """What of the targets is set, such as "joint_pos"."""

    targets: tuple[str, ...]
    """Their names, in the file's order."""

    size: int
    """Numbers of the action that stand for them."""

    relative_to: str | None = None
    """What the targets are relative to, if to anything."""

    def bind(self, name: str, env: Env) -> ActionTerm:
        """Return the term of one environment."""
        return Told(name, self, env)


class Told(ActionTerm):
    """Sets targets to what a file says."""

    def __init__(self, name: str, cfg: ToldCfg, env: Env) -> None:
        super().__init__(name, cfg, env)
        self._kind, elements = _KINDS[cfg.quantity]
        self._entity = env.scene.entity(cfg.entity_name)
        names = getattr(self._entity.index, elements).names
        columns = [
            find_name(target, names, what=self._kind, owner=cfg.entity_name)
            for target in cfg.targets
        ]
        self._quantity, self._names, self._size = cfg.quantity, cfg.targets, cfg.size
        self._relative_to = cfg.relative_to or ""
        self._columns = Columns.of(columns, env.device)
        self._field: torch.Tensor = getattr(self._entity.data.targets, cfg.quantity)
        self.told = torch.zeros(env.num_envs, len(columns), device=env.device)
        """What the file said last, shape (num_envs, targets), to be written."""
        self.processed_action = torch.zeros_like(self.told)
        """What is done, shape (num_envs, targets), live. Zero after a reset."""

    @property
    def action_dim(self) -> int:
        """Numbers of the action that the term takes."""
        return self._size

    @property
    def targets(self) -> tuple[ActionTarget, ...]:
        """What the term moves."""
        return tuple(
            ActionTarget(self._entity.name, self._kind, name, self._quantity)
            for name in self._names
        )

    def process_actions(self, actions: torch.Tensor) -> None:
        """Set the targets of this step."""
        self.processed_action.copy_(self.told)
        if not self._relative_to.endswith("physics step"):
            self._set_targets()

    def apply_actions(self) -> None:
        """Move targets along with the joints, where they are relative to those."""
        if self._relative_to.endswith("physics step"):
            self._set_targets()

    def reset(self, mask: torch.Tensor) -> None:
        """Forget the targets of the worlds of `mask`."""
        self.processed_action.masked_fill_(mask.unsqueeze(1), 0.0)

    def state(self) -> dict[str, torch.Tensor]:
        """The live tensors that change."""
        return {"told": self.told, "processed_action": self.processed_action}

    def _set_targets(self) -> None:
        data, value = self._entity.data, self.processed_action
        if self._relative_to:
            value = value + self._columns.read(data.joint_pos)
        elif self._quantity == "joint_pos":
            # A robot's encoders have the same bias when it measures and when it moves.
            value = value - self._columns.read(data.encoder_bias)
        self._columns.write_all(self._field, value)
