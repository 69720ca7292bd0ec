// Bundles the sources into one classic script, and copies the WebAssembly of the pinned
// packages, into the folder of the Python package. With --check, compares instead.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { gunzipSync, gzipSync } from "node:zlib";
import { build } from "esbuild";

const TO = "../mjlab/export/web/runtime";
const isCheck = process.argv.includes("--check");
const packages = {
  "@mujoco/mujoco": "Apache-2.0, Copyright DeepMind Technologies Limited",
  "onnxruntime-web": "MIT, Copyright Microsoft Corporation",
  three: "MIT, Copyright three.js authors",
};

const bundle = await build({
  entryPoints: ["src/page.ts"],
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2022",
  write: false,
  legalComments: "none",
  // Both libraries look for their files beside the module; the page gives them the bytes.
  define: { "import.meta.url": "document.baseURI" },
  external: ["module", "fs", "path", "url", "crypto", "worker_threads", "perf_hooks"],
  logOverride: { "empty-import-meta": "silent" },
});
const wasm = {
  "mujoco.wasm.gz": "@mujoco/mujoco/mujoco.wasm",
  "onnxruntime.wasm.gz": "onnxruntime-web/dist/ort-wasm-simd-threaded.wasm",
};
const files = { "page.js": Buffer.from(bundle.outputFiles[0].contents) };
for (const [name, path] of Object.entries(wasm)) {
  files[name] = gzipSync(readFileSync(`node_modules/${path}`), { level: 9 });
}
const version = (name) =>
  JSON.parse(readFileSync(`node_modules/${name}/package.json`, "utf8")).version;
files["versions.json"] = Buffer.from(
  JSON.stringify(
    {
      packages: Object.fromEntries(
        Object.entries(packages).map(([name, license]) => [
          name,
          { version: version(name), license },
        ]),
      ),
      sha256: Object.fromEntries(
        Object.entries(files).map(([name, content]) => [
          name,
          createHash("sha256").update(content).digest("hex"),
        ]),
      ),
    },
    null,
    1,
  ) + "\n",
);

const mit = readFileSync("node_modules/three/LICENSE", "utf8").trim();
const terms = mit.slice(mit.indexOf("Permission is hereby granted"));
files["LICENSES.txt"] = Buffer.from(
  [
    `three.js\n\n${mit}`,
    `onnxruntime-web\n\nMIT License\n\nCopyright (c) Microsoft Corporation\n\n${terms}`,
    "MuJoCo\n\nCopyright DeepMind Technologies Limited\n\n" +
      readFileSync("../LICENSE", "utf8").trim(),
  ].join("\n\n----\n\n") + "\n",
);

// What --check compares: versions of Node compress to different bytes.
const compared = (name, content) => {
  if (name === "versions.json") {
    return JSON.stringify(JSON.parse(content).packages);
  }
  return (name.endsWith(".gz") ? gunzipSync(content) : content).toString("latin1");
};

mkdirSync(TO, { recursive: true });
let stale = 0;
for (const [name, content] of Object.entries(files)) {
  const path = `${TO}/${name}`;
  if (!isCheck) {
    writeFileSync(path, content);
    console.log(`${path}: ${content.length} bytes`);
  } else if (compared(name, readFileSync(path)) !== compared(name, content)) {
    console.error(`${path} differs from a build of web/: run make web`);
    stale += 1;
  }
}
process.exit(stale > 0 ? 1 : 0);
