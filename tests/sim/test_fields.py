"""Every model field that can differ between worlds, on both engines, against MuJoCo C.

A field is written in one world of a model that has one of everything
(tests/sim/every_element.xml). That world must then take the step that MuJoCo C takes
with the field changed in its MjModel, and no bit of another world may change.
"""

import copy
import dataclasses
import functools
from collections.abc import Collection, Iterable
from dataclasses import dataclass

import mujoco
import mujoco_warp as mjw
import numpy as np
import pytest
import torch
from mujoco import batch as mj_batch

from mjlab.envs.runner import StaleStateCheck
from mjlab.sim import Simulation, Stage
from mjlab.sim.config import BackendName
from mjlab.sim.fields import STAGE_OF, STATE_FIELDS
from tests.sim.every_element import compile_every_element, make_cfg, start_state
from tests.sim.field_values import field_of, other_value, set_field

ENGINES: tuple[BackendName, ...] = ("native", "warp")
SIZES = (1, 4, 16)
INPUTS = frozenset(mujoco.MjModel._setconst_inputs)
OUTPUTS = frozenset(mujoco.MjModel._setconst_outputs)


def fields_of_both_engines() -> tuple[str, ...]:
    """Fields that `mujoco.batch` can expand and MuJoCo Warp indexes by world."""
    by_world = {
        prefix + field.name
        for prefix, cls in (("", mjw.Model), ("opt.", mjw.Option))
        for field in dataclasses.fields(cls)
        if getattr(field.type, "shape", ())[:1] == ("*",)
    }
    return tuple(sorted(by_world & mj_batch.MODEL_FIELDS))


FIELDS = fields_of_both_engines()

NOT_VARIED = {
    "actuator_historyadr": "where in the state a history lies: structure",
    "sensor_historyadr": "where in the state a history lies: structure",
}
"""Fields that are never written, with the reason."""

_SILENT = {
    "drawing only": """
        geom_matid geom_rgba mat_emission mat_rgba mat_shininess mat_specular mat_texid
        mat_texrepeat mat_texuniform light_active light_ambient light_attenuation
        light_castshadow light_cutoff light_diffuse light_exponent light_specular
        light_type
    """,
    "bounds for finding candidate contacts: larger ones find the same": """
        geom_aabb geom_rbound
    """,
    "when to stop iterating: the result is the same": """
        opt.ccd_tolerance opt.ls_tolerance opt.noslip_tolerance opt.tolerance
    """,
    "used only with sleep": "opt.sleep_tolerance",
}
SILENT = {name: why for why, names in _SILENT.items() for name in names.split()}
"""Fields without effect in MuJoCo C's step, with the reason."""


@dataclass(frozen=True)
class Disagreement:
    """Geoms or bodies for which MuJoCo Warp differs from MuJoCo C (4.0.0)."""

    elements: tuple[str, ...]
    reason: str


DISAGREEMENTS = {
    "body_subtreemass": Disagreement(
        ("rail", "upper", "lower"),
        "velocities of subtrees come out otherwise where it is not the sum of masses",
    ),
    "geom_adhesion": Disagreement(
        ("rail", "crank", "motor", "rotor", "upper", "pulley", "can", "floor"),
        "Warp's passive force counts pairs that a distance sensor watches as contacts, "
        "and its touch sensor shows the force without the adhesion taken off",
    ),
    "geom_margin": Disagreement(
        ("hills", "ball"), "contacts with a height field come out otherwise"
    ),
    "geom_size": Disagreement(
        ("drone",), "the drag coefficients geom_fluid are one value for all worlds"
    ),
}
"""Fields on which the engines disagree. Entries that agree must be removed."""

STATE = ("time", "qpos", "qvel", "act", "history", "plastic")
SHOWN = (
    "xpos xmat geom_xpos geom_xmat site_xpos cam_xpos cam_xmat light_xpos light_xdir "
    "subtree_com ten_length actuator_length qfrc_passive sensordata"
).split()


