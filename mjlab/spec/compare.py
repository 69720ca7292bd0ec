"""Compare a separately compiled model with its copy in a scene.

All fields of `MjModel` that belong to a named element are compared. Attaching renumbers
elements, so ids are compared by the elements they refer to; fields that only index the
complete model are ignored.
"""

import math
from collections.abc import Iterator
from functools import cache

import mujoco
import numpy as np

from mjlab.spec.elements import KINDS, names_of, places_of, rows_of_runs

_RUNS = {
    "dof_": ("body_dofadr", "body_dofnum"),
    "wrap_": ("tendon_adr", "tendon_num"),
    "numeric_data": ("numeric_adr", "numeric_size"),
    "text_data": ("text_adr", "text_size"),
    "tuple_obj": ("tuple_adr", "tuple_size"),
    "actuator_ctrl": ("actuator_ctrladr", "actuator_ctrlnum"),
    "actuator_gear": ("actuator_outadr", "actuator_outnum"),
    "actuator_acc0": ("actuator_outadr", "actuator_outnum"),
    "actuator_length": ("actuator_outadr", "actuator_outnum"),
    "mesh_vert": ("mesh_vertadr", "mesh_vertnum"),
    "mesh_normal": ("mesh_normaladr", "mesh_normalnum"),
    "mesh_face": ("mesh_faceadr", "mesh_facenum"),
    "flex_vert": ("flex_vertadr", "flex_vertnum"),
}
"""For fields with several rows per element, by prefix of the field name: names of the
fields that contain an element's first row and its number of rows."""

_BLOCKS = {"tex": ("height", "width", "nchannel"), "hfield": ("nrow", "ncol")}
"""Fields whose product is the size of an element's block in `tex_data` or
`hfield_data`."""

_REFERS = {
    **dict.fromkeys(("bodyid", "body_parentid", "rootid", "weldid"), ("body",)),
    **dict.fromkeys(("objid", "obj1id", "obj2id", "refid", "trnid"), tuple(KINDS)),
    **dict.fromkeys(("geom1", "geom2"), ("geom",)),
    **{"dof_parentid": ("dof",), "jntid": ("jnt",), "matid": ("mat",)},
    **{"texid": ("tex",), "actuatorid": ("actuator",), "dataid": ("mesh", "hfield")},
}
"""Kinds of elements that a field can refer to, by suffix of its name."""
_NUMBERS = tuple(_REFERS)

# Ignored: addresses and trees of the complete model, compiler optimisations, bounding
# volumes, and values that depend on the scene's `visual`. Cameras and lights of the
# file's world body store their offset from the centre of mass of the complete scene
# (`poscom0`). Contact filters are compared by the geom pairs that can collide
# (`_touching`).
_LEFT_OUT = tuple(
    "adr treeid treenum simple simplenum sameframe signature mocapid plugin bvhnum "
    "octnum rownnz colind cam_intrinsic poscom0".split()
)
_PICTURES = ("mat", "tex")
_RELATIVE, _ABSOLUTE = 1e-9, 1e-12


