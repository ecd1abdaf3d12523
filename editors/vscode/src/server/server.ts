// The server as this extension sees it: found, started, asked, started again when it crashes.

import * as fs from "node:fs";
import * as os from "node:os";
import { execFile } from "node:child_process";
import * as vscode from "vscode";
import {
  CloseAction,
  ErrorAction,
  LanguageClient,
  State,
  TransportKind,
  type Middleware,
} from "vscode-languageclient/node";
import { RERANKED, STATUS, STATUS_CHANGED, type SearchReranked, type Status, type VaultStatus } from "../protocol";
import { Crashes } from "./crashes";
import { failure } from "./failure";
import { find, type Machine } from "./finder";
import { forServer } from "./settings";
import { mismatch } from "./version";

export type ServerState = "starting" | "running" | "missing" | "failed" | "stopped";

export class Server implements vscode.Disposable {
  state: ServerState = "stopped";
  /** What is wrong, where something is. */
  trouble: string | undefined;
  vaults: readonly VaultStatus[] = [];

  private readonly changed = new vscode.EventEmitter<undefined>();
  private readonly reranked = new vscode.EventEmitter<SearchReranked>();
  private readonly crashes = new Crashes();
  private client: LanguageClient | undefined;
  private command: string | undefined;
  private starting: Promise<void> | undefined;
  private stopping = false;

  /** Told whenever the state or the status may be another. */
  readonly onDidChange = this.changed.event;
  readonly onDidRerank = this.reranked.event;

  constructor(
    private readonly log: vscode.LogOutputChannel,
    private readonly version: string,
    private readonly middleware: Middleware,
  ) {}

  /** Starts the server, unless it runs; says so where it cannot. */
  async start(): Promise<void> {
    this.starting ??= this.begin().finally(() => {
      this.starting = undefined;
    });
    await this.starting;
  }

  /** Ends the server and starts it anew: its path may be another, crashes before do not count. */
  async restart(): Promise<void> {
    this.crashes.reset();
    await this.stop();
    await this.start();
  }

  async stop(): Promise<void> {
    this.stopping = true;
    const client = this.client;
    this.client = undefined;
    try {
      await client?.stop();
    } catch {
      // It may have ended by itself.
    }
    await client?.dispose();
    this.vaults = [];
    this.become("stopped");
    this.stopping = false;
  }

  dispose(): void {
    void this.stop();
    this.changed.dispose();
    this.reranked.dispose();
  }

  /** Returns the answer of the server; waits for it to be started. Rejects with one clear line where there is none. */
  async ask<T>(method: string, params: object, token?: vscode.CancellationToken): Promise<T> {
    await this.starting;
    await this.started();
    if (this.client === undefined || this.state !== "running") {
      throw new Error(this.trouble ?? "The Synapse server does not run. Run the command Synapse: Restart the Server.");
    }
    return this.client.sendRequest<T>(method, params, token);
  }

  /** Waits while a server that has crashed is started again. */
  private async started(): Promise<void> {
    while (this.state === "starting") {
      await new Promise((resolve) => {
        const listening = this.onDidChange(() => {
          listening.dispose();
          resolve(undefined);
        });
      });
    }
  }

  /** Runs `synapse-ls` with arguments and returns what it prints. Rejects with the line that it says. */
  async run(...args: string[]): Promise<string> {
    const command = this.command ?? this.found();
    if (command === undefined) {
      throw new Error(this.trouble);
    }
    return new Promise((resolve, reject) => {
      execFile(command, args, { cwd: os.homedir(), maxBuffer: 1 << 24 }, (error, stdout, stderr) => {
        if (error === null) {
          resolve(stdout);
        } else {
          reject(new Error(stderr.trim() === "" ? error.message : stderr.trim()));
        }
      });
    });
  }

  /** Passes progress of a request on that was sent with a token of its own. */
  get running(): LanguageClient | undefined {
    return this.state === "running" ? this.client : undefined;
  }

