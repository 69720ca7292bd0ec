"""Checker of Gymnasium's contract for any vector environment.

It is independent of this project. The results of a vector environment, NumPy arrays or
tensors, are compared with single environments or, without these, with the vector
environment without automatic resets:

    check_vector_env(make, make_single=lambda index: gym.make("Some-v0"))

`make(mode)` builds the vector environment with an `AutoresetMode`. In this file and its
messages, row i is sub-environment i.
"""

import copy
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from gymnasium import Env, Space, spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space, iterate

Make = Callable[[AutoresetMode], VectorEnv]
MakeSingle = Callable[[int], Env]
MODES = tuple(AutoresetMode)

_FINAL = ("final_obs", "final_info")


class ConformanceError(AssertionError):
    """Faults of a vector environment."""

    def __init__(self, faults: Sequence[str]) -> None:
        self.faults = tuple(faults)
        """One sentence for each fault."""
        super().__init__(
            f"{len(faults)} faults:\n" + "\n".join(f"- {fault}" for fault in faults)
        )


class InconclusiveError(RuntimeError):
    """Too few episodes ended to test their endings."""


def check_vector_env(
    make: Make,
    make_single: MakeSingle,
    *,
    modes: Iterable[AutoresetMode] = MODES,
    steps: int = 200,
    min_ends: int = 2,
    seed: int = 11,
    compare_info: bool = True,
    allow_popped_mask: bool = True,
) -> None:
    """Raise `ConformanceError` with all faults.

    Args:
        make: Builds the vector environment.
        make_single: Builds the environment of one row, by its index.
        modes: The modes to check.
        steps: Steps of each comparison.
        min_ends: Minimum number of ended episodes per row in these steps.
        seed: Random seed.
        compare_info: Also compare the rows' infos.
        allow_popped_mask: Allow `reset` to remove "reset_mask" from its options, as
            Gymnasium 1.4 does.

    Raises:
        ConformanceError: If there are faults.
        InconclusiveError: If too few episodes end.
    """
    faults: list[str] = []
    for mode in modes:
        env = make(mode)
        rows = Rows([make_single(index) for index in range(env.num_envs)])
        checks: list[Callable[[], list[str]]] = [
            partial(check_declaration, env, mode),
            partial(check_returned_types, env, seed),
            partial(check_returned_data_is_new, env, seed),
            partial(check_options, env, seed, allow_popped_mask=allow_popped_mask),
            partial(check_seeds, env, seed),
        ]
        if mode is AutoresetMode.DISABLED:
            checks.append(partial(check_bad_masks, env, seed))
        # Out of order, so that a list is not confused with its first entry.
        listed = [seed + (7 * index + 3) % 101 for index in range(env.num_envs)]
        checks += [
            partial(
                compare_rows,
                env,
                rows,
                mode,
                given,
                steps=steps,
                min_ends=min_ends,
                compare_info=compare_info,
            )
            for given in (seed, listed)
        ]
        found = [fault for check in checks for fault in _run(check)]
        env.close()
        rows.close()
        faults += [f"{mode.name}: {fault}" for fault in dict.fromkeys(found)]
    if faults:
        raise ConformanceError(faults)


def _run(check: Callable[[], list[str]]) -> list[str]:
    """Return the findings of a check; an exception is a finding as well."""
    try:
        return check()
    except InconclusiveError:
        raise
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        return [f"{type(error).__name__} in {place.filename}:{place.lineno}: {error}"]


# Declared properties.


def check_declaration(env: VectorEnv, mode: AutoresetMode) -> list[str]:
    """Check spaces and metadata."""
    faults = []
    if not isinstance(env, VectorEnv):
        return [f"{type(env).__name__} is not a gymnasium.vector.VectorEnv"]
    for kind in ("observation", "action"):
        single = getattr(env, f"single_{kind}_space")
        if getattr(env, f"{kind}_space") != batch_space(single, env.num_envs):
            faults.append(
                f"{kind}_space is not that of {env.num_envs} single_{kind}_space"
            )
    declared = env.metadata.get("autoreset_mode")
    if declared is not mode:
        faults.append(f"metadata['autoreset_mode'] is {declared!r}, not {mode!r}")
    if env.unwrapped.metadata is type(env.unwrapped).metadata:
        faults.append("metadata is that of the class, which all instances share")
    return faults


# Results.


