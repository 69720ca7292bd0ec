"""Errors of the simulation, with their exact messages."""

import mujoco
import numpy as np
import pytest
import torch

from mjlab import driver
from mjlab.sim import (
    BackendError,
    EngineError,
    FieldError,
    MujocoCfg,
    OptionError,
    Simulation,
    SimulationCfg,
    Stage,
    compile_model,
)
from mjlab.sim import compile as compile_module
from mjlab.sim.fields import UnknownFieldError
from mjlab.sim.options import CHOICES
from mjlab.sim.options import OPTIONS as OPTION_NAMES
from tests.worlds.models import BALL, G1_VARIED, OPTIONS, g1_model

no_cuda = pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")


def ball(cfg: SimulationCfg | None = None) -> mujoco.MjModel:
    return compile_model(mujoco.MjSpec.from_string(BALL), cfg or SimulationCfg())


def message(error: type[Exception], call) -> str:
    with pytest.raises(error) as caught:
        call()
    return str(caught.value)


def test_zero_worlds_are_refused() -> None:
    text = message(ValueError, lambda: Simulation(ball(), 0))
    assert text == "num_envs=0 has to be 1 or more."


@pytest.mark.parametrize("engine", ["native", "warp"])
def test_a_field_that_cannot_vary_names_its_nearest(engine: str) -> None:
    cfg = SimulationCfg(backend=engine, nconmax=8, njmax=8)
    text = message(
        FieldError,
        lambda: Simulation(ball(), 1, cfg, device="cpu", vary=["geom_frict"]),
    )
    assert text.startswith(
        f"Model field 'geom_frict' cannot vary per world on the {engine} engine. "
        "Valid names, nearest first: 'geom_friction', "
    )


@pytest.mark.parametrize("engine", ["native", "warp"])
@pytest.mark.parametrize("field", ["hfield_data", "hfield_size"])
def test_height_fields_are_shared_by_all_worlds(engine: str, field: str) -> None:
    cfg = SimulationCfg(backend=engine, nconmax=8, njmax=8)
    text = message(
        FieldError, lambda: Simulation(ball(), 1, cfg, device="cpu", vary=[field])
    )
    assert text.startswith(
        f"Model field {field!r} cannot vary per world on the {engine} engine. All "
        "worlds share the height fields."
    )
    assert "`mdp.randomize_terrain`" in text


def test_field_that_only_the_native_engine_can_vary_is_refused_on_warp() -> None:
    cfg = SimulationCfg(backend="warp", nconmax=8, njmax=8)
    with pytest.raises(FieldError, match=r"'geom_contype' cannot vary .* warp engine"):
        Simulation(ball(), 1, cfg, device="cpu", vary=["geom_contype"])


def test_unknown_fields_are_refused() -> None:
    sim = Simulation(ball(), 1)
    text = message(UnknownFieldError, lambda: sim.data.qposs)
    assert text.startswith(
        "sim.data has no field 'qposs'. Valid names, nearest first: 'qpos', "
    )
    text = message(UnknownFieldError, lambda: sim.model.body_mas)
    assert text.startswith(
        "sim.model has no field 'body_mas'. Valid names, nearest first: 'body_mass', "
    )


@no_cuda
def test_warp_without_a_device_is_refused() -> None:
    cfg = SimulationCfg(backend="warp")
    text = message(BackendError, lambda: Simulation(ball(), 1, cfg))
    assert text == (
        f"sim.backend='warp' needs a CUDA device, but {driver.no_cuda()}. Use "
        "backend='native' (about 5 times faster than Warp on a CPU), or "
        "device='cpu' to run Warp on its CPU device for comparisons."
    )


@no_cuda
def test_missing_cuda_device_is_refused() -> None:
    text = message(BackendError, lambda: Simulation(ball(), 1, device="cuda:0"))
    assert text.startswith(
        f"device='cuda:0', but there is no CUDA device: {driver.no_cuda()}"
    )


