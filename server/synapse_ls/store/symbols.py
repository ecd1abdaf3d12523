"""The names a workspace symbol query looks through: notes, aliases, headings, tags."""

from dataclasses import dataclass

from synapse_ls.core.text import Range
from synapse_ls.store.database import Connection
from synapse_ls.store.notes import range_of

_PLACE = "h.start_line, h.start_utf32, h.start_utf16, h.start_utf8, h.end_line, h.end_utf32, h.end_utf16, h.end_utf8"


@dataclass(frozen=True, slots=True)
class SymbolRow:
    """A name with its note; ``range`` is set for headings. ``kind`` is note, alias, heading or tag."""

    kind: str
    name: str
    folded: str
    note: int
    path: str
    title: str
    heading: int | None
    range: Range | None


def matching(db: Connection, pattern: str, limit: int) -> list[SymbolRow]:
    """Return the symbols whose folded name matches a GLOB pattern, shortest name first, then by name, path, place."""
    rows = db.execute(
        f"SELECT s.kind, s.name, s.folded, s.note, n.path, n.title, s.heading, {_PLACE} FROM symbols s "
        "JOIN notes n ON n.id = s.note LEFT JOIN headings h ON h.note = s.note AND h.ordinal = s.heading "
        "WHERE s.folded GLOB ? ORDER BY length(s.folded), s.folded, n.path, s.heading LIMIT ?",
        (pattern, limit),
    )
    return [
        SymbolRow(r[0], r[1], r[2], r[3], r[4], r[5], r[6], None if r[7] is None else range_of(r[7:])) for r in rows
    ]


def called(db: Connection, folded: str, key: str) -> list[int]:
    """Return the notes whose folded title or alias, or the look-up key of whose file's name, is this, by path."""
    rows = db.execute(
        "SELECT id FROM notes WHERE id IN (SELECT note FROM symbols WHERE folded = ?1 AND kind IN ('note', 'alias') "
        "UNION SELECT note FROM names WHERE key = ?2 AND kind = 'path') ORDER BY path",
        (folded, key),
    )
    return [note for (note,) in rows]
