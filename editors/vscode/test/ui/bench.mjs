/**
 * Measures the extension in the real workbench: `node test/ui/bench.mjs VAULT [--out FILE] [--queries N] [--hosts N]`.
 *
 * Key to results: from the last key of a query, typed at 60 ms a key, until the frame is drawn that shows the rows of that query. Queries
 * are those of bench/queries.py. One whose rows were on the screen before its last key is left out, and counted.
 * Extension host: activation as the workbench tells it, and the memory of its process with and without the extension.
 */
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";

import { REPOSITORY } from "./harness.mjs";
import { prepare } from "./run.mjs";
import { Server } from "./server.mjs";
import { until } from "./until.mjs";
import { Browser } from "./window.mjs";

const KEY_MS = 60;
const QUIET_MS = 1000;
const READY = 1_800_000;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    out: { type: "string" },
    queries: { type: "string", default: "50" },
    hosts: { type: "string", default: "5" },
  },
});

/** Runs in the page: when keys came, and what the list showed after each drawn frame in which it had changed. */
function watch() {
  const rows = () =>
    [...document.querySelectorAll(".quick-input-list .monaco-list-row")].map((row) => row.getAttribute("aria-label"));
  const seen = { keys: [], frames: [] };
  let last = "";
  let waiting = false;
  const look = () => {
    waiting = false;
    const now = JSON.stringify(rows());
    if (now !== last) {
      last = now;
      seen.frames.push({ at: performance.now(), rows: now });
    }
  };
  const changed = () => {
    if (!waiting) {
      waiting = true;
      // The task after the next frame's callbacks runs when that frame has been laid out and painted.
      requestAnimationFrame(() => setTimeout(look));
    }
  };
  document.addEventListener("keydown", (event) => seen.keys.push(event.timeStamp), true);
  const widget = document.querySelector(".quick-input-widget");
  new MutationObserver(changed).observe(widget, {
    subtree: true,
    childList: true,
    attributes: true,
    attributeFilter: ["aria-label"],
  });
  globalThis.__seen = seen;
}

/** Types one query and tells how long its rows took, or null if they were there already. */
async function ask(window, query) {
  await window.type("");
  await window.page.evaluate(() => Object.assign(globalThis.__seen, { keys: [], frames: [] }));
  await window.page.keyboard.type(query, { delay: KEY_MS });
  await window.page.waitForFunction(
    (quiet) => {
      const { keys, frames } = globalThis.__seen;
      return performance.now() - Math.max(keys.at(-1) ?? 0, frames.at(-1)?.at ?? 0) > quiet;
    },
    QUIET_MS,
    { polling: 100 },
  );
  const { keys, frames } = await window.page.evaluate(() => globalThis.__seen);
  const key = keys.at(-1);
  const [before, after] = [frames.filter((frame) => frame.at < key), frames.filter((frame) => frame.at >= key)];
  if (after.length === 0 || after.at(-1).rows === before.at(-1)?.rows) {
    return null;
  }
  const final = after.at(-1).rows;
  return { query, ms: after.find((frame) => frame.rows === final).at - key, rows: JSON.parse(final).length };
}

function quantile(sorted, share) {
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)];
}

const rounded = (number) => Math.round(number * 10) / 10;

function spread(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  return {
    median: rounded(quantile(sorted, 0.5)),
    p95: rounded(quantile(sorted, 0.95)),
    most: rounded(sorted.at(-1)),
    count: sorted.length,
  };
}

/** The extension host's process, its resident memory and what of it is its own, in MiB. */
function hostMemory(server) {
  const pid = server.processes().find(({ command }) => command.includes("--type=extensionHost")).pid;
  const read = (name) =>
    Number(new RegExp(`${name}:\\s+(\\d+)`).exec(fs.readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))[1]);
  return { resident: read("Rss") / 1024, own: (read("Private_Clean") + read("Private_Dirty")) / 1024 };
}

function firstNote(vault) {
  return fs.readdirSync(vault).find((name) => name.endsWith(".md"));
}

