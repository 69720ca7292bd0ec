"""The Go1 with coarse physics: contacts in training."""

from typing import cast

from mjlab.envs import ManagerBasedRlEnv, mdp
from mjlab.mdp.lookup import contact_sensor
from mjlab.tasks.velocity import VelocityGo1FlatCfg


def touching(cfg: VelocityGo1FlatCfg) -> set[str]:
    """Return the names of geoms with contacts."""
    cfg.scene.num_envs = 1
    env = ManagerBasedRlEnv(cfg, device="cpu")
    model = env.sim.mj_model
    masks = model.geom_contype | model.geom_conaffinity
    names = {model.geom(i).name.removeprefix("robot/") for i in masks.nonzero()[0]}
    env.close()
    return names


def test_a_go1_trains_with_contacts_of_feet_and_trunk() -> None:
    feet = {f"{leg}_foot_collision" for leg in ("FR", "FL", "RR", "RL")}
    trained = touching(VelocityGo1FlatCfg(seed=0).for_training())
    assert trained == {"terrain", "trunk_collision"} | feet
    assert "FR_thigh_collision1" in touching(VelocityGo1FlatCfg(seed=0))


def test_the_diagonal_feet_of_a_go1_have_the_same_leg_of_the_clock() -> None:
    cfg = VelocityGo1FlatCfg(seed=0)
    cfg.scene.num_envs = 1
    env = ManagerBasedRlEnv(cfg, device="cpu")
    feet = contact_sensor(env, "feet_contact").primary_names
    legs = env.cfg.rewards["gait_contact"].params["legs"]
    env.close()
    named = {
        foot.removeprefix("robot/")[:2]: leg
        for foot, leg in zip(feet, legs, strict=True)
    }
    assert named["FL"] == named["RR"] == 0
    assert named["FR"] == named["RL"] == 1


def test_more_worlds_stand_in_training_than_in_evaluation() -> None:
    cfg = VelocityGo1FlatCfg(seed=0)
    shares = [
        cast(mdp.UniformVelocityCommandCfg, each.commands["twist"]).rel_standing_envs
        for each in (cfg, cfg.for_training(), cfg)
    ]
    assert shares == [0.1, 0.3, 0.1]
