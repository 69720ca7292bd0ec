"""Randomisations of what cameras see: cameras, lights and materials.

Each says what its numbers do to the compiled value unless `operation` says otherwise;
`FieldTerm` has the parameters. Constants that follow from a field are derived anew.
"""

from mjlab.mdp.randomize.engine import ColorTerm, FieldTerm, ShiftTerm

# Cameras.


class cam_fovy(FieldTerm):
    """Scales the vertical field of view of cameras."""

    field = "cam_fovy"
    minimum = 0.0


class cam_pos(ShiftTerm):
    """Shifts cameras, in metres along their bodies' axes."""

    field = "cam_pos"


class cam_intrinsic(FieldTerm):
    """Scales the focal lengths, and the principal points, of cameras."""

    field = "cam_intrinsic"
    axis_names = ("fx", "fy", "cx", "cy")
    default_axes = (0, 1)


# Lights.


class light_pos(ShiftTerm):
    """Shifts lights, in metres."""

    field = "light_pos"


class light_dir(ShiftTerm):
    """Shifts the directions of lights, which need not have length 1."""

    field = "light_dir"


class light_diffuse(ColorTerm):
    """Sets the diffuse colours of lights."""

    field = "light_diffuse"


class light_specular(ColorTerm):
    """Sets the specular colours of lights."""

    field = "light_specular"


class light_ambient(ColorTerm):
    """Sets the ambient colours of lights."""

    field = "light_ambient"


class light_attenuation(FieldTerm):
    """Scales how lights fade: constant, linear and quadratic in distance."""

    field = "light_attenuation"
    minimum = 0.0


class light_cutoff(FieldTerm):
    """Scales the cut-off angles of spot lights."""

    field = "light_cutoff"
    minimum = 0.0


class light_exponent(FieldTerm):
    """Scales how soft the edges of spot lights are."""

    field = "light_exponent"
    minimum = 0.0


# Materials.


class mat_rgba(ColorTerm):
    """Sets colours of materials."""

    field = "mat_rgba"
    axis_names = ("r", "g", "b", "a")


class mat_emission(FieldTerm):
    """Sets how far materials shine by themselves."""

    field = "mat_emission"
    operation = "abs"
    minimum = 0.0


class mat_specular(FieldTerm):
    """Sets how strongly materials reflect lights."""

    field = "mat_specular"
    operation = "abs"
    minimum = 0.0


class mat_shininess(FieldTerm):
    """Sets how sharply materials reflect lights."""

    field = "mat_shininess"
    operation = "abs"
    minimum = 0.0


class mat_reflectance(FieldTerm):
    """Sets how far materials mirror. The Warp engine has it for all worlds alike."""

    field = "mat_reflectance"
    operation = "abs"
    minimum = 0.0


class mat_texrepeat(FieldTerm):
    """Scales how often textures repeat on materials."""

    field = "mat_texrepeat"
    axis_names = ("x", "y")
