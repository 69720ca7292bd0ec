/** Policy file: ONNX with a contract, a recorded scene and recorded steps. */

/** Thrown for an invalid file; its message is shown to the user. */
export class FileError extends Error {}

export type Numbers = Float32Array | Float64Array | Int32Array;
export type Arrays = Record<string, Numbers>;

export interface Measured {
  kind: string;
  body?: string;
  columns?: number[];
  command?: string;
  entity?: string;
  field?: string;
  motion?: string;
  name?: string;
}

export interface Field {
  name: string;
  shape: number[];
  dtype: string;
}

export interface Input extends Field {
  elements: string[] | null;
  measured: Measured;
}

export interface State extends Field {
  next: string;
  initial: number | number[];
}

export interface Graph {
  inputs: Field[];
  states: State[];
  outputs: { name: string; shape: number[]; elements?: string[] | null }[];
}

export interface ReachTerm {
  frame: Record<string, string>;
  base: string;
  command_frame: string;
  is_relative: boolean;
  position_only: boolean;
  limits: [number | null, number | null][];
  limit_rounds: number;
  weights: [number, number];
  damping: number;
  posture: number[];
  posture_weight: number;
  max_joint_step: number;
}

export interface ActionTerm {
  name: string;
  output: string;
  quantity: string;
  targets: string[];
  relative_to: string | null;
  reach?: ReachTerm;
  tracked_by?: Graph & { model: string; inputs: Input[] };
}

export interface Command {
  name: string;
  width: number;
  start: number[];
  range: [number, number][] | null;
  kind: string;
}

export interface Actuator {
  target: string;
  actuator: string;
  commands: string[];
  law: string | null;
  stiffness: number | null;
  damping: number | null;
  effort_limit: number | null;
}

export interface Entity {
  prefix: string;
  root: { frame: string; is_fixed: boolean };
  joints: { name: string; default_pos: number }[];
  actuators: Actuator[];
}

/** State of a command that a person can set. */
export interface Dial {
  state: string;
  labels: string[];
  unit: string;
  range: [number, number][];
  is_point: boolean;
}

/** Inputs and commands in simulation, from fields of MuJoCo's data. */
export interface World extends Graph {
  model: string;
  dials: Dial[];
  held: Record<string, string>;
}

/** Reward terms in simulation: weighted values, without the step duration. */
export interface Rewards extends Graph {
  model: string;
  /** Terms that the model does not compute, with the reason. */
  held: Record<string, string>;
}

/** The entries of the contract that a page reads. */
export interface Contract extends Graph {
  inputs: Input[];
  format: number;
  task: string;
  rates: { physics_dt: number; decimation: number; control_dt: number };
  robot: string;
  model: { lacks: string | null };
  commands: Command[];
  actions: ActionTerm[];
  entities: Record<string, Entity>;
  record: { steps: number; fields: { name: string; shape: number[]; dtype: string }[] };
  world?: World;
  rewards?: Rewards;
  motion?: { clips: { first: number; frames: number }[] };
}

/** Newest supported version of the contract, as in `mjlab.export`. */
const FORMAT = 4;
const CHECKSUM = /"checksum": "sha256:([0-9a-f]{64})"/g;
const SCENE_FILE = "scene.xml";

export class PolicyFile {
  readonly contract: Contract;

  private constructor(
    readonly name: string,
    readonly content: Uint8Array,
    private readonly texts: Map<string, string>,
  ) {
    this.contract = JSON.parse(this.text("contract"));
  }

  /** Read a file, and verify that it is a whole policy. */
  static read(content: Uint8Array, name: string): PolicyFile {
    const text = latin(content);
    if (text.trimStart().startsWith("{")) {
      throw new FileError(`${name} is JSON, not ONNX: open the .onnx file next to it.`);
    }
    let texts: Map<string, string>;
    try {
      texts = metadata(content);
    } catch {
      throw new FileError(`${name} is not an ONNX file, or it is damaged.`);
    }
    const checksums = [...text.matchAll(CHECKSUM)];
    if (!texts.has("contract") || checksums.length === 0) {
      throw new FileError(
        `${name} has no contract: it is not a policy that mjlab export wrote.`,
      );
    }
    if (checksums.length > 1 || !isWhole(content, checksums[0])) {
      throw new FileError(`${name} is damaged: its content does not match its checksum.`);
    }
    const found = new PolicyFile(name, content, texts);
    if (found.contract.format !== FORMAT) {
      throw new FileError(
        `${name} has format ${found.contract.format}, but this page supports ` +
          `${FORMAT}: export the policy again.`,
      );
    }
    return found;
  }

