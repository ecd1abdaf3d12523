// Stands in for the workbench's module in unit tests: as much of it as the picker and its preview touch.

import { fileURLToPath, pathToFileURL } from "node:url";

export class EventEmitter<T> {
  private readonly listeners = new Set<(value: T) => unknown>();
  readonly event = (listener: (value: T) => unknown): { dispose(): void } => {
    this.listeners.add(listener);
    return { dispose: () => this.listeners.delete(listener) };
  };
  fire(value: T): void {
    for (const listener of [...this.listeners]) {
      listener(value);
    }
  }
}

export class CancellationError extends Error {}

export class CancellationTokenSource {
  private readonly cancelled = new EventEmitter<undefined>();
  readonly token = { isCancellationRequested: false, onCancellationRequested: this.cancelled.event };
  cancel(): void {
    this.token.isCancellationRequested = true;
    this.cancelled.fire(undefined);
  }
  dispose(): void {
    this.token.isCancellationRequested = true;
  }
}

export class Position {
  constructor(
    readonly line: number,
    readonly character: number,
  ) {}
}

export class Range {
  constructor(readonly startLine: number | Position, readonly startCharacter: number | Position) {} // prettier-ignore
}

export class Uri {
  private constructor(
    readonly scheme: string,
    readonly fsPath: string,
  ) {}
  get path(): string {
    return this.fsPath;
  }
  static file(path: string): Uri {
    return new Uri("file", path);
  }
  static parse(text: string): Uri {
    return new Uri("file", fileURLToPath(text));
  }
  static joinPath(base: Uri, ...parts: string[]): Uri {
    return new Uri(base.scheme, [base.fsPath, ...parts].join("/"));
  }
  toString(): string {
    return pathToFileURL(this.fsPath).href;
  }
}

export class ThemeIcon {
  constructor(readonly id: string) {}
}
export class ThemeColor extends ThemeIcon {}
export class TabInputText {
  constructor(readonly uri: Uri) {}
}
export const QuickPickItemKind = { Separator: -1, Default: 0 };
export const TextEditorRevealType = { InCenterIfOutsideViewport: 2, AtTop: 3 };
export const ViewColumn = { Beside: -2 };
export const FileType = { Directory: 2 };

export interface Item {
  label: string;
  description?: string;
  detail?: string;
  kind?: number;
}

/** A list that a test types into and moves through. */
export class QuickPick {
  value = "";
  title = "";
  busy = false;
  items: readonly Item[] = [];
  activeItems: readonly Item[] = [];
  isShown = false;
  private readonly changed = new EventEmitter<string>();
  private readonly active = new EventEmitter<readonly Item[]>();
  private readonly accepted = new EventEmitter<undefined>();
  private readonly hidden = new EventEmitter<undefined>();
  readonly onDidChangeValue = this.changed.event;
  readonly onDidChangeActive = this.active.event;
  readonly onDidAccept = this.accepted.event;
  readonly onDidHide = this.hidden.event;
  readonly onDidTriggerItemButton = new EventEmitter().event;
  show(): void {
    this.isShown = true;
  }
  hide(): void {
    if (this.isShown) {
      this.isShown = false;
      this.hidden.fire(undefined);
    }
  }
  dispose(): void {
    this.isShown = false;
  }
  /** What a user does. */
  type(text: string): void {
    this.value = text;
    this.changed.fire(text);
  }
  moveTo(item: Item | undefined): void {
    this.activeItems = item === undefined ? [] : [item];
    this.active.fire(this.activeItems);
  }
  accept(): void {
    this.accepted.fire(undefined);
  }
}

/** What the picker has done with the workbench, and the list it has made last. */
export const seen: { lists: QuickPick[]; documents: string[] } = { lists: [], documents: [] };

export const window = {
  activeTextEditor: undefined,
  visibleTextEditors: [],
  tabGroups: { all: [], activeTabGroup: { activeTab: undefined }, close: () => Promise.resolve(true) },
  createTextEditorDecorationType: () => ({}),
  createQuickPick: (): QuickPick => {
    const list = new QuickPick();
    seen.lists.push(list);
    return list;
  },
  showTextDocument: (document: { uri: Uri } | Uri): Promise<unknown> => {
    seen.documents.push(document instanceof Uri ? document.fsPath : document.uri.fsPath);
    return Promise.resolve({ setDecorations: () => undefined, revealRange: () => undefined });
  },
  showErrorMessage: () => Promise.resolve(undefined),
};

export const workspace = {
  workspaceFolders: [] as { uri: Uri }[],
  getConfiguration: () => ({ get: (_key: string, fallback: unknown) => fallback }),
  openTextDocument: (uri: Uri) => Promise.resolve({ uri }),
  asRelativePath: (uri: Uri) => uri.fsPath.split("/").at(-1),
  fs: { readDirectory: () => Promise.resolve([["House", FileType.Directory]]) },
};

export const commands = { executeCommand: () => Promise.resolve(undefined) };
