"""Finding the files of a vault: its notes, what else lies there to be linked, and which folders to watch."""

import os
import re
import stat
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pathspec import GitIgnoreSpec

from synapse_ls.core.config import IndexSettings

IGNORE_FILES = (".gitignore", ".ignore")
_NEVER = frozenset({"node_modules"})
_MAX_RULES_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Found:
    """A file; ``path`` is relative to the vault, with ``/``."""

    path: str
    size: int
    mtime_ns: int


@dataclass(slots=True)
class Scan:
    """What a walk saw, in order.

    Notes, attachments (all other files), folders entered (relative, "" is the root), and what could not be read.
    """

    notes: list[Found] = field(default_factory=list)
    attachments: list[Found] = field(default_factory=list)
    folders: list[str] = field(default_factory=list)
    unreadable: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Rules:
    """The ignore rules that hold in a folder: (folder, rules) from the root down, under what the user excluded."""

    excluded: GitIgnoreSpec
    specs: tuple[tuple[str, GitIgnoreSpec], ...] = ()

    def ignores(self, path: str, *, folder: bool) -> bool:
        """Return whether the user's own setting or else the last rule that speaks of a path leaves it out."""
        if self.excluded.match_file(path + "/" if folder else path):
            return True
        verdict = False
        for base, spec in self.specs:
            relative = path[len(base) + 1 :] if base else path
            found = spec.check_file(relative + "/" if folder else relative).include
            if found is not None:
                verdict = found
        return verdict


def walk(root: Path, settings: IndexSettings, under: str = "", cancelled: Callable[[], bool] = lambda: False) -> Scan:
    """Walk the folder ``under`` (relative, "" is all of the vault) and return what belongs to the vault.

    Symbolic links are not followed: what they point to inside the vault is met at its own place, and what lies
    outside does not belong to it. Raises OSError if the root cannot be listed.
    """
    scan = Scan()
    rules = _root_rules(settings)
    if under:
        # The rules of the folders above hold below them; a folder inside an ignored one is ignored.
        parts = under.split("/")
        for depth in range(len(parts)):
            here = "/".join(parts[:depth])
            rules = _with_rules_of(root, here, rules)
            child = "/".join(parts[: depth + 1])
            if _hidden(parts[depth]) or rules.ignores(child, folder=True) or (root / child).is_symlink():
                return scan
    suffixes = tuple(suffix.lower() for suffix in settings.extensions)
    stack = [(under, rules)]
    while stack and not cancelled():
        folder, above = stack.pop()
        try:
            entries = sorted(os.scandir(root / folder), key=lambda entry: entry.name)
        except OSError as error:
            if not folder:
                raise
            scan.unreadable[folder] = f"folder cannot be read ({error.strerror or error})"
            continue
        rules = _with_rules_of(root, folder, above) if any(e.name in IGNORE_FILES for e in entries) else above
        scan.folders.append(folder)
        below: list[tuple[str, _Rules]] = []
        for entry, path in _belonging(entries, folder, rules, scan):
            if entry.is_dir(follow_symlinks=False):
                below.append((path, rules))
            elif entry.name.lower().endswith(suffixes):
                _add_note(entry, path, scan)
            else:
                _add_attachment(entry, path, scan)
        stack.extend(reversed(below))
    return scan


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
        rules = _with_rules_of(root, "/".join(parts[:depth]), rules)
        here = "/".join(parts[: depth + 1])
        if _hidden(parts[depth]) or rules.ignores(here, folder=depth < len(parts) - 1) or (root / here).is_symlink():
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
) -> Iterator[tuple["os.DirEntry[str]", str]]:
    for entry in entries:
        path = f"{folder}/{entry.name}" if folder else entry.name
        if _hidden(entry.name) or entry.is_symlink():
            continue
        if not possible(path):
            shown = path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
            scan.unreadable[shown] = "the name is not valid UTF-8; rename it to have it indexed"
        elif not rules.ignores(path, folder=entry.is_dir(follow_symlinks=False)):
            yield entry, path


def _add_note(entry: "os.DirEntry[str]", path: str, scan: Scan) -> None:
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError as error:
        scan.unreadable[path] = f"cannot be read ({error.strerror or error})"
        return
    if stat.S_ISREG(status.st_mode):
        scan.notes.append(Found(path, status.st_size, status.st_mtime_ns))


def _add_attachment(entry: "os.DirEntry[str]", path: str, scan: Scan) -> None:
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:
        return  # nothing of it would be read; it is gone, or a link to it leads nowhere
    if stat.S_ISREG(status.st_mode):
        scan.attachments.append(Found(path, status.st_size, status.st_mtime_ns))


def _root_rules(settings: IndexSettings) -> _Rules:
    return _Rules(_spec(settings.exclude))


def _with_rules_of(root: Path, folder: str, rules: _Rules) -> _Rules:
    lines: list[str] = []
    for name in IGNORE_FILES:
        file = root / folder / name
        try:
            if file.is_file():  # a pipe or a device would be waited for
                with file.open("rb") as opened:
                    lines += opened.read(_MAX_RULES_BYTES).decode("utf-8", "replace").splitlines()
        except (OSError, ValueError):
            continue
    return _Rules(rules.excluded, (*rules.specs, (folder, _spec(lines)))) if lines else rules


def _spec(lines: Sequence[str]) -> GitIgnoreSpec:
    """Return rules; a line that is no rule, such as a lone ``!``, says nothing and spoils nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # about sets such as [[a], which mean what git means by them
        try:
            return GitIgnoreSpec.from_lines(lines)
        except (ValueError, re.error):
            return GitIgnoreSpec.from_lines(line for line in lines if _is_rule(line))


def _is_rule(line: str) -> bool:
    try:
        GitIgnoreSpec.from_lines([line])
    except (ValueError, re.error):
        return False
    return True


def _hidden(name: str) -> bool:
    return name.startswith(".") or name in _NEVER
