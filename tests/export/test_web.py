"""The page runs policies in headless Chromium as the Python runner does in MuJoCo."""

import contextlib
import hashlib
import json
from importlib import resources
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
import torch

from mjlab.cli import export, web
from mjlab.cli.answers import UsageError
from mjlab.envs import ManagerBasedRlEnv
from mjlab.export.reader import ExportError
from mjlab.export.runner.policy import NO_CHECKSUM, ContractPolicy, with_checksum
from mjlab.export.runner.robot import MujocoRobot
from mjlab.export.web import WrittenPage, write_page
from mjlab.export.write import nominal
from mjlab.rl.learners import network_names
from mjlab.rl.policy import load_network
from mjlab.rl.vecenv import RslRlVecEnv
from mjlab.runs.checkpoints import find_checkpoint
from mjlab.runs.run import shipped_with
from tests.tools.browser import Browser, find_browser
from tests.worlds.shipped import shipped

TASKS = (
    "Velocity-Go1-Flat",
    "Velocity-G1-Flat",
    "Muscle-Walk-W18",
    "Lift-Yam",
    "Reach-Yam",
    "Cartpole-Swingup",
)
SHOWN = TASKS[:4] + TASKS[5:]
"""Policies of one page, at most 15 MB."""
STEP_TOLERANCE = {"Lift-Yam": 1e-4}
"""In 1 of 200 states, the impact of a grasp amplifies the rounding of the network."""
TARGET_TOLERANCE = {"Muscle-Walk-W18": 1e-6}
"""The muscle network runs in each physics step, in single precision."""
CHECKS = Path(__file__).with_name("web_checks.js")

needs_browser = pytest.mark.skipif(
    find_browser() is None, reason="there is no Chromium"
)


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> dict[str, Path]:
    return {task: shipped(task, tmp_path_factory.mktemp("web")).path for task in TASKS}


@pytest.fixture(scope="module")
def page(files, tmp_path_factory) -> Path:
    place = tmp_path_factory.mktemp("page") / "all.html"
    return write_page(list(files.values()), place).path


@pytest.fixture(scope="module")
def browser(page):
    browser = opened(page)
    yield browser
    browser.close()


def opened(page: Path, link: str = "", **size: int) -> Browser:
    browser = Browser(f"{page.as_uri()}{link}", **size)
    browser.wait("globalThis.mjlabPage?.startSeconds > 0")
    browser.run(CHECKS.read_text())
    return browser


def asked(browser: Browser, check: str, given: Any) -> Any:
    return browser.answer(f"{check}({json.dumps(given)})")


# What the page has to reproduce.


def recorded_states(policy: ContractPolicy, count: int) -> list[dict[str, Any]]:
    """States of the Python runner at the start of each control step."""
    robot, record = MujocoRobot(policy), policy.record()
    robot.start(record["qpos"][0], record["qvel"][0])
    robot.given = {k[6:]: v[0] for k, v in record.items() if k.startswith("input ")}
    robot.world = policy.world
    policy.reset()
    memories = [policy, *filter(None, [policy.world])]
    commands = {c["name"]: np.array(c["start"]) for c in policy.contract["commands"]}
    for values in commands.values():
        values[0] += 0.4
    states = []
    for _ in range(count + 1):
        data = robot.data
        now = {"qpos": data.qpos, "qvel": data.qvel, "act": data.act}
        now |= {"ctrl": data.ctrl, "warmstart": data.qacc_warmstart}
        now |= {"constraint": robot._constraint}
        state: dict[str, Any] = {name: value.tolist() for name, value in now.items()}
        state["memory"] = {
            n: v.ravel().tolist() for graph in memories for n, v in graph.state.items()
        }
        state["commands"] = {n: v.tolist() for n, v in commands.items()}
        states.append(state)
        robot.write(policy(robot.read(commands)))
        robot.wait()
    return states


