"""MuJoCo's sensors and contact sensors, on the native engine."""

import dataclasses

import mujoco
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mjlab.names import UnknownNameError
from mjlab.sensor import (
    AirTime,
    ContactFieldError,
    ContactMatch,
    ContactSensor,
    ContactSensorCfg,
    MujocoSensor,
    MujocoSensorCfg,
    ObjRef,
    Sensor,
    SensorCfg,
    bind_sensors,
)
from mjlab.sensor.contact_data import FIELD_SIZES
from mjlab.sensor.native import SENSOR_KINDS
from mjlab.sim import MujocoCfg, Simulation, SimulationCfg, Stage, compile_model

DT = 0.002
GRAVITY = 9.81

ROBOT = """
<mujoco>
  <asset>
    <mesh name="lump" vertex="0 0 0  .1 0 0  0 .1 0  0 0 .1"/>
  </asset>
  <worldbody>
    <body name="trunk" pos="0 0 1">
      <freejoint name="root"/>
      <geom name="trunk" type="box" size=".1 .1 .1" mass="2" contype="0"
        conaffinity="0"/>
      <site name="imu" pos=".02 .03 .01" euler="10 20 30"/>
      <camera name="eye"/>
      <body name="arm" pos=".2 0 0">
        <joint name="hinge" axis="0 1 0" range="-1 1" limited="true"/>
        <geom name="arm" type="capsule" size=".03 .1" mass=".5" contype="0"
          conaffinity="0"/>
        <site name="tip" pos="0 0 -.1"/>
        <body name="hand" pos="0 0 -.2">
          <joint name="wrist" type="ball"/>
          <geom name="hand" type="sphere" size=".04" mass=".2" contype="0"
            conaffinity="0"/>
          <geom name="lump" type="mesh" mesh="lump" mass=".1" contype="0"
            conaffinity="0"/>
        </body>
      </body>
    </body>
  </worldbody>
  <tendon>
    <fixed name="cord" range="-1 1" limited="true">
      <joint joint="hinge" coef=".5"/>
    </fixed>
  </tendon>
  <actuator><motor name="motor" joint="hinge"/></actuator>
  <sensor><gyro name="gyro" site="imu"/><framepos name="arm_pos" objtype="body"
    objname="arm"/></sensor>
</mujoco>
"""

BOXES = """
<mujoco>
  <worldbody>
    <body name="crate" pos="0 0 .1">
      <freejoint/>
      <geom name="crate" type="box" size=".1 .1 .1" mass="2"/>
    </body>
    <body name="ball" pos="1 0 .5">
      <freejoint/>
      <geom name="ball" type="sphere" size=".05" mass=".3"/>
    </body>
  </worldbody>
</mujoco>
"""


def scene(*robots: str, floor: bool = True) -> mujoco.MjSpec:
    """The files attached as entities `a`, `b`, ..., on a plane."""
    spec = mujoco.MjSpec()
    if floor:
        spec.worldbody.add_geom(
            name="floor", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 0.1]
        )
    for prefix, robot in zip("ab", robots, strict=False):
        frame = spec.worldbody.add_frame()
        spec.attach(mujoco.MjSpec.from_string(robot), prefix=f"{prefix}/", frame=frame)
    return spec


def build(
    spec: mujoco.MjSpec, *cfgs: SensorCfg, num_envs: int = 3, **options: object
) -> tuple[Simulation, dict[str, Sensor]]:
    for cfg in cfgs:
        cfg.edit_spec(spec)
    sim_cfg = SimulationCfg(backend="native", mujoco=MujocoCfg(timestep=DT, **options))
    sim = Simulation(compile_model(spec, sim_cfg), num_envs, sim_cfg)
    return sim, bind_sensors(cfgs, sim)


def crate_contacts(**settings: object) -> ContactSensorCfg:
    return ContactSensorCfg(
        name="contacts",
        primary=ContactMatch(mode="geom", pattern="crate", entity="a"),
        **settings,
    )


def settle(sim: Simulation, sensor: Sensor, steps: int = 1000) -> None:
    for _ in range(steps):
        sim.step()
    sensor.update(DT)


# --- MuJoCo sensors -------------------------------------------------------------------


