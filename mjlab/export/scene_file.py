"""Pack a scene into the zip file of a policy's metadata."""

import tempfile
from pathlib import Path

import mujoco

from mjlab.spec import write_spec

_ONE_INPUT = frozenset(
    int(kind)
    for kind in (
        mujoco.mjtCtrlInput.mjINPUT_POS,
        mujoco.mjtCtrlInput.mjINPUT_VEL,
        mujoco.mjtCtrlInput.mjINPUT_PRESSURE,
    )
)


def packed_scene(spec: mujoco.MjSpec) -> bytes:
    """Return a zip file with the scene and its meshes, without textures.

    Actuators with one input lose `ctrlspec`, which does not affect physics: MuJoCo
    before 4.0, and its WebAssembly build, cannot load models that set it.

    Args:
        spec: Not modified.
    """
    spec = spec.copy()
    for actuator in spec.actuators:
        if int(actuator.ctrlspec) in _ONE_INPUT:
            actuator.ctrlspec = 0
    for material in spec.materials:
        material.textures = [""] * len(material.textures)
    for texture in list(spec.textures):
        spec.delete(texture)
    spec.compile()
    with tempfile.TemporaryDirectory(prefix="mjlab-scene-") as folder:
        return write_spec(spec, Path(folder) / "scene.zip", zip=True).read_bytes()
