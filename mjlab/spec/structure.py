"""Edits of how bodies are compiled."""

import mujoco

from mjlab.spec.edit import Patterns, match_elements


def body_as_unsimple(spec: mujoco.MjSpec, body_names: Patterns = ".*") -> None:
    """Keep the compiler from treating these bodies as simple ones.

    MuJoCo takes the inertia of a simple body (alone on its joints, its frame at the
    centre of mass) as diagonal for ever. A body whose centre of mass or inertia varies
    between worlds must not be compiled so.
    """
    bodies = [body for body in spec.bodies if body.name != "world"]
    for body in match_elements(bodies, body_names, what="body", spec=spec):
        body.simple = False
