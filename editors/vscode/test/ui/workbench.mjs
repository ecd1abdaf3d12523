// The real workbench on loopback, with the packaged extension, a vault and the server from the PATH; driven by Chromium.

import { spawn, execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

export const HERE = fileURLToPath(new URL(".", import.meta.url));
export const PATIENCE = Number(process.env.SYNAPSE_UI_PATIENCE ?? 90_000);
const SHOTS = process.env.SYNAPSE_SCREENSHOTS;
const QUIET = {
  "security.workspace.trust.enabled": false,
  "telemetry.telemetryLevel": "off",
  "update.mode": "none",
  "extensions.autoUpdate": false,
  "extensions.autoCheckUpdates": false,
  "workbench.startupEditor": "none",
  "workbench.tips.enabled": false,
  "workbench.enableExperiments": false,
  "chat.disableAIFeatures": true,
  "workbench.reduceMotion": "on",
  "git.enabled": false,
  "editor.minimap.enabled": false,
};

/** Starts a workbench on a copy of a vault, its server installed in the home folder; call `close` in the end. */
export async function start({ vault, settings = {}, server = true, trust = false, extension = true }) {
  const home = mkdtempSync(join(tmpdir(), "synapse-vscode-"));
  const folder = join(home, "notes");
  cpSync(vault, folder, { recursive: true });
  const user = join(home, "user");
  const extensions = join(home, "extensions");
  mkdirSync(join(user, "User"), { recursive: true });
  writeFileSync(
    join(user, "User", "settings.json"),
    JSON.stringify({ ...QUIET, "security.workspace.trust.enabled": trust, ...settings }),
  );
  const environment = {
    ...process.env,
    HOME: home,
    XDG_CONFIG_HOME: join(home, "config"),
    XDG_DATA_HOME: join(home, "data"),
    XDG_CACHE_HOME: join(home, "cache"),
    SYNAPSE_CACHE_DIR: join(home, "cache", "synapse-ls"),
    HF_HUB_OFFLINE: "1",
    EXTENSIONS_GALLERY: "{}",
  };
  if (server) {
    // The workbench asks a login shell for its PATH, so that ours would not count.
    mkdirSync(join(home, ".local", "bin"), { recursive: true });
    symlinkSync(
      execFileSync("which", ["synapse-ls"], { encoding: "utf8" }).trim(),
      join(home, ".local/bin/synapse-ls"),
    );
  }
  const entry = join(resolve(process.env.SYNAPSE_CODE_SERVER ?? ""), "package", "out", "node", "entry.js");
  if (!existsSync(entry)) {
    throw new Error("SYNAPSE_CODE_SERVER names no folder that test/ui/install.sh has filled");
  }
  const common = [entry, "--user-data-dir", user, "--extensions-dir", extensions];
  const vsix = resolve(HERE, "..", "..", "synapse.vsix");
  if (extension) {
    execFileSync(process.execPath, [...common, "--install-extension", vsix], { env: environment, stdio: "pipe" });
  }
  const port = await freePort();
  const flags = ["--auth", "none", "--bind-addr", `127.0.0.1:${port}`, "--disable-telemetry", "--disable-update-check"];
  const log = [];
  const process_ = spawn(
    process.execPath,
    [...common, ...flags, "--disable-getting-started-override", ...(trust ? [] : ["--disable-workspace-trust"])],
    { env: environment, cwd: home, detached: true, stdio: ["ignore", "pipe", "pipe"] },
  );
  for (const stream of [process_.stdout, process_.stderr]) {
    stream.on("data", (data) => log.push(String(data)));
  }
  const origin = `http://127.0.0.1:${port}`;
  await until(async () => (await fetch(`${origin}/healthz`)).ok);
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"],
  });
  const strangers = new Set();
  const windows = [];

  return {
    folder,
    home,
    cache: environment.SYNAPSE_CACHE_DIR,
    strangers,
    /** Opens a window on the vault. */
    async window() {
      const context = await browser.newContext({ viewport: { width: 1200, height: 760 } });
      await context.route(
        (url) => url.hostname !== "127.0.0.1",
        (route) => {
          strangers.add(new URL(route.request().url()).hostname);
          return route.abort();
        },
      );
      const page = await context.newPage();
      page.setDefaultTimeout(PATIENCE);
      await page.goto(`${origin}/?folder=${encodeURIComponent(folder)}`, { waitUntil: "domcontentloaded" });
      await page.waitForSelector(".monaco-workbench .statusbar");
      windows.push(page);
      return new Window(page);
    },
    /** Runs the `run` of a module inside the extension host; returns what it printed, rejects where it failed. */
    async host(suite) {
      const page = await (await browser.newContext()).newPage();
      const printed = [];
      const ended = new Promise((done) => {
        void page.exposeFunction("codeAutomationLog", (_kind, args) => printed.push(args.join(" ")));
        void page.exposeFunction("codeAutomationExit", done);
      });
      const at = (path) => `vscode-remote://127.0.0.1:${port}${path}`;
      const payload = JSON.stringify([
        ["extensionDevelopmentPath", at(resolve(HERE, "..", ".."))],
        ["extensionTestsPath", at(suite)],
        ["skipWelcome", "true"],
      ]);
      await page.goto(`${origin}/?folder=${encodeURIComponent(folder)}&payload=${encodeURIComponent(payload)}`);
      const code = await Promise.race([ended, new Promise((done) => setTimeout(done, 2 * PATIENCE, "no end"))]);
      await page.context().close();
      if (code !== 0) {
        throw new Error(`the suite ended with ${code}:\n${printed.join("\n")}`);
      }
    },
    /** Says what is known when a test has failed, and keeps a picture of each window. */
    async tell(name) {
      const place = process.env.SYNAPSE_UI_FAILURES ?? tmpdir();
      for (const [i, page] of windows.entries()) {
        await page.screenshot({ path: join(place, `${name.replace(/\W+/g, "-")}-${i}.png`) }).catch(() => undefined);
      }
      const serverLog = join(environment.SYNAPSE_CACHE_DIR, "logs", "synapse-ls.log");
      const tail = existsSync(serverLog) ? readFileSync(serverLog, "utf8").split("\n").slice(-15).join("\n") : "none";
      console.error(
        `pictures of ${name} are in ${place}; the workbench says:\n${log.join("").slice(-2000)}\nserver log:\n${tail}`,
      );
    },
    async close() {
      await browser.close();
      try {
        process.kill(-process_.pid, "SIGTERM");
      } catch {
        // It has ended already.
      }
      await until(() => process_.exitCode !== null || process_.signalCode !== null).catch(() => undefined);
      rmSync(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
    },
  };
}

