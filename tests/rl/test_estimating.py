"""Students that act with the teacher's policy on an estimated observation."""

import copy
from typing import Any

import pytest
import torch
from rsl_rl.models import MLPModel
from rsl_rl.storage import RolloutStorage
from tensordict import TensorDict

from mjlab.rl import (
    CnnCfg,
    DaggerCfg,
    DistillationAgentCfg,
    EstimatingModelCfg,
    GaussianCfg,
    MlpModelCfg,
)
from mjlab.rl.algorithms.dagger import Dagger
from mjlab.rl.check import AgentError, check_agent
from mjlab.rl.learners import to_rsl_rl
from mjlab.rl.models.estimating import EstimatingModel

GROUPS = {
    "student": ["clock", "camera", "state"],
    "teacher": ["state", "ground", "clock"],
}
CNN = CnnCfg(output_channels=(4, 4), kernel_size=3, stride=2, padding="zeros")


def agent(*, normalized: bool = True) -> DistillationAgentCfg:
    network = MlpModelCfg(
        hidden_dims=(16,),
        obs_normalization=normalized,
        distribution_cfg=GaussianCfg(init_std=0.5),
    )
    quiet = copy.deepcopy(network)
    quiet.distribution_cfg = GaussianCfg(init_std=0.1)
    student = EstimatingModelCfg(
        estimated="ground",
        policy=quiet,
        hidden_dims=(32,),
        obs_normalization=True,
        cnn_cfg=CNN,
    )
    sets = {name: tuple(groups) for name, groups in GROUPS.items()}
    return DistillationAgentCfg(
        student=student, teacher=network, obs_groups=sets, algorithm=DaggerCfg()
    )


def observed(worlds: int = 64) -> TensorDict:
    """Images that show the ground: a bright column at the place of a step."""
    generator = torch.Generator().manual_seed(2)
    place = torch.randint(4, (worlds,), generator=generator)
    image = torch.zeros(worlds, 1, 8, 12, dtype=torch.uint8)
    for world, start in enumerate(place.tolist()):
        image[world, 0, :, 3 * start : 3 * start + 3] = 255
    ground = 7.0 + 5.0 * torch.nn.functional.one_hot(place, 4)
    groups = {
        "state": torch.randn(worlds, 3, generator=generator) + 2.0,
        "clock": torch.randn(worlds, 2, generator=generator),
        "ground": ground.float(),
        "camera": image,
    }
    return TensorDict(groups, batch_size=[worlds])


def networks(
    obs: TensorDict, *, normalized: bool = True
) -> tuple[EstimatingModel, MLPModel]:
    """Build a student from a teacher with other weights than its own policy."""
    torch.manual_seed(0)
    options = to_rsl_rl(agent(normalized=normalized))
    built: list[Any] = []
    for name, kind in (("student", EstimatingModel), ("teacher", MLPModel)):
        options[name].pop("class_name")
        size = {"size": 4} if name == "student" else {}
        built.append(kind(obs, GROUPS, name, 2, **size, **options[name]))
    student, teacher = built
    for _ in range(20):
        teacher.update_normalization(obs)
    student.start_from(teacher)
    return student, teacher


def test_with_the_true_observation_the_student_acts_like_the_teacher() -> None:
    obs = observed()
    student, teacher = networks(obs)
    known: Any = teacher.obs_normalizer
    true = (obs["ground"] - known._mean[:, 3:7]) / (known._std[:, 3:7] + known.eps)
    torch.testing.assert_close(student.act(obs, true), teacher(obs))
    assert student.estimation_error(obs, true) < 1e-10
    assert student.estimation_error(obs, true + 2.0) == pytest.approx(4.0)
    wrong = student.act(obs, true.roll(1, dims=1)) - teacher(obs)
    assert wrong.abs().max() > 0.01


def test_without_normalisation_the_estimate_is_the_observation() -> None:
    obs = observed()
    student, teacher = networks(obs, normalized=False)
    torch.testing.assert_close(student.act(obs, obs["ground"]), teacher(obs))
    assert student.estimation_error(obs, obs["ground"]) == 0.0


def test_actions_do_not_depend_on_the_true_observation() -> None:
    obs = observed()
    student, _ = networks(obs)
    before = student(obs)
    assert torch.equal(before, student.act(obs, student.estimate(obs)))
    assert torch.equal(before, student(obs.exclude("ground")))
    obs["camera"] = obs["camera"].roll(3, dims=-1)
    assert not torch.equal(before, student(obs))


def test_the_noise_is_that_of_the_student() -> None:
    obs = observed(4000)
    student, _ = networks(obs)
    with torch.no_grad():
        noise = student(obs, stochastic_output=True) - student(obs)
    assert noise.std() == pytest.approx(0.1, rel=0.05)
    assert student.output_std.mean().item() == pytest.approx(0.1, rel=1e-3)


def test_dagger_learns_the_estimate_and_keeps_the_policy() -> None:
    obs = observed()
    student, teacher = networks(obs)
    learner = Dagger(
        student,
        teacher,
        RolloutStorage("distillation", len(obs), 1, obs, [2]),
        num_learning_epochs=1,
        gradient_length=1,
        learning_rate=3e-3,
        capacity=256,
        batch_size=64,
        num_updates_per_iteration=40,
        teacher_share=1.0,
    )
    kept = copy.deepcopy(student.policy.state_dict())
    rows = []
    for _ in range(5):
        learner.act(obs)
        done = torch.zeros(len(obs))
        learner.process_env_step(obs, done, done, {})
        rows.append(learner.update())
    assert rows[-1]["behavior"] < 0.1 * rows[0]["behavior"]
    assert rows[-1]["estimate"] < 0.1 * rows[0]["estimate"]
    for name, value in student.policy.state_dict().items():
        assert torch.equal(value, kept[name]), name
    stored = learner.memory()["observations"]
    assert set(stored) == {"state", "clock", "camera", "ground"}


def test_the_exported_form_returns_the_same_actions() -> None:
    obs = observed()
    student, _ = networks(obs)
    student.update_normalization(obs)
    form: Any = student.as_onnx()
    assert form.input_names == ["obs", "camera"]
    assert [list(one.shape) for one in form.get_dummy_inputs()] == [
        [1, 5],
        [1, 1, 8, 12],
    ]
    numbers = torch.cat([obs[name] for name in student.obs_groups], dim=1)
    torch.testing.assert_close(form(numbers, obs["camera"]), student(obs))


def test_faults_of_the_configuration_are_named() -> None:
    cfg = agent()
    groups = ["state", "ground", "clock", "camera"]
    check_agent(cfg, groups, 4)
    cfg.student.estimated = "grund"  # type: ignore[union-attr]
    cfg.student.policy.distribution_cfg = None  # type: ignore[union-attr]
    with pytest.raises(AgentError) as raised:
        check_agent(cfg, groups, 4)
    first, second = str(raised.value).split("\n")
    assert "agent.student.estimated='grund' is not a group of the teacher" in first
    assert "'ground'" in first
    assert second.startswith("agent.student.policy.distribution_cfg is None")
    cfg = agent()
    cfg.obs_groups["student"] = ("camera", "state")
    with pytest.raises(
        AgentError, match=r"agent.obs_groups\['student'\] has no 'clock'"
    ):
        check_agent(cfg, groups, 4)
