"""Names of Isaac Lab 2.3 (managers, environments, MDP terms) and their counterparts."""

from mjlab.settings.counterparts import Package, Project, Replacement

_PACKAGES = {
    "isaaclab.managers": Package(
        "SceneEntityCfg ManagerBase ManagerTermBase ManagerTermBaseCfg "
        "ObservationManager ObservationGroupCfg ObservationTermCfg ActionManager "
        "ActionTerm ActionTermCfg EventManager EventTermCfg CommandManager CommandTerm "
        "CommandTermCfg RewardManager RewardTermCfg TerminationManager "
        "TerminationTermCfg CurriculumManager CurriculumTermCfg RecorderManager "
        "RecorderTermCfg",
        "mjlab.managers",
    ),
    "isaaclab.envs.mdp": Package(
        "JointPositionActionCfg RelativeJointPositionActionCfg JointVelocityActionCfg "
        "JointEffortActionCfg JointPositionToLimitsActionCfg "
        "EMAJointPositionToLimitsActionCfg BinaryJointPositionActionCfg "
        "BinaryJointVelocityActionCfg NonHolonomicActionCfg "
        "DifferentialInverseKinematicsActionCfg OperationalSpaceControllerActionCfg "
        "NullCommandCfg UniformVelocityCommandCfg NormalVelocityCommandCfg "
        "UniformPoseCommandCfg UniformPose2dCommandCfg TerrainBasedPose2dCommandCfg "
        "base_pos_z base_lin_vel base_ang_vel projected_gravity root_pos_w root_quat_w "
        "root_lin_vel_w root_ang_vel_w body_pose_w body_projected_gravity_b joint_pos "
        "joint_pos_rel joint_pos_limit_normalized joint_vel joint_vel_rel joint_effort "
        "height_scan body_incoming_wrench imu_orientation imu_ang_vel imu_lin_acc "
        "image image_features last_action generated_commands current_time_s "
        "remaining_time_s is_alive is_terminated is_terminated_term lin_vel_z_l2 "
        "ang_vel_xy_l2 flat_orientation_l2 base_height_l2 body_lin_acc_l2 "
        "joint_torques_l2 joint_vel_l1 joint_vel_l2 joint_acc_l2 joint_deviation_l1 "
        "joint_pos_limits joint_vel_limits applied_torque_limits action_rate_l2 "
        "action_l2 undesired_contacts desired_contacts contact_forces "
        "track_lin_vel_xy_exp track_ang_vel_z_exp time_out command_resample "
        "bad_orientation root_height_below_minimum joint_pos_out_of_limit "
        "joint_pos_out_of_manual_limit joint_vel_out_of_limit "
        "joint_vel_out_of_manual_limit joint_effort_out_of_limit illegal_contact "
        "randomize_rigid_body_scale randomize_rigid_body_material "
        "randomize_rigid_body_mass randomize_rigid_body_com "
        "randomize_rigid_body_collider_offsets randomize_physics_scene_gravity "
        "randomize_actuator_gains randomize_joint_parameters "
        "randomize_fixed_tendon_parameters randomize_visual_texture_material "
        "randomize_visual_color apply_external_force_torque push_by_setting_velocity "
        "reset_root_state_uniform reset_root_state_with_random_orientation "
        "reset_root_state_from_terrain reset_joints_by_scale reset_joints_by_offset "
        "reset_nodal_state_uniform reset_scene_to_default modify_reward_weight "
        "modify_env_param modify_term_cfg",
        "mjlab.mdp",
    ),
}
_OTHERWISE: dict[str, tuple[str, str]] = {
    "ManagerBase": ("mjlab.managers.term.Manager", ""),
    "ManagerTermBaseCfg": ("mjlab.managers.TermCfg", ""),
    "UniformVelocityCommandCfg": (
        "mjlab.mdp.UniformVelocityCommandCfg",
        "fractions of worlds are exclusive; see below",
    ),
    # isaaclab.envs.mdp
    "NonHolonomicActionCfg": ("", "write an action class"),
    "DifferentialInverseKinematicsActionCfg": ("mjlab.mdp.DifferentialIKActionCfg", ""),
    "OperationalSpaceControllerActionCfg": (
        "mjlab.mdp.OperationalSpaceActionCfg",
        "fields of `controller_cfg` are fields of the action; fixed base",
    ),
    "NullCommandCfg": ("", "omit the command"),
    "NormalVelocityCommandCfg": ("mjlab.mdp.UniformVelocityCommandCfg", "uniform"),
    "UniformPoseCommandCfg": ("mjlab.mdp.PoseCommandCfg", ""),
    "UniformPose2dCommandCfg": ("mjlab.mdp.PoseCommandCfg", "fix the other ranges"),
    "TerrainBasedPose2dCommandCfg": ("", "see flat patches of `Ground`"),
    "base_pos_z": ("mjlab.mdp.base_height", "relative to the spawn origin"),
    "root_pos_w": ("mjlab.mdp.root_pos_local", "relative to the spawn origin"),
    "root_quat_w": ("mjlab.mdp.root_quat_w", "wxyz"),
    "root_lin_vel_w": (
        "mjlab.entity.EntityData.root_lin_vel_w",
        "write a one-line term",
    ),
    "root_ang_vel_w": (
        "mjlab.entity.EntityData.root_ang_vel_w",
        "write a one-line term",
    ),
    "body_pose_w": ("mjlab.mdp.body_pose_local", "relative to the spawn origin"),
    "body_projected_gravity_b": ("", "write a one-line term"),
    "height_scan": (
        "mjlab.mdp.height_scan",
        "`sensor_name`; no offset by default",
    ),
    "body_incoming_wrench": (
        "mjlab.sensor.JointWrenchSensorCfg",
        "add the sensor, and write a term with its `force` and `torque`",
    ),
    "imu_orientation": (
        "mjlab.mdp.builtin_sensor",
        "of a 'framequat' sensor, or `quat_w` of an `ImuCfg`",
    ),
    "imu_ang_vel": ("mjlab.mdp.builtin_sensor", "of `NAME_ang_vel_b` of an `ImuCfg`"),
    "imu_lin_acc": (
        "mjlab.mdp.builtin_sensor",
        "of `NAME_lin_acc_b` of an `ImuCfg`, includes gravity",
    ),
    "image": ("mjlab.mdp.camera_image", ""),
    "image_features": ("mjlab.rl.CnnModelCfg", "trained with the policy"),
    "current_time_s": ("mjlab.mdp.episode_progress", "fraction of the episode"),
    "remaining_time_s": ("mjlab.mdp.episode_progress", "fraction of the episode"),
    "is_terminated_term": ("mjlab.mdp.is_terminated", "of all terms"),
    "body_lin_acc_l2": ("", "write a one-line term"),
    "joint_vel_l1": ("mjlab.mdp.joint_vel_l2", "squared"),
    "joint_vel_limits": ("", "write a one-line term"),
    "applied_torque_limits": ("", "write a one-line term"),
    "desired_contacts": ("mjlab.mdp.undesired_contacts", "with the opposite sign"),
    "contact_forces": ("mjlab.mdp.contact_force_excess", ""),
    "command_resample": ("", "write a term"),
    "joint_pos_out_of_manual_limit": ("mjlab.mdp.joint_pos_out_of_range", ""),
    "joint_vel_out_of_limit": (
        "mjlab.mdp.joint_vel_out_of_limit",
        "MuJoCo has no velocity limits: pass `max_velocity`",
    ),
    "joint_vel_out_of_manual_limit": ("mjlab.mdp.joint_vel_out_of_limit", ""),
    "joint_effort_out_of_limit": ("", "write a one-line term"),
    "illegal_contact": (
        "mjlab.mdp.illegal_contact",
        "`force_threshold` is `threshold` in Isaac Lab",
    ),
    "randomize_rigid_body_scale": ("mjlab.mdp.randomize.geom_size", "primitives only"),
    "randomize_rigid_body_material": ("mjlab.mdp.randomize.geom_friction", ""),
    "randomize_rigid_body_mass": (
        "mjlab.mdp.randomize.body_mass",
        "scaling the mass scales the inertia; see also `pseudo_inertia`",
    ),
    "randomize_rigid_body_com": ("mjlab.mdp.randomize.body_com_offset", ""),
    "randomize_rigid_body_collider_offsets": ("mjlab.mdp.randomize.geom_margin", ""),
    "randomize_physics_scene_gravity": ("mjlab.mdp.randomize.gravity", ""),
    "randomize_actuator_gains": ("mjlab.mdp.randomize.pd_gains", ""),
    "randomize_joint_parameters": (
        "mjlab.mdp.randomize.joint_friction",
        "one function per field: `joint_armature`, `joint_limits` and so on",
    ),
    "randomize_fixed_tendon_parameters": (
        "mjlab.mdp.randomize.tendon_stiffness",
        "one function per field",
    ),
    "randomize_visual_texture_material": ("mjlab.mdp.randomize.mat_texid", ""),
    "randomize_visual_color": ("mjlab.mdp.randomize.geom_rgba", ""),
    "reset_root_state_with_random_orientation": (
        "mjlab.mdp.reset_root_state_uniform",
        "one range per angle, not uniform over all orientations",
    ),
    "reset_root_state_from_terrain": (
        "mjlab.mdp.reset_root_state_from_flat_patches",
        "",
    ),
    "reset_nodal_state_uniform": ("", "soft bodies are not supported"),
    "modify_env_param": ("mjlab.mdp.schedule", "of a tensor, by its name"),
    "modify_term_cfg": ("mjlab.mdp.schedule", "of a tensor, by its name"),
}

