// The parts that need no workbench.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Backlink, Hit, SearchResult, VaultStatus } from "../../src/protocol";
import { linkText, styleOf } from "../../src/links/text";
import { backlinkNodes, relatedNodes } from "../../src/related/model";
import { completed, fitting, unfinished } from "../../src/search/completion";
import { remembered } from "../../src/search/history";
import { caveat, marked, reordered, rowOf } from "../../src/search/rows";
import { Crashes } from "../../src/server/crashes";
import { find, type Machine } from "../../src/server/finder";
import { forServer } from "../../src/server/settings";
import { mismatch } from "../../src/server/version";
import { report, shown } from "../../src/status/text";

const START = { line: 0, character: 0 };
const HIT: Hit = {
  uri: "file:///v/House/Boiler.md",
  range: { start: START, end: START },
  title: "Boiler",
  headingPath: ["Boiler", "Faults"],
  snippet: { text: "the pump\nis loud", highlights: [[4, 8]] },
  score: 1,
  band: "strong",
  matchedBy: ["lexical", "semantic"],
  trust: 1,
};

function machine(files: Record<string, string>, path = "", platform: NodeJS.Platform = "linux"): Machine {
  return {
    platform,
    home: platform === "win32" ? "C:\\me" : "/home/me",
    path,
    isProgram: (file) => file in files,
    real: (file) => files[file] ?? file,
  };
}

const same = (...files: string[]): Record<string, string> => Object.fromEntries(files.map((file) => [file, file]));

test("the server is found by the setting, on the PATH and where installers put it", () => {
  const there = machine(same("/opt/s", "/usr/bin/synapse-ls", "/home/me/.local/bin/synapse-ls"), "/usr/bin:/bin");
  assert.deepEqual(find("/opt/s", [], there), { kind: "found", command: "/opt/s" });
  assert.deepEqual(find("", [], there), { kind: "found", command: "/usr/bin/synapse-ls" });
  assert.deepEqual(find("", [], { ...there, path: "" }), { kind: "found", command: "/home/me/.local/bin/synapse-ls" });
  assert.deepEqual(find("~/x", [], machine(same("/home/me/x"))), { kind: "found", command: "/home/me/x" });
  const windows = machine(same("C:\\bin\\synapse-ls.exe"), "C:\\bin;D:\\x", "win32");
  assert.deepEqual(find("", [], windows), { kind: "found", command: "C:\\bin\\synapse-ls.exe" });
});

test("nothing inside the workspace is the server", () => {
  const folders = ["/v"];
  const inside = same("/v/bin/synapse-ls", "/v/s");
  const cases: [string, Machine][] = [
    ["/v/s", machine(inside)],
    ["", machine(inside, "/v/bin")],
    ["", machine(same("bin/synapse-ls"), "bin:.")],
    ["", machine({ "/usr/bin/synapse-ls": "/v/bin/synapse-ls" }, "/usr/bin")],
    ["/real/v/s", machine({ "/real/v/s": "/real/v/s", "/v": "/real/v" })],
    ["s", machine(same("s"))],
    ["/nowhere", machine({})],
    ["", machine({})],
  ];
  for (const [configured, of] of cases) {
    assert.equal(find(configured, folders, of).kind, "missing", configured);
  }
  const beside = machine(same("/v2/s", "/v..x/s"));
  assert.equal(find("/v2/s", folders, beside).kind, "found");
  assert.equal(find("/v..x/s", folders, beside).kind, "found");
});

test("a server that crashes is started again, later each time, and not for ever", () => {
  let now = 0;
  const crashes = new Crashes(() => now);
  assert.deepEqual(
    [1, 2, 3, 4, 5].map(() => crashes.next()),
    [0, 1000, 2000, 4000, undefined],
  );
  now = 200_000;
  assert.equal(crashes.next(), 0);
  crashes.reset();
  assert.equal(crashes.next(), 0);
});

test("the server gets its own settings and not ours", () => {
  const settings = { server: { path: "/x" }, search: { delay: 1, limit: 5 }, links: { style: "wiki", dialect: "zk" } };
  assert.deepEqual(forServer(settings), { search: { limit: 5 }, links: { dialect: "zk" } });
  assert.equal(forServer(null), null);
  assert.deepEqual(Object.keys(settings.search), ["delay", "limit"]);
});

test("versions that do not fit are told, with what to update", () => {
  assert.equal(mismatch("0.1.7", "0.1.0"), undefined);
  assert.match(mismatch("0.0.9", "0.1.0") ?? "", /update the server/);
  assert.match(mismatch("0.2.0", "0.1.0") ?? "", /update the extension/);
  assert.match(mismatch("1.0.0", "0.9.0") ?? "", /update the extension/);
  assert.match(mismatch(undefined, "0.1.0") ?? "", /does not tell its version/);
});

test("a row shows title, place, why, and the matched words", () => {
  assert.deepEqual(rowOf(HIT, "House/Boiler.md"), {
    key: HIT.uri,
    label: "Boiler",
    description: "House/Boiler.md › Faults",
    detail: "words + meaning, sure: the ‹pump› is loud",
  });
  const sly = { ...HIT, title: "$(bug) x", matchedBy: [], band: "weak" as const };
  assert.equal(rowOf(sly, "a.md").label, "\\$(bug) x");
  assert.match(rowOf(sly, "a.md").detail, /^listed: /);
  assert.equal(marked("abc", [[2, 3], [0, 1], [0, 2]]), "‹a›b‹c›"); // prettier-ignore
});

