"""Find parts of `init_state` that no reset writes, by a trial reset."""

from dataclasses import dataclass

import mujoco
import torch

from mjlab.envs.state import EnvState
from mjlab.envs.step import StepProgram
from mjlab.mdp.events import reset_scene_to_default

_FIELDS = ("qpos", "qvel", "mocap_pos", "mocap_quat")
_SHOWN = 4


@dataclass(frozen=True)
class UnsetStates:
    """Joints and bodies that stay at the model's `qpos0` despite `init_state`."""

    parts: tuple[str, ...] = ()
    """Names of hinge, slide and ball joints, and of floating and mocap bodies."""

    is_grave: bool = False
    """True if a floating base is among the parts, or if no reset writes any state."""

    def __str__(self) -> str:
        shown = ", ".join(self.parts[:_SHOWN])
        more = len(self.parts) - _SHOWN
        return (
            f"Episodes start with {shown}{f' and {more} more' if more > 0 else ''} at "
            "the model's qpos0, not at init_state: no reset event or command sets "
            "them. To start at init_state, make 'reset_scene_to_default': "
            "EventTermCfg(func=mdp.reset_scene_to_default, mode='reset') the first of "
            "`events`."
        )


def find_unset_states(program: StepProgram, state: EnvState) -> UnsetStates:
    """Find the parts of `init_state` that a reset does not write, by a trial reset.

    Args:
        program: Step program of the environment, which runs the reset.
        state: State of the environment, which is restored afterwards.
    """
    env, sim = program.env, program.env.sim
    everyone = torch.ones(env.num_envs, dtype=torch.bool, device=env.device)
    before = state.take()
    sim.reset()
    blank = _values(program)
    reset_scene_to_default(env, everyone)
    wanted = _values(program)
    program.write_states(everyone)
    env.command_manager.reset(everyone)
    env.command_manager.write_state(0.0)
    found = _values(program)
    state.restore(before)
    unset: list[str] = []
    is_grave, sets_any = False, False
    # Skip variants: the state of a variant is not written in worlds that show another.
    variants = tuple(f"{name}." for name in env.scene.variants)
    for name in _FIELDS:
        asked = (wanted[name] != blank[name]).any(dim=0)
        left = (found[name] == blank[name]).all(dim=0)
        sets_any |= bool((found[name] != blank[name]).any())
        for index in (asked & left).nonzero().flatten().tolist():
            part, is_base = _part(sim.mj_model, name, index)
            if part.startswith(variants):
                continue
            unset.append(part)
            is_grave |= is_base
    parts = tuple(dict.fromkeys(unset))
    return UnsetStates(parts, bool(parts) and (is_grave or not sets_any))


def _values(program: StepProgram) -> dict[str, torch.Tensor]:
    engine = program.env.sim.engine
    return {name: engine.data(name).flatten(1).clone() for name in _FIELDS}


def _part(model: mujoco.MjModel, field: str, index: int) -> tuple[str, bool]:
    """Return the name of an element's joint or body, and whether it is a free joint."""
    if field.startswith("mocap"):
        mocap = index // (3 if field == "mocap_pos" else 4)
        return model.body(int((model.body_mocapid == mocap).argmax())).name, False
    starts = model.jnt_qposadr if field == "qpos" else model.jnt_dofadr
    joint = int((starts <= index).sum()) - 1
    body = model.body(int(model.jnt_bodyid[joint])).name
    is_free = int(model.jnt_type[joint]) == int(mujoco.mjtJoint.mjJNT_FREE)
    return body if is_free else model.joint(joint).name or body, is_free
