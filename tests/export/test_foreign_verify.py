"""Verdicts about foreign policies: planted mistakes are named, correct ones pass."""

import tarfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench.foreign_defects import DEFECTS, POLICIES, SIMULATED, Defect, is_named, judge
from mjlab.cli.verify import main
from mjlab.export.foreign import verify_foreign
from mjlab.export.foreign.acted import network_actions
from mjlab.export.foreign.graph import TARGET
from mjlab.export.foreign.observed import expected_observations
from mjlab.export.foreign.recording import Recording, read_recording
from mjlab.export.foreign.verify import graph_of
from mjlab.export.runner.policy import ContractError
from tests.export.foreign_policies import (
    DAMPING,
    DEFAULT,
    JOINTS,
    STIFFNESS,
    gravity,
    states,
    write_network,
)
from tests.export.test_foreign_graph import read
from tests.worlds.published import ARCHIVE

PACK = ARCHIVE.with_name("policies.tar.xz")


def recorded(folder: Path, form: str) -> tuple[Any, Path, dict[str, Any]]:
    """Return a policy, its robot model, and a correct recording as arrays."""
    interface, robot, _ = read(folder, form)
    seen = states()
    actions = np.zeros((len(seen["time"]), 4))
    # Each pass makes one more step's last action right.
    for _ in range(len(actions)):
        whole = Recording("states", JOINTS, seen | {"action": actions})
        seen["observation"] = expected_observations(
            interface, graph_of(interface, robot), whole
        )
        after = network_actions(interface, seen["observation"])
        if np.allclose(after, actions, atol=1e-7):
            break
        actions = after
    seen["action"] = actions
    order = [interface.acted.index(name) for name in JOINTS]
    target = (interface.action_offset + interface.action_scale * actions)[:, order]
    away = target - seen["joint_pos"]
    effort = np.array(STIFFNESS) * away - np.array(DAMPING) * seen["joint_vel"]
    seen |= {TARGET: target, "effort": effort, "joints": np.array(JOINTS)}
    return interface, robot.path, seen


def verdict_of(folder: Path, form: str, seen: dict[str, Any], **options: Any) -> Any:
    """Return the verdict about a recording."""
    np.savez(folder / "states.npz", **seen)
    configs = [] if form == "mjlab" else [folder / "config.yaml"]
    return verify_foreign(
        folder / "policy.onnx",
        form,
        configs,
        robot=folder / "robot.xml",
        recording=folder / "states.npz",
        **options,
    )


@pytest.mark.parametrize("form", ["mjlab", "isaaclab", "legged-gym"])
def test_correct_recordings_pass(tmp_path, form):
    _, _, seen = recorded(tmp_path, form)
    assert verdict_of(tmp_path, form, seen).state == "ok"


def _gravity_up(seen: dict[str, Any]) -> None:
    seen["observation"][:, 3:6] *= -1.0


def _xyzw(seen: dict[str, Any]) -> None:
    quats = seen["root_quat_w"][:, [1, 2, 3, 0]]
    seen["observation"][:, 3:6] = gravity(quats)


def _degrees(seen: dict[str, Any]) -> None:
    seen["observation"][:, 13:17] *= 180.0 / np.pi


def _late(seen: dict[str, Any]) -> None:
    seen["observation"][1:, 13:17] = seen["observation"][:-1, 13:17].copy()


def _no_default(seen: dict[str, Any]) -> None:
    seen["observation"][:, 9:13] += DEFAULT


def _swapped(seen: dict[str, Any]) -> None:
    seen["observation"][:, 9:13] = seen["observation"][:, [11, 12, 9, 10]]


def _unclipped(seen: dict[str, Any]) -> None:
    seen["command"][5, 0] = 3.0
    seen["observation"][5, 6] = 6.0


def _targets_kept(seen: dict[str, Any]) -> None:
    seen["observation"][1:, 17:] = seen[TARGET][:-1]


def _half_damping(seen: dict[str, Any]) -> None:
    seen["effort"] += 0.5 * np.array(DAMPING) * seen["joint_vel"]


def _late_targets(seen: dict[str, Any]) -> None:
    away = np.roll(seen[TARGET], 1, axis=0) - seen["joint_pos"]
    seen["effort"] = np.array(STIFFNESS) * away - np.array(DAMPING) * seen["joint_vel"]


def _negative_target(seen: dict[str, Any]) -> None:
    seen[TARGET][:, 1] *= -1.0


def _rate(seen: dict[str, Any]) -> None:
    seen["time"] = 0.5 * seen["time"]


def _other_network(seen: dict[str, Any]) -> None:
    seen["action"] = np.tanh(np.roll(seen["action"], 7, axis=0))


