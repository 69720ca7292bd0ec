"""Models attached to a scene, compared with MuJoCo compiling their files alone."""

import copy
from collections.abc import Callable
from typing import Literal

import mujoco
import mujoco_warp
import numpy as np
import pytest

from mjlab.entity import EntityCfg, InitialStateCfg, InitialStateError
from mjlab.scene import SceneCfg, build_scene
from mjlab.sim import SimulationCfg
from mjlab.sim.compile import compile_model
from mjlab.spec import apply_edits, load_spec
from mjlab.tasks.muscle.models import arm6_cfg, w18_cfg, w54_cfg
from mjlab.tasks.robots.cartpole import cartpole_cfg
from mjlab.tasks.robots.g1 import g1_cfg
from mjlab.tasks.robots.go1 import go1_cfg

Pair = tuple[int, int]

# Geoms overlap within and between bodies, so that a missing filter is detected.
LINKS = """
<body name="arm"><joint name="swing" axis="0 1 0"/><geom name="arm" size=".12"/>
  <geom name="guard" type="box" size=".1 .1 .1" condim="4" priority="1"/>
  <body name="pad"><geom name="pad" type="capsule" size=".05 .1" friction=".3"/></body>
  <body name="hand"><joint name="turn" axis="1 0 0"/><geom name="hand" size=".1"/>
    <body name="tip"><joint name="bend" axis="0 0 1"/><geom name="tip" size=".1"/>
    </body></body></body>
"""
CART = f"""
<body name="cart" pos="0 0 .05"><joint name="slide" type="slide" axis="1 0 0"/>
  <geom name="cart" type="box" size=".2 .1 .05"/><geom name="bumper" size=".1"/>
  <body name="trim"><geom name="trim" size=".09" margin=".01"/></body>{LINKS}</body>
"""
FIXED = CART.replace('<joint name="slide" type="slide" axis="1 0 0"/>', "")
FLOATING = CART.replace(
    '<joint name="slide" type="slide" axis="1 0 0"/>', "<freejoint/>"
)
PLANE = '<geom name="floor" type="plane" size="1 1 1"/>'
RAIL = '<geom name="rail" type="box" size="1 .02 .02"/><site name="end"/>'
BEAM = '<body name="beam"><geom name="beam" size=".1"/></body>'


def _excluding(*pairs: str) -> str:
    bodies = [pair.split() for pair in pairs]
    lines = [f'<exclude body1="{one}" body2="{two}"/>' for one, two in bodies]
    return f"<contact>{''.join(lines)}</contact>"


def _file(*world: str, more: str = "") -> str:
    return f"<mujoco><worldbody>{''.join(world)}</worldbody>{more}</mujoco>"


BITS = '<default><geom contype="{}" conaffinity="{}"/></default>'
EXPLICIT = '<contact><pair geom1="hand" geom2="arm"/></contact>'
FILES = {
    "a root with a joint": _file(CART),
    "a root with a joint, excluded from its child": _file(
        CART, more=_excluding("cart arm")
    ),
    "a root with a joint, and an explicit pair": _file(CART, more=EXPLICIT),
    "a root with a joint beside a plane": _file(PLANE, CART),
    "a root with a joint beside a box": _file(RAIL, CART),
    "a root with a joint, excluded from the box beside it": _file(
        RAIL, CART, more=_excluding("world cart", "hand world")
    ),
    "a root with a joint in a body without one": _file(
        BEAM.replace("</body>", CART + "</body>")
    ),
    "a root with a joint beside a plane and a box": _file(PLANE, RAIL, CART),
    "a fixed root": _file(FIXED),
    "a fixed root beside a plane": _file(PLANE, FIXED),
    "a fixed root beside a plane and a box": _file(PLANE, RAIL, FIXED),
    "a fixed root beside a box": _file(RAIL, FIXED),
    "a fixed root, excluded from its child": _file(FIXED, more=_excluding("arm cart")),
    "a fixed root, excluded from the box beside it": _file(
        RAIL, FIXED, more=_excluding("tip world", "trim arm")
    ),
    "a fixed root that is a mocap body": _file(
        FIXED.replace('name="cart"', 'name="cart" mocap="true"', 1)
    ),
    "a floating root": _file(FLOATING),
    "a floating root beside a plane": _file(PLANE, FLOATING),
    "geoms of which one alone meets the others": _file(
        RAIL,
        CART.replace('name="tip" size', 'name="tip" contype="2" size'),
        more=BITS.format(1, 2),
    ),
    "geoms that are never met": _file(FIXED, more=BITS.format(0, 0)),
    "geoms alone": _file(RAIL, PLANE.replace("plane", "sphere")),
}
ROBOTS = {
    "cartpole": cartpole_cfg,
    "go1": go1_cfg,
    "g1": g1_cfg,
    "arm6": arm6_cfg,
    "w18": w18_cfg,
    "w54": w54_cfg,
}


