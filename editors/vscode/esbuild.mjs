// Bundles the extension into dist/, and with --tests the unit tests into dist-test/.
import { build } from "esbuild";
import { readdirSync } from "node:fs";

const shared = { bundle: true, platform: "node", target: "node18", format: "cjs", logLevel: "warning" };
await build({
  ...shared,
  entryPoints: ["src/extension.ts"],
  outfile: "dist/extension.js",
  external: ["vscode"],
  minify: true,
});
if (process.argv.includes("--tests")) {
  const tests = readdirSync("test/unit").filter((name) => name.endsWith(".test.ts"));
  await build({
    ...shared,
    entryPoints: tests.map((name) => `test/unit/${name}`),
    outdir: "dist-test",
    outExtension: { ".js": ".cjs" },
    alias: { vscode: "./test/unit/vscode.ts" },
  });
}
