"""Replay recorded episodes from recorded actions or recorded states."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import torch

from mjlab.envs import ManagerBasedRlEnv
from mjlab.envs.state import (
    is_per_world,
    state_dict_tensors,
    world_row,
    write_state_dict,
)
from mjlab.names import suggest
from mjlab.recording.reader import RecordedEpisode, Recording

By = Literal["actions", "states"]
BYS: tuple[By, ...] = get_args(By)

Values = dict[str, torch.Tensor]
Watch = Callable[[Sequence[RecordedEpisode], int], None]

_START, _PHYSICS, _STATES = "start", "physics", "env_states"
_COUNTS = ("log.", "quarantine.")
_SEEN = ("command.", "observation.")
"""Prefixes of states that the computation of observations changes. They are restored
before observations are computed again."""


class ReplayError(RuntimeError):
    """Raised if a recording cannot be replayed or converted."""


@dataclass(frozen=True)
class Replayed:
    """Recorded episode, and the values that its replay computed."""

    episode: RecordedEpisode
    """The recorded episode."""

    values: Values
    """Tensors by path, as in the file, shape (T, ...) for T steps.

    Observations are "obs/<group>", or "obs/<group>/<term>" for separate terms. They and
    states have shape (T + 1, ...).
    """

    start: Values
    """Complete state of the world before the first step."""


class Replay:
    """Replays recorded episodes in parallel, one per world.

    With `by="actions"`, a world starts from the first recorded state of its episode,
    and takes the recorded actions. If the recording and the replay use the native
    engine, the replay is bit-identical.

    With `by="states"`, the recorded state is also written after each step, before
    observations are computed. So an engine with different rounding stays on the
    recorded trajectory, and observations belong to recorded states.
    """

    def __init__(
        self,
        env: ManagerBasedRlEnv,
        recording: Recording,
        *,
        by: By = "actions",
        other_observations: bool = False,
        watch: Watch = lambda batch, step: None,
    ) -> None:
        """Disable automatic resets of the environment.

        Args:
            env: Environment of the recorded task, with any number of worlds.
            recording: Recording to replay.
            by: "actions" takes only recorded actions, "states" also writes recorded
                states.
            other_observations: Whether the environment's observations differ from the
                recorded observations. Observation histories then start empty.
            watch: Called at the beginning and after each step, with the episodes in the
                worlds and the number of steps so far.
        """
        if by not in BYS:
            raise ReplayError(f"by={by!r} is unknown. {suggest(str(by), BYS)}")
        self.env = env
        self.recording = recording
        self.by: By = by
        self._other_observations = other_observations
        self._watch = watch
        self._everyone = torch.ones(env.num_envs, dtype=torch.bool, device=env.device)
        env.choose_resets("never", final_obs=False)

    @property
    def is_same_engine(self) -> bool:
        """Whether recording and environment use the same engine, as far as known."""
        return self.recording.backend in (None, self.env.sim.backend.engine)

    def claims_exact(self, episode: RecordedEpisode) -> bool:
        """Return whether the replay of an episode must be bit-identical."""
        needed = _START if self.by == "actions" else _PHYSICS
        # A GPU adds in an order that varies between runs.
        is_repeatable = self.is_same_engine and not self.env.sim.needs_graphs
        return is_repeatable and _START in episode and needed in episode

    def run(self, numbers: Sequence[int] | None = None) -> Iterator[Replayed]:
        """Replay episodes, in order.

        Args:
            numbers: Episode numbers in the recording. None replays all episodes.
        """
        chosen = self.recording.numbers if numbers is None else numbers
        episodes = [self.recording.episode(number) for number in chosen]
        for batch in self._batches(episodes):
            yield from self._run_batch(batch)

    # One batch.

    def _run_batch(self, batch: Sequence[RecordedEpisode]) -> list[Replayed]:
        starts = self._begin(batch)
        steps = max(episode.length for episode in batch)
        padded = self._padded(batch)
        plan = torch.stack([self._actions_of(episode, steps) for episode in padded])
        tracks = [self._forced_states(e) for e in batch] if self.by == "states" else []
        now = self._now()
        trace: dict[str, list[torch.Tensor]] = {name: [v] for name, v in now.items()}
        self._watch(batch, 0)
        for step in range(steps):
            seen = self._memories()
            _, reward, terminated, truncated, _ = self.env.step(plan[:, step])
            flags = {"terminated": terminated, "truncated": truncated}
            values = {"actions": plan[:, step], "rewards": reward, **flags}
            values |= self._outcomes()
            self._move_curricula()
            if tracks:
                self._force(tracks, step + 1, seen)
            for name, value in (values | self._now()).items():
                trace.setdefault(name, []).append(value)
            self._watch(batch, step + 1)
        return [
            Replayed(
                episode,
                # Observations and states have one value more than there are steps.
                {
                    name: _of_world(values, world, episode.length + len(values) - steps)
                    for name, values in trace.items()
                },
                starts[world],
            )
            for world, episode in enumerate(batch)
        ]

    def _begin(self, batch: Sequence[RecordedEpisode]) -> list[Values]:
        """Set the worlds to the initial states of the episodes; return these states."""
        env = self.env
        missing = next((each for each in batch if _START not in each), None)
        if missing is not None:
            raise ReplayError(
                f"{missing} has no {_START!r}, the initial state of a replay: record "
                "with record_physics=True."
            )
        state = env.get_state()
        rows = [self._start_row(e, world_row(state, 0)) for e in self._padded(batch)]
        env.put_rows(dict(enumerate(rows)), shared=True)
        if not self.is_same_engine:
            first = _stacked([e.read_all(_STATES) for e in self._padded(batch)], 0, env)
            env.set_state_dict(first)
        if self._other_observations or not self.is_same_engine:
            self._observe_first()
        state = env.get_state()
        return [world_row(state, world) for world in range(len(batch))]

    def _move_curricula(self) -> None:
        """Update curricula, which the environment does only in steps with resets."""
        env = self.env
        if env.curriculum_manager.terms:
            with env.sim.reads.allow_late():
                env.curriculum_manager.compute(~self._everyone)

    def _start_row(self, episode: RecordedEpisode, own: Values) -> Values:
        """Return the initial state of an episode; `own` has values that it lacks."""
        foreign = () if self.is_same_engine else ("sim.",)
        if self._other_observations:
            foreign += ("observation.",)
        return start_row(episode.read_all(_START), own, foreign)

    def _observe_first(self) -> None:
        """Compute observations as at the start of an episode."""
        env = self.env
        with env.sim.reads.allow_late():
            env.sim.forward()
            env.scene.refresh()
            env.sim.sense()
            env.observation_manager.reset(self._everyone)
            env.observation_manager.compute(mask=self._everyone)
        env.runner.mark_fresh()

    def _actions_of(self, episode: RecordedEpisode, steps: int) -> torch.Tensor:
        """Return actions, shape (steps, total_action_dim), padded with zeros."""
        manager = self.env.action_manager
        given = episode.read_tree("actions")
        if isinstance(given, dict):
            parts = [given.get(name) for name in manager.active_terms]
            if any(not isinstance(part, torch.Tensor) for part in parts):
                raise ReplayError(
                    f"{episode} has actions for {list(given)}, but the task has the "
                    f"terms {manager.active_terms}."
                )
            given = torch.cat([p for p in parts if isinstance(p, torch.Tensor)], dim=1)
        width = manager.total_action_dim
        if given.shape[1:] != (width,):
            raise ReplayError(
                f"{episode} has actions of shape {tuple(given.shape[1:])}; the task's "
                f"actions have shape ({width},). If a wrapper changes actions, record "
                "inside it."
            )
        padded = given.new_zeros((steps, width))
        padded[: episode.length] = given
        return padded.to(self.env.device)

    def _padded(self, batch: Sequence[RecordedEpisode]) -> list[RecordedEpisode]:
        """Return one episode per world. Remaining worlds get the last episode."""
        return [*batch, *[batch[-1]] * (self.env.num_envs - len(batch))]

    def _batches(
        self, episodes: Sequence[RecordedEpisode]
    ) -> Iterator[list[RecordedEpisode]]:
        """Yield batches of episodes that are replayed in parallel.

        All worlds share the state of curricula. So if the task has curricula, a batch
        has only episodes with equal initial shared state.
        """
        batch: list[RecordedEpisode] = []
        shares: Values = {}
        for episode in episodes:
            own = self._shared(episode) if self.env.curriculum_manager.terms else {}
            is_other = bool(batch) and not _are_equal(own, shares)
            if len(batch) == self.env.num_envs or is_other:
                yield batch
                batch = []
            batch.append(episode)
            shares = own
        if batch:
            yield batch

    def _shared(self, episode: RecordedEpisode) -> Values:
        n = self.env.num_envs
        live = self.env.state.live()
        names = [k for k, v in live.items() if not is_per_world(k, v, n)]
        start = [f"{_START}/{k}" for k in names if not k.startswith(_COUNTS)]
        return {path: episode.read(path) for path in start if path in episode}

    # Replay by states.

    def _forced_states(self, episode: RecordedEpisode) -> Values:
        """Return the recorded states of an episode by path, shape (T + 1, ...)."""
        kind = _PHYSICS if self.is_same_engine and _PHYSICS in episode else _STATES
        states = episode.read_all(kind)
        if not states:
            raise ReplayError(
                f"{episode} has neither {_PHYSICS!r} nor {_STATES!r}, so it cannot be "
                "replayed by states. Replay it by actions."
            )
        return {f"{kind}/{name}": value for name, value in states.items()}

    def _memories(self) -> Values:
        live = self.env.state.live()
        return {k: v.clone() for k, v in live.items() if k.startswith(_SEEN)}

    def _force(self, tracks: Sequence[Values], step: int, seen: Values) -> None:
        """Write the recorded states of a step, and compute observations from them."""
        env = self.env
        live = env.state.live()
        for name, value in seen.items():
            live[name].copy_(value)
        lasts = [len(next(iter(track.values()))) - 1 for track in tracks]
        goes_on = [step <= last for last in lasts]
        goes_on += [False] * (env.num_envs - len(tracks))
        mask = torch.tensor(goes_on, device=env.device)
        rows = [tracks[min(w, len(tracks) - 1)] for w in range(env.num_envs)]
        states = _stacked(rows, step, env)
        with env.sim.reads.allow_late():
            env.command_manager.write_state(env.step_dt)
            physics = _below(f"{_PHYSICS}/sim.", states)
            if physics:
                env.sim.copy_rows(physics, mask)
            else:
                write_state_dict(env.scene, _below(f"{_STATES}/", states), mask)
        env.scene.invalidate()
        env.sim.forward()
        env.scene.refresh()
        env.program.compute_observations(env.step_dt)
        env.runner.mark_fresh()

    # Values to compare.

    def _now(self) -> Values:
        """Return copies of the current observations and states, by path."""
        env = self.env
        values: Values = {}
        for group, shown in env.observation_manager.output.items():
            parts = shown.items() if isinstance(shown, dict) else [("", shown)]
            for term, value in parts:
                values["/".join(filter(None, ["obs", group, term]))] = value.clone()
        for name, value in state_dict_tensors(env.scene).items():
            values[f"{_STATES}/{name}"] = value
        if not env.sim.needs_graphs:
            values[f"{_PHYSICS}/sim.state"] = env.sim.snapshot()["state"]
        return values

    def _outcomes(self) -> Values:
        outcomes = self.env.outcome_manager
        return {name: outcomes.now(name).clone() for name in outcomes.active_terms}


def start_row(recorded: Values, own: Values, foreign: tuple[str, ...] = ()) -> Values:
    """Return the initial state of one world for a replay.

    Args:
        recorded: Recorded state of the world.
        own: State of a world of the environment, used for values that were not
            recorded.
        foreign: Prefixes of values that are taken from `own` in any case.
    """
    # Recordings omit empty tensors.
    row = {k: v for k, v in own.items() if not v.numel() or k.startswith(foreign)}
    return row | {k: v for k, v in recorded.items() if not k.startswith(foreign)}


def recorded_values(episode: RecordedEpisode) -> Values:
    """Return the recorded values of an episode, with the paths of `Replayed.values`."""
    values: Values = {}
    for path in ("rewards", "terminated", "truncated", "success", "fail"):
        if path in episode:
            values[path] = episode.read(path)
    for kind in (_STATES, _PHYSICS):
        below = episode.read_all(kind)
        values |= {f"{kind}/{name}": value for name, value in below.items()}
    below = episode.observations()
    return values | {f"obs/{name}": value for name, value in below.items()}


def _of_world(values: Sequence[torch.Tensor], world: int, length: int) -> torch.Tensor:
    return torch.stack([value[world] for value in values[:length]]).cpu()


def _stacked(
    rows: Sequence[Mapping[str, torch.Tensor]], step: int, env: ManagerBasedRlEnv
) -> Values:
    """Stack one step of several episodes, shape (episodes, ...).

    Shorter episodes repeat their last step.
    """
    return {
        name: torch.stack(
            [row[name][min(step, len(row[name]) - 1)] for row in rows]
        ).to(env.device)
        for name in rows[0]
    }


def _below(prefix: str, values: Mapping[str, torch.Tensor]) -> Values:
    found = {k: v for k, v in values.items() if k.startswith(prefix)}
    return {name.removeprefix(prefix): value for name, value in found.items()}


def _are_equal(one: Values, other: Values) -> bool:
    return one.keys() == other.keys() and all(
        torch.equal(value, other[name]) for name, value in one.items()
    )
