"""Options of mjlab 1.6 work, or an error names the option to type instead."""

import dataclasses

import pytest

from mjlab.cli.answers import UsageError
from mjlab.cli.line import TaskOptions, read_line
from mjlab.cli.play import PlayOptions
from mjlab.cli.train import TrainOptions
from mjlab.registry import load_task
from mjlab.settings.tree import SettingError

TRAIN = (
    "env agent registry_name video video_length video_interval enable_nan_guard "
    "log_root torchrunx_log_dir wandb_run_path wandb_checkpoint_name gpu_ids"
)
PLAY = (
    "agent registry_name wandb_run_path wandb_checkpoint_name checkpoint_file "
    "motion_file num_envs device video video_length video_height video_width camera "
    "viewer no_terminations log_root"
)
AGENT = (
    "seed num_steps_per_env max_iterations obs_groups save_interval experiment_name "
    "run_name logger wandb_project wandb_tags resume load_run load_checkpoint "
    "clip_actions upload_model class_name actor critic algorithm"
)
"""Options of mjlab 1.6.0 by its own names."""


@pytest.mark.parametrize(
    ("options", "theirs"), [(TrainOptions, TRAIN), (PlayOptions, PLAY)]
)
def test_each_option_of_mjlab_is_here_or_has_a_hint(options, theirs):
    ours = {field.name for field in dataclasses.fields(options)} | {*options.configs}
    hints = set(options.of_mjlab)
    assert set(theirs.split()) <= ours | hints
    assert hints <= set(theirs.split())
    assert hints & ours == set()


@pytest.mark.parametrize("options", [TrainOptions, PlayOptions])
def test_an_option_of_mjlab_is_refused_in_one_line(options):
    for name, todo in options.of_mjlab.items():
        option = f"--{name.replace('_', '-')}"
        with pytest.raises(UsageError) as caught:
            read_line(options, ["Velocity-G1", option, "x"])
        assert str(caught.value) == f"{option} is an option of mjlab 1.6. Here, {todo}."
        assert "\n" not in todo


@pytest.mark.parametrize("options", [TrainOptions, PlayOptions])
def test_the_options_in_the_hints_exist(options):
    def first(name: str) -> str:
        return name.partition(".")[0].replace("-", "_")

    typed = {
        first(word.removeprefix("--").strip(".,"))
        for todo in options.of_mjlab.values()
        for word in todo.split()
        if word.startswith("--")
    }
    fields = {field.name for field in dataclasses.fields(options)}
    assert typed <= fields | {*options.configs}


def refused(*words: str) -> str:
    """Return the message about a setting."""
    line = read_line(TrainOptions, ["Velocity-G1", *words])
    task = load_task("Velocity-G1")
    with pytest.raises(SettingError) as caught:
        line.apply({"env": task.env(), "agent": task.rl()})
    return str(caught.value)


@pytest.mark.parametrize("name", AGENT.split())
def test_each_setting_of_mjlabs_agent_is_here_or_has_a_hint(name):
    agent = load_task("Velocity-G1").rl()
    assert agent is not None
    if name in {field.name for field in dataclasses.fields(agent)}:
        return
    option = f"--agent.{name.replace('_', '-')}"
    message = refused(option, "x")
    assert message.startswith(f"{option}: {name!r} is a setting of mjlab 1.6. Here, ")
    assert "\n" not in message


@pytest.mark.parametrize(
    ("option", "here"),
    [
        ("--agent.run-name", "type --name"),
        ("--agent.save-interval", "type --agent.checkpoint.every"),
        ("--agent.wandb-project", "type --agent.logging.wandb-project"),
        ("--agent.logger", "type --agent.logging.wandb true"),
        ("--agent.load-checkpoint", "type --resume CHECKPOINT"),
        ("--agent.experiment-name", "omit it: runs are named by task and time"),
        ("--env.viewer.env-idx", "type --env.viewer.world"),
        ("--env.scene.terrain.terrain_type", "type --env.scene.terrain.kind"),
        ("--env.sim.nan-guard.enabled", "type --agent.dumps.enabled"),
    ],
)
def test_a_setting_of_mjlab_is_refused_with_the_option_here(option, here):
    assert refused(option, "x").endswith(f" is a setting of mjlab 1.6. Here, {here}.")


@pytest.mark.parametrize(
    ("option", "value", "named"),
    [
        ("--name", "fast", lambda line: line.options.name == "fast"),
        (
            "--agent.checkpoint.every",
            "7",
            lambda line: agent_of(line).checkpoint.every == 7,
        ),
        (
            "--agent.logging.wandb-project",
            "walk",
            lambda line: agent_of(line).logging.wandb_project == "walk",
        ),
        (
            "--agent.logging.wandb",
            "true",
            lambda line: agent_of(line).logging.wandb is True,
        ),
    ],
)
def test_the_option_of_a_hint_has_its_effect(option, value, named):
    assert named(read_line(TrainOptions, ["Velocity-G1", option, value]))


def agent_of(line):
    return line.apply({"agent": load_task("Velocity-G1").rl()})["agent"]


@pytest.mark.parametrize(
    ("words", "here"),
    [
        (["--video", "True"], "Type --video alone, or omit it."),
        (["--exact", "false"], "Type --exact alone, or --no-exact."),
    ],
)
def test_a_flag_with_a_value_is_refused(words, here):
    with pytest.raises(UsageError, match=f"takes no value, not '{words[1]}'") as caught:
        read_line(TrainOptions, ["Velocity-G1", *words])
    assert str(caught.value).endswith(here)


def test_other_verbs_have_no_hints_for_mjlab():
    assert TaskOptions.of_mjlab == {}
