"""Closed loop: a hanging W18 tracks sinusoids with motors, the optimum or a network.

The legs swing at 1 Hz, targets are constant for 1/30 s, and torques come from stable PD
at 600 Hz. The tracking error of ideal motors is the lag of the PD law; muscles are
compared with it.
"""

import math

import mujoco
import pytest
import torch

from mjlab.muscle import (
    BoxQp,
    Coordinator,
    MuscleLearnerCfg,
    MuscleMap,
    MuscleNetwork,
    MuscleRegression,
    MuscleState,
    MuscleTupleBuffer,
    NetworkCoordinator,
    QpCoordinator,
    RefinedCoordinator,
    StablePdLaw,
    TupleLayout,
)
from mjlab.sim import Simulation, SimulationCfg
from mjlab.tasks.muscle import models
from tests.muscle.world import EngineFields, random_states

WORLDS, SUBSTEPS = 16, 20
SWING = torch.tensor([23.0, 26.0, 9.0] * 2) * math.pi / 180.0
MIDDLE = torch.tensor([10.0, -40.0, 0.0] * 2) * math.pi / 180.0


def hanging_model() -> mujoco.MjModel:
    spec = mujoco.MjSpec.from_file(str(models.W18_XML))
    for name in ("root_x", "root_z", "root_pitch"):
        spec.delete(spec.joint(name))
    return spec.compile()


class Hanging:
    """Hanging walkers, with the data of one control loop."""

    def __init__(self, coordinator: Coordinator | None) -> None:
        self.model = hanging_model()
        self.map = MuscleMap.from_model(self.model, num_poses=300)
        if coordinator is None:
            self.model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_ACTUATION)
        self.sim = Simulation(self.model, WORLDS, SimulationCfg(backend="native"))
        self.fields = EngineFields(self.sim)
        self.state = MuscleState(self.map, WORLDS)
        self.law = StablePdLaw(self.model, self.map, 300.0)
        self.coordinator = coordinator
        layout = TupleLayout.for_map(self.map)
        self.buffer = MuscleTupleBuffer(layout, WORLDS, 240, SUBSTEPS)
        self.generator = torch.Generator().manual_seed(7)
        self.phase = 2 * math.pi * torch.rand(WORLDS, 6, generator=self.generator)
        self.target = MIDDLE.expand(WORLDS, 6).clone()
        self.time = 0.0
        self.angles: list[torch.Tensor] = []
        self.misses: list[torch.Tensor] = []
        self.efforts: list[torch.Tensor] = []

    def control(self) -> None:
        self.state.update(self.fields, self.sim.model)
        torque = self.law.compute(self.fields, self.target)
        if self.coordinator is None:
            self.sim.data.qfrc_applied.copy_(torque)
            return
        wanted = torque - self.state.passive_torque
        activation = self.coordinator.act(self.state.red, wanted)
        self.buffer.record(red=self.state.red, torque=wanted)
        self.sim.data.ctrl.copy_(activation)
        made = self.state.torque_map.torque(self.state.red, activation)
        self.misses.append((made - wanted).square().mean())
        self.efforts.append(activation.square().mean())

    def run(self, seconds: float) -> None:
        for _ in range(round(seconds * 30)):
            swing = torch.sin(2 * math.pi * self.time + self.phase)
            self.target = MIDDLE + SWING * swing
            self.buffer.begin(torch.rand(WORLDS, generator=self.generator))
            for _ in range(SUBSTEPS):
                self.sim.step(self.control)
            self.buffer.end()
            self.time += 1 / 30
            wanted = MIDDLE + SWING * torch.sin(2 * math.pi * self.time + self.phase)
            self.angles.append(self.sim.data.qpos - wanted)

    def figures(self, seconds: float = 2.0) -> dict[str, torch.Tensor | float]:
        """Continue; return errors in degrees, torque errors in N m, and the effort."""
        for log in (self.angles, self.misses, self.efforts):
            log.clear()
        self.run(seconds)
        errors = torch.stack(self.angles).square().mean((0, 1)).sqrt() * 180 / math.pi
        # Hip, knee and ankle: both sides together.
        found: dict[str, torch.Tensor | float] = {"degrees": errors.view(2, 3).mean(0)}
        if self.misses:
            found["miss"] = float(torch.stack(self.misses).mean().sqrt())
            found["effort"] = float(torch.stack(self.efforts).mean())
        return found


def trained_network(seed: int, updates: int = 12) -> MuscleNetwork:
    """Network trained first on random poses and then on its own swinging motion."""
    muscles = MuscleMap.from_model(hanging_model(), num_poses=300)
    network = MuscleNetwork.for_map(muscles, seed=seed)
    world = Hanging(NetworkCoordinator(network, WORLDS))
    cfg = MuscleLearnerCfg(
        decay_updates=updates,
        batch_size=512,
        epochs=8,
        seed=seed,
        teacher_iterations=100,
    )
    layout = TupleLayout.for_map(muscles)
    learner = MuscleRegression(network, world.state.torque_map, layout, cfg)
    _, state = random_states("w18", 2000, seed)
    torque = 25.0 * torch.randn(2000, 6, generator=torch.Generator().manual_seed(seed))
    poses = torch.cat((state.red.float(), torque), dim=-1)
    for update in range(updates):
        if update:
            world.run(2.0)
        learner.learn(torch.cat((world.buffer.rows(), poses)))
    return network


def settled(coordinator: Coordinator | None) -> dict[str, torch.Tensor | float]:
    world = Hanging(coordinator)
    world.run(1.0)
    return world.figures()


def show(motors: torch.Tensor | float, effort: torch.Tensor | float, **found) -> None:
    """Print figures beside those of motors and of the optimum, for `pytest -s`."""
    for name, figures in found.items():
        degrees = (figures["degrees"] - motors).tolist()
        print(
            f"{name}: hip, knee, ankle {degrees[0]:+.3f} {degrees[1]:+.3f} "
            f"{degrees[2]:+.3f} degrees from motors, residual {figures['miss']:.2f} "
            f"N m, effort {figures['effort']:.5f}, {figures['effort'] / effort:.2f} "
            "times the optimum's"
        )


@pytest.mark.slow
def test_optimal_muscles_follow_like_motors():
    torques = MuscleState(MuscleMap.from_model(hanging_model()), WORLDS).torque_map
    best = settled(QpCoordinator(BoxQp(torques), torch.zeros(WORLDS, 18)))
    motors = settled(None)
    print("\nmotors, degrees:", motors["degrees"].tolist())
    show(motors["degrees"], best["effort"], optimum=best)
    assert (best["degrees"] - motors["degrees"]).abs().max() < 0.5
    assert best["miss"] < 0.5


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_learned_network_follows_within_the_bars(seed):
    network = trained_network(seed)
    torques = MuscleState(MuscleMap.from_model(hanging_model()), WORLDS).torque_map
    qp = BoxQp(torques)
    motors = settled(None)
    best = settled(QpCoordinator(qp, torch.zeros(WORLDS, 18)))
    alone = settled(NetworkCoordinator(network, WORLDS))
    refined = settled(RefinedCoordinator(NetworkCoordinator(network, WORLDS), qp, 10))
    print("\nseed", seed)
    show(motors["degrees"], best["effort"], network=alone, refined=refined)
    assert (alone["degrees"] - motors["degrees"]).abs().max() < 1.0
    assert alone["miss"] <= 3.0
    assert alone["effort"] <= 4.0 * best["effort"]
    assert (refined["degrees"] - motors["degrees"]).abs().max() < 0.5
    assert refined["effort"] <= 2.0 * best["effort"]
