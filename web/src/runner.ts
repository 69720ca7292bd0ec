/**
 * Policy loaded from a file, and the MuJoCo robot that it drives.
 *
 * Inputs, states, rates and actuator laws are the same as in `mjlab/export/runner`
 * (Python) and `mjlab_runner.hpp` (C++).
 */

import type { DoubleBuffer, MainModule, MjData, MjModel } from "@mujoco/mujoco";
import { InferenceSession, Tensor } from "onnxruntime-web/wasm";
import {
  type ActionTerm,
  type Actuator,
  type Arrays,
  type Contract,
  type Entity,
  FileError,
  type Graph,
  type Input,
  type Numbers,
  type PolicyFile,
  type ReachTerm,
  type State,
} from "./file";

/** Control law of an actuator that MuJoCo does not compute. */
const PD = "pd";
/** Input that selects the row of clips. */
const CLOCK = "time_step";

/** Command of an actuator, by the last word of a term's quantity. */
const COMMANDS: Record<string, string> = {
  pos: "position",
  len: "position",
  pose: "position",
  vel: "velocity",
  effort: "effort",
};

// The policy.

/** Graph of a file: maps inputs to outputs, and stores its state. */
export class FileGraph {
  /** State for the next call. */
  state: Record<string, Tensor> = {};

  protected constructor(
    private readonly session: InferenceSession,
    readonly about: Graph,
  ) {
    this.reset();
  }

  static async of(content: Uint8Array, about: Graph): Promise<FileGraph> {
    return new FileGraph(await session(content), about);
  }

  /** Return to the initial state. */
  reset(): void {
    this.state = Object.fromEntries(this.about.states.map((s) => [s.name, first(s)]));
  }

  /** Return the outputs by name. */
  async call(measured: Arrays): Promise<Arrays> {
    const fed: Record<string, Tensor> = { ...this.state };
    for (const entry of this.about.inputs) {
      const value = measured[entry.name];
      const size = entry.shape.reduce((a, b) => a * b, 1);
      if (value?.length !== size) {
        throw new FileError(`${entry.name} has ${value?.length} numbers, not ${size}.`);
      }
      fed[entry.name] = new Tensor(Float32Array.from(value), entry.shape);
    }
    const found = await this.session.run(fed);
    this.state = Object.fromEntries(
      this.about.states.map(({ name, next }) => [name, found[next] as Tensor]),
    );
    return Object.fromEntries(
      this.about.outputs.map(({ name }) => [name, found[name].data as Float32Array]),
    );
  }

  release(): Promise<void> {
    return this.session.release();
  }
}

/** Policy loaded from a file: maps readings to targets, once per control period. */
export class Policy extends FileGraph {
  readonly contract: Contract;
  readonly entity: Entity;
  /** Duration of a control period, in seconds. */
  readonly dt: number;

  private constructor(
    whole: InferenceSession,
    /** Muscle controllers by action term, which run once per physics step. */
    readonly controllers: Record<string, FileGraph>,
    /** Model of inputs and commands in simulation, null if the policy needs none. */
    readonly world: FileGraph | null,
    /** Model of reward terms, null if the file has none. */
    readonly rewards: FileGraph | null,
    readonly record: Arrays,
    contract: Contract,
  ) {
    super(whole, contract);
    this.contract = contract;
    this.entity = contract.entities[contract.robot];
    this.dt = contract.rates.control_dt;
  }

  static async load(file: PolicyFile): Promise<Policy> {
    const { contract } = file;
    for (const entry of [...contract.inputs, ...contract.states]) {
      if (entry.dtype !== "float32") {
        throw new FileError(`${entry.name} is ${entry.dtype}; a page feeds float32.`);
      }
    }
    const controllers: Record<string, FileGraph> = {};
    for (const term of contract.actions) {
      if (term.tracked_by) {
        const model = file.model(term.tracked_by.model);
        controllers[term.name] = await FileGraph.of(model, term.tracked_by);
      }
    }
    const graph = async (about: (Graph & { model: string }) | undefined) =>
      about ? FileGraph.of(file.model(about.model), about) : null;
    const [world, rewards] = [await graph(contract.world), await graph(contract.rewards)];
    const record = await file.record();
    const whole = await session(file.content);
    return new Policy(whole, controllers, world, rewards, record, contract);
  }

