"""Replacements for options of mjlab 1.6's `train` and `play` with other names here.

The replacements of settings, `--env.*` and `--agent.*`, are in
`mjlab.settings.mjlab_1_6`.
"""

from collections.abc import Mapping

_CLIPS = "--env.commands.motion.clips"
_BOTH = {
    "log_root": "type --logs FOLDER",
    "registry_name": f"type {_CLIPS} wandb:ENTITY/PROJECT/MOTION",
}

TRAIN: Mapping[str, str] = {
    **_BOTH,
    "gpu_ids": "type --gpus 0 1, or --device cuda:0 for one GPU",
    "enable_nan_guard": "omit it, since states with a fault are always dumped; see "
    "--help-config agent.dumps",
    "torchrunx_log_dir": "omit it, since all processes print here",
    "wandb_run_path": "type --resume wandb:ENTITY/PROJECT/RUN",
    "wandb_checkpoint_name": "type --resume wandb:ENTITY/PROJECT/RUN:VERSION",
}
"""Advice for options of mjlab's `train`, by option name."""

PLAY: Mapping[str, str] = {
    **_BOTH,
    "agent": "type --policy zero, random or trained",
    "checkpoint_file": "name the file in place of the task: play.py FILE",
    "motion_file": f"type {_CLIPS} FILE",
    "no_terminations": "type --disable terminations.NAME for each of them",
    "video_length": "type --steps N",
    "video_height": "type --size WIDTH HEIGHT",
    "video_width": "type --size WIDTH HEIGHT",
    "camera": "type --env.viewer.azimuth, .elevation and .distance",
    "wandb_run_path": "name the run in place of the task: wandb:ENTITY/PROJECT/RUN",
    "wandb_checkpoint_name": "name the version of the run: "
    "wandb:ENTITY/PROJECT/RUN:VERSION",
}
"""Advice for options of mjlab's `play`, by option name."""
