"""Names, fields and members of mjlab 1.6.0, and their counterparts in this package.

`mjlab port`, the error about an unknown field, and the documentation use these tables.
A test compares them with mjlab 1.6. Each entry has the counterpart, empty if there is
none, and a note on the difference or the replacement.
"""

from typing import NamedTuple

from mjlab.settings.counterparts import SAME, Package, Project, Replacement, Rows

_To = Replacement


def _omit(why: str = "") -> Replacement:
    """Return the entry of a name that is removed without replacement."""
    return Replacement("", why, omit=True)


# --- Names ----------------------------------------------------------------------------

_PACKAGES = {
    "mjlab.envs": Package(
        "ManagerBasedRlEnv ManagerBasedRlEnvCfg VecEnvObs VecEnvStepReturn",
        "mjlab.envs",
    ),
    "mjlab.managers": Package(
        "ManagerBase ManagerTermBase ManagerTermBaseCfg SceneEntityCfg ActionManager "
        "ActionTerm ActionTermCfg ObservationManager ObservationGroupCfg "
        "ObservationTermCfg RewardManager RewardTermCfg TerminationManager "
        "TerminationTermCfg CommandManager NullCommandManager CommandTerm "
        "CommandTermCfg CurriculumManager NullCurriculumManager CurriculumTermCfg "
        "EventManager EventMode EventTermCfg MetricsManager NullMetricsManager "
        "MetricsTermCfg RecorderManager NullRecorderManager RecorderTerm "
        "RecorderTermCfg",
        "mjlab.managers",
    ),
    "mjlab.entity": Package(
        "Entity EntityCfg EntityArticulationInfoCfg EntityIndexing EntityData",
        "mjlab.entity",
    ),
    "mjlab.scene": Package("Scene SceneCfg", "mjlab.scene"),
    "mjlab.sim": Package(
        "Simulation MujocoSimulation SimulationCfg MujocoCfg TorchArray WarpBridge",
        "mjlab.sim",
    ),
    "mjlab.actuator": Package(
        "Actuator ActuatorCfg ActuatorCmd BuiltinActuatorGroup BuiltinMotorActuator "
        "BuiltinMotorActuatorCfg BuiltinPositionActuator BuiltinPositionActuatorCfg "
        "BuiltinVelocityActuator BuiltinVelocityActuatorCfg BuiltinPdActuator "
        "BuiltinPdActuatorCfg BuiltinDcMotorActuator BuiltinDcMotorActuatorCfg "
        "DcMotorInputMode DcMotorDatasheetParams DcMotorPhysicalParams "
        "BuiltinMuscleActuator BuiltinMuscleActuatorCfg XmlActuator XmlActuatorCfg "
        "IdealPdActuator IdealPdActuatorCfg DcMotorActuator DcMotorActuatorCfg "
        "LearnedMlpActuator LearnedMlpActuatorCfg",
        "mjlab.actuator",
    ),
    "mjlab.sensor": Package(
        "Sensor SensorCfg SensorContext BuiltinSensor BuiltinSensorCfg ObjRef "
        "ContactSensor ContactSensorCfg ContactData ContactMatch RayCastSensor "
        "RayCastSensorCfg RayCastData GridPatternCfg PinholeCameraPatternCfg "
        "RingPatternCfg TerrainHeightSensor TerrainHeightSensorCfg CameraSensor "
        "CameraSensorCfg CameraSensorData",
        "mjlab.sensor",
    ),
    "mjlab.terrains": Package(
        "TerrainEntity TerrainEntityCfg TerrainGenerator TerrainGeneratorCfg "
        "SubTerrainCfg FlatPatchSamplingCfg HfDiscreteObstaclesTerrainCfg "
        "HfPerlinNoiseTerrainCfg HfPyramidSlopedTerrainCfg HfRandomUniformTerrainCfg "
        "HfWaveTerrainCfg BoxFlatTerrainCfg BoxInvertedPyramidStairsTerrainCfg "
        "BoxNarrowBeamsTerrainCfg BoxNestedRingsTerrainCfg BoxOpenStairsTerrainCfg "
        "BoxPyramidStairsTerrainCfg BoxRandomGridTerrainCfg "
        "BoxRandomSpreadTerrainCfg BoxRandomStairsTerrainCfg "
        "BoxSteppingStonesTerrainCfg BoxTiltedGridTerrainCfg",
        "mjlab.terrain",
    ),
    "mjlab.viewer": Package(
        "ViewerConfig BaseViewer NativeMujocoViewer ViserPlayViewer OffscreenRenderer "
        "EnvProtocol PolicyProtocol VerbosityLevel",
        "mjlab.viewer",
    ),
    "mjlab.rl": Package(
        "MjlabOnPolicyRunner RslRlVecEnvWrapper RslRlOnPolicyRunnerCfg "
        "RslRlPpoAlgorithmCfg RslRlModelCfg RslRlBaseRunnerCfg",
        "mjlab.rl",
    ),
    "mjlab.envs.mdp": Package(
        "JointPositionAction JointPositionActionCfg RelativeJointPositionActionCfg "
        "JointVelocityActionCfg "
        "JointEffortActionCfg TendonLengthActionCfg TendonVelocityActionCfg "
        "TendonEffortActionCfg SiteEffortActionCfg DifferentialIKActionCfg "
        "base_lin_vel base_ang_vel projected_gravity joint_pos_rel joint_vel_rel "
        "last_action generated_commands builtin_sensor projected_gravity_from_sensor "
        "height_scan is_alive is_terminated joint_torques_l2 joint_vel_l2 "
        "joint_acc_l2 action_rate_l2 action_acc_l2 joint_pos_limits posture "
        "electrical_power_cost flat_orientation_l2 time_out bad_orientation "
        "root_height_below_minimum nan_detection randomize_terrain "
        "reset_scene_to_default reset_root_state_uniform "
        "reset_root_state_from_flat_patches reset_joints_by_offset "
        "push_by_setting_velocity apply_external_force_torque apply_body_impulse "
        "reward_curriculum termination_curriculum mean_action_acc dr",
        "mjlab.mdp",
    ),
    "mjlab.envs.mdp.dr": Package(
        "body_mass body_com_offset body_ipos body_pos body_quat pseudo_inertia "
        "dof_armature dof_damping dof_frictionloss encoder_bias jnt_range "
        "jnt_stiffness joint_armature joint_damping joint_default_pos joint_friction "
        "joint_limits joint_stiffness qpos0 geom_friction geom_matid geom_pos "
        "geom_quat geom_rgba geom_size site_pos site_quat tendon_armature "
        "tendon_damping tendon_friction tendon_frictionloss tendon_stiffness cam_fovy "
        "cam_intrinsic cam_pos cam_quat light_ambient light_attenuation light_cutoff "
        "light_diffuse light_dir light_exponent light_pos light_specular mat_emission "
        "mat_rgba mat_shininess mat_specular mat_texid mat_texrepeat pair_friction "
        "effort_limits pd_gains Distribution Operation",
        "mjlab.mdp.randomize",
    ),
    "mjlab.tasks.velocity.mdp": Package(
        "UniformVelocityCommand UniformVelocityCommandCfg foot_height foot_air_time "
        "foot_contact foot_contact_forces track_linear_velocity "
        "track_angular_velocity upright self_collision_cost "
        "body_angular_velocity_penalty angular_momentum_penalty feet_air_time "
        "feet_clearance feet_swing_height feet_slip soft_landing variable_posture "
        "illegal_contact out_of_terrain_bounds terrain_edge_reached "
        "terrain_levels_vel commands_vel",
        "mjlab.tasks.velocity.mdp",
    ),
}
_NULL = "the same class, without terms"
_BOUND = "bound actuators are in `Entity.actuators`"

