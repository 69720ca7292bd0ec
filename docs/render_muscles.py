"""Make docs/images/muscle_w18.png: `python docs/render_muscles.py`.

W18 in a stride, with optimal muscle activations; the colour of a muscle shows its
activation, from blue over sand to red. Without a display, set MUJOCO_GL=egl or
MUJOCO_GL=osmesa.
"""

from __future__ import annotations

from types import SimpleNamespace

import mujoco
import numpy as np
import torch
from PIL import Image
from render_robots import HEIGHT, IMAGES, WIDTH, studio

from mjlab.muscle import BoxQp, MuscleMap, MuscleState
from mjlab.render.canvas import activation_color
from mjlab.tasks.muscle.models import W18_XML

# A stride: the right leg pushes off, the left one swings through.
POSE = {
    "root_pitch": -0.05,
    "hip_r": -0.28,
    "knee_r": -0.32,
    "ankle_r": 0.02,
    "hip_l": 0.62,
    "knee_l": -0.85,
    "ankle_l": 0.1,
}
TORQUES = {
    "hip_r": -60.0,
    "knee_r": 55.0,
    "ankle_r": -130.0,
    "hip_l": 45.0,
    "knee_l": -12.0,
    "ankle_l": 14.0,
}
"""Joint torques in this moment of a stride, in N m."""


def activations(model: mujoco.MjModel, data: mujoco.MjData) -> np.ndarray:
    """Return the activations that produce `TORQUES` with minimum effort."""
    muscles = MuscleMap.from_model(model)
    state = MuscleState(muscles, 1, dtype=torch.float64)
    names = ("ten_J", "actuator_length", "actuator_velocity")
    fields = {name: torch.tensor(getattr(data, name))[None] for name in names}
    names = ("gainprm", "biasprm", "lengthrange", "acc0")
    fixed = {
        f"actuator_{name}": torch.tensor(getattr(model, f"actuator_{name}"))[None]
        for name in names
    }
    state.update(SimpleNamespace(**fields), SimpleNamespace(**fixed))
    wanted = torch.tensor([[TORQUES[joint] for joint in muscles.joint_names]])
    torque = wanted.double() - state.passive_torque
    return BoxQp(state.torque_map).solve(state.red, torque, iterations=500)[0].numpy()


def main() -> None:
    """Write the picture."""
    model = studio(W18_XML).compile()
    data = mujoco.MjData(model)
    for joint, angle in POSE.items():
        data.joint(joint).qpos[0] = angle
    mujoco.mj_forward(model, data)
    # The lower sole touches the ground.
    soles = [g for g in range(model.ngeom) if model.geom_group[g] == 3]
    lowest = min(data.geom_xpos[g, 2] - model.geom_size[g, 0] for g in soles)
    data.joint("root_z").qpos[0] -= lowest
    mujoco.mj_forward(model, data)
    for tendon, activation in enumerate(activations(model, data)):
        model.tendon_rgba[tendon, :3] = activation_color(float(activation))
        model.tendon_width[tendon] = 0.012 + 0.012 * np.sqrt(activation)
    camera = mujoco.MjvCamera()
    camera.lookat[:] = (0.0, 0.0, 0.86)
    camera.distance, camera.azimuth, camera.elevation = 2.55, 118.0, -7.0
    options = mujoco.MjvOption()
    options.sitegroup[:] = 0
    with mujoco.Renderer(model, 2 * HEIGHT, 2 * WIDTH) as renderer:
        renderer.update_scene(data, camera, options)
        pixels = renderer.render()
    blocks = pixels.reshape(HEIGHT, 2, WIDTH, 2, 3)
    image = Image.fromarray(blocks.mean((1, 3)).round().astype(np.uint8))
    path = IMAGES / "muscle_w18.png"
    image.quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)
    print(f"{path} {path.stat().st_size // 1024} kB")


if __name__ == "__main__":
    main()
