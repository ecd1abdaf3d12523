// Installing the server: a command for the user's own terminal, never run behind their back.

import * as vscode from "vscode";

const WAYS = {
  "uv tool install": "uv tool install synapse-ls",
  pipx: "pipx install synapse-ls",
  pip: "python3 -m pip install --user synapse-ls",
} as const;

/** Offers ways to install the server; the chosen command is put into a terminal, for the user to run. */
export async function install(why: string): Promise<void> {
  const ways = Object.keys(WAYS) as (keyof typeof WAYS)[];
  const set = "Set the Path";
  const chosen = await vscode.window.showWarningMessage(
    `${why} Install it, then run Synapse: Restart the Server.`,
    ...ways,
    set,
  );
  if (chosen === set) {
    await vscode.commands.executeCommand("workbench.action.openSettings", "synapse.server.path");
  } else if (chosen !== undefined) {
    const terminal = vscode.window.createTerminal({ name: "Install Synapse" });
    terminal.show();
    terminal.sendText(WAYS[chosen], false);
  }
}