_OTHERWISE: Rows = {
    # mjlab.envs
    "VecEnvObs": ("mjlab.managers.Observations", ""),
    "VecEnvStepReturn": ("mjlab.envs.Step", "a named tuple"),
    # mjlab.managers
    "ManagerBase": ("mjlab.managers.term.Manager", ""),
    "ManagerTermBaseCfg": ("mjlab.managers.TermCfg", ""),
    "NullCommandManager": ("mjlab.managers.CommandManager", _NULL),
    "NullCurriculumManager": ("mjlab.managers.CurriculumManager", _NULL),
    "NullMetricsManager": ("mjlab.managers.MetricsManager", _NULL),
    "NullRecorderManager": ("mjlab.managers.RecorderManager", _NULL),
    "EventMode": ("mjlab.managers.event.EventMode", ""),
    "RecorderTerm": (
        "mjlab.managers.ManagerTermBase",
        "a recorder is an ordinary term; `mjlab.mdp` has several, and the manager "
        "writes the files",
    ),
    # mjlab.entity
    "EntityArticulationInfoCfg": ("mjlab.entity.ArticulationCfg", ""),
    "EntityIndexing": ("mjlab.entity.EntityIndex", ""),
    # mjlab.sim
    "MujocoSimulation": (
        "mjlab.sim.Simulation",
        "one class for both engines: `SimulationCfg(backend='native')`",
    ),
    "TorchArray": ("mjlab.sim.Simulation", "fields of `sim.data` are torch tensors"),
    "WarpBridge": ("mjlab.sim.Simulation", "fields of `sim.data` are torch tensors"),
    # mjlab.actuator
    "Actuator": ("mjlab.actuator.ActuatorSet", "all actuators of an entity"),
    "ActuatorCmd": ("mjlab.actuator.ActuatorTargets", ""),
    "BuiltinActuatorGroup": ("mjlab.actuator.ActuatorSet", ""),
    "BuiltinMotorActuator": ("mjlab.actuator.ActuatorBinding", _BOUND),
    "BuiltinMotorActuatorCfg": ("mjlab.actuator.MotorActuatorCfg", ""),
    "BuiltinPositionActuator": ("mjlab.actuator.ActuatorBinding", _BOUND),
    "BuiltinPositionActuatorCfg": (
        "mjlab.actuator.PositionActuatorCfg",
        "gains are numbers, or values by pattern of joint names",
    ),
    "BuiltinVelocityActuator": ("mjlab.actuator.ActuatorBinding", _BOUND),
    "BuiltinVelocityActuatorCfg": ("mjlab.actuator.VelocityActuatorCfg", ""),
    "BuiltinPdActuator": ("mjlab.actuator.ActuatorBinding", _BOUND),
    "BuiltinPdActuatorCfg": ("mjlab.actuator.PdActuatorCfg", ""),
    "BuiltinDcMotorActuator": ("mjlab.actuator.ActuatorBinding", _BOUND),
    "BuiltinDcMotorActuatorCfg": ("mjlab.actuator.DcMotorActuatorCfg", ""),
    "DcMotorInputMode": ("mjlab.actuator.DcMotorActuatorCfg", "its field `inputs`"),
    "DcMotorDatasheetParams": ("mjlab.actuator.DcMotorActuatorCfg", "set its fields"),
    "DcMotorPhysicalParams": ("mjlab.actuator.DcMotorActuatorCfg", "set its fields"),
    "BuiltinMuscleActuator": ("mjlab.actuator.ActuatorBinding", _BOUND),
    "BuiltinMuscleActuatorCfg": ("mjlab.actuator.MuscleActuatorCfg", ""),
    "XmlActuator": ("mjlab.actuator.ActuatorBinding", _BOUND),
    "IdealPdActuator": ("mjlab.actuator.ActuatorBinding", _BOUND),
    "DcMotorActuator": ("mjlab.actuator.ActuatorBinding", _BOUND),
    "DcMotorActuatorCfg": (
        "mjlab.actuator.DcPdActuatorCfg",
        "here `DcMotorActuatorCfg` is MuJoCo's own motor",
    ),
    "LearnedMlpActuator": ("mjlab.actuator.ActuatorBinding", _BOUND),
    "LearnedMlpActuatorCfg": ("mjlab.actuator.LearnedActuatorCfg", ""),
    # mjlab.sensor
    "BuiltinSensor": ("mjlab.sensor.MujocoSensor", ""),
    "BuiltinSensorCfg": ("mjlab.sensor.MujocoSensorCfg", ""),
    "PinholeCameraPatternCfg": ("mjlab.sensor.PinholePatternCfg", ""),
    "CameraSensorData": ("mjlab.sensor.CameraData", ""),
    # mjlab.terrains
    "TerrainEntity": ("mjlab.scene.Ground", "`env.scene.ground` is not an entity"),
    "TerrainEntityCfg": ("mjlab.terrain.TerrainCfg", ""),
    "TerrainGenerator": ("mjlab.terrain.build_terrain", "a function, not a class"),
    "FlatPatchSamplingCfg": ("mjlab.terrain.FlatPatchCfg", ""),
    "HfDiscreteObstaclesTerrainCfg": ("mjlab.terrain.DiscreteObstaclesCfg", ""),
    "HfPerlinNoiseTerrainCfg": ("mjlab.terrain.PerlinCfg", ""),
    "HfPyramidSlopedTerrainCfg": ("mjlab.terrain.PyramidSlopeCfg", ""),
    "HfRandomUniformTerrainCfg": ("mjlab.terrain.RandomRoughCfg", ""),
    "HfWaveTerrainCfg": ("mjlab.terrain.WaveCfg", ""),
    "BoxFlatTerrainCfg": ("mjlab.terrain.FlatCfg", ""),
    "BoxInvertedPyramidStairsTerrainCfg": (
        "mjlab.terrain.InvertedPyramidStairsCfg",
        "",
    ),
    "BoxNarrowBeamsTerrainCfg": (
        "mjlab.terrain.RadialBeamsCfg",
        "the beams are at height 0, like the ground around them",
    ),
    "BoxNestedRingsTerrainCfg": ("mjlab.tasks.velocity.NestedRingsCfg", ""),
    "BoxOpenStairsTerrainCfg": ("mjlab.terrain.OpenStairsCfg", "has a floor below"),
    "BoxPyramidStairsTerrainCfg": ("mjlab.terrain.PyramidStairsCfg", ""),
    "BoxRandomGridTerrainCfg": (
        "mjlab.terrain.RandomGridCfg",
        "`num_levels` different heights; equal neighbours are merged",
    ),
    "BoxRandomSpreadTerrainCfg": (
        "mjlab.terrain.RandomSpreadCfg",
        "always has a floor",
    ),
    "BoxRandomStairsTerrainCfg": ("mjlab.tasks.velocity.RandomStairsCfg", ""),
    "BoxSteppingStonesTerrainCfg": ("mjlab.terrain.SteppingStonesCfg", ""),
    "BoxTiltedGridTerrainCfg": (
        "mjlab.tasks.velocity.TiltedGridCfg",
        "slope instead of degrees; one height field, so steps between cells are one "
        "vertex wide",
    ),
    # mjlab.viewer
    "ViewerConfig": ("mjlab.envs.ViewerCfg", ""),
    "BaseViewer": ("mjlab.viewer.Player", "steps the environment; viewers show it"),
    "NativeMujocoViewer": ("mjlab.viewer.NativeViewer", ""),
    "ViserPlayViewer": ("mjlab.viewer.WebViewer", ""),
    "OffscreenRenderer": ("mjlab.render.Offscreen", ""),
    "EnvProtocol": ("mjlab.envs.Worlds", ""),
    "PolicyProtocol": ("mjlab.envs.Policy", ""),
    "VerbosityLevel": ("", "no counterpart"),
    # mjlab.rl
    "MjlabOnPolicyRunner": (
        "mjlab.rl.TrainingLoop",
        "RSL-RL's own runner takes `mjlab.rl.RslRlVecEnv` too",
    ),
    "RslRlVecEnvWrapper": ("mjlab.rl.RslRlVecEnv", ""),
    "RslRlOnPolicyRunnerCfg": (
        "mjlab.rl.RslRlOnPolicyRunnerCfg",
        "no `experiment_name` or `save_interval`: runs are named by task and time, and "
        "saved as set in `checkpoint`",
    ),
    "RslRlModelCfg": (
        "mjlab.rl.RslRlModelCfg",
        "other networks have their own classes; `distribution_cfg` also takes RSL-RL's "
        "dictionary",
    ),
    # mjlab.envs.mdp
    "projected_gravity_from_sensor": (
        "mjlab.tasks.velocity.mdp.projected_gravity_from_sensor",
        "",
    ),
    # mjlab.envs.mdp.dr
    "dof_armature": ("mjlab.mdp.randomize.joint_armature", ""),
    "dof_damping": ("mjlab.mdp.randomize.joint_damping", ""),
    "dof_frictionloss": ("mjlab.mdp.randomize.joint_friction", ""),
    "jnt_range": ("mjlab.mdp.randomize.joint_limits", ""),
    "jnt_stiffness": ("mjlab.mdp.randomize.joint_stiffness", ""),
    "joint_limits": (
        "mjlab.mdp.randomize.joint_limits",
        "also updates `Entity.data` and terms that read limits",
    ),
    "qpos0": ("mjlab.mdp.randomize.joint_default_pos", ""),
    "tendon_frictionloss": ("mjlab.mdp.randomize.tendon_friction", ""),
    "Distribution": ("mjlab.mdp.randomize.distributions", "a name, such as 'uniform'"),
    "Operation": ("mjlab.mdp.randomize.fields", "a name: 'abs', 'scale' or 'add'"),
    # mjlab.tasks.velocity.mdp
    "UniformVelocityCommand": ("mjlab.mdp.UniformVelocityCommand", ""),
    "UniformVelocityCommandCfg": (
        "mjlab.mdp.UniformVelocityCommandCfg",
        "fractions of worlds are exclusive; see below",
    ),
    "foot_height": (
        "mjlab.tasks.velocity.mdp.foot_height",
        "needs no sensor: heights of sites above a plane",
    ),
    "foot_contact_forces": (
        "mjlab.tasks.velocity.mdp.foot_contact_forces",
        "forces of the last physics step, without another `forward()`",
    ),
    "track_linear_velocity": (
        "mjlab.tasks.velocity.mdp.track_linear_velocity",
        "at the end of the step; see below",
    ),
    "track_angular_velocity": (
        "mjlab.tasks.velocity.mdp.track_angular_velocity",
        "at the end of the step; see below",
    ),
    "upright": (
        "mjlab.tasks.velocity.mdp.upright",
        "keeps decreasing beyond 90 degrees",
    ),
    "self_collision_cost": (
        "mjlab.tasks.velocity.mdp.self_collision_cost",
        "counts all contacts, not only the first; see below",
    ),
    "feet_clearance": (
        "mjlab.tasks.velocity.mdp.feet_clearance",
        "height of the current step instead of the previous step; see below",
    ),
    "feet_swing_height": (
        "mjlab.tasks.velocity.mdp.feet_swing_height",
        "height of the current step instead of the previous step; see below",
    ),
    "soft_landing": (
        "mjlab.tasks.velocity.mdp.soft_landing",
        "largest force of the physics steps: the value is up to 3e-3 larger",
    ),
    "variable_posture": (
        "mjlab.tasks.velocity.mdp.variable_posture",
        "`walking_threshold` and `running_threshold` are `speeds`",
    ),
    "out_of_terrain_bounds": ("mjlab.mdp.out_of_terrain_bounds", ""),
    "illegal_contact": (
        "mjlab.mdp.illegal_contact",
        "`force_threshold` is `threshold` in Isaac Lab",
    ),
    "height_scan": (
        "mjlab.mdp.height_scan",
        "takes `sensor_name`; has no offset by default",
    ),
}