  reset(): void {
    super.reset();
    // The constructor of `FileGraph` calls this before there are other graphs.
    Object.values(this.controllers ?? {}).forEach((controller) => controller.reset());
    this.world?.reset();
    this.rewards?.reset();
  }

  /** Return the row of the clips after a number of steps, nothing without clips. */
  clock(step: number): Arrays {
    if (this.contract.motion === undefined) {
      return {};
    }
    const first = this.record[`command ${CLOCK}`][0];
    const lasts = this.contract.motion.clips.map((c) => c.first + c.frames - 1);
    const last = lasts.find((row) => row >= first)!;
    return { [CLOCK]: Float32Array.of(Math.min(first + step, last)) };
  }

  async release(): Promise<void> {
    await Promise.all(Object.values(this.controllers).map((each) => each.release()));
    await this.world?.release();
    await this.rewards?.release();
    await super.release();
  }
}

async function session(content: Uint8Array): Promise<InferenceSession> {
  try {
    return await InferenceSession.create(content);
  } catch (error) {
    throw new FileError(`The network cannot be loaded: ${message(error)}`);
  }
}

function first(state: State): Tensor {
  const values = new Float32Array(state.shape.reduce((a, b) => a * b, 1));
  if (typeof state.initial === "number") {
    values.fill(state.initial);
  } else {
    values.set(state.initial);
  }
  return new Tensor(values, state.shape);
}

/** Text of an error, also of those that WebAssembly throws, in one line. */
export function message(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.trim().replace(/\s+/g, " ");
}

// The robot.

/** Robot simulated with MuJoCo. */
export class Robot {
  readonly model: MjModel;
  readonly data: MjData;
  /** Values of inputs that the model does not determine, such as camera images. */
  given: Arrays = {};
  /** Weighted reward terms of the last step, by name. */
  rewards: Arrays = {};
  private readonly world: FileGraph | null;
  private readonly evaluated: FileGraph | null;
  /** Commands of this step, and the states that the world's commands had before. */
  private told: Arrays = {};
  private readonly contract: Contract;
  private readonly entity: Entity;
  private readonly ids = new Map<string, number>();
  private readonly controls: Record<string, number> = {};
  private readonly servos: Record<string, Servo> = {};
  private readonly reaches: Record<string, Reach> = {};
  private readonly muscles: Muscles[];
  private readonly constraint: Float64Array;
  private readonly velocity: DoubleBuffer;
  private targets: Arrays = {};

  /** Compile the scene of the file. */
  static async of(mujoco: MainModule, policy: Policy, file: PolicyFile): Promise<Robot> {
    return new Robot(mujoco, policy, compile(mujoco, await file.scene(), file.name));
  }

  private constructor(
    readonly mujoco: MainModule,
    policy: Policy,
    model: MjModel,
  ) {
    this.contract = policy.contract;
    this.entity = policy.entity;
    this.world = policy.world;
    this.evaluated = policy.rewards;
    this.model = model;
    this.data = new mujoco.MjData(model);
    this.velocity = mujoco.DoubleBuffer.FromArray(new Float64Array(6));
    this.constraint = new Float64Array(model.nv);
    for (const actuator of this.entity.actuators) {
      this.addControl(actuator);
    }
    for (const term of this.contract.actions) {
      if (term.reach) {
        this.reaches[term.output] = new Reach(this, this.entity.prefix, term, term.reach);
      }
    }
    this.muscles = Object.values(policy.controllers).map((controller) => {
      const [output] = controller.about.outputs;
      const places = output.elements!.map((name) => this.controls[`${name} effort`]);
      return { controller, output: output.name, places };
    });
  }