_USD = "MJCF or URDF, not USD: `EntityCfg(source=...)`"
_GEOMETRY = "set in the MJCF or in `SceneCfg.spec_fn`"

_TASK_PACKAGES = {
    "isaaclab.envs": Package(
        "ManagerBasedEnv ManagerBasedEnvCfg ManagerBasedRLEnv ManagerBasedRLEnvCfg "
        "DirectRLEnv DirectRLEnvCfg ViewerCfg",
        "mjlab.envs",
    ),
    "isaaclab.scene": Package("InteractiveScene InteractiveSceneCfg", "mjlab.scene"),
    "isaaclab.assets": Package(
        "Articulation ArticulationCfg ArticulationData RigidObject RigidObjectCfg "
        "AssetBaseCfg",
        "mjlab.entity",
    ),
    "isaaclab.actuators": Package(
        "ImplicitActuatorCfg IdealPDActuatorCfg DelayedPDActuatorCfg DCMotorCfg "
        "ActuatorNetMLPCfg ActuatorNetLSTMCfg",
        "mjlab.actuator",
    ),
    "isaaclab.sensors": Package(
        "ContactSensor ContactSensorCfg RayCaster RayCasterCfg CameraCfg "
        "TiledCameraCfg ImuCfg FrameTransformerCfg JointWrenchSensorCfg",
        "mjlab.sensor",
    ),
    "isaaclab.sensors.patterns": Package("GridPatternCfg", "mjlab.sensor"),
    "isaaclab.terrains": Package(
        "TerrainImporterCfg TerrainGeneratorCfg ROUGH_TERRAINS_CFG", "mjlab.terrain"
    ),
    "isaaclab.sim": Package(
        "SimulationCfg UsdFileCfg GroundPlaneCfg DomeLightCfg DistantLightCfg "
        "RigidBodyMaterialCfg MdlFileCfg PreviewSurfaceCfg RigidBodyPropertiesCfg "
        "ArticulationRootPropertiesCfg CollisionPropertiesCfg MassPropertiesCfg",
        "mjlab.sim",
    ),
    "isaaclab.utils": Package("configclass", "mjlab.settings"),
    "isaaclab.utils.noise": Package(
        "NoiseCfg ConstantNoiseCfg GaussianNoiseCfg UniformNoiseCfg NoiseModelCfg "
        "NoiseModelWithAdditiveBiasCfg AdditiveUniformNoiseCfg "
        "AdditiveGaussianNoiseCfg",
        "mjlab.tensors",
    ),
}
_OTHERWISE |= {
    # isaaclab.envs
    "ManagerBasedEnv": ("mjlab.envs.ManagerBasedRlEnv", "rewards can be empty"),
    "ManagerBasedEnvCfg": ("mjlab.envs.ManagerBasedRlEnvCfg", "rewards can be empty"),
    "ManagerBasedRLEnv": ("mjlab.envs.ManagerBasedRlEnv", ""),
    "ManagerBasedRLEnvCfg": (
        "mjlab.envs.ManagerBasedRlEnvCfg",
        "terms are dictionaries by name, not classes: `rewards={'alive': ...}`",
    ),
    "DirectRLEnv": ("", "use a configuration with few terms"),
    "DirectRLEnvCfg": ("", "use a configuration with few terms"),
    "ViewerCfg": (
        "mjlab.envs.ViewerCfg",
        "`distance`, `azimuth` and `elevation`, not `eye`",
    ),
    # isaaclab.scene
    "InteractiveScene": ("mjlab.scene.Scene", ""),
    "InteractiveSceneCfg": (
        "mjlab.scene.SceneCfg",
        "`entities` and `sensors` are dictionaries by name, without `prim_path`",
    ),
    # isaaclab.assets
    "Articulation": ("mjlab.entity.Entity", ""),
    "ArticulationCfg": ("mjlab.entity.EntityCfg", "actuators are in `articulation`"),
    "ArticulationData": ("mjlab.entity.EntityData", ""),
    "RigidObject": ("mjlab.entity.Entity", ""),
    "RigidObjectCfg": ("mjlab.entity.EntityCfg", ""),
    "AssetBaseCfg": (
        "mjlab.scene.SceneCfg",
        "the ground is `terrain`; add lights in `spec_fn`",
    ),
    # isaaclab.actuators
    "ImplicitActuatorCfg": (
        "mjlab.actuator.PositionActuatorCfg",
        "`target_names_expr`, and one `effort_limit`",
    ),
    "IdealPDActuatorCfg": ("mjlab.actuator.IdealPdActuatorCfg", "`target_names_expr`"),
    "DelayedPDActuatorCfg": (
        "mjlab.actuator.IdealPdActuatorCfg",
        "with `delay`, in physics steps",
    ),
    "DCMotorCfg": ("mjlab.actuator.DcPdActuatorCfg", "`target_names_expr`"),
    "ActuatorNetMLPCfg": ("mjlab.actuator.LearnedActuatorCfg", "`target_names_expr`"),
    # isaaclab.sensors
    "ContactSensorCfg": (
        "mjlab.sensor.ContactSensorCfg",
        "names both sides, and how several contacts are reduced",
    ),
    "RayCaster": ("mjlab.sensor.RayCastSensor", ""),
    "RayCasterCfg": (
        "mjlab.sensor.RayCastSensorCfg",
        "`frame` names its body, site or geom",
    ),
    "CameraCfg": ("mjlab.sensor.CameraSensorCfg", ""),
    "TiledCameraCfg": ("mjlab.sensor.CameraSensorCfg", ""),
    "ImuCfg": (
        "mjlab.sensor.ImuCfg",
        "`frame` names its body or site; the acceleration includes gravity",
    ),
    "FrameTransformerCfg": (
        "mjlab.sensor.FrameTransformerCfg",
        "`source_frame` and `target_frames` name bodies or sites",
    ),
    "JointWrenchSensorCfg": (
        "mjlab.sensor.JointWrenchSensorCfg",
        "`body_names` selects the child bodies",
    ),
    "ActuatorNetLSTMCfg": (
        "mjlab.actuator.LearnedLstmActuatorCfg",
        "`target_names_expr`",
    ),
    # isaaclab.terrains
    "TerrainImporterCfg": ("mjlab.terrain.TerrainCfg", ""),
    "ROUGH_TERRAINS_CFG": (
        "mjlab.tasks.velocity.terrains.ROUGH_TERRAINS_CFG",
        "the terrain mix of mjlab 1.6",
    ),
    # isaaclab.sim
    "SimulationCfg": (
        "mjlab.sim.SimulationCfg",
        "the time step is `mujoco.timestep`; no `render_interval`",
    ),
    "UsdFileCfg": ("", _USD),
    "MdlFileCfg": ("", "a material of the MJCF"),
    "PreviewSurfaceCfg": ("mjlab.spec.MaterialCfg", ""),
    "GroundPlaneCfg": ("mjlab.terrain.TerrainCfg", "a plane is the default"),
    "DomeLightCfg": ("mjlab.spec.LightCfg", "the scene has lights by default"),
    "DistantLightCfg": ("mjlab.spec.LightCfg", "the scene has lights by default"),
    "RigidBodyMaterialCfg": ("mjlab.spec.CollisionCfg", "`friction`"),
    "RigidBodyPropertiesCfg": ("", _GEOMETRY),
    "ArticulationRootPropertiesCfg": ("", _GEOMETRY),
    "CollisionPropertiesCfg": ("", _GEOMETRY),
    "MassPropertiesCfg": ("", _GEOMETRY),
    # isaaclab.utils
    "configclass": ("mjlab.settings.Config", "a base class; no decorator is needed"),
    "AdditiveUniformNoiseCfg": ("mjlab.tensors.UniformNoiseCfg", ""),
    "AdditiveGaussianNoiseCfg": ("mjlab.tensors.GaussianNoiseCfg", ""),
}

_FIELDS = {
    "": {
        "asset_name": Replacement("entity_name"),
        "eye": Replacement(
            "distance", "with `azimuth` and `elevation`, around the look-at point"
        ),
        "render_interval": Replacement(
            "", "viewers render at their own rate", omit=True
        ),
        "replicate_physics": Replacement(
            "", "all worlds have the same model", omit=True
        ),
        "spawn": Replacement("source", "a path to MJCF or URDF"),
        "prim_path": Replacement(
            "", "entities and sensors are named by their keys", omit=True
        ),
    },
    "ViewerCfg": {
        "asset_name": Replacement("entity"),
        "body_name": Replacement("body"),
        "env_index": Replacement("world"),
    },
    "TerrainCfg": {
        "terrain_type": Replacement("kind"),
        "terrain_generator": Replacement("generator"),
    },
}

ISAAC_LAB = Project(
    "Isaac Lab 2.3",
    ("isaaclab", "isaaclab_tasks", "isaaclab_assets", "isaaclab_rl"),
    _PACKAGES,
    _TASK_PACKAGES,
    _OTHERWISE,
    _FIELDS,
)
"""Isaac Lab 2.3."""