_TASK_PACKAGES = {
    "mjlab.utils.noise": Package(
        "NoiseCfg ConstantNoiseCfg GaussianNoiseCfg NoiseModelCfg "
        "NoiseModelWithAdditiveBiasCfg UniformNoiseCfg",
        "mjlab.tensors",
    ),
    "mjlab.utils.spec_config": Package(
        "CollisionCfg GeomCfg MaterialCfg MeshCfg TextureCfg LightCfg CameraCfg "
        "SpecCfg",
        "mjlab.spec",
    ),
    "mjlab.utils.lab_api.math": Package(
        "axis_angle_from_quat combine_frame_transforms copysign default_orientation "
        "euler_xyz_from_quat matrix_from_quat normalize quat_apply quat_apply_inverse "
        "quat_apply_yaw quat_box_minus quat_box_plus quat_conjugate "
        "quat_error_magnitude quat_from_angle_axis quat_from_euler_xyz "
        "quat_from_matrix quat_inv quat_mul quat_slerp quat_unique random_orientation "
        "random_yaw_orientation sample_gaussian sample_log_uniform sample_uniform "
        "saturate scale_transform subtract_frame_transforms transform_points "
        "unscale_transform wrap_to_pi yaw_quat",
        "mjlab.tensors.math",
    ),
    "mjlab.managers.event_manager": Package(
        "requires_model_fields RecomputeLevel", "mjlab.managers"
    ),
    "mjlab.tasks.tracking.mdp": Package(
        "MotionCommand MotionCommandCfg motion_anchor_pos_b motion_anchor_ori_b "
        "robot_body_pos_b robot_body_ori_b motion_global_anchor_position_error_exp "
        "motion_global_anchor_orientation_error_exp "
        "motion_relative_body_position_error_exp "
        "motion_relative_body_orientation_error_exp "
        "motion_global_body_linear_velocity_error_exp "
        "motion_global_body_angular_velocity_error_exp self_collision_cost "
        "bad_anchor_pos bad_anchor_pos_z_only bad_anchor_ori bad_motion_body_pos "
        "bad_motion_body_pos_z_only",
        "mjlab.motion.mdp",
    ),
    "mjlab.terrains.config": Package(
        "ROUGH_TERRAINS_CFG", "mjlab.tasks.velocity.terrains"
    ),
    "mjlab.tasks.registry": Package(
        "register_mjlab_task list_tasks load_env_cfg load_rl_cfg load_runner_cls",
        "mjlab.registry",
    ),
    "mjlab.actuator.actuator": Package("TransmissionType", "mjlab.actuator"),
    "mjlab.utils.actuator": Package(
        "ElectricActuator reflected_inertia reflected_inertia_from_two_stage_planetary "
        "rpm_to_rad",
        "mjlab.tasks.robots.robot",
    ),
    "mjlab.asset_zoo.robots": Package(
        "G1_ACTION_SCALE GO1_ACTION_SCALE YAM_ACTION_SCALE get_g1_robot_cfg "
        "get_go1_robot_cfg get_yam_robot_cfg",
        "mjlab.tasks.robots",
    ),
    "mjlab.rl.exporter_utils": Package(
        "attach_metadata_to_onnx get_base_metadata", "mjlab.export"
    ),
    "mjlab.utils.lab_api.string": Package(
        "resolve_matching_names resolve_matching_names_values", "mjlab.names"
    ),
    "mjlab.utils.lab_api.tasks.importer": Package("import_packages", "mjlab.registry"),
    "mjlab.utils.os": Package("get_wandb_checkpoint_path", "mjlab.runs"),
    "mjlab.utils.torch": Package("configure_torch_backends", "mjlab.rl"),
    "mjlab.viewer.debug_visualizer": Package("DebugVisualizer", "mjlab.render"),
}
_DRAWS = "draw from `env.rng`, which has a stream for each world"
_MATH = "mjlab.tensors.math"
_OTHERWISE |= {
    # mjlab.utils.spec_config
    "SpecCfg": ("mjlab.spec.SpecEditCfg", ""),
    # mjlab.utils.lab_api.math
    "axis_angle_from_quat": (f"{_MATH}.quat_to_rotvec", ""),
    "combine_frame_transforms": (
        f"{_MATH}.combine_frames",
        "all four arguments are needed",
    ),
    "copysign": ("", "use `torch.copysign` with two tensors"),
    "default_orientation": ("", "use a tensor of (1, 0, 0, 0)"),
    "euler_xyz_from_quat": (f"{_MATH}.quat_to_euler_xyz", ""),
    "matrix_from_quat": (f"{_MATH}.quat_to_matrix", ""),
    "quat_apply": (f"{_MATH}.quat_rotate", ""),
    "quat_apply_inverse": (f"{_MATH}.quat_rotate_inverse", ""),
    "quat_apply_yaw": (f"{_MATH}.quat_rotate", "pass `quat_yaw(quat)`"),
    "quat_box_plus": (f"{_MATH}.quat_box_plus", "`quat_positive` makes w >= 0"),
    "quat_error_magnitude": (f"{_MATH}.quat_angle", ""),
    "quat_from_angle_axis": (
        f"{_MATH}.quat_from_axis_angle",
        "the axis is the first argument",
    ),
    "quat_inv": (f"{_MATH}.quat_conjugate", "for unit quaternions"),
    "quat_unique": (f"{_MATH}.quat_positive", ""),
    "random_orientation": ("", _DRAWS),
    "random_yaw_orientation": ("", _DRAWS),
    "sample_gaussian": ("", _DRAWS),
    "sample_log_uniform": ("", _DRAWS),
    "sample_uniform": ("", _DRAWS),
    "saturate": ("", "use `torch.clamp`"),
    "scale_transform": ("", "use `2 * (x - (low + high) / 2) / (high - low)`"),
    "subtract_frame_transforms": (
        f"{_MATH}.subtract_frames",
        "all four arguments are needed",
    ),
    "transform_points": (
        f"{_MATH}.transform_points",
        "`pos` and `quat` are the first arguments",
    ),
    "unscale_transform": ("", "use `(low + high) / 2 + x * (high - low) / 2`"),
    "yaw_quat": (f"{_MATH}.quat_yaw", ""),
    # mjlab.managers.event_manager
    "requires_model_fields": _omit("`model_fields` of the function has their names"),
    "RecomputeLevel": _omit("derived constants follow from the fields"),
    # mjlab.tasks.tracking.mdp
    "MotionCommand": ("mjlab.motion.MotionCommand", ""),
    "MotionCommandCfg": ("mjlab.motion.MotionCommandCfg", ""),
    # mjlab.asset_zoo.robots
    **{
        name: (f"mjlab.tasks.robots.{robot}.{ours}", "")
        for robot in ("g1", "go1", "yam")
        for name, ours in {
            f"{robot.upper()}_ACTION_SCALE": "ACTION_SCALE",
            f"get_{robot}_robot_cfg": f"{robot}_cfg",
        }.items()
    },
    # mjlab.rl.exporter_utils
    "attach_metadata_to_onnx": ("", "`mjlab export` writes the metadata"),
    "get_base_metadata": ("", "`mjlab export` writes the metadata"),
    # mjlab.utils
    "resolve_matching_names": (
        "mjlab.names.match_names",
        "returns indices only, and needs `what`",
    ),
    "resolve_matching_names_values": ("mjlab.names.match_values", ""),
    "import_packages": _omit("tasks are found by their entry points"),
    "get_wandb_checkpoint_path": ("", "commands take a run as `wandb:...`"),
    "configure_torch_backends": _omit(),
    "DebugVisualizer": (
        "mjlab.render.overlays.Marks",
        "`add_arrow(world, start, end)`, for the worlds in `worlds`",
    ),
    # mjlab.actuator.actuator
    "TransmissionType": ("", "'joint', 'tendon' or 'site'"),
    # mjlab.utils.actuator
    "ElectricActuator": ("mjlab.tasks.robots.robot.Motor", "also contains the gains"),
    "reflected_inertia": (
        "mjlab.tasks.robots.robot.reflected_inertia",
        "takes one or several stages",
    ),
    "reflected_inertia_from_two_stage_planetary": (
        "mjlab.tasks.robots.robot.reflected_inertia",
        "takes one or several stages",
    ),
    "rpm_to_rad": ("", "multiply by pi / 30"),
    # mjlab.tasks
    "list_tasks": ("mjlab.registry.entries", "a dictionary by id"),
    "load_env_cfg": ("mjlab.registry.load_task", "a `Task` with `env`, `play`, `rl`"),
    "load_rl_cfg": ("mjlab.registry.load_task", "a `Task` with `env`, `play`, `rl`"),
    "load_runner_cls": ("", "`mjlab.rl.TrainingLoop` trains all tasks"),
    "register_mjlab_task": (
        "mjlab.registry.Task",
        "register it as an entry point `mjlab.tasks`; `mjlab new` writes an example",
    ),
}