def check_returned_types(env: VectorEnv, seed: int) -> list[str]:
    """Check types and shapes of results, and the masks of infos."""
    observations, info = env.reset(seed=seed)
    faults = _space_faults(observations, env.observation_space, "reset observation")
    faults += _info_faults(info, env.num_envs, "reset info")
    returned = env.step(_sample(env, seed))
    observations, reward, terminated, truncated, info = returned
    faults += _space_faults(observations, env.observation_space, "step observation")
    for name, value in (("terminated", terminated), ("truncated", truncated)):
        faults += _array_faults(value, (env.num_envs,), np.dtype(bool), name)
    faults += _array_faults(reward, (env.num_envs,), None, "reward")
    if not np.issubdtype(_numpy(reward).dtype, np.floating):
        faults.append(f"reward has type {_numpy(reward).dtype}, which is not a float")
    return faults + _info_faults(info, env.num_envs, "step info")


def _space_faults(value: Any, space: Space, name: str) -> list[str]:
    if isinstance(space, spaces.Dict):
        if not isinstance(value, dict) or value.keys() != space.spaces.keys():
            return [f"{name} is not a dict of {sorted(space.spaces)}"]
        return [
            fault
            for key, part in space.spaces.items()
            for fault in _space_faults(value[key], part, f"{name}[{key!r}]")
        ]
    if isinstance(space, spaces.Tuple):
        return [
            fault
            for index, part in enumerate(space.spaces)
            for fault in _space_faults(value[index], part, f"{name}[{index}]")
        ]
    if space.shape is None or space.dtype is None:
        return []
    faults = _array_faults(value, space.shape, np.dtype(space.dtype), name)
    if not faults and not space.contains(_numpy(value)):
        faults.append(f"{name} is outside of its space {space}")
    return faults


def _array_faults(
    value: Any, shape: tuple[int, ...], dtype: np.dtype | None, name: str
) -> list[str]:
    if not _is_array(value):
        return [f"{name} is a {type(value).__name__}, not an array"]
    array = _numpy(value)
    faults = []
    if array.shape != shape:
        faults.append(f"{name} has shape {array.shape}, not {shape}")
    if dtype is not None and array.dtype != dtype:
        faults.append(f"{name} has type {array.dtype}, not {dtype}")
    return faults


def _info_faults(info: Any, num_envs: int, name: str) -> list[str]:
    """Return faults of an info: every key needs a mask of its rows."""
    if not isinstance(info, dict):
        return [f"{name} is a {type(info).__name__}, not a dict"]
    faults = []
    for key, value in info.items():
        if key.startswith("_"):
            if key[1:] not in info:
                faults.append(f"{name} has a mask {key!r} without an entry")
            continue
        mask = info.get(f"_{key}")
        if mask is None:
            faults.append(f"{name}[{key!r}] comes without a mask '_{key}'")
            continue
        faults += _array_faults(mask, (num_envs,), np.dtype(bool), f"{name}['_{key}']")
        if isinstance(value, dict) and key != "final_obs":
            faults += _info_faults(value, num_envs, f"{name}[{key!r}]")
    return faults


def check_returned_data_is_new(env: VectorEnv, seed: int) -> list[str]:
    """Check that results share no memory with earlier or later results."""
    calls: list[tuple[str, Any]] = [("reset", env.reset(seed=seed))]
    copies = [_copied(calls[0][1])]
    for step in range(3):
        result = env.step(_sample(env, seed + step))
        calls.append((f"step {step + 1}", result))
        copies.append(_copied(result))
        _reset_ended(env, result[2], result[3])
    calls.append(("reset again", env.reset(seed=seed)))
    faults: list[str] = []
    for (name, value), (other, later) in combinations(calls, 2):
        if _memories(value) & _memories(later):
            faults.append(f"the results of {name} and {other} share memory")
            break
    for (name, value), before in zip(calls[:-1], copies, strict=True):
        if not same(_copied(value), before):
            faults.append(f"the result of {name} was changed later")
    return faults[:2]


def _memories(value: Any) -> set[int]:
    """Return the memory addresses of data."""
    found = set()
    for leaf in _leaves(value):
        if callable(getattr(leaf, "untyped_storage", None)):
            found.add(leaf.untyped_storage().data_ptr())
        elif isinstance(leaf, np.ndarray) and leaf.size:
            owner: Any = leaf
            while isinstance(getattr(owner, "base", None), np.ndarray):
                owner = owner.base
            found.add(owner.__array_interface__["data"][0])
    return found - {0}


