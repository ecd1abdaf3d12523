// Models: choose one, download one.

import * as vscode from "vscode";
import { WorkDoneProgress } from "vscode-languageclient/node";
import type { Server } from "../server/server";
import { agreed } from "./index";

interface Model {
  name: string;
  kind: "encoder" | "reranker";
  state: string;
  languages: string;
  licence: string;
  sizeBytes: number;
  description: string;
  /** The command that brings it; null where it is there. */
  toGet: string | null;
}

/** Lets the user choose the encoder; one that is not there is downloaded first. */
export async function choose(server: Server): Promise<void> {
  const now = vscode.workspace.getConfiguration("synapse").get<string>("embedding.model");
  const models = (await listed(server)).filter((model) => model.kind === "encoder");
  const none = { label: "none", description: "words and links only", model: undefined };
  const picked = await vscode.window.showQuickPick([...models.map((model) => itemOf(model, now)), none], {
    title: "The model that search by meaning uses",
    matchOnDescription: true,
  });
  if (picked === undefined) {
    return;
  }
  if (picked.model !== undefined && picked.model.state !== "installed" && !(await pulled(server, picked.model))) {
    return;
  }
  await vscode.workspace
    .getConfiguration("synapse")
    .update("embedding.model", picked.label, vscode.ConfigurationTarget.Global);
}

/** Lets the user choose a model that is not there, and downloads it. */
export async function download(server: Server): Promise<void> {
  const models = (await listed(server)).filter((model) => model.state !== "installed");
  const picked = await vscode.window.showQuickPick(
    models.map((model) => itemOf(model, undefined)),
    { title: "Download a model", matchOnDescription: true },
  );
  if (picked !== undefined && (await pulled(server, picked.model))) {
    void vscode.window.showInformationMessage(`The model ${picked.label} is there.`);
  }
}

async function listed(server: Server): Promise<Model[]> {
  const told = JSON.parse(await server.run("models", "list", "--json")) as { models: Model[] };
  return told.models;
}

function itemOf(model: Model, now: string | undefined): vscode.QuickPickItem & { model: Model } {
  const size = model.sizeBytes > 0 ? `${String(Math.round(model.sizeBytes / 1e6))} MB` : undefined;
  return {
    label: model.name,
    description: [model.name === now ? "in use" : model.state, model.languages, size, model.licence]
      .filter((part) => part !== undefined && part !== "")
      .join(", "),
    detail: model.description,
    model,
  };
}

/** Downloads a model with progress, after the user has agreed; returns whether it is there. */
async function pulled(server: Server, model: Model): Promise<boolean> {
  if (model.toGet !== null && !model.toGet.startsWith("synapse-ls")) {
    // It comes as a package, which is the user's to install beside the server.
    void vscode.window.showInformationMessage(`${model.name}: ${model.toGet}`);
    return false;
  }
  const size = `${String(Math.round(model.sizeBytes / 1e6))} MB`;
  const detail = `${size}, licence ${model.licence}. It is downloaded from the model hub; nothing of yours is sent.`;
  if (!(await agreed(`Download ${model.name}?`, detail, "Download"))) {
    return false;
  }
  await vscode.window.withProgress(
    { location: vscode.ProgressLocation.Notification, title: `Downloading ${model.name}`, cancellable: true },
    async (progress, token) => {
      const workDoneToken = `pull ${model.name} ${String(Date.now())}`;
      let last = 0;
      const listening = server.running?.onProgress(WorkDoneProgress.type, workDoneToken, (told) => {
        if (told.kind === "report") {
          const percentage = told.percentage ?? last;
          progress.report({
            increment: percentage - last,
            ...(told.message === undefined ? {} : { message: told.message }),
          });
          last = percentage;
        }
      });
      try {
        const params = {
          command: "synapse.pullModel",
          arguments: [{ name: model.name, consent: true }],
          workDoneToken,
        };
        await server.ask("workspace/executeCommand", params, token);
      } finally {
        listening?.dispose();
      }
    },
  );
  return true;
}