CALLS: dict[str, tuple[str, str]] = {
    "list_tasks": ("", "list(entries())"),
    "reflected_inertia": (
        "rotor_inertia gear_ratio",
        "({rotor_inertia}) * ({gear_ratio}) ** 2",
    ),
    "reflected_inertia_from_two_stage_planetary": (
        "rotor_inertia gear_ratio",
        "reflected_inertia({rotor_inertia}, {gear_ratio})",
    ),
    "rpm_to_rad": ("rpm", "({rpm}) * torch.pi / 30.0"),
    "load_env_cfg": ("task_name", "load_task({task_name}).env()"),
    "load_rl_cfg": ("task_name", "load_task({task_name}).rl()"),
    "resolve_matching_names_values": (
        "data list_of_strings",
        "match_values({data}, {list_of_strings})",
    ),
    "copysign": (
        "mag other",
        "torch.copysign(torch.full_like({other}, {mag}), {other})",
    ),
    "quat_box_plus": ("q delta", "quat_positive(quat_box_plus({q}, {delta}))"),
    "saturate": ("x lower upper", "torch.clamp({x}, {lower}, {upper})"),
    "quat_apply_yaw": ("quat vec", "quat_rotate(quat_yaw({quat}), {vec})"),
    "quat_from_angle_axis": ("angle axis", "quat_from_axis_angle({axis}, {angle})"),
    "transform_points": (
        "points pos quat",
        "transform_points({pos}, {quat}, {points})",
    ),
    "default_orientation": (
        "num device",
        "torch.tensor([1.0, 0.0, 0.0, 0.0], device={device}).repeat({num}, 1)",
    ),
    "scale_transform": (
        "x lower upper",
        "(2.0 * {x} - ({lower} + {upper})) / ({upper} - {lower})",
    ),
    "unscale_transform": (
        "x lower upper",
        "({lower} + {upper}) / 2.0 + {x} * ({upper} - {lower}) / 2.0",
    ),
    "sample_uniform": (
        "lower upper size device",
        "({lower}) + (({upper}) - ({lower})) * torch.rand({size}, device={device})",
    ),
    "sample_log_uniform": (
        "lower upper size device",
        "({lower}) * (({upper}) / ({lower})) ** torch.rand({size}, device={device})",
    ),
    "sample_gaussian": (
        "mean std size device",
        "({mean}) + ({std}) * torch.randn({size}, device={device})",
    ),
    "random_orientation": (
        "num device",
        "quat_normalize(torch.randn({num}, 4, device={device}))",
    ),
    "random_yaw_orientation": (
        "num device",
        "quat_from_rotvec(torch.pi * torch.nn.functional.pad("
        "2.0 * torch.rand({num}, 1, device={device}) - 1.0, (2, 0)))",
    ),
}
"""Parameters of mjlab's function, and an equivalent expression, which can use functions
of `mjlab.tensors.math`, `mjlab.names` and `mjlab.registry`."""

