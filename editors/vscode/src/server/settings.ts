// Which of our settings are the server's.

/** Settings of this extension itself; the server would warn of keys that it does not know. */
const OURS: readonly (readonly [section: string, key: string])[] = [
  ["server", "path"],
  ["search", "delay"],
  ["links", "style"],
];

/** Returns the settings of section "synapse" without those that are only for this extension. */
export function forServer(settings: unknown): unknown {
  if (typeof settings !== "object" || settings === null) {
    return settings;
  }
  const copy: Record<string, unknown> = { ...settings };
  for (const [section, key] of OURS) {
    const held = copy[section];
    if (typeof held === "object" && held !== null) {
      const left = Object.entries(held).filter(([name]) => name !== key);
      if (left.length === 0) {
        // eslint-disable-next-line @typescript-eslint/no-dynamic-delete -- a section of a copy
        delete copy[section];
      } else {
        copy[section] = Object.fromEntries(left);
      }
    }
  }
  return copy;
}
