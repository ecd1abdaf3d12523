// What the status bar says.

import type { VaultStatus } from "../protocol";
import type { ServerState } from "../server/server";

export interface Shown {
  text: string;
  tooltip: string;
  severity: "none" | "warning" | "error";
}

/** Returns what is shown of the server and its vaults. */
export function shown(state: ServerState, trouble: string | undefined, vaults: readonly VaultStatus[]): Shown {
  switch (state) {
    case "missing":
      return { text: "$(warning) Synapse", tooltip: trouble ?? "The server is not installed.", severity: "warning" };
    case "failed":
      return { text: "$(error) Synapse", tooltip: trouble ?? "The server does not run.", severity: "error" };
    case "stopped":
      return { text: "$(circle-slash) Synapse", tooltip: "The server is stopped.", severity: "none" };
    case "starting":
      return { text: "$(sync~spin) Synapse", tooltip: "The server starts.", severity: "none" };
    case "running":
      return ofVaults(vaults);
  }
}

function ofVaults(vaults: readonly VaultStatus[]): Shown {
  const tooltip = vaults.length === 0 ? "No folder is open." : vaults.map(told).join("\n\n");
  if (vaults.some((vault) => vault.state === "failed")) {
    return { text: "$(error) Synapse", tooltip, severity: "error" };
  }
  const busy = vaults.filter((vault) => vault.state === "starting" || vault.state === "indexing" || vault.pending > 0);
  if (busy.some((vault) => vault.state !== "ready" && vault.state !== "readOnly")) {
    return { text: "$(sync~spin) Synapse: reading notes", tooltip, severity: "none" };
  }
  if (busy.length > 0) {
    const [embedded, chunks] = [total(busy, "embedded"), total(busy, "chunks")];
    const share = chunks === 0 ? 100 : Math.floor((100 * embedded) / chunks);
    return { text: `$(sync~spin) Synapse ${String(share)} %`, tooltip, severity: "none" };
  }
  const notes = total(vaults, "notes");
  const troubled = vaults.some((vault) => vault.lastError !== undefined || vault.model.note !== undefined);
  return {
    text: `$(${troubled ? "info" : "search"}) ${String(notes)} ${notes === 1 ? "note" : "notes"}`,
    tooltip,
    severity: "none",
  };
}

function total(vaults: readonly VaultStatus[], key: "embedded" | "chunks" | "notes"): number {
  return vaults.reduce((sum, vault) => sum + vault[key], 0);
}

/** Returns a vault's state in a few lines. */
export function told(vault: VaultStatus): string {
  const name = decodeURIComponent(vault.root.replace(/\/+$/, "").split("/").at(-1) ?? vault.root);
  const lines = [
    `${name}: ${String(vault.notes)} notes, ${String(vault.embedded)} of ${String(vault.chunks)} passages searchable by meaning`,
    vault.state === "readOnly" ? "Another window keeps this index up to date; this one reads along." : undefined,
    vault.model.note ?? (vault.model.state === "loading" ? "The model is loading." : undefined),
    vault.reranker.note,
    vault.lastError,
    vault.skipped.length > 0 ? `${String(vault.skipped.length)} notes need a look: Synapse: Show Status` : undefined,
  ];
  return lines.filter((line) => line !== undefined).join("\n");
}

/** Returns all that is known of the vaults, for a page to read. */
export function report(version: string, vaults: readonly VaultStatus[]): string {
  const parts = vaults.map((vault) =>
    [
      told(vault),
      `state ${vault.state}, model ${vault.model.name} (${vault.model.languages}), index ${megabytes(vault.cacheBytes)}`,
      ...vault.skipped.map((one) => `  ${one.path}: ${one.reason}`),
    ].join("\n"),
  );
  return [`Synapse ${version}`, ...parts].join("\n\n");
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