  /** Return the id of an element; its prefix can be omitted. */
  find(kind: string, name: string): number {
    const key = `${kind} ${name}`;
    if (!this.ids.has(key)) {
      const { mujoco, model, entity } = this;
      const short = name.startsWith(entity.prefix)
        ? name.slice(entity.prefix.length)
        : name;
      const type = KINDS(mujoco)[kind];
      const found = [name, short].map((each) => mujoco.mj_name2id(model, type, each));
      if (Math.max(...found) < 0) {
        throw new FileError(`The model has no ${kind} '${name}'.`);
      }
      this.ids.set(key, found[0] >= 0 ? found[0] : found[1]);
    }
    return this.ids.get(key)!;
  }

  /** Return the addresses of a joint in qpos and qvel. */
  joint(name: string): [number, number] {
    const id = this.find("joint", name);
    return [this.model.jnt_qposadr[id], this.model.jnt_dofadr[id]];
  }

  /** Start from a state, with servos at the default pose. */
  start(qpos: Numbers, qvel: Numbers): void {
    this.mujoco.mj_resetData(this.model, this.data);
    this.constraint.fill(0);
    this.targets = this.rewards = {};
    const ctrl: Float64Array = this.data.ctrl;
    for (const { name, default_pos } of this.entity.joints) {
      const control = this.controls[`${name} position`];
      if (this.servos[name]) {
        this.servos[name].asked = { position: default_pos, velocity: 0, effort: 0 };
      } else if (control !== undefined) {
        ctrl[control] = default_pos;
      }
    }
    this.place(qpos, qvel);
  }

  /** Set another state, with the forces of the last step as warm start. */
  place(qpos: Numbers, qvel: Numbers): void {
    if (qpos.length !== this.model.nq || qvel.length !== this.model.nv) {
      throw new FileError(
        `The model has ${this.model.nq} coordinates, but the state has ${qpos.length}.`,
      );
    }
    this.data.qpos.set(qpos);
    this.data.qvel.set(qvel);
    this.mujoco.mj_forward(this.model, this.data);
  }

  /** Return the readings of the policy's inputs, by name. */
  async read(commands: Arrays): Promise<Arrays> {
    this.told = { ...commands };
    if (this.world === null) {
      return this.measure(this.contract.inputs, commands, this.given);
    }
    const fields = this.world.about.inputs.map(({ name }) => [
      name,
      this.data[name as "qpos"],
    ]);
    for (const [name, { data }] of Object.entries(this.world.state)) {
      this.told[name] = data as Float32Array;
    }
    const found = await this.world.call(Object.fromEntries(fields));
    Object.assign(this.told, found);
    return this.measure(
      this.contract.inputs,
      { ...commands, ...found },
      { ...this.given, ...found },
    );
  }

  /** Use the policy's targets from now on. */
  write(targets: Arrays): void {
    this.targets = targets;
  }

  /** Take the physics steps of a control period. */
  async wait(): Promise<void> {
    const held: Float64Array = this.data.qpos.slice();
    const told = Object.keys(this.targets).length > 0;
    for (const [output, reach] of Object.entries(told ? this.reaches : {})) {
      reach.aim(this.targets[output]);
    }
    for (let n = 0; n < this.contract.rates.decimation; n++) {
      for (const term of told ? this.contract.actions : []) {
        if (!term.tracked_by) {
          this.send(term, held);
        }
      }
      Object.values(this.servos).forEach((servo) => servo.pull(this.data));
      await this.step();
    }
    await this.evaluate();
    this.mujoco.mj_forward(this.model, this.data);
  }

  /** Compute rewards, as in training before `mj_forward`. */
  private async evaluate(): Promise<void> {
    const { action } = this.targets;
    if (this.evaluated !== null && action !== undefined) {
      const known: Arrays = { ...this.told, action };
      const inputs = this.evaluated.about.inputs.map(({ name }) => [
        name,
        known[name] ?? this.data[name as "qpos"],
      ]);
      this.rewards = await this.evaluated.call(Object.fromEntries(inputs));
    }
  }

  /** Cosine of the angle between the root's z axis and the vertical. */
  upright(): number {
    const { is_fixed, frame } = this.entity.root;
    return is_fixed ? 1 : this.data.xmat[9 * this.find("body", frame) + 8];
  }

