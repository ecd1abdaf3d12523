// The extension as a user meets it, in the real workbench on the sample vault of the tests.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join, resolve } from "node:path";
import { after, afterEach, before, describe, test } from "node:test";
import { HERE, start, until } from "./workbench.mjs";

const VAULT = resolve(HERE, "../../../../tests/vaults/life");
const PARAPHRASE = "the gears slip when pedalling hard uphill";

describe("on a vault", () => {
  let bench;
  let window;
  before(async () => {
    bench = await start({ vault: VAULT });
    window = await bench.window();
    await window.open("Insurance.md");
    await window.settled();
  });
  afterEach(async (context) => {
    // What a test leaves open is not the next one's matter.
    await window.press("Escape");
    await window.press("Escape");
    if (context.error !== undefined) {
      await bench.tell(context.name);
    }
  });
  after(() => bench?.close());

  test("a note that shares no word with the question is found, previewed, and Escape brings the view back", async () => {
    await window.goTo(4);
    await window.search(PARAPHRASE);
    const row = window.row("POL-358 Freehub pawls");
    await until(async () => {
      const told = await row.innerText();
      return told.includes("meaning") && !told.includes("words");
    });
    await window.shot("picker", 296, 0, 612, 346);
    await window.press("ArrowDown");
    await window.moveTo("POL-358");
    await window.tab("POL-358");
    await window.press("Escape");
    await window.tab("Insurance.md");
    await until(async () => (await window.page.locator(".tab", { hasText: "POL-358" }).count()) === 0);
    await window.page.locator(".statusbar-item", { hasText: "Ln 4," }).first().waitFor();
  });

  test("a note is opened, and one is opened to the side", async () => {
    await window.search("sourdough");
    await window.row("Sourdough").waitFor();
    await window.moveTo("Sourdough");
    await window.press("Enter");
    await window.page
      .locator(".tab.active", { hasText: /sourdough/i })
      .first()
      .waitFor();
    await window.search("tag:");
    await window.rows.filter({ hasText: "tag" }).first().waitFor();
    await window.press("Escape");
    await window.search("boiler pressure");
    await window.row("Boiler").waitFor();
    await window.moveTo("Boiler");
    await window.press("Control+Backslash");
    await until(async () => (await window.page.locator(".editor-group-container").count()) === 2);
    await window.command("View: Close All Editors");
    await window.open("Insurance.md");
  });

  test("a link is inserted where the cursor was", async () => {
    const file = join(bench.folder, "House", "Insurance.md");
    const held = readFileSync(file, "utf8");
    await window.goTo(2);
    await window.press("End");
    await window.search(PARAPHRASE);
    await window.row("POL-358 Freehub pawls").waitFor();
    await window.moveTo("POL-358");
    await window.press("Alt+l");
    await window.page.locator(".view-lines", { hasText: "[[POL-358 Freehub pawls" }).first().waitFor();
    await window.press("Control+S");
    await until(() => readFileSync(file, "utf8").includes("[[POL-358 Freehub pawls"));
    writeFileSync(file, held);
  });

  test("related notes and backlinks follow the cursor", async () => {
    await window.open("Home.md");
    await window.command("Synapse: Show Related Notes");
    const related = window.page.locator('.pane:has(.pane-header[aria-label^="Related Notes"]) .monaco-list-row');
    await related.first().waitFor();
    const before_ = await related.first().innerText();
    await window.open("Insurance.md");
    await until(async () => (await related.first().innerText()) !== before_);
    const backlinks = window.page.locator('.pane:has(.pane-header[aria-label^="Backlinks"]) .monaco-list-row');
    await backlinks.first().waitFor();
    await related.first().click();
    await window.press("ArrowRight");
    await until(async () => (await related.allInnerTexts()).length > 3);
    await window.shot("related", 0, 36, 640, 420);
  });

  test("a hover shows the passage and a place to click", async () => {
    await window.open("Home.md");
    const text = readFileSync(join(bench.folder, "Home.md"), "utf8").split("\n");
    const line = text.findIndex((one) => /\[\[[^\]]+\]\]/.test(one));
    await window.goTo(line + 1, text[line].indexOf("[[") + 4);
    await window.command("Show or Focus Hover");
    const hover = window.page.locator(".monaco-hover:visible", { hasText: "Open " }).first();
    await hover.waitFor();
    await hover.evaluate((element) => Promise.all(element.getAnimations({ subtree: true }).map((one) => one.finished)));
    await window.shot("hover", 348, 36, 852, 300);
    await hover.locator("a", { hasText: "Open " }).first().click();
    await until(async () => (await window.page.locator(".tab.active", { hasText: "Home.md" }).count()) === 0);
  });

  test("Go to Implementations goes to related notes", async () => {
    await window.open("Insurance.md");
    await window.goTo(4);
    await window.command("Go to Implementations");
    await window.page.locator(".peekview-widget, .zone-widget").first().waitFor();
  });

  test("the status bar offers what can be done", async () => {
    await window.open("Insurance.md");
    await window.settled();
    await window.shot("status", 600, 736, 600, 24);
    await window.status().click();
    await window.rows.filter({ hasText: "Rebuild the Index" }).waitFor();
    await window.rows.filter({ hasText: "Choose a Model" }).waitFor();
  });

  test("a server that is killed is started again", async () => {
    const pids = () => serversOf(bench.cache);
    const [old] = await until(() => pids().length > 0 && pids());
    process.kill(old, "SIGKILL");
    await until(() => pids().some((pid) => pid !== old));
    await window.settled();
    await window.search("sourdough");
    await window.row("Sourdough").waitFor();
  });

  test("a second window reads along, and both see an edit", async () => {
    const second = await bench.window();
    await second.open("Insurance.md");
    await second.settled();
    writeFileSync(join(bench.folder, "Zeppelin.md"), "# Zeppelin\n\nAn airship leaks hydrogen.\n");
    for (const one of [window, second]) {
      await until(async () => {
        await one.press("Escape");
        await one.search("zeppelin hydrogen");
        return one.rows
          .filter({ hasText: "Zeppelin" })
          .first()
          .waitFor({ timeout: 3000 })
          .then(() => true);
      });
      await one.press("Escape");
    }
    await second.page.context().close();
  });

  test("no host but this machine is asked for anything", () => {
    const asked = [...bench.strangers].filter((host) => !host.endsWith("vscode-cdn.net"));
    assert.deepEqual(asked, []);
  });
});

