// The last searches of a workspace, newest first.

const MOST = 20;

/** Returns a history with a search at its front. */
export function remembered(history: readonly string[], query: string): string[] {
  const asked = query.trim();
  return asked === "" ? [...history] : [asked, ...history.filter((one) => one !== asked)].slice(0, MOST);
}
