"""Contacts of a world as arrows: where they are, and how hard they push."""

import mujoco
import numpy as np

from mjlab.render.overlays import Color, Marks

CONTACT_COLOR: Color = (0.95, 0.6, 0.1, 1.0)
"""Colour of contacts."""


def add_contacts(
    marks: Marks,
    world: int,
    model: mujoco.MjModel,
    data: mujoco.MjData,
    *,
    metres_per_weight: float = 0.3,
) -> None:
    """Draw the contacts of a world.

    Args:
        marks: Where to draw them.
        world: The world that `data` is of.
        model: Its model.
        data: Its state after `mj_forward`, so that forces are there.
        metres_per_weight: Length of an arrow that carries everything that moves, m.
    """
    weight = float(model.body_mass.sum() * np.linalg.norm(model.opt.gravity))
    scale = metres_per_weight / weight if weight > 0.0 else 0.0
    wrench = np.zeros(6)
    for index in range(data.ncon):
        contact = data.contact[index]
        if contact.efc_address < 0:
            continue  # Near, but without force.
        mujoco.mj_contactForce(model, data, index, wrench)
        # Rows of the contact's frame are its axes; the force is on the second geom.
        force = contact.frame.reshape(3, 3).T @ wrench[:3]
        tip = contact.pos + scale * force
        marks.add_sphere(world, contact.pos, 0.012, color=CONTACT_COLOR)
        marks.add_arrow(world, contact.pos, tip, color=CONTACT_COLOR, width=0.008)
