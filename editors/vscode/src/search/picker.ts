// Search Notes: a list that the server makes anew with every key.

import { randomUUID } from "node:crypto";
import * as vscode from "vscode";
import { SEARCH, type Hit, type SearchReranked, type SearchResult } from "../protocol";
import { insertLink } from "../links/insert";
import { open, pathOf } from "../places";
import { failure } from "../server/failure";
import type { Server } from "../server/server";
import { completed, fitting, unfinished } from "./completion";
import { remembered } from "./history";
import { Preview } from "./preview";
import { caveat, keyOf, reordered, rowOf } from "./rows";

const LIMIT = 25;
const COMPLETIONS = 8;
const PREVIEW_MS = 60;
const HISTORY = "synapse.history";

type Item = vscode.QuickPickItem & { hit?: Hit; query?: string };

const BESIDE: vscode.QuickInputButton = {
  iconPath: new vscode.ThemeIcon("split-horizontal"),
  tooltip: "Open to the Side (Ctrl+\\)",
};
const LINK: vscode.QuickInputButton = {
  iconPath: new vscode.ThemeIcon("link"),
  tooltip: "Insert a Link (Alt+L)",
};

/** Opens pickers, and has the one that is open act. */
export class Search implements vscode.Disposable {
  private current: Picker | undefined;
  private restored: Promise<void> = Promise.resolve();
  private readonly listening: vscode.Disposable[];

  constructor(
    private readonly server: Server,
    private readonly memory: vscode.Memento,
  ) {
    this.listening = [
      server.onDidRerank((told) => this.current?.rerank(told)),
      server.onDidChange(() => this.current?.improve()),
    ];
  }

  async show(query = ""): Promise<void> {
    this.current?.close();
    // An editor that comes back would take the keyboard from a new list, which would close it.
    await this.restored;
    const picker = new Picker(this.server, this.memory, (restored) => {
      this.restored = restored;
      // A list is told late that it is hidden: another may be open by then, and keeps its keys.
      if (this.current === picker) {
        this.current = undefined;
        void vscode.commands.executeCommand("setContext", "synapse.picking", false);
      }
    });
    this.current = picker;
    void vscode.commands.executeCommand("setContext", "synapse.picking", true);
    picker.begin(query);
  }

  openBeside(): void {
    this.current?.take("beside");
  }

  insertLink(): void {
    this.current?.take("link");
  }

  async clearHistory(): Promise<void> {
    await this.memory.update(HISTORY, undefined);
  }

  dispose(): void {
    this.current?.close();
    for (const one of this.listening) {
      one.dispose();
    }
  }
}

class Picker {
  private readonly list = vscode.window.createQuickPick<Item>();
  private readonly preview = new Preview();
  private readonly editor = vscode.window.activeTextEditor;
  private readonly session = randomUUID();
  private readonly delay = vscode.workspace.getConfiguration("synapse").get<number>("search.delay", 10);
  private asking: vscode.CancellationTokenSource | undefined;
  private timer: NodeJS.Timeout | undefined;
  private showing: NodeJS.Timeout | undefined;
  private answer: SearchResult | undefined;
  private taken = false;
  private isOver = false;
  // A preview is for those who move through the list, not for each key.
  private moved = false;

  constructor(
    private readonly server: Server,
    private readonly memory: vscode.Memento,
    private readonly ended: (restored: Promise<void>) => void,
  ) {
    this.list.placeholder = 'Ask or type words; "a phrase", -without, tag:name, path:folder/';
    this.list.matchOnDescription = false;
    this.list.matchOnDetail = false;
    this.list.keepScrollPosition = false;
    // The order is the server's. Not part of the typed interface yet, but honoured since long.
    (this.list as unknown as { sortByLabel: boolean }).sortByLabel = false;
    this.list.onDidChangeValue(() => {
      this.moved = false;
      this.soon();
    });
    this.list.onDidChangeActive(([item]) => {
      this.soonPreview(item);
    });
    this.list.onDidAccept(() => {
      this.take("here");
    });
    this.list.onDidTriggerItemButton(({ item, button }) => {
      this.take(button === LINK ? "link" : "beside", item);
    });
    this.list.onDidHide(() => {
      this.end();
    });
  }