def attachments(kind: str) -> dict[str, ObjRef]:
    names = {
        "body": "hand",
        "xbody": "hand",
        "joint": "wrist" if kind.startswith("ball") else "hinge",
        "geom": "arm",
        "site": "tip" if kind in ("force", "torque") else "imu",
        "camera": "eye",
        "tendon": "cord",
        "actuator": "motor",
        "mesh": "lump",
    }
    others = {"geom": "trunk", "body": "trunk", "site": "tip"}
    entry, found = SENSOR_KINDS[kind], {}
    if entry.obj:
        name = names[entry.obj[0]]
        found["obj"] = ObjRef(type=entry.obj[0], name=name, entity="a")
    if entry.ref:
        name = others.get(entry.ref[-1], names[entry.ref[-1]])
        found["ref"] = ObjRef(type=entry.ref[-1], name=name, entity="a")
    return found


def test_every_sensor_type_of_mujoco_can_be_added_and_matches_its_reading():
    kinds = [kind for kind in SENSOR_KINDS if kind != "tactile"]
    cfgs = [
        MujocoSensorCfg(
            name=f"my_{kind}",
            sensor_type=kind,
            cutoff=5.0 if kind in ("distance", "normal", "fromto") else 0.0,
            **attachments(kind),
        )
        for kind in kinds
    ]
    sim, sensors = build(scene(ROBOT), *cfgs, num_envs=2)
    sim.data.qvel.normal_(generator=torch.Generator().manual_seed(0))
    sim.data.ctrl.fill_(0.3)
    qpos, qvel = sim.data.qpos.clone(), sim.data.qvel.clone()
    sim.forward(Stage.ACCELERATION)
    data = mujoco.MjData(sim.mj_model)
    for world in range(2):
        data.qpos, data.qvel, data.ctrl = qpos[world], qvel[world], 0.3
        mujoco.mj_forward(sim.mj_model, data)
        for kind in kinds:
            expected = data.sensor(f"my_{kind}").data
            actual = sensors[f"my_{kind}"].data[world].numpy()
            np.testing.assert_allclose(
                actual, expected, rtol=1e-6, atol=1e-9, err_msg=kind
            )


def test_a_tactile_sensor_measures_penetration_into_its_geom():
    pad = """<mujoco><asset>
        <mesh name="taxels" vertex="0 0 -.1  .05 0 -.1  0 .05 -.1  .05 .05 -.12"/>
      </asset><worldbody><geom type="box" size="1 1 .5" pos="0 0 -.39"/>
        <body name="pad" pos="0 0 .099"><freejoint/>
          <geom name="pad" type="box" size=".1 .1 .1"/></body></worldbody></mujoco>"""
    cfg = MujocoSensorCfg(
        name="skin",
        sensor_type="tactile",
        obj=ObjRef(type="mesh", name="taxels", entity="a"),
        ref=ObjRef(type="geom", name="pad", entity="a"),
    )
    sim, sensors = build(scene(pad), cfg, num_envs=2)
    data = mujoco.MjData(sim.mj_model)
    mujoco.mj_forward(sim.mj_model, data)
    assert sensors["skin"].data[1].max() > 0.04
    np.testing.assert_allclose(sensors["skin"].data[1], data.sensordata, rtol=1e-6)


def test_sensor_kinds_name_every_type_that_mujoco_has():
    enums = {kind.enum or name.upper() for name, kind in SENSOR_KINDS.items()}
    known = {name.removeprefix("mjSENS_") for name in mujoco.mjtSensor.__members__}
    assert known - enums == {"CONTACT", "PLUGIN", "USER"}
    assert enums <= known


def test_sensors_of_an_entitys_file_are_found_by_their_full_name():
    sim, sensors = build(scene(ROBOT, BOXES), num_envs=2)
    assert list(sensors) == ["a/gyro", "a/arm_pos"]
    sim.data.qvel[1, 3:6] = torch.tensor([0.1, 0.2, 0.3])
    sim.forward()
    rotation = torch.from_numpy(sim.mj_model.site("a/imu").quat.copy())
    expected = np.zeros(3)
    inverse = np.zeros(4)
    mujoco.mju_negQuat(inverse, rotation.numpy())
    mujoco.mju_rotVecQuat(expected, np.array([0.1, 0.2, 0.3]), inverse)
    np.testing.assert_allclose(sensors["a/gyro"].data[1], expected, atol=1e-7)
    assert not sensors["a/gyro"].data[0].any()


