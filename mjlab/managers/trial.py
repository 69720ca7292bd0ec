"""Calling terms once while the environment is built, to see what they return."""

from collections.abc import Iterable

import torch

from mjlab.managers.env import Env
from mjlab.managers.manager import check_value
from mjlab.managers.term import BoundTerm


def try_terms(terms: Iterable[BoundTerm], env: Env, dtype: torch.dtype) -> None:
    """Call each term once; raise unless it returns one value of `dtype` a world.

    These are terms that are computed before `forward()` in a step, so what they read
    here must not make `forward()` compute more.
    """
    with env.sim.reads.before_forward():
        for term in terms:
            check_value(term, term(), env.num_envs, dtype=dtype)
            forget(term, env)


def forget(term: BoundTerm, env: Env) -> None:
    """Reset a term in all worlds, so that the trial leaves nothing in its memory."""
    term.reset(torch.ones(env.num_envs, dtype=torch.bool, device=env.device))