  begin(query: string): void {
    this.list.value = query;
    this.list.show();
    void this.ask();
  }

  close(): void {
    this.list.hide();
  }

  /** Brings the hits of the answer on the screen into the order of a reranker; the chosen one stays chosen. */
  rerank(told: SearchReranked): void {
    if (this.answer?.searchId !== told.searchId || told.outcome !== "reranked") {
      return;
    }
    const [active] = this.list.activeItems;
    const fresh = new Map(told.hits.map((hit) => [keyOf(hit), hit]));
    const items = told.hits
      .filter((hit) => !this.list.items.some((item) => item.hit !== undefined && keyOf(item.hit) === keyOf(hit)))
      .map((hit) => this.itemOf(hit));
    const all = [...this.list.items.filter((item) => item.hit === undefined || fresh.has(keyOf(item.hit))), ...items];
    const order = reordered(all, [...fresh.keys()], (item) => (item.hit === undefined ? "" : keyOf(item.hit)));
    // Without a move of the user the best one is chosen, which may be another now.
    const chosen = this.moved ? order.find((item) => item === active) : order[0];
    this.list.keepScrollPosition = true;
    this.list.items = order;
    this.list.activeItems = chosen === undefined ? [] : [chosen];
    this.list.keepScrollPosition = false;
  }

  /** Asks again where the answer on the screen had to do without the model and need not any more. */
  improve(): void {
    const leg = this.answer?.legs.semantic;
    const loads = this.server.vaults.some((vault) => vault.model.state === "loading");
    if (leg?.state === "unavailable" && leg.note === "loading" && !loads && !this.moved) {
      void this.ask();
    }
  }

  take(how: "here" | "beside" | "link", item: Item | undefined = this.list.activeItems[0]): void {
    if (item?.query !== undefined) {
      this.list.value = item.query;
      void this.ask();
      return;
    }
    const hit = item?.hit;
    if (hit === undefined) {
      return;
    }
    this.taken = true;
    void this.memory.update(HISTORY, remembered(this.memory.get<string[]>(HISTORY, []), this.list.value));
    this.list.hide();
    this.preview.keep();
    const work =
      how === "link"
        ? this.preview.restore().then(() => insertLink(hit, hit.headingPath.at(-1), this.editor))
        : open(hit, how === "beside");
    work.then(undefined, (error: unknown) => {
      void vscode.window.showErrorMessage(`Synapse: ${failure(error) ?? "given up"}`);
    });
  }