# --- Fields -------------------------------------------------------------------------

_LAGS = {
    "delay_min_lag": _To("delay", value="DelayCfg(min_lag=...)"),
    "delay_max_lag": _To("delay", value="DelayCfg(max_lag=...)"),
    "delay_hold_prob": _To("delay", value="DelayCfg(hold_prob=...)"),
    "delay_update_period": _To("delay", value="DelayCfg(update_period=...)"),
    "delay_per_env_phase": _To("delay", value="DelayCfg(per_world_phase=...)"),
}
_EPS = _omit("no value is divided by zero")
_SELECTED = "read it from the `Selection` that a term receives"

_FIELDS: dict[str, dict[str, Replacement]] = {
    # Physics.
    "SimulationCfg": {
        "nan_guard": _To(
            "", "set `dumps` of the agent", option="--agent.dumps.enabled"
        ),
        "ls_parallel": _omit("MuJoCo Warp ignores it"),
    },
    # Entities, models and actuators.
    "EntityCfg": {
        "spec_fn": _To("source", "also an MjSpec or a file", SAME),
        "sort_actuators": _omit("actuators have the order of the joints"),
    },
    "ActuatorCfg": {
        "transmission_type": _To("transmission", "'joint', 'tendon' or 'site'"),
        **_LAGS,
    },
    "XmlActuatorCfg": {"command_field": _To("command")},
    "MuscleActuatorCfg": {"range": _To("operating_range")},
    "LearnedActuatorCfg": {
        "stiffness": _omit("the network computes the effort"),
        "damping": _omit("the network computes the effort"),
        "history_length": _To("input_idx", "the past steps that the network receives"),
    },
    "DcMotorActuatorCfg": {
        "motor_params": _To("", "set their fields, such as `resistance`, directly"),
        "mode": _To("inputs"),
        "lugre": _To("friction"),
    },
    "CollisionCfg": {"geom_names_expr": _To("geom_names")},
    "GeomCfg": {"geom_names_expr": _To("geom_names")},
    "MaterialCfg": {"geom_names_expr": _To("geom_names")},
    "MeshCfg": {"mesh_names_expr": _To("mesh_names")},
    # Terrain.
    "TerrainCfg": {
        "terrain_type": _To("kind"),
        "terrain_generator": _To("generator"),
        "num_envs": _omit("a field of `SceneCfg`"),
        "env_spacing": _omit("a field of `SceneCfg`"),
        "debug_vis": _omit("origins are not drawn"),
        "textures": _To("plane_checker"),
        "materials": _To("rgba"),
        "lights": _To("light"),
        **{
            name: _omit("the ground is not an entity")
            for name in (
                "init_state",
                "spec_fn",
                "articulation",
                "sort_actuators",
                "cameras",
                "meshes",
                "geoms",
                "collisions",
            )
        },
    },
    "TerrainGeneratorCfg": {
        "border_height": _To("base_thickness"),
        "add_lights": _To("", "set `light` of `TerrainCfg`"),
    },
    "SubTerrainCfg": {
        "size": _To("", "set `size` of `TerrainGeneratorCfg`, for all tiles"),
    },
    # Sensors.
    "CameraSensorCfg": {
        "camera_name": _To("camera"),
        "parent_body": _To("parent", "an `ObjRef`"),
        "enabled_geom_groups": _To("geom_groups"),
        "orthographic": _omit("added cameras are perspective"),
        "clone_data": _To("", "clone the image where a term writes to it"),
    },
    "ContactSensorCfg": {
        "debug": _To("", "`mjlab scene` lists the sensors of a scene"),
    },
    "TerrainHeightSensorCfg": {
        "ray_alignment": _omit("its rays are vertical"),
    },
    # Managers.
    "ManagerBasedRlEnvCfg": {
        "auto_reset": _To("", "call `env.choose_resets('never')`"),
    },
    "ActionTermCfg": {
        "clip": _To("", "a field of `JointPositionActionCfg` and similar actions"),
    },
    "ObservationGroupCfg": {
        "nan_check_per_term": _omit("values are always counted by term"),
    },
    "ObservationTermCfg": {
        **{name: row for name, row in _LAGS.items() if "lag" not in name},
        "delay_per_env": _To("delay", value="DelayCfg(per_world=...)"),
    },
    "SceneEntityCfg": {
        f"{kind}_ids": _To("", _SELECTED)
        for kind in (
            "joint body geom site actuator tendon camera light material texture pair"
        ).split()
    },
    # Terms.
    "DrivenActionCfg": {
        "transmission_type": _omit("the class defines it"),
    },
    "JointVelocityActionCfg": {
        "use_default_offset": _To("offset", "default velocities are not added"),
    },
    "DifferentialIKActionCfg": {
        "delta_pos_scale": _To("position_scale"),
        "delta_ori_scale": _To("rotation_scale"),
        "max_dq": _To("max_joint_step"),
        "joint_limit_weight": _To("use_soft_limits", "limits are hard constraints"),
        "posture_target": _To("posture"),
    },
    "UniformVelocityCommandCfg": {"viz": _omit()},
    "MotionCommandCfg": {
        "motion_file": _To("clips", "files and folders", value="(...,)"),
        "anchor_body_name": _To("anchor_body"),
        "joint_position_range": _To("joint_range"),
        "sampling_mode": _To("sampling"),
        "adaptive_kernel_size": _To("adaptive", value="AdaptiveSampling(kernel=...)"),
        "adaptive_lambda": _To("adaptive", value="AdaptiveSampling(decay=...)"),
        "adaptive_uniform_ratio": _To(
            "adaptive", value="AdaptiveSampling(uniform=...)"
        ),
        "adaptive_alpha": _To("adaptive", value="AdaptiveSampling(rate=...)"),
    },
    # Parameters of the math functions.
    "normalize": {"x": _To("vec"), "eps": _EPS},
    "wrap_to_pi": {"angles": _To("angle")},
    "quat_angle": {"q1": _To("left"), "q2": _To("right")},
    "quat_box_minus": {"q1": _To("left"), "q2": _To("right")},
    "quat_conjugate": {"q": _To("quat"), "eps": _EPS},
    "quat_mul": {"q1": _To("left"), "q2": _To("right")},
    "quat_positive": {"q": _To("quat")},
    "quat_slerp": {"q1": _To("start"), "q2": _To("end"), "tau": _To("fraction")},
    "quat_to_euler_xyz": {"wrap_to_2pi": _To("", "use `torch.remainder`")},
    "quat_to_matrix": {"quaternions": _To("quat")},
    "quat_to_rotvec": {"eps": _EPS},
    "combine_frames": {
        "t01": _To("pos_ab"),
        "q01": _To("quat_ab"),
        "t12": _To("pos_bc"),
        "q12": _To("quat_bc"),
    },
    "subtract_frames": {
        "t01": _To("pos_wa"),
        "q01": _To("quat_wa"),
        "t02": _To("pos_wb"),
        "q02": _To("quat_wb"),
    },
    "variable_posture": {
        "walking_threshold": _To("speeds", "one ascending pair"),
        "running_threshold": _To("speeds", "one ascending pair"),
    },
    # Viewers.
    "ViewerCfg": {
        "entity_name": _To("entity"),
        "body_name": _To("body"),
        "env_idx": _To("world"),
        "reward_bar_max_terms": _omit("all terms are shown"),
    },
    # Learning.
    "AgentCfg": {
        "seed": _To("", "set `seed` of the environment", option="--seed"),
        "save_interval": _To("checkpoint", value="CheckpointCfg(every=...)"),
        "experiment_name": _omit("runs are named by task and time"),
        "run_name": _To("", "name the run with `--name`", option="--name"),
        "logger": _To(
            "logging",
            "`LoggingCfg(tensorboard=..., wandb=...)`",
            option="--agent.logging.wandb true",
        ),
        "wandb_project": _To("logging", value="LoggingCfg(wandb_project=...)"),
        "wandb_tags": _omit("tags are not written"),
        "upload_model": _To("logging", value="LoggingCfg(wandb_artifacts=...)"),
        "resume": _To("", "give `--resume RUN`", option="--resume latest"),
        "load_run": _To("", "give `--resume RUN`", option="--resume RUN"),
        "load_checkpoint": _To(
            "", "give `--resume CHECKPOINT`", option="--resume CHECKPOINT"
        ),
        "class_name": _omit("the class of the configuration decides"),
    },
    "MlpModelCfg": {
        "cnn_cfg": _To("", "use `CnnModelCfg`, such as `--agent.actor CnnModelCfg`"),
        **{
            name: _To("", "use `RnnModelCfg`, such as `--agent.actor RnnModelCfg`")
            for name in ("rnn_type", "rnn_hidden_dim", "rnn_num_layers")
        },
        "class_name": _omit("the class of the configuration decides"),
    },
    "PpoCfg": {
        "class_name": _omit("the class of the configuration decides"),
    },
}
"""Fields that do not exist here, by class."""

