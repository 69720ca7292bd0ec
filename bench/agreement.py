"""Compare observations, rewards and terminations of ported tasks with mjlab 1.6.

    python -m venv ../peer && ../peer/bin/pip install torch==2.13.0 mjlab==1.6.0
    python bench/agreement.py ../peer/bin/python --out agreement

The tasks of the installed mjlab are ported by `mjlab port` into a temporary folder. Two
processes, one with each package, then get the same 20 states: qpos, qvel, command and
last action. Terms are computed on these states ("state"), during a step with the same
action ("step"), and on the state after it ("after"). Noise, events and curricula are
off, and worlds are at the origin of a plane in both. mjlab runs MuJoCo Warp 3.11 on the
CPU, this project MuJoCo C 4.0.
"""

import argparse
import contextlib
import importlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
WORLDS = 20
CLIP = ROOT / "tasks" / "tracking" / "clips" / "g1" / "walk.npz"

TASKS = {
    "Mjlab-Cartpole-Balance": "cartpole",
    "Mjlab-Cartpole-Swingup": "cartpole",
    "Mjlab-Velocity-Flat-Unitree-Go1": "velocity.config.go1",
    "Mjlab-Velocity-Rough-Unitree-Go1": "velocity.config.go1",
    "Mjlab-Velocity-Flat-Unitree-G1": "velocity.config.g1",
    "Mjlab-Velocity-Rough-Unitree-G1": "velocity.config.g1",
    "Mjlab-Tracking-Flat-Unitree-G1": "tracking.config.g1",
    "Mjlab-Tracking-Flat-Unitree-G1-No-State-Estimation": "tracking.config.g1",
    "Mjlab-Lift-Cube-Yam": "manipulation.config.yam",
    "Mjlab-Lift-Cube-Yam-Rgb": "manipulation.config.yam",
    "Mjlab-Lift-Cube-Yam-Depth": "manipulation.config.yam",
    "Mjlab-Multi-Cube-Seg-Yam": "manipulation.config.yam",
}
"""Module of the ported tasks by task id."""

Values = dict[str, np.ndarray]


# --- Both sides. In mjlab's Python, `import mjlab` imports mjlab 1.6. -----------------


def quiet(cfg: Any) -> None:
    """Turn off noise, events, curricula, resampling and time limits, in place."""
    cfg.scene.num_envs = WORLDS
    cfg.scene.env_spacing = 0.0
    cfg.seed = 0
    # Reset events place fixed bases. The given states overwrite the other values.
    cfg.events = {k: v for k, v in cfg.events.items() if k.startswith("reset")}
    cfg.curriculum = {}
    cfg.episode_length_s = 1e4
    for group in cfg.observations.values():
        group.enable_corruption = False
    for command in cfg.commands.values():
        command.resampling_time_range = (1e9, 1e9)
    for reward in cfg.rewards.values():
        reward.weight = reward.weight or 1.0  # mjlab skips terms with weight 0.


def give_command(env: Any, given: Values) -> None:
    """Set the command of the task's command term, if it has one."""
    import torch

    for name in env.command_manager.active_terms:
        term = env.command_manager.get_term(name)
        for field in ("vel_command_b", "target_pos", "target_selection", "time_steps"):
            if field in vars(term):
                getattr(term, field).copy_(torch.as_tensor(given[field]))
        for field in ("is_standing_env", "is_heading_env", "is_world_env"):
            if field in vars(term):
                getattr(term, field).fill_(False)


def after_forward(env: Any) -> None:
    """Update the quantities that a command derives from the state."""
    for name in env.command_manager.active_terms:
        term = env.command_manager.get_term(name)
        term._update_metrics()
        if "time_steps" in vars(term):
            term.update_relative_body_poses()


