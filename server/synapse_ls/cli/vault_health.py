"""Checks of one vault: its folder, its settings file and its index."""

import shlex
from pathlib import Path

from synapse_ls.cli.finding import Finding
from synapse_ls.core.config import Settings
from synapse_ls.core.errors import VaultError

_MOUNTS = Path("/proc/self/mountinfo")
# File systems on which another machine's changes are not told.
_REMOTE = ("nfs", "cifs", "smb", "fuse.", "9p", "afs", "ceph", "gluster", "vboxsf", "drvfs", "davfs", "ncpfs")


def vault(folder: Path) -> Finding:
    """Look whether the notes can be read, and on what kind of file system they lie."""
    from synapse_ls.vault import location  # noqa: PLC0415 - what is broken is found by importing it

    try:
        root = location.vault_root(folder)
    except VaultError as error:
        detail, _, advice = str(error).partition("; ")
        return Finding("vault", False, detail, advice or None)
    kind = file_system(root)
    if kind is not None and kind.startswith(_REMOTE):
        advice = "what other machines change there may not be told: run synapse-ls index after it"
        return Finding("vault", True, f"{root}, on {kind}", advice)
    return Finding("vault", True, f"{root}" if kind is None else f"{root}, on {kind}")


def settings(folder: Path) -> Finding:
    """Look whether the vault's settings file is valid."""
    from synapse_ls.vault import location  # noqa: PLC0415 - what is broken is found by importing it
    from synapse_ls.vault.settings import FILE_NAME, settings_of  # noqa: PLC0415 - as above

    path = location.vault_root(folder) / FILE_NAME
    _, warnings = settings_of(path.parent, Settings())
    if warnings:
        return Finding("settings", False, "; ".join(warnings), f"correct {path}; docs/configuration.md has the list")
    return Finding("settings", True, f"{FILE_NAME} is valid" if path.exists() else f"no {FILE_NAME}, so the defaults")


def index(folder: Path) -> Finding:
    """Look whether the vault's index is sound."""
    from synapse_ls.store import health  # noqa: PLC0415 - what is broken is found by importing it
    from synapse_ls.vault import index_files, location  # noqa: PLC0415 - as above

    root = location.vault_root(folder)
    place = location.index_folder(root)
    path, named = index_files.in_use(place), location.current_index(place)
    run = f"run: synapse-ls index {shlex.quote(str(root))}"
    if path is None and named is not None and named.is_symlink() | named.exists():
        return Finding("index", False, f"{named} is not a file", run)
    if path is None:
        return Finding("index", True, "none yet; it is made by synapse-ls index or by the editor")
    try:
        trouble = health.check(path)
    except TimeoutError as late:
        return Finding("index", True, f"{path}, {late}; sound so far")
    if trouble is not None:
        return Finding("index", False, f"{path}: {trouble}", f"{run} --rebuild")
    return Finding("index", True, f"{path} is sound")


def file_system(path: Path) -> str | None:
    """Return the kind of file system a path lies on, None where the system does not tell."""
    try:
        lines = _MOUNTS.read_text(errors="surrogateescape").splitlines()
    except OSError:
        return None
    found: tuple[int, str] | None = None
    for line in lines:
        before, _, after = line.partition(" - ")
        point = Path(before.split()[4].replace("\\040", " "))
        # The last mount of a place covers those before it.
        if path.is_relative_to(point) and (found is None or len(point.parts) >= found[0]):
            found = len(point.parts), after.split()[0]
    return None if found is None else found[1]
