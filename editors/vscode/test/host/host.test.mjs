/** Runs tests.cjs in the remote extension host of a workbench, the extension loaded from its installed package. */
import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { describe, it } from "node:test";

import { LIFE, prepared } from "../ui/harness.mjs";
import { Server } from "../ui/server.mjs";
import { PATIENCE } from "../ui/until.mjs";
import { Browser } from "../ui/window.mjs";

/** The folder of the installed extension: what is in the package, and nothing else. */
function installed(extensions) {
  const found = fs.readdirSync(extensions).filter((name) => fs.existsSync(path.join(extensions, name, "package.json")));
  assert.equal(found.length, 1, `one extension is installed: ${found}`);
  return path.join(extensions, found[0]);
}

/** What each test of tests.cjs came to. */
async function results() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "synapse-host-"));
  const file = path.join(folder, "results.json");
  const none = path.join(folder, "extensions");
  const browser = await Browser.launch();
  const server = await Server.start(prepared(), { extensions: none, env: { SYNAPSE_HOST_RESULTS: file } });
  try {
    const remote = (place) => `vscode-remote://${server.host}${place}`;
    const payload = {
      extensionDevelopmentPath: remote(installed(prepared().extensions)),
      extensionTestsPath: remote(path.join(import.meta.dirname, "tests.cjs")),
      skipWelcome: "true",
    };
    const said = [];
    const vault = server.vault(LIFE);
    const code = await new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`the tests did not end: ${said.join("\n")}`)), 3 * PATIENCE);
      const end = (value) => {
        clearTimeout(late);
        resolve(value);
      };
      browser
        .page({
          codeAutomationLog: (type, args) => void said.push(`${type}: ${args.join(" ")}`),
          codeAutomationExit: (value) => end(value),
        })
        .then((page) => page.goto(browser.address(server, vault, Object.entries(payload))))
        .catch(reject);
    });
    assert.ok(fs.existsSync(file), `tests.cjs ran, exit code ${code}: ${said.join("\n")}`);
    return JSON.parse(fs.readFileSync(file, "utf8"));
  } finally {
    await browser.close();
    await server.stop();
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

describe("in the extension host", async () => {
  for (const { name, error } of await results()) {
    it(name, () => assert.equal(error, undefined, error));
  }
});
