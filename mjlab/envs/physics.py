"""Plans that run the physics steps of an environment step, with shortcuts for speed."""

from functools import partial

from mjlab.actuator import WriteTime
from mjlab.envs.phases import AfterPhase, phase
from mjlab.managers import ActionTerm, ManagedEnv
from mjlab.sensor import Sensor


class PhysicsPlan:
    """Runs physics steps one by one, and writes the controls before each of them.

    `env.lifecycle` and observers of phases use this plan, because the state can be read
    and written between its calls. Subclasses use shortcuts that do not change the
    result.
    """

    def __init__(
        self, env: ManagedEnv, decimation: int, after_phase: list[AfterPhase]
    ) -> None:
        """Find the terms and actuators that write controls within a physics step.

        Args:
            env: The environment, with its managers.
            decimation: Number of physics steps per environment step.
            after_phase: Hooks, called with the name of each finished phase.
        """
        self.decimation, self.after_phase = decimation, after_phase
        self._sim, self._scene, self._dt = env.sim, env.scene, env.physics_dt
        self._action, self._metrics = env.action_manager, env.metrics_manager
        entities = env.scene.entities.values()
        inside = WriteTime.INSIDE
        self._late = [e for e in entities if e.actuators.write_time == inside]
        self._early = [e for e in entities if e.actuators.write_time != inside]
        acts_inside = self._late or self._action.late_terms
        self._control = self._act_inside if acts_inside else None

    def run(self) -> None:
        """Run all physics steps of an environment step."""
        for _ in range(self.decimation):
            self.apply_targets()
            self.substep()

    @phase("apply_targets")
    def apply_targets(self) -> None:
        """Write the controls of action terms and actuators before a physics step."""
        self._action.apply_action()
        for entity in self._early:
            entity.apply()

    @phase("physics_step")
    def substep(self) -> None:
        """Advance physics by one timestep."""
        self._sim.step(self._control)
        self._update()

    def _act_inside(self) -> None:
        """Write the controls of action terms and actuators within a physics step."""
        self._action.apply_late()
        for entity in self._late:
            entity.apply()

    def _update(self) -> None:
        """Update entities, sensors and metrics after a physics step."""
        self._scene.update(self._dt)
        self._metrics.compute_substep()


class OneByOne(PhysicsPlan):
    """Reuses the results of the last `forward()`, and writes constant controls once."""

    def __init__(
        self, env: ManagedEnv, decimation: int, after_phase: list[AfterPhase]
    ) -> None:
        super().__init__(env, decimation, after_phase)
        self._writes_once = controls_hold(env)

    def run(self) -> None:
        """Run all physics steps of an environment step."""
        self.apply_targets()
        self.first_substep()
        for _ in range(self.decimation - 1):
            if not self._writes_once:
                self.apply_targets()
            self.substep()

    @phase("physics_step")
    def first_substep(self) -> None:
        """Advance physics by one timestep, reusing the results of `forward()`."""
        self._sim.finish_step(self._control)
        self._update()


class Together(PhysicsPlan):
    """Runs all physics steps in one call of the engine, with constant controls.

    No metrics are computed between physics steps.
    """

    def __init__(
        self, env: ManagedEnv, decimation: int, after_phase: list[AfterPhase]
    ) -> None:
        super().__init__(env, decimation, after_phase)
        self._update_scene = partial(env.scene.update, env.physics_dt)

    def run(self) -> None:
        """Run all physics steps of an environment step."""
        self.apply_targets()
        self.all_substeps()

    @phase("physics_step")
    def all_substeps(self) -> None:
        """Advance physics by `decimation` timesteps, then update sensors for each."""
        self._sim.step_many(self.decimation, self._update_scene)


def plan_physics(
    env: ManagedEnv, decimation: int, after_phase: list[AfterPhase]
) -> PhysicsPlan:
    """Return the fastest plan that the engine, terms and sensors allow.

    Args:
        env: The environment, with its managers.
        decimation: Number of physics steps per environment step.
        after_phase: Hooks, called with the name of each finished phase.
    """
    joins = env.sim.joins_steps and controls_hold(env) and sensors_only_read(env)
    plan = Together if joins else OneByOne
    return plan(env, decimation, after_phase)


def controls_hold(env: ManagedEnv) -> bool:
    """Return True if controls are constant during an environment step."""
    action = env.action_manager
    each = [type(term).apply_actions for term in action.terms.values()]
    times = [e.actuators.write_time for e in env.scene.entities.values()]
    return (
        all(method is ActionTerm.apply_actions for method in each)
        and not action.late_terms
        and all(time == WriteTime.STEP for time in times)
    )


def sensors_only_read(env: ManagedEnv) -> bool:
    """Return True if only MuJoCo's sensor readings are used between physics steps."""
    return not env.metrics_manager.sees_substeps and all(
        sensor.updates_from_readings or type(sensor).update is Sensor.update
        for sensor in env.scene.sensors.values()
    )
