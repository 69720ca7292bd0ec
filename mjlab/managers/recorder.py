"""Recorder terms, which write episodes to files."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, get_args

import torch

from mjlab.managers.env import Env
from mjlab.managers.metrics import OutcomeManager
from mjlab.managers.reward import RewardManager
from mjlab.managers.term import BoundTerm, Manager, TermCfg, TermError, bind_terms
from mjlab.managers.termination import TerminationManager
from mjlab.names import suggest
from mjlab.recording import RecordingCfg
from mjlab.recording.config import check_recording
from mjlab.recording.layout import Role, field_of, recording_layout

if TYPE_CHECKING:
    from mjlab.recording import Recorder

RecordWhen = Literal["pre_step", "post_step", "state", "pre_reset", "post_reset"]
_WHENS: tuple[RecordWhen, ...] = get_args(RecordWhen)
_ROLES: dict[str, Role] = {
    "pre_step": "step",
    "post_step": "step",
    "state": "state",
    "pre_reset": "last",
    "post_reset": "start",
}

Values = dict[str, torch.Tensor]


class JudgedEnv(Env, Protocol):
    """The environment with its reward, termination and outcome managers."""

    reward_manager: RewardManager
    """Reward terms and their episode sums."""

    termination_manager: TerminationManager
    """Termination terms."""

    outcome_manager: OutcomeManager
    """Outcomes: success and failure of episodes."""


class Provenance(NamedTuple):
    """Origin of recorded episodes, sufficient to rebuild the environment."""

    attributes: dict[str, str | int | float]
    """Attributes of the files: the task's id, engine, seed and configuration."""

    env_info: dict[str, Any]
    """Entry "env_info" of the sidecar files: the task's id and the arguments with which
    the environment was created."""


class RecorderTermCfg(TermCfg):
    """Configuration of a recorder term.

    The function returns a tensor of shape (num_envs, ...), or a dictionary of such
    tensors by name.
    """

    when: RecordWhen = "post_step"
    """When values are recorded, in an episode of T steps. "pre_step": before each step,
    T rows. "post_step": after each step and before any reset, T rows. "state": when the
    episode begins and after each step, T + 1 rows. "post_reset": once, when the episode
    begins. "pre_reset": once, when the episode ends."""