# MuJoCo C.


@functools.cache
def model() -> mujoco.MjModel:
    return compile_every_element(FIELDS)


@functools.cache
def start(world: int) -> dict[str, np.ndarray]:
    """The initial state of `world`, exact in float32; worlds differ."""
    data = start_state(model())
    state = {name: np.array(getattr(data, name)) for name in STATE_FIELDS}
    state["qvel"] = (state["qvel"] + 0.002 * world).astype(np.float32).astype(float)
    return state


@dataclass(frozen=True)
class Reference:
    """Results of MuJoCo C for a model: its constants, and the step from `start`."""

    model: mujoco.MjModel
    values: dict[str, np.ndarray]


@functools.cache
def untouched(world: int) -> Reference:
    return step_c(model(), world)


@functools.cache
def changed(field: str, world: int, *, agreeing: bool = False) -> Reference:
    """Return the model with `field` changed, and its derived constants."""
    variant = copy.copy(model())
    set_field(variant, field, value_for(field, agreeing=agreeing))
    if field in INPUTS:
        mujoco.mj_setConst(variant, mujoco.MjData(variant))
    return step_c(variant, world)


def value_for(field: str, *, agreeing: bool) -> np.ndarray:
    """Return another value of `field`, optionally without engine disagreements."""
    value = other_value(model(), field)
    if agreeing and field in DISAGREEMENTS:
        find = model().geom if field.startswith("geom_") else model().body
        rows = [find(name).id for name in DISAGREEMENTS[field].elements]
        value[rows] = field_of(model(), field)[rows]
    return value


def step_c(variant: mujoco.MjModel, world: int) -> Reference:
    data = mujoco.MjData(variant)
    for name, value in start(world).items():
        if name == "time":
            data.time = value.item()
        else:
            getattr(data, name)[...] = value
    mujoco.mj_step(variant, data)
    assert not any(warning.number for warning in data.warning)
    values = {name: np.array(getattr(data, name)) for name in (*STATE, *SHOWN)}
    return Reference(variant, values)


def tolerance(name: str, want: np.ndarray, without: np.ndarray) -> np.ndarray:
    """Return 1e-4 plus 1% of the effect; large output-only values are scaled.

    Forces and accelerations come from the constraint solver, in float32 on Warp.
    """
    if name in STATE:
        return 1e-4 + 0.01 * abs(want - without)
    scale = np.full(want.shape, 1e-4)
    if name == "sensordata":
        late = model().sensor_needstage == mujoco.mjtStage.mjSTAGE_ACC
        scale[np.repeat(late, model().sensor_dim)] = 1e-3
    return scale * (1.0 + abs(want)) + 0.01 * abs(want - without)


def mismatches(
    got: dict[str, np.ndarray], want: Reference, without: Reference
) -> list[str]:
    """Return the names of wrong values, with the worst element."""
    found = []
    for name, value in want.values.items():
        if not value.size:
            continue
        allowed = tolerance(name, value, without.values[name])
        error = abs(got[name] - value)
        if not (error <= allowed).all():
            worst = np.unravel_index(np.nanargmax(error / allowed), error.shape)
            found.append(f"{name}{list(map(int, worst))} off by {error[worst]:.1e}")
    return found


# Engines.


def simulate(
    engine: BackendName, num_envs: int, compiled: mujoco.MjModel, vary: Collection[str]
) -> Simulation:
    sim = Simulation(compiled, num_envs, make_cfg(engine), device="cpu", vary=vary)
    # Warp raises the tolerance to 1e-6, with which its solver stops 1% short of some
    # friction forces.
    sim.model["opt.tolerance"].fill_(1e-9)
    return sim


def put_start(sim: Simulation, worlds: Iterable[int]) -> None:
    """Set each row of `sim` to the initial state of the world in `worlds`."""
    for row, world in enumerate(worlds):
        for name, value in start(world).items():
            getattr(sim.data, name)[row].copy_(torch.from_numpy(np.asarray(value)))


