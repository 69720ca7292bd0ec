"""Run a policy of this framework in an exam, without an adapter.

In each control step, the state of the exam is written to the task's environment. So the
policy uses the same observation terms, action terms, histories and clocks as in
training.
"""

import copy
from collections.abc import Callable, Collection
from typing import Any

import numpy as np
import torch

from mjlab.envs import ManagerBasedRlEnv, ManagerBasedRlEnvCfg, Policy
from mjlab.exam.command import CommandCfg
from mjlab.exam.policy import Readings
from mjlab.exam.rotations import matrices
from mjlab.exam.rules import Exam
from mjlab.gait.walk import held, need_legs, quiet
from mjlab.mdp import UniformVelocityCommand, UniformVelocityCommandCfg
from mjlab.names import UnknownNameError, suggest
from mjlab.threads import torch_threads


class TrainedPolicy:
    """Policy of a velocity task, with the task's observations and actions."""

    def __init__(
        self,
        cfg: ManagerBasedRlEnvCfg,
        load: Callable[[ManagerBasedRlEnv], Policy],
        exam: Exam,
        *,
        worlds: int,
        groups: Collection[str] | None = None,
    ) -> None:
        """Build the task's environment and the policy.

        Args:
            cfg: Training configuration of the task.
            load: Creates the policy for an environment.
            exam: The exam.
            worlds: Largest number of runs that are simulated together.
            groups: Observation groups that the policy reads. None means all.
        """
        legs = need_legs(cfg)
        ranges = _velocity(cfg, legs.command).ranges
        self.command = CommandCfg(
            lin_vel_x=ranges.lin_vel_x,
            lin_vel_y=ranges.lin_vel_y,
            ang_vel_z=ranges.ang_vel_z,
        )
        with torch_threads(1):
            self._env = ManagerBasedRlEnv(
                nominal(cfg, exam, worlds, groups), device="cpu"
            )
            self._policy = load(self._env)
        self._robot = self._env.scene.entity(legs.entity)
        self._joints = _places(self._robot.joint_names, exam)
        self._everyone = torch.ones(worlds, dtype=torch.bool)
        term = self._env.command_manager.term(legs.command)
        assert isinstance(term, UniformVelocityCommand)
        self._given, self._ends = term.state()["drawn"], term.state()["ends"]
        actuators = self._robot.actuators
        driven = _places(actuators.names, exam)
        self.owned = np.ones(len(exam.joints), bool)
        self.kp = actuators.stiffness[0].double().numpy()[driven]
        self.kd = actuators.damping[0].double().numpy()[driven]
        self._observations: Any = None

    def described(self) -> dict[str, Any]:
        """Return an empty dict: all settings are in `command`."""
        return {}

    def close(self) -> None:
        """Close the environment."""
        self._env.close()

    def reset(self, runs: int) -> None:
        """Prepare `runs` new episodes; they start at the next call of `act`."""
        if runs > self._env.num_envs:
            raise ValueError(
                f"The exam simulates {runs} runs at a time, but the policy was built "
                f"with worlds={self._env.num_envs}. Pass worlds={runs} or more."
            )
        self._policy.reset()
        self._observations = None

    def act(self, seen: Readings) -> np.ndarray:
        """Return position targets of all joints, rad, shape (runs, joints)."""
        with torch_threads(1), torch.no_grad():
            observations = self._observe(seen)
            action = self._policy(observations)
            self._env.lifecycle.set_action(action)
            self._env.lifecycle.set_targets()
            targets = self._robot.data.targets.joint_pos[: len(seen.active)]
        return targets.double().numpy()[:, self._joints]

    def _observe(self, seen: Readings) -> Any:
        """Write the readings to the environment; return the observations."""
        phases = self._env.lifecycle
        if seen.step == 0:
            phases.initialise(events=False)
            self._write(seen)
            phases.apply()
            # Disable resampling of the command, which the exam sets.
            self._ends.fill_(torch.iinfo(self._ends.dtype).max)
        else:
            # This physics step only advances clocks and histories. The state of the
            # exam overwrites its result.
            phases.apply_targets()
            phases.physics_step()
            self._write(seen)
            phases.evaluate()
            phases.reset_done()
        self._given[: len(seen.active), :3] = torch.from_numpy(seen.command).float()
        phases.update_kinematics()
        return phases.observe()[0]

    def _write(self, seen: Readings) -> None:
        """Write base and joint states of active runs to the simulation."""
        runs = self._everyone.clone()
        runs[: len(seen.active)] = torch.from_numpy(seen.active)
        runs[len(seen.active) :] = False
        robot = self._robot
        pose = np.concatenate((seen.root_pos, seen.root_quat), axis=1)
        robot.write_root_pose_w(runs, self._padded(pose))
        turned = np.einsum(
            "rij,rj->ri", matrices(seen.root_quat), seen.root_velocity[:, 3:]
        )
        velocity = np.concatenate((seen.root_velocity[:, :3], turned), axis=1)
        robot.write_root_velocity_w(runs, self._padded(velocity))
        places = np.argsort(self._joints)
        robot.write_joint_state(
            runs,
            self._padded(seen.joint_pos[:, places]),
            self._padded(seen.joint_vel[:, places]),
        )

    def _padded(self, rows: np.ndarray) -> torch.Tensor:
        whole = torch.zeros(self._env.num_envs, rows.shape[1])
        whole[: len(rows)] = torch.from_numpy(rows).float()
        return whole


def nominal(
    cfg: ManagerBasedRlEnvCfg,
    exam: Exam,
    worlds: int,
    groups: Collection[str] | None = None,
) -> ManagerBasedRlEnvCfg:
    """Return the task without noise, randomisation, rewards and terminations.

    The exam sets the commands and the state, so a control step has one physics step.
    """
    step = cfg.decimation * cfg.sim.mujoco.timestep
    if abs(step - exam.control_s) > 1e-9:
        raise ValueError(
            f"The policy acts every {step:g} s, but the {exam.name} exam needs a "
            f"policy that acts every {exam.control_s:g} s."
        )
    changed = copy.copy(held(quiet(cfg), worlds, exam.seconds))
    changed.metrics, changed.rewards, changed.terminations = {}, {}, {}
    if groups is not None:
        listed = changed.observations
        changed.observations = {name: listed[name] for name in groups}
    changed.sim = copy.copy(changed.sim)
    changed.sim.mujoco = copy.copy(changed.sim.mujoco)
    changed.sim.mujoco.timestep, changed.decimation = step, 1
    return changed


def _velocity(cfg: ManagerBasedRlEnvCfg, name: str) -> UniformVelocityCommandCfg:
    command = cfg.commands[name]
    assert isinstance(command, UniformVelocityCommandCfg)
    return command


def _places(names: Collection[str], exam: Exam) -> np.ndarray:
    """Return the index of each exam joint in `names`; raise if the joints differ."""
    listed = list(names)
    for name in exam.joints:
        if name not in listed:
            raise UnknownNameError(
                f"The {exam.name} exam needs the joint {name!r}, which the task's "
                f"robot does not have. {suggest(name, listed)}"
            )
    if len(listed) != len(exam.joints):
        raise UnknownNameError(
            f"The task's robot has {len(listed)} joints, but the {exam.name} exam "
            f"needs {len(exam.joints)}."
        )
    return np.array([listed.index(name) for name in exam.joints])
