"""Fields of mjlab 1.6 that have another name, default or meaning here, by our class.

The message about an unknown field, `port` and the documentation read these tables. A
test compares them with mjlab 1.6 itself. A row of a class also holds for its
subclasses.
"""

from typing import NamedTuple


class Replacement(NamedTuple):
    """Counterpart of a field that does not exist here."""

    ours: str
    """Field of this project, empty if there is none."""

    note: str = ""
    """Difference, or the replacement."""

    def text(self) -> str:
        """Return the replacement in words."""
        if not self.ours:
            return self.note
        return f"use `{self.ours}`" + (f" ({self.note})" if self.note else "")


_To = Replacement
_OMIT = "omit it"

_LAGS = {
    "delay_min_lag": _To("delay", "`DelayCfg(min_lag=...)`"),
    "delay_max_lag": _To("delay", "`DelayCfg(max_lag=...)`"),
    "delay_hold_prob": _To("delay", "`DelayCfg(hold_prob=...)`"),
    "delay_update_period": _To("delay", "`DelayCfg(update_period=...)`"),
    "delay_per_env_phase": _To("delay", "`DelayCfg(per_world_phase=...)`"),
}
_DRAWN = {
    "debug_vis": _To("", f"{_OMIT}: viewers draw no rays"),
    "viz": _To("", f"{_OMIT}: viewers draw no rays"),
}
_SELECTED = "read it from the `Selection` that a term receives"

