/** The views of the side bar, the hover and what else a note offers. */
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";

import { inWorkbench, LIFE, screenshot } from "./harness.mjs";
import { until } from "./until.mjs";

inWorkbench("a note", {}, (bench) => {
  let vault;
  let window;

  bench.test("shows its related notes with their reasons", async () => {
    vault = bench.server.vault(LIFE);
    window = await bench.open(vault);
    await window.file("Journal 2025.md");
    await window.settled();
    await window.file("POL-358 Freehub pawls.md");
    await window.goto(10);
    await window.command("Synapse: Show Related Notes");
    const rows = await until(async () => {
      const shown = await window.view("Related Notes");
      return shown.some((row) => row.startsWith("Decision 7: pawl springs")) && shown;
    }, "the decision is related");
    assert.ok(
      rows.some((row) => /links? to (it|this note)/.test(row)),
      `a reason is told: ${rows}`,
    );
    assert.ok(!rows.some((row) => row.startsWith("POL-358")), "a note is not related to itself");
  });

  bench.test("unfolds a related note to its passage and all reasons", async () => {
    const row = window.row("Related Notes", "Decision 7");
    await row.locator(".monaco-tl-twistie").click();
    await until(async () => {
      const rows = await window.view("Related Notes");
      return (
        rows.some((one) => /bad coil of wire/.test(one)) && rows.some((one) => one.startsWith("this note links to it"))
      );
    }, "the passage and the reasons");
    await screenshot(window, "related", { x: 0, y: 0, width: 700, height: 420 });
  });

  bench.test("has its related notes follow the cursor", async () => {
    await window.file("Home.md");
    await window.goto(17);
    const kitchen = await until(async () => {
      const rows = await window.view("Related Notes");
      return rows.some((row) => /Sourdough|Pierogi|Lentil/.test(row)) && rows;
    }, "notes of the kitchen");
    await window.goto(28);
    await until(async () => {
      const rows = await window.view("Related Notes");
      return rows[0] !== kitchen[0] && rows.some((row) => /Boiler|Knee|Damp|Insurance/.test(row));
    }, "notes of house and body");
  });

  bench.test("opens a related note", async () => {
    const row = window.row("Related Notes", /Boiler|Knee|Damp|Insurance/);
    const title = await row.locator(".label-name").innerText();
    await row.click();
    await until(async () => (await window.tab()).startsWith(title), `${title} opens`);
  });

  bench.test("gets a link to a related note where the cursor is", async () => {
    await window.file("Bins.md");
    await window.goto(1);
    await window.press("End");
    const row = await until(async () => {
      const first = window.row("Related Notes", /\.md|·/);
      return (await first.count()) > 0 && first;
    }, "something is related");
    await until(async () => (await window.view("Related Notes")).length > 1, "the list is there");
    await row.hover();
    await row.locator('.action-label[aria-label="Insert Link"]').click();
    await until(async () => /\[\[.+\]\]/.test((await window.text()).split("\n")[0]), "the link is there");
  });

  bench.test("shows its backlinks, each with its line", async () => {
    await window.file("Insurance.md");
    await window.command("Synapse: Show Backlinks");
    await until(async () => (await window.view("Backlinks")).some((row) => row.startsWith("Home")), "Home links here");
    const row = window.row("Backlinks", "Home");
    await row.locator(".monaco-tl-twistie").click();
    await until(
      async () => (await window.view("Backlinks")).some((one) => one.includes("[[Boiler]], ‹[[Insurance]]›")),
      "its line",
    );
    await window.row("Backlinks", "Boiler").click();
    await until(async () => (await window.tab()) === "Home.md", "the line's note opens");
    await until(async () => (await window.cursor()).line === 29, "at the line");
    assert.equal((await window.cursor()).line, 29);
  });

  bench.test("previews a link on hover, with a place to click", async () => {
    await window.file("Home.md");
    await window.goto(1);
    await window.command("View: Toggle Primary Side Bar Visibility");
    const hover = await window.hover("Insurance", /Open House\/Insurance\.md/);
    assert.match(await hover.innerText(), /Policy HH-80-22917/);
    await screenshot(window, "hover", { x: 120, y: 364, width: 820, height: 250 });
    await hover.locator("a", { hasText: "Open House/Insurance.md" }).click();
    await until(async () => (await window.tab()) === "Insurance.md", "the note opens");
  });

  bench.test("says of a link that leads nowhere what may have been meant", async () => {
    await window.file("Hollow Axle.md");
    const file = path.join(vault, "Work/Hollow Axle.md");
    const line = fs.readFileSync(file, "utf8").split("\n").length;
    await window.goto(line);
    await window.press("Enter");
    await window.page.keyboard.type("see [[Torqe tabel]]");
    await window.press("Escape");
    const hover = await window.hover("Torqe tabel", /no such note/i);
    assert.match(await hover.innerText(), /Torque table/);
    await window.press("Control+Z");
  });

  bench.test("goes to related notes as implementations", async () => {
    await window.file("POL-358 Freehub pawls.md");
    await window.goto(10);
    await window.command("Go to Implementations");
    const peek = window.page.locator(".peekview-widget");
    await peek.waitFor();
    await until(async () => /adr-007\.md/.test(await peek.innerText()), "the decision is among them");
    await window.press("Escape");
  });

  bench.test("has the state of its index in the status bar", async () => {
    await window.status.hover();
    await window.page.locator(".monaco-hover:not(.hidden)", { hasText: "passages searchable by meaning" }).waitFor();
    await screenshot(window, "status", { x: 640, y: 640, width: 640, height: 160 });
  });
});