  /** Linear and angular velocity of a body in its own axes. */
  bodyVelocity(body: number): { linear: Numbers; angular: Numbers } {
    const { mujoco, model, data, velocity } = this;
    const frame = mujoco.mjtObj.mjOBJ_XBODY.value;
    mujoco.mj_objectVelocity(model, data, frame, body, velocity, 1);
    const found: Float64Array = velocity.GetView().slice();
    return { angular: found.subarray(0, 3), linear: found.subarray(3) };
  }

  release(): void {
    Object.values(this.reaches).forEach((reach) => reach.release());
    this.velocity.delete();
    this.data.delete();
    this.model.delete();
  }

  private addControl(actuator: Actuator): void {
    if (actuator.law !== null && actuator.law !== PD) {
      throw new FileError(
        `The actuator of ${actuator.target} uses ${actuator.law}, which plain MuJoCo ` +
          "does not support.",
      );
    }
    if (actuator.commands.length !== 1 && actuator.law === null) {
      throw new FileError(
        `The actuator of ${actuator.target} has the inputs ` +
          `${actuator.commands.join(", ")}; MuJoCo 3.14 supports one.`,
      );
    }
    // One control an actuator, so the id of an actuator is its address in ctrl.
    const address = this.find("actuator", actuator.actuator);
    for (const command of actuator.commands) {
      this.controls[`${actuator.target} ${command}`] = address;
    }
    if (actuator.law === PD) {
      const joint = this.joint(this.entity.prefix + actuator.target);
      this.servos[actuator.target] = new Servo(actuator, address, joint);
    }
  }

  private send(term: ActionTerm, held: Float64Array): void {
    const command = COMMANDS[term.quantity.slice(term.quantity.lastIndexOf("_") + 1)];
    const reach = this.reaches[term.output];
    const values = reach ? reach.targets() : this.targets[term.output];
    const [ctrl, qpos]: Float64Array[] = [this.data.ctrl, this.data.qpos];
    term.targets.forEach((name, index) => {
      let value = values[index];
      if (term.relative_to) {
        const [address] = this.joint(this.entity.prefix + name);
        const isLive = term.relative_to.endsWith("physics step");
        value += (isLive ? qpos : held)[address];
      }
      if (this.servos[name]) {
        this.servos[name].asked[command] = value;
      } else {
        ctrl[this.controls[`${name} ${command}`]] = value;
      }
    });
  }

  /** Take a physics step; muscles are excited after its velocity stage. */
  private async step(): Promise<void> {
    const { mujoco, model, data } = this;
    if (this.muscles.length === 0) {
      mujoco.mj_step(model, data);
      return;
    }
    mujoco.mj_step1(model, data);
    // Restore the constraint forces of the last step: `mj_forward` replaced them.
    data.qfrc_constraint.set(this.constraint);
    for (const { controller, output, places } of this.muscles) {
      if (Object.keys(this.targets).length > 0) {
        const entries = controller.about.inputs as Input[];
        const inputs = this.measure(entries, {}, this.targets);
        const excitations = (await controller.call(inputs))[output];
        const ctrl: Float64Array = data.ctrl;
        places.forEach((place, index) => (ctrl[place] = excitations[index]));
      }
    }
    mujoco.mj_step2(model, data);
    this.constraint.set(data.qfrc_constraint);
  }

  private measure(entries: Input[], commands: Arrays, known: Arrays): Arrays {
    return Object.fromEntries(
      entries.map((entry) => [entry.name, this.reading(entry, commands, known)]),
    );
  }

