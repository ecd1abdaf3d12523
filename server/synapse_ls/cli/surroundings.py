"""Checks of what Synapse lives in: the system's limits, the cache folder and the folder for temporary files."""

import os
import shlex
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from synapse_ls.cli.finding import Finding

_LIMITS = Path("/proc/sys/fs/inotify")
_LOCKS = Path("/proc/locks")
_FEW_WATCHES = 8_192
_FEW_INSTANCES = 16
_LITTLE_SPACE = 200 * 2**20
_MIB = 2**20
# How long other processes are asked for what they watch.
_COUNTING_SECONDS = 1.0
_TO_OTHERS = 0o077
_SHOWN = 3
_ELSEWHERE = "set SYNAPSE_CACHE_DIR to a folder you can write to"


def inotify() -> Finding:
    """Look at the system's limits of watching, and how much of them is in use."""
    try:
        watches, instances = (int((_LIMITS / f"max_user_{name}").read_text()) for name in ("watches", "instances"))
    except (OSError, ValueError):
        return Finding("inotify", True, "not here; the system has notifications of its own")
    used_instances, used_watches = _in_use()
    detail = f"{used_watches} of {watches} watches and {used_instances} of {instances} instances in use"
    if watches - used_watches < _FEW_WATCHES:
        advice = "large vaults are looked at every 2 s instead; run: sudo sysctl fs.inotify.max_user_watches=524288"
    elif instances - used_instances < _FEW_INSTANCES:
        advice = "vaults may be looked at every 2 s instead; run: sudo sysctl fs.inotify.max_user_instances=1024"
    else:
        advice = None
    return Finding("inotify", True, detail, advice)


def _in_use() -> tuple[int, int]:
    """Return (instances, watches) of the user's processes, as far as they can be seen."""
    instances = watches = 0
    late = time.monotonic() + _COUNTING_SECONDS
    for process in Path("/proc").glob("[0-9]*"):
        if time.monotonic() > late:
            break
        with suppress(OSError):  # it has ended, or is another's
            if process.stat().st_uid != os.geteuid():
                continue
            for handle in (process / "fd").iterdir():
                with suppress(OSError):
                    if "inotify" in handle.readlink().name:
                        instances += 1
                        watches += (process / "fdinfo" / handle.name).read_text().count("inotify wd:")
    return instances, watches


def cache() -> Finding:
    """Look whether the cache folder can be written and has room."""
    from synapse_ls.vault import location  # noqa: PLC0415 - what is broken is found by importing it

    root = location.cache_root()
    place = next(folder for folder in (root, *root.parents) if folder.exists() or folder.is_symlink())
    try:
        with tempfile.TemporaryFile(dir=place):
            pass
        free = shutil.disk_usage(place).free
    except OSError as error:
        return Finding("cache", False, f"{root} cannot be written ({error.strerror or error})", _ELSEWHERE)
    state = f"{location.size(root) / _MIB:.1f} MiB" if place == root else "not made yet"
    detail = f"{root}, {state}, {free / _MIB:.0f} MiB free"
    if free < _LITTLE_SPACE:
        advice = f"an index needs more room: free at least {_LITTLE_SPACE // _MIB} MiB, or {_ELSEWHERE}"
        return Finding("cache", True, detail, advice)
    return Finding("cache", True, detail)


def privacy() -> Finding:
    """Look whether what the cache holds, the text of notes, is for its owner alone."""
    from synapse_ls.vault import location  # noqa: PLC0415 - what is broken is found by importing it

    root = location.cache_root()
    foreign, loose = [], []
    for path in [root, *root.rglob("*")] if root.exists() else []:
        with suppress(FileNotFoundError):
            status = path.lstat()
            if stat.S_ISLNK(status.st_mode):
                continue
            if status.st_uid != os.geteuid():
                foreign.append(path)
            elif status.st_mode & _TO_OTHERS and path != root:
                loose.append(path)
    quoted = shlex.quote(str(root))
    if foreign:
        advice = f"run: sudo chown -R {os.geteuid()} {quoted}"
        return Finding("privacy", False, f"{_some(foreign)} of the cache belong to another user", advice)
    if loose:
        advice = f"run: chmod -R go= {quoted}"
        return Finding("privacy", True, f"other users may read {_some(loose)} of the cache", advice)
    return Finding("privacy", True, "what the cache holds is for you alone")


def indexes() -> Finding:
    """Look which indexes there are, which are in use and whose vault is gone."""
    from synapse_ls.vault import location  # noqa: PLC0415 - what is broken is found by importing it

    folders = location.index_folders()
    size = sum(map(location.size, folders))
    locked = set(_locked_inodes())
    used = 0
    gone = []
    for folder in folders:
        with suppress(OSError):
            used += (folder / location.LOCK_NAME).stat().st_ino in locked
        vault = location.vault_of(folder)
        if vault is not None and not vault.exists():
            gone.append(vault)
    detail = f"{len(folders)}, {size / _MIB:.1f} MiB"
    if used:
        detail += f", {used} kept by a running Synapse"
    if gone:
        commands = "; ".join(f"synapse-ls forget {shlex.quote(str(vault))}" for vault in gone)
        detail += f", {len(gone)} of a vault that is not there (any more): {', '.join(map(str, gone))}"
        return Finding("indexes", True, detail, f"unless it is only away for now, run: {commands}")
    return Finding("indexes", True, detail)


def logs() -> Finding:
    """Look how large the logs are."""
    from synapse_ls.vault import location  # noqa: PLC0415 - what is broken is found by importing it

    return Finding("logs", True, f"{location.size(location.log_folder()) / _MIB:.1f} MiB in {location.log_folder()}")


def temporary() -> Finding:
    """Look whether there is a folder for temporary files."""
    try:
        with tempfile.TemporaryFile():
            return Finding("temporary files", True, tempfile.gettempdir())
    except OSError as error:
        return Finding(
            "temporary files", False, error.strerror or str(error), "set TMPDIR to a folder you can write to"
        )


def _locked_inodes() -> Iterator[int]:
    """Yield the inodes of the files that some process holds locked; none where the system does not tell."""
    with suppress(OSError):
        for line in _LOCKS.read_text().splitlines():
            for word in line.split():
                device, _, inode = word.rpartition(":")
                if ":" in device and inode.isdigit():
                    yield int(inode)


def _some(paths: list[Path]) -> str:
    """Return a few paths and how many there are besides."""
    more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
    return ", ".join(map(str, paths[:_SHOWN])) + more
