"""Models attached to a scene, against MuJoCo compiling their files alone."""

import copy
from collections.abc import Callable
from typing import Literal

import mujoco
import mujoco_warp
import numpy as np
import pytest

from mjlab.entity import EntityCfg
from mjlab.scene import SceneCfg, build_scene
from mjlab.sim import SimulationCfg
from mjlab.sim.compile import compile_model
from mjlab.spec import apply_edits, load_spec
from tasks.muscle.models import arm6_cfg, w18_cfg, w54_cfg
from tasks.robots.cartpole import cartpole_cfg
from tasks.robots.g1 import g1_cfg
from tasks.robots.go1 import go1_cfg

Pair = tuple[int, int]

# Geoms overlap within and between bodies, so that a filter that fails shows.
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


def _of_file(text: str) -> Callable[[], EntityCfg]:
    return lambda: EntityCfg(source=lambda: mujoco.MjSpec.from_string(text))


ENTITIES = {name: _of_file(text) for name, text in FILES.items()} | ROBOTS


def alone(cfg: EntityCfg) -> mujoco.MjModel:
    """The file with its collision settings, and nothing else done to it."""
    spec = load_spec(cfg.source)
    apply_edits(spec, (*cfg.collisions, *cfg.geoms))
    return spec.compile()


def in_scene(cfg: EntityCfg, backend: Literal["native", "warp"]) -> mujoco.MjModel:
    """What the engine is given."""
    scene = build_scene(SceneCfg(entities={"it": cfg}))
    return compile_model(scene.spec, SimulationCfg(backend=backend))


def overlapping(model: mujoco.MjModel) -> mujoco.MjModel:
    """A copy of which all geoms are spheres of a kilometre.

    Nothing but MuJoCo's own filters keeps two of them apart.
    """
    model = copy.copy(model)
    model.geom_type[:] = mujoco.mjtGeom.mjGEOM_SPHERE
    model.geom_size[:] = model.geom_rbound[:] = 1e3
    model.geom_aabb[:] = [0, 0, 0, 1e3, 1e3, 1e3]
    model.opt.disableflags = mujoco.mjtDisableBit.mjDSBL_MIDPHASE
    return model


def contacts(model: mujoco.MjModel, qpos: np.ndarray) -> dict[Pair, list[np.ndarray]]:
    """What touches in a pose, and how: distance and parameters of each contact."""
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
    """The pairs of geoms that MuJoCo lets touch."""
    model = overlapping(model)
    return set(contacts(model, model.qpos0))


def poses(model: mujoco.MjModel, count: int) -> np.ndarray:
    """Poses about the reference, in which joints are anywhere within a turn."""
    noise = np.random.default_rng(0).uniform(-3.0, 3.0, (count, model.nq))
    # In the model's own place: what floats there may touch what stands there.
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
    # Below -1 are pairs whose distance a sensor measures, and which do not collide.
    collides = model.nxn_pairid_filtered.numpy()[:, 0] >= -1
    pairs = np.sort(model.nxn_geom_pair_filtered.numpy()[collides])
    assert {(one, two) for one, two in pairs.tolist()} == candidates(alone(cfg))


def test_most_of_these_models_can_touch_themselves() -> None:
    """Otherwise the test above would compare nothing with nothing."""
    counts = {name: len(candidates(alone(make()))) for name, make in ENTITIES.items()}
    idle = {name for name, count in counts.items() if not count}
    assert idle == {
        *("geoms that are never met", "geoms alone"),
        *("cartpole", "arm6", "w18", "w54"),
    }