describe("inside the extension host", () => {
  test("commands, providers and settings work", async () => {
    const bench = await start({ vault: VAULT, extension: false });
    try {
      await bench.host(resolve(HERE, "../host/suite.cjs"));
    } finally {
      await bench.close();
    }
  });
});

describe("without the server", () => {
  test("one message says what to do", async () => {
    const bench = await start({ vault: VAULT, server: false });
    try {
      const window = await bench.window();
      await window.open("Insurance.md");
      const message = window.page.locator(".notification-toast", { hasText: "synapse-ls is not installed" });
      await message.waitFor();
      await message.locator(".monaco-button", { hasText: "pipx" }).waitFor();
      await window.status().click();
      await window.press("Escape");
      await window.search("bread");
      await window.rows.filter({ hasText: "The search failed" }).waitFor();
    } finally {
      await bench.close();
    }
  });
});

describe("with reranking, in a workspace that is not trusted", () => {
  test("the list takes the reranker's order and keeps what is chosen", async () => {
    const judge = await reversing((query) => query.endsWith("pressure falls"));
    const settings = {
      "synapse.rerank.enabled": true,
      "synapse.rerank.deadlineMs": 60000,
      "synapse.rerank.model": "http",
      "synapse.rerank.http.url": judge.address,
    };
    const bench = await start({ vault: VAULT, settings, trust: true });
    try {
      const window = await bench.window();
      const dialog = window.page.locator(".monaco-dialog-box .monaco-button", { hasText: "No, I don't trust" });
      await dialog.click();
      await window.open("Insurance.md");
      await window.settled();
      await window.search("what to do when the water pressure falls");
      await judge.isAsked;
      const label = (row) => row.getAttribute("aria-label");
      const first = await label(window.rows.first());
      await window.press("ArrowDown");
      const focused = window.page.locator(".quick-input-list .monaco-list-row.focused");
      await until(async () => (await label(focused)) !== first);
      const chosen = await label(focused);
      judge.open();
      await until(async () => (await label(window.rows.first())) !== first);
      assert.equal(await label(focused), chosen);
    } finally {
      judge.close();
      await bench.close();
    }
  });
});

/** A rerank endpoint on loopback that turns every order round; the query that it waits for once it is opened. */
async function reversing(waits) {
  let open;
  let ask;
  const opened = new Promise((done) => (open = done));
  const isAsked = new Promise((done) => (ask = done));
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (data) => (body += data));
    request.on("end", async () => {
      const { query, documents } = JSON.parse(body);
      if (waits(query)) {
        ask();
        await opened;
      }
      const results = documents.map((_, index) => ({ index, relevance_score: (index + 1) / (documents.length + 1) }));
      response.setHeader("Content-Type", "application/json").end(JSON.stringify({ results }));
    });
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return {
    isAsked,
    address: `http://127.0.0.1:${server.address().port}`,
    open,
    close: () => {
      open();
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Returns the ids of the servers that keep an index in a cache folder, as the system's list of processes tells. */
function serversOf(cache) {
  const listed = execFileSync("ps", ["-eo", "pid=,args="], { encoding: "utf8" });
  return listed
    .split("\n")
    .filter((line) => /synapse-ls serve/.test(line))
    .map((line) => Number.parseInt(line, 10))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, "utf8").includes(`SYNAPSE_CACHE_DIR=${cache}`);
      } catch {
        return false;
      }
    });
}
