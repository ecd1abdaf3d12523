// A link as it is written in a note.

import { posix } from "node:path";

export type Style = "wiki" | "markdown";

export interface Target {
  title: string;
  /** The path of the note from the vault's folder, with slashes. */
  path: string;
  /** The heading to lead to, if any. */
  heading?: string | undefined;
  /** Whether another note of the vault has the same file name. */
  ambiguous: boolean;
}

/** Returns the text of a link to a note from the note at another path. */
export function linkText(target: Target, style: Style, from: string): string {
  if (style === "wiki") {
    const stem = target.path.replace(/\.(md|markdown)$/i, "");
    const name = target.ambiguous ? stem : posix.basename(stem);
    const heading = target.heading === undefined ? "" : `#${target.heading.replace(/[[\]|#^]/g, " ").trim()}`;
    return `[[${name}${heading}]]`;
  }
  const way = posix.relative(posix.dirname(from), target.path);
  const anchor = target.heading === undefined ? "" : `#${slug(target.heading)}`;
  const address = `${way}${anchor}`;
  const safe = /[\s()<>]/.test(address) ? `<${address.replace(/[<>]/g, (sign) => encodeURIComponent(sign))}>` : address;
  return `[${target.title.replace(/([[\]\\])/g, "\\$1")}](${safe})`;
}

/** Returns the style that a note is written in: that of most of its links, wiki links where there are none. */
export function styleOf(text: string): Style {
  const wiki = text.match(/\[\[[^\]\n]+\]\]/g)?.length ?? 0;
  const markdown = text.match(/\]\((?!\w+:)[^)\n]+\.(?:md|markdown)\b[^)\n]*\)/gi)?.length ?? 0;
  return markdown > wiki ? "markdown" : "wiki";
}

function slug(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\s_-]/gu, "")
    .replace(/\s/g, "-");
}