def test_mujoco_sensor_returns_the_same_tensor_and_counts_as_a_read_of_its_stage():
    sim, sensors = build(scene(ROBOT))
    position = sensors["a/arm_pos"]
    assert position.data is position.data
    with sim.reads.record() as reads:
        _ = position.data
    assert reads == {"a/arm_pos"}
    assert sim.reads.needed == Stage.VELOCITY
    acceleration = MujocoSensorCfg(
        name="acc", sensor_type="accelerometer", obj=ObjRef(type="site", name="a/imu")
    )
    sim, sensors = build(scene(ROBOT), acceleration)
    assert sim.reads.needed == Stage.VELOCITY
    _ = sensors["acc"].data
    assert sim.reads.needed == Stage.ACCELERATION


# --- Contact forces -----------------------------------------------------------------


def test_net_force_on_the_ground_is_the_weight_of_the_box():
    sim, sensors = build(
        scene(BOXES),
        crate_contacts(fields=("found", "force", "pos"), reduce="netforce"),
    )
    settle(sim, sensors["contacts"])
    data = sensors["contacts"].data
    # MuJoCo's force acts on the other side, the ground, so it points down.
    weight = torch.tensor([0.0, 0.0, -2.0 * GRAVITY])
    torch.testing.assert_close(data.force[1, 0], weight, rtol=1e-4, atol=1e-3)
    assert data.found[1, 0] == 4
    torch.testing.assert_close(data.pos[1, 0], torch.zeros(3), rtol=0, atol=1e-3)


def test_each_corner_carries_a_quarter_of_the_weight_along_the_normal():
    sim, sensors = build(
        scene(BOXES),
        crate_contacts(fields=tuple(FIELD_SIZES), num_slots=6),
    )
    settle(sim, sensors["contacts"])
    data = sensors["contacts"].data
    assert data.found[0].tolist() == [4, 4, 4, 4, 0, 0]
    quarter = torch.tensor([2.0 * GRAVITY / 4.0, 0.0, 0.0]).expand(4, 3)
    torch.testing.assert_close(data.force[0, :4], quarter, rtol=1e-3, atol=1e-3)
    torch.testing.assert_close(
        data.normal[0, :4], torch.tensor([0.0, 0.0, -1.0]).expand(4, 3)
    )
    assert (data.dist[0, :4] < 0).all() and (data.dist[0, :4] > -1e-3).all()
    corners = sorted(data.pos[0, :4, :2].round(decimals=2).tolist())
    np.testing.assert_allclose(
        corners, [[-0.1, -0.1], [-0.1, 0.1], [0.1, -0.1], [0.1, 0.1]]
    )
    for name in FIELD_SIZES:
        assert not getattr(data, name)[0, 4:].any()


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_world_frame_force_on_a_slope_is_the_weight(cone):
    """A box held on a tilted plane by friction, with forces along all axes."""
    spec = mujoco.MjSpec.from_string("""
      <mujoco><worldbody>
        <geom name="slope" type="plane" size="0 0 1" euler="17 11 40"/>
        <body name="box" pos="0 0 .1" euler="17 11 40"><freejoint/>
          <geom name="box" type="box" size=".1 .1 .1" mass="2" friction="2"/>
        </body></worldbody></mujoco>""")
    match = ContactMatch(mode="geom", pattern="box")
    sim, sensors = build(
        spec,
        ContactSensorCfg(name="world", primary=match, global_frame=True, num_slots=8),
        ContactSensorCfg(name="net", primary=match, reduce="netforce"),
        ContactSensorCfg(
            name="raw",
            primary=match,
            fields=("force", "normal", "tangent"),
            num_slots=8,
        ),
        cone=cone,
        impratio=10.0,
    )
    for _ in range(1500):
        sim.step()
    for sensor in sensors.values():
        sensor.update(DT)
    stepped = sensors["world"].data.force.sum(dim=1)
    sim.forward(Stage.ACCELERATION)
    for sensor in sensors.values():
        sensor.refresh()
    total = sensors["world"].data.force.sum(dim=1)
    torch.testing.assert_close(total, stepped, rtol=1e-3, atol=1e-2)
    expected = torch.tensor([0.0, 0.0, -2.0 * GRAVITY]).expand(3, 3)
    torch.testing.assert_close(total, expected, rtol=2e-3, atol=2e-2)
    torch.testing.assert_close(
        total, sensors["net"].data.force[:, 0], rtol=1e-5, atol=1e-4
    )
    # By hand: sum of force along normal, tangent and their cross product.
    raw = sensors["raw"].data
    by_hand = np.zeros(3)
    for slot in range(8):
        n, t, f = (x[0, slot].numpy() for x in (raw.normal, raw.tangent, raw.force))
        by_hand += f[0] * n + f[1] * t + f[2] * np.cross(n, t)
    np.testing.assert_allclose(by_hand, total[0], rtol=1e-4, atol=1e-4)
    # Friction along both tangents supports weight, so a permutation would be detected.
    assert raw.force[0, :, 1:].abs().sum(0).min() > 0.1


