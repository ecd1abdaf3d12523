"""Finding the files of a vault: its notes, what else lies there to be linked, and which folders to watch."""

import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from synapse_ls.core.config import IndexSettings
from synapse_ls.indexer import ignore_rules
from synapse_ls.indexer.faults import passes

IGNORE_FILES = (".gitignore", ".ignore")
_NEVER = frozenset({"node_modules"})
_MAX_RULES_BYTES = 1 << 20

# Which folder it is, whatever it is called: its device and number.
Identity = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Found:
    """A file; ``path`` is relative to the vault, with ``/``."""

    path: str
    size: int
    mtime_ns: int


@dataclass(slots=True)
class Scan:
    """What a walk of the folder ``under`` saw, in order.

    Notes, attachments (all other files), folders entered (relative, "" is the root), and what could not be read. Which
    folder the vault is and whether nothing at all lies in it; which folders, those above ``under`` among them, are on
    another device than the one they lie in; which folders and links are left out.
    """

    under: str = ""
    root: Identity = (0, 0)
    bare: bool = False
    mounts: dict[str, Identity] = field(default_factory=dict)
    left_out: set[str] = field(default_factory=set)
    notes: list[Found] = field(default_factory=list)
    attachments: list[Found] = field(default_factory=list)
    folders: list[str] = field(default_factory=list)
    unreadable: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Rules:
    """The ignore rules that hold in a folder: (folder, rules) from the root down, under what the user excluded."""

    excluded: tuple[ignore_rules.Rule, ...]
    files: tuple[tuple[str, tuple[ignore_rules.Rule, ...]], ...] = ()

    def ignores(self, path: str, *, folder: bool) -> bool:
        """Return whether the user's own setting or else the last rule that speaks of a path leaves it out."""
        if ignore_rules.verdict(self.excluded, path, folder=folder):
            return True
        for base, rules in reversed(self.files):
            said = ignore_rules.verdict(rules, path[len(base) + 1 :] if base else path, folder=folder)
            if said is not None:
                return said
        return False


def walk(root: Path, settings: IndexSettings, under: str = "", cancelled: Callable[[], bool] = lambda: False) -> Scan:
    """Walk the folder ``under`` (relative, "" is all of the vault) and return what belongs to the vault.

    Symbolic links are not followed: what they point to inside the vault is met at its own place, and what lies
    outside does not belong to it. A folder that is gone holds nothing. Raises OSError if the root cannot be listed or
    the rules that hold for all cannot be read for now.
    """
    status = root.stat()
    scan = Scan(under, (status.st_dev, status.st_ino), bare(root))
    rules = _root_rules(settings)
    device = status.st_dev
    if under:
        # The rules of the folders above hold below them; a folder inside an ignored one is ignored.
        parts = under.split("/")
        for depth in range(len(parts)):
            here = "/".join(parts[:depth])
            rules = _with_rules_of(root, here, rules, Scan())
            child = "/".join(parts[: depth + 1])
            if _hidden(parts[depth]) or rules.ignores(child, folder=True) or _is_link(root / child):
                scan.left_out.add(child)
                return scan
            if child != under:
                device = _cross(root, child, device, scan)
    stack = [(under, rules, device)]
    while stack and not cancelled():
        folder, above, device = stack.pop()
        try:
            below = _enter(root, folder, above, device, settings, scan)
        except OSError as error:
            if not folder:
                raise
            if _is_there(root / folder, error):
                scan.unreadable[folder] = f"folder cannot be read ({error.strerror or error})"
            continue
        stack.extend(reversed(below))
    return scan


def bare(root: Path) -> bool:
    """Return whether nothing lies in a folder, not even what is hidden. Raises OSError if it cannot be listed."""
    with os.scandir(root) as entries:
        return next(entries, None) is None


def _enter(  # noqa: PLR0913, PLR0917 - where, by which rules, and what is filled
    root: Path, folder: str, above: _Rules, device: int, settings: IndexSettings, scan: Scan
) -> list[tuple[str, _Rules, int]]:
    """Add what lies in a folder, and return the folders in it with the rules above them and the folder's device."""
    place = root / folder
    with os.scandir(place) as listed:
        entries = sorted(listed, key=lambda entry: entry.name)
    inside = _cross(root, folder, device, scan)
    rules = _with_rules_of(root, folder, above, scan) if any(e.name in IGNORE_FILES for e in entries) else above
    scan.folders.append(folder)
    suffixes = tuple(suffix.lower() for suffix in settings.extensions)
    below: list[tuple[str, _Rules, int]] = []
    for entry, path, is_folder in _belonging(entries, folder, rules, scan):
        if is_folder:
            below.append((path, rules, inside))
        elif entry.name.lower().endswith(suffixes):
            _add_note(entry, path, scan)
        else:
            _add_attachment(entry, path, scan)
    return below


def _is_there(place: Path, error: OSError) -> bool:
    """Return whether what cannot be read is there nevertheless: gone since it was listed, it is no trouble."""
    match error:
        case FileNotFoundError():
            return os.path.lexists(place)  # the place of an automatic mount that fails
        case NotADirectoryError():
            return False
        case _:
            return True


