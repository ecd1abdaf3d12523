// The item in the status bar.

import * as vscode from "vscode";
import type { Server } from "../server/server";
import { shown } from "./text";

const COLORS = { warning: "statusBarItem.warningBackground", error: "statusBarItem.errorBackground" } as const;

export function statusItem(server: Server): vscode.Disposable {
  const item = vscode.window.createStatusBarItem("synapse.status", vscode.StatusBarAlignment.Right, 50);
  item.name = "Synapse";
  item.command = "synapse.menu";
  const update = (): void => {
    const { text, tooltip, severity } = shown(server.state, server.trouble, server.vaults);
    item.text = text;
    item.tooltip = tooltip;
    item.backgroundColor = severity === "none" ? undefined : new vscode.ThemeColor(COLORS[severity]);
  };
  update();
  item.show();
  return vscode.Disposable.from(item, server.onDidChange(update));
}