def test_contacts_are_attributed_to_the_requested_pair():
    """A ball in a box that stands on the ground: three pairs, three forces."""
    spec = mujoco.MjSpec.from_string("""
      <mujoco><worldbody>
        <geom name="floor" type="plane" size="0 0 1"/>
        <body name="box" pos="0 0 .1"><freejoint/>
          <geom name="base" type="box" size=".2 .2 .1" mass="2"/></body>
        <body name="ball" pos="0 0 .249"><freejoint/>
          <geom name="ball" type="sphere" size=".05" mass=".3"/></body>
      </worldbody></mujoco>""")
    box, ball, world = (
        ContactMatch(mode="body", pattern=name) for name in ("box", "ball", "world")
    )
    settings = {"fields": ("found", "force"), "reduce": "netforce"}
    sim, sensors = build(
        spec,
        ContactSensorCfg(name="box_floor", primary=box, secondary=world, **settings),
        ContactSensorCfg(name="floor_box", primary=world, secondary=box, **settings),
        ContactSensorCfg(name="ball_box", primary=ball, secondary=box, **settings),
        ContactSensorCfg(name="ball_floor", primary=ball, secondary=world, **settings),
        ContactSensorCfg(
            name="both", primary=ContactMatch(mode="body", pattern=".*b.*"), **settings
        ),
    )
    for _ in range(1500):
        sim.step()
    for sensor in sensors.values():
        sensor.update(DT)
    vertical = {name: s.data.force[0, :, 2].tolist() for name, s in sensors.items()}
    tolerance = {"rel": 1e-3, "abs": 1e-3}
    assert vertical["box_floor"] == pytest.approx([-2.3 * GRAVITY], **tolerance)
    assert vertical["floor_box"] == pytest.approx([2.3 * GRAVITY], **tolerance)
    assert vertical["ball_box"] == pytest.approx([-0.3 * GRAVITY], **tolerance)
    assert vertical["ball_floor"] == [0.0]
    assert sensors["both"].primary_names == ("box", "ball")
    # Forces on the other sides of the box's contacts: its weight and the ball's down on
    # the floor, and the ball's weight up on the ball.
    assert vertical["both"] == pytest.approx(
        [-2.0 * GRAVITY, -0.3 * GRAVITY], **tolerance
    )


def test_a_subtree_includes_its_descendants_and_a_body_does_not():
    arm = """<mujoco><worldbody><body name="base" pos="0 0 1"><body name="tool">
      <joint type="slide" axis="0 0 1"/>
      <geom name="tool" type="sphere" size=".05" pos="0 0 -1.0" mass="1"/>
      </body></body></worldbody></mujoco>"""
    base = {"pattern": "base", "entity": "a"}
    sim, sensors = build(
        scene(arm),
        ContactSensorCfg(name="body", primary=ContactMatch(mode="body", **base)),
        ContactSensorCfg(name="tree", primary=ContactMatch(mode="subtree", **base)),
    )
    sim.step()
    for sensor in sensors.values():
        sensor.update(DT)
    assert sensors["body"].data.found.tolist() == [[0.0]] * 3
    assert sensors["tree"].data.found.tolist() == [[1.0]] * 3


