// How soon Search Notes shows what a key has brought: node test/ui/bench.mjs VAULT [--out FILE]
//
// In the real workbench: the time from the input event in the list's box to other rows on the screen, the debounce and
// the drawing included, for questions made from the vault's headings; further the time that activation takes and the
// memory of the extension host with the extension and without.

import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { basename, join } from "node:path";
import { start, until } from "./workbench.mjs";

const QUERIES = 60;
const [vault, flag, out] = process.argv.slice(2);
if (vault === undefined) {
  console.error("name a folder of notes: node test/ui/bench.mjs VAULT [--out FILE]");
  process.exit(2);
}

const notes = readdirSync(vault, { recursive: true }).filter((name) => name.endsWith(".md")).sort(); // prettier-ignore
const bench = await start({ vault });
const figures = { vault: basename(vault), notes: notes.length, cores: cpus().length };
try {
  const window = await bench.window();
  await window.open(basename(notes[0]));
  await until(async () => /\d+ notes/.test(await window.status().innerText()), 1_800_000);
  await window.press("Control+Alt+N");
  await window.page.locator('.quick-input-widget input[placeholder^="Ask"]').waitFor();
  const times = [];
  for (const query of questions()) {
    const ms = await shown(window.page, query);
    if (ms !== null) {
      times.push(ms);
    }
  }
  await window.press("Escape");
  times.sort((a, b) => a - b);
  const at = (share) => Math.round(times[Math.floor((times.length - 1) * share)]);
  figures.keyToResultsMs = { count: times.length, p50: at(0.5), p95: at(0.95), max: at(1) };
  figures.extensionHostMiB = hostMemory();
  await window.command("Developer: Show Running Extensions");
  const row = window.page.locator(".runtime-extensions-editor .monaco-list-row", { hasText: "Synapse" }).first();
  const told = await until(async () => /(?:Activation|Startup Activation): (\d+)ms/.exec(await row.innerText()));
  figures.activationMs = Number(told[1]);
} finally {
  await bench.close();
}
const bare = await start({ vault, extension: false });
try {
  const window = await bare.window();
  await window.open(basename(notes[0]));
  figures.extensionHostWithoutMiB = hostMemory();
} finally {
  await bare.close();
}
console.log(JSON.stringify(figures, null, 2));
if (flag === "--out") {
  writeFileSync(out, `${JSON.stringify(figures, null, 2)}\n`);
}

/** Returns the milliseconds from a query's input event to other rows; null if it brings the rows that are there. */
async function shown(page, query) {
  await page.evaluate(() => {
    const input = document.querySelector(".quick-input-widget input");
    const rows = () => document.querySelector(".quick-input-list").textContent;
    window.synapseShown = new Promise((done) => {
      let begun;
      input.addEventListener("input", () => (begun ??= [performance.now(), rows()]), { capture: true, once: true });
      const look = () => {
        if (begun !== undefined && rows() !== begun[1]) {
          done(performance.now() - begun[0]);
        } else if (begun !== undefined && performance.now() - begun[0] > 3000) {
          done(null);
        } else {
          requestAnimationFrame(look);
        }
      };
      look();
    });
  });
  await page.keyboard.press("Control+A");
  await page.keyboard.insertText(query);
  return page.evaluate(() => window.synapseShown);
}

/** Returns headings from all over the vault. */
function questions() {
  const found = notes.flatMap((name) => /^#+ (.{8,60})$/m.exec(readFileSync(join(vault, name), "utf8"))?.[1] ?? []);
  const step = Math.max(1, Math.floor(found.length / QUERIES));
  return [...new Set(found.filter((_, i) => i % step === 0))].slice(0, QUERIES);
}

/** Returns the resident size of the newest extension host. */
function hostMemory() {
  const lines = execFileSync("ps", ["-eo", "rss=,args=", "--sort=start_time"], { encoding: "utf8" }).split("\n");
  const host = lines.filter((line) => line.includes("--type=extensionHost")).at(-1);
  return Math.round(Number.parseInt(host ?? "0", 10) / 1024);
}
