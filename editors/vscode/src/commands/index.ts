// What is done with the index: look again, make anew, forget.

import * as vscode from "vscode";
import { failure } from "../server/failure";
import type { Server } from "../server/server";

/** Has the server look at every note again. */
export async function refresh(server: Server): Promise<void> {
  await execute(server, "synapse.reindex");
}

/** Has the server make the index anew, after a question. */
export async function rebuild(server: Server): Promise<void> {
  const detail = "Every passage is embedded again; the index in use answers meanwhile.";
  if (await agreed("Rebuild the index of all open folders?", detail, "Rebuild")) {
    await execute(server, "synapse.rebuildIndex");
  }
}

/** Removes the index of a folder, after a question; the server is stopped, since it would make it anew. */
export async function forget(server: Server): Promise<void> {
  const folders = vscode.workspace.workspaceFolders ?? [];
  const folder = folders.length > 1 ? await vscode.window.showWorkspaceFolderPick() : folders[0];
  if (folder === undefined) {
    return;
  }
  const detail = "Your notes are not touched. The server is stopped until you start it again.";
  if (!(await agreed(`Remove the index of ${folder.name}?`, detail, "Remove"))) {
    return;
  }
  await server.stop();
  await server.run("forget", folder.uri.fsPath);
  const chosen = await vscode.window.showInformationMessage(
    `The index of ${folder.name} is removed. The server makes a new one when it starts.`,
    "Start the Server",
  );
  if (chosen !== undefined) {
    await server.start();
  }
}

/** Runs work for a command; what goes wrong is told in one message. */
export function told(work: () => Promise<void>): () => Promise<void> {
  return async () => {
    try {
      await work();
    } catch (error) {
      const why = failure(error);
      if (why !== undefined) {
        void vscode.window.showErrorMessage(`Synapse: ${why}`);
      }
    }
  };
}

export async function agreed(question: string, detail: string, yes: string): Promise<boolean> {
  return (await vscode.window.showWarningMessage(question, { modal: true, detail }, yes)) === yes;
}

async function execute(server: Server, command: string): Promise<void> {
  await server.ask("workspace/executeCommand", { command, arguments: [] });
}
