// What the extension gives to VS Code itself, asked inside the extension host.
"use strict";
const assert = require("node:assert/strict");
const fs = require("node:fs");
const path = require("node:path");
const vscode = require("vscode");

const PATIENCE = 90_000;
const extension = () => vscode.extensions.getExtension("synapse-notes.synapse");
const run = vscode.commands.executeCommand;

/** The first answer that is neither false nor empty. */
async function until(ask, what) {
  const end = Date.now() + PATIENCE;
  for (;;) {
    const found = await ask();
    if (Array.isArray(found) ? found.length > 0 : found) {
      return found;
    }
    assert.ok(Date.now() < end, `in vain: ${what}`);
    await new Promise((done) => setTimeout(done, 100));
  }
}

async function opened(name) {
  const [folder] = vscode.workspace.workspaceFolders;
  const document = await vscode.workspace.openTextDocument(vscode.Uri.joinPath(folder.uri, name));
  await vscode.window.showTextDocument(document);
  return document;
}

/** The place inside the first link to a note. */
function linkIn(document, link) {
  return document.positionAt(document.getText().indexOf(link) + 4);
}

const placeOf = (found) => ({ path: (found.targetUri ?? found.uri).path, range: found.targetRange ?? found.range });

module.exports = {
  "a note activates the extension, and all of its commands are there": async () => {
    await opened("Home.md");
    await until(() => extension().isActive, "the extension is active");
    const known = new Set(await vscode.commands.getCommands(true));
    const promised = extension().packageJSON.contributes.commands.map(({ command }) => command);
    assert.deepEqual(
      promised.filter((command) => !known.has(command)),
      [],
    );
  },

  "the package runs without its sources": () => {
    const held = fs.readdirSync(extension().extensionPath);
    assert.deepEqual(
      held.filter((name) => ["src", "test", "node_modules", "tsconfig.json"].includes(name)),
      [],
    );
  },

  "definition: a link leads to its note, a link to a heading to its line": async () => {
    const home = await opened("Home.md");
    const [note] = await until(
      () => run("vscode.executeDefinitionProvider", home.uri, linkIn(home, "[[Torque table]]")),
      "a place",
    );
    assert.equal(path.basename(placeOf(note).path), "Torque table.md");
    const ticket = await opened("Work/POL-358 Freehub pawls.md");
    const [heading] = await until(
      () => run("vscode.executeDefinitionProvider", ticket.uri, linkIn(ticket, "[[adr-007#Decision]]")),
      "a place",
    );
    const target = await vscode.workspace.openTextDocument(vscode.Uri.file(placeOf(heading).path));
    assert.match(target.lineAt(placeOf(heading).range.start.line).text, /^#+ Decision/);
  },

  "implementation: related notes, never the note itself": async () => {
    const ticket = await opened("Work/POL-358 Freehub pawls.md");
    const found = await until(
      () => run("vscode.executeImplementationProvider", ticket.uri, new vscode.Position(9, 0)),
      "related notes",
    );
    const names = found.map((one) => path.basename(placeOf(one).path));
    assert.ok(names.includes("adr-007.md"), names.join());
    assert.ok(!names.includes("POL-358 Freehub pawls.md"));
  },

  "references: the links to a note": async () => {
    const note = await opened("House/Insurance.md");
    const found = await until(
      () => run("vscode.executeReferenceProvider", note.uri, new vscode.Position(5, 0)),
      "references",
    );
    assert.ok(found.some((one) => one.uri.path.endsWith("/Home.md")));
  },

  "workspace symbols: names of notes": async () => {
    const found = await until(() => run("vscode.executeWorkspaceSymbolProvider", "torque"), "symbols");
    assert.ok(found.some((symbol) => symbol.name === "Torque table"));
  },

  "hover: commands are trusted in our own line alone": async () => {
    const home = await opened("Home.md");
    const hovers = await until(
      () => run("vscode.executeHoverProvider", home.uri, linkIn(home, "[[Torque table]]")),
      "a hover",
    );
    const trusted = hovers.flatMap((hover) => hover.contents).filter((text) => text.isTrusted);
    assert.equal(trusted.length, 1);
    assert.match(trusted[0].value, /command:synapse\.open\?/);
    assert.doesNotMatch(trusted[0].value, /bolt/, "no text of the note");
  },

  "settings: a change reaches the server": async () => {
    const home = await opened("Home.md");
    const lines = async () => {
      const hovers = await run("vscode.executeHoverProvider", home.uri, linkIn(home, "[[Torque table]]"));
      const shown = hovers
        .flatMap((hover) => hover.contents)
        .find((text) => !text.isTrusted && /Torque/.test(text.value));
      return shown?.value.trim().split("\n").length ?? 0;
    };
    const before = await until(lines, "a hover");
    assert.ok(before > 3);
    const settings = vscode.workspace.getConfiguration("synapse");
    await settings.update("hover.maxLines", 3, vscode.ConfigurationTarget.Workspace);
    await until(async () => (await lines()) <= 3, "a shorter hover");
    await settings.update("hover.maxLines", undefined, vscode.ConfigurationTarget.Workspace);
    await until(async () => (await lines()) === before, "the hover as before");
  },

  "settings: what runs programs or calls addresses is refused to a workspace": async () => {
    for (const key of ["server.path", "embedding.model", "embedding.http.url", "rerank.http.url"]) {
      await assert.rejects(
        async () => vscode.workspace.getConfiguration("synapse").update(key, "x", vscode.ConfigurationTarget.Workspace),
        key,
      );
    }
  },
};
