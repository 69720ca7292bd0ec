"""Learner configurations, compared with RSL-RL's constructors and its own errors."""

import dataclasses
import inspect
import subprocess
import sys
import typing

import pytest
import rsl_rl.utils
import torch
from rsl_rl.algorithms import PPO
from rsl_rl.extensions import RandomNetworkDistillation, Symmetry
from rsl_rl.models import CNNModel
from rsl_rl.modules import CNN
from rsl_rl.modules.distribution import Distribution

import mjlab.rl
from mjlab.envs import ManagerBasedRlEnv
from mjlab.rl import (
    AgentCfg,
    BetaCfg,
    CnnCfg,
    CnnModelCfg,
    ConstantScheduleCfg,
    DistillationAgentCfg,
    DistillationCfg,
    GaussianCfg,
    HeteroscedasticGaussianCfg,
    LinearScheduleCfg,
    MlpModelCfg,
    PpoAgentCfg,
    PpoCfg,
    RndCfg,
    RnnModelCfg,
    SpatialCnnModelCfg,
    StepScheduleCfg,
    SymmetryCfg,
    TrainingLoop,
    check_agent,
    groups_of,
)
from mjlab.rl.algorithms.config import OptimizerName
from mjlab.rl.distributed import Ranks
from mjlab.rl.learners import Learner, to_rsl_rl
from mjlab.rl.models.config import Activation
from mjlab.rl.vecenv import RslRlVecEnv
from mjlab.settings.file import read_out
from tests.worlds.rl_runs import agent_cfg, env_cfg, make_env, make_loop, network

# Arguments that RSL-RL gets from elsewhere than the configuration.
MODEL = {"obs", "obs_groups", "obs_set", "output_dim"}
ALGORITHM = {"storage", "device", "multi_gpu_cfg"}
CASES = [
    (GaussianCfg(), None, {"output_dim"}, set()),
    (HeteroscedasticGaussianCfg(), None, {"output_dim"}, set()),
    (BetaCfg(), None, {"output_dim"}, set()),
    (MlpModelCfg(), None, MODEL, set()),
    (RnnModelCfg(), None, MODEL, set()),
    (CnnModelCfg(), CNNModel, MODEL | {"cnns"}, set()),
    (SpatialCnnModelCfg(), CNNModel, MODEL | {"cnns"}, {"temperature"}),
    # `construct_algorithm` removes this one before it calls the constructor.
    (PpoCfg(), PPO, ALGORITHM | {"actor", "critic"}, {"share_cnn_encoders"}),
    (DistillationCfg(), None, ALGORITHM | {"student", "teacher", "kwargs"}, set()),
    (CnnCfg(), CNN, {"input_dim", "input_channels"}, set()),
    (
        RndCfg(),
        RandomNetworkDistillation,
        {"num_states", "obs_groups", "device"},
        set(),
    ),
    (SymmetryCfg(data_augmentation_func=print), Symmetry, {"env"}, set()),
]


@pytest.mark.parametrize(
    ("cfg", "built", "injected", "extra"), CASES, ids=lambda v: type(v).__name__
)
def test_fields_and_defaults_are_those_of_rsl_rl(cfg, built, injected, extra):
    built = built or rsl_rl.utils.resolve_callable(cfg.class_name)
    signature = inspect.signature(built).parameters
    fields = {f.name for f in dataclasses.fields(cfg)}
    assert fields - extra == set(signature) - injected
    for name in fields - extra:
        default = signature[name].default
        if default is inspect.Parameter.empty or default is None:
            continue  # RSL-RL leaves the choice to the user.
        if name in ("hidden_dims", "entropy_coef"):
            continue  # As in mjlab: tests/house/test_mjlab_fields.py compares them.
        assert getattr(cfg, name) == default, name


@pytest.mark.parametrize(
    "schedule", [ConstantScheduleCfg(), StepScheduleCfg(), LinearScheduleCfg()]
)
def test_schedules_of_curiosity_are_those_of_rsl_rl(schedule):
    method = getattr(RandomNetworkDistillation, f"_{schedule.mode}_weight_schedule")
    wanted = set(inspect.signature(method).parameters) - {"self", "step", "kwargs"}
    assert {f.name for f in dataclasses.fields(schedule)} == wanted


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (
            {"init_std": 0.5, "std_type": "log"},
            GaussianCfg(init_std=0.5, std_type="log"),
        ),
        ({"class_name": "GaussianDistribution"}, GaussianCfg()),
        ({"class_name": "rsl_rl.modules.distribution:BetaDistribution"}, BetaCfg()),
        (
            {"class_name": "HeteroscedasticGaussianDistribution", "init_std": 2.0},
            HeteroscedasticGaussianCfg(init_std=2.0),
        ),
    ],
)
def test_a_distribution_may_be_given_as_rsl_rl_takes_it(given, wanted):
    assert MlpModelCfg(distribution_cfg=given).distribution_cfg == wanted
    assert RnnModelCfg(distribution_cfg=dict(given)).distribution_cfg == wanted


