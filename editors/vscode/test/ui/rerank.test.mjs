/** The list when a reranker has judged it: one on loopback, which answers when the test says so. */
import assert from "node:assert/strict";
import http from "node:http";
import { once } from "node:events";

import { inWorkbench } from "./harness.mjs";
import { until } from "./until.mjs";

const NOTES = {
  "Kettle.md": "# Kettle\n\nWater for tea boils in the kettle.\n",
  "Teapot.md": "# Teapot\n\nTea draws in the teapot for four minutes.\n",
  "Cup.md": "# Cup\n\nThe cup for tea has a chip.\n",
  "Index.md": "# Index\n\nWhere things stand in the kitchen.\n",
  "Saucer.md": "# Saucer\n\nA saucer under the tea.\n",
};

inWorkbench("reranking", {}, (bench) => {
  let judge;
  let window;
  /** Answers the request that waits: the reverse of the order that it was sent in. */
  let answer;

  const titles = async () => (await window.list()).map((row) => /^[^,]+/.exec(row)[0]);

  /** Types a query; returns the order in which the answer came, with the judge still thinking. */
  async function asked(query) {
    answer = undefined;
    await window.quickly("Control+Alt+N");
    await window.type(query);
    await until(() => answer, "the judge is asked");
    await until(async () => (await window.list()).every((row) => /meaning/.test(row)), "the answer is listed");
    return titles();
  }

  bench.test("is asked of the address in the settings of the machine", async () => {
    judge = http.createServer((request, response) => {
      let body = "";
      request.on("data", (data) => (body += data));
      request.on("end", () => {
        const { documents } = JSON.parse(body);
        answer = () => {
          const results = documents.map((_, index) => ({ index, relevance_score: index / documents.length }));
          response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ results }));
        };
      });
    });
    judge.listen(0, "127.0.0.1");
    await once(judge, "listening");
    judge.unref();
    bench.server.write("Machine", {
      "synapse.rerank.model": "http",
      "synapse.rerank.http.url": `http://127.0.0.1:${judge.address().port}/rerank`,
    });
    bench.server.set({ "synapse.rerank.enabled": true, "synapse.rerank.deadlineMs": 60_000 });
    window = await bench.open(bench.server.vault(NOTES));
    await window.file("Index.md");
    await window.settled();
  });

  bench.test("keeps what the user has moved to, and shows the new order", async () => {
    const before = await asked("something hot to drink in the afternoon");
    await window.press("ArrowDown");
    const chosen = await window.chosen();
    assert.ok(chosen.startsWith(before[1]));
    // The preview tells that the extension knows of the move.
    await until(async () => (await window.tab()) === `${before[1]}.md`, "the note is shown");
    answer();
    await until(async () => (await titles()).join() === before.toReversed().join(), "the new order is there");
    assert.equal(await window.chosen(), chosen, "the row is chosen still");
    await window.press("Escape");
  });

  bench.test("chooses the new first one where the user has not moved", async () => {
    const before = await asked("a warm drink when it is cold outside");
    answer();
    await until(async () => (await titles()).join() === before.toReversed().join(), "the new order is there");
    assert.ok((await window.chosen()).startsWith(before.at(-1)));
    await window.press("Enter");
    await until(async () => (await window.tab()) === `${before.at(-1)}.md`, "the new first one opens");
    judge.closeAllConnections();
    judge.close();
  });
});