@pytest.mark.parametrize(("policy", "other"), [("first", "a/crate"), ("any", "")])
def test_a_secondary_with_several_matches_is_used_by_the_policy(policy, other):
    spec = scene(BOXES)
    several = ContactMatch(mode="geom", pattern=".*", entity="a")
    cfg = crate_contacts(secondary=several, secondary_policy=policy)
    cfg.edit_spec(spec)
    assert [sensor.refname for sensor in spec.sensors] == [other]


def test_all_fields_of_a_primary_come_from_one_mujoco_sensor():
    spec = scene(BOXES)
    sim, _ = build(spec, crate_contacts(fields=tuple(FIELD_SIZES), num_slots=2))
    assert sim.mj_model.nsensor == 1
    assert sim.mj_model.sensor_dim[0] == 2 * 17


# --- Time of refresh ------------------------------------------------------------------


def test_contact_stage_follows_the_fields_and_their_reading():
    cheap = crate_contacts(fields=("found", "dist", "pos"), reduce="none")
    sim, sensors = build(scene(BOXES), cheap)
    _ = sensors["contacts"].data.found
    assert sim.reads.needed == Stage.VELOCITY
    sim, sensors = build(scene(BOXES), crate_contacts(track_air_time=True))
    # Times were counted in finished steps, so no stage has to be computed.
    _ = sensors["contacts"].data.current_air_time
    assert sim.reads.needed == Stage.VELOCITY
    _ = sensors["contacts"].data.force
    assert sim.reads.needed == Stage.ACCELERATION


def test_readings_change_only_in_update_and_refresh_and_stay_the_same_tensors():
    sim, sensors = build(scene(BOXES), crate_contacts())
    sensor = sensors["contacts"]
    settle(sim, sensor, 500)
    force = sensor.data.force
    before = force.clone()
    sim.data.qpos[1, 2] = 3.0
    sim.forward(Stage.ACCELERATION)
    assert torch.equal(sensor.data.force, before)
    sensor.refresh()
    assert sensor.data.force.data_ptr() == force.data_ptr()
    assert not force[1].any()
    assert torch.equal(force[0], force[2]) and force[0].any()


def test_force_read_after_a_forward_that_left_it_out_is_computed_late():
    sim, sensors = build(scene(BOXES), crate_contacts(reduce="netforce"))
    sensor = sensors["contacts"]
    settle(sim, sensor, 500)
    sim.data.qpos[1, 2] = 3.0
    sim.forward(Stage.VELOCITY)
    sensor.refresh()
    force = sensor.data.force
    assert not force[1].any()
    assert force[0, 0, 2] == pytest.approx(-2.0 * GRAVITY, rel=1e-3)


def test_late_read_of_a_sensor_keeps_other_sensors_current():
    one = crate_contacts(reduce="netforce")
    sim, sensors = build(scene(BOXES), one, dataclasses.replace(one, name="other"))
    settle(sim, sensors["contacts"], 500)
    sensors["other"].update(DT)
    sim.data.qpos[1, 2] = 3.0
    sim.forward(Stage.VELOCITY)
    for sensor in sensors.values():
        sensor.refresh()
    for sensor in sensors.values():
        assert not sensor.data.force[1].any()
        assert sensor.data.force[0, 0, 2] == pytest.approx(-2.0 * GRAVITY, rel=1e-3)


def test_reading_does_not_depend_on_the_reset_worlds():
    """The same world, with and without a reset of another world in between."""
    readings = []
    for resets_another in (False, True):
        sim, sensors = build(scene(BOXES), crate_contacts())
        sensor = sensors["contacts"]
        settle(sim, sensor, 100)
        _ = sensor.data.force
        if resets_another:
            mask = torch.tensor([False, True, False])
            sim.reset(mask)
            sensor.reset(mask)
        sim.forward(Stage.ACCELERATION)
        sensor.refresh()
        readings.append(sensor.data.force[0].clone())
    assert torch.equal(*readings)


# --- Air time and history -----------------------------------------------------------


def seconds(steps: int) -> object:
    """Compare physics step durations, to the last bits of a float32."""
    return pytest.approx(steps * DT, rel=2e-7)