def test_unknown_backend_is_refused() -> None:
    cfg = SimulationCfg(backend="mjx")  # pyright: ignore[reportArgumentType]
    text = message(BackendError, lambda: Simulation(ball(), 1, cfg))
    assert text == ("sim.backend='mjx' is unknown. Valid: 'auto', 'warp', 'native'.")


@pytest.mark.parametrize(
    "option, text",
    [
        (MujocoCfg(timestep=0.0), "mujoco.timestep=0.0 has to be positive."),
        (MujocoCfg(iterations=-1), "mujoco.iterations=-1 has to be 0 or more."),
        (
            MujocoCfg(solver="neuton"),  # pyright: ignore[reportArgumentType]
            "mujoco.solver='neuton' is unknown. "
            "Valid names, nearest first: 'newton', 'cg', 'pgs'.",
        ),
        (
            MujocoCfg(memory="2 MB"),
            "mujoco.memory='2 MB' is not a size. Use a whole number with K, M or G, "
            "such as '512K', '2M' or '1G'.",
        ),
    ],
)
def test_invalid_options_are_refused(option: MujocoCfg, text: str) -> None:
    assert message(OptionError, lambda: ball(SimulationCfg(mujoco=option))) == text


def test_a_jacobian_that_is_none_of_the_three() -> None:
    cfg = SimulationCfg(backend="native", native_jacobian="spare")  # pyright: ignore[reportArgumentType]
    text = message(OptionError, lambda: Simulation(ball(), 1, cfg))
    assert text == (
        "sim.native_jacobian='spare' is unknown. "
        "Valid names, nearest first: 'sparse', 'auto', 'dense'."
    )


def test_an_unknown_flag_names_its_nearest() -> None:
    cfg = SimulationCfg(mujoco=MujocoCfg(disableflags=("contacts",)))
    text = message(OptionError, lambda: ball(cfg))
    assert text.startswith(
        "mujoco.disableflags has an unknown flag, 'contacts'. "
        "Valid names, nearest first: 'contact' and "
    )


@pytest.mark.parametrize(
    "option, text",
    [
        (MujocoCfg(solver="pgs"), "mujoco.solver='pgs' (use 'newton' or 'cg')"),
        (
            MujocoCfg(integrator="discrete", noslip_iterations=3),
            "mujoco.noslip_iterations with integrator='discrete'",
        ),
        (MujocoCfg(enableflags=("override",)), "mujoco.enableflags='override'"),
        (MujocoCfg(disableflags=("midphase",)), "mujoco.disableflags='midphase'"),
        (MujocoCfg(disable_actuator_groups=(2,)), "mujoco.disable_actuator_groups"),
    ],
)
def test_options_that_warp_cannot_honour(option: MujocoCfg, text: str) -> None:
    cfg = SimulationCfg(backend="warp", mujoco=option)
    model = ball(cfg)
    said = message(OptionError, lambda: Simulation(model, 1, cfg, device="cpu"))
    assert said == (
        f"MuJoCo Warp does not support {text}. Change the option, or use "
        "backend='native'."
    )
    native = SimulationCfg(backend="native", mujoco=option)
    Simulation(model, 1, native).step()


def test_the_flags_that_warp_ignores_are_those_it_does_not_have() -> None:
    import mujoco_warp as mjw

    for kind, enum, ignored in (
        ("enableflags", mjw.EnableBit, compile_module._WARP_IGNORES_ENABLED),
        ("disableflags", mjw.DisableBit, compile_module._WARP_IGNORES_DISABLED),
    ):
        known = {int(bit) for bit in enum}
        flags = compile_module.flag_names(kind)
        assert {n for n, bit in flags.items() if bit not in known} == ignored