def values_of(sim: Simulation, row: int) -> dict[str, np.ndarray]:
    """One world of `sim`, in MuJoCo's shapes."""
    return {
        name: getattr(sim.data, name)[row].numpy().reshape(value.shape)
        for name, value in untouched(0).values.items()
    }


def write_field(sim: Simulation, field: str, row: int, value: np.ndarray) -> None:
    live = sim.model[field][row]
    live.copy_(torch.from_numpy(np.asarray(value)).reshape(live.shape))


class Bench:
    """A simulation with all fields, and its results without writes."""

    def __init__(self, engine: BackendName, num_envs: int) -> None:
        self.sim = simulate(engine, num_envs, model(), FIELDS)
        self.world = min(1, num_envs - 1)
        """The world that is written."""
        self.mask = torch.zeros(num_envs, dtype=torch.bool)
        self.mask[self.world] = True
        put_start(self.sim, range(num_envs))
        self.read_data()
        self._start = self.sim.snapshot()
        self.fields_before = self.read_fields()
        self.sim.step()
        self.data_before = self.read_data()

    def restart(self) -> None:
        """Return to the initial state, with stages from which a step can continue."""
        self.sim.restore(self._start)
        self.sim.forward(Stage.VELOCITY)

    def write(self, field: str, value: np.ndarray) -> None:
        """Write one world, and derive constants unless `field` is itself a constant."""
        write_field(self.sim, field, self.world, value)
        if field in INPUTS or field not in OUTPUTS:
            self.sim.recompute_constants(self.mask)

    def read_data(self) -> dict[str, torch.Tensor]:
        return {name: getattr(self.sim.data, name).clone() for name in STAGE_OF}

    def read_fields(self) -> dict[str, torch.Tensor]:
        return {name: self.sim.model[name].clone() for name in FIELDS}

    def leaks(self) -> list[str]:
        """Return differences of the other worlds from the run without a write."""
        others = ~self.mask
        pairs = {n: (self.data_before[n], now) for n, now in self.read_data().items()}
        for name, now in self.read_fields().items():
            pairs[f"model.{name}"] = (self.fields_before[name], now)
        return [
            f"{name} of another world"
            for name, (before, now) in pairs.items()
            if not same_bits(before[others], now[others])
        ]

    def wrong_constants(self, want: mujoco.MjModel) -> list[str]:
        """Return derived constants of the written world that differ from `want`."""
        names = OUTPUTS & self.sim.engine.variable_fields
        names = names & set(FIELDS) if self.sim.engine.name == "warp" else names
        found = []
        for name in sorted(names):
            got = self.sim.model[name][self.world]
            value = torch.from_numpy(field_of(want, name)).to(got.dtype).double()
            # The batch has the bounding volumes of bodies, which precede those of
            # meshes.
            value = value.flatten()[: got.numel()].reshape(got.shape)
            scale = value.abs().max() if value.numel() else 0.0
            allowed = 1e-5 * value.abs() + 1e-6 * scale
            if not ((got.double() - value).abs() <= allowed).all():
                found.append(f"constant {name}")
        return found


def same_bits(a: torch.Tensor, b: torch.Tensor) -> bool:
    return torch.equal(a.nan_to_num(), b.nan_to_num())


@functools.cache
def bench(engine: BackendName, num_envs: int) -> Bench:
    return Bench(engine, num_envs)


def problems_with(bench: Bench, field: str) -> list[str]:
    """Write `field` in one world, step, and compare all worlds."""
    agreeing = bench.sim.engine.name == "warp"
    want = changed(field, bench.world, agreeing=agreeing)
    bench.restart()
    bench.write(field, value_for(field, agreeing=agreeing))
    wrong = bench.wrong_constants(want.model) if field in INPUTS else []
    bench.sim.step()
    without = untouched(bench.world)
    wrong += (
        mismatches(values_of(bench.sim, bench.world), want, without) + bench.leaks()
    )
    if field in OUTPUTS - INPUTS:
        bench.sim.recompute_constants(bench.mask)
        wrong += bench.wrong_constants(model())
    return wrong


