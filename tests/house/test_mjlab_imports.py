"""Names that the tasks of mjlab 1.6.0 import from mjlab, outside their own package."""

import pytest

from mjlab.settings.mjlab_1_6 import CALLS, MJLAB
from tests.tools.dotted_names import found

IMPORTS = """
actuator.xml_actuator: XmlActuatorCfg
asset_zoo.robots: G1_ACTION_SCALE GO1_ACTION_SCALE YAM_ACTION_SCALE get_g1_robot_cfg
asset_zoo.robots: get_go1_robot_cfg get_yam_robot_cfg
entity: Entity EntityArticulationInfoCfg EntityCfg
envs: ManagerBasedRlEnv ManagerBasedRlEnvCfg mdp
envs.manager_based_rl_env: ManagerBasedRlEnv
envs.mdp: * dr joint_pos_rel joint_vel_rel reset_joints_by_offset time_out
envs.mdp.actions: JointEffortActionCfg JointPositionActionCfg
managers: CommandTerm CommandTermCfg ObservationGroupCfg ObservationTermCfg
managers: TerminationTermCfg
managers.action_manager: ActionTermCfg
managers.command_manager: CommandTerm CommandTermCfg
managers.curriculum_manager: CurriculumTermCfg
managers.event_manager: EventTermCfg
managers.metrics_manager: MetricsTermCfg
managers.observation_manager: ObservationGroupCfg ObservationTermCfg
managers.reward_manager: RewardTermCfg
managers.scene_entity_config: SceneEntityCfg
managers.termination_manager: TerminationTermCfg
rl: MjlabOnPolicyRunner RslRlBaseRunnerCfg RslRlModelCfg RslRlOnPolicyRunnerCfg
rl: RslRlPpoAlgorithmCfg RslRlVecEnvWrapper
rl.exporter_utils: attach_metadata_to_onnx get_base_metadata
rl.runner: MjlabOnPolicyRunner
scene: SceneCfg
sensor: BuiltinSensor CameraSensor CameraSensorCfg ContactMatch ContactSensor
sensor: ContactSensorCfg GridPatternCfg ObjRef RayCastSensor RayCastSensorCfg
sensor: RingPatternCfg TerrainHeightSensorCfg
sensor.terrain_height_sensor: TerrainHeightSensor
sim: MujocoCfg SimulationCfg
terrains: TerrainEntityCfg
terrains.config: ROUGH_TERRAINS_CFG
utils.lab_api.math: matrix_from_quat quat_apply quat_apply_inverse quat_error_magnitude
utils.lab_api.math: quat_from_euler_xyz quat_inv quat_mul sample_uniform
utils.lab_api.math: subtract_frame_transforms wrap_to_pi yaw_quat
utils.lab_api.string: resolve_matching_names_values
utils.lab_api.tasks.importer: import_packages
utils.noise: UniformNoiseCfg
utils.os: get_wandb_checkpoint_path
utils.torch: configure_torch_backends
viewer: ViewerConfig
viewer.debug_visualizer: DebugVisualizer
"""
NAMES = [
    (f"mjlab.{module}", name)
    for line in IMPORTS.strip().splitlines()
    for module, _, names in [line.partition(": ")]
    for name in names.split()
]
LEFT_OUT = {
    "attach_metadata_to_onnx",
    "get_base_metadata",
    "import_packages",
    "get_wandb_checkpoint_path",
    "configure_torch_backends",
}
"""Names without a counterpart, whose rows say what does the same."""


def test_all_83_names_are_listed_once() -> None:
    assert len(NAMES) == len(set(NAMES)) == 83


@pytest.mark.parametrize(("module", "name"), NAMES)
def test_an_imported_name_resolves_here_or_port_rewrites_it(module, name) -> None:
    if name in ("*", "dr") or (module, name) == ("mjlab.envs", "mdp"):
        assert found("mjlab.mdp.randomize") is not None  # Modules: see test_port.py.
        return
    row = MJLAB.row(module, name)
    assert row is not None
    if name in LEFT_OUT:
        assert not row.ours and (row.differs or row.omit)
    else:
        assert name in CALLS or found(row.ours) is not None
