/** Parts of the page: runtime and policies, as gzip in base64. */

import loadMujoco, { type MainModule } from "@mujoco/mujoco";
import { env } from "onnxruntime-web/wasm";
import { base64, FileError, inflate } from "./file";

export interface Parts {
  /** WebAssembly of MuJoCo. */
  mujoco: string;
  /** WebAssembly of onnxruntime. */
  onnxruntime: string;
  /** Policy files. */
  policies: { name: string; content: string }[];
}

declare global {
  var mjlabParts: Parts;
}

/** Refuse a browser that lacks a part, with the names of all that are missing. */
export function checkBrowser(): void {
  const lacks = Object.entries({
    "WebAssembly with SIMD": typeof WebAssembly === "object" && WebAssembly.validate(SIMD),
    DecompressionStream: typeof DecompressionStream === "function",
    "WebGL 2": document.createElement("canvas").getContext("webgl2") !== null,
  })
    .filter(([, has]) => !has)
    .map(([name]) => name);
  if (lacks.length > 0) {
    throw new FileError(
      `This browser lacks ${lacks.join(" and ")}. ` +
        "Chrome 91, Firefox 113, Safari 16.4 and newer have them.",
    );
  }
}

/** Module with a function of one SIMD instruction. */
const SIMD = Uint8Array.from([
  ...[0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0],
  ...[10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11],
]);

/** Return the content of a part. */
export function unpacked(part: string): Promise<Uint8Array> {
  return inflate(base64(part), "gzip");
}

/** Start MuJoCo, and prepare onnxruntime. */
export async function loadRuntime(parts: Parts): Promise<MainModule> {
  const wasmBinary = await unpacked(parts.mujoco);
  env.wasm.numThreads = 1;
  env.wasm.wasmBinary = (await unpacked(parts.onnxruntime)).buffer as ArrayBuffer;
  env.logLevel = "error";
  return loadMujoco({ wasmBinary });
}