def test_every_option_reaches_the_compiled_model() -> None:
    cfg = MujocoCfg(
        timestep=0.003,
        integrator="euler",
        cone="elliptic",
        jacobian="sparse",
        solver="cg",
        iterations=7,
        tolerance=1e-5,
        ls_iterations=8,
        ls_tolerance=0.02,
        noslip_iterations=2,
        noslip_tolerance=1e-4,
        ccd_iterations=36,
        ccd_tolerance=1e-5,
        sdf_iterations=11,
        sdf_initpoints=41,
        sleep_tolerance=2e-3,
        impratio=3.0,
        gravity=(1.0, 2.0, 3.0),
        wind=(4.0, 5.0, 6.0),
        magnetic=(7.0, 8.0, 9.0),
        density=1.5,
        viscosity=2.5,
        o_margin=0.1,
        o_solref=(0.03, 0.9),
        o_solimp=(0.8, 0.9, 0.002, 0.4, 3.0),
        o_friction=(0.5, 0.6, 0.7, 0.8, 0.9),
        disableflags=("gravity", "contact"),
        enableflags=("energy",),
        disable_actuator_groups=(1, 3),
    )
    option = ball(SimulationCfg(mujoco=cfg)).opt
    for name in set(OPTION_NAMES) - set(CHOICES):
        assert np.allclose(getattr(option, name), getattr(cfg, name)), name
    assert option.cone == mujoco.mjtCone.mjCONE_ELLIPTIC
    assert option.jacobian == mujoco.mjtJacobian.mjJAC_SPARSE
    assert option.solver == mujoco.mjtSolver.mjSOL_CG
    assert option.integrator == mujoco.mjtIntegrator.mjINT_EULER
    bits = mujoco.mjtDisableBit
    assert option.disableflags == bits.mjDSBL_GRAVITY | bits.mjDSBL_CONTACT
    assert option.enableflags == mujoco.mjtEnableBit.mjENBL_ENERGY
    assert option.disableactuator == 0b1010


def test_the_default_options_are_mujocos_but_for_two_of_mjlab() -> None:
    ours = ball(SimulationCfg()).opt
    theirs = mujoco.MjSpec().compile().opt
    for name in [n for n in dir(theirs) if not n.startswith("_")]:
        if name in ("integrator", "ccd_iterations"):
            continue
        assert np.allclose(getattr(ours, name), getattr(theirs, name)), name


# At run time.


def fallen(sim: Simulation) -> None:
    """Place the robots on the floor, where everything is in contact."""
    sim.data.qpos[:, 2] = 0.1
    for _ in range(3):
        sim.step()


@pytest.mark.parametrize(
    "sizes, kind, setting",
    [
        ({"nconmax": 128, "njmax": 32}, "constraints", "increase sim.njmax (now 32)"),
        ({"nconmax": 4, "njmax": 192}, "contacts", "increase sim.nconmax (now 4)"),
    ],
)
def test_buffer_overflow_on_warp_is_counted_and_names_the_setting(
    sizes: dict[str, int], kind: str, setting: str
) -> None:
    cfg = SimulationCfg(backend="warp", mujoco=OPTIONS, **sizes)
    sim = Simulation(g1_model(), 4, cfg, device="cpu", vary=G1_VARIED)
    assert sim.health.read().ok
    fallen(sim)
    # The reset clears Warp's own mask; its warnings are kept.
    sim.reset()
    report = sim.health.read()
    wanted = kind if kind == "constraints" else "contact_candidates"
    assert report.overflow[wanted] > 0
    assert any(setting in line for line in report.advice)


def test_the_reported_buffer_use_is_the_peak_so_far() -> None:
    cfg = SimulationCfg(backend="warp", mujoco=OPTIONS, nconmax=128, njmax=192)
    sim = Simulation(g1_model(), 4, cfg, device="cpu", vary=G1_VARIED)
    sim.data.qpos[:, 2] = 2.0
    sim.step()
    in_the_air = sim.health.use()
    assert in_the_air["rows"].room == 192 and in_the_air["contacts"].room == 128
    sim.data.qpos[1, 2] = 0.6
    native = Simulation(g1_model(), 4, SimulationCfg(backend="native"))
    native.data.qpos.copy_(sim.data.qpos)
    native.forward(Stage.ACCELERATION)
    sim.step()
    fallen = sim.health.use()
    assert fallen["rows"].most == native.data.nefc.max()
    contacts = sum(native.engine.mj_data_of(world).ncon for world in range(4))
    assert fallen["contacts"].most == contacts / 4
    assert fallen["rows"].most > in_the_air["rows"].most
    sim.reset()
    sim.data.qpos[:, 2] = 2.0
    sim.step()
    assert sim.health.use() == fallen
    assert native.health.use() == {}


