// Places of notes: from the protocol to the editor, and as the user reads them.

import * as vscode from "vscode";
import type { Place, Range } from "./protocol";

export function rangeOf(range: Range): vscode.Range {
  return new vscode.Range(range.start.line, range.start.character, range.end.line, range.end.character);
}

/** Returns a note's path as the user knows it: from its folder, with that folder's name if there are several. */
export function pathOf(uri: string): string {
  return vscode.workspace.asRelativePath(vscode.Uri.parse(uri));
}

/** Opens a place; beside the editor in use if asked. */
export async function open(place: Place, beside = false): Promise<void> {
  const { start } = rangeOf(place.range);
  await vscode.window.showTextDocument(vscode.Uri.parse(place.uri), {
    selection: new vscode.Range(start, start),
    preview: false,
    ...(beside ? { viewColumn: vscode.ViewColumn.Beside } : {}),
  });
}

/** Whether an editor shows a note on disk. */
export function isNote(editor: vscode.TextEditor | undefined): editor is vscode.TextEditor {
  return editor?.document.languageId === "markdown" && editor.document.uri.scheme === "file";
}