# Arguments.


def check_options(
    env: VectorEnv, seed: int, *, allow_popped_mask: bool = True
) -> list[str]:
    """Check that options are read and not modified."""
    faults = []
    mask = np.zeros(env.num_envs, dtype=bool)
    mask[0] = True
    env.reset(seed=seed)
    for options in ({}, {"reset_mask": mask}):
        given = dict(options)
        env.reset(options=given)
        popped = options.keys() - given.keys()
        is_same = not popped or (allow_popped_mask and popped == {"reset_mask"})
        if not is_same or not mask[0] or mask[1:].any():
            faults.append(f"reset changed the options it was given: {sorted(options)}")
    return faults


def check_bad_masks(env: VectorEnv, seed: int) -> list[str]:
    """Check that an invalid mask is an error."""
    bad: dict[str, np.ndarray] = {
        "without a world": np.zeros(env.num_envs, dtype=bool),
        "of a wrong shape": np.ones(env.num_envs + 1, dtype=bool),
        "of integers": np.ones(env.num_envs, dtype=np.int64),
    }
    faults = []
    for name, mask in bad.items():
        env.reset(seed=seed)
        try:
            env.reset(options={"reset_mask": mask})
        except (ValueError, TypeError):
            continue
        faults.append(f"a reset_mask {name} is accepted")
    return faults


def check_seeds(env: VectorEnv, seed: int) -> list[str]:
    """Check seeds: equal ones repeat a run, others do not, and row i gets s + i."""
    faults = []
    counted = [seed + index for index in range(env.num_envs)]
    first = _short_run(env, seed)
    if not same(first, _short_run(env, seed)):
        faults.append("equal seeds give different runs")
    if not same(first, _short_run(env, counted)):
        faults.append("seed s does not mean the seeds s, s + 1, s + 2, ...")
    if same(first, _short_run(env, seed + 1000)):
        faults.append("different seeds give the same run")
    changed = [*counted[:-1], seed + 5000]
    if env.num_envs > 1:
        kept = [_rows_but_last(run) for run in (first, _short_run(env, changed))]
        if not same(*kept):
            faults.append("the seed of the last row affects other rows")
    try:
        reset: Any = env.reset  # `Any`: the annotation of `seed` excludes lists.
        reset(seed=[*counted, seed])  # One seed too many.
    except (ValueError, TypeError):
        return faults
    return [*faults, "a list of too many seeds is accepted"]


def _short_run(env: VectorEnv, seed: Any) -> list[Any]:
    run = [_copied(env.reset(seed=seed)[0])]
    for step in range(3):
        observations, reward, terminated, truncated, _ = env.step(_sample(env, step))
        run.append(_copied((observations, reward, terminated, truncated)))
        _reset_ended(env, terminated, truncated)
    return run


def _rows_but_last(run: Any) -> Any:
    if isinstance(run, dict):
        return {key: _rows_but_last(value) for key, value in run.items()}
    if isinstance(run, list | tuple):
        return [_rows_but_last(value) for value in run]
    return run[:-1]


# Behaviour of rows.


class Rows:
    """Single environments, one per row: the expected behaviour."""

    def __init__(self, envs: Sequence[Env]) -> None:
        self._envs = envs
        self._space = batch_space(envs[0].action_space, len(envs))

    def reset(self, seeds: Sequence[int]) -> list[tuple[Any, dict[str, Any]]]:
        """Reset all rows; return the observation and the info of each."""
        return [
            _copied(env.reset(seed=seed))
            for env, seed in zip(self._envs, seeds, strict=True)
        ]

    def reset_row(self, row: int) -> tuple[Any, dict[str, Any]]:
        """Reset one row, with the next random numbers."""
        return _copied(self._envs[row].reset())

    def step(self, actions: Any, skip: set[int]) -> dict[int, tuple[Any, ...]]:
        """Step the rows that are not skipped; return their results."""
        return {
            row: _copied(self._envs[row].step(action))
            for row, action in enumerate(iterate(self._space, actions))
            if row not in skip
        }

    def close(self) -> None:
        """Close all environments."""
        for env in self._envs:
            env.close()


