// Keeps views at the note, or at the section, that the user is in.

import * as vscode from "vscode";
import { isNote } from "./places";

const QUIET_MS = 200;

/** Calls back with the editor of a note when the cursor has come to rest in it, or when the notes may be others. */
export class Following implements vscode.Disposable {
  private timer: NodeJS.Timeout | undefined;
  private readonly listening: vscode.Disposable[];

  constructor(private readonly follow: (editor: vscode.TextEditor) => void) {
    this.listening = [
      vscode.window.onDidChangeActiveTextEditor(() => {
        this.soon();
      }),
      vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => {
        if (textEditor === vscode.window.activeTextEditor) {
          this.soon();
        }
      }),
    ];
    this.soon();
  }

  soon(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      const editor = vscode.window.activeTextEditor;
      if (isNote(editor)) {
        this.follow(editor);
      }
    }, QUIET_MS);
  }

  dispose(): void {
    clearTimeout(this.timer);
    for (const one of this.listening) {
      one.dispose();
    }
  }
}