class AttachedModel:
    """Separately compiled model, with the ids of its elements in a scene."""

    def __init__(
        self, file: mujoco.MjModel, scene: mujoco.MjModel, prefix: str, base: str
    ) -> None:
        """Look up the elements of a file in a scene.

        Args:
            file: The separately compiled model.
            scene: The compiled scene.
            prefix: Prefix of the model's names in the scene.
            base: Name of the body that represents the file's world body, if any.
        """
        self.file, self.scene, self.prefix, self.base = file, scene, prefix, base
        self.names = {kind: names_of(file, kind) for kind in KINDS}
        self.places = {kind: places_of(scene, kind, prefix) for kind in KINDS}
        self.rows = {
            kind: np.array([self.places[kind].get(name, -1) for name in names], int)
            for kind, names in self.names.items()
        }
        """Row in the scene of each element of the file, by kind; -1 if missing."""
        self.places["body"]["world"] = self.places["body"].get(base, 0)
        self.rows["body"][0] = self.places["body"]["world"]
        self.found = {
            kind: np.flatnonzero(rows >= 0) for kind, rows in self.rows.items()
        }
        """Ids of the file's elements that the scene has, by kind; not the world
        body."""
        self.found["body"] = self.found["body"][1:]
        self.rows["dof"] = np.full(file.nv, -1)
        dofs, there, _ = self.runs("body_dofadr", "body_dofnum")
        self.rows["dof"][dofs] = there
        self.runs = cache(self.runs)

    def differences(self) -> Iterator[str]:
        """Yield the differences between scene and file."""
        for kind, names in self.names.items():
            lost = [name for name in names if name and name not in self.places[kind]]
            yield from (f"the {_word(kind)} {name!r} is missing" for name in lost)
            # Contact pairs are compared by the geom pairs that can collide.
            if kind == "pair" or not self.prefix:
                continue
            new = self.places[kind].keys() - {*names, self.base}
            yield from (f"the {_word(kind)} {name!r} is new" for name in sorted(new))
        for (adr, num), fields in _fields().items():
            kind = adr.split("_")[0]
            own = self.found[kind]
            rows = self.runs(adr, num) if num else (own, self.rows[kind][own], own)
            here, there = _block(rows[0]), _block(rows[1])
            for field in fields if rows[0].size else ():
                a, b = _array(self.file, field), _array(self.scene, field)
                if not num and len(a) != len(self.names[kind]):
                    continue  # Edges and other derived elements are not compared.
                a, b = a[here], b[there]
                if field.endswith(_NUMBERS) or a.tobytes() != b.tobytes():
                    yield from self._differing(kind, field, a, b, rows[2])
        yield from self._differing_blocks()
        yield from self._differing_contacts()

    def runs(self, adr: str, num: str) -> tuple[np.ndarray, ...]:
        """Return rows in the file, rows in the scene, and each row's element id."""
        kind = adr.split("_")[0]
        own = self.found[kind]
        counts = getattr(self.file, num)[own]
        same = counts == getattr(self.scene, num)[self.rows[kind][own]]
        own, counts = own[same], np.maximum(counts[same], 0)
        new = self.rows[kind][own]
        here = rows_of_runs(getattr(self.file, adr)[own], counts)
        there = rows_of_runs(getattr(self.scene, adr)[new], counts)
        return here, there, np.repeat(own, counts)

    def state(self) -> dict[str, tuple[np.ndarray, ...]]:
        """Return, for each state vector, indices in the file and in the scene."""
        own = self.found["jnt"]
        widths = np.array([7, 4, 1, 1])[self.file.jnt_type[own]]
        new = self.rows["jnt"][own]
        here = rows_of_runs(self.file.jnt_qposadr[own], widths)
        return {
            "qpos": (here, rows_of_runs(self.scene.jnt_qposadr[new], widths)),
            "qvel": (np.arange(self.file.nv), self.rows["dof"]),
            "act": self.runs("actuator_actadr", "actuator_actnum")[:2],
            "ctrl": self.runs("actuator_ctrladr", "actuator_ctrlnum")[:2],
        }

    def _differing(
        self, kind: str, field: str, a: np.ndarray, b: np.ndarray, owners: np.ndarray
    ) -> Iterator[str]:
        a = a.reshape(len(a), -1)
        b = b.reshape(len(b), -1)[:, : a.shape[1]]
        wrong = np.flatnonzero(self._unequal(field, a, b).any(axis=1))
        for row in wrong[:1]:
            more = f" ({len(wrong) - 1} more differ)" if len(wrong) > 1 else ""
            name = self.names[kind][owners[row]]
            yield f"{field} of {name!r} is {b[row]} instead of {a[row]}{more}"

    def _unequal(self, field: str, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        refers = _reference(field)
        if not refers:
            wrong = a != b
            if a.dtype.kind != "f" or not wrong.any():
                return wrong
            return ~np.isclose(b, a, _RELATIVE, _ABSOLUTE, equal_nan=True)
        equal = (a < 0) & (a == b)
        for rows in (self.rows[kind] for kind in refers if len(self.rows[kind])):
            known = (a >= 0) & (a < len(rows))
            found = rows[np.where(known, a, 0)]
            # Textures without a name cannot be matched.
            equal |= known & ((found == b) | ((found < 0) & (refers[0] in _PICTURES)))
        if field in ("body_weldid", "body_rootid"):
            # In the scene, the mocap body of a fixed base is its own root and is not
            # welded to the world, unlike the world body of the file.
            equal |= self.scene.body_mocapid[b] >= 0
        return ~equal

    def _differing_blocks(self) -> Iterator[str]:
        for kind in _BLOCKS:
            for row in self.found[kind].tolist():
                here = _data(self.file, kind, row)
                if here != _data(self.scene, kind, self.rows[kind][row]):
                    yield f"{kind}_data of {self.names[kind][row]!r} differs"

    def _differing_contacts(self) -> Iterator[str]:
        own = self.found["geom"]
        alone = _touching(self.file, own)
        wrong = np.argwhere(
            np.triu(alone != _touching(self.scene, self.rows["geom"][own]))
        )
        for can, which in (("can", ~alone), ("cannot", alone)):
            pairs = [(one, two) for one, two in wrong if which[one, two]]
            names = self.names["geom"]
            listed = [f"{names[own[i]]!r}-{names[own[j]]!r}" for i, j in pairs[:4]]
            more = f" and {len(pairs) - 4} more" if len(pairs) > 4 else ""
            if pairs:
                yield f"the geom pairs {', '.join(listed)}{more} {can} collide"


def _touching(model: mujoco.MjModel, geoms: np.ndarray) -> np.ndarray:
    """Return the mask of geom pairs that can collide, shape (geoms, geoms).

    Applies the filters of `mj_collision` (4.0.0), and explicit pairs.
    """
    body = model.geom_bodyid[geoms]
    types, affinities = model.geom_contype[geoms], model.geom_conaffinity[geoms]
    weld = model.body_weldid[body]
    above = model.body_weldid[model.body_parentid[weld]]
    still = model.body_treeid[body] < 0
    meets = (types[:, None] & affinities) != 0
    inside = (weld[:, None] == above) & (weld != 0) & (weld != 0)[:, None]
    low, high = np.minimum.outer(body, body), np.maximum.outer(body, body)
    apart = np.isin((low << 16) + high, model.exclude_signature)
    allowed = (meets | meets.T) & ~(inside | inside.T) & ~apart
    allowed &= (weld[:, None] != weld) & ~(still & still[:, None])
    place = np.full(model.ngeom + 1, -1)
    place[geoms] = np.arange(len(geoms))
    one, two = place[model.pair_geom1], place[model.pair_geom2]
    named = (one >= 0) & (two >= 0)
    allowed[one[named], two[named]] = allowed[two[named], one[named]] = True
    return allowed


@cache
def _reference(field: str) -> tuple[str, ...]:
    """Return the kinds of elements that a field can refer to."""
    return next((kinds for end, kinds in _REFERS.items() if field.endswith(end)), ())


def _block(rows: np.ndarray) -> np.ndarray | slice:
    """Return contiguous rows as a slice, which needs no copy."""
    if rows.size and np.array_equal(rows, np.arange(rows[0], rows[0] + rows.size)):
        return slice(int(rows[0]), int(rows[-1]) + 1)
    return rows


@cache
def _fields() -> dict[tuple[str, str], list[str]]:
    """Return the compared arrays of MjModel, by the fields that define their rows."""
    plain = mujoco.MjModel.from_xml_string("<mujoco/>")
    found: dict[tuple[str, str], list[str]] = {}
    for name in dir(plain):
        kind = name.split("_")[0]
        several = [run for start, run in _RUNS.items() if name.startswith(start)]
        if name.endswith(_LEFT_OUT) or not isinstance(
            getattr(plain, name), np.ndarray | bytes
        ):
            continue
        if several and not name.endswith("num"):
            found.setdefault(several[0], []).append(name)
        elif kind in KINDS:
            found.setdefault((kind, ""), []).append(name)
    return found


def _data(model: mujoco.MjModel, kind: str, row: int) -> bytes:
    """Return the bytes of an element's data block."""
    start = getattr(model, f"{kind}_adr")[row]
    sizes = [int(getattr(model, f"{kind}_{size}")[row]) for size in _BLOCKS[kind]]
    return getattr(model, f"{kind}_data")[start : start + math.prod(sizes)].tobytes()


def _array(model: mujoco.MjModel, field: str) -> np.ndarray:
    value = getattr(model, field)
    return np.frombuffer(value, np.uint8) if isinstance(value, bytes) else value


def _word(kind: str) -> str:
    return KINDS[kind].name.removeprefix("mjOBJ_").lower()
