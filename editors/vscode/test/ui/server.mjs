/** One code-server, the real workbench, on loopback and a free port, with folders of its own. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";

import { until } from "./until.mjs";

const HERE = import.meta.dirname;
const SETTINGS = {
  "telemetry.telemetryLevel": "off",
  "files.autoSave": "off",
  "update.mode": "none",
  "extensions.autoUpdate": false,
  "extensions.autoCheckUpdates": false,
  "workbench.startupEditor": "none",
  "workbench.tips.enabled": false,
  "workbench.enableExperiments": false,
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "chat.commandCenter.enabled": false,
  "window.commandCenter": false,
  "workbench.layoutControl.enabled": false,
  "git.openRepositoryInParentFolders": "never",
  "editor.minimap.enabled": false,
  "security.workspace.trust.startupPrompt": "never",
  "security.workspace.trust.banner": "never",
};

/** The environment of VS Code: `options.env` over a bare one, so that nothing of the machine's own set-up shines through. */
function environment(folder, options) {
  const [home, temporary] = ["home", "tmp"].map((name) => path.join(folder, name));
  [home, temporary].forEach((place) => fs.mkdirSync(place, { recursive: true }));
  const { PATH, LANG, HF_HUB_OFFLINE, OPENBLAS_CORETYPE, PYTHONPATH } = process.env;
  const env = {
    PATH,
    LANG,
    HF_HUB_OFFLINE,
    OPENBLAS_CORETYPE,
    PYTHONPATH,
    HOME: home,
    TMPDIR: temporary,
    XDG_RUNTIME_DIR: temporary,
    SHELL: "/bin/sh",
    EXTENSIONS_GALLERY: "{}",
    VSCODE_CLI: "1", // keeps PATH as it is: no login shell is asked for another
    SYNAPSE_CACHE_DIR: path.join(folder, "cache"),
    SYNAPSE_GUARD_LOG: path.join(folder, "guard.log"),
    NODE_OPTIONS: `--require ${path.join(HERE, "standins", "guard.cjs")}`,
    ...options.env,
  };
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined));
}

/** Installs a .vsix into a folder of extensions that several servers can share. */
export async function installExtension(codeServer, vsix, extensions) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "synapse-vsix-"));
  const args = [
    entry(codeServer),
    "--user-data-dir",
    folder,
    "--extensions-dir",
    extensions,
    "--install-extension",
    vsix,
  ];
  const child = spawn(process.execPath, args, { env: environment(folder, {}), stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  child.stdout.on("data", (data) => (said += data));
  child.stderr.on("data", (data) => (said += data));
  const [code] = await once(child, "close");
  fs.rmSync(folder, { recursive: true, force: true });
  if (code !== 0) {
    throw new Error(`${vsix} could not be installed: ${said}`);
  }
}

/** Writes a file, its folders as well. */
export function save(file, text) {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, text);
}

/** One process, or nothing if it has gone. */
function describe(pid) {
  try {
    const parent = Number(/^PPid:\s+(\d+)/m.exec(fs.readFileSync(`/proc/${pid}/status`, "utf8"))[1]);
    return [{ pid, parent, command: fs.readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim() }];
  } catch {
    return [];
  }
}

function entry(codeServer) {
  return path.join(codeServer, "package", "out", "node", "entry.js");
}

const exit = () => process.exit(1);

/** A process that has a workbench and is ended ends the workbench too, also where the signal comes twice. */
function heedSignals() {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    if (!process.listeners(signal).includes(exit)) {
      process.on(signal, exit);
    }
  }
}

