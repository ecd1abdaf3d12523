"""Folders that are away, not gone: a folder that is not mounted looks like one whose notes were all deleted.

An index remembers as what it last saw its vault: which folder it was, and which folders in it were mounted. A folder
that was mounted and now shows nothing, or nothing that is known, is away; so is a vault that became another folder, and
an empty one. What the index holds of them is kept.
"""

import json
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from synapse_ls.indexer.walk import Identity, Scan, bare

AWAY = "the folder is not mounted; its notes are kept as they were"


@dataclass(frozen=True, slots=True)
class Places:
    """Which folder the vault was, and which the mounted folders in it, by relative path."""

    root: Identity
    mounts: Mapping[str, Identity] = field(default_factory=dict)


def away(remembered: Places | None, scan: Scan, known: Collection[str]) -> frozenset[str]:
    """Return the folders at, above and below the one walked that are away, "" for the whole vault.

    ``known`` are the paths of all files, notes and others, that the index holds at and below the one walked.
    """
    if remembered is None:
        return frozenset()
    if known and scan.bare and scan.root != remembered.root:
        return frozenset(("",))
    seen = {file.path for file in (*scan.notes, *scan.attachments)}
    moved = {identity for folder, identity in scan.mounts.items() if folder not in remembered.mounts}
    return frozenset(
        folder
        for folder, identity in remembered.mounts.items()
        if (_inside(folder, scan.under) or _inside(scan.under, folder))
        and folder not in scan.mounts
        and identity not in moved
        # Excluded, replaced by a link, or named as unreadable.
        and not any(_inside(folder, other) for other in (*scan.left_out, *scan.unreadable))
        and _lost(folder, known, seen)
    )


def away_now(root: Path, remembered: Places | None) -> frozenset[str]:
    """Return the remembered folders that are not mounted now, "" for the whole vault, without a walk.

    For single files that are told to be gone: those below such a folder are kept. A vault that is not there at all is
    away. Raises OSError if it cannot be looked at.
    """
    try:
        status = root.stat()
    except (FileNotFoundError, NotADirectoryError):
        return frozenset(("",))
    if remembered is None:
        return frozenset()
    if (status.st_dev, status.st_ino) != remembered.root and bare(root):
        return frozenset(("",))
    return frozenset(folder for folder in remembered.mounts if not _is_mounted(root, folder))


def remember(remembered: Places | None, scan: Scan, away: Collection[str]) -> Places:
    """Return what to remember after a walk: what it saw, what lies elsewhere, and what is away."""
    before = {} if remembered is None else remembered.mounts
    kept = {
        folder: identity
        for folder, identity in before.items()
        if folder in away or not _inside(folder, scan.under) or any(_inside(folder, other) for other in scan.unreadable)
    }
    return Places(scan.root, dict(sorted({**kept, **scan.mounts}.items())))


def sentence(root: Path) -> str:
    """Return what to tell of a vault that is away."""
    if not root.is_dir():
        return f"the vault {root} is not there; its index is kept"
    return (
        f"the vault {root} is empty and not the folder that it was, as when it is not mounted; its index is kept. "
        f"Mount it, or run `synapse-ls forget {root}` if its notes are really gone"
    )


def to_text(places: Places) -> str:
    """Return places as JSON."""
    return json.dumps({"root": places.root, "mounts": dict(places.mounts)})


def from_text(text: str | None) -> Places | None:
    """Return places from JSON; None if there are none or the text is none of ours."""
    try:
        read = json.loads(text or "")
        return Places(_identity(read["root"]), {str(folder): _identity(at) for folder, at in read["mounts"].items()})
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def _lost(folder: str, known: Collection[str], seen: Collection[str]) -> bool:
    """Return whether a folder holds nothing of what is known of it; if it does, it was copied to where it was."""
    below = [path for path in known if _inside(path, folder)]
    return bool(below) and not any(path in seen for path in below)


def _identity(read: list[int]) -> Identity:
    device, number = read
    return int(device), int(number)


def _inside(path: str, folder: str) -> bool:
    """Return whether a path is a folder or lies in it."""
    return not folder or path == folder or path.startswith(f"{folder}/")


def _is_mounted(root: Path, folder: str) -> bool:
    """Return whether a folder is on another device than the one that it lies in; a fault is no sign that it is not."""
    try:
        place = root / folder
        return os.stat(place).st_dev != os.stat(place.parent).st_dev  # noqa: PTH116 - both follow nothing: no links here
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
