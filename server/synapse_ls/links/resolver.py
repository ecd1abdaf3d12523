"""Which note or file a link means: the one rule for the index and for buffers.

A Markdown link is a path, seen from the linking note, then from the vault's root. A wiki link is a name: a note's
whole name or the end of its path, then an alias, then a title; exact case before any case, and of several the one in
the nearest folder. The vault's dialect says which part of a link is its target, and which other names count.
"""

import posixpath
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from synapse_ls.core.model import LinkKind
from synapse_ls.links import fragments
from synapse_ls.links.candidates import Candidates, Choice
from synapse_ls.links.dialects import DEFAULT, DIALECTS, Dialect
from synapse_ls.links.meaning import Ambiguous, AttachmentMeant, Certain, Meaning, Unresolved
from synapse_ls.links.names import composed, folded, key
from synapse_ls.links.readings import Reading, Written, readings
from synapse_ls.store import anchors, links, meta, notes
from synapse_ls.store.database import Connection
from synapse_ls.store.links import NameRow, Stored

# Gives where the note at a path is to be read, the index or a buffer in place of the file, and its id there.
Reader = Callable[[str], tuple[Connection, int] | None]

_STEPS = re.compile(r"^(?:\.{0,2}/+)+")
_DIALECT = "dialect"


def resolve(db: Connection, source_path: str, link: Written, read: Reader | None = None) -> Meaning:
    """Return what a link in the note at ``source_path``, indexed or not, means.

    Headings and blocks are looked for, and notes numbered, where ``read`` says, by default in the index.
    """
    read = read or _reader(db)
    dialect = spoken(db)
    tried = readings(link, dialect)
    found = _Pass(db, dialect, read).choice(source_path, link.kind, tried)
    if found is None:
        return Unresolved(tried[0].target)
    choice, reading = found
    chosen = _meant(choice.name, reading, read)
    if chosen is None:
        return Unresolved(reading.target)
    return Ambiguous(chosen, (choice.name.path, *choice.others)) if choice.ambiguous else chosen


def resolve_again(db: Connection, keys: Iterable[str], sources: Iterable[int]) -> int:
    """Resolve the links under ``keys`` and those of the notes ``sources``; returns how many were looked at."""
    dialect = spoken(db)
    second = dialect.label_first or dialect.either_order or dialect.ids
    return _record(db, dialect, links.to_resolve(db, keys, sources, second=second))


def speak(db: Connection, dialect: Dialect) -> int:
    """Resolve in a dialect from now on; returns how many links were looked at, which is none if it is the old one."""
    if meta.get(db, _DIALECT) == dialect.name:
        return 0
    meta.put(db, _DIALECT, dialect.name)
    return _record(db, dialect, links.every(db))


def spoken(db: Connection) -> Dialect:
    """Return the dialect in which links are resolved."""
    return DIALECTS.get(meta.get(db, _DIALECT) or "", DEFAULT)


def _record(db: Connection, dialect: Dialect, waiting: Iterable[links.OpenLink]) -> int:
    once = _Pass(db, dialect, _reader(db))
    changed: list[tuple[Stored, int]] = []
    looked_at = 0
    for link in waiting:
        looked_at += 1
        found = once.choice(link.source_path, link.kind, readings(link, dialect), link.source)
        stored = Stored() if found is None else _stored(found[0])
        if stored != link.stored:
            changed.append((stored, link.id))
    links.resolve(db, changed)
    anchors.refresh(db)
    return looked_at


def _stored(choice: Choice) -> Stored:
    name = choice.name
    return Stored(name.note, name.path if name.note is None else None, choice.ambiguous)


def _reader(db: Connection) -> Reader:
    def read(path: str) -> tuple[Connection, int] | None:
        note = notes.by_path(db, path)
        return None if note is None else (db, note.id)

    return read


def _meant(name: NameRow, reading: Reading, read: Reader) -> Certain | None:
    if name.note is None:
        return AttachmentMeant(name.path, name.size)
    held = read(name.path)
    return None if held is None else fragments.place(*held, name.path, reading.fragment)


