"""Invalid terms and models, refused by name at build time."""

import math
from pathlib import Path
from typing import Any

import mujoco
import pytest
import torch

from mjlab.entity import EntityCfg
from mjlab.envs import ManagerBasedRlEnv
from mjlab.managers import (
    ObservationGroupCfg,
    ObservationTermCfg,
    RewardTermCfg,
    TermError,
)
from mjlab.mujoco_log import ModelFileError
from mjlab.registry import load_task
from mjlab.scene import SceneCfg, build_scene
from mjlab.tasks.cartpole import CartpoleBalanceCfg

# --- Rewards --------------------------------------------------------------------------


def closeness(env: Any, std: Any = 1.0, std_far: Any = 1.0) -> torch.Tensor:
    return torch.ones(env.num_envs)


def cartpole(**rewards: RewardTermCfg) -> CartpoleBalanceCfg:
    cfg = CartpoleBalanceCfg(seed=1)
    cfg.sim.backend = "native"
    cfg.rewards = {**cfg.rewards, **rewards}
    return cfg


@pytest.mark.parametrize(
    "params, text",
    [
        ({"std": 0.0}, "std=0.0; it has to be above 0"),
        ({"std": -0.5}, "std=-0.5"),
        ({"std": 0}, "std=0"),
        ({"std": math.nan}, "std=nan"),
        ({"std_far": {".*": 1.0, "hinge": 0.0}}, r"std_far\['hinge'\]=0.0"),
    ],
)
def test_a_reward_without_a_width_is_refused(params: dict[str, Any], text: str) -> None:
    term = RewardTermCfg(func=closeness, weight=1.0, params=params)
    with pytest.raises(TermError, match=f"Reward term 'near' has {text}"):
        ManagerBasedRlEnv(cartpole(near=term))


def test_the_tracking_reward_of_a_shipped_task_is_refused_without_a_width() -> None:
    cfg: Any = load_task("Velocity-Go1-Flat").env()
    cfg.scene.num_envs, cfg.sim.backend = 1, "native"
    name = next(n for n, t in cfg.rewards.items() if t and "std" in t.params)
    term = cfg.rewards[name]
    cfg.rewards[name] = RewardTermCfg(
        func=term.func, weight=term.weight, params=term.params | {"std": 0.0}
    )
    with pytest.raises(TermError, match=rf"{name!r} has std=0\.0"):
        ManagerBasedRlEnv(cfg)


WEIGHT = torch.ones((), requires_grad=True)


def learned(env: Any) -> torch.Tensor:
    return WEIGHT * torch.ones(env.num_envs)


def learned_observation(env: Any) -> torch.Tensor:
    return learned(env).unsqueeze(-1)


def test_terms_that_require_grad_are_refused_by_name() -> None:
    remedy = r"requires grad.* Return value\.detach\(\)"
    with pytest.raises(TermError, match=f"Reward term 'learned' .*{remedy}"):
        ManagerBasedRlEnv(cartpole(learned=RewardTermCfg(func=learned)))
    cfg = cartpole()
    terms = {"learned": ObservationTermCfg(func=learned_observation)}
    cfg.observations = {"actor": ObservationGroupCfg(terms=terms)}
    with pytest.raises(TermError, match=f"'actor/learned' .*{remedy}"):
        ManagerBasedRlEnv(cfg)


def first_action(env: Any) -> torch.Tensor:
    return env.action_manager.action[:, 0]


def test_a_reward_that_reads_an_action_of_a_task_without_actions_is_named() -> None:
    cfg = cartpole(first=RewardTermCfg(func=first_action))
    cfg.rewards = {"first": cfg.rewards["first"]}
    cfg.observations = {}
    cfg.actions = {}
    with pytest.raises(
        TermError, match=r"Reward term 'first' .* The task declares no actions"
    ):
        ManagerBasedRlEnv(cfg)


def missing_column(env: Any) -> torch.Tensor:
    return env.action_manager.action[:, 7]


def test_missing_parameter_error_names_the_term() -> None:
    with pytest.raises(IndexError) as raised:
        ManagerBasedRlEnv(cartpole(seventh=RewardTermCfg(func=missing_column)))
    assert "reward term 'seventh'" in raised.value.__notes__[0]


# --- Models ---------------------------------------------------------------------------

ARM = """
<mujoco>
  <worldbody>
    <body name="arm" {body}>
      <joint name="elbow" type="hinge" {joint}/>
      <geom name="bone" size="0.1" {geom}/>
    </body>
  </worldbody>
  <actuator><position name="motor" joint="elbow" {motor}/></actuator>
</mujoco>
"""
PARTS = ("body", "joint", "geom", "motor")


def arm(**attributes: str) -> str:
    return ARM.format(**dict.fromkeys(PARTS, "") | attributes)


@pytest.mark.parametrize(
    "attributes, text",
    [
        ({"joint": 'range="-1 nan"'}, "'range' of the joint 'elbow'"),
        ({"joint": 'damping="nan"'}, "'damping' of the joint 'elbow'"),
        ({"body": 'pos="0 0 NaN"'}, "'pos' of the body 'arm'"),
        ({"geom": 'friction="nan 1 1"'}, "'friction' of the geom 'bone'"),
        ({"motor": 'forcerange="-1 nan"'}, "'forcerange' of the actuator 'motor'"),
    ],
)
def test_nan_in_a_model_file_is_refused_with_file_element_and_attribute(
    attributes: dict[str, str], text: str, tmp_path: Path
) -> None:
    file = tmp_path / "arm.xml"
    file.write_text(arm(**attributes))
    mujoco.MjModel.from_xml_path(str(file))  # MuJoCo alone accepts it.
    cfg = SceneCfg(entities={"bot": EntityCfg(source=file)})
    with pytest.raises(ModelFileError, match=f"The model 'bot' has NaN in {text}") as e:
        build_scene(cfg, seed=0)
    assert "\n" not in str(e.value)
    assert e.value.__notes__ == [
        f"This error occurred while building the entity 'bot' from {str(file)!r}."
    ]


def test_duplicate_names_in_a_model_are_reported_in_one_line(tmp_path: Path) -> None:
    twice = arm().replace("<geom", '<geom name="bone" size="0.2"/><geom', 1)
    file = tmp_path / "arm.xml"
    file.write_text(twice)

    def made() -> mujoco.MjSpec:
        return mujoco.MjSpec.from_string(twice)

    for source in (file, made):
        cfg = SceneCfg(entities={"bot": EntityCfg(source=source)})
        with pytest.raises(ModelFileError, match="repeated name 'bone' in geom") as e:
            build_scene(cfg, seed=0)
        assert "\n" not in str(e.value)


def test_error_of_a_model_function_is_passed_on() -> None:
    def broken() -> mujoco.MjSpec:
        raise ValueError("no robot today")

    cfg = SceneCfg(entities={"bot": EntityCfg(source=broken)})
    with pytest.raises(ValueError, match="no robot today"):
        build_scene(cfg, seed=0)