def noted(values: Values, key: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a term's function so that each result is stored in `values`."""

    def call(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        values[key] = result.detach().double().numpy().copy()
        return result

    return call


def measure(env: Any, given: Values, side: Any) -> Values:
    """Return the term values on the given states, during a step, and after the step."""
    import torch

    env.reset()
    now: Values = {}
    side.note(env, now)
    found: Values = {}
    side.set_state(env, given)
    give_command(env, given)
    env.action_manager.action.copy_(torch.as_tensor(given["action"]))
    env.action_manager.prev_action.copy_(torch.as_tensor(given["prev_action"]))
    side.forward(env)
    after_forward(env)
    env.sim.sense()
    side.compute(env)
    found |= {f"state/{name}": value for name, value in now.items()}
    # The first of two equal steps fills the histories of contacts.
    side.set_state(env, given)
    for _ in range(2):
        side.write_state(env, given)
        side.forward(env)
        give_command(env, given)
        env.step(torch.as_tensor(given["next_action"]))
    found |= {f"step/{name}": value for name, value in now.items()}
    side.forward(env)
    after_forward(env)
    env.sim.sense()
    side.compute(env)
    found |= {f"after/{name}": value for name, value in now.items()}
    data = env.sim.data
    found["step/qpos"] = np.asarray(data.qpos.numpy(), dtype=float).copy()
    found["step/qvel"] = np.asarray(data.qvel.numpy(), dtype=float).copy()
    return found


class Theirs:
    """Adapter for mjlab 1.6: builds environments, sets states and computes terms."""

    def build(self, task: str, motion: str) -> Any:
        """Return the environment of a task."""
        import mjlab.tasks  # noqa: F401 - registers the tasks.
        from mjlab.envs import ManagerBasedRlEnv
        from mjlab.tasks import registry  # type: ignore[attr-defined]

        cfg = registry.load_env_cfg(task)
        if "motion" in cfg.commands:
            cfg.commands["motion"].motion_file = motion
        if cfg.scene.terrain is not None:
            cfg.scene.terrain.terrain_type = "plane"
            cfg.scene.terrain.terrain_generator = None
        quiet(cfg)
        return ManagerBasedRlEnv(cfg, device="cpu")  # type: ignore[call-arg]

    def note(self, env: Any, values: Values) -> None:
        """Wrap all terms so that `values` receives their results."""
        rewards, ends = env.reward_manager, env.termination_manager
        for kind, manager in (("reward", rewards), ("termination", ends)):
            pairs = zip(manager._term_names, manager._term_cfgs, strict=True)
            for name, cfg in pairs:
                cfg.func = noted(values, f"{kind}/{name}", cfg.func)
        groups = env.observation_manager._group_obs_term_cfgs
        for group, cfgs in groups.items():
            names = env.observation_manager.active_terms[group]
            for name, cfg in zip(names, cfgs, strict=True):
                key = f"observation/{group}/{name}"
                cfg.func = noted(values, key, cfg.func)

    def set_state(self, env: Any, given: Values) -> None:
        """Write positions and velocities, and reset the state of sensors."""
        env.scene.reset(None)
        self.write_state(env, given)

    def write_state(self, env: Any, given: Values) -> None:
        """Write positions and velocities."""
        import torch

        env.sim.data.qpos[:] = torch.as_tensor(given["qpos"])
        env.sim.data.qvel[:] = torch.as_tensor(given["qvel"])

    def forward(self, env: Any) -> None:
        """Compute derived quantities."""
        env.sim.forward()
        for sensor in env.scene.sensors.values():
            sensor._invalidate_cache()

    def compute(self, env: Any) -> None:
        """Compute all terms."""
        env.extras["log"] = {}
        env.termination_manager.compute()
        env.reward_manager.compute(env.step_dt)
        env.observation_manager.compute(update_history=True)


class Ours:
    """Adapter for this package: the same for ported tasks."""

    def build(self, task: str, motion: str) -> Any:
        """Return the environment of a task."""
        from mjlab.envs import ManagerBasedRlEnv

        module = importlib.import_module(f"ported.{TASKS[task]}")
        cfg = getattr(module, task.replace("-", "_").upper()).env()
        if "motion" in cfg.commands:
            cfg.commands["motion"].motion_file = motion
        if cfg.scene.terrain is not None:
            cfg.scene.terrain.kind = "plane"
            cfg.scene.terrain.generator = None
        quiet(cfg)
        return ManagerBasedRlEnv(cfg, device="cpu")

    def note(self, env: Any, values: Values) -> None:
        """Wrap all terms so that `values` receives their results."""
        rewards, ends = env.reward_manager, env.termination_manager
        for kind, manager in (("reward", rewards), ("termination", ends)):
            for name, term in manager.terms.items():
                term.function = noted(values, f"{kind}/{name}", term.function)
        terms = env.observation_manager.terms
        for group, names in env.observation_manager.active_terms.items():
            for name in names:
                term = env.observation_manager.term(f"{group}/{name}")
                assert any(term is each for each in terms.values())
                key = f"observation/{group}/{name}"
                term.function = noted(values, key, term.function)

    def set_state(self, env: Any, given: Values) -> None:
        """Write positions and velocities, and reset the state of sensors."""
        import torch

        env.scene.reset(torch.ones(WORLDS, dtype=torch.bool))
        self.write_state(env, given)

    def write_state(self, env: Any, given: Values) -> None:
        """Write positions and velocities."""
        import torch

        env.sim.data.qpos.copy_(torch.as_tensor(given["qpos"]))
        env.sim.data.qvel.copy_(torch.as_tensor(given["qvel"]))
        env.scene.invalidate()

    def forward(self, env: Any) -> None:
        """Compute derived quantities."""
        with env.sim.reads.allow_late():
            env.sim.forward()
        env.scene.refresh()

    def compute(self, env: Any) -> None:
        """Compute all terms."""
        with env.sim.reads.allow_late():
            env.termination_manager.compute()
            env.reward_manager.compute(env.step_dt)
            env.observation_manager.compute()


def states(env: Any) -> Values:
    """Return 20 states of a task after random actions, with commands and actions."""
    import torch

    rng = np.random.default_rng(0)
    env.reset()
    size = env.action_manager.total_action_dim
    for _ in range(8):
        env.step(
            torch.as_tensor(rng.normal(0, 0.3, (WORLDS, size)), dtype=torch.float32)
        )
    given = {
        name: getattr(env.sim.data, name).numpy().copy() for name in ("qpos", "qvel")
    }
    for name in ("action", "prev_action", "next_action"):
        given[name] = rng.normal(0, 0.5, (WORLDS, size)).astype(np.float32)
    given["vel_command_b"] = rng.uniform(-1, 1, (WORLDS, 3)).astype(np.float32)
    given["target_pos"] = rng.uniform((0.3, -0.2, 0.2), (0.5, 0.2, 0.4), (WORLDS, 3))
    given["target_pos"] = given["target_pos"].astype(np.float32)
    given["target_selection"] = rng.integers(0, 3, WORLDS)
    given["time_steps"] = rng.integers(5, 250, WORLDS)
    return given


def run_side(name: str, task: str, folder: Path) -> None:
    """Measure mjlab 1.6 ("theirs") or this package in the current process."""
    side = Theirs() if name == "theirs" else Ours()
    env = side.build(task, str(folder / "motion.npz"))
    given = folder / f"{task}.npz"
    if not given.exists():
        start: Any = states(env)
        np.savez(given, **start)
        env = side.build(task, str(folder / "motion.npz"))
    with np.load(given) as stored:
        found: Any = measure(env, {key: stored[key] for key in stored}, side)
    np.savez(folder / f"{task}.{name}.npz", **found)


MOTION = """
import sys, mujoco, numpy as np
from mjlab.asset_zoo.robots import get_g1_robot_cfg
from mjlab.entity import Entity
clip = np.load(sys.argv[1])
model = Entity(get_g1_robot_cfg()).spec.compile()
data = mujoco.MjData(model)
joints = [model.joint(i).name.split("/")[-1] for i in range(1, model.njnt)]
order = [list(clip["joint_names"]).index(name) for name in joints]
root = [clip["body_pos_w"][:, 0], clip["body_quat_w"][:, 0]]
qpos = np.concatenate([*root, clip["joint_pos"][:, order]], axis=1)[:300]
fps = float(clip["fps"])
qvel = np.zeros((len(qpos), model.nv))
for t in range(len(qpos) - 1):
    mujoco.mj_differentiatePos(model, qvel[t], 1 / fps, qpos[t], qpos[t + 1])
qvel[-1] = qvel[-2]
names = ["body_pos_w", "body_quat_w", "body_lin_vel_w", "body_ang_vel_w"]
found = {name: [] for name in names}
twist = np.zeros(6)
for t in range(len(qpos)):
    data.qpos[:], data.qvel[:] = qpos[t], qvel[t]
    mujoco.mj_forward(model, data)
    found["body_pos_w"].append(data.xpos[1:].copy())
    found["body_quat_w"].append(data.xquat[1:].copy())
    twists = []
    for body in range(1, model.nbody):
        kind = mujoco.mjtObj.mjOBJ_XBODY
        mujoco.mj_objectVelocity(model, data, kind, body, twist, 0)
        twists.append(twist.copy())
    found["body_ang_vel_w"].append(np.array(twists)[:, :3])
    found["body_lin_vel_w"].append(np.array(twists)[:, 3:])
arrays = {name: np.array(values, np.float32) for name, values in found.items()}
arrays |= {"joint_pos": qpos[:, 7:], "joint_vel": qvel[:, 6:], "fps": np.array([fps])}
np.savez(sys.argv[2], **arrays)
"""
"""Writes a motion file of mjlab from a clip, with mjlab's own robot."""


# --- The comparison -----------------------------------------------------------------


def call(python: str, folder: Path, *words: str, site: str = "") -> None:
    """Run this file, or `-c CODE`, with another Python interpreter."""
    paths = os.pathsep.join(filter(None, [str(folder), site]))
    env = os.environ | {"PYTHONPATH": paths, "PYTHONSAFEPATH": "1"}
    done = subprocess.run(
        [python, *words], cwd=folder, env=env, capture_output=True, text=True
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(words)[:80]} failed:\n{done.stderr[-3000:]}")


def compare(folder: Path, task: str) -> dict[str, dict[str, float]]:
    """Return the differences and the largest value of each term, by term."""
    with (
        np.load(folder / f"{task}.ours.npz") as ours,
        np.load(folder / f"{task}.theirs.npz") as theirs,
    ):
        if set(ours) != set(theirs):
            raise SystemExit(f"{task}: terms differ: {set(ours) ^ set(theirs)}")
        rows = {}
        for name in sorted(ours):
            a, b = ours[name].astype(float), theirs[name].astype(float)
            if a.shape != b.shape:
                raise SystemExit(
                    f"{task}: {name} is {a.shape} here, {b.shape} in mjlab"
                )
            errors, scale = np.abs(a - b), float(np.abs(b).max())
            size = float(errors.max())
            differs = errors > 1e-4 * max(scale, 1e-2)
            rows[name] = {
                "difference": size,
                "largest": scale,
                "relative": size / max(scale, 1e-2),
                "share": float(differs.mean()),
            }
        return rows


def main() -> None:
    """Port, measure both sides, and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "peer", nargs="?", help="Python of an environment with mjlab 1.6"
    )
    parser.add_argument("--tasks", nargs="*", default=list(TASKS))
    parser.add_argument("--out", help="name of the result, such as agreement")
    parser.add_argument("--folder", help="keep the intermediate files here")
    parser.add_argument("--side", nargs=2, metavar=("SIDE", "FOLDER"))
    options = parser.parse_args()
    if options.side:
        for task in options.tasks:
            run_side(options.side[0], task, Path(options.side[1]))
        return
    with contextlib.ExitStack() as stack:
        name = options.folder or stack.enter_context(tempfile.TemporaryDirectory())
        folder = Path(name)
        where = "import mjlab.tasks as t; open('where', 'w').write(t.__path__[0])"
        call(options.peer, folder, "-c", where)
        port_tasks(Path((folder / "where").read_text()), folder / "ported")
        motion = str(folder / "motion.npz")
        call(options.peer, folder, "-c", MOTION, str(CLIP), motion)
        tasks = ("--tasks", *options.tasks)
        for python, side, site in (
            (sys.executable, "ours", str(ROOT)),
            (options.peer, "theirs", ""),
        ):
            call(python, folder, __file__, *tasks, "--side", side, name, site=site)
        found = {}
        for task in options.tasks:
            found[task] = compare(folder, task)
            worst = {
                kind: max(
                    (row["relative"], key)
                    for key, row in found[task].items()
                    if key.startswith(kind)
                )
                for kind in ("state", "step", "after")
            }
            print(task, worst, flush=True)
    if options.out:
        from bench.record import save

        save(options.out, {"worlds": WORLDS, "mjlab": "1.6.0", "tasks": found})


def port_tasks(tasks: Path, to: Path) -> None:
    """Port the tasks of an installed mjlab, without its registry."""
    import shutil

    from mjlab.cli.porting.folder import Porting

    copied = to.parent / "source" / "mjlab" / "tasks"
    skipped = shutil.ignore_patterns("__pycache__", "registry.py")
    shutil.copytree(tasks, copied, ignore=skipped)
    (copied.parent / "__init__.py").touch()
    Porting.of(copied).write_to(to)


if __name__ == "__main__":
    main()