@dataclass(frozen=True, slots=True)
class _Seen:
    """All that decides what a reading of a link means; links that agree in it mean the same."""

    folder: str
    as_path: bool
    target: str
    kinds: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _From:
    """Where a link stands and how it is written; ``note`` is None if that is not known to be in the index."""

    path: str
    note: int | None
    kind: str


class _Pass:
    """One pass over links: what was looked up is kept until it ends."""

    def __init__(self, db: Connection, dialect: Dialect, read: Reader) -> None:
        self._db = db
        self._read = read
        self._dialect = dialect
        self._named: dict[str, Candidates] = {}
        self._chosen: dict[_Seen, Choice | None] = {}
        self._defined: dict[int, dict[str, str]] = {}

    def choice(
        self, source_path: str, kind: str, tried: Iterable[Reading], source: int | None = None
    ) -> tuple[Choice, Reading] | None:
        """Return the first reading that means something, and what it means; ``source`` is the note if indexed."""
        kinds = self._dialect.kinds
        for reading in tried:
            chosen = self._reading(_From(source_path, source, kind), reading.target, kinds)
            kinds = self._dialect.second_kinds
            if chosen is not None:
                return chosen, reading
        return None

    def _reading(self, place: _From, target: str, kinds: tuple[str, ...]) -> Choice | None:
        if not target:
            note = self._note(place)
            return None if note is None else Choice(NameRow("path", place.path, note, place.path))
        target = composed(target.strip())
        folder = posixpath.dirname(place.path)
        as_path = _is_path(place.kind, target)
        if place.kind == LinkKind.WIKI and not as_path and self._dialect.definitions:
            path = self._definition(place, target)
            defined = None if path is None else self._known(_Seen(folder, True, path, kinds))
            if defined is not None:
                return defined
        return self._known(_Seen(folder, as_path, target, kinds))

    def _note(self, place: _From) -> int | None:
        if place.note is not None:
            return place.note
        held = self._read(place.path)
        return None if held is None else held[1]

    def _known(self, seen: _Seen) -> Choice | None:
        if seen not in self._chosen:
            self._chosen[seen] = self._choose(seen)
        return self._chosen[seen]

    def _choose(self, seen: _Seen) -> Choice | None:
        look_up = key(seen.target)
        if not look_up:
            return None
        candidates = self._named.get(look_up)
        if candidates is None:
            candidates = self._named[look_up] = Candidates(links.named(self._db, look_up))
        target = seen.target
        if seen.as_path:
            found = candidates.at(_paths(seen.folder, target))
            if found is not None:
                return found
            target = _STEPS.sub("", target, count=1)
        return candidates.called(target.rstrip("/"), seen.folder, seen.kinds, root_first=self._dialect.root_first)

    def _definition(self, place: _From, target: str) -> str | None:
        """Return the path that a reference definition of the linking note gives to a name, if it fits the name."""
        note = place.note
        if note is None:
            indexed = notes.by_path(self._db, place.path)
            if indexed is None:
                return None
            note = indexed.id
        if note not in self._defined:
            found = links.definitions(self._db, note)
            self._defined[note] = {folded(label): path for label, path in found.items()}
        path = self._defined[note].get(folded(target))
        # Only then is the link looked at again when the note that is meant appears or goes.
        return path if path is not None and key(path) == key(target) else None


def _is_path(kind: str, target: str) -> bool:
    """Return whether a target is a path before it is a name; an embedded image may be written as either."""
    if kind in (LinkKind.MARKDOWN, LinkKind.REFERENCE) or target.startswith(("./", "../", "/")):
        return True
    return kind == LinkKind.EMBED and "/" in target


def _paths(folder: str, target: str) -> list[str]:
    """Return the paths from the root that a target written as a path may mean."""
    if target.startswith("/"):
        return [target.lstrip("/")]
    seen_from_here = posixpath.normpath(posixpath.join(folder, target))
    seen_from_root = posixpath.normpath(target)
    return [path for path in (seen_from_here, seen_from_root) if path != ".." and not path.startswith("../")]
