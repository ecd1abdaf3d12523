// Shows the passage of a hit while the user moves through a list, and brings the former view back.

import * as vscode from "vscode";
import type { Place } from "../protocol";
import { rangeOf } from "../places";

const PASSAGE = vscode.window.createTextEditorDecorationType({
  backgroundColor: new vscode.ThemeColor("editor.rangeHighlightBackground"),
  isWholeLine: true,
});

export class Preview {
  private readonly editor = vscode.window.activeTextEditor;
  private readonly selection = this.editor?.selection;
  private readonly visible = this.editor?.visibleRanges[0];
  private readonly wasPreview = vscode.window.tabGroups.activeTabGroup.activeTab?.isPreview ?? false;
  private readonly before = new Set(openUris());
  private readonly opened = new Set<string>();
  private latest = 0;

  /** Shows a place without taking the keyboard; a newer call makes an older one void. */
  async show(place: Place): Promise<void> {
    const mine = ++this.latest;
    const uri = vscode.Uri.parse(place.uri);
    const document = await vscode.workspace.openTextDocument(uri);
    if (mine !== this.latest) {
      return;
    }
    if (!this.before.has(uri.toString())) {
      this.opened.add(uri.toString());
    }
    const range = rangeOf(place.range);
    const editor = await vscode.window.showTextDocument(document, {
      preserveFocus: true,
      preview: true,
      ...(this.editor?.viewColumn === undefined ? {} : { viewColumn: this.editor.viewColumn }),
    });
    if (mine === this.latest) {
      this.unmark();
      editor.setDecorations(PASSAGE, [range]);
      editor.revealRange(range, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
    }
  }

  /** Brings the view back that was there before the first preview. */
  async restore(): Promise<void> {
    const previewed = this.latest > 0;
    this.latest++;
    this.unmark();
    if (!previewed) {
      return;
    }
    if (this.editor !== undefined) {
      const editor = await vscode.window.showTextDocument(this.editor.document, {
        preview: this.wasPreview,
        ...(this.editor.viewColumn === undefined ? {} : { viewColumn: this.editor.viewColumn }),
        ...(this.selection === undefined ? {} : { selection: this.selection }),
      });
      if (this.visible !== undefined) {
        editor.revealRange(this.visible, vscode.TextEditorRevealType.AtTop);
      }
    }
    await this.closeOpened();
  }

  /** Lets the view be as it is now. */
  keep(): void {
    this.latest++;
    this.unmark();
  }

  private async closeOpened(): Promise<void> {
    const left = vscode.window.tabGroups.all
      .flatMap((group) => group.tabs)
      .filter(
        (tab) => tab.isPreview && tab.input instanceof vscode.TabInputText && this.opened.has(tab.input.uri.toString()),
      );
    await vscode.window.tabGroups.close(left, true);
  }

  private unmark(): void {
    for (const editor of vscode.window.visibleTextEditors) {
      editor.setDecorations(PASSAGE, []);
    }
  }
}

function openUris(): string[] {
  return vscode.window.tabGroups.all
    .flatMap((group) => group.tabs)
    .flatMap((tab) => (tab.input instanceof vscode.TabInputText ? [tab.input.uri.toString()] : []));
}
