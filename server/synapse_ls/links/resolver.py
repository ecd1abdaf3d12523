"""Which note a link means.

A Markdown link is a path, seen from the linking note, then from the vault's root. A wiki link is a name: a note's
whole name or the end of its path, then an alias, then a title; exact case before any case, and of several the one in
the nearest folder.
"""

import posixpath
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from synapse_ls.core.model import LinkKind
from synapse_ls.links.names import folded, key, without_ending
from synapse_ls.store import links
from synapse_ls.store.database import Connection
from synapse_ls.store.links import NameRow

_TIERS = ("path", "alias", "title")
_STEPS = re.compile(r"^(?:\.{0,2}/+)+")


@dataclass(frozen=True, slots=True)
class Target:
    """A note that a link means; ``others`` are the paths it could as well have meant (ambiguous if not empty)."""

    note: int
    path: str
    others: tuple[str, ...] = ()


def resolve(db: Connection, source_path: str, kind: str, target: str) -> Target | None:
    """Return what a link in the note at ``source_path`` means, or None if no note is meant."""
    return _choose(source_path, kind, target, links.named(db, key(target)))


def resolve_again(db: Connection, keys: Iterable[str], sources: Iterable[int]) -> int:
    """Resolve the links under ``keys`` and those of the notes ``sources``; returns how many were looked at."""
    waiting = links.to_resolve(db, keys, sources)
    named: dict[str, list[NameRow]] = {}
    meanings: list[tuple[int | None, int]] = []
    for link in waiting:
        if link.key not in named:
            named[link.key] = links.named(db, link.key)
        chosen = _choose(link.source_path, link.kind, link.target, named[link.key])
        meanings.append((None if chosen is None else chosen.note, link.id))
    links.resolve(db, meanings)
    return len(waiting)


def _choose(source_path: str, kind: str, target: str, candidates: Sequence[NameRow]) -> Target | None:
    target = unicodedata.normalize("NFC", target.strip())
    folder = posixpath.dirname(source_path)
    if kind in (LinkKind.MARKDOWN, LinkKind.REFERENCE) or target.startswith(("./", "../", "/")):
        wanted = _paths(folder, target)
        for same in (_composed, folded):
            for path in wanted:
                for candidate in candidates:
                    if candidate.kind == "path" and same(candidate.text) == same(path):
                        return Target(candidate.note, candidate.path)
        target = _STEPS.sub("", target, count=1)
    name = without_ending(target.rstrip("/"))
    ranked = sorted(
        (rank, candidate.path, candidate.note)
        for candidate in candidates
        if (rank := _rank(name, folder, candidate)) is not None
    )
    if not ranked:
        return None
    (best, path, note) = ranked[0]
    others = {other for rank, other, _ in ranked[1:] if rank[:2] == best[:2] and other != path}
    return Target(note, path, tuple(sorted(others)))


def _paths(folder: str, target: str) -> list[str]:
    """Return the paths from the root, without ending, that a target written as a path may mean."""
    if target.startswith("/"):
        return [without_ending(target.lstrip("/"))]
    seen_from_here = posixpath.normpath(posixpath.join(folder, target))
    seen_from_root = posixpath.normpath(target)
    return [
        without_ending(path) for path in (seen_from_here, seen_from_root) if path != ".." and not path.startswith("../")
    ]


def _rank(name: str, folder: str, candidate: NameRow) -> tuple[int, int, int, int] | None:
    """Return how well a candidate fits, smaller is better: kind of name, case, distance of folders, depth."""
    tier = _TIERS.index(candidate.kind)
    text = candidate.text if candidate.kind == "path" else without_ending(candidate.text)
    for case, same in enumerate((_composed, folded)):
        wanted, found = same(name), same(text)
        if found == wanted or (candidate.kind == "path" and found.endswith("/" + wanted)):
            return tier, case, _distance(folder, posixpath.dirname(candidate.path)), candidate.path.count("/")
    return None


def _composed(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _distance(one: str, other: str) -> int:
    """Return the number of steps between two folders."""
    a, b = PurePosixPath(one).parts, PurePosixPath(other).parts
    shared = 0
    for x, y in zip(a, b, strict=False):
        if x != y:
            break
        shared += 1
    return len(a) + len(b) - 2 * shared
