// The two views of the side bar: what is related to the section under the cursor, and what links to its note.

import * as vscode from "vscode";
import { BACKLINKS, RELATED, type BacklinksResult, type RelatedResult } from "../protocol";
import { Following } from "../following";
import { linkTo } from "../links/insert";
import { isNote, pathOf } from "../places";
import { failure } from "../server/failure";
import type { Server } from "../server/server";
import { backlinkNodes, relatedNodes, wordNode, type Node } from "./model";

const LIMIT = 20;

interface Disposes {
  dispose(): unknown;
}

export function relatedView(server: Server): Disposes {
  return new View("synapse.related", server, async (editor, token) => {
    const { line, character } = editor.selection.active;
    const params = { uri: editor.document.uri.toString(), position: { line, character }, limit: LIMIT };
    const answer = await server.ask<RelatedResult>(RELATED, params, token);
    const nodes = relatedNodes(answer.hits, pathOf);
    return nodes.length === 0 ? [wordNode("No note is related to this section.")] : nodes;
  });
}

export function backlinksView(server: Server): Disposes {
  return new View("synapse.backlinks", server, async (editor, token) => {
    const answer = await server.ask<BacklinksResult>(BACKLINKS, { uri: editor.document.uri.toString() }, token);
    const nodes = backlinkNodes(answer.links, answer.total, pathOf);
    return nodes.length === 0 ? [wordNode("No note links here.")] : nodes;
  });
}

type Load = (editor: vscode.TextEditor, token: vscode.CancellationToken) => Promise<Node[]>;

class View implements vscode.TreeDataProvider<Node>, vscode.TreeDragAndDropController<Node>, Disposes {
  readonly dragMimeTypes = ["text/plain"];
  readonly dropMimeTypes = [];
  private readonly changed = new vscode.EventEmitter<undefined>();
  private readonly view: vscode.TreeView<Node>;
  private readonly listening: Disposes[];
  private readonly following: Following;
  private asking: vscode.CancellationTokenSource | undefined;
  private nodes: Node[] = [];

  readonly onDidChangeTreeData = this.changed.event;

  constructor(
    id: string,
    server: Server,
    private readonly load: Load,
  ) {
    this.view = vscode.window.createTreeView(id, { treeDataProvider: this, dragAndDropController: this });
    this.following = new Following((editor) => {
      void this.update(editor);
    });
    this.listening = [
      this.view,
      this.following,
      this.view.onDidChangeVisibility(() => {
        this.following.soon();
      }),
      server.onDidChange(() => {
        this.following.soon();
      }),
    ];
  }

  getTreeItem(node: Node): vscode.TreeItem {
    const item = new vscode.TreeItem(
      node.label,
      node.children.length > 0 ? vscode.TreeItemCollapsibleState.Collapsed : vscode.TreeItemCollapsibleState.None,
    );
    item.iconPath = new vscode.ThemeIcon(node.icon);
    item.tooltip = [node.label, node.description, ...node.children.map((child) => child.label)].join("\n");
    if (node.description !== undefined) {
      item.description = node.description;
    }
    if (node.place !== undefined) {
      item.contextValue = "synapse.place";
      item.command = { command: "synapse.open", title: "Open", arguments: [node.place] };
    }
    return item;
  }

  getChildren(node?: Node): Node[] {
    return node === undefined ? this.nodes : node.children;
  }

  /** Dropped into a note, a row is a link to it. */
  async handleDrag(nodes: readonly Node[], data: vscode.DataTransfer): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    const places = nodes.flatMap((node) => (node.place === undefined ? [] : [{ place: node.place, of: node }]));
    if (isNote(editor) && places.length > 0) {
      const texts = await Promise.all(places.map(({ place, of }) => linkTo(place, of.heading, editor.document)));
      data.set("text/plain", new vscode.DataTransferItem(texts.join("\n")));
    }
  }

  dispose(): void {
    this.asking?.cancel();
    for (const one of this.listening) {
      one.dispose();
    }
    this.changed.dispose();
  }

  private async update(editor: vscode.TextEditor): Promise<void> {
    if (!this.view.visible) {
      return;
    }
    this.asking?.cancel();
    const asking = (this.asking = new vscode.CancellationTokenSource());
    try {
      const nodes = await this.load(editor, asking.token);
      if (!asking.token.isCancellationRequested) {
        this.show(nodes);
      }
    } catch (error) {
      const why = failure(error);
      if (why !== undefined && !asking.token.isCancellationRequested) {
        this.show([wordNode(why, "warning")]);
      }
    }
  }

  private show(nodes: Node[]): void {
    // A list that is the same stays as it is, with what is unfolded in it.
    if (JSON.stringify(nodes) !== JSON.stringify(this.nodes)) {
      this.nodes = nodes;
      this.changed.fire(undefined);
    }
  }
}
