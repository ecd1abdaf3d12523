/** Tests in one workbench: starts it, tells what was to be seen when a test fails, and ends it. `run.mjs` says where things are. */
import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";

import { Server } from "./server.mjs";
import { Browser } from "./window.mjs";

export const REPOSITORY = path.resolve(import.meta.dirname, "../../../..");
export const LIFE = path.join(REPOSITORY, "tests/vaults/life");
const TEST_TIME = 240_000;

/** What `run.mjs` prepared: `codeServer`, `extensions`, `vsix`. */
export function prepared() {
  const told = process.env.SYNAPSE_UI;
  assert.ok(told, "run these tests with: node test/ui/run.mjs");
  return JSON.parse(told);
}

/** Describes tests that share one workbench, in order. `define` gets the bench; its `server` and `browser` are there when a test runs. */
export function inWorkbench(title, options, define) {
  const bench = {
    test(name, body) {
      it(name, { timeout: TEST_TIME }, async () => {
        try {
          await body();
        } catch (error) {
          await explain(bench, `${title} ${name}`);
          throw error;
        }
      });
    },
    /** Starts a workbench where `options` are not enough, or another one. */
    async start(more) {
      bench.server = await Server.start(prepared(), more);
      bench.servers.push(bench.server);
      return bench.server;
    },
    open: (folder, size) => bench.browser.open(bench.server, folder, size),
    servers: [],
  };
  describe(title, () => {
    before(async () => {
      bench.browser = await Browser.launch();
      await bench.start(options);
    });
    define(bench);
    bench.test("nothing was asked of another machine", () => {
      assert.deepEqual(bench.browser.foreign, [], "by the browser");
      for (const server of bench.servers) {
        const lines = server.guard();
        assert.ok(
          lines.some((line) => line.startsWith("guarding") && line.includes("extensionHost")),
          `the extension host was guarded: ${lines.join("\n")}`,
        );
        assert.deepEqual(
          lines.filter((line) => line.startsWith("refused")),
          [],
          "by a process of the workbench",
        );
      }
    });
    after(async () => {
      await bench.browser?.close();
      await Promise.all(bench.servers.map((server) => server.stop()));
    });
  });
}

/** A picture for the documentation, where one is asked for: of the part `clip` of a window, small enough for a repository. */
export async function screenshot(window, name, clip) {
  if (process.env.SYNAPSE_SCREENSHOTS === "1") {
    const file = path.join(REPOSITORY, "docs/editors/img", `${name}.png`);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    const picture = await window.page.screenshot({ path: file, clip, animations: "disabled", caret: "hide" });
    assert.ok(picture.length < 80_000, `${file} has ${picture.length} bytes: show less`);
  }
}

/** What a person would look at first: pictures of the windows, the messages, the ends of the logs. */
async function explain(bench, name) {
  const folder = process.env.SYNAPSE_UI_FAILURES ?? path.join(os.tmpdir(), "synapse-ui-failures");
  for (const [number, window] of bench.browser.windows.filter((one) => !one.page.isClosed()).entries()) {
    console.error(`picture: ${await window.picture(folder, `${name} ${number + 1}`)}`);
    console.error(`messages: ${JSON.stringify(await window.messages())}`);
  }
  for (const [file, text] of Object.entries(bench.server.output())) {
    console.error(`--- the end of ${file}\n${text.slice(-3000)}`);
  }
}
