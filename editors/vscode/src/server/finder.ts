// Where the server's program is. It is the one thing this extension runs, so nothing that lies in the workspace, which
// may come from a stranger, is ever taken for it.

import * as path from "node:path";

export interface Machine {
  platform: NodeJS.Platform;
  home: string;
  /** The value of PATH. */
  path: string;
  isProgram(file: string): boolean;
  /** The real path of a file; the path itself where there is none. */
  real(file: string): string;
}

export type Found = { kind: "found"; command: string } | { kind: "missing"; why: string };

/** Finds the server: the path that the user has set, else the PATH, else the folder that installers use. */
export function find(configured: string, folders: readonly string[], machine: Machine): Found {
  const roots = folders.map((folder) => machine.real(folder));
  if (configured.trim() !== "") {
    const file = expanded(configured.trim(), machine);
    if (!pathOf(machine).isAbsolute(file)) {
      return missing(`synapse.server.path is "${configured}", which is no full path.`);
    }
    if (isWithin(file, folders, roots, machine)) {
      return missing(`synapse.server.path leads to ${file}, inside the workspace: that is never run.`);
    }
    return machine.isProgram(file)
      ? { kind: "found", command: file }
      : missing(`synapse.server.path leads to ${file}, which is no program.`);
  }
  for (const folder of places(machine)) {
    for (const name of names(machine)) {
      const file = pathOf(machine).join(folder, name);
      if (machine.isProgram(file) && !isWithin(file, folders, roots, machine)) {
        return { kind: "found", command: file };
      }
    }
  }
  return missing("The server synapse-ls is not installed, or is not on the PATH.");
}

function missing(why: string): Found {
  return { kind: "missing", why };
}

function places(machine: Machine): string[] {
  const paths = pathOf(machine);
  const listed = machine.path.split(paths.delimiter).filter((folder) => paths.isAbsolute(folder));
  return [...listed, paths.join(machine.home, ".local", "bin")];
}

function names(machine: Machine): string[] {
  return machine.platform === "win32" ? ["synapse-ls.exe"] : ["synapse-ls"];
}

function expanded(file: string, machine: Machine): string {
  return /^~[/\\]/.test(file) ? pathOf(machine).join(machine.home, file.slice(2)) : file;
}

/** Whether a file lies in a folder, by its name or by what it leads to. */
function isWithin(file: string, folders: readonly string[], roots: readonly string[], machine: Machine): boolean {
  const paths = pathOf(machine);
  return [file, machine.real(file)].some((one) =>
    [...folders, ...roots].some((root) => {
      const away = paths.relative(root, one);
      return away !== "" && !/^\.\.($|[/\\])/.test(away) && !paths.isAbsolute(away);
    }),
  );
}

function pathOf(machine: Machine): path.PlatformPath {
  return machine.platform === "win32" ? path.win32 : path.posix;
}
