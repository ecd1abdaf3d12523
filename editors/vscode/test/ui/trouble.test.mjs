/** What happens when the server ends, is missing, or is not what the user has chosen. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";

import { inWorkbench } from "./harness.mjs";
import { save } from "./server.mjs";
import { until } from "./until.mjs";

const NOTES = {
  "Bread.md": "# Bread\n\nThe dough rises overnight.\n",
  "Bicycle.md": "# Bicycle\n\nOil the chain before a long ride.\n",
};

inWorkbench("the server", {}, (bench) => {
  let window;

  bench.test("is ready, and says so in the status bar", async () => {
    window = await bench.open(bench.server.vault(NOTES));
    await window.file("Bread.md");
    await window.settled();
    assert.match(await window.told(), /2 notes, 2 of 2 passages searchable by meaning/);
  });

  bench.test("offers in the status bar what can be done", async () => {
    await window.status.click();
    await until(async () => (await window.list()).length > 5, "the menu");
    const rows = (await window.list()).join("\n");
    for (const action of [
      "Search Notes",
      "Show Status",
      "Rebuild the Index",
      "Choose a Model",
      "Show Log",
      "Restart the Server",
    ]) {
      assert.match(rows, new RegExp(action));
    }
    await window.type("Show Status");
    await window.listed(/Show Status/);
    await window.press("Enter");
    await until(async () => /state ready, model bundled/.test(await window.text()), "the status is shown");
  });

  bench.test("has its log shown", async () => {
    await window.command("Synapse: Show Log");
    const panel = window.page.locator(".part.panel .view-line", { hasText: "synapse-ls serve" });
    await panel.first().waitFor();
    await window.command("View: Toggle Panel Visibility");
  });

  /** Kills the language server that runs, and returns when another one runs. */
  async function killed() {
    const [old] = await until(
      () => bench.server.languageServers().length === 1 && bench.server.languageServers(),
      "one server runs",
    );
    process.kill(old.pid, "SIGKILL");
    return until(() => !bench.server.languageServers().some(({ pid }) => pid === old.pid), "it has ended");
  }

  bench.test("is started again when it was killed, and answers", async () => {
    await killed();
    await until(() => bench.server.languageServers().length === 1, "another one runs");
    await window.settled();
    await window.finds("greasing before a trip", /^Bicycle.*meaning/);
    assert.deepEqual(await window.messages(), [], "nobody is bothered");
  });

  bench.test("is left alone after the fifth time, with a way to start it", async () => {
    for (let time = 2; time <= 5; time += 1) {
      await killed();
    }
    const { buttons } = await window.message(/is not started again/);
    assert.deepEqual(buttons, ["Restart", "Show Log"]);
    assert.equal(bench.server.languageServers().length, 0);
    assert.match(await window.told(), /is not started again/);
    await window.page.locator(".notifications-toasts .monaco-button", { hasText: "Restart" }).click();
    await window.settled();
    await window.finds("greasing before a trip", /^Bicycle.*meaning/);
  });
});

/** Folders of programs without synapse-ls, for a PATH. */
function without() {
  const folders = [path.dirname(process.execPath), "/usr/bin", "/bin"].filter(
    (folder) => !fs.existsSync(path.join(folder, "synapse-ls")),
  );
  return folders.join(":");
}

inWorkbench("no server", { env: { PATH: without() } }, (bench) => {
  let window;
  let vault;

  bench.test("is told in one message with ways to install it", async () => {
    const where = execFileSync("which", ["synapse-ls"], { encoding: "utf8" }).trim();
    vault = bench.server.vault({
      ...NOTES,
      // A stranger's folder that brings a program along, and settings that name it.
      "bin/synapse-ls": `#!/bin/sh\ntouch "$(dirname "$0")/ran"\nexec "${where}" "$@"\n`,
    });
    const program = path.join(vault, "bin/synapse-ls");
    fs.chmodSync(program, 0o755);
    save(path.join(vault, ".vscode/settings.json"), JSON.stringify({ "synapse.server.path": program }));
    window = await bench.open(vault);
    await window.file("Bread.md");
    const { text, buttons } = await window.message(/synapse-ls is not installed/);
    assert.match(text, /Restart the Server/);
    assert.deepEqual(buttons, ["uv tool install", "pipx", "pip", "Set the Path"]);
    assert.equal((await window.messages()).length, 1);
  });

  bench.test("never means a program that lies in the workspace", async () => {
    const program = path.join(vault, "bin/synapse-ls");
    bench.server.write("Machine", { "synapse.server.path": program });
    await window.message(/inside the workspace: that is never run/);
    assert.equal(fs.existsSync(path.join(vault, "bin/ran")), false);
  });

  bench.test("is an answer of the search", async () => {
    await window.search("bread", /The search failed/);
    await window.press("Escape");
  });

  bench.test("is over when the path is set", async () => {
    bench.server.write("Machine", {
      "synapse.server.path": execFileSync("which", ["synapse-ls"], { encoding: "utf8" }).trim(),
    });
    await window.settled();
    await window.finds("greasing before a trip", /^Bicycle.*meaning/);
  });
});
