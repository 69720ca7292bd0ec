/** A policy in its scene: control steps, pushes and readings for the panel. */

import type { MainModule } from "@mujoco/mujoco";
import type { Command, Contract, Dial, Numbers, PolicyFile } from "./file";
import { Policy, Robot } from "./runner";
import { type Axis, Steering } from "./steer";

/** Mouse force as acceleration of the robot: m/s^2 per metre, and its maximum, m/s^2. */
const [PULL, MOST_PULL] = [12, 20];
/** Change of velocity by a push with a key, m/s, and its duration, s. */
const [SHOVE, SHOVE_S] = [0.6, 0.1];
/** Tilt and height of a fall: cosine, and fraction of the initial height. */
const [FALLEN_TILT, FALLEN_HEIGHT] = [0.4, 0.55];

/** Point of a body that the mouse holds, and the point it is pulled to. */
export interface Grip {
  body: number;
  /** The held point, in the axes of the body. */
  local: number[];
  to: number[];
}

export class Session {
  /** Control steps since the start. */
  steps = 0;
  grip: Grip | null = null;
  readonly steering: Steering;
  /** Bodies that touched the ground since the policy was opened, by id. */
  readonly feet = new Map<number, string>();
  private readonly root: number;
  private readonly command: Command | null;
  private readonly dial: Dial | null;
  private readonly mass: number;
  private shove: { force: number[]; left: number } | null = null;
  private com: number[] = [0, 0, 0];
  private height = 0;

  private constructor(
    readonly file: PolicyFile,
    readonly policy: Policy,
    readonly robot: Robot,
  ) {
    const { contract } = policy;
    const index = robot.find("body", policy.entity.root.frame);
    this.root = robot.model.body_rootid[index];
    this.mass = robot.model.body_subtreemass[this.root];
    this.command = contract.commands.find(({ range }) => range !== null) ?? null;
    this.dial = contract.world?.dials[0] ?? null;
    this.steering = new Steering(this.axes(contract));
    this.restart();
  }

  static async open(mujoco: MainModule, file: PolicyFile): Promise<Session> {
    const policy = await Policy.load(file);
    return new Session(file, policy, await Robot.of(mujoco, policy, file));
  }

  get time(): number {
    return this.steps * this.policy.dt;
  }

  /** Start again from the first recorded state. */
  restart(): void {
    const { record } = this.policy;
    const { nq, nv } = this.robot.model;
    this.robot.given = {};
    for (const { name, shape } of this.policy.contract.inputs) {
      const size = shape.reduce((a, b) => a * b, 1);
      this.robot.given[name] = record[`input ${name}`]?.subarray(0, size);
    }
    this.policy.reset();
    this.robot.start(record.qpos.subarray(0, nq), record.qvel.subarray(0, nv));
    this.steps = 0;
    this.grip = this.shove = null;
    this.com = this.center();
    this.height = this.com[2];
  }

  /** Run one control period. */
  async step(): Promise<void> {
    const commands: Record<string, Numbers> = this.policy.clock(this.steps);
    for (const { name, start } of this.policy.contract.commands) {
      commands[name] = Float32Array.from(start);
    }
    if (this.dial !== null) {
      const state = this.policy.world!.state[this.dial.state].data as Float32Array;
      state.set(this.steering.values);
    } else if (this.command?.range) {
      commands[this.command.name].set(this.steering.values);
    }
    this.robot.write(await this.policy.call(await this.robot.read(commands)));
    this.applyForces();
    this.com = this.center();
    await this.robot.wait();
    this.steps += 1;
    this.noteContacts();
  }

  /** True after a walking robot fell. */
  get hasFallen(): boolean {
    const { axes } = this.steering;
    const isLow = this.center()[2] < FALLEN_HEIGHT * this.height;
    return axes.some((a) => a.isVelocity) && (isLow || this.robot.upright() < FALLEN_TILT);
  }

  /** Goal in the world, null for a policy without one. */
  get goal(): number[] | null {
    return this.dial?.is_point ? this.steering.values : null;
  }

  /** Measured values of the steered axes; none for a goal. */
  measured(): number[] {
    const { axes } = this.steering;
    if (!axes.every((axis) => axis.isVelocity)) {
      return [];
    }
    if (this.dial !== null) {
      const now = this.center();
      return [(now[0] - this.com[0]) / this.policy.dt];
    }
    const { linear, angular } = this.robot.bodyVelocity(this.root);
    return [linear[0], linear[1], angular[2]].slice(0, axes.length);
  }

  /** Centre of mass of the robot in the world. */
  center(): number[] {
    return [...this.robot.data.subtree_com.subarray(3 * this.root, 3 * this.root + 3)];
  }

