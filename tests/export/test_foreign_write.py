"""Our policies in the formats of other projects, read back by their rules."""

from dataclasses import replace
from typing import Any

import numpy as np
import onnx
import pytest
import yaml

from mjlab.envs import ManagerBasedRlEnv
from mjlab.export.foreign import read_policy
from mjlab.export.foreign.own import own_interface
from mjlab.export.foreign.write import export_as, write_deploy, write_metadata
from mjlab.export.reader import ExportError
from mjlab.runs.checkpoints import find_checkpoint
from mjlab.runs.run import shipped_with
from mjlab.tasks.velocity import VelocityGo1FlatCfg
from tests.export.test_foreign_graph import read

FIELDS = ("default", "stiffness", "damping", "action_scale", "action_offset")
RANGES = ((-1.0, 1.0), (-0.5, 0.5), (-1.0, 1.0))


@pytest.fixture
def interface(tmp_path):
    found, robot, _ = read(tmp_path, "mjlab")
    return replace(found, ranges=RANGES), robot


def test_deploy_yaml_is_read_back_as_written(interface, tmp_path):
    own, robot = interface
    network, deploy = write_deploy(own, tmp_path / "go2")
    found = read_policy(network, "isaaclab", [deploy], robot)
    for name in FIELDS:
        np.testing.assert_allclose(getattr(found, name), getattr(own, name), rtol=1e-6)
    assert [term.source for term in found.terms] == [t.source for t in own.terms]
    assert [term.clip for term in found.terms] == [t.clip for t in own.terms]
    scales = [np.ravel(np.broadcast_to(t.scale, 3))[:3] for t in own.terms]
    for term, scale in zip(found.terms, scales, strict=True):
        np.testing.assert_allclose(np.asarray(term.scale)[:3], scale)
    assert found.ranges == RANGES


def test_deploy_yaml_keeps_the_rules_of_the_reader_in_cpp(interface, tmp_path):
    """Rules of the reader in unitree_rl_lab/deploy/include/isaaclab."""
    own, _ = interface
    network, deploy = write_deploy(own, tmp_path / "go2")
    found = yaml.safe_load(deploy.read_text("utf-8"))
    count = len(found["joint_ids_map"])
    for key in ("stiffness", "damping", "default_joint_pos"):
        assert len(found[key]) == count
    # Keys are names of registered terms; `clip` is null or present, never absent.
    (action,) = found["actions"]
    assert action == "JointPositionAction"
    assert found["actions"][action]["clip"] is None
    assert len(found["actions"][action]["scale"]) == count
    assert len(found["actions"][action]["offset"]) == count
    registered = {"base_ang_vel", "projected_gravity", "joint_pos_rel", "joint_vel_rel"}
    registered |= {"last_action", "velocity_commands", "gait_phase"}
    assert set(found["observations"]) <= registered
    width = 0
    for name, term in found["observations"].items():
        assert {"clip", "scale", "history_length"} <= set(term), name
        width += len(term["scale"]) * term["history_length"]
    for name in ("lin_vel_x", "lin_vel_y", "ang_vel_z"):
        low, high = found["commands"]["base_velocity"]["ranges"][name]
        assert low <= high
    graph = onnx.load(network).graph
    assert [each.name for each in graph.input] == ["obs"]
    assert [each.name for each in graph.output] == ["actions"]
    shape = graph.input[0].type.tensor_type.shape.dim
    assert [dim.dim_value for dim in shape] == [1, width]


def test_metadata_of_mjlab_is_read_back_as_written(interface, tmp_path):
    own, robot = interface
    (path,) = write_metadata(own, tmp_path / "mjlab")
    found = read_policy(path, "mjlab", (), robot)
    assert found.joints == own.joints
    for name in FIELDS:
        np.testing.assert_allclose(getattr(found, name), getattr(own, name), atol=1e-6)
    for term, wanted in zip(found.terms, own.terms, strict=True):
        assert (term.name, term.source) == (wanted.name, wanted.source)
        assert (term.clip, term.history) == (wanted.clip, wanted.history)
        np.testing.assert_allclose(term.scale, wanted.scale)
    keys = {entry.key for entry in onnx.load(path).metadata_props}
    # The keys that mjlab 1.6's exporter writes.
    assert keys == {
        "run_path",
        "joint_names",
        "joint_stiffness",
        "joint_damping",
        "default_joint_pos",
        "command_names",
        "observation_names",
        "observation_terms_scale",
        "observation_terms_flatten_history_dim",
        "observation_terms_history_length",
        "observation_terms_clip",
        "action_scale",
    }


def test_terms_that_unitree_lacks_are_refused_by_name(interface, tmp_path):
    own, _ = interface
    terms = (replace(own.terms[0], name="base_lin_vel", source="lin_vel"),)
    with pytest.raises(ExportError, match="base_lin_vel"):
        write_deploy(replace(own, terms=terms), tmp_path / "go2")
    with pytest.raises(ExportError, match="each observation term once"):
        write_deploy(replace(own, terms=own.terms * 2), tmp_path / "go2")
    with pytest.raises(ExportError, match="velocity command"):
        write_deploy(replace(own, ranges=None), tmp_path / "go2")


def test_offset_that_mjlab_cannot_store_is_refused(interface, tmp_path):
    own, _ = interface
    other = replace(own, action_offset=own.default + 0.1)
    with pytest.raises(ExportError, match="use_default_offset"):
        write_metadata(other, tmp_path / "mjlab")


def test_a_task_with_a_gait_clock_is_refused_by_the_name_of_its_term(tmp_path):
    run = shipped_with("Velocity-Go1-Flat")
    assert run is not None
    configs = run.configs()
    with pytest.raises(ExportError, match="gait_clock"):
        export_as(
            "mjlab",
            find_checkpoint(run.path),
            tmp_path / "out",
            env_cfg=configs["env"],
            agent_cfg=configs["agent"],
        )
    assert not (tmp_path / "out").exists()


def test_a_history_with_a_stride_is_refused():
    cfg = VelocityGo1FlatCfg()
    cfg.scene.num_envs = 1
    actor = cfg.observations["actor"]
    del actor.terms["gait_clock"]
    actor.terms["base_ang_vel"].history_length = 3
    network: Any = None  # It is only copied.
    own_interface(ManagerBasedRlEnv(cfg, device="cpu"), network, "actor")
    actor.terms["base_ang_vel"].history_stride = 2
    env = ManagerBasedRlEnv(cfg, device="cpu")
    with pytest.raises(ExportError, match="base_ang_vel' has history_stride=2"):
        own_interface(env, network, "actor")