  private reading(entry: Input, commands: Arrays, known: Arrays): Numbers {
    const { model, data } = this;
    const how = entry.measured;
    switch (how.kind) {
      case "given":
      case "target":
        return need(known, entry.name);
      case "command":
      case "clip_row":
        return need(commands, how.command!);
      case "mujoco": {
        const field: Float64Array = data[how.field as "qpos"];
        return Float64Array.from(how.columns!, (column) => field[column]);
      }
      case "sensor": {
        const id = this.find("sensor", how.name!);
        const start = model.sensor_adr[id];
        return data.sensordata.slice(start, start + model.sensor_dim[id]);
      }
      case "joint_pos":
      case "joint_vel": {
        const { prefix } = this.contract.entities[how.entity!];
        const isVelocity = how.kind === "joint_vel";
        const values: Float64Array = isVelocity ? data.qvel : data.qpos;
        return Float64Array.from(
          entry.elements!,
          (name) => values[this.joint(prefix + name)[isVelocity ? 1 : 0]],
        );
      }
    }
    const body = this.find("body", how.body!);
    switch (how.kind) {
      case "root_quat_w":
      case "body_quat":
        return data.xquat.slice(4 * body, 4 * body + 4);
      case "body_pos":
        return data.xpos.slice(3 * body, 3 * body + 3);
      case "root_lin_vel_b":
        return this.bodyVelocity(body).linear;
      case "root_ang_vel_b":
        return this.bodyVelocity(body).angular;
    }
    throw new FileError(`This page cannot measure ${how.kind}: export the policy again.`);
  }
}

interface Muscles {
  controller: FileGraph;
  output: string;
  /** Addresses in ctrl. */
  places: number[];
}

function KINDS(mujoco: MainModule): Record<string, number> {
  const types = mujoco.mjtObj;
  return {
    actuator: types.mjOBJ_ACTUATOR.value,
    body: types.mjOBJ_BODY.value,
    geom: types.mjOBJ_GEOM.value,
    joint: types.mjOBJ_JOINT.value,
    sensor: types.mjOBJ_SENSOR.value,
    site: types.mjOBJ_SITE.value,
  };
}

function compile(
  mujoco: MainModule,
  files: Map<string, Uint8Array>,
  name: string,
): MjModel {
  const vfs = new mujoco.MjVFS();
  try {
    for (const [path, content] of files) {
      vfs.addBuffer(path, content);
    }
    const text = new TextDecoder().decode(files.get("scene.xml"));
    return mujoco.MjModel.from_xml_string(text, vfs);
  } catch (error) {
    throw new FileError(
      `MuJoCo ${mujoco.mj_versionString()} cannot load the model of ${name}: ` +
        message(error),
    );
  } finally {
    vfs.delete();
  }
}

function need(values: Arrays, name: string): Numbers {
  if (values[name] === undefined) {
    throw new FileError(`No reading for ${name}.`);
  }
  return values[name];
}

/** Motor with a control law that MuJoCo does not compute. */
class Servo {
  /** Targets by command. */
  asked: Record<string, number> = {};

  constructor(
    private readonly gains: Actuator,
    private readonly control: number,
    private readonly joint: [number, number],
  ) {}

  /** Set the effort of the next physics step. */
  pull(data: MjData): void {
    if (this.asked.position === undefined) {
      return;
    }
    const { stiffness, damping, effort_limit } = this.gains;
    const away = this.asked.position - data.qpos[this.joint[0]];
    const speed = this.asked.velocity - data.qvel[this.joint[1]];
    const effort = stiffness! * away + damping! * speed + this.asked.effort;
    const most = effort_limit ?? Infinity;
    data.ctrl[this.control] = Math.min(Math.max(effort, -most), most);
  }
}

// Inverse kinematics.

/** Inverse kinematics of one frame: joint positions that move it to a target. */
class Reach {
  private readonly kind: string;
  private readonly id: number;
  private readonly body: number;
  private readonly base: number;
  private readonly places: number[];
  private readonly dofs: number[];
  private readonly jacobians: [DoubleBuffer, DoubleBuffer];
  private readonly three: DoubleBuffer;
  private seen: number[] = [];
  private goal = [0, 0, 0];
  private goalQuat = [1, 0, 0, 0];

  constructor(
    private readonly robot: Robot,
    prefix: string,
    term: ActionTerm,
    private readonly how: ReachTerm,
  ) {
    const { mujoco, model } = robot;
    const [[kind, name]] = Object.entries(how.frame);
    this.kind = kind;
    this.id = robot.find(kind, name);
    this.body =
      kind === "body" ? this.id : model[`${kind}_bodyid` as "site_bodyid"][this.id];
    this.base = robot.find("body", how.base);
    const joints = term.targets.map((target) => robot.joint(prefix + target));
    this.places = joints.map(([place]) => place);
    this.dofs = joints.map(([, dof]) => dof);
    const buffer = (size: number) =>
      mujoco.DoubleBuffer.FromArray(new Float64Array(size));
    this.jacobians = [buffer(3 * model.nv), buffer(3 * model.nv)];
    this.three = buffer(3);
  }

