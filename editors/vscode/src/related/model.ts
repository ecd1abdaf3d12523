// What the views show, without the workbench.

import type { Backlink, Hit } from "../protocol";
import { literal, marked } from "../search/rows";

export interface Node {
  label: string;
  description?: string;
  /** Where it leads, with the heading that a link to it names. */
  place?: Pick<Hit, "uri" | "range" | "title">;
  heading?: string;
  icon: string;
  children: Node[];
}

/** Returns related notes, each with its reasons and the passage that fits best. */
export function relatedNodes(hits: readonly (Hit & { reasons: string[] })[], path: (uri: string) => string): Node[] {
  return hits.map((hit) => {
    const headings = hit.headingPath.filter((heading) => heading !== hit.title);
    const heading = hit.headingPath.at(-1);
    return {
      label: hit.title,
      description: [hit.reasons[0] ?? path(hit.uri), ...headings.slice(-1)].join(" · "),
      place: hit,
      ...(heading === undefined || heading === hit.title ? {} : { heading }),
      icon: "note",
      children: [
        { label: marked(hit.snippet.text, hit.snippet.highlights), icon: "quote", place: hit, children: [] },
        ...hit.reasons.map((reason) => ({ label: reason, icon: "arrow-small-right", place: hit, children: [] })),
        { label: path(hit.uri), icon: "file", place: hit, children: [] },
      ],
    };
  });
}

/** Returns the notes that link here, each with the lines around its links. */
export function backlinkNodes(links: readonly Backlink[], total: number, path: (uri: string) => string): Node[] {
  const notes = new Map<string, Backlink[]>();
  for (const link of links) {
    notes.set(link.uri, [...(notes.get(link.uri) ?? []), link]);
  }
  const nodes: Node[] = [...notes].map(([uri, found]) => ({
    label: found[0]?.title ?? path(uri),
    description: `${found.length > 1 ? `${String(found.length)} · ` : ""}${path(uri)}`,
    ...(found[0] === undefined ? {} : { place: found[0] }),
    icon: "note",
    children: found.map((link) => ({
      label: link.line.text === "" ? "in the front matter" : marked(link.line.text, [link.line.link]),
      description: String(link.range.start.line + 1),
      icon: "references",
      place: link,
      children: [],
    })),
  }));
  return total > links.length
    ? [...nodes, { label: `and ${String(total - links.length)} more links`, icon: "ellipsis", children: [] }]
    : nodes;
}

/** Returns a line of the view that says something and leads nowhere. */
export function wordNode(text: string, icon = "info"): Node {
  return { label: literal(text), icon, children: [] };
}
