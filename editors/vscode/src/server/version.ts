// Whether a server and this extension fit together.

/** Returns what to tell the user of a server's version; undefined if it fits. Versions fit if they begin alike. */
export function mismatch(server: string | undefined, extension: string): string | undefined {
  if (server === undefined) {
    return "The server does not tell its version; update it: uv tool upgrade synapse-ls";
  }
  const [ours, theirs] = [series(extension), series(server)];
  if (ours === undefined || theirs === undefined || (ours[0] === theirs[0] && ours[1] === theirs[1])) {
    return undefined;
  }
  const older = theirs[0] < ours[0] || (theirs[0] === ours[0] && theirs[1] < ours[1]);
  return older
    ? `The server is version ${server}, this extension ${extension}: update the server (uv tool upgrade synapse-ls).`
    : `The server is version ${server}, this extension ${extension}: update the extension.`;
}

function series(version: string): [number, number] | undefined {
  const found = /^(\d+)\.(\d+)/.exec(version);
  return found === null ? undefined : [Number(found[1]), Number(found[2])];
}
