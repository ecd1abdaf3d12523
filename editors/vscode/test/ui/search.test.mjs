/** Synapse: Search Notes, as a person uses it. */
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";

import { inWorkbench, LIFE, screenshot } from "./harness.mjs";
import { until } from "./until.mjs";

const MEANT = "gears slip pedalling hard uphill";
const ANSWER = "Work/POL-358 Freehub pawls.md";
const FIRST = /^POL-358 Freehub pawls.*meaning/;
const words = (text) => new Set(text.toLowerCase().match(/\p{L}+/gu));

inWorkbench("search", {}, (bench) => {
  let vault;
  let window;

  bench.test("lists first a note that shares no word with the query", async () => {
    vault = bench.server.vault(LIFE);
    window = await bench.open(vault);
    const text = fs.readFileSync(path.join(vault, ANSWER), "utf8");
    const shared = [...words(MEANT)].filter((word) => words(text).has(word));
    assert.deepEqual(shared, [], "the query shares no word with the note");
    await window.command("View: Toggle Primary Side Bar Visibility");
    await window.file("Home.md");
    await window.goto(19, 3);
    await window.settled();
    await window.quickly("Control+Alt+N");
    await window.page.keyboard.type(MEANT);
    await window.listed(FIRST);
    const [first, ...others] = await window.list();
    assert.match(first, /Work\/POL-358 Freehub pawls\.md › Symptom/, "its place");
    assert.match(first, /meaning \+ links: /, "why it is there: not by words");
    assert.match(first, /Skips under load, mostly on climbs/, "the passage");
    assert.ok(others.length > 1, "there is a list to walk");
    await screenshot(window, "picker", { x: 290, y: 0, width: 660, height: 360 });
    await window.press("Escape");
  });

  bench.test("shows each note while the list is walked", async () => {
    await window.search(MEANT, FIRST);
    await window.press("ArrowDown");
    const second = /^[^,]+/.exec(await window.chosen())[0];
    assert.ok(!FIRST.test(second));
    await until(async () => (await window.tab()).startsWith(second), `${second} is shown`);
    await window.press("ArrowUp");
    await until(async () => /Skips under load/.test(await window.text()), "the passage is shown");
    assert.equal(await window.tab(), path.basename(ANSWER));
    assert.match(await window.chosen(), FIRST);
  });

  bench.test("brings back the note and the place that were there on escape", async () => {
    await window.press("Escape");
    await until(async () => (await window.tab()) === "Home.md", "the note is back");
    await until(async () => (await window.tabs()).flat().length === 1, "no preview is left");
    await until(async () => (await window.cursor()).line === 19, "the cursor is back");
    assert.deepEqual(await window.cursor(), { line: 19, column: 3 });
  });

  bench.test("opens a note at its passage on enter", async () => {
    await window.search(MEANT, FIRST);
    await window.press("Enter");
    await until(async () => (await window.tab()) === path.basename(ANSWER), "the note opens");
    await until(async () => (await window.cursor()).line === 10, "the cursor is at the passage");
    assert.equal(await window.quick.isVisible(), false, "the list is gone");
  });

  bench.test("opens a note to the side, and leaves the other", async () => {
    await window.search("saving for retirement", /^Pension.*meaning/);
    await window.press("Control+\\");
    await until(async () => (await window.tabs()).length === 2, "a second group");
    await until(async () => (await window.tab()) === "Pension.md", "the note opens");
    assert.deepEqual(
      (await window.tabs()).map((group) => group.at(-1)),
      [path.basename(ANSWER), "Pension.md"],
    );
    await window.command("View: Close All Editors");
  });

  bench.test("marks the words that were found", async () => {
    await window.search("labeld.toml", /^Incident/);
    assert.match((await window.list())[0], /words.*‹labeld\.toml›/);
    await window.press("Escape");
  });

  bench.test("keeps to a folder and to a tag that it has completed", async () => {
    await window.search("path:Gard", /Garden\//);
    await window.press("Enter");
    await until(async () => (await window.input.inputValue()) === "path:Garden/", "the folder is completed");
    await window.page.keyboard.type(" soil");
    await until(async () => {
      const rows = await window.list();
      return rows.length > 0 && rows.every((row) => row.includes("Garden/"));
    }, "only notes of the folder");
    await window.type("tag:work/de");
    await window.listed(/work\/defect/);
    await window.press("Enter");
    await window.listed(/^POL-358 Freehub pawls/);
    await window.press("Escape");
  });

  bench.test("offers what was asked before, and recent notes, while nothing is typed", async () => {
    await window.search("", /saving for retirement/);
    const rows = await window.list();
    assert.ok(
      rows.some((row) => row.includes(MEANT)),
      `earlier searches: ${rows}`,
    );
    assert.ok(
      rows.some((row) => /\.md/.test(row)),
      `recent notes: ${rows}`,
    );
    await until(async () => {
      if ((await window.chosen())?.includes(MEANT)) {
        return true;
      }
      await window.press("ArrowDown");
      return false;
    }, "the earlier search is reached");
    await window.press("Enter");
    await window.listed(FIRST);
    assert.equal(await window.input.inputValue(), MEANT);
    await window.press("Escape");
  });

  bench.test("puts a link where the cursor was", async () => {
    const place = path.join(vault, "House/Insurance.md");
    await window.file("Insurance.md");
    await window.goto(5);
    await window.press("End");
    await window.search(MEANT, FIRST);
    await window.press("ArrowDown", "ArrowUp");
    await until(async () => (await window.tab()) === path.basename(ANSWER), "the note is shown first");
    await window.press("Alt+L");
    await until(async () => (await window.tab()) === "Insurance.md", "back in the note");
    await until(async () => (await window.text()).includes("[[POL-358 Freehub pawls#Symptom]]"), "the link is there");
    await window.press("Control+S");
    await until(
      () => fs.readFileSync(place, "utf8").split("\n")[4] === "[[POL-358 Freehub pawls#Symptom]]",
      "in its line",
    );
    await until(async () => (await window.tabs()).flat().length === 1, "no preview is left");
  });
});
