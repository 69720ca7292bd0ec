"""Randomisation of models, world by world: what a user calls `dr`.

Every name here is the function of an event term. What it varies is allocated for every
world before the engine is built, and only in worlds that the event's mask names is
anything written.

The classes below are a table: a model field, and how its numbers are drawn unless the
user says otherwise. `FieldTerm` has their parameters. Constants that follow from a
field are derived anew.

Latencies need no term. The delays of actuators and observations are drawn for each
world at each of its resets: `DelayCfg(min_lag, max_lag, hold_prob=1.0)` in the
configuration of the actuator or of the observation.
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
    """Shifts centres of mass, in metres along the bodies' axes."""


class body_pos(fields.ShiftTerm, field="body_pos"):
    """Shifts bodies in their parents, in metres along the parents' axes."""


class body_gravcomp(FieldTerm, field="body_gravcomp", operation="abs"):
    """Sets which share of their weight is taken off bodies; 0 is none."""


class body_quat(special.QuatTerm, field="body_quat"):
    """Turns bodies in their parents."""


# Joints.


class joint_damping(FieldTerm, field="dof_damping", minimum=0.0):
    """Scales the damping of joints."""


class joint_armature(FieldTerm, field="dof_armature", minimum=0.0):
    """Scales the reflected inertia of joints."""


class joint_friction(FieldTerm, field="dof_frictionloss", minimum=0.0):
    """Scales the dry friction of joints."""


class joint_stiffness(FieldTerm, field="jnt_stiffness", default_axes=(0,), minimum=0.0):
    """Scales the stiffness of the springs in joints."""


class joint_default_pos(FieldTerm, field="qpos0", operation="add"):
    """Shifts reference positions of joints; the entity's default positions follow.

    The reference `qpos0` is the position in which a joint leaves its body where the
    file has it. Shifting it is an error of calibration: the same reading, another pose.
    """


class joint_limits(special.LimitTerm, field="jnt_range"):
    """Scales the limits of joints; those in `EntityData` follow."""


# Geoms.


class geom_friction(
    FieldTerm,
    field="geom_friction",
    operation="abs",
    axis_names=("sliding", "torsional", "rolling"),
    default_axes=(0,),
    minimum=0.0,
):
    """Sets friction coefficients of geoms, by default those of sliding."""


class geom_pos(fields.ShiftTerm, field="geom_pos"):
    """Shifts geoms, in metres along their bodies' axes."""


class geom_rgba(fields.ColorTerm, field="geom_rgba", axis_names=("r", "g", "b", "a")):
    """Sets colours of geoms; geoms with a material show it multiplied in."""


class geom_solref(FieldTerm, field="geom_solref", operation="abs"):
    """Sets time constant and damping ratio of geoms' contacts."""


class geom_solimp(FieldTerm, field="geom_solimp", operation="abs", minimum=0.0):
    """Sets the impedance of geoms' contacts."""


class geom_margin(FieldTerm, field="geom_margin", operation="abs"):
    """Sets at which distance geoms' contacts begin, in metres."""


class geom_quat(special.QuatTerm, field="geom_quat"):
    """Turns geoms in their bodies."""


class geom_matid(special.ChoiceTerm, field="geom_matid"):
    """Gives geoms one of several materials."""


# Sites.


class site_pos(fields.ShiftTerm, field="site_pos"):
    """Shifts sites, in metres along their bodies' axes."""


class site_quat(special.QuatTerm, field="site_quat"):
    """Turns sites in their bodies."""


# Tendons.


class tendon_damping(FieldTerm, field="tendon_damping", minimum=0.0):
    """Scales the damping of tendons."""


class tendon_stiffness(FieldTerm, field="tendon_stiffness", minimum=0.0):
    """Scales the stiffness of tendons."""


class tendon_friction(FieldTerm, field="tendon_frictionloss", minimum=0.0):
    """Scales the dry friction of tendons."""