def compare_rows(
    env: VectorEnv,
    model: Rows,
    mode: AutoresetMode,
    seed: int | list[int],
    *,
    steps: int,
    min_ends: int,
    compare_info: bool,
) -> list[str]:
    """Step the vector environment and a model of its rows, and compare all results."""
    comparison = _Comparison(env, model, mode, compare_info)
    faults = comparison.reset(seed)
    for step in range(steps):
        faults += [f"{fault} (step {step + 1})" for fault in comparison.step(step)]
        if faults:
            return faults[:3]  # Later faults are consequences of the first ones.
    if min(comparison.ends) < min_ends:
        raise InconclusiveError(
            f"Only {min(comparison.ends)} episodes of a row ended in {steps} steps; "
            f"{min_ends} are needed to test the end of an episode."
        )
    return []


class _Comparison:
    """One run of a vector environment compared with the model of its rows."""

    def __init__(
        self, env: VectorEnv, model: Rows, mode: AutoresetMode, compare_info: bool
    ) -> None:
        self._env, self._model, self._mode = env, model, mode
        self._compare_info = compare_info
        self._waiting: set[int] = set()
        self._seen: list[Any] = []
        self.ends = [0] * env.num_envs

    def reset(self, seed: int | list[int]) -> list[str]:
        """Reset all rows."""
        self._waiting.clear()
        count = range(self._env.num_envs)
        seeds = [seed + i for i in count] if isinstance(seed, int) else seed
        expected = self._model.reset(list(seeds))
        reset: Any = self._env.reset  # `Any`: the annotation of `seed` excludes lists.
        observations, info = reset(seed=seed)
        rows = self._rows(observations)
        return [
            f"{what} of row {row} after reset(seed={seed}) differs from a single "
            "environment"
            for row in count
            for what in self._differences(rows[row], info, row, *expected[row])
        ]

    def step(self, number: int) -> list[str]:
        """Step all rows once and compare."""
        actions = _sample(self._env, number)
        expected = self._model.step(actions, self._waiting)
        observations, *flags, info = self._env.step(actions)
        rows = self._rows(observations)
        faults: list[str] = []
        ended: set[int] = set()
        for row, seen in enumerate(rows):
            own, row_flags = expected.get(row), [_numpy(f)[row].item() for f in flags]
            if own is None:  # The row is reset instead of stepped.
                own = _with_reset((None, 0.0, False, False), self._model.reset_row(row))
            elif own[2] or own[3]:
                ended.add(row)
                self.ends[row] += 1
                if self._mode is AutoresetMode.SAME_STEP:
                    faults += self._final_faults(info, row, own)
                    own = _with_reset(own, self._model.reset_row(row))
            faults += self._row_faults(seen, row_flags, info, row, own)
        faults += self._mask_faults(info, ended)
        self._seen = rows
        self._conclude(ended, faults)
        return faults

    def _conclude(self, ended: set[int], faults: list[str]) -> None:
        if self._mode is AutoresetMode.NEXT_STEP:
            self._waiting = ended
        if self._mode is not AutoresetMode.DISABLED or not ended:
            return
        mask = np.isin(np.arange(self._env.num_envs), sorted(ended))
        observations, _ = self._env.reset(options={"reset_mask": mask})
        rows = self._rows(observations)
        for row, seen in enumerate(rows):
            if row in ended and not same(seen, self._model.reset_row(row)[0]):
                faults.append(
                    f"row {row} was not reset, although its reset_mask is true"
                )
            if row not in ended and not same(seen, self._seen[row]):
                faults.append(f"row {row} changed, although its reset_mask is false")

    def _rows(self, observations: Any) -> list[Any]:
        return list(iterate(self._env.observation_space, _copied(observations)))

    def _row_faults(
        self, seen: Any, flags: list[Any], info: Any, row: int, own: tuple[Any, ...]
    ) -> list[str]:
        observation, reward, terminated, truncated, own_info = own
        names = ("reward", "terminated", "truncated")
        faults = [
            f"{name} of row {row} is {value!r}, not {right!r}"
            for name, value, right in zip(
                names, flags, (reward, terminated, truncated), strict=True
            )
            if value != _item(right)
        ]
        differences = self._differences(seen, info, row, observation, own_info)
        return faults + [f"{what} of row {row} differs" for what in differences]

    def _differences(
        self, seen: Any, info: Any, row: int, observation: Any, own_info: Any
    ) -> list[str]:
        found = [] if same(seen, observation) else ["the observation"]
        if self._compare_info and own_info is not None:
            theirs = row_info(info, row)
            if not same(_plain(theirs), _plain(_copied(own_info))):
                found.append("the info")
        return found

    def _final_faults(self, info: Any, row: int, own: tuple[Any, ...]) -> list[str]:
        """Return faults of the final observation and info of a row that ended."""
        faults = []
        if not _holds(info.get("_final_obs"), row):
            faults.append(f"_final_obs is false for row {row}, which ended")
        elif not same(_row_of(info["final_obs"], row), own[0]):
            faults.append(f"final_obs of row {row} is not its last observation")
        if self._compare_info and own[4]:
            theirs = row_info(info.get("final_info", {}), row)
            if not _holds(info.get("_final_info"), row):
                faults.append(f"_final_info is false for row {row}, which ended")
            elif not same(_plain(theirs), _plain(own[4])):
                faults.append(f"final_info of row {row} is not its last info")
        return faults

    def _mask_faults(self, info: Any, ended: set[int]) -> list[str]:
        """Return faults of the masks of final data, which exclude continuing rows."""
        goes_on = set(range(self._env.num_envs)) - ended
        return [
            f"_{key} is true for row {row}, which did not end"
            for key in _FINAL
            for row in sorted(goes_on)
            if _holds(info.get(f"_{key}"), row)
        ]


