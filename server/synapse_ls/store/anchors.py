"""Anchor text: how other notes call a note when they link to it, as one more text to find it by."""

from collections.abc import Collection, Sequence

from synapse_ls.core.terms import fold, index_terms
from synapse_ls.store import terms
from synapse_ls.store.database import Connection

_OWN_NAMES = "SELECT folded FROM symbols WHERE note = ? AND kind != 'tag'"
_MOST_LABELS, _MOST_CHARACTERS = 100, 2000


def refresh(db: Connection) -> None:
    """Write the labels of the notes whose links, or whose own names, have changed since the last time.

    A label counts once for each note that uses it, the most used first; what a note calls itself is left out, for it
    says nothing new.
    """
    for (note,) in db.execute("DELETE FROM anchors_due RETURNING note").fetchall():
        db.execute("DELETE FROM anchors WHERE rowid = ?", (note,))
        own = {str(name) for (name,) in db.execute(_OWN_NAMES, (note,))}
        rows = db.execute(
            "SELECT label, count(DISTINCT source) FROM links WHERE resolved = ?1 AND source != ?1 "
            "AND label IS NOT NULL AND kind != 'reference' GROUP BY label ORDER BY 2 DESC, 1 LIMIT ?2",
            (note, _MOST_LABELS),
        ).fetchall()
        labels = [label for label in (str(label) for label, _ in rows) if fold(label) not in own]
        if labels:
            words = terms.beginning(" ".join(index_terms("\n".join(labels))), _MOST_CHARACTERS)
            db.execute("INSERT INTO anchors(rowid, labels) VALUES(?, ?)", (note, words))


def search(
    db: Connection, match: str, limit: int, notes: Sequence[int] | None = None, without: Collection[int] = ()
) -> list[tuple[int, float]]:
    """Return (note, BM25 score; higher is better) of the notes whose labels match, best first, ties by path.

    ``notes``, if given, are the only ones looked at, ``without`` are left out.
    """
    within = "" if notes is None else f"AND n.id IN ({','.join(map(str, notes))})"
    if without:
        within += f" AND n.id NOT IN ({','.join(map(str, without))})"
    rows = db.execute(
        "SELECT n.id, -bm25(anchors) AS score FROM anchors JOIN notes n ON n.id = anchors.rowid "
        f"WHERE anchors MATCH ? {within} ORDER BY score DESC, n.path LIMIT ?",
        (match, limit),
    )
    return [(note, score) for note, score in rows]


def holding(db: Connection, match: str, notes: Sequence[int]) -> list[int]:
    """Return those of the given notes whose labels match an FTS5 expression."""
    within = ",".join(map(str, notes))
    rows = db.execute(f"SELECT rowid FROM anchors WHERE anchors MATCH ? AND +rowid IN ({within})", (match,))
    return [note for (note,) in rows]
