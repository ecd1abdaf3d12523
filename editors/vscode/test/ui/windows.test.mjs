/** Several windows on one vault, several folders in one window, a folder that is not trusted. */
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";

import { inWorkbench } from "./harness.mjs";
import { save } from "./server.mjs";
import { until } from "./until.mjs";

const NOTES = {
  "Bread.md": "# Bread\n\nThe dough rises overnight.\n",
  "Bicycle.md": "# Bicycle\n\nOil the chain before a long ride.\n",
};

inWorkbench("two windows", {}, (bench) => {
  let vault;
  let first;
  let second;

  bench.test("answer both, the second reading along", async () => {
    vault = bench.server.vault(NOTES);
    first = await bench.open(vault);
    await first.file("Bread.md");
    await first.settled();
    second = await bench.open(vault);
    await second.file("Bicycle.md");
    await second.settled();
    await until(async () => /reads along/.test(await second.told()), "the second window says that it reads along");
    assert.doesNotMatch(await first.told(), /reads along/);
    for (const window of [first, second]) {
      await window.search("greasing before a trip", /^Bicycle.*meaning/);
      await window.press("Escape");
    }
  });

  /** Writes a paragraph at the end of the note in one window, saves it, and looks for it in the other. */
  async function written(here, note, words, there, question, title) {
    await here.press("Control+End");
    await here.page.keyboard.type(`\n${words}`);
    await here.press("Control+S");
    await until(() => fs.readFileSync(path.join(vault, note), "utf8").includes(words), "the note is saved");
    await there.finds(question, new RegExp(`^${title}.*${words.split(" ").at(-1)}`));
  }

  bench.test("see each other's edits", async () => {
    await written(first, "Bread.md", "Rye needs zeppelinade", second, "zeppelinade", "Bread");
    await written(second, "Bicycle.md", "Tyres love marzipanium", first, "marzipanium", "Bicycle");
  });

  bench.test("become one: the second takes over when the first is closed", async () => {
    await first.page.context().close();
    await until(async () => !/reads along/.test(await second.told()), "the second keeps the index");
    await written(second, "Bicycle.md", "The bell says tinkelonium", second, "tinkelonium", "Bicycle");
  });
});

inWorkbench("two folders", {}, (bench) => {
  bench.test("are searched as one, each note with its folder", async () => {
    const [home, work] = [
      bench.server.vault(NOTES),
      bench.server.vault({ "Invoice.md": "# Invoice\n\nPay the supplier by Friday.\n" }),
    ];
    const file = path.join(path.dirname(home), "both.code-workspace");
    save(
      file,
      JSON.stringify({
        folders: [
          { path: home, name: "home" },
          { path: work, name: "work" },
        ],
      }),
    );
    const window = await bench.open(file);
    await window.file("Invoice.md");
    await until(async () => (await window.status.innerText()).trim() === "3 notes", "notes of both");
    await window.search("settling a bill", /^Invoice, work\/Invoice\.md.*meaning/);
    await window.press("Escape");
    await window.search("greasing before a trip", /^Bicycle, home\/Bicycle\.md.*meaning/);
    await window.press("Escape");
  });
});

inWorkbench("a folder that is not trusted", { trust: true }, (bench) => {
  bench.test("is searched by the user's own settings", async () => {
    const vault = bench.server.vault(NOTES);
    save(
      path.join(vault, ".vscode/settings.json"),
      JSON.stringify({ "synapse.server.path": "/nowhere", "synapse.embedding.model": "none" }),
    );
    const window = await bench.open(vault);
    await window.file("Bread.md");
    await window.page.locator(".statusbar-item", { hasText: "Restricted Mode" }).waitFor();
    await window.settled();
    assert.match(await window.told(), /2 of 2 passages searchable by meaning/);
    await window.search("greasing before a trip", /^Bicycle.*meaning/);
  });
});
