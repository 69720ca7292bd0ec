/** The page: menu, panel, keys, pointers and the loop in real time. */

import type { MainModule } from "@mujoco/mujoco";
import * as THREE from "three";
import { activation, Figure, Stage } from "./draw";
import { FileError, PolicyFile } from "./file";
import { checkBrowser, loadRuntime, unpacked } from "./parts";
import { Plot } from "./plot";
import { message } from "./runner";
import { Session } from "./session";
import { STEER_KEYS, stick } from "./steer";

/** Maximum time that one frame simulates, s. */
const MOST_BEHIND = 0.25;
/** Frame time, s, above which drawing is simplified. */
const SLOW_FRAME = 0.06;
/** Number of frames, or drawing time, s, after which the frame time is judged. */
const [MEASURED_FRAMES, MEASURED_S] = [20, 1.2];
const SPEEDS = [1, 0.5, 0.25, 0.1];
/** Colours of command and measured value in the plots. */
const COLORS = ["#e07a1f", "#2b6cb0"];
/** Window width, px, up to which the panel shows less; also in the style sheet. */
const NARROW = 560;
/** Time between a fall and the restart, s. */
const LYING = 2;

function element<T extends HTMLElement>(id: string): T {
  return document.getElementById(id) as T;
}

class Page {
  session: Session | null = null;
  isPaused = false;
  speed = 1;
  /** Wall time of the start until the first frame, s. */
  startSeconds = 0;
  frames = 0;
  private figure: Figure | null = null;
  private plots: Plot[] = [];
  private readonly files: PolicyFile[] = [];
  private behind = 0;
  private last = performance.now();
  private lying = 0;
  private isBusy = false;
  private drawing = { seconds: 0, frames: 0 };
  private pace = { wall: 0, simulated: 0, shown: 1 };

  constructor(
    readonly mujoco: MainModule,
    readonly stage: Stage,
  ) {}

  // Policies.

  /** Add the content of a file to the menu, and return its place. */
  add(content: Uint8Array, name: string): number {
    const file = PolicyFile.read(content, name);
    this.files.push(file);
    const label = name.replace(/\.onnx$/, "");
    const option = new Option(label, String(this.files.length - 1));
    element<HTMLSelectElement>("policy").add(option);
    return this.files.length - 1;
  }

  /** Place of a policy in the menu, -1 for none. */
  named(name: string | null): number {
    return this.files.findIndex((file) => file.name === name);
  }

  async open(place: number, command: string | null = null): Promise<void> {
    const opened = await Session.open(this.mujoco, this.files[place]);
    const before = this.session;
    this.session = null;
    this.figure?.release();
    await before?.release();
    this.figure = new Figure(this.stage, this.mujoco, opened.robot.model);
    this.stage.view(opened.size(), opened.center());
    if (command !== null) {
      opened.steering.take(command);
    }
    element<HTMLSelectElement>("policy").value = String(place);
    this.session = opened;
    this.buildPanel(opened);
    this.writeLink();
    say("");
  }

  /** Open the next policy of the menu. */
  async next(): Promise<void> {
    const place = this.session === null ? -1 : this.files.indexOf(this.session.file);
    await this.open((place + 1) % this.files.length);
  }

  // Time.

  /** Simulate the time since the last frame, and draw. */
  async frame(now: number): Promise<void> {
    const passed = Math.min((now - this.last) / 1000, 1);
    this.last = now;
    if (this.isBusy || this.session === null) {
      return;
    }
    this.isBusy = true;
    try {
      this.session.steering.readGamepad();
      if (!this.isPaused) {
        await this.advance(this.session, passed);
      }
      this.show(this.session, passed);
      this.frames += 1;
      this.simplifyIfSlow(passed - (performance.now() - now) / 1000);
    } finally {
      this.isBusy = false;
    }
  }

  private async advance(session: Session, passed: number): Promise<void> {
    const before = session.time;
    this.behind = Math.min(this.behind + passed * this.speed, MOST_BEHIND);
    while (this.behind >= session.policy.dt && this.session === session) {
      this.behind -= session.policy.dt;
      await session.step();
      this.note(session);
      this.restartAfterFall(session);
    }
    this.pace.wall += passed;
    this.pace.simulated += Math.max(session.time - before, 0);
    if (this.pace.wall > 1) {
      this.pace = { wall: 0, simulated: 0, shown: this.pace.simulated / this.pace.wall };
    }
  }

  /** Simplify the drawing if frames, without the simulation, take long. */
  private simplifyIfSlow(seconds: number): void {
    this.drawing.seconds += seconds;
    this.drawing.frames += 1;
    const { seconds: total, frames } = this.drawing;
    if (frames === MEASURED_FRAMES || total > MEASURED_S) {
      if (total > SLOW_FRAME * frames) {
        this.stage.simplify();
      }
      this.drawing = { seconds: 0, frames: 0 };
    }
  }

