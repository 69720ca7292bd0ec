"""Curricula: time of their calls, and their logs."""

from typing import Any

import pytest
import torch

from mjlab.managers.curriculum import CurriculumManager, CurriculumTermCfg
from mjlab.managers.term import ManagerTermBase, TermError
from tests.mdp.test_curriculums import bound
from tests.worlds.fake_env import FakeEnv


def test_terms_receive_the_mask_and_their_return_value_is_logged():
    masks: list[list[bool]] = []

    def levels(env: Any, mask: torch.Tensor) -> torch.Tensor:
        masks.append(mask.tolist())
        return torch.tensor([1, 2, 3, 6])

    env = FakeEnv(4)
    terms: Any = {
        "levels": CurriculumTermCfg(func=levels),
        "share": CurriculumTermCfg(func=lambda env: torch.tensor(0.25)),
        "quiet": CurriculumTermCfg(func=lambda env: None),
    }
    curriculum = CurriculumManager(terms, env)  # type: ignore[arg-type]
    curriculum.compute(env.mask(1, 2))
    curriculum.reset(env.mask(1, 2))
    env.episode_log.fold(env.mask(1, 2))
    expected = {"levels": 3.0, "share": 0.25, "quiet": 0.0}
    by_key = {f"Curriculum/{name}": value for name, value in expected.items()}
    assert masks == [[False, True, True, False]]
    assert {k: float(v) for k, v in curriculum.log_values().items()} == by_key
    assert {k: float(v) for k, v in env.episode_log.latest().items()} == by_key


def test_state_of_terms_is_cleared_in_reset_worlds():
    class remembers(ManagerTermBase):
        def __init__(self, cfg: CurriculumTermCfg, env: Any) -> None:
            super().__init__(cfg, env)
            self.resets = torch.zeros(env.num_envs, dtype=torch.int64)

        def __call__(self, env: Any) -> None: ...

        def reset(self, mask: torch.Tensor) -> None:
            self.resets += mask

    env: Any = FakeEnv(4)
    terms: Any = {"term": CurriculumTermCfg(func=remembers)}
    curriculum = CurriculumManager(terms, env)
    curriculum.reset(env.mask(1, 2))
    memory: Any = curriculum.term("term").instance
    assert memory.resets.tolist() == [0, 1, 1, 0]


def test_terms_that_couple_worlds_declare_it():
    class follows_all(ManagerTermBase):
        couples_worlds = True

        def __call__(self, env: Any) -> None: ...

    env = FakeEnv(2)
    terms: Any = {
        "coupled": CurriculumTermCfg(func=follows_all),
        "apart": CurriculumTermCfg(func=lambda env: None),
    }
    curriculum = CurriculumManager(terms, env)  # type: ignore[arg-type]
    assert curriculum.couples_worlds == ("coupled",)


def test_term_with_an_invalid_return_value_is_an_error():
    env = FakeEnv(3)
    curriculum = bound(env, lambda env: torch.zeros(2))
    with pytest.raises(TermError) as error:
        curriculum.compute(env.everyone)
    assert str(error.value) == (
        "Curriculum term 'term' returned (2,); it has to return None, a dictionary "
        "of scalars, or a tensor of shape () or (3,)."
    )


def test_dictionary_of_values_is_logged_under_the_term_name():
    env = FakeEnv(3, extras={"log": {}})
    curriculum = bound(env, lambda env: {"low": torch.tensor(0.5), "high": 2})
    curriculum.compute(env.everyone)
    log = {name: float(value) for name, value in env.extras["log"].items()}
    assert log == {"Curriculum/term/low": 0.5, "Curriculum/term/high": 2.0}