def test_air_time_of_a_dropped_ball_is_the_time_of_its_fall():
    ball = ContactMatch(mode="geom", pattern="ball", entity="a")
    cfg = ContactSensorCfg(
        name="ball", primary=ball, num_slots=3, track_air_time=True, fields=("found",)
    )
    sim, sensors = build(scene(BOXES), cfg, num_envs=2)
    sensor = sensors["ball"]
    assert isinstance(sensor, ContactSensor)
    sim.data.qpos[1, 9] = 0.15
    drops = (0.45, 0.10)
    landed = [0, 0]
    for step in range(1, 200):
        sim.step()
        sensor.update(DT)
        found = sensor.data.found.view(2, 3)[:, 0] > 0
        for world in range(2):
            if found[world] and not landed[world]:
                landed[world] = step
                assert sensor.compute_first_contact(DT)[world, 0]
    for world, drop in enumerate(drops):
        # Contacts of a step belong to the state before its integration.
        fall = np.sqrt(2.0 * drop / GRAVITY)
        assert landed[world] * DT == pytest.approx(fall, abs=2.5 * DT)
        air_steps = landed[world] - 1
        assert sensor.data.last_air_time[world, 0] == seconds(air_steps)
    assert sensor.data.current_air_time.shape == (2, 1)


def test_times_follow_a_sequence_of_contacts_counted_by_hand():
    cfg = crate_contacts(fields=("found",), track_air_time=True)
    sim, sensors = build(scene(BOXES), cfg, num_envs=2)
    sensor = sensors["contacts"]
    assert isinstance(sensor, ContactSensor)
    # The crate of world 0 is placed on the ground or above it; that of world 1 stays
    # above.
    pattern = [0, 0, 0, 1, 1, 0, 1, 1, 1]
    by_hand = {
        "current_air_time": [1, 2, 3, 0, 0, 1, 0, 0, 0],
        "current_contact_time": [0, 0, 0, 1, 2, 0, 1, 2, 3],
        "last_air_time": [0, 0, 0, 3, 3, 3, 1, 1, 1],
        "last_contact_time": [0, 0, 0, 0, 0, 2, 2, 2, 2],
    }
    first_contact = [0, 0, 0, 1, 1, 0, 1, 1, 0]
    first_air = [0, 0, 0, 0, 0, 1, 0, 0, 0]
    for step, touches in enumerate(pattern):
        sim.data.qpos[0, 2] = 0.0999 if touches else 2.0
        sim.data.qpos[1, 2] = 2.0
        sim.data.qvel.zero_()
        sim.step()
        sensor.update(DT)
        for name, counts in by_hand.items():
            actual = getattr(sensor.data, name)[:, 0]
            assert actual[0] == seconds(counts[step]), (name, step)
        assert sensor.data.current_air_time[1, 0] == seconds(step + 1)
        assert bool(sensor.compute_first_contact(2 * DT)[0, 0]) == first_contact[step]
        assert bool(sensor.compute_first_air(2 * DT)[0, 0]) == first_air[step]
        assert not sensor.compute_first_contact(2 * DT)[1, 0]


def test_air_time_does_not_drift():
    air = AirTime(1, 1, torch.device("cpu"))
    nothing = torch.zeros(1, 1, dtype=torch.bool)
    for _ in range(20_000):
        air.update(nothing, 0.001)
    assert air.current_air_time.item() == pytest.approx(20.0, rel=1e-7)


def test_standing_since_the_reset_is_not_a_first_contact():
    cfg = crate_contacts(fields=("found",), track_air_time=True)
    sim, sensors = build(scene(BOXES), cfg)
    sensor = sensors["contacts"]
    assert isinstance(sensor, ContactSensor)
    settle(sim, sensor, 10)
    assert (sensor.data.current_contact_time > 0).all()
    assert not sensor.compute_first_contact(1.0).any()


def test_history_holds_the_last_physics_steps_newest_first():
    cfg = crate_contacts(fields=("found", "force"), reduce="netforce", history_length=3)
    sim, sensors = build(scene(BOXES), cfg)
    sensor = sensors["contacts"]
    seen = []
    for _ in range(5):
        sim.step()
        sensor.update(DT)
        seen.append(sensor.data.force.clone())
    history = sensor.data.force_history
    assert history.shape == (3, 1, 3, 3)
    for age in range(3):
        assert torch.equal(history[:, :, age], seen[-1 - age])
    assert sensor.data.history("found").shape == (3, 1, 3)