async function keyToResults(server, browser, vault) {
  const python = `import sys; sys.path.insert(0, sys.argv[1]); from queries import queries_of; from pathlib import Path; print("\\n".join(queries_of(Path(sys.argv[2]))))`;
  const queries = execFileSync("python3", ["-c", python, path.join(REPOSITORY, "bench"), vault], { encoding: "utf8" })
    .trim()
    .split("\n");
  const window = await browser.open(server, vault);
  await window.file(firstNote(vault));
  await window.settled(READY);
  await window.command("Synapse: Search Notes");
  await window.page.evaluate(watch);
  const answers = [];
  let left = 0;
  for (const query of queries.slice(0, Number(values.queries))) {
    const answer = await ask(window, query);
    answers.push(...(answer ? [answer] : []));
    left += answer ? 0 : 1;
  }
  return {
    keyMs: KEY_MS,
    ...spread(answers.map(({ ms }) => ms)),
    rowsWereThereBefore: left,
    queries: answers.map((one) => ({ ...one, ms: rounded(one.ms) })),
  };
}

/** Activation and memory of a new extension host on the vault, a note open and all at rest. */
async function newHost(prepared, vault, cache, extensions) {
  const browser = await Browser.launch();
  const server = await Server.start(prepared, { extensions, env: { SYNAPSE_CACHE_DIR: cache } });
  try {
    const window = await browser.open(server, vault);
    await window.file(firstNote(vault));
    const installed = extensions === prepared.extensions;
    if (installed) {
      await window.settled(READY);
    }
    await window.command("Developer: Show Running Extensions");
    const row = window.page
      .locator(".runtime-extensions-editor .monaco-list-row", { hasText: installed ? "Synapse" : "Markdown" })
      .first();
    await row.waitFor();
    const told = installed
      ? Number(
          /Activation: (\d+)\s*ms/i.exec(
            await until(
              async () => /Activation/i.test(await row.innerText()) && row.innerText(),
              "the activation is told",
            ),
          )[1],
        )
      : null;
    let memory = hostMemory(server);
    // At rest: the garbage of the start is collected when it is, so the figure is taken when it no longer falls.
    await until(async () => {
      await window.page.waitForTimeout(3000);
      const now = hostMemory(server);
      const still = Math.abs(now.resident - memory.resident) < 1;
      memory = now;
      return still;
    }, "the memory is at rest");
    return { activationMs: told, ...memory };
  } finally {
    await browser.close();
    await server.stop();
  }
}

const given = path.resolve(positionals[0] ?? (console.error("usage: bench.mjs VAULT [--out FILE]"), process.exit(2)));
const scratch = fs.mkdtempSync(path.join(os.tmpdir(), "synapse-ui-"));
process.on("exit", () => fs.rmSync(scratch, { recursive: true, force: true }));
// A copy: a workbench in a browser saves what is typed into a note, should a key go astray.
const vault = path.join(scratch, path.basename(given));
fs.cpSync(given, vault, { recursive: true });
const prepared = await prepare(scratch);
const cache = path.join(scratch, "cache");
const browser = await Browser.launch();
const server = await Server.start(prepared, { env: { SYNAPSE_CACHE_DIR: cache } });
const load = os.loadavg()[0];
const typed = await keyToResults(server, browser, vault);
await browser.close();
await server.stop();
const none = path.join(scratch, "none");
const [withIt, without] = [[], []];
for (let turn = 0; turn < Number(values.hosts); turn += 1) {
  withIt.push(await newHost(prepared, vault, cache, prepared.extensions));
  without.push(await newHost(prepared, vault, cache, none));
}
const report = {
  machine: {
    system: os.type(),
    architecture: os.machine(),
    cores: os.cpus().length,
    node: process.versions.node,
    loadBefore: rounded(load),
  },
  vault: path.basename(vault),
  keyToResults: typed,
  extensionHost: {
    activationMs: spread(withIt.map((one) => one.activationMs)),
    residentMiB: {
      with: spread(withIt.map((one) => one.resident)),
      without: spread(without.map((one) => one.resident)),
    },
    ownMiB: { with: spread(withIt.map((one) => one.own)), without: spread(without.map((one) => one.own)) },
  },
};
console.log(JSON.stringify({ ...report, keyToResults: { ...typed, queries: undefined } }, null, 2));
if (values.out) {
  fs.writeFileSync(values.out, `${JSON.stringify(report, null, 2)}\n`);
}
