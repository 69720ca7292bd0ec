"""Captured engine calls: the code that captures CUDA graphs, on Warp's CPU device."""

import pytest
import torch

from mjlab.sim import SensePass, Simulation, SimulationCfg, Stage
from mjlab.sim.fields import STAGE_OF
from mjlab.sim.graphs import Graphs
from tests.worlds.models import G1_VARIED, OPTIONS, g1_model, g1_targets

NUM_ENVS = 4


def make(*, graphs: bool) -> Simulation:
    cfg = SimulationCfg(
        backend="warp", mujoco=OPTIONS, nconmax=128, njmax=192, graphs=graphs
    )
    sim = Simulation(g1_model(), NUM_ENVS, cfg, device="cpu", vary=G1_VARIED)
    sim.add_sense_pass(HeightPass(sim))
    start(sim)
    return sim


def start(sim: Simulation) -> None:
    sim.reset()
    sim.data.qpos.copy_(torch.from_numpy(sim.mj_model.key_qpos[0]).expand(NUM_ENVS, -1))
    sim.forward(Stage.ACCELERATION)


class HeightPass(SensePass):
    """A sense pass whose launch is a Warp copy of the pelvis position."""

    def __init__(self, sim: Simulation) -> None:
        import warp as wp

        self._source = sim.engine.wp_data.xpos
        self._copy = wp.zeros_like(self._source)
        self.height = torch.zeros(NUM_ENVS)
        self.scale = 0.0

    def prepare(self) -> None:
        self.scale = 2.0

    def launch(self) -> None:
        import warp as wp

        wp.copy(self._copy, self._source)

    def finish(self) -> None:
        import warp as wp

        torch.mul(wp.to_torch(self._copy)[:, 1, 2], self.scale, out=self.height)


@pytest.fixture(scope="module")
def recorded() -> Simulation:
    return make(graphs=True)


def test_fifty_replays_with_resets_among_them_equal_eager(recorded: Simulation) -> None:
    eager = make(graphs=False)
    start(recorded)
    targets = torch.from_numpy(g1_targets(g1_model(), NUM_ENVS, 50))
    mask = torch.tensor([True, False, True, False])
    for step in range(50):
        for sim in (recorded, eager):
            sim.data.ctrl.copy_(targets[step])
            # Only a `forward()` before the step makes this different from `step()`.
            sim.finish_step() if step % 5 == 1 else sim.step()
            if step in (17, 33):
                sim.reset(mask)
            if step % 5 == 0:
                sim.forward(Stage.VELOCITY)
                sim.sense()
    for sim in (recorded, eager):
        sim.forward(Stage.ACCELERATION)
    for name in STAGE_OF:
        ours, theirs = getattr(recorded.data, name), getattr(eager.data, name)
        assert torch.equal(ours, theirs), name
    heights = [sim._sense_passes[0].height for sim in (recorded, eager)]
    assert torch.equal(*heights)
    assert (heights[0] > 0.5).all()
    keys = {key.split(".")[0] for key in recorded.engine.graphs.keys}
    assert {"step", "forward", "reset", "sense"} <= keys
    assert eager.engine.graphs.keys == []


def test_engine_call_is_recorded_at_first_use_and_replayed_later() -> None:
    calls = []
    graphs = Graphs("cpu", lambda: (), enabled=True)
    for _ in range(4):
        graphs.run("verb", lambda: calls.append(1))
    # One run does the work, one is captured; replays run without Python.
    assert len(calls) == 2


def world_1_alone_responds(sim: Simulation, field: str, expand: bool) -> bool:
    """Return whether a write to `field` of world 1 changes only world 1."""
    ends = []
    for write in (False, True):
        start(sim)
        for _ in range(2):
            sim.step()
        if write:
            if expand:
                sim.expand(field)
            sim.model[field][1] *= 40.0
        for _ in range(3):
            sim.step()
        ends.append(sim.data.qvel.clone())
    changed = (ends[0] != ends[1]).any(dim=1).tolist()
    sim.model[field].copy_(sim.default(field).expand_as(sim.model[field]))
    return changed == [False, True, False, False]


def test_a_late_expansion_reaches_the_next_replay(recorded: Simulation) -> None:
    recorded.step()
    assert "step" in recorded.engine.graphs.keys
    assert world_1_alone_responds(recorded, "dof_armature", expand=True)


def test_a_recording_with_outdated_arrays_would_be_detected(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The check above can fail: here recordings outlive their arrays."""
    sim = make(graphs=True)
    sim.step()
    monkeypatch.setattr(sim.engine.graphs, "drop", lambda: None)
    monkeypatch.setattr(sim.engine.graphs, "_arrays", lambda: ())
    sim.engine.graphs._recordings["step"].arrays = ()
    assert not world_1_alone_responds(sim, "dof_armature", expand=True)


def test_an_array_replaced_externally_is_recorded_again() -> None:
    """MuJoCo Warp's examples assign to model fields, which a graph would not see."""
    import warp as wp

    sim = make(graphs=True)
    sim.step()
    start(sim)
    sim.step()
    usual = sim.data.qvel.clone()
    start(sim)
    model = sim.engine.wp_model
    damping = model.dof_damping.numpy() + 5.0
    model.dof_damping = wp.array(damping, dtype=float)
    sim.data.qvel.fill_(0.2)
    sim.step()
    start(sim)
    sim.step()
    assert not torch.equal(sim.data.qvel, usual)


def test_a_tensor_held_from_before_an_expansion_stays_live(
    recorded: Simulation,
) -> None:
    mass = recorded.model.body_mass
    recorded.expand("geom_rgba")
    mass[2, 1] = 3.25
    assert recorded.engine.wp_model.body_mass.numpy()[2, 1] == 3.25
    mass.copy_(recorded.default("body_mass").expand_as(mass))


def test_recomputing_constants_allocates_no_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The body of a conditional node of a CUDA graph cannot allocate."""
    import warp as wp

    from mjlab.sim.warp_launches import KeptMemory

    sim = make(graphs=False)
    sim.recompute_constants()
    cpu = wp.get_device("cpu")
    memory = KeptMemory(cpu)
    monkeypatch.setattr(cpu, "default_allocator", memory)
    sim.recompute_constants()
    taken = len(memory.taken)
    assert taken > 0
    for _ in range(3):
        sim.recompute_constants()
    assert len(memory.taken) == taken


def test_recomputing_constants_with_an_empty_mask_changes_nothing() -> None:
    from mjlab.sim.warp_fields import CONSTANTS, VARIABLE_FIELDS

    sim = make(graphs=True)
    names = sorted(CONSTANTS & VARIABLE_FIELDS)
    before = {name: sim.model[name].clone() for name in names}
    sim.recompute_constants(torch.zeros(NUM_ENVS, dtype=torch.bool))
    for name in names:
        assert torch.equal(sim.model[name], before[name]), name
