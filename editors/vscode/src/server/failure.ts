// What went wrong with a request, in one line.

import * as vscode from "vscode";
import { GIVEN_UP } from "../protocol";

/** Says what went wrong; undefined if nobody waits for the answer any more. */
export function failure(error: unknown): string | undefined {
  if (error instanceof vscode.CancellationError) {
    return undefined;
  }
  if (error instanceof Error) {
    const code: unknown = "code" in error ? error.code : undefined;
    return typeof code === "number" && GIVEN_UP.has(code) ? undefined : error.message;
  }
  return String(error);
}