KEYS = ("home", "low", "only_ctrl", 3)
"""Keyframes added by `with_keys`; the last one is only reserved."""


def _of_file(text: str) -> Callable[[], EntityCfg]:
    return lambda: EntityCfg(source=lambda: mujoco.MjSpec.from_string(text))


ENTITIES = {name: _of_file(text) for name, text in FILES.items()} | ROBOTS


def alone(cfg: EntityCfg) -> mujoco.MjModel:
    """The file with its collision settings, otherwise unchanged."""
    spec = load_spec(cfg.source)
    apply_edits(spec, (*cfg.collisions, *cfg.geoms))
    return spec.compile()


def in_scene(cfg: EntityCfg, backend: Literal["native", "warp"]) -> mujoco.MjModel:
    """Input of the engine."""
    scene = build_scene(SceneCfg(entities={"it": cfg}))
    return compile_model(scene.spec, SimulationCfg(backend=backend))


def overlapping(model: mujoco.MjModel) -> mujoco.MjModel:
    """A copy in which all geoms are spheres of a kilometre.

    Only MuJoCo's filters separate two of them.
    """
    model = copy.copy(model)
    model.geom_type[:] = mujoco.mjtGeom.mjGEOM_SPHERE
    model.geom_size[:] = model.geom_rbound[:] = 1e3
    model.geom_aabb[:] = [0, 0, 0, 1e3, 1e3, 1e3]
    model.opt.disableflags = mujoco.mjtDisableBit.mjDSBL_MIDPHASE
    return model


def contacts(model: mujoco.MjModel, qpos: np.ndarray) -> dict[Pair, list[np.ndarray]]:
    """Return contacts in a pose: distance and parameters of each."""
    data = mujoco.MjData(model)
    data.qpos[:] = qpos
    mujoco.mj_forward(model, data)
    found: dict[Pair, list[np.ndarray]] = {}
    for contact in data.contact:
        one, two = sorted(contact.geom.tolist())
        numbers = (
            contact.dist,
            contact.pos,
            contact.includemargin,
            contact.friction,
            contact.solref,
            contact.solimp,
            contact.dim,
        )
        found.setdefault((one, two), []).append(np.hstack(numbers))
    return found


def candidates(model: mujoco.MjModel) -> set[Pair]:
    """Return the pairs of geoms that MuJoCo allows to collide."""
    model = overlapping(model)
    return set(contacts(model, model.qpos0))


def poses(model: mujoco.MjModel, count: int) -> np.ndarray:
    """Poses around the reference, with joints anywhere within a full turn."""
    noise = np.random.default_rng(0).uniform(-3.0, 3.0, (count, model.nq))
    # In the model's own place: floating parts can collide with fixed ones.
    noise[:, model.jnt_qposadr[model.jnt_type == mujoco.mjtJoint.mjJNT_SLIDE]] *= 0.05
    if model.njnt and model.jnt_type[0] == mujoco.mjtJoint.mjJNT_FREE:
        noise[:, :7] *= 0.01
    return model.qpos0 + noise


@pytest.mark.parametrize("name", ENTITIES)
def test_an_attached_model_has_the_contact_pairs_of_its_file(name: str) -> None:
    cfg = ENTITIES[name]()
    file, scene = alone(cfg), in_scene(cfg, "native")
    np.testing.assert_array_equal(scene.geom_size, file.geom_size)
    assert candidates(scene) == candidates(file)
    for qpos in poses(file, 10):
        found, expected = contacts(scene, qpos), contacts(file, qpos)
        assert found.keys() == expected.keys()
        for pair, numbers in expected.items():
            np.testing.assert_allclose(found[pair], numbers, atol=1e-9)


