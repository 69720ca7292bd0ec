"""The terms of walking, besides those that mjlab has for all tasks."""

from mjlab.schema import declare_terms
from mjlab.tasks.velocity.commands import TwistCommand as TwistCommand
from mjlab.tasks.velocity.commands import TwistCommandCfg as TwistCommandCfg
from mjlab.tasks.velocity.commands import command_speed as command_speed
from mjlab.tasks.velocity.commands import moving as moving
from mjlab.tasks.velocity.foot_height import FootHeightSensorCfg as FootHeightSensorCfg
from mjlab.tasks.velocity.observations import foot_air_time as foot_air_time
from mjlab.tasks.velocity.observations import foot_contact as foot_contact
from mjlab.tasks.velocity.observations import foot_contact_forces as foot_contact_forces
from mjlab.tasks.velocity.observations import foot_height as foot_height
from mjlab.tasks.velocity.observations import gravity_from_sensor as gravity_from_sensor
from mjlab.tasks.velocity.rewards import angular_momentum as angular_momentum
from mjlab.tasks.velocity.rewards import body_angular_velocity as body_angular_velocity
from mjlab.tasks.velocity.rewards import contact_cost as contact_cost
from mjlab.tasks.velocity.rewards import feet_air_time as feet_air_time
from mjlab.tasks.velocity.rewards import feet_clearance as feet_clearance
from mjlab.tasks.velocity.rewards import feet_slip as feet_slip
from mjlab.tasks.velocity.rewards import feet_swing_height as feet_swing_height
from mjlab.tasks.velocity.rewards import ground_normal as ground_normal
from mjlab.tasks.velocity.rewards import soft_landing as soft_landing
from mjlab.tasks.velocity.rewards import (
    track_angular_velocity as track_angular_velocity,
)
from mjlab.tasks.velocity.rewards import track_linear_velocity as track_linear_velocity
from mjlab.tasks.velocity.rewards import upright as upright
from mjlab.tasks.velocity.rewards import variable_posture as variable_posture

declare_terms(__name__)
