/**
 * Runs the tests in the real workbench: `node test/ui/run.mjs [FILE...]`, from anywhere.
 *
 * SYNAPSE_VSIX        the package to test, instead of one made now
 * SYNAPSE_UI_CACHE    keeps code-server between runs
 * SYNAPSE_UI_FAILURES where pictures of failures go
 * SYNAPSE_SCREENSHOTS 1 renews the pictures in docs/editors/img
 * The server `synapse-ls` is the one on PATH.
 */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";

import { installExtension } from "./server.mjs";

const HERE = import.meta.dirname;
const EXTENSION = path.resolve(HERE, "../..");

/** What the tests need, made in `scratch` unless it is there. */
export async function prepare(scratch) {
  if (!process.env.PATH.split(":").some((folder) => fs.existsSync(path.join(folder, "synapse-ls")))) {
    throw new Error("synapse-ls is not on the PATH: activate the environment that it is installed in");
  }
  const home = process.env.SYNAPSE_UI_CACHE ?? path.join(scratch, "ui");
  const codeServer = execFileSync(path.join(HERE, "install.sh"), [home], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  }).trim();
  const vsix = process.env.SYNAPSE_VSIX ? path.resolve(process.env.SYNAPSE_VSIX) : path.join(scratch, "synapse.vsix");
  if (!process.env.SYNAPSE_VSIX) {
    execFileSync("npx", ["vsce", "package", "--no-dependencies", "--allow-missing-repository", "--out", vsix], {
      cwd: EXTENSION,
      stdio: ["ignore", "ignore", "inherit"],
    });
  }
  const extensions = path.join(scratch, "extensions");
  await installExtension(codeServer, vsix, extensions);
  return { codeServer, extensions, vsix };
}

if (process.argv[1] === import.meta.filename) {
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), "synapse-ui-"));
  process.on("exit", () => fs.rmSync(scratch, { recursive: true, force: true }));
  let child;
  for (const signal of ["SIGINT", "SIGTERM"]) {
    process.on(signal, () => (child ? child.kill(signal) : process.exit(1)));
  }
  const named = process.argv.slice(2).map((file) => path.resolve(file));
  const all = fs.readdirSync(HERE).filter((name) => name.endsWith(".test.mjs"));
  const files =
    named.length > 0 ? named : [path.join(HERE, "../host/host.test.mjs"), ...all.map((name) => path.join(HERE, name))];
  const env = { ...process.env, SYNAPSE_UI: JSON.stringify(await prepare(scratch)) };
  child = spawn(process.execPath, ["--test", "--test-concurrency=2", ...files], { env, stdio: "inherit" });
  const [code] = await once(child, "close");
  process.exitCode = code ?? 1;
}
