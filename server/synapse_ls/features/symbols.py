"""Workspace symbols: names that match, best first, then notes that a search finds."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Literal

from synapse_ls.core.model import SearchAnswer, SearchRequest
from synapse_ls.core.terms import fold
from synapse_ls.core.text import Position, Range
from synapse_ls.search.snapshot import Snapshot
from synapse_ls.store import notes
from synapse_ls.store.database import Connection
from synapse_ls.store.symbols import SymbolRow

MAX_SYMBOLS = 200
_RECENT = 50
_FOUND_BY_SEARCH = 20
# Names are shorter; SQLite refuses patterns that are much longer.
_MAX_QUERY = 200
_TOP = Position(0, 0, 0, 0)

Kind = Literal["note", "alias", "heading", "tag"]


@dataclass(frozen=True, slots=True)
class Symbol:
    """A named place: ``container`` is the path and heading path it lies in."""

    name: str
    kind: Kind
    path: str
    range: Range
    container: str


def workspace_symbols(
    db: Connection,
    query: str,
    search: Callable[[SearchRequest], SearchAnswer],
    limit: int = MAX_SYMBOLS,
    buffers: Connection | None = None,
) -> list[Symbol]:
    """Return symbols for a query: exact names before prefixes before words before fuzzy matches, then search hits.

    Names of one class come shortest first, notes before aliases, headings and tags. An empty query gives the notes
    changed last. Open ``buffers`` stand in place of their files.
    """
    # Half a surrogate pair, which a client can send, has no form in the index.
    wanted = fold(query.strip().encode("utf-8", "replace").decode())[:_MAX_QUERY]
    if not wanted:
        return [_of_note(note.title, note.path) for note in notes.recent(db, _RECENT)]
    found: dict[tuple[str, str, str, int | None], Symbol] = {}
    for held, row in _matching(Snapshot(db, buffers), wanted, limit):
        found.setdefault((row.kind, row.folded, row.path, row.heading), _symbol(held, row))
        if len(found) >= limit:
            return list(found.values())
    listed = {symbol.path for symbol in found.values() if symbol.kind == "note"}
    answer = search(SearchRequest(query, limit=_FOUND_BY_SEARCH))
    for hit in answer.hits:
        if hit.path not in listed:
            note = _of_note(hit.title, hit.path)
            found[("hit", "", hit.path, None)] = replace(
                note, range=hit.range, container=_container(hit.path, hit.heading_path)
            )
    return list(found.values())[:limit]


_KIND_ORDER = {"note": 0, "alias": 1, "heading": 2, "tag": 3}


def _matching(snapshot: Snapshot, wanted: str, limit: int) -> Iterable[tuple[Connection, SymbolRow]]:
    """Yield rows, each with where it is from, class by class; later classes repeat earlier rows."""
    escaped = ["".join(f"[{c}]" if c in "*?[" else c for c in part) for part in (wanted, *wanted)]
    name, letters = escaped[0], escaped[1:]
    tag = name.removeprefix("#")
    for pattern in (name, f"{name}*", f"*[ /_.:-]{name}*", f"*{name}*", "*" + "*".join(letters) + "*"):
        rows = list(snapshot.symbols(pattern, limit))
        if tag != name:
            plain = pattern.replace(name, tag)
            rows += [(held, row) for held, row in snapshot.symbols(plain, limit) if row.kind == "tag"]
        yield from sorted(rows, key=lambda pair: _KIND_ORDER[pair[1].kind])


def _symbol(db: Connection, row: SymbolRow) -> Symbol:
    match row.kind:
        case "heading":
            path = _heading_path(db, row)
            return Symbol(row.name, "heading", row.path, row.range or Range(_TOP, _TOP), _container(row.path, path))
        case "alias":
            return Symbol(row.name, "alias", row.path, Range(_TOP, _TOP), f"{row.path} ({row.title})")
        case "tag":
            return Symbol(f"#{row.name}", "tag", row.path, Range(_TOP, _TOP), row.path)
        case _:
            return _of_note(row.name, row.path)


def _heading_path(db: Connection, row: SymbolRow) -> tuple[str, ...]:
    """Return the texts of the headings above a heading."""
    above: list[str] = []
    level = None
    for heading in reversed(notes.headings(db, row.note)[: (row.heading or 0) + 1]):
        if level is not None and heading.level < level:
            above.append(heading.text)
        if level is None or heading.level < level:
            level = heading.level
    return tuple(reversed(above))


def _of_note(title: str, path: str) -> Symbol:
    return Symbol(title, "note", path, Range(_TOP, _TOP), path)


def _container(path: str, headings: Iterable[str]) -> str:
    return " > ".join((path, *headings))