test("a new order keeps what it does not name at the end", () => {
  const key = (item: string): string => item;
  assert.deepEqual(reordered(["a", "b", "c"], ["c", "a"], key), ["c", "a", "b"]);
});

test("what an answer lacks is told", () => {
  const legs = { lexical: { state: "ok" }, semantic: { state: "ok", coverage: 1 }, graph: { state: "ok" } } as const;
  const answer = (semantic: SearchResult["legs"]["semantic"]): SearchResult => ({
    searchId: "",
    generation: 1,
    hits: [],
    rerank: "off",
    legs: { ...legs, semantic },
    elapsedMs: 1,
  });
  assert.equal(caveat(answer(legs.semantic)), undefined);
  assert.match(caveat(answer({ state: "ok", coverage: 0.5 })) ?? "", /50 %/);
  assert.match(caveat(answer({ state: "unavailable", note: "loading" })) ?? "", /the model is loading/);
  assert.match(caveat(answer({ state: "unavailable", note: "no vectors" })) ?? "", /by words only: no vectors/);
  assert.equal(caveat(answer({ state: "ok", note: "English only" })), "English only");
});

test("searches are remembered once, the newest first", () => {
  assert.deepEqual(remembered(["a", "b"], " b "), ["b", "a"]);
  assert.deepEqual(remembered(["a"], "  "), ["a"]);
  assert.equal(
    remembered(
      Array.from({ length: 30 }, (_, i) => String(i)),
      "x",
    ).length,
    20,
  );
});

test("filters at the end of a query are completed", () => {
  assert.equal(unfinished("bread"), undefined);
  assert.equal(unfinished("tag:a b"), undefined);
  assert.deepEqual(unfinished("bread tag:re"), { kind: "tag", before: "bread ", typed: "re" });
  const path = unfinished("path:Ho");
  assert.ok(path);
  assert.equal(completed(path, "House/"), "path:House/");
  const tag = unfinished("x #");
  assert.ok(tag);
  assert.equal(completed(tag, "recipe"), "x tag:recipe ");
  assert.deepEqual(fitting(["soup", "re", "recipe", "free", "recipe"], "re", 9), ["recipe", "free"]);
});

test("links are written as the note writes them", () => {
  const target = { title: "The [Boiler]", path: "House/Boiler (old).md", heading: "Faults & fixes", ambiguous: false };
  assert.equal(linkText(target, "wiki", "Home.md"), "[[Boiler (old)#Faults & fixes]]");
  assert.equal(linkText({ ...target, ambiguous: true, heading: undefined }, "wiki", "x.md"), "[[House/Boiler (old)]]");
  assert.equal(
    linkText(target, "markdown", "Garden/Home.md"),
    "[The \\[Boiler\\]](<../House/Boiler (old).md#faults--fixes>)",
  );
  assert.equal(styleOf("[[a]] and [x](https://y.org/z.md)"), "wiki");
  assert.equal(styleOf("[x](a.md) [y](../b.md#c) [[z]]"), "markdown");
  assert.equal(styleOf(""), "wiki");
});

test("related notes carry reasons and passage, backlinks their lines", () => {
  const [related] = relatedNodes([{ ...HIT, reasons: ["similar passage: Faults", "shares tag #x"] }], () => "p.md");
  assert.equal(related?.description, "similar passage: Faults · Faults");
  assert.equal(related.heading, "Faults");
  assert.deepEqual(
    related.children.map((child) => child.label),
    ["the ‹pump› is loud", "similar passage: Faults", "shares tag #x", "p.md"],
  );
  const link: Backlink = {
    uri: "file:///a.md",
    range: HIT.range,
    title: "A",
    line: { text: "see [[Boiler]]", link: [4, 14] },
  };
  const links: Backlink[] = [link, { ...link, line: { text: "", link: [0, 0] } }];
  const nodes = backlinkNodes(links, 5, () => "a.md");
  assert.deepEqual(nodes[0]?.children.map((child) => child.label), ["see ‹[[Boiler]]›", "in the front matter"]); // prettier-ignore
  assert.equal(nodes.at(-1)?.label, "and 3 more links");
});

const VAULT: VaultStatus = {
  root: "file:///home/me/My%20notes",
  state: "ready",
  notes: 3,
  chunks: 10,
  embedded: 10,
  pending: 0,
  skipped: [{ path: "bad.md", reason: "not valid UTF-8" }],
  model: { name: "bundled", dimensions: 384, languages: "English", state: "ready" },
  reranker: { name: null, state: "off" },
  cacheBytes: 2_000_000,
};

test("the status bar tells the state and stays calm", () => {
  const text = (...vaults: VaultStatus[]): string => shown("running", undefined, vaults).text;
  assert.equal(text(VAULT), "$(search) 3 notes");
  assert.equal(text({ ...VAULT, state: "indexing", pending: 3 }), "$(sync~spin) Synapse: reading notes");
  assert.equal(text({ ...VAULT, embedded: 4, pending: 6 }), "$(sync~spin) Synapse 40 %");
  assert.equal(text({ ...VAULT, state: "readOnly" }), "$(search) 3 notes");
  assert.match(shown("running", undefined, [{ ...VAULT, state: "readOnly" }]).tooltip, /Another window/);
  assert.equal(shown("running", undefined, [{ ...VAULT, state: "failed" }]).severity, "error");
  assert.equal(shown("missing", "not there", []).tooltip, "not there");
  assert.equal(shown("running", undefined, []).tooltip, "No folder is open.");
  assert.match(report("1.2", [VAULT]), /My notes: 3 notes[^]*bad\.md: not valid UTF-8/);
});