# --- Members of objects -------------------------------------------------------------

_ELEMENTS = ("actuator", "camera", "geom", "light", "site", "tendon")
_XFRC = "the rows `index.bodies.ids` of `env.sim.data.xfrc_applied`"
_BODIES = "`robot_bodies('body_pos_w')` and similar"

_MEMBERS: dict[str, Replacement] = {
    # Entity.
    **{f"Entity.{e}_names": _To(f"index.{e}s.names") for e in _ELEMENTS},
    **{f"Entity.num_{e}s": _To(f"index.{e}s", value="len(...)") for e in _ELEMENTS},
    "find_cameras": _To("index.cameras.find"),
    "find_lights": _To("index.lights.find"),
    "is_actuated": _To("index.actuators", value="bool(...)"),
    "is_articulated": _To("num_joints", value="bool(...)"),
    "has_site_actuators": _To("", "`index.actuators.names` has all actuators"),
    "has_tendon_actuators": _To("", "`index.actuators.names` has all actuators"),
    "Entity.root_body": _To("index.root_body_id", "the id of the body"),
    "find_joints_by_actuator_names": _To("find_joints", "takes names of joints"),
    "write_data_to_sim": _To("apply", "the environment calls it"),
    "is_mocap": _To("index.mocap_body_id", "is None without a mocap body"),
    # EntityData.
    "gravity_vec_w": _To("down_w", "the direction of gravity in each world"),
    "joint_torques": _To("qfrc_actuator", "effort of the actuators in the joints"),
    "joint_pos_target": _To("targets.joint_pos"),
    "joint_vel_target": _To("targets.joint_vel"),
    "joint_effort_target": _To("targets.joint_effort"),
    "tendon_len_target": _To("targets.tendon_len"),
    "tendon_vel_target": _To("targets.tendon_vel"),
    "tendon_effort_target": _To("targets.tendon_effort"),
    "site_effort_target": _To("targets.site_effort"),
    "qfrc_external": _To("qfrc_applied"),
    "body_external_wrench": _To("", _XFRC),
    "body_external_force": _To("", f"the first half of {_XFRC}"),
    "body_external_torque": _To("", f"the second half of {_XFRC}"),
    "default_joint_pos_limits": _To("", "`env.sim.mj_model.jnt_range` has them"),
    "forward_vec_b": _To("", "the x axis, (1, 0, 0)"),
    **{
        f"EntityData.{name}": _To("", f"a property of the entity: `.{name}`")
        for name in ("is_fixed_base", "is_articulated", "is_actuated")
    },
    **{
        f"EntityData.write_{what}": _To("", "call the writer of the entity")
        for what in (
            "ctrl external_wrench joint_position joint_state joint_velocity mocap_pose "
            "root_com_velocity root_pose root_state root_velocity root_velocity_b"
        ).split()
    },
    "EntityData.clear_state": _To("", "call `clear_state` of the entity"),
    # Environment and managers.
    "obs_buf": _To("observation_manager.output"),
    "reward_buf": _To("reward_manager.reward"),
    "reset_buf": _To("termination_manager.dones"),
    "reset_terminated": _To("termination_manager.terminated"),
    "reset_time_outs": _To("termination_manager.time_outs"),
    "get_observations": _To(
        "observation_manager.output",
        "an attribute, valid after a reset or a step",
        is_attribute=True,
    ),
    "get_term_cfg": _To("get_term", "`reward_manager.set_weight` sets weights"),
    "get_active_iterable_terms": _To("term", "returns one term; `terms` has all"),
    "compute_group": _To("", "`observation_manager.output` has the groups by name"),
    "group_obs_concatenate": _To("", "`observation_manager.output[group]` is a tensor"),
    "available_modes": _To("", "`event_manager.apply` does nothing without terms"),
    "vel_command_b": _To("command", "all command terms have this attribute"),
    "vel_command_w": _To("", "`command` is turned into the root frame in each step"),
    "heading_error": _To("", "the difference of `heading_target` and `heading_w`"),
    "UniformVelocityCommand.robot": _To("entity"),
    "MotionCommand.robot": _To("entity"),
    "MotionCommand.motion": _To("table", "the frames of all clips"),
    "MotionCommand.time_steps": _To("frame"),
    "MotionCommand.bin_count": _To("bins", "all bins of adaptive sampling"),
    "MotionCommand.bin_failed_count": _To("bins", "all bins of adaptive sampling"),
    "MotionCommand.kernel": _To("bins", "all bins of adaptive sampling"),
    "MotionCommand.body_pos_relative_w": _To("reanchored", "positions, quaternions"),
    "MotionCommand.body_quat_relative_w": _To("reanchored", "positions, quaternions"),
    "MotionCommand.reset_to_frame": _To("begin_at", "takes a mask, a clip and a frame"),
    **{
        f"MotionCommand.robot_{what}": _To("", _BODIES)
        for what in "body_pos_w body_quat_w body_lin_vel_w body_ang_vel_w".split()
    },
    "MotionCommand.robot_joint_pos": _To("entity.data.joint_pos"),
    "MotionCommand.robot_joint_vel": _To("entity.data.joint_vel"),
    "is_standing_env": _To("is_standing"),
    "is_heading_env": _To("is_heading"),
    "is_forward_env": _To("is_forward"),
    "is_world_env": _To("is_world"),
    # Simulation.
    "expand_model_fields": _To("expand", "event terms declare their fields instead"),
    "get_default_field": _To("default"),
    "default_model_fields": _To("", "`sim.default(field)`"),
    "per_world_default_fields": _To("", "`sim.default(field)`"),
    "expanded_fields": _To("", "`sim.model` has a row per world in such a field"),
    "sim.mj_data": _To("", "`sim.data` has all worlds"),
    "world_to_variant": _To("", "`env.scene.variants[entity]` has the choice"),
    "create_graph": _To("", "graphs are captured on first use"),
    "wp_model": _To("model", "tensors; `engine` has Warp's arrays"),
    "wp_data": _To("data", "tensors; `engine` has Warp's arrays"),
    # Sensors.
    "prefixed_name": _To("full_name", "an attribute", is_attribute=True),
    "torque_history": _To("", "`history('torque')`"),
    "dist_history": _To("", "`history('dist')`"),
    "env.render": _To("", "`mjlab.gym` environments have `render`"),
    "env.scene.terrain": _To("scene.ground", "None on a plane"),
    "env_origins": _To("spawn_origins", "zero on a plane"),
    "terrain_origins": _To("tile_origins"),
    "terrain_levels": _To("levels"),
    "terrain_types": _To("columns"),
    "indexing": _To("index"),
    "indexing.free_joint_q_adr": _To("", "`sim.mj_model.jnt_qposadr` has addresses"),
    "indexing.free_joint_v_adr": _To("", "`sim.mj_model.jnt_dofadr` has addresses"),
    **{
        f"indexing.{theirs}": _To(f"index.{ours}")
        for theirs, ours in {
            "body_ids": "bodies.ids",
            "geom_ids": "geoms.ids",
            "site_ids": "sites.ids",
            "joint_ids": "joints.ids",
            "tendon_ids": "tendons.ids",
            "ctrl_ids": "controls.ids",
            "joint_q_adr": "joint_qpos.ids",
            "joint_v_adr": "joint_dofs.ids",
        }.items()
    },
}
"""Methods and attributes. The owner in a key is a variable name, or mjlab's class of an
annotated variable."""