def _with_reset(own: tuple[Any, ...], reset: tuple[Any, Any]) -> tuple[Any, ...]:
    """Return the results of a row that is reset within a step."""
    return (reset[0], *own[1:4], reset[1])


# Data of any type.


def same(one: Any, other: Any) -> bool:
    """True if two pieces of data have equal numbers, shapes and keys."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(
            same(value, other[key]) for key, value in one.items()
        )
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict | list | tuple) or isinstance(other, dict | list | tuple):
        return False
    first, second = np.asarray(_numpy(one)), np.asarray(_numpy(other))
    if first.dtype == object and second.dtype == object:
        if first.ndim == 0:
            return bool(first.item() == second.item())
        return same(list(first), list(second))
    return first.shape == second.shape and np.array_equal(
        first, second, equal_nan=np.issubdtype(first.dtype, np.floating)
    )


def row_info(info: Any, row: int) -> dict[str, Any]:
    """Return the info of one row, without final data."""
    found = {}
    for key, value in info.items():
        if key.startswith("_") or key in _FINAL or not _holds(info.get(f"_{key}"), row):
            continue
        is_dict = isinstance(value, dict)
        found[key] = row_info(value, row) if is_dict else _numpy(value)[row]
    return found


def _holds(mask: Any, row: int) -> bool:
    return mask is not None and bool(_numpy(mask)[row])


def _row_of(value: Any, row: int) -> Any:
    """Return one row of observations: of a batch, or of an object array."""
    if isinstance(value, dict):
        return {key: _row_of(part, row) for key, part in value.items()}
    if isinstance(value, tuple):
        return tuple(_row_of(part, row) for part in value)
    return _copied(_numpy(value)[row])


def _sample(env: VectorEnv, number: int) -> Any:
    env.action_space.seed(number)
    return env.action_space.sample()


def _reset_ended(env: VectorEnv, terminated: Any, truncated: Any) -> None:
    """Reset finished rows manually in the mode DISABLED."""
    ended = _numpy(terminated).astype(bool) | _numpy(truncated).astype(bool)
    is_disabled = env.metadata.get("autoreset_mode") is AutoresetMode.DISABLED
    if is_disabled and ended.any():
        env.reset(options={"reset_mask": ended.copy()})


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray) or callable(getattr(value, "detach", None))


def _numpy(value: Any) -> Any:
    """Return a tensor as an array; other values unchanged."""
    if callable(getattr(value, "detach", None)):
        return value.detach().cpu().numpy()
    return value


def _item(value: Any) -> Any:
    item = getattr(value, "item", None)
    return item() if callable(item) else value


def _copied(value: Any) -> Any:
    """A copy, with arrays in place of tensors."""
    if isinstance(value, dict):
        return {key: _copied(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_copied(part) for part in value)
    array = _numpy(value)
    return array.copy() if isinstance(array, np.ndarray) else copy.deepcopy(array)


def _plain(value: Any) -> Any:
    """Return numbers without their container types."""
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    return _item(value) if np.ndim(value) == 0 else value


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        value = value.values()
    elif isinstance(value, np.ndarray) and value.dtype == object:
        value = value.ravel()
    elif not isinstance(value, list | tuple):
        yield value
        return
    for part in value:
        yield from _leaves(part)
