// Puts the parts together.

import * as vscode from "vscode";
import type { Middleware } from "vscode-languageclient/node";
import { forget, rebuild, refresh, told } from "./commands/index";
import { install } from "./commands/install";
import { choose, download } from "./commands/models";
import { provideHover } from "./hover";
import { insertLink } from "./links/insert";
import { open } from "./places";
import type { Place, Status } from "./protocol";
import { STATUS } from "./protocol";
import { backlinksView, relatedView } from "./related/tree";
import type { Node } from "./related/model";
import { Search } from "./search/picker";
import { Server } from "./server/server";
import { forServer } from "./server/settings";
import { statusItem } from "./status/bar";
import { report } from "./status/text";

const middleware: Middleware = {
  provideHover,
  workspace: {
    configuration: async (params, token, next) => {
      const answer = await next(params, token);
      return Array.isArray(answer)
        ? answer.map((value: unknown, i) => (params.items[i]?.section === "synapse" ? forServer(value) : value))
        : answer;
    },
  },
};

let server: Server | undefined;

export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel("Synapse", { log: true });
  const { version } = context.extension.packageJSON as { version: string };
  const running = (server = new Server(log, version, middleware));
  const search = new Search(running, context.workspaceState);
  const commands: Record<string, (...args: never[]) => unknown> = {
    "synapse.search": (query?: unknown) => {
      void search.show(typeof query === "string" ? query : "");
    },
    "synapse.picker.openBeside": () => {
      search.openBeside();
    },
    "synapse.picker.insertLink": () => {
      search.insertLink();
    },
    "synapse.history.clear": told(() => search.clearHistory()),
    "synapse.related": () => vscode.commands.executeCommand("synapse.related.focus"),
    "synapse.backlinks": () => vscode.commands.executeCommand("synapse.backlinks.focus"),
    "synapse.open": (place: Place) => told(() => open(place))(),
    "synapse.openBeside": (of: Place | Node) => told(() => open(placeOf(of), true))(),
    "synapse.insertLink": (node: Node) =>
      told(() => insertLink(placeOf(node), node.heading, vscode.window.activeTextEditor))(),
    "synapse.index.refresh": told(() => refresh(running)),
    "synapse.index.rebuild": told(() => rebuild(running)),
    "synapse.index.forget": told(() => forget(running)),
    "synapse.model.choose": told(() => choose(running)),
    "synapse.model.download": told(() => download(running)),
    "synapse.status.show": told(() => showStatus(running)),
    "synapse.log.show": () => {
      log.show();
    },
    "synapse.server.restart": told(() => running.restart()),
    "synapse.server.install": told(() => install(running.trouble ?? "The server is a program of its own.")),
    "synapse.menu": told(() => menu()),
  };
  context.subscriptions.push(
    log,
    running,
    search,
    statusItem(running),
    relatedView(running),
    backlinksView(running),
    ...Object.entries(commands).map(([name, run]) => vscode.commands.registerCommand(name, run)),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("synapse.server.path")) {
        void running.restart();
      }
    }),
    offerInstallation(running),
  );
  void running.start();
}

export async function deactivate(): Promise<void> {
  await server?.stop();
}

/** Says once that the server is missing, with what to do. */
function offerInstallation(running: Server): vscode.Disposable {
  let was = false;
  return running.onDidChange(() => {
    const missing = running.state === "missing";
    if (missing !== was) {
      was = missing;
      void vscode.commands.executeCommand("setContext", "synapse.missing", missing);
      if (missing) {
        void install(running.trouble ?? "The server is not installed.");
      }
    }
  });
}

async function showStatus(running: Server): Promise<void> {
  const status = await running.ask<Status>(STATUS, {});
  const document = await vscode.workspace.openTextDocument({ content: report(status.version, status.vaults) });
  await vscode.window.showTextDocument(document, { preview: true });
}

const ACTIONS: [label: string, command: string][] = [
  ["$(search) Search Notes", "synapse.search"],
  ["$(info) Show Status", "synapse.status.show"],
  ["$(refresh) Look at Every Note Again", "synapse.index.refresh"],
  ["$(tools) Rebuild the Index", "synapse.index.rebuild"],
  ["$(symbol-misc) Choose a Model", "synapse.model.choose"],
  ["$(cloud-download) Download a Model", "synapse.model.download"],
  ["$(output) Show Log", "synapse.log.show"],
  ["$(debug-restart) Restart the Server", "synapse.server.restart"],
  ["$(trash) Forget the Index of a Folder", "synapse.index.forget"],
];

async function menu(): Promise<void> {
  const items = ACTIONS.map(([label, command]) => ({ label, command }));
  const chosen = await vscode.window.showQuickPick(items, { title: "Synapse" });
  if (chosen !== undefined) {
    await vscode.commands.executeCommand(chosen.command);
  }
}

function placeOf(of: Place | Node): Place {
  if ("uri" in of) {
    return of;
  }
  if (of.place === undefined) {
    throw new Error("This row leads nowhere.");
  }
  return of.place;
}