_LEFT_OUT: dict[str, str] = {
    "a term reads `env.cfg`": "*.cfg",
    "scenes and sensors are built from configurations, before the environment": (
        "*.initialize *.edit_spec *.set_context *.set_sensor_context Entity.compile "
        "Entity.spec Entity.to_zip Entity.write_xml Entity.variant_metadata "
        "Entity.all_joint_names Scene.compile Scene.spec Scene.to_zip Scene.write "
        "Scene.collect_variant_info Scene.sensor_context *.from_existing "
        "EventManager.domain_randomization_fields ManagerBasedRlEnv.load_managers"
    ),
    "textures, materials and contact pairs are selected by `SceneEntityCfg`": (
        "Entity.find_materials Entity.find_textures Entity.find_pairs "
        "Entity.material_names Entity.texture_names Entity.pair_names "
        "Entity.num_materials Entity.num_textures Entity.num_pairs"
    ),
    "viewers have their own controls and marks": (
        "*.create_gui *.create_debug_vis_gui *.apply_gui_reset *.on_viewer_pause "
        "RewardManager.get_visualizable_terms "
        "ManagerBasedRlEnv.setup_manager_visualizers "
        "ManagerBasedRlEnv.update_visualizers ManagerBasedRlEnv.manager_visualizers "
        "ManagerBasedRlEnv.render_mode"
    ),
    "the runner captures graphs": (
        "*.use_cuda_graph *.step_graph *.forward_graph *.reset_graph *.sense_graph "
        "*.nan_guard *.wp_device"
    ),
    "an attribute of the environment": (
        "EntityData.data EntityData.model EntityData.device Scene.device"
    ),
    "`env.cfg.scene` has it": "Scene.env_spacing",
    "the manager writes the files": (
        "RecorderManager.get_term RecorderManager.record_pre_reset "
        "RecorderManager.record_post_reset RecorderManager.record_post_step "
        "RecorderTerm.record_pre_reset RecorderTerm.record_post_reset "
        "RecorderTerm.record_post_step RecorderTerm.close"
    ),
    "a term without state is a function, whose name is in the configuration": "*.name",
    "the engine casts rays and draws images": (
        "*.prepare_rays *.postprocess_rays *.raycast_kernel *.include_geom_groups "
        "*.camera_idx *.camera_name"
    ),
    "`frame_pos_w` has the positions; bodies have the orientations": (
        "RayCastData.pos_w RayCastData.quat_w RayCastData.frame_quat_w"
    ),
    "`distances` has the shape": (
        "*.num_rays *.num_frames TerrainHeightSensor.num_rays_per_frame"
    ),
    "private arrays of the command": (
        "MotionCommand.robot_anchor_body_index MotionCommand.motion_anchor_body_index "
        "MotionCommand.body_indexes MotionCommand.update_relative_body_poses"
    ),
    "an `IndexedCommandTerm` has it": (
        "UniformVelocityCommand.compute MotionCommand.compute"
    ),
    "takes other arguments, with a mask; the environment calls it": (
        "CommandManager.compute EventManager.apply ObservationManager.compute "
        "Simulation.recompute_constants"
    ),
    "takes a mask, and no `options`": "ManagerBasedRlEnv.reset",
    "times are counted in whole physics steps": (
        "ContactSensor.compute_first_air ContactSensor.compute_first_contact"
    ),
}
LEFT_OUT = {name: why for why, each in _LEFT_OUT.items() for name in each.split()}
"""Members that `port` does not report, or that take other arguments here, each with the
reason. `*` stands for any class."""