@pytest.mark.parametrize("name", ENTITIES)
def test_warp_collides_the_contact_pairs_of_the_file(name: str) -> None:
    cfg = ENTITIES[name]()
    model = mujoco_warp.put_model(in_scene(cfg, "warp"))
    # Values below -1 are pairs whose distance a sensor measures, without collisions.
    collides = model.nxn_pairid_filtered.numpy()[:, 0] >= -1
    pairs = np.sort(model.nxn_geom_pair_filtered.numpy()[collides])
    assert {(one, two) for one, two in pairs.tolist()} == candidates(alone(cfg))


def test_most_tested_models_have_self_collisions() -> None:
    """Otherwise the test above would compare nothing."""
    counts = {name: len(candidates(alone(make()))) for name, make in ENTITIES.items()}
    idle = {name for name, count in counts.items() if not count}
    assert idle == {
        *("geoms that are never met", "geoms alone"),
        *("cartpole", "arm6", "w18", "w54"),
    }


# --- Keyframes ----------------------------------------------------------------------


def with_keys(text: str) -> mujoco.MjSpec:
    """The model with two actuators and keyframes of random numbers."""
    spec = mujoco.MjSpec.from_string(text)
    for joint in [joint.name for joint in spec.joints if joint.name][:2]:
        drive = spec.add_actuator(name=f"drive_{joint}", target=joint)
        drive.trntype = mujoco.mjtTrn.mjTRN_JOINT
        drive.dyntype = mujoco.mjtDyn.mjDYN_INTEGRATOR
    model, rng = spec.copy().compile(), np.random.default_rng(1)
    state = {"qpos": model.nq, "qvel": model.nv, "act": model.na, "ctrl": model.nu}
    state |= {"mpos": 3 * model.nmocap, "mquat": 4 * model.nmocap}
    for name, given in (("home", state), ("low", ["qpos"]), ("only_ctrl", ["ctrl"])):
        numbers = {vector: rng.normal(size=state[vector]) for vector in given}
        spec.add_key(name=name, **numbers)
    spec.nkey = len(KEYS)
    return spec


def start(model: mujoco.MjModel, keyframe: str | int) -> dict[str, np.ndarray]:
    """Return the result of MuJoCo's reset to a keyframe, with geom positions."""
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, model.key(keyframe).id)
    mujoco.mj_kinematics(model, data)
    state = {name: getattr(data, name) for name in ("qpos", "qvel", "act", "ctrl")}
    return state | {"geom_xpos": data.geom_xpos, "geom_xmat": data.geom_xmat}


@pytest.mark.parametrize("keyframe", KEYS)
@pytest.mark.parametrize("name", FILES)
def test_every_keyframe_of_a_file_is_the_state_an_entity_starts_from(
    name: str, keyframe: str | int
) -> None:
    file = with_keys(FILES[name]).compile()
    cfg = EntityCfg(
        source=lambda: with_keys(FILES[name]),
        init_state=InitialStateCfg(keyframe=keyframe),
    )
    scene = in_scene(cfg, "native")
    assert (file.nkey, scene.nkey) == (len(KEYS), 1)
    found, expected = start(scene, 0), start(file, keyframe)
    for what, numbers in expected.items():
        np.testing.assert_allclose(found[what], numbers, atol=1e-12, err_msg=what)


@pytest.mark.parametrize("name", FILES)
def test_first_keyframe_is_used_and_can_be_overridden(name: str) -> None:
    text = FILES[name]
    state = InitialStateCfg(
        joint_pos={"swing|turn|bend": 0.25} if "turn" in text else {}
    )
    cfg = EntityCfg(source=lambda: with_keys(text), init_state=state)
    file = with_keys(text).compile()
    hinges = file.jnt_qposadr[file.jnt_type == mujoco.mjtJoint.mjJNT_HINGE]
    expected = start(file, "home")["qpos"]
    expected[hinges] = 0.25
    found = start(in_scene(cfg, "native"), 0)["qpos"]
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_a_keyframe_that_places_a_body_the_file_does_not_have_is_named() -> None:
    def source() -> mujoco.MjSpec:
        spec = mujoco.MjSpec.from_string(FILES["a fixed root"])
        spec.add_key(name="moved", mpos=[1, 2, 3])
        return spec

    with pytest.raises(ValueError, match=r"invalid mpos size, expected length 0"):
        source().compile()
    message = r"keyframe 'moved' of the entity 'it' has 3 values in mpos.* has 0"
    with pytest.raises(InitialStateError, match=message):
        in_scene(EntityCfg(source=source), "native")