# The tests.


BENCHES = [pytest.param("warp", size, marks=pytest.mark.slow) for size in SIZES[1:]]
BENCHES += [pytest.param("warp", SIZES[0])]
BENCHES += [pytest.param("native", size) for size in SIZES]


@pytest.mark.parametrize(("engine", "num_envs"), BENCHES)
def test_a_field_written_in_one_world_acts_there_as_in_mujoco_and_nowhere_else(
    engine: BackendName, num_envs: int
) -> None:
    here = bench(engine, num_envs)
    varied = [name for name in FIELDS if name not in NOT_VARIED]
    found = {field: problems_with(here, field) for field in varied}
    wrong = {field: what for field, what in found.items() if what}
    assert not wrong, "\n".join(f"{field}: {what}" for field, what in wrong.items())


@pytest.mark.parametrize("field", DISAGREEMENTS)
def test_known_engine_difference_still_exists(field: str) -> None:
    here = bench("warp", 1)
    here.restart()
    here.write(field, value_for(field, agreeing=False))
    here.sim.step()
    want = changed(field, here.world)
    assert mismatches(values_of(here.sim, here.world), want, untouched(here.world)), (
        f"{field} agrees now: take it off the list. It said: "
        f"{DISAGREEMENTS[field].reason}"
    )


def test_both_engines_offer_exactly_these_fields() -> None:
    native = bench("native", 1).sim.engine.variable_fields
    warp = bench("warp", 1).sim.engine.variable_fields
    assert native & warp == set(FIELDS)
    assert {*NOT_VARIED, *SILENT, *DISAGREEMENTS} <= set(FIELDS)


def test_every_write_is_large_enough_that_an_engine_which_ignored_it_would_fail() -> (
    None
):
    ignored = untouched(0)
    loud = {
        field
        for field in FIELDS
        if field not in NOT_VARIED
        and mismatches(ignored.values, changed(field, 0, agreeing=True), ignored)
    }
    assert loud == {*FIELDS} - {*NOT_VARIED} - {*SILENT}


@pytest.mark.parametrize("engine", ENGINES)
def test_the_next_step_follows_from_the_state_alone(engine: BackendName) -> None:
    here = bench(engine, 4)
    here.restart()
    here.sim.reset()
    here.sim.forward(Stage.ACCELERATION)
    put_start(here.sim, range(4))
    here.sim.step()
    for name in STATE:
        assert torch.equal(getattr(here.sim.data, name), here.data_before[name]), name


@pytest.mark.parametrize("engine", ENGINES)
def test_constants_outside_the_mask_stay_even_where_a_field_was_written(
    engine: BackendName,
) -> None:
    here = bench(engine, 4)
    here.restart()
    for row in (1, 2):
        write_field(here.sim, "body_mass", row, other_value(model(), "body_mass"))
    here.sim.recompute_constants(here.mask)
    constants = OUTPUTS & set(FIELDS)
    now = {name: here.sim.model[name] for name in constants}
    assert here.wrong_constants(changed("body_mass", 1).model) == []
    for name in constants:
        assert torch.equal(now[name][2], here.fields_before[name][2]), name


# Features that the compiled model lacks, and fields expanded late.

SWITCHED_ON = (
    "opt.density opt.viscosity opt.wind geom_surfacevel pair_adhesion tendon_stiffness "
    "tendon_stiffnesspoly tendon_damping tendon_dampingpoly tendon_armature "
    "tendon_frictionloss actuator_damping actuator_dampingpoly actuator_armature "
    "dof_frictionloss dof_damping dof_dampingpoly jnt_stiffness jnt_stiffnesspoly "
    "body_gravcomp geom_margin geom_gap"
).split()
"""Fields that can be entirely zero in the compiled model."""