  private restartAfterFall(session: Session): void {
    this.lying = session.hasFallen ? this.lying + session.policy.dt : 0;
    if (this.lying > LYING) {
      this.lying = 0;
      session.restart();
    }
  }

  private note(session: Session): void {
    const { values } = session.steering;
    const measured = session.measured();
    this.plots.forEach((plot, i) =>
      plot.add(session.time, [values[i], measured[i]]),
    );
  }

  // Drawing.

  private show(session: Session, passed: number): void {
    const { figure, stage } = this;
    figure!.update(session.robot.data);
    const { grip } = session;
    figure!.push(grip && { from: session.held(grip), to: grip.to });
    figure!.mark(session.goal === null ? [] : [session.goal]);
    stage.follow(session.center(), passed);
    stage.draw();
    this.plots.forEach((plot) => plot.draw());
    this.showReadings(session);
  }

  private showReadings(session: Session): void {
    const state = this.isPaused
      ? "paused"
      : session.hasFallen
        ? "fell, restarts"
        : `${this.pace.shown.toFixed(2)} x real time`;
    element("state").textContent = `${session.time.toFixed(1)} s, ${state}`;
    const touching = session.touching();
    const feet = element("feet");
    for (const [body, name] of session.feet) {
      let pill = feet.querySelector<HTMLElement>(`[data-body="${body}"]`);
      if (pill === null) {
        pill = document.createElement("span");
        pill.dataset.body = String(body);
        pill.textContent = name;
        feet.append(pill);
      }
      pill.classList.toggle("on", touching.has(body));
    }
    element("contacts").hidden = session.feet.size === 0;
    const { model, data, rewards } = session.robot;
    element("terms")
      .querySelectorAll("output")
      .forEach((output) => {
        const value = rewards[output.dataset.term!]?.[0];
        // Adding 0 removes the sign of -0.
        output.textContent =
          value === undefined ? "" : (Math.round(1000 * value) / 1000 + 0).toFixed(3);
      });
    element("bars")
      .querySelectorAll<HTMLElement>("i")
      .forEach((bar) => {
        const share = activation(model, data, Number(bar.dataset.muscle));
        bar.style.width = `${Math.round(100 * share)}%`;
      });
  }

  /** Body of the robot or of an object at a point of the window, null for none. */
  pick(x: number, y: number): { body: number; point: THREE.Vector3 } | null {
    return this.figure?.pick(this.stage.ray(x, y)) ?? null;
  }

  // Panel.

  private buildPanel(session: Session): void {
    const { axes } = session.steering;
    element("axes").replaceChildren(
      ...axes.map((axis, place) => {
        const row = element<HTMLTemplateElement>("axis").content.cloneNode(true) as Element;
        const [label, input, output] = ["label", "input", "output"].map(
          (tag) => row.querySelector(tag)!,
        ) as [HTMLLabelElement, HTMLInputElement, HTMLOutputElement];
        label.firstChild!.textContent = `${axis.label}, ${axis.unit} `;
        label.querySelector("kbd")!.textContent = [...STEER_KEYS[place]].join(" ");
        [input.min, input.max, input.step] = [axis.low, axis.high, 0.01].map(String);
        input.setAttribute("aria-label", `${axis.label}, ${axis.unit}`);
        input.addEventListener("input", () =>
          session.steering.set(place, Number(input.value)),
        );
        output.dataset.place = input.dataset.place = String(place);
        return row;
      }),
    );
    const canvases = [...element("axes").querySelectorAll("canvas")];
    const isPlotted = axes.length > 0 && session.goal === null;
    canvases.forEach((canvas) => (canvas.hidden = !isPlotted));
    this.plots = axes.slice(0, isPlotted ? axes.length : 0).map(({ low, high }, i) => {
      const margin = 0.3 * (high - Math.min(low, 0));
      return new Plot(canvases[i], COLORS, Math.min(low, 0) - margin, high + margin);
    });
    element("legend").hidden = !isPlotted;
    session.steering.changed = () => {
      this.showCommand(session);
      this.writeLink();
    };
    this.showCommand(session);
    element("feet").replaceChildren();
    this.showConstantInputs(session);
    this.buildRewards(session);
    this.buildMuscles(session);
    const hasSticks = axes.length > 0;
    element("left").hidden = !hasSticks;
    element("right").hidden = axes.length < 3;
  }

