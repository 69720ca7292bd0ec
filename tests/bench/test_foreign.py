"""Gait measures of foreign policies, compared with an independent measurement.

The reference figures are in the gait table of `../shared/research/exam.md`, made by
another program. Table and policies are in a folder that only some developers have.
"""

import tarfile
from pathlib import Path
from typing import Any

import pytest

from mjlab.gait.commands import COMMANDS, Figures
from tests.worlds.published import ARCHIVE

PACK = ARCHIVE.with_name("policies.tar.xz")

pytestmark = pytest.mark.skipif(
    not PACK.is_file(), reason=f"only some developers have {PACK.name}"
)

TABLE: dict[str, Any] = {
    "rl_mjlab/policy": (3.2, 29, 10.5, 10, 0, 4.5, 1.8, 1.6, 0.35, (6, 2, 9), 0.40),
    "rl_lab/policy": (3.4, 26, 6.0, 21, 0, 4.5, 2.0, 1.6, 0.49, (7, 0, 2), 0.44),
    "holosoma/fastsac_g1_29dof": (
        *(2.0, 36, 8.6, 15, 0, 3.4, 0.9, 2.2, 0.91, (2, 1, 2), 0.35),
    ),
    "holosoma/ppo_g1_29dof": (
        *(2.0, 27, 8.0, 10, 0, 2.0, 0.8, 2.5, 0.98, (7, 1, 25), 0.35),
    ),
    "playground/g1_policy": (
        *(3.0, 29, 6.9, 20, 0, 6.2, 3.0, 1.9, 1.17, (9, 21, 2), 0.57),
    ),
}
"""Steps/s, length cm, clearance cm, double support %, flight %, slip cm per step,
vibration, peak body weights, touchdown m/s, asymmetry % of clearance, swing and length,
cost of transport, at a command of 1 m/s forward.
"""

SPEEDS = (1.05, 0.97, 0.73, 0.57, 0.94)
"""Speed reached, m/s."""


@pytest.fixture(scope="module")
def pack(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The unpacked archive."""
    folder = tmp_path_factory.mktemp("foreign")
    with tarfile.open(PACK) as archive:
        archive.extractall(folder, filter="data")
    return folder / "policies"


def measured(pack: Path, policy: str, command: str, robots: int) -> Figures:
    """Return the measures of a policy under one command."""
    pytest.importorskip("onnxruntime")
    from bench.foreign import gait_of_foreign

    commands = {command: COMMANDS[command]}
    path = pack / f"{policy}.json"
    about, worlds = gait_of_foreign(path, robots=robots, seed=0, commands=commands)
    assert about["robot"].startswith("Unitree")
    return worlds["quiet"][command]


@pytest.mark.parametrize(
    ("policy", "speed"), list(zip(TABLE, SPEEDS, strict=True)), ids=list(TABLE)
)
def test_a_foreign_g1_has_the_gait_of_the_table(
    pack: Path, policy: str, speed: float
) -> None:
    """Within 10%, 2 percentage points and 1 cm."""
    found = measured(pack, policy, "forward 1.0", robots=2)
    rate, length, clearance, double, flight, slip, *rest = TABLE[policy]
    vibration, peak, touchdown, asymmetry, cost = rest
    assert found["falls"] == 0
    assert found["steps_per_s"] == pytest.approx(rate, rel=0.1)
    assert found["step_length"] == pytest.approx(length / 100, abs=0.01)
    assert found["clearance"] == pytest.approx(clearance / 100, abs=0.01)
    assert found["double_support"] == pytest.approx(double / 100, abs=0.02)
    assert found["flight"] == pytest.approx(flight / 100, abs=0.02)
    assert found["slip"] == pytest.approx(slip / 100, abs=0.01)
    assert found["vibration"] == pytest.approx(vibration, rel=0.1)
    assert found["impact"] == pytest.approx(peak, rel=0.1)
    assert found["touchdown_speed"] == pytest.approx(touchdown, rel=0.1)
    for name, percent in zip(("clearance", "swing", "length"), asymmetry, strict=True):
        part = found[f"asymmetry_{name}"]
        assert part == pytest.approx(percent / 100, abs=0.02), name
    assert found["cost_of_transport"] == pytest.approx(cost, rel=0.1)
    assert found["speed"] == pytest.approx(speed, rel=0.1)


def test_a_foreign_policy_that_ignores_small_commands_is_found(pack: Path) -> None:
    """At a command of 0.3 m/s to the left, it does not move."""
    found = measured(pack, "rl_mjlab/policy", "left 0.3", robots=1)
    assert found["linear_error"] == pytest.approx(0.3, abs=0.02)


def test_a_foreign_quadruped_walks_its_own_model_on_the_spheres_of_its_feet(
    pack: Path,
) -> None:
    found = measured(pack, "playground/go1_policy", "forward 0.5", robots=1)
    assert found["feet"] == 4
    # It trots; ORIGIN.md has its speed.
    assert found["phases"] == pytest.approx([0.0, 0.5, 0.5, 0.0], abs=0.06)
    assert found["speed"] == pytest.approx(0.51, rel=0.1)
    assert 0.01 < float(str(found["clearance"])) < 0.1


def test_policy_pack_without_its_driver_is_refused_with_advice(tmp_path: Path) -> None:
    from bench.foreign import gait_of_foreign

    (tmp_path / "mine").mkdir()
    facts = tmp_path / "mine" / "policy.json"
    facts.write_text("{}")
    with pytest.raises(FileNotFoundError, match="unpack the complete archive"):
        gait_of_foreign(facts, robots=1, seed=0)