  private async begin(): Promise<void> {
    if (this.client !== undefined) {
      return;
    }
    const command = this.found();
    this.command = command;
    if (command === undefined) {
      this.become("missing", this.trouble);
      return;
    }
    this.log.info(`starting ${command} serve`);
    this.become("starting");
    const client = this.made(command);
    this.client = client;
    client.onNotification(STATUS_CHANGED, (status: Status) => {
      this.take(status);
    });
    client.onNotification(RERANKED, (told: SearchReranked) => {
      this.reranked.fire(told);
    });
    client.onDidChangeState(({ newState }) => {
      if (newState === State.Running) {
        this.become("running");
        void this.greet(client);
      } else if (newState === State.Starting) {
        this.become("starting");
      }
    });
    try {
      await client.start();
    } catch (error) {
      if (this.client === client) {
        this.client = undefined;
        this.fail(`The Synapse server does not start: ${failure(error) ?? "it ended"}`);
      }
    }
  }

  private made(command: string): LanguageClient {
    return new LanguageClient(
      "synapse",
      "Synapse",
      {
        command,
        args: ["serve"],
        transport: TransportKind.stdio,
        // Not the workspace: what a program finds in its current folder may count for it.
        options: { cwd: os.homedir() },
      },
      {
        documentSelector: [{ scheme: "file", language: "markdown" }],
        outputChannel: this.log,
        initializationOptions: forServer(plain(vscode.workspace.getConfiguration("synapse"))),
        middleware: this.middleware,
        errorHandler: {
          error: () => ({ action: ErrorAction.Continue, handled: true }),
          closed: () => this.closed(),
        },
      },
    );
  }

  private async closed(): Promise<{ action: CloseAction; handled: boolean }> {
    this.vaults = [];
    const wait = this.stopping ? undefined : this.crashes.next();
    if (wait === undefined) {
      if (!this.stopping) {
        this.client = undefined;
        this.fail("The Synapse server has ended four times within three minutes and is not started again.");
      }
      return { action: CloseAction.DoNotRestart, handled: true };
    }
    this.log.warn(`the server has ended; it is started again in ${String(wait)} ms`);
    this.become("starting");
    await new Promise((resolve) => setTimeout(resolve, wait));
    return { action: CloseAction.Restart, handled: true };
  }

  private async greet(client: LanguageClient): Promise<void> {
    const told = mismatch(client.initializeResult?.serverInfo?.version, this.version);
    if (told !== undefined) {
      this.log.warn(told);
      void vscode.window.showWarningMessage(told);
    }
    try {
      this.take(await client.sendRequest<Status>(STATUS, {}));
    } catch (error) {
      this.log.warn(`no status: ${failure(error) ?? "given up"}`);
    }
  }

  private take(status: Status): void {
    this.vaults = status.vaults;
    this.changed.fire(undefined);
  }

  private found(): string | undefined {
    const configured = vscode.workspace.getConfiguration("synapse").get<string>("server.path", "");
    const folders = (vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri.fsPath);
    const result = find(configured, folders, thisMachine());
    this.trouble = result.kind === "missing" ? result.why : undefined;
    return result.kind === "found" ? result.command : undefined;
  }

  private fail(why: string): void {
    this.log.error(why);
    this.become("failed", why);
    void vscode.window.showErrorMessage(why, "Restart", "Show Log").then((chosen) => {
      if (chosen === "Restart") {
        void this.restart();
      } else if (chosen === "Show Log") {
        this.log.show();
      }
    });
  }

  private become(state: ServerState, trouble?: string): void {
    this.state = state;
    this.trouble = trouble;
    this.changed.fire(undefined);
  }
}

function thisMachine(): Machine {
  return {
    platform: process.platform,
    home: os.homedir(),
    path: process.env["PATH"] ?? "",
    isProgram: (file) => {
      try {
        fs.accessSync(file, fs.constants.X_OK);
        return fs.statSync(file).isFile();
      } catch {
        return false;
      }
    },
    real: (file) => {
      try {
        return fs.realpathSync(file);
      } catch {
        return file;
      }
    },
  };
}

/** Returns settings as plain values: what the workbench gives cannot be sent. */
function plain(settings: vscode.WorkspaceConfiguration): unknown {
  return JSON.parse(JSON.stringify(settings));
}