# --- Other defaults and meanings --------------------------------------------------


class OtherDefault(NamedTuple):
    """Default of an mjlab 1.6 field that has another default in this package."""

    theirs: str
    """Default in mjlab, as Python text."""

    reason: str
    """Reason for the default here."""


_SAME_LIMIT = OtherDefault("inf", "None also means no limit")

DEFAULTS: dict[str, dict[str, OtherDefault]] = {
    "ManagerBasedRlEnvCfg": {
        "episode_length_s": OtherDefault("0.0", "an episode without steps is an error"),
    },
    "EntityCfg": {
        "articulation": OtherDefault("None", "the default has no actuators either"),
    },
    "ContactSensorCfg": {
        "secondary_policy": OtherDefault(
            "'first'", "the first match depends on the order of the model"
        ),
    },
    "IdealPdActuatorCfg": {"effort_limit": _SAME_LIMIT},
    "LearnedActuatorCfg": {"effort_limit": _SAME_LIMIT},
    "DcPdActuatorCfg": {"effort_limit": _SAME_LIMIT},
    "NoiseModelWithAdditiveBiasCfg": {
        "bias_noise_cfg": OtherDefault("None", "None is an error in mjlab too"),
    },
    "FlatPatchCfg": {
        "grid_resolution": OtherDefault(
            "None", "height fields are sampled at their vertices in both"
        ),
    },
    "SubTerrainCfg": {
        "flat_patch_sampling": OtherDefault("None", "an empty dictionary is the same"),
    },
    "AgentCfg": {
        "obs_groups": OtherDefault(
            "{'actor': ('actor',), 'critic': ('critic',)}",
            "a field of `PpoAgentCfg`; other agents have other networks",
        ),
    },
    "ViewerCfg": {
        "width": OtherDefault("320", "videos are for viewing, not for a log"),
        "height": OtherDefault("240", "videos are for viewing, not for a log"),
        "distance": OtherDefault("5.0", "None fits the entity into the image"),
        "azimuth": OtherDefault("90.0", "the camera also shows the robot's front"),
        "elevation": OtherDefault("-45.0", "feet are visible"),
    },
    "MuscleActuatorCfg": {
        "length_range": OtherDefault("(0.0, 0.0)", "None also lets MuJoCo compute it"),
        "force": OtherDefault("-1.0", "None also lets MuJoCo compute it"),
    },
}
"""Fields with the same meaning and a different default here."""

MEANINGS: dict[str, dict[str, str]] = {
    "ViewerCfg": {
        "origin_type": "AUTO follows `entity`, if set, and looks at a `lookat` other "
        "than the origin",
    },
    "UniformVelocityCommandCfg": {
        "rel_standing_envs": "fractions are exclusive and sum to 1 at most; mjlab "
        "draws each class independently",
        "rel_forward_envs": "the velocity is drawn from the positive part of its "
        "range; "
        "mjlab takes the absolute value, at least 0.3 m/s",
    },
    "JointPositionActionCfg": {
        "use_default_offset": "True adds `offset` to the default; mjlab ignores it",
    },
    "TerrainGeneratorCfg": {
        "num_cols": "each column has one kind of tile, by proportion; mjlab samples "
        "the kind of each tile",
    },
    "RayCastData": {
        "distances": "`max_distance` for a miss, and `hit` is False; mjlab returns -1",
    },
    "TerrainHeightSensorCfg": {
        "reduction": "rays without a hit are left out, and a frame below the ground "
        "has a negative height; mjlab counts `max_distance` and 0",
    },
    "ContactSensorCfg": {
        "num_slots": "more than 1 is an error with `netforce`; mjlab ignores it",
    },
}
"""Fields with the same name, but a different meaning of some values."""

MJLAB = Project(
    "mjlab 1.6", ("mjlab",), _PACKAGES, _TASK_PACKAGES, _OTHERWISE, _FIELDS, _MEMBERS
)
"""Counterparts of all names, fields and members of mjlab 1.6."""
