/** Commands of a person: keys, gamepad, sticks on a touch screen, and links. */

/** One number that a person steers. */
export interface Axis {
  label: string;
  unit: string;
  low: number;
  high: number;
  /** True for a velocity, which returns to zero with a stick. */
  isVelocity: boolean;
  value: number;
}

/** Keys that raise and lower an axis, by its place. */
export const STEER_KEYS = ["ws", "ad", "qe"];
/** Fraction of an axis' range for one press of a key. */
const STEP = 0.05;
/** Deflection of a gamepad's stick that counts as none. */
const DEAD = 0.12;

export class Steering {
  /** Called after each change. */
  changed: () => void = () => undefined;
  private isPadHeld = false;

  constructor(readonly axes: Axis[]) {}

  get values(): number[] {
    return this.axes.map((axis) => axis.value);
  }

  set(place: number, value: number): void {
    const axis = this.axes[place];
    if (axis !== undefined && Number.isFinite(value)) {
      const rounded = Math.round(value * 1000) / 1000;
      axis.value = Math.min(Math.max(rounded, axis.low), axis.high);
      this.changed();
    }
  }

  /** Take the values of a link, such as "0.5,0,-0.2". */
  take(text: string): void {
    text.split(",").forEach((value, place) => this.set(place, Number.parseFloat(value)));
  }

  /** Stop all velocities. */
  stop(): void {
    this.axes.forEach((axis, place) => axis.isVelocity && this.set(place, 0));
  }

  /** Take a key; return whether it steers. */
  press(key: string): boolean {
    if (key === " ") {
      this.stop();
      return true;
    }
    const place = STEER_KEYS.findIndex((pair) => pair.includes(key.toLowerCase()));
    const axis = this.axes[place];
    if (key.length !== 1 || axis === undefined) {
      return false;
    }
    const sign = STEER_KEYS[place].indexOf(key.toLowerCase()) === 0 ? 1 : -1;
    this.set(place, axis.value + sign * STEP * (axis.high - axis.low));
    return true;
  }

  /** Deflect an axis, -1 to 1, with a stick. */
  deflect(place: number, share: number): void {
    const axis = this.axes[place];
    if (axis !== undefined) {
      const rest = axis.isVelocity ? 0 : (axis.high + axis.low) / 2;
      const middle = Math.min(Math.max(rest, axis.low), axis.high);
      const most = share > 0 ? axis.high - middle : middle - axis.low;
      this.set(place, middle + share * most);
    }
  }

  /** Read the first gamepad: left stick for velocity, right stick for yaw. */
  readGamepad(): void {
    const pad = navigator.getGamepads?.().find((each) => each !== null);
    if (!pad) {
      return;
    }
    const shares = [pad.axes[1], pad.axes[0], pad.axes[2]].map((raw) => {
      const out = Math.max(0, Math.abs(raw ?? 0) - DEAD) / (1 - DEAD);
      return -Math.sign(raw ?? 0) * Math.min(out, 1);
    });
    const isHeld = shares.some((share) => share !== 0);
    if (isHeld || this.isPadHeld) {
      shares.forEach((share, place) => this.deflect(place, share));
    }
    this.isPadHeld = isHeld;
  }
}

/** Stick on a touch screen; tells its deflections, right and up positive. */
export function stick(element: HTMLElement, told: (x: number, y: number) => void): void {
  const knob = element.firstElementChild as HTMLElement;
  const move = (x: number, y: number) => {
    knob.style.transform = `translate(${x * 50}%, ${-y * 50}%)`;
    told(x, y);
  };
  const follow = (event: PointerEvent) => {
    const box = element.getBoundingClientRect();
    const x = (event.clientX - box.x) / (box.width / 2) - 1;
    const y = 1 - (event.clientY - box.y) / (box.height / 2);
    const size = Math.max(Math.hypot(x, y), 1);
    move(x / size, y / size);
  };
  element.addEventListener("pointerdown", (event) => {
    element.setPointerCapture(event.pointerId);
    follow(event);
  });
  element.addEventListener("pointermove", (event) => {
    if (element.hasPointerCapture(event.pointerId)) {
      follow(event);
    }
  });
  for (const end of ["pointerup", "pointercancel"]) {
    element.addEventListener(end, () => move(0, 0));
  }
}