@given(
    mask=st.lists(st.booleans(), min_size=5, max_size=5),
    heights=st.lists(st.floats(0.05, 1.0), min_size=5, max_size=5),
    steps=st.integers(1, 12),
)
def test_reset_leaves_worlds_outside_the_mask_bit_identical(mask, heights, steps):
    sim, sensor = _five_worlds()
    sim.reset()
    sensor.reset(torch.ones(5, dtype=torch.bool))
    sim.data.qpos[:, 2] = torch.tensor(heights)
    for _ in range(steps):
        sim.step()
        sensor.update(DT)
    before = {name: tensor.clone() for name, tensor in sensor.state().items()}
    chosen = torch.tensor(mask)
    sensor.reset(chosen)
    for name, tensor in sensor.state().items():
        assert torch.equal(tensor[~chosen], before[name][~chosen]), name
        if name != "history_empty":
            assert not tensor[chosen].any(), name
    # Times of the reset worlds restart, those of the others continue.
    sim.step()
    sensor.update(DT)
    times = sensor.data.current_air_time + sensor.data.current_contact_time
    assert (times[chosen] == np.float32(DT)).all()
    assert (times[~chosen] >= np.float32(DT)).all()


def _five_worlds(cache: list = []) -> tuple[Simulation, ContactSensor]:  # noqa: B006
    if not cache:
        cfg = crate_contacts(
            fields=tuple(FIELD_SIZES),
            num_slots=2,
            track_air_time=True,
            history_length=2,
        )
        sim, sensors = build(scene(BOXES), cfg, num_envs=5)
        cache.append((sim, sensors["contacts"]))
    return cache[0]


def test_readings_do_not_depend_on_the_number_of_worlds():
    readings = []
    for num_envs in (1, 6):
        cfg = crate_contacts(num_slots=4, global_frame=True)
        sim, sensors = build(scene(BOXES), cfg, num_envs=num_envs)
        sim.data.qpos[:, 3:7] = torch.tensor([0.99, 0.03, 0.02, 0.13])
        settle(sim, sensors["contacts"], 150)
        readings.append(sensors["contacts"].data.force[0].clone())
    assert readings[0].any()
    assert torch.equal(*readings)


# --- Bad input ----------------------------------------------------------------------


def complaint(cfg: SensorCfg, spec: mujoco.MjSpec | None = None) -> str:
    with pytest.raises(ValueError) as caught:
        cfg.edit_spec(scene(ROBOT, BOXES) if spec is None else spec)
    return str(caught.value)


def test_sensor_on_a_missing_body_names_the_nearest_ones():
    cfg = MujocoSensorCfg(
        name="lin",
        sensor_type="framelinvel",
        obj=ObjRef(type="body", name="trunkk", entity="a"),
    )
    with pytest.raises(UnknownNameError):
        cfg.edit_spec(scene(ROBOT))
    assert complaint(cfg) == (
        "Sensor 'lin': There is no body 'trunkk' of 'a'. Valid names, nearest first: "
        "'trunk', 'arm', 'hand'."
    )