def pile(memory: str) -> Simulation:
    """Forty boxes that overlap."""
    spec = mujoco.MjSpec.from_string(BALL)
    for i in range(40):
        body = spec.worldbody.add_body(name=f"box{i}", pos=[0.05 * i, 0, 0.05])
        body.add_freejoint()
        body.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.05, 0.05, 0.05])
    cfg = SimulationCfg(backend="native", mujoco=MujocoCfg(memory=memory))
    return Simulation(compile_model(spec, cfg), 2, cfg)


def test_arena_overflow_on_native_is_counted_and_names_the_setting() -> None:
    sim = pile("250K")
    for _ in range(3):
        sim.step()
    report = sim.health.read()
    assert report.overflow["contacts"] > 0 and report.overflow["constraints"] > 0
    assert not report.ok
    assert report.advice[0] == (
        "contacts overflowed the memory of a world (0.2 MB): "
        "increase sim.mujoco.memory, for example to '1M'"
    )


@pytest.mark.parametrize(
    ("memory", "advised"), [("250K", "1M"), ("1500K", "2M"), ("3M", "6M")]
)
def test_advised_memory_is_larger_than_the_current_one(
    memory: str, advised: str
) -> None:
    said = pile(memory).engine.advice("contacts")
    assert said.endswith(f"increase sim.mujoco.memory, for example to '{advised}'")


def test_overflow_counts_grow_equally_after_a_reset() -> None:
    sim = pile("250K")
    totals = []
    for _ in range(3):
        sim.reset()
        sim.step()
        totals.append(sim.health.read().overflow)
    first, second, third = totals
    for kind, count in second.items():
        assert third[kind] - count == count - first[kind] > 0


def test_overflow_counts_continue_from_a_snapshot() -> None:
    sim = pile("250K")
    sim.step()
    start, counted = sim.snapshot(), sim.health.read().overflow
    sim.step()
    straight = sim.health.read().overflow
    for _ in range(3):
        sim.step()
    sim.restore(start)
    assert sim.health.read().overflow == counted
    sim.step()
    # Restoring has computed the contacts already, so the step can have none to count.
    for kind, count in sim.health.read().overflow.items():
        assert counted[kind] <= count <= straight[kind]


def test_solver_without_memory_stops_and_names_the_setting() -> None:
    with pytest.raises(EngineError, match=r"increase sim\.mujoco\.memory"):
        pile("600K").step()


def test_binding_a_field_to_another_tensor_is_refused() -> None:
    """It would not reach the engine, without notice."""
    sim = Simulation(ball(), 2, vary=["body_mass"])
    with pytest.raises(AttributeError, match=r"Write in place: sim\.data\.qvel\["):
        sim.data.qvel = torch.ones(2, 6)
    with pytest.raises(AttributeError, match=r"Write in place: sim\.model\.body_mass"):
        sim.model.body_mass = torch.ones(2, 2)
    sim.data.qvel += 0.5
    sim.model.body_mass *= 2.0
    sim.step()
    assert (sim.data.qvel[:, 0] > 0.4).all()


@pytest.mark.parametrize("bad", [torch.ones(3), torch.ones(2, dtype=torch.bool)])
def test_mask_of_the_wrong_type_is_refused(bad: torch.Tensor) -> None:
    sim = Simulation(ball(), 3)
    with pytest.raises(ValueError, match=r"bool tensor of shape \(3,\)"):
        sim.reset(bad)


def test_a_bad_world_prints_no_text_and_logs_no_file(
    capfd: pytest.CaptureFixture[str],
    tmp_path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    sim = Simulation(ball(), 2)
    sim.data.qvel[0] = float("nan")
    sim.data.ctrl[1] = float("nan")
    for _ in range(3):
        sim.step()
    sim.forward(Stage.ACCELERATION)
    assert sim.health.find_nonfinite().all()
    assert capfd.readouterr() == ("", "")
    assert list(tmp_path.iterdir()) == []
