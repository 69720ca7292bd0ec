"""Configuration of physics: engine, buffer sizes and MuJoCo's options."""

from pathlib import Path
from typing import Annotated, Any, Literal, Self

from mjlab.settings import Config
from mjlab.settings.bounds import above, at_least

BackendName = Literal["auto", "warp", "native"]
IntegratorName = Literal["euler", "rk4", "implicit", "implicitfast", "discrete"]
ForwardStageName = Literal["auto", "velocity", "acceleration"]


class MujocoCfg(Config):
    """MuJoCo's options, with MuJoCo's names. They apply to the whole scene.

    MuJoCo does not apply the options of an attached model file to the scene, so only
    these values are used. The log lists options of a file that differ from them, and
    `from_file` copies the options of a file.
    """

    timestep: float = 0.002
    """Duration of one physics step, in seconds."""

    integrator: IntegratorName = "implicitfast"
    """Integration method."""

    cone: Literal["pyramidal", "elliptic"] = "pyramidal"
    """Shape of the friction cone."""

    jacobian: Literal["auto", "dense", "sparse"] = "auto"
    """Representation of the constraint Jacobian."""

    solver: Literal["newton", "cg", "pgs"] = "newton"
    """Constraint solver. MuJoCo Warp does not support PGS."""

    iterations: int = 100
    """Maximum number of solver iterations per step."""

    tolerance: float = 1e-8
    """Improvement below which the solver stops. Warp uses at least 1e-6 (float32)."""

    ls_iterations: int = 50
    """Maximum number of iterations of the solver's line search."""

    ls_tolerance: float = 0.01
    """Gradient, relative to the cost's scale, below which the line search stops."""

    noslip_iterations: int = 0
    """Iterations of the noslip solver. Zero disables it."""

    noslip_tolerance: float = 1e-6
    """Improvement below which the noslip solver stops."""

    ccd_iterations: int = 50
    """Maximum number of iterations of the convex collision detector."""

    ccd_tolerance: float = 1e-6
    """Tolerance of the convex collision detector."""

    sdf_iterations: int = 10
    """Iterations of the collision detector for signed distance fields."""

    sdf_initpoints: int = 40
    """Starting points of the collision detector for signed distance fields."""

    sleep_tolerance: float = 1e-3
    """Velocity below which a kinematic tree can be put to sleep, if `sleep` is
    enabled."""

    impratio: float = 1.0
    """Ratio of frictional to normal contact impedance."""

    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)
    """Acceleration of gravity in the world frame, in m/s^2."""

    wind: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Velocity of the medium in the world frame, in m/s."""

    magnetic: tuple[float, float, float] = (0.0, -0.5, 0.0)
    """Magnetic flux measured by magnetometers, in the world frame."""

    density: float = 0.0
    """Density of the medium, in kg/m^3. Zero disables lift and drag."""

    viscosity: float = 0.0
    """Viscosity of the medium, in Pa s. Zero disables viscous forces."""

    o_margin: float = 0.0
    """Contact margin that replaces all others if `override` is enabled."""

    o_solref: tuple[float, float] = (0.02, 1.0)
    """Contact solref that replaces all others if `override` is enabled."""

    o_solimp: tuple[float, float, float, float, float] = (0.9, 0.95, 0.001, 0.5, 2.0)
    """Contact solimp that replaces all others if `override` is enabled."""

    o_friction: tuple[float, float, float, float, float] = (1, 1, 0.005, 0.0001, 0.0001)
    """Contact friction that replaces all others if `override` is enabled."""

    disableflags: tuple[str, ...] = ()
    """Features to disable, such as "contact", "gravity", "warmstart"."""

    enableflags: tuple[str, ...] = ()
    """Features to enable, such as "energy", "sleep"."""

    disable_actuator_groups: tuple[int, ...] = ()
    """Groups of actuators that produce no force. Native engine only."""

    memory: str | None = None
    """Memory for one world's stack and contacts on the native engine, such as "2M".

    None lets MuJoCo choose. Virtual memory is cheap; set a size if MuJoCo reports that
    contacts or constraints exceed the memory.
    """

    @classmethod
    def from_file(cls, file: str | Path, **changes: Any) -> Self:
        """Return the options that a model file has when it is loaded on its own.

        Args:
            file: An MJCF file.
            changes: Options to override.
        """
        import mujoco

        from mjlab.sim.options import read_options

        spec = mujoco.MjSpec.from_file(str(file))
        memory = {"memory": str(spec.memory)} if spec.memory > 0 else {}
        return cls(**{**read_options(spec.option), **memory, **changes})


class TrainingPhysicsCfg(Config):
    """Physics options that make training cheaper. Evaluation does not use them.

    The duration of an environment step is unchanged. Lags of actuators, which are
    numbers of physics steps, are converted.
    """

    decimation: Annotated[int, at_least(1)] = 2
    """Number of physics steps per environment step."""

    cone: Literal["pyramidal", "elliptic"] | None = None
    """Shape of the friction cone. None keeps `mujoco.cone`."""

    impratio: float | None = None
    """Ratio of frictional to normal contact impedance. None keeps `mujoco.impratio`."""

    without_contacts: dict[str, tuple[str, ...]] = {}
    """Geoms whose contacts are disabled: geom name patterns by entity name."""


class SimulationCfg(Config):
    """Configuration of physics: engine, buffer sizes, and MuJoCo's options."""

    backend: BackendName = "auto"
    """Engine: MuJoCo Warp, native MuJoCo, or "auto": Warp on a CUDA device, else native
    MuJoCo."""

    mujoco: MujocoCfg = MujocoCfg()
    """MuJoCo's options."""

    training: TrainingPhysicsCfg | None = None
    """Physics options for training. Evaluation, play, export and verification use
    `mujoco` and the environment's `decimation`. If None, training uses the same."""

    num_threads: int | None = None
    """Number of threads of the native engine. None uses all processors."""

    native_jacobian: Literal["auto", "dense", "sparse"] = "auto"
    """Native: representation of the Jacobian if `mujoco.jacobian` is "auto". If this
    field is "auto" too, it is sparse above 32 degrees of freedom, as in Warp."""

    nconmax: int | None = None
    """Warp: average contacts per world; all worlds share the buffer."""

    njmax: int | None = None
    """Warp: maximum constraint rows per world. `calibrate` proposes a value."""

    njmax_nnz: int | None = None
    """Warp: non-zeros per world of the sparse constraint Jacobian."""

    nccdmax: int | None = None
    """Warp: average convex collision pairs per world."""

    contact_sensor_maxmatch: int = 64
    """Warp: maximum contacts that one contact sensor can match."""

    broadphase: Literal["nxn", "sap_tile", "sap_segmented"] | None = None
    """Warp: broad-phase algorithm. None uses the default of MuJoCo Warp."""

    broadphase_filter: tuple[Literal["plane", "sphere", "aabb", "obb"], ...] | None = (
        None
    )
    """Warp: bounding volumes that the broad phase tests. None uses the default of
    MuJoCo Warp."""

    max_velocity: Annotated[float, above(0)] = 1e10
    """Largest velocity of a degree of freedom, in m/s or rad/s. A world above it counts
    as diverged: its episode ends with a reward of zero. The default is MuJoCo's limit.
    A lower limit keeps unstable physics out of rewards and observations."""

    graphs: bool = True
    """Warp: capture each engine method as a graph on first use."""

    forward_stage: ForwardStageName = "auto"
    """Last stage that `forward()` computes. "auto" uses the stage that the quantities
    read by terms require."""
