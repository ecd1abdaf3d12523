// What the extension announces, against what the project's documents say.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";

interface Property {
  default: unknown;
  scope: string;
  markdownDescription: string;
}

interface Manifest {
  version: string;
  icon: string;
  contributes: {
    commands: { command: string }[];
    configuration: { properties: Record<string, Property> };
    walkthroughs: { steps: { media: { markdown: string } }[] }[];
  };
}

const manifest = JSON.parse(readFileSync("package.json", "utf8")) as Manifest;
const properties = manifest.contributes.configuration.properties;
const OURS = ["server.path", "search.delay", "links.style"];

test("every setting of the server is there, with its default and its scope", () => {
  const rows = [
    ...readFileSync("../../docs/configuration.md", "utf8").matchAll(/^\| `([a-z]+\.[\w.]+)`(\*?) \| (.*?) \|/gm),
  ];
  const documented = new Map(rows.map(([, key, star, held]) => [key, { machine: star === "*", held }]));
  assert.ok(documented.size > 15);
  const announced = Object.keys(properties).map((key) => key.replace(/^synapse\./, ""));
  assert.deepEqual(announced.filter((key) => !OURS.includes(key)).sort(), [...documented.keys()].sort());
  for (const [key, { machine, held }] of documented) {
    const property = properties[`synapse.${String(key)}`];
    assert.ok(property);
    assert.equal(property.scope === "machine", machine, key);
    const told = held === "none" ? null : (JSON.parse(String(held).replace(/`/g, "")) as unknown);
    assert.deepEqual(property.default, told, key);
    assert.ok(property.markdownDescription.length > 10, key);
  }
});

test("what runs programs or calls addresses cannot be set by a workspace", () => {
  for (const key of ["server.path", "embedding.model", "embedding.http.url", "rerank.http.url", "rerank.model"]) {
    assert.equal(properties[`synapse.${key}`]?.scope, "machine", key);
  }
});

test("every command has its code, and every file that is named is there", () => {
  const code = readFileSync("src/extension.ts", "utf8");
  for (const { command } of manifest.contributes.commands) {
    assert.ok(code.includes(`"${command}"`), command);
  }
  const files = [
    manifest.icon,
    ...manifest.contributes.walkthroughs.flatMap(({ steps }) => steps.map((s) => s.media.markdown)),
  ];
  for (const file of [...files, "README.md", "CHANGELOG.md", "LICENSE"]) {
    assert.ok(existsSync(file), file);
  }
});

test("the extension and the server have one version", () => {
  const server = /__version__ = "([^"]+)"/.exec(readFileSync("../../server/synapse_ls/__init__.py", "utf8"));
  assert.equal(server?.[1], manifest.version);
});
