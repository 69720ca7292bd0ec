"""Walkers w18.xml and w54.xml against the published parameters of OpenSim.

A point (x, y, z) of OpenSim is (x, -z, y) in MuJoCo, mirrored in y on the left side.
"""

import math
from pathlib import Path
from xml.etree import ElementTree

import mujoco
import numpy as np
import pytest

from mjlab.tasks.muscle import models

ROOT = ElementTree.parse(Path(__file__).parent / "data/opensim_muscles.xml").getroot()
FILES = {"w18": models.W18_XML, "w54": models.W54_XML}
# Mass, and moments of inertia about OpenSim's x, y and z axes, of each segment.
SEGMENTS = {
    "pelvis": (11.777, (0.1028, 0.0871, 0.0579)),
    "torso": (34.2366, (1.4745, 0.7555, 1.4314)),
    "femur": (9.3014, (0.1339, 0.0351, 0.1412)),
    "tibia": (3.7075, (0.0504, 0.0051, 0.0511)),
    "talus": (0.1, (0.001, 0.001, 0.001)),
    "calcn": (1.25, (0.0014, 0.0039, 0.0041)),
    "toes": (0.2166, (0.0001, 0.0002, 0.0001)),
}
SIDES = {"r": 1.0, "l": -1.0}


def muscles_of(walker: str) -> dict[str, ElementTree.Element]:
    """Return the muscles by name; one that is "like" another one takes its path."""
    own = {m.attrib["name"]: m for m in ROOT.iterfind(f"walker[@name='{walker}']/*")}
    found = {}
    for name, muscle in own.items():
        like = muscle.get("like")
        if like is None:
            found[name] = muscle
            continue
        base = muscles_of("w18")[like]
        found[name] = ElementTree.Element("muscle", base.attrib | muscle.attrib)
        found[name].extend(base)
    return found


@pytest.fixture(params=FILES)
def walker(request):
    return request.param, mujoco.MjModel.from_xml_path(str(FILES[request.param]))


def test_segments_have_the_published_masses_and_inertias(walker):
    _, model = walker
    seen = set()
    for body in range(1, model.nbody):
        segment = model.body(body).name.removesuffix("_r").removesuffix("_l")
        mass, (ix, iy, iz) = SEGMENTS[segment]
        assert model.body_mass[body] == pytest.approx(mass, rel=1e-5)
        inertia = np.sort(model.body_inertia[body])
        np.testing.assert_allclose(inertia, np.sort([ix, iy, iz]), rtol=1e-5)
        seen.add(segment)
    assert seen == SEGMENTS.keys()


def test_muscles_have_the_published_forces_and_lengths(walker):
    name, model = walker
    muscles = muscles_of(name)
    assert 2 * len(muscles) == model.nu
    for muscle, given in muscles.items():
        force, fiber, tendon, pennation = (
            float(given.attrib[key])
            for key in ("force", "fiber", "tendon", "pennation")
        )
        for side in SIDES:
            index = model.actuator(f"{muscle}_{side}").id
            along = math.cos(pennation)
            assert model.actuator_gainprm[index, 2] == pytest.approx(
                force * along, 1e-5
            )
            # Tendons do not stretch, and are 2 % longer than their slack length.
            low = 1.02 * tendon
            lengths = model.actuator_lengthrange[index]
            np.testing.assert_allclose(lengths, (low, low + fiber * along), rtol=1e-5)


def test_paths_have_the_published_points(walker):
    name, model = walker
    for muscle, given in muscles_of(name).items():
        for side, sign in SIDES.items():
            tendon = model.tendon(f"{muscle}_{side}").id
            start, count = model.tendon_adr[tendon], model.tendon_num[tendon]
            wraps = range(start, start + count)
            assert count == len(given)
            for wrap, part in zip(wraps, given, strict=True):
                element = int(model.wrap_objid[wrap])
                if part.tag == "wrap":
                    geom = model.geom(element).name
                    assert geom == f"{part.attrib['joint']}_wrap_{side}"
                    continue
                x, y, z = map(float, part.attrib["pos"].split())
                body = model.body(int(model.site_bodyid[element])).name
                assert body in (
                    part.attrib["segment"],
                    f"{part.attrib['segment']}_{side}",
                )
                pos = (x, -sign * z, y)
                np.testing.assert_allclose(model.site_pos[element], pos, atol=1e-6)