class tendon_armature(FieldTerm, field="tendon_armature", minimum=0.0):
    """Scales the inertia of tendons."""


class tendon_length(
    FieldTerm, field="tendon_lengthspring", axis_names=("lower", "upper")
):
    """Scales the lengths between which tendons' springs are at rest."""


class tendon_range(special.LimitTerm, field="tendon_range"):
    """Scales the limits of tendons' lengths."""


# Pairs.


class pair_friction(
    FieldTerm,
    field="pair_friction",
    operation="abs",
    axis_names=("sliding", "torsional", "rolling"),
    default_axes=(0,),
    minimum=0.0,
    mirrors=((0, 1), (2,), (3, 4)),
):
    """Sets friction coefficients of pairs, alike in both directions of the surface."""


# Options.


class gravity(
    OptionTerm, field="opt.gravity", operation="add", axis_names=("x", "y", "z")
):
    """Shifts gravity, in m/s² along the world's axes."""


class wind(OptionTerm, field="opt.wind", axis_names=("x", "y", "z")):
    """Sets the velocity of the medium, in m/s along the world's axes."""


class density(OptionTerm, field="opt.density", minimum=0.0):
    """Sets the density of the medium, in kg/m³."""


class viscosity(OptionTerm, field="opt.viscosity", minimum=0.0):
    """Sets the viscosity of the medium, in Pa s."""


# Cameras.


class cam_fovy(FieldTerm, field="cam_fovy", minimum=0.0):
    """Scales the vertical field of view of cameras."""


class cam_pos(fields.ShiftTerm, field="cam_pos"):
    """Shifts cameras, in metres along their bodies' axes."""


class cam_intrinsic(
    FieldTerm,
    field="cam_intrinsic",
    axis_names=("fx", "fy", "cx", "cy"),
    default_axes=(0, 1),
):
    """Scales the focal lengths, and the principal points, of cameras."""


class cam_quat(special.QuatTerm, field="cam_quat"):
    """Turns cameras in their bodies."""


# Lights.


class light_pos(fields.ShiftTerm, field="light_pos"):
    """Shifts lights, in metres."""


class light_dir(fields.ShiftTerm, field="light_dir"):
    """Shifts the directions of lights, which need not have length 1."""


class light_diffuse(fields.ColorTerm, field="light_diffuse"):
    """Sets the diffuse colours of lights."""


class light_specular(fields.ColorTerm, field="light_specular"):
    """Sets the specular colours of lights."""


class light_ambient(fields.ColorTerm, field="light_ambient"):
    """Sets the ambient colours of lights."""


class light_attenuation(FieldTerm, field="light_attenuation", minimum=0.0):
    """Scales how lights fade: constant, linear and quadratic in distance."""


class light_cutoff(FieldTerm, field="light_cutoff", minimum=0.0):
    """Scales the cut-off angles of spot lights."""


class light_exponent(FieldTerm, field="light_exponent", minimum=0.0):
    """Scales how soft the edges of spot lights are."""


# Materials.


class mat_rgba(fields.ColorTerm, field="mat_rgba", axis_names=("r", "g", "b", "a")):
    """Sets colours of materials."""


class mat_emission(FieldTerm, field="mat_emission", operation="abs", minimum=0.0):
    """Sets how far materials shine by themselves."""


class mat_specular(FieldTerm, field="mat_specular", operation="abs", minimum=0.0):
    """Sets how strongly materials reflect lights."""


class mat_shininess(FieldTerm, field="mat_shininess", operation="abs", minimum=0.0):
    """Sets how sharply materials reflect lights."""


class mat_reflectance(FieldTerm, field="mat_reflectance", operation="abs", minimum=0.0):
    """Sets how far materials mirror. The Warp engine has it for all worlds alike."""


class mat_texrepeat(FieldTerm, field="mat_texrepeat", axis_names=("x", "y")):
    """Scales how often textures repeat on materials."""


body_ipos = body_com_offset
