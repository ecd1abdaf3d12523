// Completion of the filters `tag:` and `path:` at the end of a query.

export interface Unfinished {
  kind: "tag" | "path";
  /** The query before the filter. */
  before: string;
  typed: string;
}

const FILTER = /(^|\s)(tag:|#|path:)(\S*)$/;

/** Returns the filter that is being typed at the end of a query. */
export function unfinished(query: string): Unfinished | undefined {
  const found = FILTER.exec(query);
  if (found === null) {
    return undefined;
  }
  const [, space, name, typed] = found as unknown as [string, string, string, string];
  const before = query.slice(0, found.index) + space;
  return { kind: name === "path:" ? "path" : "tag", before, typed };
}

/** Returns the query with a filter put in, ready for the next word. */
export function completed(part: Unfinished, value: string): string {
  return part.kind === "tag" ? `${part.before}tag:${value} ` : `${part.before}path:${value}`;
}

/** Returns those of some names that begin with, or else hold, what is typed; at most so many. */
export function fitting(names: Iterable<string>, typed: string, most: number): string[] {
  const folded = typed.toLowerCase();
  const all = [...new Set(names)].filter((name) => name.toLowerCase().includes(folded) && name !== typed);
  const begins = (name: string): number => (name.toLowerCase().startsWith(folded) ? 0 : 1);
  return all.sort((a, b) => begins(a) - begins(b) || a.localeCompare(b)).slice(0, most);
}