  /** Name the inputs that the page cannot compute, such as images. */
  private showConstantInputs(session: Session): void {
    const { inputs, world } = session.policy.contract;
    const computed = (world?.outputs ?? []).map(({ name }) => name);
    const names = inputs
      .filter(({ measured, name }) => measured.kind === "given" && !computed.includes(name))
      .map(({ name }) => name);
    const line = element("constant");
    line.hidden = names.length === 0;
    line.textContent = `Not simulated, constant: ${names.join(", ")}`;
  }

  /** List the reward terms, and name those that a page cannot compute. */
  private buildRewards(session: Session): void {
    const { rewards } = session.policy.contract;
    element("rewards").hidden = rewards === undefined;
    const rows = (rewards?.outputs ?? []).map(({ name }) => {
      const row = document.createElement("div");
      row.innerHTML = "<span></span><output></output>";
      row.querySelector("span")!.textContent = name;
      row.querySelector("output")!.dataset.term = name;
      return row;
    });
    element("terms").replaceChildren(...rows);
    const held = Object.entries(rewards?.held ?? {});
    const line = element("held");
    line.hidden = held.length === 0;
    line.textContent = `Not computed: ${held.map(([name]) => name).join(", ")}`;
    line.title = held.map(([name, reason]) => `${name}: ${reason}`).join("\n");
  }

  private buildMuscles(session: Session): void {
    const { model } = session.robot;
    const { mujoco } = this;
    const rows: HTMLElement[] = [];
    for (let id = 0; id < model.nu; id++) {
      if (model.actuator_gaintype[id] === mujoco.mjtGain.mjGAIN_MUSCLE.value) {
        const name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_ACTUATOR.value, id);
        const row = document.createElement("div");
        row.innerHTML = `<span></span><b><i data-muscle="${id}"></i></b>`;
        row.firstElementChild!.textContent = name.slice(name.lastIndexOf("/") + 1);
        rows.push(row);
      }
    }
    element("bars").replaceChildren(...rows);
    element("muscles").hidden = rows.length === 0;
  }

  private showCommand(session: Session): void {
    session.steering.values.forEach((value, place) => {
      const input = document.querySelector<HTMLInputElement>(
        `#axes input[data-place="${place}"]`,
      )!;
      input.value = String(value);
      input.parentElement!.querySelector("output")!.textContent = value.toFixed(2);
    });
  }

  /** Name policy and command in the address of the page. */
  private writeLink(): void {
    if (this.session !== null) {
      const policy = encodeURIComponent(this.session.file.name);
      const values = this.session.steering.values.join(",");
      const command = values === "" ? "" : `&command=${values}`;
      history.replaceState(null, "", `#policy=${policy}${command}`);
    }
  }
}

/** Show a line to the user; an empty text removes it. */
function say(text: string): void {
  const line = element("message");
  line.textContent = text;
  line.hidden = text === "";
}

function report(error: unknown): void {
  say(message(error));
  if (!(error instanceof FileError)) {
    console.error(error);
  }
}

/** Run an action of the user; show its error in one line. */
function tried(action: () => Promise<unknown>): void {
  action().catch(report);
}

// Keys, buttons and pointers.

function bindControls(page: Page): void {
  for (const list of document.querySelectorAll("details")) {
    list.open = window.innerWidth > NARROW;
  }
  const pause = () => {
    page.isPaused = !page.isPaused;
    element("pause").textContent = page.isPaused ? "Play" : "Pause";
    element("pause").setAttribute("aria-pressed", String(page.isPaused));
  };
  const slow = element<HTMLSelectElement>("speed");
  slow.append(...SPEEDS.map((speed) => new Option(`${speed} x`, String(speed))));
  const setSpeed = (speed: number) => {
    page.speed = speed;
    slow.value = String(speed);
  };
  const slower = () => setSpeed(SPEEDS[(SPEEDS.indexOf(page.speed) + 1) % SPEEDS.length]);
  const help = element<HTMLDialogElement>("help");
  const toggleHelp = () => (help.open ? help.close() : help.showModal());
  const pushes: Record<string, [number, number]> = {
    ArrowUp: [1, 0],
    ArrowDown: [-1, 0],
    ArrowLeft: [0, 1],
    ArrowRight: [0, -1],
  };
  const keys: Record<string, () => void> = {
    p: pause,
    r: () => page.session?.restart(),
    m: slower,
    n: () => tried(() => page.next()),
    h: toggleHelp,
    "?": toggleHelp,
  };
  element("pause").onclick = pause;
  element("reset").onclick = keys.r;
  element("ask").onclick = toggleHelp;
  element("push").onclick = () => page.session?.push(0, Math.random() < 0.5 ? 1 : -1);
  slow.onchange = () => setSpeed(Number(slow.value));
  const menu = element<HTMLSelectElement>("policy");
  menu.onchange = () => {
    tried(() => page.open(Number(menu.value)));
    menu.blur();
  };
  window.addEventListener("keydown", (event) => {
    const { target, key } = event;
    const isOwn = target instanceof HTMLSelectElement || target instanceof HTMLInputElement;
    if (event.ctrlKey || event.metaKey || event.altKey || (isOwn && key !== "Escape")) {
      return;
    }
    if (target instanceof HTMLButtonElement && (key === " " || key === "Enter")) {
      return;
    }
    if (pushes[key]) {
      page.session?.push(...pushes[key]);
    } else if (keys[key.toLowerCase()]) {
      keys[key.toLowerCase()]();
    } else if (!page.session?.steering.press(key)) {
      return;
    }
    event.preventDefault();
  });
}