REPLACED: dict[str, dict[str, Replacement]] = {
    # Physics.
    "SimulationCfg": {
        "nan_guard": _To("", "set `dumps` of the agent"),
        "ls_parallel": _To("", f"{_OMIT}: MuJoCo Warp ignores it"),
    },
    # Entities, models and actuators.
    "EntityCfg": {
        "spec_fn": _To(
            "source", "a function that returns an MjSpec, an MjSpec or a file"
        ),
        "sort_actuators": _To("", f"{_OMIT}: actuators have the order of the joints"),
    },
    "ActuatorCfg": {
        "transmission_type": _To("transmission", "'joint', 'tendon' or 'site'"),
        **_LAGS,
    },
    "XmlActuatorCfg": {"command_field": _To("command")},
    "MuscleActuatorCfg": {"range": _To("operating_range")},
    "LearnedActuatorCfg": {
        "stiffness": _To("", f"{_OMIT}: the network computes the effort"),
        "damping": _To("", f"{_OMIT}: the network computes the effort"),
        "history_length": _To("input_idx", "the past steps that the network reads"),
    },
    "DcMotorActuatorCfg": {
        "motor_params": _To("", "set their fields, such as `resistance`, directly"),
        "mode": _To("inputs"),
        "lugre": _To("friction"),
    },
    "CollisionCfg": {"geom_names_expr": _To("geom_names")},
    "GeomCfg": {"geom_names_expr": _To("geom_names")},
    "MaterialCfg": {"geom_names_expr": _To("geom_names", "() for none")},
    "MeshCfg": {"mesh_names_expr": _To("mesh_names")},
    # Terrain.
    "TerrainCfg": {
        "terrain_type": _To("kind"),
        "terrain_generator": _To("generator"),
        "num_envs": _To("", f"{_OMIT}: the scene has it"),
        "env_spacing": _To("", f"{_OMIT}: the scene has it"),
        "debug_vis": _To("", f"{_OMIT}: origins are not drawn"),
        "textures": _To("plane_checker"),
        "materials": _To("rgba"),
        "lights": _To("light"),
        **{
            name: _To("", f"{_OMIT}: the ground is no entity")
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
        "orthographic": _To("", f"{_OMIT}: added cameras are perspective"),
        "clone_data": _To("", "clone the image where a term writes to it"),
    },
    "ContactSensorCfg": {
        "debug": _To("", "`mjlab scene` lists the sensors of a scene"),
    },
    "RayCastSensorCfg": _DRAWN,
    "TerrainHeightSensorCfg": {
        "ray_alignment": _To("", f"{_OMIT}: its rays are vertical"),
        **_DRAWN,
    },
    # Managers.
    "ManagerBasedRlEnvCfg": {
        "auto_reset": _To("", "call `env.choose_resets('never')`"),
    },
    "ActionTermCfg": {
        "clip": _To("", "a field of `JointPositionActionCfg` and similar actions"),
    },
    "ObservationGroupCfg": {
        "nan_check_per_term": _To("", f"{_OMIT}: values are always counted by term"),
    },
    "ObservationTermCfg": {
        **{name: row for name, row in _LAGS.items() if "lag" not in name},
        "delay_per_env": _To("", f"{_OMIT}: each world has its own lag"),
    },
    "SceneEntityCfg": {
        f"{kind}_ids": _To("", _SELECTED)
        for kind in (
            "joint body geom site actuator tendon camera light material texture pair"
        ).split()
    },
    # Terms.
    "DrivenActionCfg": {
        "transmission_type": _To("", f"{_OMIT}: the class defines it"),
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
    "UniformVelocityCommandCfg": {"viz": _To("", _OMIT)},
    "MotionCommandCfg": {
        "motion_file": _To("clips", "a tuple of files and folders"),
        "anchor_body_name": _To("anchor_body"),
        "joint_position_range": _To("joint_range"),
        "sampling_mode": _To("sampling"),
        "adaptive_kernel_size": _To("adaptive", "`AdaptiveSampling(kernel=...)`"),
        "adaptive_lambda": _To("adaptive", "`AdaptiveSampling(decay=...)`"),
        "adaptive_uniform_ratio": _To("adaptive", "`AdaptiveSampling(uniform=...)`"),
        "adaptive_alpha": _To("adaptive", "`AdaptiveSampling(rate=...)`"),
        "viz": _To("", _OMIT),
    },
    # Viewers.
    "ViewerCfg": {
        "origin_type": _To("", f"{_OMIT}: a camera with an `entity` follows it"),
        "entity_name": _To("entity"),
        "body_name": _To("body"),
        "env_idx": _To("world"),
        **{
            name: _To("", f"{_OMIT}: viewers have a switch or no counterpart")
            for name in (
                "enable_reflections",
                "enable_shadows",
                "geom_group",
                "site_group",
                "max_extra_envs",
                "reward_bar_max_terms",
                "fovy",
            )
        },
    },
    # Learning.
    "AgentCfg": {
        "seed": _To("", "set `--seed`, or `seed` of the environment"),
        "save_interval": _To("checkpoint", "`CheckpointCfg(every=...)`"),
        "experiment_name": _To("", f"{_OMIT}: runs are named by task and time"),
        "run_name": _To("", "name the run with `--name`"),
        "logger": _To("logging", "`LoggingCfg(tensorboard=..., wandb=...)`"),
        "wandb_project": _To("logging", "`LoggingCfg(wandb_project=...)`"),
        "wandb_tags": _To("logging", "tags are not written"),
        "upload_model": _To("logging", "`LoggingCfg(wandb_artifacts=...)`"),
        "resume": _To("", "give `--resume RUN`"),
        "load_run": _To("", "give `--resume RUN`"),
        "load_checkpoint": _To("", "give `--resume RUN/model_*.pt`"),
        "class_name": _To("", f"{_OMIT}: the class of the configuration decides"),
    },
    "MlpModelCfg": {
        "cnn_cfg": _To("", "use `CnnModelCfg`"),
        "rnn_type": _To("", "use `RnnModelCfg`"),
        "rnn_hidden_dim": _To("", "use `RnnModelCfg`"),
        "rnn_num_layers": _To("", "use `RnnModelCfg`"),
        "class_name": _To("", f"{_OMIT}: the class of the configuration decides"),
    },
    "PpoCfg": {
        "class_name": _To("", f"{_OMIT}: the class of the configuration decides"),
    },
}
"""Fields of mjlab 1.6 that do not exist here."""


class OtherDefault(NamedTuple):
    """Default value that differs from mjlab 1.6."""

    theirs: str
    """Default of mjlab 1.6, as Python text."""

    reason: str
    """Reason for ours."""


_SAME_LIMIT = OtherDefault("inf", "None also means no limit")

DEFAULTS: dict[str, dict[str, OtherDefault]] = {
    "ManagerBasedRlEnvCfg": {
        "episode_length_s": OtherDefault("0.0", "episodes of no step are an error"),
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
            "`PpoAgentCfg` has it; other agents have other networks",
        ),
    },
    "ViewerCfg": {
        "width": OtherDefault("320", "films for people, not for a log"),
        "height": OtherDefault("240", "films for people, not for a log"),
        "distance": OtherDefault("5.0", "None fits the entity into the image"),
        "azimuth": OtherDefault("90.0", "the front is visible too"),
        "elevation": OtherDefault("-45.0", "feet are visible"),
    },
    "MuscleActuatorCfg": {
        "length_range": OtherDefault("(0.0, 0.0)", "None lets MuJoCo compute it too"),
        "force": OtherDefault("-1.0", "None lets MuJoCo compute it too"),
    },
}
"""Fields with the same meaning and a different default."""

MEANINGS: dict[str, dict[str, str]] = {
    "UniformVelocityCommandCfg": {
        "rel_standing_envs": "fractions are exclusive and sum to 1 at most; mjlab "
        "draws each class independently",
        "rel_forward_envs": "the velocity is drawn from the positive part of its "
        "range; "
        "mjlab takes the absolute value, at least 0.3 m/s",
    },
    "JointPositionActionCfg": {
        "use_default_offset": "`offset` is added to the default; mjlab ignores it then",
    },
    "TerrainGeneratorCfg": {
        "num_cols": "a column has one kind of tile, by proportion; mjlab draws "
        "each tile",
    },
    "RayCastData": {
        "distances": "`max_distance` for a miss, and `hit` is False; mjlab has -1",
    },
    "TerrainHeightSensorCfg": {
        "reduction": "rays without a hit are left out; mjlab counts them as "
        "`max_distance`",
    },
    "ContactSensorCfg": {
        "num_slots": "more than 1 is an error with `netforce`; mjlab ignores it",
    },
}
"""Fields with the same name, in which some values have a different meaning."""


def replacement(classes: list[str], field: str) -> Replacement | None:
    """Return the replacement of a field of mjlab 1.6, None if it has none.

    Args:
        classes: Names of the class and of its bases here, the class first.
        field: Name of the field.
    """
    rows = (REPLACED.get(name, {}).get(field) for name in classes)
    return next((row for row in rows if row is not None), None)