@functools.cache
def plain_model() -> mujoco.MjModel:
    plain = copy.copy(model())
    for field in SWITCHED_ON:
        set_field(plain, field, np.zeros_like(field_of(plain, field)))
    mujoco.mj_setConst(plain, mujoco.MjData(plain))
    return plain


@functools.cache
def switched_on(field: str) -> Reference:
    variant = copy.copy(plain_model())
    set_field(variant, field, field_of(model(), field))
    mujoco.mj_setConst(variant, mujoco.MjData(variant))
    return step_c(variant, 1)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_feature_that_is_off_in_the_compiled_model_can_be_switched_on(
    engine: BackendName,
) -> None:
    sim = simulate(engine, 4, plain_model(), FIELDS)
    put_start(sim, (1, 1, 1, 1))
    before = sim.snapshot()
    off, wrong = step_c(plain_model(), 1), {}
    for field in SWITCHED_ON:
        sim.restore(before)
        write_field(sim, field, 1, field_of(model(), field))
        sim.recompute_constants(torch.arange(4) == 1)
        sim.step()
        found = mismatches(values_of(sim, 1), switched_on(field), off)
        wrong[field] = found + mismatches(values_of(sim, 2), off, off)
    wrong = {field: what for field, what in wrong.items() if what}
    assert not wrong, "\n".join(f"{field}: {what}" for field, what in wrong.items())


@pytest.mark.parametrize("engine", ENGINES)
def test_a_field_expanded_late_acts_in_its_world_only(engine: BackendName) -> None:
    early, late = "body_gravcomp", "dof_damping"
    sim = simulate(engine, 4, model(), [field for field in FIELDS if field != late])
    write_field(sim, early, 2, other_value(model(), early))
    sim.recompute_constants(torch.arange(4) == 2)
    sim.step()
    held = sim.model[early]
    sim.expand(late)
    write_field(sim, late, 1, other_value(model(), late))
    put_start(sim, (1, 1, 1, 1))
    sim.step()
    wanted = (untouched(1), changed(late, 1), changed(early, 1), untouched(1))
    for row, want in enumerate(wanted):
        assert not mismatches(values_of(sim, row), want, untouched(1)), f"world {row}"
    assert sim.model[early] is held


# The state of one world, between steps.


def test_quantities_derived_from_a_written_state_field_are_recomputed() -> None:
    here = bench("warp", 1)
    watch = StaleStateCheck(here.sim)
    early = {name for name, stage in STAGE_OF.items() if 0 < stage < Stage.ACCELERATION}
    # With energy sensors, and without the energy flag, Warp clears these only if it
    # computes accelerations (4.0.0).
    early.remove("energy")
    loud = set()
    for field in STATE_FIELDS:
        here.restart()
        watch.mark_fresh()
        before = here.read_data()
        live = getattr(here.sim.data, field)
        live.copy_(~live if live.dtype == torch.bool else live.roll(1, -1) + 0.01)
        watch.refresh_if_written()
        seen = here.read_data()
        here.sim.forward(Stage.VELOCITY)
        for name, now in here.read_data().items():
            if name in early:
                assert same_bits(seen[name], now), f"{name} after a write to {field}"
        if not all(same_bits(before[name], seen[name]) for name in early):
            loud.add(field)
    assert loud >= {"qpos", "qvel", "mocap_pos", "mocap_quat", "eq_active"}


def test_delayed_sensors_agree_in_a_step_that_continues_from_forward() -> None:
    here, ends = bench("warp", 1), []
    for verb in (here.sim.step, here.sim.finish_step):
        here.restart()
        for _ in range(4):
            verb()
            here.sim.forward(Stage.VELOCITY)
        ends.append(here.read_data())
    for name, value in ends[0].items():
        assert same_bits(value, ends[1][name]), name