export class Server {
  /**
   * `options`: `settings` over the usual ones, `machine` settings, `env` of the process, `trust` if workspaces need it, another folder of
   * `extensions`.
   */
  static async start({ codeServer, extensions }, options = {}) {
    const server = new Server();
    server.folder = fs.mkdtempSync(path.join(os.tmpdir(), "synapse-workbench-"));
    server.user = path.join(server.folder, "user");
    server.write("User", { ...SETTINGS, ...options.settings });
    server.write("Machine", options.machine ?? {});
    const args = [entry(codeServer), "--auth", "none", "--bind-addr", "127.0.0.1:0", "--user-data-dir", server.user];
    args.push("--extensions-dir", options.extensions ?? extensions, "--disable-telemetry", "--disable-update-check");
    args.push("--disable-getting-started-override", ...(options.trust ? [] : ["--disable-workspace-trust"]));
    server.log = path.join(server.folder, "log");
    const log = fs.openSync(server.log, "a");
    server.env = environment(server.folder, options);
    server.child = spawn(process.execPath, args, { env: server.env, stdio: ["ignore", log, log], detached: true });
    fs.closeSync(log);
    server.ended = once(server.child, "exit");
    server.lastResort = () => {
      server.signal("SIGKILL");
      fs.rmSync(server.folder, { recursive: true, force: true, maxRetries: 20 });
    };
    heedSignals();
    process.on("exit", server.lastResort);
    server.host = await until(() => server.address(), "code-server tells its address");
    return server;
  }

  address() {
    const log = fs.readFileSync(this.log, "utf8");
    if (this.child.exitCode !== null) {
      throw new Error(`code-server ended: ${log}`);
    }
    return /listening on http:\/\/(127\.0\.0\.1:\d+)/.exec(log)?.[1];
  }

  /** Replaces the settings of the user or of the machine; the workbench takes them over at once. */
  write(kind, settings) {
    save(path.join(this.user, kind, "settings.json"), JSON.stringify(settings, null, 2));
  }

  set(settings) {
    this.write("User", { ...SETTINGS, ...settings });
  }

  /** A folder of notes: a copy of one, or files by name. */
  vault(from) {
    const folder = path.join(fs.mkdtempSync(path.join(this.folder, "vault-")), "notes");
    if (typeof from === "string") {
      fs.cpSync(from, folder, { recursive: true });
    } else {
      Object.entries(from).forEach(([name, text]) => save(path.join(folder, name), text));
    }
    return folder;
  }

  /** The processes that code-server started, with their children: `pid`, `command` line. */
  processes() {
    const all = fs
      .readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .flatMap((pid) => describe(Number(pid)));
    const ours = new Set([this.child.pid]);
    // A child is younger than its parent but may have a smaller number, so look until nothing is added.
    for (let size = 0; size < ours.size;) {
      size = ours.size;
      all.filter(({ parent }) => ours.has(parent)).forEach(({ pid }) => ours.add(pid));
    }
    return all.filter(({ pid }) => ours.has(pid));
  }

  /** The language servers that run now. */
  languageServers() {
    return this.processes().filter(({ command }) => /synapse-ls serve/.test(command));
  }

  /** What the extension wrote into its output channels, by the channel's file. */
  output() {
    const found = {};
    const logs = path.join(this.user, "logs");
    for (const name of fs.existsSync(logs) ? fs.readdirSync(logs, { recursive: true }) : []) {
      if (/synapse/i.test(name) && name.endsWith(".log")) {
        found[name] = fs.readFileSync(path.join(logs, name), "utf8");
      }
    }
    return found;
  }

  /** The guard's lines: which processes it watched, and what it refused. */
  guard() {
    const file = path.join(this.folder, "guard.log");
    return fs.existsSync(file) ? fs.readFileSync(file, "utf8").split("\n").filter(Boolean) : [];
  }

  signal(name) {
    try {
      process.kill(-this.child.pid, name);
    } catch (error) {
      if (error.code !== "ESRCH") {
        throw error;
      }
    }
  }

  /** Ends it with all that it started, and removes its folders. */
  async stop() {
    this.signal("SIGTERM");
    const late = setTimeout(() => this.signal("SIGKILL"), 10_000);
    await this.ended;
    clearTimeout(late);
    this.signal("SIGKILL");
    process.off("exit", this.lastResort);
    fs.rmSync(this.folder, { recursive: true, force: true, maxRetries: 20 });
  }
}