function bindSticks(page: Page): void {
  stick(element("left"), (x, y) => {
    const steering = page.session?.steering;
    steering?.deflect(0, y);
    steering?.deflect(1, -x);
  });
  stick(element("right"), (x) => page.session?.steering.deflect(2, -x));
}

/** Turn the camera, or pull a body, with a pointer. */
function bindPointers(page: Page, canvas: HTMLCanvasElement): void {
  const down = new Map<number, [number, number]>();
  let plane: THREE.Plane | null = null;
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    down.set(event.pointerId, [event.clientX, event.clientY]);
    const hit = down.size === 1 ? page.pick(event.clientX, event.clientY) : null;
    if (hit !== null && page.session !== null) {
      page.session.hold(hit.body, hit.point.toArray());
      const normal = page.stage.camera.getWorldDirection(new THREE.Vector3());
      plane = new THREE.Plane().setFromNormalAndCoplanarPoint(normal, hit.point);
    }
  });
  canvas.addEventListener("pointermove", (event) => {
    const before = down.get(event.pointerId);
    if (before === undefined) {
      return;
    }
    const grip = page.session?.grip;
    if (grip && plane !== null) {
      const { from, direction } = page.stage.ray(event.clientX, event.clientY);
      const to = new THREE.Ray(from, direction).intersectPlane(plane, new THREE.Vector3());
      grip.to = to?.toArray() ?? grip.to;
    } else if (down.size === 2) {
      const [other] = [...down].filter(([id]) => id !== event.pointerId).map(([, p]) => p);
      const away = (p: number[]) => Math.hypot(p[0] - other[0], p[1] - other[1]);
      page.stage.zoom(away(before) / Math.max(away([event.clientX, event.clientY]), 1));
    } else {
      page.stage.turn(event.clientX - before[0], event.clientY - before[1]);
    }
    down.set(event.pointerId, [event.clientX, event.clientY]);
  });
  for (const end of ["pointerup", "pointercancel"] as const) {
    canvas.addEventListener(end, (event) => {
      down.delete(event.pointerId);
      plane = null;
      if (page.session !== null) {
        page.session.grip = null;
      }
    });
  }
  canvas.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      page.stage.zoom(Math.exp(event.deltaY * 0.001));
    },
    { passive: false },
  );
}

/** Open a policy file that the user chooses or drops on the page. */
function bindFiles(page: Page): void {
  const open = async (file: File | undefined) => {
    if (file !== undefined) {
      const content = new Uint8Array(await file.arrayBuffer());
      await page.open(page.add(content, file.name));
    }
  };
  const input = element<HTMLInputElement>("file");
  element("choose").onclick = () => input.click();
  input.onchange = () => tried(() => open(input.files?.[0]));
  window.addEventListener("dragover", (event) => event.preventDefault());
  window.addEventListener("drop", (event) => {
    event.preventDefault();
    tried(() => open(event.dataTransfer?.files[0]));
  });
}

async function start(): Promise<void> {
  checkBrowser();
  const canvas = element<HTMLCanvasElement>("view");
  const page = new Page(await loadRuntime(mjlabParts), new Stage(canvas));
  Object.assign(globalThis, { mjlabPage: page });
  bindControls(page);
  bindSticks(page);
  bindPointers(page, canvas);
  bindFiles(page);
  for (const { name, content } of mjlabParts.policies) {
    page.add(await unpacked(content), name);
  }
  const openLinked = async () => {
    const link = new URLSearchParams(location.hash.slice(1));
    const place = page.named(link.get("policy"));
    if (link.has("policy") && place < 0) {
      throw new FileError(`This page has no policy '${link.get("policy")}'.`);
    }
    await page.open(Math.max(place, 0), link.get("command"));
  };
  const loop = (now: number) => {
    page.frame(now).catch(report);
    requestAnimationFrame(loop);
  };
  requestAnimationFrame(loop);
  window.addEventListener("hashchange", () => tried(openLinked));
  await openLinked();
  page.startSeconds = performance.now() / 1000;
}

start().catch(report);
