"""Compare logged targets with the network's output for the logged readings."""

from collections.abc import Iterator

import numpy as np

from mjlab.export.runner.policy import (
    LAST_ACTION,
    Arrays,
    ContractError,
    ContractPolicy,
    checked,
)
from mjlab.export.verify.lines import Found, Row, active, shaped
from mjlab.export.verify.reasons import Departure, likeliest

_ANSWERED = 1e-4
"""Tolerance of targets, relative for values above 1. Processors round differently."""


def other_targets(policy: ContractPolicy, rows: list[Row]) -> Iterator[Found]:
    """Yield missing targets, and targets that differ from the network's."""
    sent, outputs = active(rows), policy.contract["outputs"]
    names = [term["output"] for term in policy.contract["actions"]]
    logged = [shaped(outputs, row["targets"]) for row in sent]
    for line, found in enumerate(logged, 1):
        for output in outputs:
            said = _wrong(output["name"], tuple(output["shape"]), found)
            if output["name"] in names and said is not None:
                yield line, said
                return
    try:
        answers = _answers(policy, sent)
    except ContractError:
        return  # A missing reading is reported separately.
    for output in outputs:
        name = output["name"]
        if name not in names or not sent:
            continue
        found, wanted = _flat(logged, name), _flat(answers, name)
        away = np.abs(found - wanted) / np.maximum(1.0, np.abs(wanted))
        if away.max() <= _ANSWERED:
            continue
        line = int(np.argmax(away.max(axis=1) > _ANSWERED))
        place = int(np.argmax(away[line]))
        elements = output["elements"] or [f"number {i}" for i in range(away.shape[1])]
        reason = _reason(policy, sent, name, Departure(found, wanted, elements))
        yield (
            line + 1,
            f"{name} of {elements[place]} is {found[line, place]:.4g}, expected "
            f"{wanted[line, place]:.4g} from the network: {reason}",
        )


def _wrong(name: str, shape: tuple[int, ...], found: Arrays) -> str | None:
    """Describe an output that is missing, non-finite or of the wrong shape."""
    if name not in found:
        return f"{name} is missing from the targets"
    if found[name].shape != shape:
        return f"{name} has the shape {found[name].shape}, expected {shape}"
    if not np.isfinite(found[name]).all():
        return f"{name} is not a finite number"
    return None


def _answers(
    policy: ContractPolicy, rows: list[Row], *, forgets: bool = False
) -> list[Arrays]:
    """Return the network's outputs for the logged readings.

    Args:
        policy: The policy.
        rows: Lines of the log.
        forgets: Reset the policy's state before each line, as a faulty runner would.
    """
    answers, before = [], None
    policy.reset()
    for row in rows:
        if forgets:
            policy.reset()
        elif LAST_ACTION in policy.state:
            # Use the logged action, so that an error affects one line only.
            blank = policy.state[LAST_ACTION]
            kept = row.get("last_action") if before is None else before
            if kept is not None and np.size(kept) == blank.size:
                kept = np.asarray(kept, blank.dtype).reshape(blank.shape)
                policy.state[LAST_ACTION] = kept
        before = row["targets"].get("action")
        measured = shaped(policy.contract["inputs"], row["measured"])
        answers.append(policy(checked(policy.contract["inputs"], measured)))
    return answers


def _flat(rows: list[Arrays], name: str) -> np.ndarray:
    return np.array([np.ravel(row[name]) for row in rows], float)


def _reason(
    policy: ContractPolicy, rows: list[Row], name: str, departure: Departure
) -> str:
    if policy.state:
        alone = _flat(_answers(policy, rows, forgets=True), name)
        if np.allclose(departure.found, alone, rtol=_ANSWERED, atol=_ANSWERED):
            return "the policy's state was reset in each period"
    known = {j["name"]: j["default_pos"] for j in policy.entity["joints"]}
    names, default = departure.names, None
    if set(names) <= known.keys():
        default = np.array([known[each] for each in names])
    found, expected = departure.found, departure.expected
    return likeliest(Departure(found, expected, names, default)) or "undetermined"