class RecorderManager(Manager[BoundTerm]):
    """Manager of the recorder terms: collects their values for a `Recorder`.

    Rewards, termination flags and outcomes are always recorded. Steps before the first
    reset belong to no episode and are not recorded.

    A step copies nothing to the host. `record` stores the collected values on the
    device. It also runs in trial steps and during graph capture, whose values must not
    be written to files: only values that `commit` marks as valid are written.
    """

    kind = "recorder"

    def __init__(
        self,
        cfg: Mapping[str, RecorderTermCfg | None],
        env: JudgedEnv,
        recording: RecordingCfg,
        provenance: Callable[[], Provenance],
    ) -> None:
        """Bind the terms, call each once, and start recording.

        Args:
            cfg: The terms by name.
            env: The environment.
            recording: Output path and selection of episodes.
            provenance: Function that returns the provenance of the episodes, called
                only if files are written.
        """
        for name, term in cfg.items():
            if term is not None and term.when not in _WHENS:
                raise TermError(
                    f"Recorder term {name!r} has when={term.when!r}. "
                    + suggest(str(term.when), _WHENS)
                )
        super().__init__(bind_terms(cfg, env, kind=self.kind), env)
        self._env = env
        self._whens = {name: term.when for name, term in cfg.items() if term}
        self._begun = torch.zeros(env.num_envs, dtype=torch.bool, device=env.device)
        self._stepped = torch.zeros_like(self._begun)
        self._seen: Values = {}
        self._last: Values | None = None
        self._recorder = None
        if self.terms:
            check_recording(recording, "success" in env.outcome_manager.terms)
        if self.terms and recording.export != "none":
            self._recorder = self._begin(recording, provenance())

    @property
    def files(self) -> list[str]:
        """Paths of the written files."""
        if self._recorder is None:
            return []
        return [str(path) for path in self._recorder.files.values()]

    def pre_step(self) -> None:
        """Collect the "pre_step" terms."""
        if self._recorder is not None:
            self._seen |= self._look("pre_step")

    def post_step(self, held_back: torch.Tensor) -> None:
        """Collect the "post_step" and "state" terms and the results of a step.

        Args:
            held_back: Worlds that were reset instead of stepped, shape (num_envs,).
        """
        if self._recorder is None:
            return
        torch.logical_not(held_back, out=self._stepped)
        self._seen |= self._look("post_step", "state") | self._judged()

    def pre_reset(self) -> None:
        """Collect the "pre_reset" terms."""
        if self._recorder is not None:
            self._last = self._look("pre_reset")

    def reset(self, mask: torch.Tensor) -> None:
        super().reset(mask)
        if self._recorder is not None:
            self._begun.logical_or_(mask)

    def record(self) -> None:
        """Store the collected values."""
        if self._recorder is None:
            return
        # Without a reset in the step, collect the final values now.
        last = self._look("pre_reset") if self._last is None else self._last
        if not self._seen:  # This is a reset outside a step.
            self._seen = self._look("pre_step", "post_step", "state") | self._judged()
        row = {
            "stepped": self._stepped,
            "ending": self._begun,  # True equals `Ending.WRITTEN`.
            "begins": self._begun,
            **self._seen,
            **last,
        }
        self._recorder.write(row, self._begun, self._beginning)
        self.abandon()

    def abandon(self) -> None:
        """Discard the values collected since the last `record`."""
        self._begun.zero_()
        self._stepped.zero_()
        self._seen, self._last = {}, None

    def commit(self) -> None:
        """Mark the stored values as valid, after the step or reset was executed."""
        if self._recorder is not None:
            self._recorder.commit()

    def close(self) -> None:
        """Close the files; unfinished episodes are written up to the last step."""
        if self._recorder is not None:
            recorder, self._recorder = self._recorder, None
            recorder.close()

    def rows(self) -> list[tuple[str, ...]]:
        return list(self._whens.items())

    def _begin(self, recording: RecordingCfg, provenance: Provenance) -> "Recorder":
        # Imported here because only recording needs its dependencies.
        from mjlab.recording.recorder import Recorder

        n, env = self.num_envs, self._env
        steps = [
            field_of(name, value, n, "step") for name, value in self._judged().items()
        ]
        beginning = [field_of("episode_seed", env.rng.world_seed, n, "attribute")]
        for when, role in _ROLES.items():
            fields = [field_of(k, v, n, role) for k, v in self._look(when).items()]
            steps += fields if role != "start" else []
            beginning += fields if role in ("start", "state") else []
        try:
            layout = recording_layout(steps, beginning)
        except ValueError as error:
            raise TermError(f"recorders: {error}") from error
        return Recorder(
            recording,
            n,
            env.device,
            layout,
            attributes=provenance.attributes,
            about={
                "env_info": provenance.env_info,
                "source_type": "recorders",
                "source_desc": ", ".join(self.terms),
            },
        )

    def _beginning(self) -> tuple[Values, Values]:
        seeds = {"episode_seed": self._env.rng.world_seed}
        return seeds | self._look("state", "post_reset"), {}

    def _judged(self) -> Values:
        """Copy rewards, termination flags and outcomes of the step."""
        flags, outcomes = self._env.termination_manager, self._env.outcome_manager
        judged = {
            "rewards": self._env.reward_manager.reward,
            "terminated": flags.terminated,
            "truncated": flags.time_outs,
            **{name: outcomes.now(name) for name in outcomes.terms},
        }
        return {name: value.clone() for name, value in judged.items()}

    def _look(self, *whens: str) -> Values:
        """Copy values of the terms that record at `whens`, by path in the file."""
        values: Values = {}
        for name, term in self.terms.items():
            if self._whens[name] in whens:
                values |= _named(term, term())
        return {path: value.clone() for path, value in values.items()}


def _named(term: BoundTerm, value: object) -> Values:
    """Return a term's value, or its dictionary of values, by path in the file."""
    if isinstance(value, torch.Tensor):
        return {term.name: value}
    if not isinstance(value, dict) or not value:
        raise TermError(
            f"{term.label} returned {type(value).__name__}; it has to return a tensor "
            "of shape (num_envs, ...), or a dict of such tensors."
        )
    return {f"{term.name}/{key}": part for key, part in value.items()}
