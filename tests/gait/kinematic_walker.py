"""Environment whose robot follows a synthetic gait.

Base and feet are written before each physics step; a foot on the ground penetrates it
by 4 mm, so that MuJoCo computes contacts and their forces.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from mjlab.entity import EntityCfg
from mjlab.envs import ManagerBasedRlEnvCfg, mdp
from mjlab.managers import (
    ActionTerm,
    ActionTermCfg,
    EventTermCfg,
    ObservationGroupCfg,
    ObservationTermCfg,
    TerminationTermCfg,
)
from mjlab.managers.action import ActionTarget
from mjlab.managers.env import Env
from mjlab.scene import SceneCfg
from mjlab.sensor import ContactMatch, ContactSensorCfg
from mjlab.sim import MujocoCfg, SimulationCfg
from mjlab.terrain import TerrainCfg
from tests.gait.hand_made_gait import Walk, biped
from tests.worlds.physics_env import from_xml

HEIGHT = 0.6
DEPTH = 0.004
SOLE = 0.02
LONGEST_S = 20.0


def walker(walk: Walk) -> EntityCfg:
    """Return a base with feet on slides ahead and up, which only the ground stops."""
    feet = "".join(
        f"""
        <body name="{foot.name}" pos="0 {foot.beside} {SOLE - HEIGHT}">
          <joint name="{foot.name}_ahead" type="slide" axis="1 0 0"/>
          <joint name="{foot.name}_up" type="slide" axis="0 0 1"/>
          <geom name="{foot.name}_sole" type="box" size=".05 .03 {SOLE}" mass="5"
            contype="0"/>
        </body>"""
        for foot in walk.feet
    )
    return from_xml(
        f"""
        <mujoco><worldbody><body name="base" pos="0 0 {HEIGHT}">
          <freejoint/>
          <geom type="box" size=".1 .1 .1" mass="5" contype="0" conaffinity="0"/>
          {feet}
        </body></worldbody></mujoco>"""
    )


@dataclass(kw_only=True)
class FormulaCfg(ActionTermCfg):
    """Declares the term that moves the robot."""

    walk: Any = None

    def bind(self, name: str, env: Env) -> ActionTerm:
        """Create the term for one environment."""
        return Formula(name, self, env)


class Formula(ActionTerm):
    """Sets base and feet by formula, for any action."""

    def __init__(self, name: str, cfg: FormulaCfg, env: Env) -> None:
        super().__init__(name, cfg, env)
        self._robot = env.scene.entity(cfg.entity_name)
        self._everyone = torch.ones(env.num_envs, dtype=torch.bool, device=env.device)
        self._substep = torch.zeros(1, dtype=torch.int64)
        time = np.arange(round(LONGEST_S / env.physics_dt)) * env.physics_dt
        root, joints = states(cfg.walk, time)
        self._root = torch.tensor(root, dtype=torch.float32)
        self._joints = torch.tensor(joints, dtype=torch.float32)

    def reset(self, mask: torch.Tensor) -> None:
        """Restart at time 0, in all worlds."""
        self._substep.masked_fill_(mask.any(), 0)

    def state(self) -> dict[str, torch.Tensor]:
        """Return the live tensors that change; copy into them to restore a snapshot."""
        return {"substep": self._substep}

    @property
    def action_dim(self) -> int:
        """Size of the action, which is ignored."""
        return 1

    @property
    def targets(self) -> tuple[ActionTarget, ...]:
        """None: the state is written."""
        return ()

    def process_actions(self, actions: torch.Tensor) -> None:
        """Ignore the action."""

    def apply_actions(self) -> None:
        """Write the state at the start of a physics step."""
        root = self._root[self._substep].expand(self.num_envs, -1)
        joints = self._joints[self._substep].expand(self.num_envs, -1)
        self._robot.write_root_state(self._everyone, root)
        self._robot.write_joint_state(self._everyone, joints, torch.zeros_like(joints))
        self._substep += 1


def states(walk: Walk, time: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return root states, shape (times, 13), and joint positions at given times."""
    base, one = walk.speed * time, np.ones_like(time)
    cos, sin = np.cos(walk.yaw), np.sin(walk.yaw)
    turn = (np.cos(walk.yaw / 2), 0.0, 0.0, np.sin(walk.yaw / 2))
    velocity = (cos * walk.speed, sin * walk.speed, 0.0, 0.0, 0.0, 0.0)
    still = [value * one for value in (HEIGHT, *turn, *velocity)]
    joints = []
    for foot in walk.feet:
        ahead, height, on_ground = walk.along(foot, time)
        joints += [ahead - base, height - DEPTH * on_ground]
    return np.stack([cos * base, sin * base, *still], 1), np.stack(joints, 1)


def feet_sensor(walk: Walk, **fields: Any) -> ContactSensorCfg:
    """Return the contact sensor of the feet."""
    named = tuple(f"{foot.name}_sole" for foot in walk.feet)
    given: dict[str, Any] = {
        "name": "soles",
        "primary": ContactMatch(mode="geom", pattern=named, entity="robot"),
        "secondary": ContactMatch(mode="body", pattern="terrain"),
        "fields": ("found", "force"),
        "reduce": "netforce",
        "track_air_time": True,
    }
    return ContactSensorCfg(**(given | fields))


def told() -> mdp.UniformVelocityCommandCfg:
    """Return a velocity command."""
    ranges = mdp.UniformVelocityCommandCfg.Ranges(
        lin_vel_x=(-1.0, 1.0), lin_vel_y=(-1.0, 1.0), ang_vel_z=(-0.5, 0.5)
    )
    return mdp.UniformVelocityCommandCfg(
        resampling_time_range=(3.0, 8.0), rel_standing_envs=0.2, ranges=ranges
    )


@dataclass(kw_only=True)
class KinematicCfg(ManagerBasedRlEnvCfg):
    """A synthetic walk as a task, in worlds without gravity and 5 ms physics."""

    walk: Any = field(default_factory=lambda: Walk(feet=biped()))
    decimation: int = 4
    episode_length_s: float = 20.0

    def __post_init__(self) -> None:
        """Derive the remaining fields from the walk."""
        self.scene = SceneCfg(
            terrain=TerrainCfg(),
            entities={"robot": walker(self.walk)},
            sensors=(feet_sensor(self.walk),),
        )
        weightless = MujocoCfg(timestep=0.005, gravity=(0.0, 0.0, 0.0))
        self.sim = SimulationCfg(backend="native", num_threads=1, mujoco=weightless)
        self.commands = {"twist": told()}
        self.actions = {"formula": FormulaCfg(walk=self.walk)}
        command = ObservationTermCfg(
            func=mdp.generated_commands, params={"command_name": "twist"}
        )
        self.observations = {"actor": ObservationGroupCfg(terms={"command": command})}
        self.events = {
            "reset": EventTermCfg(
                func=mdp.reset_root_state_uniform,
                mode="reset",
                params={"pose_range": {}, "velocity_range": {}},
            )
        }
        self.terminations = {
            "time_out": TerminationTermCfg(func=mdp.time_out, time_out=True)
        }