MISTAKES: dict[str, tuple[Callable[[dict[str, Any]], None], str, str]] = {
    "gravity up": (_gravity_up, "projected_gravity", "sign"),
    "quaternion": (_xyzw, "projected_gravity", "order of a quaternion"),
    "degrees": (_degrees, "joint_vel", "degrees"),
    "late": (_late, "joint_vel", "delay: it is 1 control step late"),
    "default pose": (_no_default, "joint_pos", "default"),
    "order": (_swapped, "joint_pos", "order: left_hip is where"),
    "clip": (_unclipped, "command", "clip: the contract clips to 1"),
    "last action": (_targets_kept, "actions", "found the joint targets"),
    "gains": (_half_damping, "gains", "damping: found 0.5 times"),
    "late targets": (_late_targets, "targets", "delay: efforts follow"),
    "sign of a target": (_negative_target, "targets", "sign"),
    "rate": (_rate, "rate", "0.01 s apart, expected 0.02"),
    "network": (_other_network, "network", "another file"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_of_a_recording_are_named(tmp_path, name):
    change, place, reason = MISTAKES[name]
    _, _, seen = recorded(tmp_path, "mjlab")
    change(seen)
    verdict = verdict_of(tmp_path, "mjlab", seen)
    assert verdict.state == "mismatch"
    found = [each.said for each in verdict.of("mismatch") if each.place == place]
    assert found and reason in found[0], verdict.text


def test_history_order_is_named(tmp_path):
    interface, _, seen = recorded(tmp_path, "isaaclab")
    columns = [interface.columns(term)[::-1].ravel() for term in interface.terms]
    seen["observation"] = seen["observation"][:, np.concatenate(columns)]
    verdict = verdict_of(tmp_path, "isaaclab", seen)
    assert verdict.of("mismatch")[0].place == "history order"
    assert "found the newest step first" in verdict.text


def test_missing_arrays_of_a_recording_are_undetermined(tmp_path):
    _, _, seen = recorded(tmp_path, "mjlab")
    del seen["effort"], seen["time"]
    seen["command"][:] = 0.0
    seen["observation"][:, 6:9] = 0.0
    # The network's answers belong to the earlier observations.
    seen.pop("action")
    verdict = verdict_of(tmp_path, "mjlab", seen)
    places = {each.place for each in verdict.of("undetermined")}
    assert verdict.state == "undetermined"
    assert {"gains", "rate", "network", "targets", "observation"} <= places


def test_files_alone_leave_the_behaviour_undetermined(tmp_path, capsys):
    read(tmp_path, "mjlab")
    with pytest.raises(SystemExit) as ended:
        main([str(tmp_path / "policy.onnx"), "--as", "mjlab"])
    assert ended.value.code == 3
    assert "add --recording, --log or --simulate" in capsys.readouterr().out


def test_wrong_tensor_sizes_are_named_without_a_recording(tmp_path):
    read(tmp_path, "isaaclab")
    write_network(tmp_path / "policy.onnx", 60)
    config = tmp_path / "config.yaml"
    verdict = verify_foreign(tmp_path / "policy.onnx", "isaaclab", [config])
    (found,) = verdict.of("mismatch")
    assert "63 numbers" in found.said and "expects 60" in found.said


def test_left_right_differences_are_named_without_a_recording(tmp_path):
    read(tmp_path, "legged-gym")
    config = tmp_path / "config.yaml"
    text = config.read_text().replace("kps: [40, 60, 40, 60]", "kps: [40, 60, 60, 40]")
    config.write_text(text)
    robot = tmp_path / "robot.xml"
    path = tmp_path / "policy.onnx"
    verdict = verify_foreign(path, "legged-gym", [config], robot=robot)
    found = verdict.of("mismatch")[0]
    assert found.place == "config.yaml: kps" and "left_hip has 40" in found.said


def test_two_sources_of_a_gain_are_compared(tmp_path):
    interface, _, _ = read(tmp_path, "isaaclab")
    metadata = {
        "joint_names": ",".join(interface.joints),
        "joint_stiffness": "40,40,150,150",
        "joint_damping": "1,1,2,2",
        "default_joint_pos": "-0.2,-0.2,0.4,0.4",
        "observation_names": "base_ang_vel",
        "action_scale": "0.25,0.25,0.5,0.5",
    }
    write_network(tmp_path / "policy.onnx", 63, metadata=metadata)
    path, config = tmp_path / "policy.onnx", tmp_path / "config.yaml"
    verdict = verify_foreign(path, "isaaclab", [config], robot=tmp_path / "robot.xml")
    said = [f"{each.place}: {each.said}" for each in verdict.of("mismatch")]
    assert any("stiffness" in s and "150 in metadata" in s for s in said)


def test_metadata_of_other_joints_are_not_compared(tmp_path):
    interface, _, _ = read(tmp_path, "isaaclab")
    metadata = {
        "joint_names": ",".join([*interface.joints[:3], "wrist"]),
        "joint_stiffness": "150,150,150,150",
        "joint_damping": "1,1,2,2",
        "default_joint_pos": "-0.2,-0.2,0.4,0.4",
        "observation_names": "base_ang_vel",
        "action_scale": "0.25,0.25,0.5,0.5",
    }
    path, config = tmp_path / "policy.onnx", tmp_path / "config.yaml"
    write_network(path, 63, metadata=metadata)
    verdict = verify_foreign(path, "isaaclab", [config])
    assert not [each for each in verdict.of("mismatch") if "metadata" in each.said]
    missing = [each.said for each in verdict.of("undetermined")]
    assert any("not compared with metadata" in said for said in missing)


BROKEN: dict[str, tuple[dict[str, Any], str]] = {
    "unknown array": ({"gyro": np.zeros((4, 3))}, "an array 'gyro'"),
    "width": ({"root_quat_w": np.zeros((4, 3))}, "expected 4"),
    "not finite": ({"time": np.array([0.0, np.nan])}, "not finite in step 1"),
    "lengths": ({"time": np.arange(4), "command": np.zeros((3, 3))}, "lengths"),
    "short": ({"time": np.zeros(1)}, "fewer than two steps"),
}


@pytest.mark.parametrize("fault", BROKEN)
def test_damaged_recordings_are_refused_in_one_line(tmp_path, fault):
    arrays, said = BROKEN[fault]
    np.savez(tmp_path / "states.npz", **arrays)
    with pytest.raises(ContractError) as error:
        read_recording(tmp_path / "states.npz")
    assert said in str(error.value)


def test_recorder_of_the_page_writes_a_recording(tmp_path):
    page = Path("docs/howto/check_a_policy.md").read_text("utf-8")
    block = page.split("```python\n")[1].split("```")[0]
    known: dict[str, Any] = {}
    exec(block, known)
    recorder = known["Recorder"](["a", "b"])
    for step in range(3):
        recorder.add(time=0.02 * step, joint_pos=[step, 1.0], command=[0.5, 0.0, 0.0])
    recorder.save(tmp_path / "states.npz")
    found = read_recording(tmp_path / "states.npz")
    assert (found.steps, found.joints) == (3, ("a", "b"))
    assert found.arrays["joint_pos"][2].tolist() == [2.0, 1.0]


def test_log_of_our_runner_is_a_recording(tmp_path):
    lines = [
        '{"time": 0.0, "commands": {"twist": [0.5, 0, 0]}, "measured": {"joint_pos": '
        '[0, 0, 0, 0]}, "targets": {"action": [1, 1, 1, 1]}, "joints": ["a", "b", "c", '
        '"d"]}',
        '{"time": 0.02, "commands": {"twist": [0.5, 0, 0]}, "measured": {"joint_pos": '
        '[0, 0, 0, 1]}, "targets": {"action": [1, 1, 1, 2]}}',
        '{"time": 0.04, "commands": {}, "measured": {}, "targets": {}, "damped": "x"}',
    ]
    (tmp_path / "log.jsonl").write_text("\n".join(lines))
    found = read_recording(tmp_path / "log.jsonl")
    assert (found.steps, found.joints) == (2, ("a", "b", "c", "d"))
    assert found.arrays["command"][1].tolist() == [0.5, 0.0, 0.0]


# Published policies, which only some developers have.


@pytest.fixture(scope="module")
def pack(tmp_path_factory) -> Path:
    if not PACK.is_file():
        pytest.skip(f"only some developers have {PACK.name}")
    folder = tmp_path_factory.mktemp("policies")
    with tarfile.open(PACK) as archive:
        archive.extractall(folder, filter="data")
    return folder / "policies"


@pytest.mark.slow
@pytest.mark.parametrize("name", POLICIES)
def test_published_policies_pass(pack, tmp_path, name):
    verdict, _ = judge(pack, Defect(name, "none", "no mistake", "", ""), tmp_path)
    assert verdict.state == "ok", verdict.text


@pytest.mark.slow
@pytest.mark.parametrize(
    "defect", (*DEFECTS, *SIMULATED), ids=lambda each: f"{each.policy}: {each.said}"
)
def test_planted_mistakes_of_published_policies_are_named(pack, tmp_path, defect):
    defect = replace(defect, is_simulated=defect in SIMULATED)
    verdict, _ = judge(pack, defect, tmp_path)
    assert verdict.state != "ok"
    assert is_named(defect, verdict), verdict.text
