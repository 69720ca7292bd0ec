"""Comparison of our classes with those of mjlab 1.6, for tests and pages."""

import dataclasses
import inspect
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from mjlab.managers import IndexedCommandTerm
from mjlab.settings.counterparts import Replacement
from mjlab.settings.mjlab_1_6 import DEFAULTS, LEFT_OUT, MEANINGS, MJLAB
from tests.tools import mjlab_peer
from tests.tools.dotted_names import found

STORED = Path(__file__).parents[1] / "house" / "data" / "mjlab_1_6.json"
"""Fields and members of the classes of mjlab 1.6.0."""

NOT_COMPARED = {
    "DcMotorDatasheetParams": "its fields are those of DcMotorActuatorCfg",
    "DcMotorPhysicalParams": "its fields are those of DcMotorActuatorCfg",
}
"""Configurations that are not compared, with the reason."""


def names() -> list[str]:
    """Return the names of mjlab's classes on its reference pages."""
    packages = {**MJLAB.packages, **MJLAB.task_packages}
    listed = {name for package in packages.values() for name in package.names.split()}
    return sorted(name for name in listed if name[0].isupper())


@cache
def stored() -> dict[str, dict[str, str]]:
    return json.loads(STORED.read_text())


def counterpart(name: str) -> Any:
    """Return our class for one of theirs, None if there is none."""
    for package, their in MJLAB.all_packages().items():
        if name in their.names.split():
            row = MJLAB.row(package, name)
            return found(row.ours) if row is not None and row.ours else None
    return None


def compared() -> dict[str, type]:
    """Return our configurations by the name of theirs.

    Kinds of terrain have other names here, and their own fields and defaults.
    """
    pairs = {}
    for name in names():
        ours = counterpart(name)
        is_kind = name.endswith("TerrainCfg") and name != "SubTerrainCfg"
        if not name.endswith("Cfg") and name != "ViewerConfig":
            continue
        if dataclasses.is_dataclass(ours) and not is_kind and name not in NOT_COMPARED:
            assert isinstance(ours, type)
            pairs[name] = ours
    return pairs


def of_bases(ours: type, table: dict[str, dict[str, Any]], field: str) -> Any:
    """Return the table row of a field, including rows of base classes."""
    rows = (table.get(base.__name__, {}).get(field) for base in ours.__mro__)
    return next((row for row in rows if row is not None), None)


def translated(theirs: str) -> str:
    """Return a default with our names of mjlab's classes."""
    for name, _, rest in [theirs.partition("(")]:
        ours = counterpart(name) if rest else None
        if ours is not None:
            return f"{ours.__name__}({rest}"
    return theirs


@dataclasses.dataclass
class Fields:
    """Fields of a configuration compared with those of mjlab's class."""

    theirs: str
    """Name of mjlab's class."""

    ours: type
    """Our class."""

    same: list[str]
    """Fields with the same name, default and meaning."""

    more: list[str]
    """Fields that mjlab's class does not have."""

    differs: dict[str, str]
    """Difference and reason by field of mjlab's class; an empty text has no row."""

    def without_reason(self) -> list[str]:
        """Return the fields that differ without a row."""
        return [field for field, reason in self.differs.items() if not reason]


def compare_fields(name: str) -> Fields:
    """Compare the fields of one of mjlab's classes.

    A field that is required there can have any default here.
    """
    ours = compared()[name]
    own, theirs = mjlab_peer.fields_of(ours), stored()[name]
    result = Fields(name, ours, [], [each for each in own if each not in theirs], {})
    for field, default in theirs.items():
        is_free = default == mjlab_peer.REQUIRED
        if field not in own:
            row = MJLAB.field([base.__name__ for base in ours.__mro__], field)
            is_known = row is not None and (not row.ours or row.ours in own)
            result.differs[field] = row.text() if row and is_known else ""
        elif not is_free and translated(default) != own[field]:
            other = of_bases(ours, DEFAULTS, field)
            is_known = other is not None and other.theirs == default
            said = f"`{default}`, here `{own[field]}`: {other.reason}" if other else ""
            result.differs[field] = said if is_known else ""
        elif meaning := of_bases(ours, MEANINGS, field):
            result.differs[field] = meaning
        else:
            result.same.append(field)
    return result


VARIABLES = {"ManagerBasedRlEnv": "env", "Scene": "env.scene", "Simulation": "sim"}
"""Owner in the keys of members, by class."""

USED = (
    "ManagerBasedRlEnv Entity EntityData Scene Simulation ActionManager ActionTerm "
    "CommandManager CommandTerm UniformVelocityCommand MotionCommand "
    "CurriculumManager EventManager MetricsManager ObservationManager RecorderManager "
    "RecorderTerm RewardManager TerminationManager Sensor ContactSensor ContactData "
    "RayCastSensor RayCastData TerrainHeightSensor CameraSensor CameraSensorData "
    "BuiltinSensor"
).split()
"""Classes of mjlab whose members terms and scripts use."""


@dataclasses.dataclass
class Members:
    """Public members of one of mjlab's classes, compared with ours."""

    theirs: str
    """Name of mjlab's class."""

    ours: type
    """Our class."""

    same: list[str]
    """Members with the same name, and methods whose arguments have the same order."""

    replaced: dict[str, str]
    """Row of `port` by member."""

    left_out: dict[str, str]
    """Reason by other member; an empty text has none."""

    def without_reason(self) -> list[str]:
        """Return the members that are left out without a reason."""
        return [member for member, reason in self.left_out.items() if not reason]


def compare_members(name: str) -> Members:
    """Compare the members of one of mjlab's classes.

    Further optional arguments here, and `mask` instead of `env_ids`, are the same.
    """
    ours = IndexedCommandTerm if name == "CommandTerm" else counterpart(name)
    own, result = members_of(ours), Members(name, ours, [], {}, {})
    for member, signature in stored()[name].items():
        row = _member_row(name, member)
        if row is not None:
            result.replaced[member] = row.text()
        elif member in own and has_arguments(ours, member, signature):
            result.same.append(member)
        else:
            any_class = LEFT_OUT.get(f"*.{member}", "")
            result.left_out[member] = LEFT_OUT.get(f"{name}.{member}", any_class)
    return result


def _member_row(name: str, member: str) -> Replacement | None:
    """Return the row of a member; an owner in a key can be the name of a variable."""
    keys = (f"{name}.{member}", member, f"{VARIABLES.get(name, '')}.{member}")
    return next((MJLAB.members[key] for key in keys if key in MJLAB.members), None)


def has_arguments(ours: type, member: str, signature: str) -> bool:
    """Return whether mjlab's positional arguments mean the same here."""
    value = inspect.getattr_static(ours, member, None)
    if isinstance(value, staticmethod | classmethod):
        value = value.__func__
    if not signature or not inspect.isfunction(value):
        return True
    theirs = re.findall(r"[(,] ?\*?(\w+)", signature.replace("env_ids", "mask"))
    own = inspect.signature(value).parameters
    more = [p for p in list(own.values())[len(theirs) :] if p.default is p.empty]
    names = [name.replace("env_ids", "mask") for name in own]
    return names[: len(theirs)] == theirs and not more


def members_of(value: Any) -> set[str]:
    """Return names of members of a class, and of attributes that its code sets."""
    if not inspect.isclass(value) or not value.__module__.startswith("mjlab"):
        return set()
    fields = getattr(value, "__dataclass_fields__", {})
    bases = [base for base in value.__mro__ if base.__module__.startswith("mjlab")]
    code = "".join(map(inspect.getsource, bases))
    return {*dir(value), *fields, *re.findall(r"self\.([a-z]\w*)", code)}
