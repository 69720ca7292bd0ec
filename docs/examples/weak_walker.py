"""Walker whose right calf has between half and full strength, with a muscle cascade.

    python scripts/train.py docs/examples/weak_walker.py:TASK \
        --init-from Muscle-Walk-W18 --agent.hooks.muscles.earlier Muscle-Walk-W18

The first network ships with Muscle-Walk-W18. The second network is trained; it corrects
the first one's activations in proportion to the weakness.
"""

import torch

from mjlab.envs import ManagerBasedRlEnv
from mjlab.managers import EventTermCfg, SceneEntityCfg
from mjlab.muscle import MuscleActionCfg
from mjlab.muscle.events import muscle_strength
from mjlab.registry import Task, load_task
from mjlab.tasks.muscle.walk import WalkW18Cfg

WALKER = load_task("Muscle-Walk-W18")
CALF = ("gastroc_r", "soleus_r")
WEAKEST = 0.5
FORCE = 2
"""Index of the peak force in the parameters of a muscle."""


def weights(env: ManagerBasedRlEnv) -> torch.Tensor:
    """Return 1 for the first network, and 0 (healthy) to 1 (weakest) for the second."""
    soleus, _ = env.scene.entity("robot").index.actuators.find("soleus_r")
    force = env.sim.model.actuator_gainprm[:, soleus, FORCE]
    compiled = env.sim.default("actuator_gainprm")[soleus, FORCE]
    weakness = (1.0 - force / compiled) / (1.0 - WEAKEST)
    return torch.cat((torch.ones_like(weakness), weakness), dim=1)


class WeakWalkerCfg(WalkW18Cfg):
    """Planar walker with a weak right calf."""

    events = {
        "weak_calf": EventTermCfg(
            func=muscle_strength,
            mode="startup",
            params={
                "strength_range": (WEAKEST, 1.0),
                "together": True,
                "asset_cfg": SceneEntityCfg("robot", actuator_names=CALF),
            },
        ),
    }

    def __post_init__(self) -> None:
        """Set the cascade."""
        muscles = self.actions["muscles"]
        assert isinstance(muscles, MuscleActionCfg)
        muscles.cascade = ((), (0,))
        muscles.cascade_weights = weights


TASK = Task(env=WeakWalkerCfg, rl=WALKER.rl, on_cpu=WALKER.on_cpu)