  /** ONNX model of a muscle controller or of the world. */
  model(key: string): Uint8Array {
    return base64(this.text(key));
  }

  /** Files of the recorded scene: `scene.xml` and `assets/NAME`. */
  async scene(): Promise<Map<string, Uint8Array>> {
    const { lacks } = this.contract.model;
    if (lacks !== null) {
      throw new FileError(`The model is missing from ${this.name}: ${lacks}.`);
    }
    const files = await unzip(await inflate(base64(this.text("scene")), "deflate"));
    if (!files.has(SCENE_FILE)) {
      throw new FileError(`The model is missing from ${this.name}.`);
    }
    return files;
  }

  /** Recorded first steps: arrays by name, with one row a step. */
  async record(): Promise<Arrays> {
    const content = await inflate(base64(this.text("record")), "deflate");
    const found: Arrays = {};
    let place = 0;
    for (const { name, shape, dtype } of this.contract.record.fields) {
      const type = ARRAYS[dtype];
      if (type === undefined) {
        continue; // Images of cameras are bytes, which a page cannot measure.
      }
      const size = shape.reduce((a, b) => a * b, 1) * type.BYTES_PER_ELEMENT;
      found[name] = new type(content.slice(place, place + size).buffer);
      place += size;
    }
    return found;
  }

  private text(key: string): string {
    const found = this.texts.get(key);
    if (found === undefined) {
      throw new FileError(`${this.name} has no entry ${key}: export the policy again.`);
    }
    return found;
  }
}

const ARRAYS: Record<string, Float32ArrayConstructor | Float64ArrayConstructor> = {
  float32: Float32Array,
  float64: Float64Array,
};

/** Decompress bytes; `format` is that of DecompressionStream. */
export async function inflate(
  content: Uint8Array,
  format: CompressionFormat,
): Promise<Uint8Array> {
  const stream = new Blob([content as Uint8Array<ArrayBuffer>])
    .stream()
    .pipeThrough(new DecompressionStream(format));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

export function base64(text: string): Uint8Array {
  const letters = atob(text);
  const found = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) {
    found[i] = letters.charCodeAt(i);
  }
  return found;
}

/** One character per byte, so that offsets in the text are offsets in the content. */
function latin(content: Uint8Array): string {
  return new TextDecoder("latin1").decode(content);
}

/** Metadata of an ONNX model: field 14 of its protocol buffer, `metadata_props`. */
function metadata(content: Uint8Array): Map<string, string> {
  const found = new Map<string, string>();
  for (const [field, entry] of fields(content)) {
    if (field === 14) {
      const pair = new Map(fields(entry));
      const [key, value] = [1, 2].map((n) => new TextDecoder().decode(pair.get(n)));
      found.set(key, value);
    }
  }
  return found;
}

/** Fields of a protocol buffer that contain bytes, as pairs of number and content. */
function* fields(content: Uint8Array): Generator<[number, Uint8Array]> {
  let place = 0;
  const varint = (): number => {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = content[place++];
      if (byte === undefined || factor > 2 ** 63) {
        throw new RangeError("truncated");
      }
      value += (byte & 127) * factor;
      if (byte < 128) {
        return value;
      }
    }
  };
  while (place < content.length) {
    const key = varint();
    const [field, wire] = [Math.floor(key / 8), key % 8];
    if (wire === 0) {
      varint();
    } else if (wire === 2) {
      const size = varint();
      if (place + size > content.length) {
        throw new RangeError("truncated");
      }
      yield [field, content.subarray(place, place + size)];
      place += size;
    } else if (wire === 1 || wire === 5) {
      place += wire === 1 ? 8 : 4;
    } else {
      throw new RangeError(`wire type ${wire}`);
    }
  }
}