def test_an_unknown_distribution_is_refused():
    with pytest.raises(ValueError, match=r"no distribution 'Gausian'.*'GaussianDistr"):
        MlpModelCfg(distribution_cfg={"class_name": "Gausian"})  # pyright: ignore
    with pytest.raises(TypeError, match=r"GaussianCfg has no field 'std'.*'std_type'"):
        MlpModelCfg(distribution_cfg={"std": 1.0})  # pyright: ignore


def test_every_distribution_of_rsl_rl_has_a_configuration():
    def leaves(cls):
        return {cls}.union(*map(leaves, cls.__subclasses__()))

    known = {
        rsl_rl.utils.resolve_callable(cfg.class_name)
        for cfg in (GaussianCfg(), HeteroscedasticGaussianCfg(), BetaCfg())
    }
    theirs = {
        cls for cls in leaves(Distribution) if cls.__module__.startswith("rsl_rl")
    }
    assert theirs - {Distribution} == known


@pytest.mark.parametrize("name", typing.get_args(Activation))
def test_every_activation_is_known_to_rsl_rl(name):
    rsl_rl.utils.resolve_nn_activation(name)


@pytest.mark.parametrize("name", typing.get_args(OptimizerName))
def test_every_optimizer_is_known_to_rsl_rl(name):
    rsl_rl.utils.resolve_optimizer(name)


def test_configurations_are_passed_to_rsl_rl_by_type():
    cfg = agent_cfg(
        actor=RnnModelCfg(rnn_type="gru", distribution_cfg=BetaCfg()),
        critic=CnnModelCfg(cnn_cfg={"camera": CnnCfg(output_channels=(4,))}),
        algorithm=PpoCfg(rnd_cfg=RndCfg(weight_schedule=StepScheduleCfg())),
    )
    made = to_rsl_rl(cfg)
    assert made["actor"]["class_name"] == "rsl_rl.models:RNNModel"
    assert made["actor"]["rnn_type"] == "gru"
    assert made["actor"]["distribution_cfg"] == {
        "class_name": "rsl_rl.modules.distribution:BetaDistribution",
        "action_range": (-1.0, 1.0),
    }
    assert made["critic"]["cnn_cfg"]["camera"]["output_channels"] == (4,)
    assert "distribution_cfg" not in made["critic"]
    assert made["algorithm"]["rnd_cfg"]["weight_schedule"]["mode"] == "step"
    assert "symmetry_cfg" not in made["algorithm"]


def mirrored(env, obs, actions):
    """The cartpole is symmetric: all but the cosine of the angle change sign."""
    if obs is not None:
        sign = torch.tensor([-1.0, 1.0, -1.0, -1.0, -1.0])
        flipped = obs.clone()
        for group in ("actor", "critic"):
            flipped[group] = obs[group] * sign
        obs = torch.cat([obs, flipped])
    if actions is not None:
        actions = torch.cat([actions, -actions])
    return obs, actions


def test_a_mirror_loss_makes_the_policy_symmetric():
    symmetry = SymmetryCfg(
        data_augmentation_func=mirrored, use_mirror_loss=True, mirror_loss_coeff=10.0
    )
    algorithm = PpoCfg(num_learning_epochs=4, num_mini_batches=1, symmetry_cfg=symmetry)
    actor = MlpModelCfg(hidden_dims=(8,), distribution_cfg=GaussianCfg())
    losses = []
    for iterations in (1, 6):
        loop = make_loop(agent_cfg(iterations, algorithm=algorithm, actor=actor))
        losses.append(loop.run().figures["Loss/symmetry"])
    assert losses[1] < 0.5 * losses[0]


def test_networks_of_one_seed_are_the_same_whatever_the_rank():
    first = make_loop(seed=5, ranks=Ranks())
    second = make_loop(seed=5)
    assert torch.equal(
        first.learner.policy.state_dict()["mlp.0.weight"],
        second.learner.policy.state_dict()["mlp.0.weight"],
    )


def test_an_unknown_kind_of_agent_is_refused_by_name():
    worlds = RslRlVecEnv(make_env())
    with pytest.raises(TypeError, match="AgentCfg; it has to be a PpoAgentCfg"):
        Learner(worlds, AgentCfg(), Ranks())


