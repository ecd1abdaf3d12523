// What a hit looks like in a list; no word of it is a match for the list's own filter.

import type { Hit, Leg, SearchResult } from "../protocol";

export interface Row {
  key: string;
  label: string;
  description: string;
  detail: string;
}

const LEGS: Record<Leg, string> = { lexical: "words", semantic: "meaning", graph: "links" };
const NONE = "listed";

/** Returns what a list shows of a hit. `place` is the path of its note as the user knows it. */
export function rowOf(hit: Hit, place: string): Row {
  const headings = hit.headingPath.filter((heading) => heading !== hit.title);
  return {
    key: keyOf(hit),
    label: literal(hit.title),
    description: literal([place, ...headings].join(" › ")),
    detail: `${whyOf(hit)}: ${literal(marked(hit.snippet.text, hit.snippet.highlights))}`,
  };
}

/** Names a hit across answers, so that a list in a new order keeps its place. */
export function keyOf(hit: Hit): string {
  return hit.uri;
}

/** Says why a note is there: by words, meaning, links, and how sure that is. */
export function whyOf(hit: Hit): string {
  const legs = hit.matchedBy.map((leg) => LEGS[leg]);
  return legs.length === 0 ? NONE : `${legs.join(" + ")}${hit.band === "strong" ? ", sure" : ""}`;
}

/** Returns a snippet with its matched words between marks. */
export function marked(text: string, highlights: readonly (readonly [number, number])[]): string {
  let shown = "";
  let last = 0;
  for (const [start, end] of [...highlights].sort((a, b) => a[0] - b[0])) {
    if (start >= last) {
      shown += `${text.slice(last, start)}‹${text.slice(start, end)}›`;
      last = end;
    }
  }
  return (shown + text.slice(last)).replace(/\s+/g, " ").trim();
}

/** Returns a text of notes so that a list shows it as it is: `$(name)` would become an icon. */
export function literal(text: string): string {
  return text.replace(/\$\(/g, "\\$(");
}

/** Says what an answer could not be made of; undefined if nothing is missing. */
export function caveat(result: SearchResult): string | undefined {
  const { state, note, coverage } = result.legs.semantic;
  if (state === "unavailable") {
    return note === "loading" ? "by words only: the model is loading" : `by words only: ${note ?? "there is no model"}`;
  }
  if (note !== undefined) {
    return note;
  }
  return coverage !== undefined && coverage < 1
    ? `meaning is known of ${String(Math.floor(coverage * 100))} % of the notes so far`
    : undefined;
}

/** Returns items in a new order; those that the order does not name stay at the end. */
export function reordered<T>(items: readonly T[], keys: readonly string[], key: (item: T) => string): T[] {
  const rank = new Map(keys.map((name, index) => [name, index]));
  return [...items].sort((a, b) => (rank.get(key(a)) ?? keys.length) - (rank.get(key(b)) ?? keys.length));
}
