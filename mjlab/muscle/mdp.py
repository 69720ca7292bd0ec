"""The terms of tasks with muscles."""

from mjlab.muscle.events import muscle_contracture as muscle_contracture
from mjlab.muscle.events import muscle_fatigue as muscle_fatigue
from mjlab.muscle.events import muscle_strength as muscle_strength
from mjlab.muscle.terms import full_share as full_share
from mjlab.muscle.terms import idle_share as idle_share
from mjlab.muscle.terms import muscle_activation as muscle_activation
from mjlab.muscle.terms import muscle_effort as muscle_effort
from mjlab.muscle.terms import muscle_force as muscle_force
from mjlab.muscle.terms import muscle_length as muscle_length
from mjlab.muscle.terms import muscle_torque_capacity as muscle_torque_capacity
from mjlab.muscle.terms import muscle_velocity as muscle_velocity
from mjlab.muscle.terms import optimality_gap as optimality_gap
from mjlab.muscle.terms import torque_residual as torque_residual
from mjlab.schema import declare_terms

declare_terms(__name__)
