"""Tasks and their default factories."""

from dataclasses import dataclass
from typing import Self

from mjlab.envs import ManagerBasedRlEnvCfg
from mjlab.registry import Task
from mjlab.tasks.cartpole import CartpoleBalanceCfg


@dataclass(kw_only=True)
class WatchedCfg(CartpoleBalanceCfg):
    def play(self) -> Self:
        self.episode_length_s = 77.0
        return self


def make() -> ManagerBasedRlEnvCfg:
    return CartpoleBalanceCfg()


def test_default_play_configuration_has_no_noise_and_no_time_limit():
    cfg = Task(env=make).play()
    assert cfg.episode_length_s == 1e9
    assert {group.enable_corruption for group in cfg.observations.values()} == {False}
    assert make().episode_length_s < 100.0


def test_a_task_is_played_with_its_own_play_configuration():
    assert Task(env=WatchedCfg).play().episode_length_s == 77.0


def test_given_play_configuration_is_used():
    assert Task(env=WatchedCfg, play=make).play().episode_length_s < 77.0