# --- Errors before anything is built --------------------------------------------------

GROUPS = ["actor", "critic", "camera"]
POLICY = MlpModelCfg(distribution_cfg=GaussianCfg())


@pytest.mark.parametrize(
    ("cfg", "said"),
    [
        (agent_cfg(actor=network()), "actor.distribution_cfg is None"),
        (agent_cfg(critic=POLICY), "critic.distribution_cfg has to be None"),
        (
            agent_cfg(num_steps_per_env=0),
            "num_steps_per_env is 0; it has to be 1 or more",
        ),
        (
            agent_cfg(algorithm=PpoCfg(num_mini_batches=5)),
            "num_mini_batches=5 does not divide the 48 samples",
        ),
        (
            agent_cfg(critic=RnnModelCfg(), algorithm=PpoCfg(num_mini_batches=3)),
            "num_mini_batches=3 does not divide the 8 worlds",
        ),
        (
            agent_cfg(obs_groups={"actor": ("actor",)}),
            "obs_groups has no groups for 'critic'",
        ),
        (
            agent_cfg(algorithm=PpoCfg(num_mini_batches=1, rnd_cfg=RndCfg())),
            "obs_groups has no groups for 'rnd_state'",
        ),
        (
            agent_cfg(
                critic=RnnModelCfg(),
                algorithm=PpoCfg(
                    symmetry_cfg=SymmetryCfg(data_augmentation_func=mirrored)
                ),
            ),
            "symmetry_cfg does not work with recurrent",
        ),
        (
            DistillationAgentCfg(
                num_steps_per_env=20,
                obs_groups={"student": ("actor",), "teacher": ("critic",)},
            ),
            "gradient_length=15 does not divide the 20 steps",
        ),
    ],
)
def test_invalid_settings_are_reported_before_training(cfg, said):
    with pytest.raises(ValueError) as caught:
        check_agent(cfg, GROUPS, num_envs=8)
    assert said in str(caught.value)
    assert str(caught.value).count("\n") == 0


def test_mistakes_are_reported_before_an_environment_is_built():
    cfg = env_cfg()
    cfg.observations["critic"].concatenate_terms = False
    terms = ["critic/cart_pos", "critic/pole_angle", "critic/velocity"]
    assert groups_of(cfg) == ["actor", *terms]
    with pytest.raises(ValueError, match="names 'critic'"):
        check_agent(agent_cfg(), groups_of(cfg), 8)
    check_agent(agent_cfg(), groups_of(env_cfg()), 8)


def test_a_group_that_is_not_concatenated_is_observed_term_by_term():
    cfg = env_cfg()
    cfg.observations["critic"].concatenate_terms = False
    sees = {"actor": ("actor",), "critic": ("critic/velocity", "actor")}
    loop = TrainingLoop(ManagerBasedRlEnv(cfg), agent_cfg(1, obs_groups=sees))
    loop.run()
    assert loop.learner.algorithm.critic.obs_dim == 2 + 5


def test_all_problems_are_reported_together():
    cfg = agent_cfg(actor=network(), critic=POLICY, obs_groups={})
    with pytest.raises(ValueError) as caught:
        check_agent(cfg, GROUPS, num_envs=8)
    assert str(caught.value).count("\n") == 3


def test_default_agent_settings_are_valid():
    check_agent(PpoAgentCfg(), GROUPS, num_envs=8)


def test_configurations_need_no_torch():
    code = "import sys; sys.modules['torch'] = None; import mjlab.rl.config, mjlab.rl"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_names_of_mjlab_create_our_configurations_and_files_contain_our_names():
    theirs = mjlab.rl.RslRlOnPolicyRunnerCfg(
        actor=mjlab.rl.RslRlModelCfg(distribution_cfg={"init_std": 1.0}),
        critic=mjlab.rl.RslRlModelCfg(),
        algorithm=mjlab.rl.RslRlPpoAlgorithmCfg(),
        num_steps_per_env=8,
    )
    ours = PpoAgentCfg(
        actor=MlpModelCfg(distribution_cfg=GaussianCfg()),
        critic=MlpModelCfg(),
        num_steps_per_env=8,
    )
    assert theirs == ours
    kinds = read_out({"agent": theirs}).names.values()
    assert not [kind for kind in kinds if "RslRl" in kind]
    with pytest.raises(TypeError, match="has no field 'experiment_name'"):
        mjlab.rl.RslRlOnPolicyRunnerCfg(experiment_name="x")  # pyright: ignore