/** A window of the workbench, with the words of a user. */
export class Window {
  constructor(page) {
    this.page = page;
    this.rows = page.locator(".quick-input-list .monaco-list-row");
    this.input = page.locator(".quick-input-widget input");
  }

  async press(keys) {
    await this.page.keyboard.press(keys);
  }

  /** Opens a note by its name. */
  async open(name) {
    await this.press("Control+P");
    await this.input.waitFor({ state: "visible" });
    await this.input.fill(name);
    // The list begins with what was open last, in which the note may be another than the first.
    await this.page.locator(".quick-input-list .monaco-list-row.focused", { hasText: name }).waitFor();
    await this.press("Enter");
    await this.tab(name);
  }

  /** Waits until a file is the active tab. */
  async tab(name) {
    await this.page.locator(".tab.active", { hasText: name }).first().waitFor();
  }

  async command(title) {
    await this.press("F1");
    await this.input.waitFor({ state: "visible" });
    await this.input.fill(`>${title}`);
    await this.page.locator(".quick-input-list .monaco-list-row.focused", { hasText: title }).waitFor();
    await this.press("Enter");
  }

  /** Opens the list of Search Notes by its key and types into it. */
  async search(query) {
    await this.press("Control+Alt+N");
    await this.page.locator('.quick-input-widget input[placeholder^="Ask"]').waitFor();
    await this.page.keyboard.type(query, { delay: 15 });
  }

  /** The row of a list whose name begins so. */
  row(name) {
    return this.page.locator(`.quick-input-list .monaco-list-row[aria-label^="${name}"]`).first();
  }

  /** Moves through the list to the row whose name begins so. */
  async moveTo(name) {
    const focused = this.page.locator(".quick-input-list .monaco-list-row.focused");
    await until(async () => {
      if ((await focused.getAttribute("aria-label"))?.startsWith(name)) {
        return true;
      }
      await this.press("ArrowDown");
      return false;
    });
  }

  status() {
    return this.page.locator('.statusbar-item[id*="synapse.status"]').first();
  }

  /** Waits until the index is complete. */
  async settled() {
    await this.page.locator('.statusbar-item[id*="synapse.status"]', { hasText: /\d+ notes/ }).waitFor();
  }

  /** Puts the cursor on a line (from 1). */
  async goTo(line, column = 1) {
    await this.press("Control+G");
    await this.input.waitFor({ state: "visible" });
    await this.input.fill(`:${line}:${column}`);
    await this.press("Enter");
    await this.input.waitFor({ state: "hidden" });
  }

  /** Keeps a picture of a part of the window for the documents, if the environment asks for pictures. */
  async shot(name, x, y, width, height) {
    if (SHOTS) {
      await this.page.screenshot({ path: join(SHOTS, `${name}.png`), clip: { x, y, width, height } });
    }
  }
}

/** Waits until something is so; what it throws counts as no. */
export async function until(met, patience = PATIENCE) {
  const end = Date.now() + patience;
  for (;;) {
    try {
      const value = await met();
      if (value) {
        return value;
      }
    } catch (error) {
      if (Date.now() > end) {
        throw error;
      }
    }
    if (Date.now() > end) {
      throw new Error(`not so within ${patience / 1000} s: ${met}`);
    }
    await new Promise((done) => setTimeout(done, 50));
  }
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((done) => server.once("listening", done));
  const { port } = server.address();
  await new Promise((done) => server.close(done));
  return port;
}
