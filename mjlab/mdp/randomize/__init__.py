"""Domain randomisation of model fields per world, usually imported as `dr`.

Every class here can be the `func` of an event term. The model field of a term is
allocated per world before the engine is built. A term writes only to the worlds in the
event's mask.

Each class defines a model field, and the default operation and axes. See `FieldTerm`
for the parameters. Constants that MuJoCo derives from a field are recomputed.

Latency does not need a term. To draw the delays of actuators and observations per world
at each reset, set `DelayCfg(min_lag, max_lag, hold_prob=1.0)` in the configuration of
the actuator or observation.
"""

from mjlab.mdp.randomize import fields, special
from mjlab.mdp.randomize.actuators import effort_limits as effort_limits
from mjlab.mdp.randomize.actuators import pd_gains as pd_gains
from mjlab.mdp.randomize.distributions import RandomizeError as RandomizeError
from mjlab.mdp.randomize.fields import FieldTerm as FieldTerm
from mjlab.mdp.randomize.fields import OptionTerm as OptionTerm
from mjlab.mdp.randomize.fields import randomize_field as randomize_field
from mjlab.mdp.randomize.inertia import body_mass as body_mass
from mjlab.mdp.randomize.inertia import payload as payload
from mjlab.mdp.randomize.inertia import pseudo_inertia as pseudo_inertia
from mjlab.mdp.randomize.special import encoder_bias as encoder_bias
from mjlab.mdp.randomize.special import geom_size as geom_size
from mjlab.mdp.randomize.special import mat_texid as mat_texid

# Bodies.


class body_com_offset(fields.ShiftTerm, field="body_ipos"):
    """Shift centres of mass, in metres along the bodies' axes."""


class body_pos(fields.ShiftTerm, field="body_pos"):
    """Shift bodies relative to their parents, in metres along the parents' axes."""


class body_gravcomp(FieldTerm, field="body_gravcomp", operation="abs"):
    """Set the gravity compensation of bodies, as a fraction of weight; 0 is none."""


class body_quat(special.QuatTerm, field="body_quat"):
    """Rotate bodies relative to their parents."""


# Joints.


class joint_damping(FieldTerm, field="dof_damping", minimum=0.0):
    """Scale the damping of joints."""


class joint_armature(FieldTerm, field="dof_armature", minimum=0.0):
    """Scale the reflected inertia of joints."""


class joint_friction(FieldTerm, field="dof_frictionloss", minimum=0.0):
    """Scale the dry friction (friction loss) of joints."""


class joint_stiffness(FieldTerm, field="jnt_stiffness", default_axes=(0,), minimum=0.0):
    """Scale the stiffness of the springs in joints."""


class joint_default_pos(FieldTerm, field="qpos0", operation="add"):
    """Shift joint reference positions; the entity's default positions are updated.

    At a joint position of `qpos0`, the body has its pose in the model file. A shift
    models a calibration error: the same joint position means a different pose.
    """


class joint_limits(special.LimitTerm, field="jnt_range"):
    """Scale the limits of joints; the limits in `EntityData` are updated."""


# Geoms.


class geom_friction(
    FieldTerm,
    field="geom_friction",
    operation="abs",
    axis_names=("sliding", "torsional", "rolling"),
    default_axes=(0,),
    minimum=0.0,
):
    """Set friction coefficients of geoms, by default the sliding coefficient."""


class geom_pos(fields.ShiftTerm, field="geom_pos"):
    """Shift geoms, in metres along their bodies' axes."""


class geom_rgba(fields.ColorTerm, field="geom_rgba", axis_names=("r", "g", "b", "a")):
    """Set colours of geoms. A material's colour is multiplied by the geom's colour."""


class geom_solref(FieldTerm, field="geom_solref", operation="abs"):
    """Set the contact time constant and damping ratio of geoms."""


class geom_solimp(FieldTerm, field="geom_solimp", operation="abs", minimum=0.0):
    """Set the contact impedance of geoms."""


class geom_margin(FieldTerm, field="geom_margin", operation="abs"):
    """Set the contact margin of geoms, m: contacts are detected below this distance."""


class geom_quat(special.QuatTerm, field="geom_quat"):
    """Rotate geoms relative to their bodies."""


class geom_matid(special.ChoiceTerm, field="geom_matid"):
    """Assign one of several materials to geoms."""


# Sites.


class site_pos(fields.ShiftTerm, field="site_pos"):
    """Shift sites, in metres along their bodies' axes."""


class site_quat(special.QuatTerm, field="site_quat"):
    """Rotate sites relative to their bodies."""


# Tendons.


class tendon_damping(FieldTerm, field="tendon_damping", minimum=0.0):
    """Scale the damping of tendons."""


class tendon_stiffness(FieldTerm, field="tendon_stiffness", minimum=0.0):
    """Scale the stiffness of tendons."""


