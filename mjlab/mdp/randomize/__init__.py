"""Randomisation of models, world by world: what a user calls `dr`.

Every name here is the function of an event term. What it varies is allocated for every
world before the engine is built, and only in worlds that the event's mask names is
anything written.

Latencies need no term. The delays of actuators and observations are drawn for each
world at each of its resets: `DelayCfg(min_lag, max_lag, hold_prob=1.0)` in the
configuration of the actuator or of the observation.
"""

from mjlab.mdp.randomize.actuators import effort_limits as effort_limits
from mjlab.mdp.randomize.actuators import pd_gains as pd_gains
from mjlab.mdp.randomize.distributions import RandomizeError as RandomizeError
from mjlab.mdp.randomize.engine import FieldTerm as FieldTerm
from mjlab.mdp.randomize.engine import OptionTerm as OptionTerm
from mjlab.mdp.randomize.engine import randomize_field as randomize_field
from mjlab.mdp.randomize.fields import body_com_offset as body_com_offset
from mjlab.mdp.randomize.fields import body_gravcomp as body_gravcomp
from mjlab.mdp.randomize.fields import body_pos as body_pos
from mjlab.mdp.randomize.fields import density as density
from mjlab.mdp.randomize.fields import geom_friction as geom_friction
from mjlab.mdp.randomize.fields import geom_margin as geom_margin
from mjlab.mdp.randomize.fields import geom_pos as geom_pos
from mjlab.mdp.randomize.fields import geom_rgba as geom_rgba
from mjlab.mdp.randomize.fields import geom_solimp as geom_solimp
from mjlab.mdp.randomize.fields import geom_solref as geom_solref
from mjlab.mdp.randomize.fields import gravity as gravity
from mjlab.mdp.randomize.fields import joint_armature as joint_armature
from mjlab.mdp.randomize.fields import joint_damping as joint_damping
from mjlab.mdp.randomize.fields import joint_friction as joint_friction
from mjlab.mdp.randomize.fields import joint_stiffness as joint_stiffness
from mjlab.mdp.randomize.fields import pair_friction as pair_friction
from mjlab.mdp.randomize.fields import site_pos as site_pos
from mjlab.mdp.randomize.fields import tendon_armature as tendon_armature
from mjlab.mdp.randomize.fields import tendon_damping as tendon_damping
from mjlab.mdp.randomize.fields import tendon_friction as tendon_friction
from mjlab.mdp.randomize.fields import tendon_length as tendon_length
from mjlab.mdp.randomize.fields import tendon_stiffness as tendon_stiffness
from mjlab.mdp.randomize.fields import viscosity as viscosity
from mjlab.mdp.randomize.fields import wind as wind
from mjlab.mdp.randomize.geoms import geom_matid as geom_matid
from mjlab.mdp.randomize.geoms import geom_size as geom_size
from mjlab.mdp.randomize.geoms import mat_texid as mat_texid
from mjlab.mdp.randomize.inertia import body_mass as body_mass
from mjlab.mdp.randomize.inertia import payload as payload
from mjlab.mdp.randomize.inertia import pseudo_inertia as pseudo_inertia
from mjlab.mdp.randomize.looks import cam_fovy as cam_fovy
from mjlab.mdp.randomize.looks import cam_intrinsic as cam_intrinsic
from mjlab.mdp.randomize.looks import cam_pos as cam_pos
from mjlab.mdp.randomize.looks import light_ambient as light_ambient
from mjlab.mdp.randomize.looks import light_attenuation as light_attenuation
from mjlab.mdp.randomize.looks import light_cutoff as light_cutoff
from mjlab.mdp.randomize.looks import light_diffuse as light_diffuse
from mjlab.mdp.randomize.looks import light_dir as light_dir
from mjlab.mdp.randomize.looks import light_exponent as light_exponent
from mjlab.mdp.randomize.looks import light_pos as light_pos
from mjlab.mdp.randomize.looks import light_specular as light_specular
from mjlab.mdp.randomize.looks import mat_emission as mat_emission
from mjlab.mdp.randomize.looks import mat_reflectance as mat_reflectance
from mjlab.mdp.randomize.looks import mat_rgba as mat_rgba
from mjlab.mdp.randomize.looks import mat_shininess as mat_shininess
from mjlab.mdp.randomize.looks import mat_specular as mat_specular
from mjlab.mdp.randomize.looks import mat_texrepeat as mat_texrepeat
from mjlab.mdp.randomize.special import body_quat as body_quat
from mjlab.mdp.randomize.special import cam_quat as cam_quat
from mjlab.mdp.randomize.special import encoder_bias as encoder_bias
from mjlab.mdp.randomize.special import geom_quat as geom_quat
from mjlab.mdp.randomize.special import joint_default_pos as joint_default_pos
from mjlab.mdp.randomize.special import joint_limits as joint_limits
from mjlab.mdp.randomize.special import site_quat as site_quat
from mjlab.mdp.randomize.special import tendon_range as tendon_range
from mjlab.schema import declare_terms

body_ipos = body_com_offset

declare_terms(__name__)
