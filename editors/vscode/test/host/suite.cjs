// Run inside the extension host of the real workbench: what the extension gives to VS Code itself.

const assert = require("node:assert/strict");
const vscode = require("vscode");

const PATIENCE = 60_000;

exports.run = async () => {
  const extension = vscode.extensions.getExtension("synapse-notes.synapse");
  assert.ok(extension, "the extension is there");
  const [folder] = vscode.workspace.workspaceFolders;
  const home = await vscode.workspace.openTextDocument(vscode.Uri.joinPath(folder.uri, "Home.md"));
  await vscode.window.showTextDocument(home);
  await extension.activate();

  const known = new Set(await vscode.commands.getCommands(true));
  for (const { command } of extension.packageJSON.contributes.commands) {
    assert.ok(known.has(command), command);
  }

  const line = home.getText().split("\n").findIndex((text) => text.includes("[[Torque table]]")); // prettier-ignore
  const link = new vscode.Position(line, home.lineAt(line).text.indexOf("[[Torque table]]") + 4);
  const definitions = await filled(() => ask("vscode.executeDefinitionProvider", home.uri, link));
  assert.match((definitions[0].targetUri ?? definitions[0].uri).path, /Torque table\.md$/);
  const related = await filled(() => ask("vscode.executeImplementationProvider", home.uri, link));
  assert.ok(related.every((place) => (place.targetUri ?? place.uri).path !== home.uri.path));
  const references = await filled(() => ask("vscode.executeReferenceProvider", home.uri, link));
  assert.ok(references.some((place) => place.uri.path === home.uri.path));
  const symbols = await filled(() => ask("vscode.executeWorkspaceSymbolProvider", "torque"));
  assert.ok(symbols.some((symbol) => symbol.name === "Torque table"));
  const hovers = await filled(() => ask("vscode.executeHoverProvider", home.uri, link));
  const texts = hovers.flatMap((hover) => hover.contents);
  const trusted = texts.filter((text) => text.isTrusted);
  assert.equal(trusted.length, 1, "the place to click is trusted, and no text of notes");
  assert.match(trusted[0].value, /command:synapse\.open\?/);

  // Settings reach the server: a hover of one line has less to show.
  const lines = () => texts.find((text) => !text.isTrusted).value.split("\n").length;
  const before = lines();
  const settings = vscode.workspace.getConfiguration("synapse");
  await settings.update("hover.maxLines", 1, vscode.ConfigurationTarget.Workspace);
  await until(async () => {
    const [hover] = await ask("vscode.executeHoverProvider", home.uri, link);
    return hover.contents.find((text) => !text.isTrusted).value.split("\n").length < before;
  });
  await settings.update("hover.maxLines", undefined, vscode.ConfigurationTarget.Workspace);
};

const ask = (command, ...parts) => vscode.commands.executeCommand(command, ...parts);

async function filled(work) {
  let found;
  await until(async () => (found = await work()).length > 0);
  return found;
}

async function until(met) {
  const end = Date.now() + PATIENCE;
  while (!(await met())) {
    assert.ok(Date.now() < end, `not so within a minute: ${met}`);
    await new Promise((done) => setTimeout(done, 100));
  }
}
