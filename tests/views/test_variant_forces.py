"""Contact forces between objects that differ per world and a fixed table."""

from collections.abc import Sequence

import mujoco
import numpy as np
import pytest
import torch

from mjlab import views
from mjlab.entity import EntityCfg, InitialStateCfg
from mjlab.scene import ContactPairCfg
from mjlab.sim import Simulation
from mjlab.views import VariantsCfg
from tests.worlds.view_world import GRAVITY, advance, box, cabinet, make_world

TOP = 0.2
PAIRS = (
    ContactPairCfg(first="object", second="table"),
    ContactPairCfg(first="object", second="terrain"),
    ContactPairCfg(first="object"),
)
LISTED = ("light", "heavy", None, "ball", "light", "cabinet")
MASSES = {"light": 0.3, "heavy": 2.0, "ball": 0.7, "cabinet": 5.0, None: 0.0}


def table() -> EntityCfg:
    """A fixed block, 0.2 m high."""
    xml = f"""<mujoco><worldbody><body name="table">
      <geom type="box" size="1 1 {TOP / 2}" pos="0 0 {TOP / 2}"/>
    </body></worldbody></mujoco>"""
    return EntityCfg(source=lambda: mujoco.MjSpec.from_string(xml))


def ball(mass: float) -> EntityCfg:
    xml = f"""<mujoco><worldbody><body name="ball"><freejoint/>
      <geom type="sphere" size=".08" mass="{mass}"/></body></worldbody></mujoco>"""
    return EntityCfg(
        source=lambda: mujoco.MjSpec.from_string(xml),
        init_state=InitialStateCfg(pos=(0.0, 0.0, TOP + 0.08)),
    )


def options() -> dict[str, EntityCfg]:
    """Boxes and a ball with the same tree."""
    return {
        "light": box(MASSES["light"], 0.05, (0.0, 0.0, TOP + 0.05)),
        "heavy": box(MASSES["heavy"], 0.12, (0.0, 0.0, TOP + 0.12)),
        "ball": ball(MASSES["ball"]),
    }


def check_weights(backend: str, *, merged: bool) -> None:
    listed = LISTED if merged else LISTED[:-1]
    things = options()
    if merged:
        things["cabinet"] = cabinet((0.0, 0.0, TOP + 0.1), drawer=False)
    entities = {
        "object": VariantsCfg(options=things, assignment=listed),
        "table": table(),
    }
    world = make_world(entities, len(listed), pairs=PAIRS, backend=backend)
    scene = world.scene
    assert (len(scene.variants["object"].members) > 1) == merged
    advance(scene, 400)
    force = views.of(scene).pairwise_contact_force("object", "table")
    weights = torch.tensor([MASSES[name] * GRAVITY for name in listed])
    torch.testing.assert_close(force[:, 2], weights, rtol=0.01, atol=1e-6)
    assert float(force[:, :2].abs().max()) < 0.01 * float(weights.max())
    assert force[2].tolist() == [0.0, 0.0, 0.0]
    # In the opposite direction, from no other object, and in total.
    other = views.of(scene).pairwise_contact_force("table", "object")
    assert torch.equal(other, -force)
    ground = views.of(scene).pairwise_contact_force("object", "terrain")
    assert ground.count_nonzero() == 0
    net = views.of(scene).net_contact_force("object")
    torch.testing.assert_close(net, force, rtol=1e-5, atol=1e-4)
    if backend == "native":
        check_mujocos_contacts(world.sim, force, listed)


def check_mujocos_contacts(
    sim: Simulation, force: torch.Tensor, listed: Sequence[str | None]
) -> None:
    """Compare vertical forces with sums over MuJoCo's contacts."""
    for number, name in enumerate(listed):
        data = sim.engine.batch.get_data(number)  # pyright: ignore[reportAttributeAccessIssue]
        model = sim.engine.mj_model_of(number)
        total, wrench = 0.0, np.zeros(6)
        for index in range(data.ncon):
            mujoco.mj_contactForce(model, data, index, wrench)
            total += wrench[0]
        assert total == pytest.approx(float(force[number, 2]), rel=1e-3, abs=1e-9), name


@pytest.mark.parametrize("merged", [False, True])
def test_a_fixed_table_bears_the_weight_of_the_object_of_each_world(
    merged: bool,
) -> None:
    check_weights("native", merged=merged)


@pytest.mark.slow
@pytest.mark.parametrize("merged", [False, True])
def test_fixed_table_bears_the_weight_on_warp(merged: bool) -> None:
    check_weights("warp", merged=merged)
