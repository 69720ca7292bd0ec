"""Names of mjlab 1.6.0, from its reference pages, and their counterparts."""

from mjlab.cli.porting.project import Package, Project

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
        "JointPositionActionCfg RelativeJointPositionActionCfg JointVelocityActionCfg "
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
_NULL = "same class without terms"
_BOUND = "bound actuators are in `Entity.actuators`"

_OTHERWISE: dict[str, tuple[str, str]] = {
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
        "`SimulationCfg(backend='native')`: one class, two engines",
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
    "DcMotorInputMode": ("mjlab.actuator.DcMotorActuatorCfg", "a field of it"),
    "DcMotorDatasheetParams": ("mjlab.actuator.DcMotorActuatorCfg", "fields of it"),
    "DcMotorPhysicalParams": ("mjlab.actuator.DcMotorActuatorCfg", "fields of it"),
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
    "TerrainEntity": ("mjlab.scene.Ground", "`env.scene.ground`, no entity"),
    "TerrainEntityCfg": ("mjlab.terrain.TerrainCfg", ""),
    "TerrainGenerator": ("mjlab.terrain.build_terrain", "a function"),
    "FlatPatchSamplingCfg": ("mjlab.terrain.FlatPatchCfg", ""),
    "HfDiscreteObstaclesTerrainCfg": ("mjlab.terrain.DiscreteObstaclesCfg", ""),
    "HfPerlinNoiseTerrainCfg": ("mjlab.terrain.PerlinCfg", ""),
    "HfPyramidSlopedTerrainCfg": ("mjlab.terrain.PyramidSlopeCfg", ""),
    "HfRandomUniformTerrainCfg": ("mjlab.terrain.RandomRoughCfg", ""),
    "HfWaveTerrainCfg": ("mjlab.terrain.WaveCfg", ""),
    "BoxFlatTerrainCfg": ("mjlab.terrain.FlatCfg", ""),
    "BoxInvertedPyramidStairsTerrainCfg": (
        "mjlab.terrain.InvertedPyramidStairsCfg",
        "without holes",
    ),
    "BoxNarrowBeamsTerrainCfg": (
        "mjlab.tasks.velocity.NarrowBeamsCfg",
        "along x and y, not in all directions",
    ),
    "BoxNestedRingsTerrainCfg": ("mjlab.tasks.velocity.NestedRingsCfg", ""),
    "BoxOpenStairsTerrainCfg": (
        "mjlab.tasks.velocity.OpenStairsCfg",
        "ascending stairs only",
    ),
    "BoxPyramidStairsTerrainCfg": ("mjlab.terrain.PyramidStairsCfg", "without holes"),
    "BoxRandomGridTerrainCfg": (
        "mjlab.terrain.RandomGridCfg",
        "heights of `num_levels`; equal neighbours are merged",
    ),
    "BoxRandomSpreadTerrainCfg": (
        "mjlab.tasks.velocity.RandomBoxesCfg",
        "axis-aligned boxes",
    ),
    "BoxRandomStairsTerrainCfg": ("mjlab.tasks.velocity.RandomStairsCfg", ""),
    "BoxSteppingStonesTerrainCfg": ("mjlab.terrain.SteppingStonesCfg", ""),
    "BoxTiltedGridTerrainCfg": (
        "mjlab.tasks.velocity.TiltedGridCfg",
        "slope instead of degrees; one height field, so steps between cells are one "
        "vertex wide",
    ),
    # mjlab.viewer
    "ViewerConfig": (
        "mjlab.envs.ViewerCfg",
        "no `origin_type`: a camera with an `entity` follows it",
    ),
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
    "reward_curriculum": (
        "mjlab.mdp.schedule",
        "`target` names a weight or a parameter, `stages` are (step, value)",
    ),
    "termination_curriculum": ("mjlab.mdp.schedule", "the same"),
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
        "without a sensor: heights of sites above a plane",
    ),
    "foot_contact_forces": (
        "mjlab.tasks.velocity.mdp.foot_contact_forces",
        "of the last physics step, without another `forward()`",
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
        "current height, not that of the previous step; see below",
    ),
    "feet_swing_height": (
        "mjlab.tasks.velocity.mdp.feet_swing_height",
        "current height, not that of the previous step; see below",
    ),
    "soft_landing": (
        "mjlab.tasks.velocity.mdp.soft_landing",
        "largest force of the physics steps: up to 3e-3 more",
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
        "`sensor_name`; no offset by default",
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
    "mjlab.tasks.registry": Package("register_mjlab_task", "mjlab.registry"),
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
    "copysign": ("", "`torch.copysign`"),
    "default_orientation": ("", "a tensor of (1, 0, 0, 0)"),
    "euler_xyz_from_quat": (f"{_MATH}.quat_to_euler_xyz", ""),
    "matrix_from_quat": (f"{_MATH}.quat_to_matrix", ""),
    "quat_apply": (f"{_MATH}.quat_rotate", ""),
    "quat_apply_inverse": (f"{_MATH}.quat_rotate_inverse", ""),
    "quat_apply_yaw": (f"{_MATH}.quat_rotate", "of `quat_yaw(quat)`"),
    "quat_box_plus": (f"{_MATH}.quat_box_plus", "w can be negative"),
    "quat_error_magnitude": (f"{_MATH}.quat_angle", ""),
    "quat_from_angle_axis": (
        f"{_MATH}.quat_from_axis_angle",
        "the axis is the first argument",
    ),
    "quat_inv": (f"{_MATH}.quat_conjugate", "of a unit quaternion"),
    "quat_unique": (f"{_MATH}.quat_positive", ""),
    "random_orientation": ("", _DRAWS),
    "random_yaw_orientation": ("", _DRAWS),
    "sample_gaussian": ("", _DRAWS),
    "sample_log_uniform": ("", _DRAWS),
    "sample_uniform": ("", _DRAWS),
    "saturate": ("", "`torch.clamp`"),
    "scale_transform": ("", "`2 * (x - (low + high) / 2) / (high - low)`"),
    "subtract_frame_transforms": (
        f"{_MATH}.subtract_frames",
        "all four arguments are needed",
    ),
    "transform_points": (
        f"{_MATH}.transform_points",
        "`pos` and `quat` are the first arguments",
    ),
    "unscale_transform": ("", "`(low + high) / 2 + x * (high - low) / 2`"),
    "yaw_quat": (f"{_MATH}.quat_yaw", ""),
    # mjlab.managers.event_manager
    "requires_model_fields": (
        "mjlab.mdp.randomize.fields.ModelTerm",
        "`class my_term(ModelTerm, field='body_mass')`",
    ),
    "RecomputeLevel": (
        "mjlab.mdp.randomize.fields.ModelTerm",
        "derived constants follow from the field",
    ),
    # mjlab.tasks.tracking.mdp
    "MotionCommand": ("mjlab.motion.MotionCommand", ""),
    "MotionCommandCfg": ("mjlab.motion.MotionCommandCfg", ""),
    # mjlab.tasks
    "register_mjlab_task": (
        "mjlab.registry.Task",
        "an entry point `mjlab.tasks` of your package names one; so does `new`",
    ),
}

MJLAB = Project("mjlab 1.6", ("mjlab",), _PACKAGES, _TASK_PACKAGES, _OTHERWISE)
"""mjlab 1.6."""