def _cross(root: Path, folder: str, device: int, scan: Scan) -> int:
    """Return the device of a folder in one of ``device``; if it is another one, the folder is mounted."""
    try:
        status = (root / folder).stat()
    except (FileNotFoundError, NotADirectoryError):
        return device
    if status.st_dev != device:
        scan.mounts[folder] = (status.st_dev, status.st_ino)
    return status.st_dev


def belongs(root: Path, path: str, settings: IndexSettings) -> bool:
    """Return whether the file at ``path``, there or gone, would be a note of the vault."""
    return _is_note(path, settings) and _lies_in(root, path, settings)


def attachment(root: Path, path: str, settings: IndexSettings) -> Found | None:
    """Return the file at ``path`` if it is there, belongs to the vault and is no note."""
    if _is_note(path, settings) or not _lies_in(root, path, settings):
        return None
    try:
        status = (root / path).stat(follow_symlinks=False)
    except OSError:
        return None
    return Found(path, status.st_size, status.st_mtime_ns) if stat.S_ISREG(status.st_mode) else None


def _is_note(path: str, settings: IndexSettings) -> bool:
    return path.lower().endswith(tuple(suffix.lower() for suffix in settings.extensions))


def _lies_in(root: Path, path: str, settings: IndexSettings) -> bool:
    """Return whether no rule leaves a path out."""
    parts = path.split("/")
    if not possible(path) or not all(parts):
        return False
    rules = _root_rules(settings)
    for depth in range(len(parts)):
        rules = _with_rules_of(root, "/".join(parts[:depth]), rules, None)
        here = "/".join(parts[: depth + 1])
        if _hidden(parts[depth]) or rules.ignores(here, folder=depth < len(parts) - 1) or _is_link(root / here):
            return False
    return True


def possible(path: str) -> bool:
    """Return whether a path can be one of a note: file systems can hold bytes that are no text."""
    try:
        return b"\0" not in path.encode("utf-8")
    except UnicodeEncodeError:
        return False


def _belonging(
    entries: list["os.DirEntry[str]"], folder: str, rules: _Rules, scan: Scan
) -> Iterator[tuple["os.DirEntry[str]", str, bool]]:
    """Yield the entries of a folder that belong to the vault with their paths and whether they are folders."""
    for entry in entries:
        path = f"{folder}/{entry.name}" if folder else entry.name
        if _hidden(entry.name):
            continue
        try:
            is_link, is_folder = entry.is_symlink(), entry.is_dir(follow_symlinks=False)
        except OSError as error:  # a file system that does not tell along with the name
            _name_unreadable(path, error, scan)
            continue
        if not possible(path):
            shown = path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
            scan.unreadable[shown] = "the name is not valid UTF-8; rename it to have it indexed"
        elif is_link:
            scan.left_out.add(path)
        elif not rules.ignores(path, folder=is_folder):
            yield entry, path, is_folder
        elif is_folder:
            scan.left_out.add(path)


def _add_note(entry: "os.DirEntry[str]", path: str, scan: Scan) -> None:
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError as error:
        _name_unreadable(path, error, scan)
        return
    if stat.S_ISREG(status.st_mode):
        scan.notes.append(Found(path, status.st_size, status.st_mtime_ns))


def _name_unreadable(path: str, error: OSError, scan: Scan) -> None:
    if not isinstance(error, FileNotFoundError):  # gone since it was listed
        scan.unreadable[path] = f"cannot be read ({error.strerror or error})"


def _add_attachment(entry: "os.DirEntry[str]", path: str, scan: Scan) -> None:
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:
        return  # nothing of it would be read; it is gone, or a link to it leads nowhere
    if stat.S_ISREG(status.st_mode):
        scan.attachments.append(Found(path, status.st_size, status.st_mtime_ns))


def _root_rules(settings: IndexSettings) -> _Rules:
    return _Rules(ignore_rules.parse(settings.exclude)[0])


def _with_rules_of(root: Path, folder: str, rules: _Rules, scan: Scan | None) -> _Rules:
    """Return the rules with those of the ignore files in a folder; what cannot be followed is named in ``scan``.

    Raises OSError, if there is a ``scan``, for a fault that passes: nothing that is left out may slip in meanwhile.
    """
    read: list[ignore_rules.Rule] = []
    for name in IGNORE_FILES:
        problem: str | None = None
        try:
            file = root / folder / name
            if not file.is_file():  # a pipe or a device would be waited for
                continue
            with file.open("rb") as opened:
                text = opened.read(_MAX_RULES_BYTES).decode("utf-8-sig", "replace")
            more, problem = ignore_rules.parse(text.split("\n"))
            read += more
        except OSError as error:
            if scan is not None and passes(error):
                raise
            problem = f"cannot be read ({error.strerror or error}); its rules are not followed"
        if problem is not None and scan is not None:
            scan.unreadable[f"{folder}/{name}" if folder else name] = problem
    return replace(rules, files=(*rules.files, (folder, tuple(read)))) if read else rules


def _is_link(place: Path) -> bool:
    return os.path.islink(place)  # noqa: PTH114 - of what cannot be looked at it says no, and a path's own method raises


def _hidden(name: str) -> bool:
    return name.startswith(".") or name in _NEVER
