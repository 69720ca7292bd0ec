"""Randomisations of physical numbers that one model field holds.

Each says what its numbers do to the compiled value unless `operation` says otherwise;
`FieldTerm` has the parameters. Constants that follow from a field are derived anew.
"""

from mjlab.mdp.randomize.engine import ColorTerm, FieldTerm, OptionTerm, ShiftTerm

# Bodies.


class body_com_offset(ShiftTerm):
    """Shifts centres of mass, in metres along the bodies' axes."""

    field = "body_ipos"


class body_pos(ShiftTerm):
    """Shifts bodies in their parents, in metres along the parents' axes."""

    field = "body_pos"


class body_gravcomp(FieldTerm):
    """Sets which share of their weight is taken off bodies; 0 is none."""

    field = "body_gravcomp"
    operation = "abs"


# Joints.


class joint_damping(FieldTerm):
    """Scales the damping of joints."""

    field = "dof_damping"
    minimum = 0.0


class joint_armature(FieldTerm):
    """Scales the reflected inertia of joints."""

    field = "dof_armature"
    minimum = 0.0


class joint_friction(FieldTerm):
    """Scales the dry friction of joints."""

    field = "dof_frictionloss"
    minimum = 0.0


class joint_stiffness(FieldTerm):
    """Scales the stiffness of the springs in joints."""

    field = "jnt_stiffness"
    default_axes = (0,)
    minimum = 0.0


# Geoms.


class geom_friction(FieldTerm):
    """Sets friction coefficients of geoms, by default those of sliding."""

    field = "geom_friction"
    operation = "abs"
    axis_names = ("sliding", "torsional", "rolling")
    default_axes = (0,)
    minimum = 0.0


class geom_pos(ShiftTerm):
    """Shifts geoms, in metres along their bodies' axes."""

    field = "geom_pos"


class geom_rgba(ColorTerm):
    """Sets colours of geoms; geoms with a material show it multiplied in."""

    field = "geom_rgba"
    axis_names = ("r", "g", "b", "a")


class geom_solref(FieldTerm):
    """Sets time constant and damping ratio of geoms' contacts."""

    field = "geom_solref"
    operation = "abs"


class geom_solimp(FieldTerm):
    """Sets the impedance of geoms' contacts."""

    field = "geom_solimp"
    operation = "abs"
    minimum = 0.0


class geom_margin(FieldTerm):
    """Sets at which distance geoms' contacts begin, in metres."""

    field = "geom_margin"
    operation = "abs"


# Sites.


class site_pos(ShiftTerm):
    """Shifts sites, in metres along their bodies' axes."""

    field = "site_pos"


# Tendons.


class tendon_damping(FieldTerm):
    """Scales the damping of tendons."""

    field = "tendon_damping"
    minimum = 0.0


class tendon_stiffness(FieldTerm):
    """Scales the stiffness of tendons."""

    field = "tendon_stiffness"
    minimum = 0.0


class tendon_friction(FieldTerm):
    """Scales the dry friction of tendons."""

    field = "tendon_frictionloss"
    minimum = 0.0


class tendon_armature(FieldTerm):
    """Scales the inertia of tendons."""

    field = "tendon_armature"
    minimum = 0.0


class tendon_length(FieldTerm):
    """Scales the lengths between which tendons' springs are at rest."""

    field = "tendon_lengthspring"
    axis_names = ("lower", "upper")


# Pairs.


class pair_friction(FieldTerm):
    """Sets friction coefficients of pairs, alike in both directions of the surface."""

    field = "pair_friction"
    operation = "abs"
    axis_names = ("sliding", "torsional", "rolling")
    default_axes = (0,)
    minimum = 0.0
    mirrors = ((0, 1), (2,), (3, 4))


# Options.


class gravity(OptionTerm):
    """Shifts gravity, in m/s² along the world's axes."""

    option = "gravity"
    operation = "add"
    axis_names = ("x", "y", "z")


class wind(OptionTerm):
    """Sets the velocity of the medium, in m/s along the world's axes."""

    option = "wind"
    axis_names = ("x", "y", "z")


class density(OptionTerm):
    """Sets the density of the medium, in kg/m³."""

    option = "density"
    minimum = 0.0


class viscosity(OptionTerm):
    """Sets the viscosity of the medium, in Pa s."""

    option = "viscosity"
    minimum = 0.0