class tendon_friction(FieldTerm, field="tendon_frictionloss", minimum=0.0):
    """Scale the dry friction (friction loss) of tendons."""


class tendon_armature(FieldTerm, field="tendon_armature", minimum=0.0):
    """Scale the armature inertia of tendons."""


class tendon_length(
    FieldTerm, field="tendon_lengthspring", axis_names=("lower", "upper")
):
    """Scale the rest length range (dead band) of tendon springs."""


class tendon_range(special.LimitTerm, field="tendon_range"):
    """Scale the length limits of tendons."""


# Contact pairs.


class pair_friction(
    FieldTerm,
    field="pair_friction",
    operation="abs",
    axis_names=("sliding", "torsional", "rolling"),
    default_axes=(0,),
    minimum=0.0,
    mirrors=((0, 1), (2,), (3, 4)),
):
    """Set friction coefficients of contact pairs, equal for both tangent directions."""


# Equality constraints.


class equality_solref(FieldTerm, field="eq_solref", operation="abs"):
    """Set the time constant and damping ratio of equality constraints.

    As in MuJoCo, negative numbers are stiffness and damping instead.
    """


class equality_solimp(FieldTerm, field="eq_solimp", operation="abs", minimum=0.0):
    """Set the impedance of equality constraints."""


class equality_data(FieldTerm, field="eq_data", operation="add"):
    """Shift the data of equality constraints, such as joint polynomial coefficients.

    The meaning of each column of `eq_data` depends on the type of constraint, so select
    columns with `axes`.
    """


# Options.


class gravity(
    OptionTerm, field="opt.gravity", operation="add", axis_names=("x", "y", "z")
):
    """Shift gravity, in m/s² along the world's axes."""


class wind(OptionTerm, field="opt.wind", axis_names=("x", "y", "z")):
    """Set the wind velocity, in m/s along the world's axes."""


class density(OptionTerm, field="opt.density", minimum=0.0):
    """Set the density of the medium, in kg/m³."""


class viscosity(OptionTerm, field="opt.viscosity", minimum=0.0):
    """Set the viscosity of the medium, in Pa s."""


# Cameras.


class cam_fovy(FieldTerm, field="cam_fovy", minimum=0.0):
    """Scale the vertical field of view of cameras."""


class cam_pos(fields.ShiftTerm, field="cam_pos"):
    """Shift cameras, in metres along their bodies' axes."""


class cam_intrinsic(
    FieldTerm,
    field="cam_intrinsic",
    axis_names=("fx", "fy", "cx", "cy"),
    default_axes=(0, 1),
):
    """Scale the focal lengths, and optionally the principal points, of cameras."""


class cam_quat(special.QuatTerm, field="cam_quat"):
    """Rotate cameras relative to their bodies."""


# Lights.


class light_pos(fields.ShiftTerm, field="light_pos"):
    """Shift lights, in metres along their bodies' axes."""


class light_dir(fields.ShiftTerm, field="light_dir"):
    """Shift the direction vectors of lights, which do not need unit length."""


class light_diffuse(fields.ColorTerm, field="light_diffuse"):
    """Set the diffuse colours of lights."""


class light_specular(fields.ColorTerm, field="light_specular"):
    """Set the specular colours of lights."""


class light_ambient(fields.ColorTerm, field="light_ambient"):
    """Set the ambient colours of lights."""


class light_attenuation(FieldTerm, field="light_attenuation", minimum=0.0):
    """Scale the constant, linear and quadratic attenuation of lights."""


class light_cutoff(FieldTerm, field="light_cutoff", minimum=0.0):
    """Scale the cut-off angles of spot lights."""


class light_exponent(FieldTerm, field="light_exponent", minimum=0.0):
    """Scale the spot exponent of lights, which controls the softness of the edge."""


# Materials.


class mat_rgba(fields.ColorTerm, field="mat_rgba", axis_names=("r", "g", "b", "a")):
    """Set colours of materials."""


class mat_emission(FieldTerm, field="mat_emission", operation="abs", minimum=0.0):
    """Set the emission of materials."""


class mat_specular(FieldTerm, field="mat_specular", operation="abs", minimum=0.0):
    """Set the specularity of materials, the strength of highlights."""


class mat_shininess(FieldTerm, field="mat_shininess", operation="abs", minimum=0.0):
    """Set the shininess of materials, the sharpness of highlights."""


class mat_reflectance(FieldTerm, field="mat_reflectance", operation="abs", minimum=0.0):
    """Set the reflectance of materials. The Warp engine has one value per material."""


class mat_texrepeat(FieldTerm, field="mat_texrepeat", axis_names=("x", "y")):
    """Scale the texture repetition of materials."""


body_ipos = body_com_offset