  release(): void {
    [...this.jacobians, this.three].forEach((each) => each.delete());
  }

  /** Set the target of a control period from an absolute or relative command. */
  aim(command: Numbers): void {
    const { how, base } = this;
    const { data } = this.robot;
    const [place, quat] = this.pose();
    const inBase = how.command_frame === "base";
    const axes: number[] = inBase
      ? [...data.xmat.subarray(9 * base, 9 * base + 9)]
      : [1, 0, 0, 0, 1, 0, 0, 0, 1];
    const origin = inBase ? [...data.xpos.subarray(3 * base, 3 * base + 3)] : [0, 0, 0];
    const step = turned(axes, [...command.subarray(0, 3)]);
    const hasTurn = command.length > 3;
    if (how.is_relative) {
      this.goal = sum(place, step);
      if (hasTurn) {
        const vector = turned(axes, [...command.subarray(3)]);
        this.goalQuat = product(ofVector(vector), quat);
      }
    } else {
      this.goal = sum(origin, step);
      if (hasTurn) {
        const asked = [...command.subarray(3)];
        const size = Math.max(Math.hypot(...asked), 1e-9);
        this.goalQuat = asked.map((value) => value / size);
        if (inBase) {
          const own = [...data.xquat.subarray(4 * base, 4 * base + 4)];
          this.goalQuat = product(own, this.goalQuat);
        }
      }
    }
    this.seen = this.joints();
  }

  /** Return joint positions for the next physics step. */
  targets(): Float64Array {
    const { how, seen } = this;
    const low = how.limits.map(([value]) => value ?? -Infinity);
    const high = how.limits.map(([, value]) => value ?? Infinity);
    const clip = (value: number, i: number) =>
      Math.min(Math.max(value, low[i]), high[i]);
    let step = this.step(
      seen.map(() => false),
      seen.map(() => 0),
    );
    for (let round = 0; round < how.limit_rounds; round++) {
      const target = sum(seen, step);
      const kept = target.map(clip);
      step = this.step(
        kept.map((value, i) => value !== target[i]),
        kept.map((value, i) => value - seen[i]),
      );
    }
    const most = how.max_joint_step;
    const scale = most / Math.max(...step.map(Math.abs), most);
    // After the next physics step, frame poses still belong to these positions.
    this.seen = this.joints();
    return Float64Array.from(seen, (value, i) => clip(value + step[i] * scale, i));
  }

  private joints(): number[] {
    const qpos: Float64Array = this.robot.data.qpos;
    return this.places.map((place) => qpos[place]);
  }

  /** Return a damped least-squares joint step; held joints move by fixed values. */
  private step(held: boolean[], asked: number[]): number[] {
    const { how, seen } = this;
    const { jacobian, error } = this.system();
    const values = asked.map((value, i) => (held[i] ? value : 0));
    const pull = seen.map((at, i) =>
      held[i] ? 0 : how.posture_weight * (how.posture[i] - at),
    );
    const free = jacobian.map((row) => row.map((value, i) => (held[i] ? 0 : value)));
    const normal = free.map((left, i) =>
      free.map((right, j) => dot(left, right) + (i === j ? how.damping ** 2 : 0)),
    );
    const left = error.map((e, i) => e - dot(jacobian[i], values) - dot(free[i], pull));
    const weights = solve(normal, left);
    return seen.map(
      (_, i) => free.reduce((t, row, r) => t + row[i] * weights[r], pull[i]) + values[i],
    );
  }

