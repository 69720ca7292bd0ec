"""Methods and attributes of mjlab 1.6 with another name here, and their counterparts.

Writers take a mask of worlds first: `write_joint_state(mask, pos, vel, joint_ids)`.
"""

_MASKED = "the mask of worlds is the first argument"
_TARGET = "`entity.data.targets`, or an action term"

MEMBERS: dict[str, tuple[str, str]] = {
    # Entity.
    "write_root_state_to_sim": ("write_root_state", _MASKED),
    "write_root_link_pose_to_sim": ("write_root_pose_w", _MASKED),
    "write_root_link_velocity_to_sim": ("write_root_velocity_w", _MASKED),
    "write_root_link_velocity_b_to_sim": ("write_root_velocity_b", _MASKED),
    "write_root_com_velocity_to_sim": (
        "write_root_velocity_w",
        "of the link's origin, not of the centre of mass",
    ),
    "write_joint_state_to_sim": ("write_joint_state", _MASKED),
    "write_joint_position_to_sim": ("write_joint_pos", _MASKED),
    "write_joint_velocity_to_sim": ("write_joint_vel", _MASKED),
    "write_external_wrench_to_sim": ("write_external_wrench", _MASKED),
    "write_mocap_pose_to_sim": ("write_mocap_pose", _MASKED),
    "write_ctrl_to_sim": ("write_ctrl", _MASKED),
    "set_joint_position_target": ("targets.joint_pos", _TARGET),
    "set_joint_velocity_target": ("targets.joint_vel", _TARGET),
    "set_joint_effort_target": ("targets.joint_effort", _TARGET),
    "set_tendon_len_target": ("targets.tendon_len", _TARGET),
    "set_tendon_vel_target": ("targets.tendon_vel", _TARGET),
    "set_tendon_effort_target": ("targets.tendon_effort", _TARGET),
    "set_site_effort_target": ("targets.site_effort", _TARGET),
    "find_joints_by_actuator_names": ("find_joints", "by names of joints"),
    "write_data_to_sim": ("apply", "the environment calls it"),
    "is_mocap": ("index.mocap_body_id", "None without a mocap body"),
    # EntityData.
    "gravity_vec_w": ("down_w", "the direction of gravity in each world"),
    "joint_torques": ("qfrc_actuator", "effort of the actuators in the joints"),
    "joint_pos_target": ("targets.joint_pos", ""),
    "joint_vel_target": ("targets.joint_vel", ""),
    "joint_effort_target": ("targets.joint_effort", ""),
    "tendon_len_target": ("targets.tendon_len", ""),
    "tendon_vel_target": ("targets.tendon_vel", ""),
    "tendon_effort_target": ("targets.tendon_effort", ""),
    "site_effort_target": ("targets.site_effort", ""),
    "qfrc_external": ("qfrc_applied", ""),
    # Environment and managers.
    "obs_buf": ("observation_manager.output", ""),
    "reward_buf": ("reward_manager.reward", ""),
    "reset_buf": ("termination_manager.dones", ""),
    "reset_terminated": ("termination_manager.terminated", ""),
    "reset_time_outs": ("termination_manager.time_outs", ""),
    "get_observations": ("observation_manager.output", "after a reset or a step"),
    "get_term_cfg": ("get_term", "weights are in `reward_manager.set_weight`"),
    "get_active_iterable_terms": ("term", "by name, or `terms` for all"),
    "vel_command_b": ("command", "the terms of all commands have it"),
    "is_standing_env": ("is_standing", ""),
    "is_heading_env": ("is_heading", ""),
    "is_forward_env": ("is_forward", ""),
    "is_world_env": ("is_world", ""),
    # Simulation.
    "expand_model_fields": ("expand", "event terms declare their fields instead"),
    "get_default_field": ("default", ""),
    "create_graph": ("", "graphs are captured on first use"),
    "wp_model": ("model", "tensors; `engine` has Warp's arrays"),
    "wp_data": ("data", "tensors; `engine` has Warp's arrays"),
    # Sensors.
    "prefixed_name": ("full_name", "a property"),
}
"""Replacement and difference by member; the replacement is empty if there is none."""

ENV_MEMBERS: dict[str, tuple[str, str]] = {
    "extras": ("take_log", "a method; `Step.info` has what a step returns"),
    "render": ("", "`mjlab.gym` environments have `render`"),
}
"""The same for members of an object named `env`, whose names others use too."""