  /** Distance from the centre of mass to the farthest geom. */
  size(): number {
    const { model, data } = this.robot;
    const [x, y, z] = this.center();
    let most = 0.3;
    for (let id = 0; id < model.ngeom; id++) {
      if (model.body_rootid[model.geom_bodyid[id]] === this.root) {
        const p = data.geom_xpos.subarray(3 * id, 3 * id + 3);
        most = Math.max(most, Math.hypot(p[0] - x, p[1] - y, p[2] - z));
      }
    }
    return most;
  }

  /** Push the robot in a direction of the world. */
  push(x: number, y: number): void {
    const force = (this.mass * SHOVE) / SHOVE_S / Math.hypot(x, y);
    this.shove = { force: [x * force, y * force, 0], left: SHOVE_S };
  }

  /** Hold a point of a body, given in the world. */
  hold(body: number, point: number[]): void {
    const { data } = this.robot;
    const away = point.map((value, i) => value - data.xpos[3 * body + i]);
    const axes = data.xmat.subarray(9 * body, 9 * body + 9);
    const local = [0, 1, 2].map(
      (i) => axes[i] * away[0] + axes[3 + i] * away[1] + axes[6 + i] * away[2],
    );
    this.grip = { body, local, to: point };
  }

  /** Point of the world that the mouse holds. */
  held(grip: Grip): number[] {
    const { data } = this.robot;
    const axes = data.xmat.subarray(9 * grip.body, 9 * grip.body + 9);
    return [0, 1, 2].map(
      (i) =>
        data.xpos[3 * grip.body + i] +
        grip.local.reduce((sum, value, k) => sum + axes[3 * i + k] * value, 0),
    );
  }

  /** Ids of the bodies that touch the ground. */
  touching(): Set<number> {
    const { model, data } = this.robot;
    const found = new Set<number>();
    const contacts = data.contact;
    for (let i = 0; i < contacts.size(); i++) {
      const contact = contacts.get(i)!;
      const pair = [model.geom_bodyid[contact.geom1], model.geom_bodyid[contact.geom2]];
      const own = pair.filter((body) => model.body_rootid[body] === this.root);
      if (own.length === 1 && contact.dist < 0.001) {
        found.add(own[0]);
      }
      contact.delete();
    }
    contacts.delete();
    return found;
  }

  async release(): Promise<void> {
    await this.policy.release();
    this.robot.release();
  }

  /** Axes that a person steers: a dial of the world, or a command with a range. */
  private axes({ world }: Contract): Axis[] {
    const { dial, command } = this;
    const ranges = dial?.range ?? command?.range ?? [];
    const start = dial
      ? (world!.states.find(({ name }) => name === dial.state)!.initial as number[])
      : (command?.start ?? []);
    return ranges.slice(0, LABELS.length).map(([low, high], place) => ({
      label: dial?.labels[place] ?? LABELS[place][0],
      unit: dial?.unit ?? LABELS[place][1],
      low,
      high,
      isVelocity: !dial?.is_point,
      value: Math.min(Math.max(start[place], low), high),
    }));
  }

  private noteContacts(): void {
    for (const body of this.touching()) {
      if (!this.feet.has(body)) {
        const { mujoco, model } = this.robot;
        const name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_BODY.value, body);
        this.feet.set(body, name.slice(name.lastIndexOf("/") + 1).replaceAll("_", " "));
      }
    }
  }

  private applyForces(): void {
    const { data } = this.robot;
    const forces: Float64Array = data.xfrc_applied;
    forces.fill(0);
    if (this.shove !== null) {
      forces.set(this.shove.force, 6 * this.root);
      this.shove.left -= this.policy.dt;
      this.shove = this.shove.left > 1e-9 ? this.shove : null;
    }
    if (this.grip !== null) {
      const { body, to } = this.grip;
      const at = this.held(this.grip);
      const wanted = to.map((value, i) => PULL * this.mass * (value - at[i]));
      const scale = Math.min(1, (MOST_PULL * this.mass) / (Math.hypot(...wanted) || 1));
      const f = wanted.map((value) => value * scale);
      const r = at.map((value, i) => value - data.xipos[3 * body + i]);
      const moment = [0, 1, 2].map((i) => {
        const [j, k] = [(i + 1) % 3, (i + 2) % 3];
        return r[j] * f[k] - r[k] * f[j];
      });
      forces.set([...f, ...moment], 6 * body);
    }
  }
}

const LABELS = [
  ["Forward", "m/s"],
  ["Left", "m/s"],
  ["Turn left", "rad/s"],
];
