// The picker over a stand-in for the workbench, asking the real server.

import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import {
  createMessageConnection,
  StreamMessageReader,
  StreamMessageWriter,
  type MessageConnection,
} from "vscode-jsonrpc/node";
import type { Hit, SearchReranked, SearchResult, Status } from "../../src/protocol";
import { Search } from "../../src/search/picker";
import type { Server } from "../../src/server/server";
import { EventEmitter, seen, Uri, workspace, type Item, type QuickPick } from "./vscode";

const NOTES = {
  "Boiler.md": "# Boiler\n\nBleed the radiators before winter, then look at the pressure. #house\n",
  "Bread.md": "# Bread\n\nKnead the dough and let it rise overnight.\n",
  "Bicycle.md": "# Bicycle\n\nOil the chain and pump up both tyres.\n",
};

let home: string;
let child: ChildProcess;
let connection: MessageConnection;
let broken: Error | undefined;
let last: SearchResult | undefined;
const reranked = new EventEmitter<SearchReranked>();
const changed = new EventEmitter<undefined>();
const memory = new Map<string, unknown>();

before(async () => {
  home = mkdtempSync(join(tmpdir(), "synapse-picker-"));
  const vault = join(home, "notes");
  mkdirSync(vault);
  for (const [name, text] of Object.entries(NOTES)) {
    writeFileSync(join(vault, name), text);
  }
  const environment = { ...process.env, SYNAPSE_CACHE_DIR: join(home, "cache"), HF_HUB_OFFLINE: "1" };
  child = spawn("synapse-ls", ["serve"], { env: environment, stdio: ["pipe", "pipe", "inherit"] });
  assert.ok(child.stdout && child.stdin);
  connection = createMessageConnection(new StreamMessageReader(child.stdout), new StreamMessageWriter(child.stdin));
  connection.listen();
  const uri = pathToFileURL(vault).href;
  workspace.workspaceFolders.push({ uri: Uri.file(vault) });
  const folders = [{ uri, name: "notes" }];
  await connection.sendRequest("initialize", { processId: process.pid, rootUri: uri, workspaceFolders: folders, capabilities: {} }); // prettier-ignore
  await connection.sendNotification("initialized", {});
  await until(async () => {
    const [one] = (await connection.sendRequest<Status>("synapse/status", {})).vaults;
    return one?.state === "ready" && one.pending === 0 && one.model.state === "ready";
  });
});

after(async () => {
  await connection.sendRequest("shutdown");
  await connection.sendNotification("exit");
  await new Promise((done) => child.once("exit", done));
  connection.dispose();
  rmSync(home, { recursive: true, force: true });
});

const server = {
  ask: async (method: string, params: object): Promise<unknown> => {
    if (broken !== undefined) {
      throw broken;
    }
    const answer = await connection.sendRequest<SearchResult>(method, params);
    if (method === "synapse/search") {
      last = answer;
    }
    return answer;
  },
  onDidRerank: reranked.event,
  onDidChange: changed.event,
  vaults: [{ model: { state: "ready" } }],
} as unknown as Server;

const memento = {
  get: (key: string, fallback: unknown) => memory.get(key) ?? fallback,
  update: (key: string, value: unknown) => {
    memory.set(key, value);
    return Promise.resolve();
  },
} as unknown as ConstructorParameters<typeof Search>[1];

async function until(met: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + 60_000;
  while (!(await met())) {
    assert.ok(Date.now() < end, `not so within a minute: ${String(met)}`);
    await new Promise((done) => setTimeout(done, 20));
  }
}

/** Opens a picker, types, and waits for rows. */
async function typed(query: string): Promise<{ search: Search; list: QuickPick }> {
  const search = new Search(server, memento);
  await search.show();
  const list = seen.lists.at(-1);
  assert.ok(list);
  await until(() => list.items.length > 0 && !list.busy);
  if (query !== "") {
    const old = list.items;
    list.type(query);
    await until(() => list.items !== old && !list.busy);
  }
  return { search, list };
}

const labels = (list: QuickPick): string[] => list.items.map((item) => item.label);
const named = (list: QuickPick, label: string): Item | undefined => list.items.find((item) => item.label === label);

test("a note that shares no word with the question is a row, and says that meaning has found it", async () => {
  const { search, list } = await typed("a vehicle with two wheels");
  assert.equal(labels(list)[0], "Bicycle");
  assert.match(list.items[0]?.detail ?? "", /^meaning/);
  assert.equal(list.items[0]?.description, "Bicycle.md");
  search.dispose();
});

test("a reranked order is taken over, and what the user has moved to stays chosen", async () => {
  const { search, list } = await typed("dough pressure chain");
  assert.ok(last && last.hits.length === 3);
  const chosen = list.items[1];
  list.moveTo(chosen);
  const hits: Hit[] = [...last.hits].reverse();
  const told = { searchId: last.searchId, outcome: "reranked" as const, hits, model: "m" };
  const before_ = labels(list);
  reranked.fire({ ...told, searchId: "of another search" });
  assert.deepEqual(labels(list), before_);
  reranked.fire({ ...told, outcome: "deadline" });
  assert.deepEqual(labels(list), before_);
  reranked.fire(told);
  assert.deepEqual(labels(list), [...before_].reverse());
  assert.deepEqual(list.activeItems, [chosen]);
  search.dispose();
});

test("an answer that had to do without the model is asked for again when the model is there", async () => {
  const { search, list } = await typed("overnight");
  assert.ok(last);
  const asked = last.searchId;
  changed.fire(undefined);
  assert.equal(list.busy, false, "nothing was missing");
  last.legs.semantic = { state: "unavailable", note: "loading" };
  changed.fire(undefined);
  await until(() => last?.searchId !== asked && !list.busy);
  search.dispose();
});

test("an error is a row of its own and no empty list", async () => {
  const { search, list } = await typed("");
  broken = new Error("the index is broken; run synapse-ls doctor");
  list.type("bread");
  await until(() => labels(list)[0]?.includes("The search failed") ?? false);
  assert.equal(list.items[0]?.detail, broken.message);
  broken = undefined;
  search.dispose();
});

test("what was asked for is remembered and offered, with the notes changed last", async () => {
  const { list } = await typed("overnight");
  list.moveTo(named(list, "Bread"));
  list.accept();
  assert.equal(list.isShown, false);
  await until(() => seen.documents.at(-1)?.endsWith("Bread.md") ?? false);
  const { search, list: next } = await typed("");
  assert.deepEqual(labels(next).slice(0, 3), ["recent searches", "$(history) overnight", "recently changed"]);
  assert.equal(labels(next).length, 6);
  next.moveTo(next.items[1]);
  next.accept();
  await until(() => named(next, "Bread") !== undefined && labels(next)[0] === "Bread");
  search.dispose();
});

test("filters are completed from what there is", async () => {
  const { search, list } = await typed("tag:ho");
  assert.equal(labels(list)[0], "$(tag) house");
  list.type("path:");
  await until(() => labels(list)[0] === "$(folder) House/");
  search.dispose();
});
