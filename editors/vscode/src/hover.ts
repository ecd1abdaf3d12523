// Adds to the preview of a link a place to click: the server's own text is never trusted with commands.

import * as vscode from "vscode";
import type { Middleware } from "vscode-languageclient/node";
import { pathOf } from "./places";

export const provideHover: NonNullable<Middleware["provideHover"]> = async (document, position, token, next) => {
  const [hover, places] = await Promise.all([
    next(document, position, token),
    vscode.commands.executeCommand<(vscode.Location | vscode.LocationLink)[]>(
      "vscode.executeDefinitionProvider",
      document.uri,
      position,
    ),
  ]);
  const place = places[0];
  if (hover === null || hover === undefined || place === undefined || token.isCancellationRequested) {
    return hover;
  }
  const [uri, range] = "targetUri" in place ? [place.targetUri, place.targetRange] : [place.uri, place.range];
  const { start, end } = range;
  const plain = { start: at(start), end: at(end) };
  const argument = encodeURIComponent(JSON.stringify([{ uri: uri.toString(), range: plain, title: "" }]));
  const link = new vscode.MarkdownString();
  link.isTrusted = { enabledCommands: ["synapse.open", "synapse.openBeside"] };
  link.supportThemeIcons = true;
  link.appendMarkdown(`[Open ${escaped(pathOf(uri.toString()))}](command:synapse.open?${argument})`);
  link.appendMarkdown(` · [to the side](command:synapse.openBeside?${argument})`);
  // First: a long passage is scrolled, and what is below it is not seen.
  return new vscode.Hover([link, ...hover.contents], hover.range);
};

function at({ line, character }: vscode.Position): { line: number; character: number } {
  return { line, character };
}

function escaped(text: string): string {
  return text.replace(/[\\`*_{}[\]()#+\-.!<>|$]/g, "\\$&");
}