def test_sensor_of_a_missing_entity_names_the_entities():
    ref = ObjRef(type="site", name="imu", entity="robot")
    cfg = MujocoSensorCfg(name="gyr", sensor_type="gyro", obj=ref)
    assert complaint(cfg) == (
        "Sensor 'gyr': there is no entity 'robot' in the scene. Valid names: 'a', 'b'."
    )


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"sensor_type": "gyrp"}, "Sensor 's': there is no sensor type 'gyrp'."),
        ({"sensor_type": "contact"}, "Sensor 's': use ContactSensorCfg for contacts."),
        (
            {"sensor_type": "gyro"},
            "Sensor 's' of type 'gyro' needs obj of type 'site'.",
        ),
        (
            {"sensor_type": "gyro", "obj": ObjRef(type="body", name="a/arm")},
            "Sensor 's' of type 'gyro': obj 'a/arm' has type 'body', but it has to be "
            "'site'.",
        ),
        (
            {"sensor_type": "clock", "obj": ObjRef(type="body", name="a/arm")},
            "Sensor 's' of type 'clock' takes no obj: remove obj 'a/arm'.",
        ),
        (
            {"sensor_type": "distance", "obj": ObjRef(type="geom", name="a/arm")},
            "Sensor 's' of type 'distance' needs ref of type 'geom' or 'body'.",
        ),
        ({}, "There is no sensor 's'. Valid names: 'a/gyro', 'a/arm_pos'."),
        (
            {"cutoff": 1.0},
            "Sensor 's' has no sensor_type, so it refers to an existing sensor; leave "
            "cutoff out, or set sensor_type.",
        ),
    ],
)
def test_invalid_mujoco_sensor_settings_are_refused(settings, message):
    assert complaint(MujocoSensorCfg(name="s", **settings)).startswith(message)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"fields": ()},
            "Contact sensor 'contacts': fields is empty; name at least one",
        ),
        (
            {"fields": ("forces",)},
            "Contact sensor 'contacts': fields: 'forces' is unknown. Valid names, "
            "nearest first: 'force'",
        ),
        (
            {"reduce": "max"},
            "Contact sensor 'contacts': reduce: 'max' is unknown. Valid names",
        ),
        (
            {"num_slots": 0},
            "Contact sensor 'contacts': num_slots=0 has to be 1 or more.",
        ),
        (
            {"history_length": -1},
            "Contact sensor 'contacts': history_length=-1 is negative.",
        ),
        (
            {"reduce": "netforce", "num_slots": 2},
            "Contact sensor 'contacts': reduce='netforce' gives one contact; num_slots "
            "has to be 1, not 2.",
        ),
        (
            {"reduce": "netforce", "fields": ("force", "normal", "dist")},
            "Contact sensor 'contacts': reduce='netforce' sums contacts, so fields "
            "cannot contain dist, normal.",
        ),
        (
            {"fields": ("found",), "global_frame": True},
            "Contact sensor 'contacts': global_frame=True needs 'force' or 'torque' in "
            "fields.",
        ),
        (
            {"secondary": ContactMatch(mode="geom", pattern=".*", entity="a")},
            "Sensor 'contacts': secondary matches 4 names, 'a/trunk', 'a/arm', "
            "'a/hand', 'a/lump'; it has to match one.",
        ),
        (
            {"primary": ContactMatch(mode="geom", pattern="box", entity="b")},
            "Sensor 'contacts': No geom of 'b' matches 'box'. Valid names: ",
        ),
        (
            {"primary": ContactMatch(mode="gem", pattern="box", entity="b")},
            "Sensor 'contacts': mode='gem' is unknown. Valid names, nearest first: "
            "'geom'",
        ),
        (
            {
                "primary": ContactMatch(
                    mode="geom", pattern="crate", entity="b", exclude=("c.*",)
                )
            },
            "Sensor 'contacts': exclude=('c.*',) removes all matches of 'crate'.",
        ),
    ],
)
def test_invalid_contact_sensor_settings_are_refused(settings, message):
    defaults = {"primary": ContactMatch(mode="geom", pattern="crate", entity="b")}
    cfg = ContactSensorCfg(name="contacts", **{**defaults, **settings})
    assert complaint(cfg).startswith(message)


def test_reading_a_field_that_is_not_measured_names_those_that_are():
    _, sensors = build(scene(BOXES), crate_contacts(fields=("found", "dist")))
    data = sensors["contacts"].data
    with pytest.raises(
        ContactFieldError, match=r"has no field 'force'\. It has 'found', "
    ):
        _ = data.force
    with pytest.raises(ContactFieldError, match="set track_air_time=True"):
        _ = data.last_air_time
    with pytest.raises(ContactFieldError, match="history of 'force'"):
        data.history("force")
    assert data.force_history is None


def test_a_sensor_with_an_unedited_spec_is_reported():
    sim, _ = build(scene(BOXES))
    with pytest.raises(UnknownNameError, match="call its `edit_spec` before"):
        bind_sensors([crate_contacts()], sim)
    with pytest.raises(UnknownNameError, match="There is no sensor 'gyro'"):
        MujocoSensor("gyro", sim)