  /** Return the weighted Jacobian and the pose error of the frame. */
  private system(): { jacobian: number[][]; error: number[] } {
    const { robot, how } = this;
    const { mujoco, model, data } = robot;
    const [place, quat] = this.pose();
    mujoco.mj_jac(model, data, ...this.jacobians, place, this.body);
    mujoco.mju_subQuat(this.three, this.goalQuat, quat);
    const turn = turned(matrix(quat), [...this.three.GetView()]);
    const error = [...place.map((value, i) => this.goal[i] - value), ...turn];
    const jacobian = this.jacobians.flatMap((buffer) => {
      const view: Float64Array = buffer.GetView();
      return [0, 1, 2].map((row) => this.dofs.map((dof) => view[row * model.nv + dof]));
    });
    const size = how.position_only ? 3 : 6;
    const weight = (row: number) => how.weights[row < 3 ? 0 : 1];
    return {
      jacobian: jacobian
        .slice(0, size)
        .map((row, r) => row.map((value) => weight(r) * value)),
      error: error.slice(0, size).map((value, r) => weight(r) * value),
    };
  }

  /** Return position and quaternion of the frame. */
  private pose(): [number[], number[]] {
    const { data, model } = this.robot;
    const { kind, id, body } = this;
    const quat = [...data.xquat.subarray(4 * body, 4 * body + 4)];
    if (kind === "body") {
      return [[...data.xpos.subarray(3 * id, 3 * id + 3)], quat];
    }
    const places: Float64Array = data[`${kind}_xpos` as "site_xpos"];
    const own: Float64Array = model[`${kind}_quat` as "site_quat"];
    return [
      [...places.subarray(3 * id, 3 * id + 3)],
      product(quat, [...own.subarray(4 * id, 4 * id + 4)]),
    ];
  }
}

function sum(a: number[], b: number[]): number[] {
  return a.map((value, i) => value + b[i]);
}

function dot(a: number[], b: number[]): number {
  return a.reduce((total, value, i) => total + value * b[i], 0);
}

/** Product of a 3 x 3 matrix and a vector. */
function turned(axes: number[], vector: number[]): number[] {
  return [0, 1, 2].map((row) => dot(axes.slice(3 * row, 3 * row + 3), vector));
}

function product([a, b, c, d]: number[], [e, f, g, h]: number[]): number[] {
  return [
    a * e - b * f - c * g - d * h,
    a * f + b * e + c * h - d * g,
    a * g - b * h + c * e + d * f,
    a * h + b * g - c * f + d * e,
  ];
}

function matrix([w, x, y, z]: number[]): number[] {
  return [
    w * w + x * x - y * y - z * z,
    2 * (x * y - w * z),
    2 * (x * z + w * y),
    2 * (x * y + w * z),
    w * w - x * x + y * y - z * z,
    2 * (y * z - w * x),
    2 * (x * z - w * y),
    2 * (y * z + w * x),
    w * w - x * x - y * y + z * z,
  ];
}

/** Quaternion of a rotation vector. */
function ofVector(vector: number[]): number[] {
  const angle = Math.hypot(...vector);
  const size = Math.max(angle, 1e-12);
  const sine = Math.sin(angle / 2);
  return [Math.cos(angle / 2), ...vector.map((value) => (value / size) * sine)];
}

/** Solve a system of linear equations, by elimination with pivots. */
function solve(left: number[][], right: number[]): number[] {
  const rows = left.map((row, i) => [...row, right[i]]);
  const size = rows.length;
  for (let column = 0; column < size; column++) {
    let best = column;
    for (let row = column + 1; row < size; row++) {
      if (Math.abs(rows[row][column]) > Math.abs(rows[best][column])) {
        best = row;
      }
    }
    [rows[column], rows[best]] = [rows[best], rows[column]];
    for (let row = column + 1; row < size; row++) {
      const factor = rows[row][column] / rows[column][column];
      for (let k = column; k <= size; k++) {
        rows[row][k] -= factor * rows[column][k];
      }
    }
  }
  const found = new Array<number>(size).fill(0);
  for (let row = size - 1; row >= 0; row--) {
    const known = found.reduce((total, value, k) => total + rows[row][k] * value, 0);
    found[row] = (rows[row][size] - known) / rows[row][row];
  }
  return found;
}
