// What the server and this extension say to each other; docs/protocol.md is the source.

export interface Position {
  line: number;
  character: number;
}

export interface Range {
  start: Position;
  end: Position;
}

export interface Place {
  uri: string;
  range: Range;
  title: string;
}

export type Leg = "lexical" | "semantic" | "graph";

export interface LegState {
  state: "ok" | "off" | "empty" | "unavailable";
  coverage?: number;
  note?: string;
}

export interface Hit extends Place {
  headingPath: string[];
  snippet: { text: string; highlights: [start: number, end: number][] };
  score: number;
  band: "strong" | "good" | "weak";
  matchedBy: Leg[];
  trust: number;
}

export interface SearchResult {
  searchId: string;
  generation: number;
  hits: Hit[];
  rerank: "off" | "pending" | "skipped" | "unavailable";
  legs: Record<Leg, LegState>;
  elapsedMs: number;
}

export interface SearchReranked {
  searchId: string;
  outcome: "reranked" | "deadline" | "failed";
  hits: Hit[];
  model: string;
}

export interface RelatedResult {
  hits: (Hit & { reasons: string[] })[];
}

export interface Backlink extends Place {
  line: { text: string; link: [start: number, end: number] };
}

export interface BacklinksResult {
  links: Backlink[];
  total: number;
}

export interface VaultStatus {
  root: string;
  state: "starting" | "indexing" | "ready" | "readOnly" | "failed";
  notes: number;
  chunks: number;
  embedded: number;
  pending: number;
  skipped: { path: string; reason: string }[];
  model: {
    name: string;
    dimensions: number;
    languages: string;
    state: "ready" | "loading" | "missing" | "failed";
    note?: string;
  };
  reranker: { name: string | null; state: string; note?: string };
  lastError?: string;
  cacheBytes: number;
}

export interface Status {
  version: string;
  vaults: VaultStatus[];
}

export const SEARCH = "synapse/search";
export const RERANKED = "synapse/searchReranked";
export const RELATED = "synapse/related";
export const BACKLINKS = "synapse/backlinks";
export const STATUS = "synapse/status";
export const STATUS_CHANGED = "synapse/statusChanged";

/** The codes of answers that nobody waits for any more: cancelled by the client or superseded by the server. */
export const GIVEN_UP: ReadonlySet<number> = new Set([-32800, -32802]);
