"""Names for the elements of a spec that have none."""

import mujoco

_KINDS = {
    "body": "bodies",
    "joint": "joints",
    "geom": "geoms",
    "site": "sites",
    "camera": "cameras",
    "light": "lights",
    "tendon": "tendons",
    "actuator": "actuators",
    "sensor": "sensors",
}


def name_elements(spec: mujoco.MjSpec, *, leave: tuple[str, ...] = ()) -> None:
    """Name what has no name "<kind>_<number>", in place.

    An entity is found again in the compiled scene by the names of its elements.

    Args:
        spec: The entity.
        leave: Kinds that are left as they are.
    """
    for kind, attribute in _KINDS.items():
        if kind in leave:
            continue
        elements = getattr(spec, attribute)
        taken = {element.name for element in elements}
        for number, element in enumerate(elements):
            if element.name:
                continue
            name = f"{kind}_{number}"
            while name in taken:
                name += "_"
            element.name = name
            taken.add(name)
