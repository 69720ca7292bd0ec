"""What a user may set about the physics: options, sizes, the engine."""

from pathlib import Path
from typing import Annotated, Any, Literal, Self

from mjlab.settings import Config
from mjlab.settings.bounds import at_least

BackendName = Literal["auto", "warp", "native"]
IntegratorName = Literal["euler", "rk4", "implicit", "implicitfast", "discrete"]
ForwardStageName = Literal["auto", "velocity", "acceleration"]


class MujocoCfg(Config):
    """MuJoCo's options, by MuJoCo's names. They apply to the whole scene.

    Options that an attached file sets for itself do not reach the scene: MuJoCo does
    not carry them over, so what counts is written here. A line of the log tells of
    those that differ, and `from_file` takes them over.
    """

    timestep: float = 0.002
    """Duration of one physics step, in seconds."""

    integrator: IntegratorName = "implicitfast"
    """How velocities are integrated."""

    cone: Literal["pyramidal", "elliptic"] = "pyramidal"
    """Shape of the friction cone."""

    jacobian: Literal["auto", "dense", "sparse"] = "auto"
    """Representation of the constraint Jacobian."""

    solver: Literal["newton", "cg", "pgs"] = "newton"
    """Constraint solver. MuJoCo Warp has no PGS."""

    iterations: int = 100
    """Most iterations of the constraint solver in a step."""

    tolerance: float = 1e-8
    """Improvement below which the solver stops. Warp raises it to 1e-6 (float32)."""

    ls_iterations: int = 50
    """Most iterations of the solver's line search."""

    ls_tolerance: float = 0.01
    """Gradient, relative to the cost's scale, below which the line search stops."""

    noslip_iterations: int = 0
    """Iterations of the solver that removes slip. Zero leaves it out."""

    noslip_tolerance: float = 1e-6
    """Improvement below which the noslip solver stops."""

    ccd_iterations: int = 35
    """Most iterations of the convex collision detector."""

    ccd_tolerance: float = 1e-6
    """Tolerance of the convex collision detector."""

    sdf_iterations: int = 10
    """Iterations of the collision detector of signed distance fields."""

    sdf_initpoints: int = 40
    """Starting points of the collision detector of signed distance fields."""

    sleep_tolerance: float = 1e-3
    """Velocity below which a tree may fall asleep, when `sleep` is enabled."""

    impratio: float = 1.0
    """Ratio of frictional to normal contact impedance."""

    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)
    """Acceleration of gravity in the world frame, in m/s^2."""

    wind: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Velocity of the medium in the world frame, in m/s."""

    magnetic: tuple[float, float, float] = (0.0, -0.5, 0.0)
    """Magnetic flux that magnetometers measure, in the world frame."""

    density: float = 0.0
    """Density of the medium, in kg/m^3. Zero means no lift and no drag."""

    viscosity: float = 0.0
    """Viscosity of the medium. Zero means no viscous forces."""

    o_margin: float = 0.0
    """Contact margin that replaces all others when `override` is enabled."""

    o_solref: tuple[float, float] = (0.02, 1.0)
    """Contact solref that replaces all others when `override` is enabled."""

    o_solimp: tuple[float, float, float, float, float] = (0.9, 0.95, 0.001, 0.5, 2.0)
    """Contact solimp that replaces all others when `override` is enabled."""

    o_friction: tuple[float, float, float, float, float] = (1, 1, 0.005, 0.0001, 0.0001)
    """Contact friction that replaces all others when `override` is enabled."""

    disableflags: tuple[str, ...] = ()
    """Features to switch off, such as "contact", "gravity", "warmstart"."""

    enableflags: tuple[str, ...] = ()
    """Features to switch on, such as "energy", "sleep"."""

    disable_actuator_groups: tuple[int, ...] = ()
    """Groups of actuators that produce no force. Native engine only."""

    memory: str | None = None
    """Memory of one world's stack and contacts on the native engine, such as "2M".

    None lets MuJoCo choose. Virtual memory is cheap; a number is needed where MuJoCo
    reports that contacts or constraints found no room.
    """

    @classmethod
    def from_file(cls, file: str | Path, **changes: Any) -> Self:
        """Return the options that MuJoCo gives a model file when it is alone.

        Args:
            file: An MJCF file.
            changes: Options that are to be others.
        """
        import mujoco

        from mjlab.sim.options import read_options

        spec = mujoco.MjSpec.from_file(str(file))
        memory = {"memory": str(spec.memory)} if spec.memory > 0 else {}
        return cls(**{**read_options(spec.option), **memory, **changes})


class TrainingPhysicsCfg(Config):
    """Cheaper physics in which a policy is trained, but not judged.

    The duration of an environment step stays the same.
    """

    decimation: Annotated[int, at_least(1)] = 2
    """Physics steps in an environment step."""

    cone: Literal["pyramidal", "elliptic"] | None = None
    """Shape of the friction cone. None keeps that of `mujoco`."""

    impratio: float | None = None
    """Ratio of frictional to normal contact impedance. None keeps that of `mujoco`."""

    without_contacts: dict[str, tuple[str, ...]] = {}
    """Geoms without contacts, as patterns of names by entity."""


class SimulationCfg(Config):
    """The engine, its sizes, and MuJoCo's options."""

    backend: BackendName = "auto"
    """The engine: MuJoCo Warp, native MuJoCo, or whichever suits the device."""

    mujoco: MujocoCfg = MujocoCfg()
    """MuJoCo's options."""

    training: TrainingPhysicsCfg | None = None
    """Physics of training. Evaluation, play, export and verification use `mujoco` and
    the environment's `decimation`, which None takes for training too."""

    num_threads: int | None = None
    """Threads of the native engine. None takes all the processors there are."""

    native_jacobian: Literal["auto", "dense", "sparse"] = "auto"
    """Native: the Jacobian's representation where `mujoco.jacobian` is "auto", for
    speed. "auto" is sparse above 32 degrees of freedom, as Warp has it by itself."""

    nconmax: int | None = None
    """Warp: contacts per world on average; the pool is shared by all worlds."""

    njmax: int | None = None
    """Warp: constraint rows per world, a hard limit. `calibrate` proposes one."""

    njmax_nnz: int | None = None
    """Warp: non-zeros per world of the sparse constraint Jacobian."""

    nccdmax: int | None = None
    """Warp: convex collision pairs per world on average."""

    contact_sensor_maxmatch: int = 64
    """Warp: most contacts that one contact sensor can match."""

    broadphase: Literal["nxn", "sap_tile", "sap_segmented"] = "nxn"
    """Warp: how candidate pairs of geoms are found."""

    graphs: bool = True
    """Warp: record each verb as a graph when it is first used."""

    forward_stage: ForwardStageName = "auto"
    """How far `forward()` goes. "auto": as far as what has been read needs."""