def recorded_controls(policy: ContractPolicy, steps: int) -> dict[str, Any]:
    """Simulate a policy; return controls and positions of each physics step."""
    decimation = policy.contract["rates"]["decimation"]
    states = recorded_states(policy, -(-steps // decimation))
    robot = MujocoRobot(policy)
    model, data = robot.model, robot.data
    start = policy.record()
    data.qpos[:], data.qvel[:] = start["qpos"][0], start["qvel"][0]
    given = {"qpos": data.qpos.tolist(), "qvel": data.qvel.tolist()}
    controls, positions = [], []
    for step in range(steps):
        data.ctrl[:] = states[step // decimation + 1]["ctrl"]
        mujoco.mj_step(model, data)
        controls.append(data.ctrl.tolist())
        positions.append(data.qpos.tolist())
    return given | {"controls": controls, "positions": positions}


def amplified(policy: ContractPolicy, given: dict[str, Any]) -> float:
    """Effect of a velocity change of 1e-15 on the positions, in MuJoCo itself.

    A grasp amplifies it to 7e-4 m, so no other build can follow it.
    """
    robot, worst = MujocoRobot(policy), 0.0
    data = robot.data
    data.qpos[:], data.qvel[:] = given["qpos"], given["qvel"]
    data.qvel[0] += 1e-15
    for ctrl, wanted in zip(given["controls"], given["positions"], strict=True):
        data.ctrl[:] = ctrl
        mujoco.mj_step(robot.model, data)
        worst = max(worst, float(np.abs(data.qpos - wanted).max()))
    return worst


@pytest.mark.slow
@needs_browser
@pytest.mark.parametrize("task", TASKS)
def test_physics_of_the_page_equals_mujoco_under_recorded_controls(
    task, files, browser
):
    given = recorded_controls(ContractPolicy(files[task]), 1000)
    worst = asked(browser, "controlled", given | {"policy": files[task].stem})
    print(f"{task}: positions differ by {worst:.1e} in 1,000 physics steps")
    assert worst < max(1e-9, 10.0 * amplified(ContractPolicy(files[task]), given))


@pytest.mark.slow
@needs_browser
@pytest.mark.parametrize("task", TASKS)
def test_network_in_the_page_equals_the_recorded_outputs(task, files, browser):
    worst = asked(browser, "answered", files[task].stem)
    print(f"{task}: outputs differ by {worst:.1e} on the recorded inputs")
    assert worst < 1e-5


def farthest(pages: list[Any], states: list[Any]) -> tuple[float, int]:
    """Return the largest position difference, and the number of states above 1e-5."""
    away = [
        np.abs(np.subtract(page["qpos"], wanted["qpos"])).max()
        for page, wanted in zip(pages, states[1:], strict=True)
    ]
    return max(away), int(np.sum(np.array(away) > 1e-5))


def followed(
    policy: ContractPolicy, states: list[dict[str, Any]], pages: list[Any]
) -> float:
    """Return the largest difference from MuJoCo after a step to the page's targets."""
    robot, worst = MujocoRobot(policy), 0.0
    for state, page in zip(states, pages, strict=False):
        robot.start(np.array(state["qpos"]), np.array(state["qvel"]))
        data = robot.data
        data.act[:], data.ctrl[:] = state["act"], state["ctrl"]
        data.qacc_warmstart[:] = state["warmstart"]
        mujoco.mj_forward(robot.model, data)
        robot._constraint[:] = state["constraint"]
        robot.write({n: np.array(v, np.float32) for n, v in page["targets"].items()})
        robot.wait()
        worst = max(worst, float(np.abs(data.qpos - page["qpos"]).max()))
    return worst


@pytest.mark.slow
@needs_browser
@pytest.mark.parametrize("task", TASKS)
def test_one_control_step_of_the_page_equals_the_python_runner(task, files, browser):
    given = {"policy": files[task].stem}
    given |= {"states": recorded_states(ContractPolicy(files[task]), 200)}
    pages = asked(browser, "steppedOnce", given)
    worst, most = farthest(pages, given["states"])
    assert worst < STEP_TOLERANCE.get(task, 1e-5)
    assert most <= (1 if task in STEP_TOLERANCE else 0)
    equal = followed(ContractPolicy(files[task]), given["states"], pages)
    assert equal < TARGET_TOLERANCE.get(task, 1e-9)
    free = asked(browser, "ranFreely", given)
    print(
        f"{task}: {worst:.1e} after one control step ({most} above 1e-5), {equal:.1e} "
        f"with the page's targets, {free:.1e} after 200 free steps"
    )


def training_rewards(task: str, policy: ContractPolicy, count: int) -> list[Any]:
    """Return weighted reward terms of the training environment for recorded actions."""
    run, record = shipped_with(task), policy.record()
    assert run is not None
    configs = run.configs()
    agent = configs["agent"]
    with contextlib.closing(
        ManagerBasedRlEnv(nominal(configs["env"]), device="cpu")
    ) as env:
        groups = agent.obs_groups[network_names(agent)[0]]
        # Also loads the network of a muscle action.
        load_network(find_checkpoint(run.path), RslRlVecEnv(env, groups=groups), agent)
        env.reset(seed=0)
        np.testing.assert_allclose(env.sim.data.qpos[0], record["qpos"][0], atol=1e-6)
        manager, rows = env.reward_manager, []
        for action in record["output action"][:count]:
            env.step(torch.tensor(action).reshape(1, -1))
            rates = dict(zip(manager.terms, manager.values[0].tolist(), strict=True))
            weights = {n: float(manager.weight(n)) for n in manager.terms}
            rows.append({n: w * rates[n] for n, w in weights.items() if w})
    return rows


@pytest.mark.slow
@needs_browser
@pytest.mark.parametrize("task", TASKS)
def test_rewards_of_the_page_equal_those_of_training(task, files, browser):
    policy = ContractPolicy(files[task])
    wanted = training_rewards(task, policy, 40)
    given: dict[str, Any] = {"policy": files[task].stem, "steps": 40}
    given["commands"] = policy.record().get("command twist", np.empty((0, 3))).tolist()
    found = asked(browser, "rewarded", given)
    entry = policy.contract["rewards"]
    names = {each["name"] for each in entry["outputs"]}
    assert names | set(entry["held"]) == set(wanted[0])
    away = [abs(f[n] - w[n]) for f, w in zip(found, wanted, strict=True) for n in names]
    print(f"{task}: {len(names)} of {len(wanted[0])} rewards differ by {max(away):.1e}")
    assert max(away) < 1e-4


@pytest.mark.slow
@needs_browser
def test_page_of_five_policies_is_at_most_15_mb(files, tmp_path):
    written = write_page([files[task] for task in SHOWN], tmp_path / "five.html")
    assert written.size < 15e6


# The page for its users.


@pytest.fixture(scope="module")
def small(go1, cartpole, tmp_path_factory) -> Path:
    """Page of two policies."""
    return write_page([go1, cartpole], tmp_path_factory.mktemp("small") / "s.html").path


@pytest.fixture
def walk(small):
    browser = opened(small, "#policy=Velocity-Go1-Flat&command=0.5,0,0.1")
    yield browser
    browser.close()


def pressed(browser: Browser, key: str, code: str = "") -> None:
    for kind in ("keyDown", "keyUp"):
        text = key if len(key) == 1 and kind == "keyDown" else ""
        browser.call(
            "Input.dispatchKeyEvent", type=kind, key=key, code=code or key, text=text
        )


def stepped(browser: Browser, seconds: float) -> None:
    """Simulate some seconds, without frames."""
    script = f"""(async () => {{
      const page = mjlabPage;
      page.frame = async () => undefined;
      while (page.isBusy) await new Promise((done) => setTimeout(done, 10));
      const end = page.session.time + {seconds};
      while (page.session.time < end) await page.session.step();
    }})()"""
    browser.answer(script)


def dropped(browser: Browser, content: bytes, name: str) -> str:
    """Drop a file on the page; return the message of the page."""
    browser.run("document.getElementById('message').textContent = ''")
    script = f"""(() => {{
      const transfer = new DataTransfer();
      const bytes = Uint8Array.from({list(content)});
      transfer.items.add(new File([bytes], {json.dumps(name)}));
      dispatchEvent(new DragEvent("drop", {{ dataTransfer: transfer }}));
    }})()"""
    browser.run(script)
    browser.wait("document.getElementById('message').textContent !== ''", 60.0)
    return browser.run("document.getElementById('message').textContent")


@pytest.mark.slow
@needs_browser
def test_a_link_names_policy_and_command(walk):
    assert walk.run("mjlabPage.session.file.name") == "Velocity-Go1-Flat"
    assert walk.run("mjlabPage.session.steering.values") == [0.5, 0, 0.1]
    stepped(walk, 4.0)
    x, y = walk.run("mjlabPage.session.center().slice(0, 2)")
    assert np.hypot(x, y) > 1.0
    assert not walk.run("mjlabPage.session.hasFallen")
    walk.run("location.hash = '#policy=Cartpole-Balance'")
    walk.wait("mjlabPage.session?.file.name === 'Cartpole-Balance'")


@pytest.mark.slow
@needs_browser
def test_page_makes_no_requests(walk, small):
    assert {url.partition("#")[0] for url in walk.requested} == {small.as_uri()}


@pytest.mark.slow
@needs_browser
def test_the_walker_survives_a_push_with_the_keyboard(walk):
    stepped(walk, 2.0)
    before = walk.run("mjlabPage.session.robot.data.qvel[1]")
    pressed(walk, "ArrowLeft")
    stepped(walk, 0.1)
    assert walk.run("mjlabPage.session.robot.data.qvel[1]") > before + 0.2
    stepped(walk, 4.0)
    assert not walk.run("mjlabPage.session.hasFallen")


@pytest.mark.slow
@needs_browser
def test_keys_steer_pause_and_change_policy(walk):
    pressed(walk, "w", "KeyW")
    assert walk.run("mjlabPage.session.steering.values[0]") == pytest.approx(0.6)
    assert "command=0.6,0,0.1" in walk.run("location.hash")
    pressed(walk, " ", "Space")
    assert walk.run("mjlabPage.session.steering.values") == [0, 0, 0]
    pressed(walk, "p", "KeyP")
    assert walk.run("mjlabPage.isPaused") is True
    pressed(walk, "m", "KeyM")
    assert walk.run("mjlabPage.speed") == 0.5
    pressed(walk, "h", "KeyH")
    assert walk.run("document.getElementById('help').open") is True
    pressed(walk, "Escape")
    pressed(walk, "n", "KeyN")
    walk.wait("mjlabPage.session?.file.name === 'Cartpole-Balance'")


def steered(browser: Browser) -> list[float]:
    """Show one frame; return the command."""
    browser.answer("mjlabPage.frame(performance.now())")
    browser.answer("new Promise((done) => setTimeout(done, 100))")
    return browser.run("mjlabPage.session.steering.values")


@pytest.mark.slow
@needs_browser
def test_a_gamepad_steers_with_its_sticks(walk):
    walk.run("globalThis.pad = { axes: [0, 0, 0, 0] }")
    walk.run("navigator.getGamepads = () => [null, globalThis.pad]")
    assert steered(walk) == [0.5, 0, 0.1]  # A stick at rest leaves the command.
    walk.run("pad.axes = [0, -1, 0, 0]")
    assert steered(walk) == [1, 0, 0]
    # Left on both sticks is positive; half of the range behind a dead zone of 0.12.
    walk.run("pad.axes = [-0.56, 0, -1, 0]")
    assert steered(walk) == pytest.approx([0, 0.5, 0.5])
    walk.run("pad.axes = [0.05, 0.05, 0, 0]")
    assert steered(walk) == [0, 0, 0]


def touched(browser: Browser, kind: str, *points: tuple[float, float]) -> None:
    fingers = [{"x": x, "y": y, "id": i} for i, (x, y) in enumerate(points)]
    browser.call("Input.dispatchTouchEvent", type=kind, touchPoints=fingers)


@pytest.mark.slow
@needs_browser
def test_sticks_on_a_touch_screen_steer_together(walk):
    size = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    walk.call("Emulation.setDeviceMetricsOverride", **size)
    walk.call("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=2)
    place = """(id) => { const r = document.getElementById(id).getBoundingClientRect();
      return [r.x + r.width / 2, r.y + r.height / 2, r.width / 2]; }"""
    x, y, reach = walk.run(f"({place})('left')")
    u, v, _ = walk.run(f"({place})('right')")
    touched(walk, "touchStart", (x, y), (u, v))
    touched(walk, "touchMove", (x, y - reach), (u - reach / 2, v))
    assert steered(walk) == pytest.approx([1, 0, 0.25], abs=0.01)
    touched(walk, "touchEnd")
    assert steered(walk) == [0, 0, 0]


@pytest.mark.slow
@needs_browser
def test_a_finger_pulls_the_robot(walk):
    walk.call("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=2)
    walk.run("mjlabPage.isPaused = true")
    x, y = walk.run("[innerWidth / 2, innerHeight / 2]")
    touched(walk, "touchStart", (x, y))
    touched(walk, "touchMove", (x + 60, y))
    held, to = walk.run(
        "(({ grip, robot }) => [robot.model.body_rootid[grip.body], grip.to])"
        "(mjlabPage.session)"
    )
    assert held == walk.run("mjlabPage.session.root")
    assert np.hypot(*np.subtract(to, walk.run("mjlabPage.session.center()"))[:2]) > 0.05
    touched(walk, "touchEnd")
    assert walk.run("mjlabPage.session.grip") is None


@pytest.mark.slow
@needs_browser
@pytest.mark.parametrize("size", [(390, 844), (1280, 800)])
def test_buttons_and_panel_fit_the_window(small, size):
    browser = opened(small, width=size[0], height=size[1])
    try:
        metrics = {"width": size[0], "height": size[1], "deviceScaleFactor": 1}
        browser.call("Emulation.setDeviceMetricsOverride", mobile=False, **metrics)
        outside = """[...document.querySelectorAll('button, select, aside, .stick')]
          .map((e) => e.getBoundingClientRect()).filter((r) => r.width > 0)
          .filter((r) => r.right > innerWidth || r.bottom > innerHeight).length"""
        assert browser.run(outside) == 0
        assert browser.run("document.documentElement.scrollWidth - innerWidth") <= 0
    finally:
        browser.close()


@pytest.mark.slow
@needs_browser
def test_invalid_files_give_one_line(walk, go1):
    content = go1.read_bytes()
    damaged = bytearray(content)
    damaged[len(content) // 3] ^= 1
    said = dropped(walk, bytes(damaged), "a.onnx")
    assert said == "a.onnx is damaged: its content does not match its checksum."
    said = dropped(walk, content[:5000], "b.onnx")
    assert said.startswith("b.onnx is not an ONNX file, or it is damaged")
    said = dropped(walk, b"hello", "c.onnx")
    assert said.startswith("c.onnx is not an ONNX file, or it is damaged")
    said = dropped(walk, go1.with_suffix(".contract.json").read_bytes(), "d.json")
    assert said == "d.json is JSON, not ONNX: open the .onnx file next to it."
    assert walk.run("mjlabPage.session.file.name") == "Velocity-Go1-Flat"


@pytest.mark.slow
@needs_browser
def test_a_policy_without_its_model_gives_one_line(walk, go1, tmp_path):
    said = dropped(walk, without_scene(go1), "bare.onnx")
    assert said == "The model is missing from bare.onnx: its meshes are too large."


def without_scene(path: Path) -> bytes:
    """Content of a policy file whose scene exceeded the size limit."""
    onnx = pytest.importorskip("onnx")
    model = onnx.load(path)
    for entry in model.metadata_props:
        if entry.key == "scene":
            entry.value = ""
        if entry.key == "contract":
            contract = json.loads(entry.value)
            contract["model"]["lacks"] = "its meshes are too large"
            contract["checksum"] = NO_CHECKSUM
            entry.value = json.dumps(contract, indent=1)
    return with_checksum(model.SerializeToString())[0]


@pytest.mark.slow
def test_the_verb_writes_a_page_of_tasks_and_files(go1, tmp_path, capsys):
    out = tmp_path / "page.html"
    logs = str(tmp_path / "logs")
    web.main(["Cartpole-Balance", str(go1), "--logs", logs, "--out", str(out)])
    said = capsys.readouterr().out
    assert f"Wrote {out}, 9." in said
    assert "MB: Cartpole-Balance, Velocity-Go1-Flat." in said
    assert b"mjlabParts" in out.read_bytes()


@pytest.fixture(scope="module")
def with_stairs(go1, tmp_path_factory) -> WrittenPage:
    """Page of two policies, one of which observes a height scan."""
    folder = tmp_path_factory.mktemp("stairs")
    stairs = shipped("Velocity-Go1-Stairs", folder).path
    return write_page([stairs, go1], folder / "page.html")


@pytest.mark.slow
def test_inputs_that_a_page_cannot_compute_are_named(with_stairs):
    first, *others = with_stairs.summary.splitlines()
    assert first.endswith("MB: Velocity-Go1-Stairs, Velocity-Go1-Flat.")
    (said,) = others
    assert said.startswith("Velocity-Go1-Stairs: the page cannot compute height_scan")


@pytest.mark.slow
@needs_browser
def test_a_page_shows_its_constant_inputs(with_stairs):
    shown = []
    for name in ("Velocity-Go1-Stairs", "Velocity-Go1-Flat"):
        browser = opened(with_stairs.path, f"#policy={name}")
        line = 'document.getElementById("constant")'
        shown.append(browser.run(f'{line}.hidden ? "" : {line}.textContent'))
        browser.close()
    assert shown == ["Not simulated, constant: height_scan", ""]


@pytest.mark.slow
def test_export_writes_a_page_as_well(tmp_path, capsys):
    out, page = tmp_path / "cartpole.onnx", tmp_path / "cartpole.html"
    logs = str(tmp_path / "logs")
    line = ["Cartpole-Balance", "--logs", logs, "--out", str(out), "--web", str(page)]
    export.main(line)
    assert f"Wrote {page}, 9." in capsys.readouterr().out
    assert out.exists() and page.exists()


def test_the_verb_needs_a_policy():
    with pytest.raises(UsageError, match="POLICY is missing"):
        web.main([])


def test_a_page_refuses_two_policies_of_one_name(go1, tmp_path):
    with pytest.raises(ExportError, match="same file name"):
        write_page([go1, go1], tmp_path / "page.html")


def test_a_folder_has_the_same_parts_in_separate_files(go1, tmp_path):
    written = write_page([go1], tmp_path / "site")
    assert written.path.name == "index.html"
    names = {path.name for path in written.path.parent.iterdir()}
    assert names == {"index.html", "runtime.js", "policy-1.js", "page.js"}


@pytest.mark.slow
@needs_browser
def test_a_folder_opens_from_a_disk(go1, tmp_path):
    browser = opened(write_page([go1], tmp_path / "site").path)
    try:
        assert browser.run("mjlabPage.session.file.name") == "Velocity-Go1-Flat"
    finally:
        browser.close()


def test_a_missing_part_of_the_runtime_is_named(go1, tmp_path, monkeypatch):
    monkeypatch.setattr(resources, "files", lambda _: tmp_path)
    with pytest.raises(ExportError, match=r"mujoco\.wasm\.gz is missing.*make web"):
        write_page([go1], tmp_path / "page.html")


def test_versions_of_the_runtime_are_those_of_its_files():
    folder = resources.files("mjlab.export.web") / "runtime"
    sums = json.loads((folder / "versions.json").read_text())["sha256"]
    for name, wanted in sums.items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == wanted, name