/** Compare the checksum, which was computed with zeros in its place. */
function isWhole(content: Uint8Array, checksum: RegExpMatchArray): boolean {
  const blank = content.slice();
  const start = checksum.index! + checksum[0].indexOf(checksum[1]);
  blank.fill("0".charCodeAt(0), start, start + checksum[1].length);
  return sha256(blank) === checksum[1];
}

/** Files of a zip archive. */
async function unzip(content: Uint8Array): Promise<Map<string, Uint8Array>> {
  const view = new DataView(content.buffer, content.byteOffset, content.byteLength);
  let end = content.length - 22;
  while (end >= 0 && view.getUint32(end, true) !== 0x06054b50) {
    end--;
  }
  if (end < 0) {
    throw new FileError("The model of the file is not a zip archive.");
  }
  const found = new Map<string, Uint8Array>();
  let place = view.getUint32(end + 16, true);
  for (let left = view.getUint16(end + 10, true); left > 0; left--) {
    const method = view.getUint16(place + 10, true);
    const size = view.getUint32(place + 20, true);
    const [name, extra, note] = [28, 30, 32].map((n) => view.getUint16(place + n, true));
    const local = view.getUint32(place + 42, true);
    const path = content.subarray(place + 46, place + 46 + name);
    // The local header repeats the name; its extra field can have another size.
    const sizes = view.getUint16(local + 26, true) + view.getUint16(local + 28, true);
    const packed = content.subarray(local + 30 + sizes, local + 30 + sizes + size);
    const plain = method === 0 ? packed : await inflate(packed, "deflate-raw");
    found.set(new TextDecoder().decode(path), plain);
    place += 46 + name + extra + note;
  }
  return found;
}

/** SHA-256 in hexadecimal digits. `crypto.subtle` is missing on plain http pages. */
export function sha256(content: Uint8Array): string {
  const padded = new Uint8Array(Math.ceil((content.length + 9) / 64) * 64);
  padded.set(content);
  padded[content.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 8, Math.floor(content.length / 2 ** 29));
  view.setUint32(padded.length - 4, (content.length * 8) >>> 0);
  const hash = FIRST_PRIMES.slice(0, 8).map((prime) => fraction(Math.sqrt(prime)));
  const words = new Uint32Array(64);
  const turn = (x: number, n: number) => (x >>> n) | (x << (32 - n));
  for (let start = 0; start < padded.length; start += 64) {
    for (let i = 0; i < 16; i++) {
      words[i] = view.getUint32(start + 4 * i);
    }
    for (let i = 16; i < 64; i++) {
      const [x, y] = [words[i - 15], words[i - 2]];
      const low = turn(x, 7) ^ turn(x, 18) ^ (x >>> 3);
      const high = turn(y, 17) ^ turn(y, 19) ^ (y >>> 10);
      words[i] = words[i - 16] + low + words[i - 7] + high;
    }
    let [a, b, c, d, e, f, g, h] = hash;
    for (let i = 0; i < 64; i++) {
      const choice = (e & f) ^ (~e & g);
      const most = (a & b) ^ (a & c) ^ (b & c);
      const e1 = turn(e, 6) ^ turn(e, 11) ^ turn(e, 25);
      const a0 = turn(a, 2) ^ turn(a, 13) ^ turn(a, 22);
      const one = (h + e1 + choice + ROUNDS[i] + words[i]) | 0;
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + a0 + most) | 0];
    }
    [a, b, c, d, e, f, g, h].forEach((value, i) => (hash[i] = (hash[i] + value) | 0));
  }
  return hash.map((word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
}

const FIRST_PRIMES = primes(64);
const ROUNDS = FIRST_PRIMES.map((prime) => fraction(Math.cbrt(prime)));

function primes(count: number): number[] {
  const found: number[] = [];
  for (let n = 2; found.length < count; n++) {
    if (found.every((prime) => n % prime !== 0)) {
      found.push(n);
    }
  }
  return found;
}

/** First 32 bits of the fractional part. */
function fraction(value: number): number {
  return ((value % 1) * 2 ** 32) | 0;
}
