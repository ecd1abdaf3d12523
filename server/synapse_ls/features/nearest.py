"""The names nearest to one that no note has."""

from collections.abc import Callable

from synapse_ls.core.model import SearchAnswer, SearchRequest
from synapse_ls.features.cursor import TOP
from synapse_ls.features.symbols import Symbol, workspace_symbols
from synapse_ls.links.names import key
from synapse_ls.search.snapshot import Snapshot
from synapse_ls.search.spelling import distance
from synapse_ls.store import links

_MIN_LENGTH = 4
_LONG = 8
# Dated notes in their thousands may start alike; a hover does not wait for the comparison with each.
_MAX_COMPARED = 10_000


def nearest(
    snapshot: Snapshot, name: str, search: Callable[[SearchRequest], SearchAnswer], limit: int = 3
) -> list[Symbol]:
    """Return what a misspelt name may have meant, each note once: names spelt alike, then symbols that it finds."""
    found: dict[str, Symbol] = {}
    for symbol in _spelt_alike(snapshot, name):
        found.setdefault(symbol.path, symbol)
    if len(found) < limit:
        for symbol in workspace_symbols(snapshot.db, name, search, buffers=snapshot.buffers):
            found.setdefault(symbol.path, symbol)
    return list(found.values())[:limit]


def _spelt_alike(snapshot: Snapshot, name: str) -> list[Symbol]:
    """Return names of notes with the same first letter and few letters typed otherwise, the nearest first.

    Another number is another name, not a slip.
    """
    wanted = key(name)
    if len(wanted) < _MIN_LENGTH:
        return []
    furthest = 1 if len(wanted) < _LONG else 2
    near: list[tuple[int, str, str, str]] = []
    rows = links.named_like(snapshot.db, wanted[0], len(wanted) - furthest, len(wanted) + furthest, _MAX_COMPARED)
    for other, row in rows:
        if _digits(other) == _digits(wanted) and (far := distance(wanted, other, furthest)) <= furthest:
            near.append((far, other, row.path, row.text.rpartition("/")[2] if row.kind == "path" else row.text))
    return [Symbol(text, "note", path, TOP, path) for _, _, path, text in sorted(near)]


def _digits(name: str) -> str:
    return "".join(filter(str.isdigit, name))