  private soon(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      void this.ask();
    }, this.delay);
  }

  private async ask(): Promise<void> {
    this.asking?.cancel();
    const asking = (this.asking = new vscode.CancellationTokenSource());
    const query = this.list.value;
    this.list.busy = true;
    const [items, answer] = await this.answered(query, asking.token);
    if (asking.token.isCancellationRequested || items === undefined) {
      return;
    }
    this.answer = answer;
    this.list.items = items;
    this.list.busy = false;
    const note = answer === undefined ? undefined : caveat(answer);
    this.list.title = note === undefined ? "Search Notes" : `Search Notes (${note})`;
  }

  /** Returns the items for a query and the answer that they come from; no items if nobody waits any more. */
  private async answered(
    query: string,
    token: vscode.CancellationToken,
  ): Promise<[Item[] | undefined, SearchResult | undefined]> {
    try {
      const params = { query, limit: LIMIT, session: this.session };
      const [answer, completions] = await Promise.all([
        this.server.ask<SearchResult>(SEARCH, params, token),
        this.completions(query, token),
      ]);
      const hits = answer.hits.map((hit) => this.itemOf(hit));
      if (query.trim() === "") {
        return [[...this.past(), ...headed("recently changed", hits)], answer];
      }
      const none = hits.length === 0 && completions.length === 0 ? [line("No note fits", caveat(answer))] : [];
      return [[...completions, ...hits, ...none], answer];
    } catch (error) {
      const why = failure(error);
      return [why === undefined ? undefined : [line("$(error) The search failed", why)], undefined];
    }
  }

  private async completions(query: string, token: vscode.CancellationToken): Promise<Item[]> {
    const part = unfinished(query);
    if (part === undefined) {
      return [];
    }
    const names = part.kind === "tag" ? await this.tags(part.typed, token) : await folders(part.typed);
    return fitting(names, part.typed, COMPLETIONS).map((name) => ({
      label: `$(${part.kind === "tag" ? "tag" : "folder"}) ${name}`,
      description: part.kind === "tag" ? "tag" : "folder",
      alwaysShow: true,
      query: completed(part, name),
    }));
  }

  private async tags(typed: string, token: vscode.CancellationToken): Promise<string[]> {
    const symbols = await this.server.ask<{ name: string; kind: number }[]>(
      "workspace/symbol",
      { query: typed === "" ? "#" : `#${typed}` },
      token,
    );
    return symbols.filter((symbol) => symbol.kind === TAG).map((symbol) => symbol.name.replace(/^#/, ""));
  }

  private past(): Item[] {
    const asked = this.memory.get<string[]>(HISTORY, []).slice(0, COMPLETIONS);
    return headed(
      "recent searches",
      asked.map((query) => ({ label: `$(history) ${query.replace(/\$\(/g, "\\$(")}`, alwaysShow: true, query })),
    );
  }

  private itemOf(hit: Hit): Item {
    const { label, description, detail } = rowOf(hit, pathOf(hit.uri));
    return { label, description, detail, alwaysShow: true, buttons: [BESIDE, LINK], hit };
  }

  private soonPreview(item: Item | undefined): void {
    clearTimeout(this.showing);
    const hit = item?.hit;
    if (hit === undefined || this.list.value.trim() === "") {
      return;
    }
    // The first one is active because the list is new; whoever goes on has moved.
    this.moved ||= item !== this.list.items.find((one) => one.hit !== undefined);
    if (this.moved) {
      this.showing = setTimeout(() => {
        // A note that went meanwhile has no preview; the list stays usable.
        this.preview.show(hit).then(undefined, () => undefined);
      }, PREVIEW_MS);
    }
  }

  private end(): void {
    if (this.isOver) {
      return; // letting go of the list hides it once more
    }
    this.isOver = true;
    clearTimeout(this.timer);
    clearTimeout(this.showing);
    this.asking?.cancel();
    const restored = this.taken ? Promise.resolve() : this.preview.restore();
    this.list.dispose();
    this.ended(restored.catch(() => undefined));
  }
}

const TAG = 20;

function headed(name: string, items: Item[]): Item[] {
  return items.length === 0 ? [] : [{ label: name, kind: vscode.QuickPickItemKind.Separator }, ...items];
}

function line(label: string, detail: string | undefined): Item {
  return { label, alwaysShow: true, ...(detail === undefined ? {} : { detail }) };
}

/** Returns the folders of the workspace that a typed path could go on with, each with a slash at its end. */
async function folders(typed: string): Promise<string[]> {
  const parent = typed.slice(0, typed.lastIndexOf("/") + 1);
  const found: string[] = [];
  for (const root of vscode.workspace.workspaceFolders ?? []) {
    try {
      const entries = await vscode.workspace.fs.readDirectory(vscode.Uri.joinPath(root.uri, parent));
      for (const [name, type] of entries) {
        if ((type & vscode.FileType.Directory) !== 0 && !name.startsWith(".")) {
          found.push(`${parent}${name}/`);
        }
      }
    } catch {
      // No folder is called so here.
    }
  }
  return found;
}
