// Puts a link to a note at the cursor.

import * as vscode from "vscode";
import type { Place } from "../protocol";
import { isNote } from "../places";
import { linkText, styleOf, type Style } from "./text";

/** Returns the text of a link to a place, as the note of an editor writes its links. */
export async function linkTo(
  place: Place,
  heading: string | undefined,
  document: vscode.TextDocument,
): Promise<string> {
  const uri = vscode.Uri.parse(place.uri);
  const configured = vscode.workspace
    .getConfiguration("synapse", document.uri)
    .get<Style | "auto">("links.style", "auto");
  const style = configured === "auto" ? styleOf(document.getText()) : configured;
  const path = (one: vscode.Uri): string => vscode.workspace.asRelativePath(one, false).replace(/\\/g, "/");
  const name = uri.path.split("/").at(-1) ?? "";
  const same = await vscode.workspace.findFiles(`**/${name.replace(/[[\]{}*?]/g, "?")}`, undefined, 2);
  return linkText(
    { title: place.title, path: path(uri), heading, ambiguous: same.length > 1 },
    style,
    path(document.uri),
  );
}

/** Inserts a link at the cursor of an editor, in place of what is selected there. */
export async function insertLink(
  place: Place,
  heading: string | undefined,
  editor: vscode.TextEditor | undefined,
): Promise<void> {
  if (!isNote(editor)) {
    void vscode.window.showInformationMessage("Open the note that the link is to stand in, and put the cursor there.");
    return;
  }
  const { document, selection, viewColumn } = editor;
  const text = await linkTo(place, heading, document);
  // The editor may be another one by now: a preview has stood in its place.
  const shown = await vscode.window.showTextDocument(document, {
    ...(viewColumn === undefined ? {} : { viewColumn }),
    selection,
  });
  await shown.edit((edit) => {
    edit.replace(selection, text);
  });
}
