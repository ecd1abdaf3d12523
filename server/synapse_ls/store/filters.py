"""Which notes a search may look at."""

import json
import math
from collections.abc import Iterator

from synapse_ls.core.model import SearchFilter
from synapse_ls.core.terms import fold
from synapse_ls.store.database import Connection

_TAGGED = "SELECT note FROM tags WHERE folded = ?1 OR (folded >= ?1 || '/' AND folded < ?1 || '0')"
_CALLED = "SELECT note FROM symbols WHERE kind IN ('note', 'alias') AND instr(folded, ?1)"


def notes(db: Connection, wanted: SearchFilter) -> list[int] | None:
    """Return the ids of the notes that a filter leaves, ascending, or None if it leaves all.

    A filter may have any number of conditions of any text.
    """
    if wanted == SearchFilter():
        return None
    left = _placed(db, wanted)
    for sql, texts in (
        (_TAGGED, [tag.lstrip("#").rstrip("/") for tag in wanted.tags]),
        (_CALLED, wanted.titles),
    ):
        for text in dict.fromkeys(map(_folded, texts)):
            if not left:
                return []
            left &= {note for (note,) in db.execute(sql, (text,))}
    if wanted.properties and left:
        properties = {(key, _folded(value)) for key, value in wanted.properties}
        rows = db.execute("SELECT id, properties FROM notes")
        left = {note for note, table in rows if note in left and properties <= _held(table)}
    return sorted(left)


def _placed(db: Connection, wanted: SearchFilter) -> set[int]:
    """Return the notes that lie where they should and are new enough."""
    folders = {folder.strip("/") for folder in wanted.folders}
    excluded = {folder.strip("/") for folder in wanted.exclude_folders}
    since = -math.inf if wanted.modified_after is None else wanted.modified_after * 1e9
    rows = db.execute("SELECT id, path FROM notes WHERE mtime_ns > ?", (since,))
    if not folders and not excluded:
        return {note for note, _ in rows}
    return {
        note
        for note, path in rows
        if (not folders or not folders.isdisjoint(_above(path))) and (not excluded or excluded.isdisjoint(_above(path)))
    }


def _above(path: str) -> Iterator[str]:
    """Yield the folders a path lies in, the vault itself, ``""``, first."""
    yield ""
    end = path.find("/")
    while end >= 0:
        yield path[:end]
        end = path.find("/", end + 1)


def _held(properties: str) -> set[tuple[str, str]]:
    """Return every property of a note with its folded value, once for each value of a list."""
    return {
        (key, _folded(str(item)))
        for key, found in json.loads(properties).items()
        for item in (found if isinstance(found, list) else [found])
        if item is not None
    }


def _folded(text: str) -> str:
    # Half a surrogate pair, which a client can send, has no form in the index and fits nothing there.
    return fold(text.encode("utf-8", "surrogatepass").decode("utf-8", "replace"))
