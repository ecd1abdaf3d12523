"""Writing and reading notes. A note is written as a difference.

Chunks that did not change keep their row, terms and vector.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from synapse_ls.core.terms import fold
from synapse_ls.core.text import Position, Range, Span
from synapse_ls.store import terms, vectors
from synapse_ls.store.database import Connection
from synapse_ls.store.records import ChunkRecord, FileStamp, HeadingRecord, NoteRecord

PLACE = "start_line, start_utf32, start_utf16, start_utf8, end_line, end_utf32, end_utf16, end_utf8"
_PLACE_SET = ", ".join(f"{column.strip()} = ?" for column in PLACE.split(","))
_PLACE_MARKS = "?, ?, ?, ?, ?, ?, ?, ?"


@dataclass(frozen=True, slots=True)
class Written:
    """What writing a note did; ``names`` are the look-up keys that now mean something else."""

    note: int
    names: frozenset[str]
    chunks_written: int
    chunks_kept: int


@dataclass(frozen=True, slots=True)
class NoteRow:
    """A note as listed."""

    id: int
    path: str
    title: str
    mtime_ns: int
    properties: str


def place(values: Range) -> tuple[int, ...]:
    """Return a range as the eight columns of ``PLACE``."""
    start, end = values.start, values.end
    return (start.line, start.utf32, start.utf16, start.utf8, end.line, end.utf32, end.utf16, end.utf8)


def range_of(columns: tuple[int, ...]) -> Range:
    """Return eight columns of ``PLACE`` as a range."""
    return Range(Position(*columns[:4]), Position(*columns[4:8]))


def put(db: Connection, record: NoteRecord) -> Written:
    """Write a note, new or changed, inside the caller's transaction."""
    row = db.execute("SELECT id FROM notes WHERE path = ?", (record.path,)).fetchone()
    fields = (
        record.title, record.size, record.mtime_ns, record.hash, record.properties, record.problem, record.path,
    )  # fmt: skip
    before: set[tuple[str, str, str]] = set()
    if row is None:
        db.execute(
            "INSERT INTO notes(title, size, mtime_ns, hash, properties, problem, path) VALUES(?, ?, ?, ?, ?, ?, ?)",
            fields,
        )
        note = db.last_insert_rowid()
    else:
        note = row[0]
        db.execute(
            "UPDATE notes SET title = ?, size = ?, mtime_ns = ?, hash = ?, properties = ?, problem = ? WHERE path = ?",
            fields,
        )
        before = set(db.execute("SELECT key, kind, text FROM names WHERE note = ?", (note,)))
        _clear_details(db, note)
    db.execute("DELETE FROM skipped WHERE path = ?", (record.path,))
    _put_details(db, note, record)
    written, kept = _put_chunks(db, note, record)
    after = {(name.key, name.kind, name.text) for name in record.names}
    changed = frozenset(key for key, _, _ in before ^ after)
    return Written(note, changed, written, kept)


def delete(db: Connection, path: str) -> frozenset[str]:
    """Remove a note, if it is there, and return the look-up keys that lost a meaning."""
    db.execute("DELETE FROM skipped WHERE path = ?", (path,))
    row = db.execute("SELECT id FROM notes WHERE path = ?", (path,)).fetchone()
    if row is None:
        return frozenset()
    note = row[0]
    keys = frozenset(key for (key,) in db.execute("SELECT key FROM names WHERE note = ?", (note,)))
    for chunk, vector in db.execute("SELECT id, vector FROM chunks WHERE note = ?", (note,)).fetchall():
        _drop_chunk(db, chunk, vector)
    _clear_details(db, note)
    db.execute("DELETE FROM notes WHERE id = ?", (note,))
    db.execute("UPDATE links SET resolved = NULL WHERE resolved = ?", (note,))
    return keys


def touch(db: Connection, path: str, stamp: FileStamp) -> None:
    """Record a new time of a file whose bytes did not change."""
    db.execute("UPDATE notes SET size = ?, mtime_ns = ? WHERE path = ?", (stamp.size, stamp.mtime_ns, path))


def skip(db: Connection, path: str, reason: str) -> None:
    """Record that a file cannot be read."""
    db.execute("INSERT OR REPLACE INTO skipped(path, reason) VALUES(?, ?)", (path, reason))


def no_longer_skipped(db: Connection, path: str) -> None:
    """Forget that a file could not be read."""
    db.execute("DELETE FROM skipped WHERE path = ?", (path,))


def replace_skipped(db: Connection, folder: str, reasons: Mapping[str, str]) -> None:
    """Record what cannot be read below a folder, in place of what was recorded there before."""
    db.execute("DELETE FROM skipped WHERE ?1 = '' OR path = ?1 OR (path >= ?1 || '/' AND path < ?1 || '0')", (folder,))
    db.executemany("INSERT OR REPLACE INTO skipped(path, reason) VALUES(?, ?)", list(reasons.items()))


def stamps(db: Connection, folder: str = "") -> dict[str, FileStamp]:
    """Return the stamp of every note below a folder by path, in the order of the paths."""
    rows = db.execute(
        "SELECT path, size, mtime_ns, hash FROM notes "
        "WHERE ?1 = '' OR (path >= ?1 || '/' AND path < ?1 || '0') ORDER BY path",
        (folder,),
    )
    return {path: FileStamp(size, mtime_ns, hash_) for path, size, mtime_ns, hash_ in rows}


def hashes(db: Connection) -> list[tuple[int, str, bytes]]:
    """Return (note, path, hash of the content) of every note, by path."""
    return list(db.execute("SELECT id, path, hash FROM notes ORDER BY path"))


def content(db: Connection, path: str) -> tuple[int, bytes] | None:
    """Return the note at a path with the hash of its content."""
    row = db.execute("SELECT id, hash FROM notes WHERE path = ?", (path,)).fetchone()
    return None if row is None else (int(row[0]), bytes(row[1]))


def forget_stamps(db: Connection) -> None:
    """Make every file look changed, so that the next walk reads it again."""
    db.execute("UPDATE notes SET hash = x'', mtime_ns = 0")


def stamp(db: Connection, path: str) -> FileStamp | None:
    """Return the stamp of the note at a path."""
    row = db.execute("SELECT size, mtime_ns, hash FROM notes WHERE path = ?", (path,)).fetchone()
    return None if row is None else FileStamp(*row)


def problems(db: Connection) -> list[tuple[str, str]]:
    """Return (path, reason) of notes that were skipped or read only in part, by path."""
    return list(
        db.execute(
            "SELECT path, reason FROM skipped "
            "UNION ALL SELECT path, problem FROM notes WHERE problem IS NOT NULL ORDER BY 1"
        )
    )


def counts(db: Connection) -> tuple[int, int]:
    """Return the numbers of notes and of chunks."""
    notes = int(db.execute("SELECT count(*) FROM notes").get)
    chunks = int(db.execute("SELECT count(*) FROM chunks").get)
    return notes, chunks


def by_path(db: Connection, path: str) -> NoteRow | None:
    """Return the note at a path."""
    row = db.execute("SELECT id, path, title, mtime_ns, properties FROM notes WHERE path = ?", (path,)).fetchone()
    return None if row is None else NoteRow(*row)


def by_ids(db: Connection, ids: list[int]) -> dict[int, NoteRow]:
    """Return notes by id; ids that are gone are left out."""
    marks = ",".join("?" * len(ids))
    rows = db.execute(f"SELECT id, path, title, mtime_ns, properties FROM notes WHERE id IN ({marks})", ids)
    return {row[0]: NoteRow(*row) for row in rows}


def recent(db: Connection, limit: int) -> list[NoteRow]:
    """Return the notes changed last, newest first, ties by path."""
    rows = db.execute(
        "SELECT id, path, title, mtime_ns, properties FROM notes ORDER BY mtime_ns DESC, path LIMIT ?", (limit,)
    )
    return [NoteRow(*row) for row in rows]


def headings(db: Connection, note: int) -> list[HeadingRecord]:
    """Return a note's headings in the order of the text."""
    rows = db.execute(
        f"SELECT level, text, slug, section_start, section_end, {PLACE} FROM headings WHERE note = ? ORDER BY ordinal",
        (note,),
    )
    return [HeadingRecord(r[0], r[1], r[2], range_of(r[5:]), Span(r[3], r[4])) for r in rows]


def blocks(db: Connection, note: int) -> dict[str, Range]:
    """Return the ranges of a note's blocks by id."""
    return {r[0]: range_of(r[1:]) for r in db.execute(f"SELECT id, {PLACE} FROM blocks WHERE note = ?", (note,))}


def _clear_details(db: Connection, note: int) -> None:
    for table in ("names", "symbols", "headings", "blocks", "tags"):
        db.execute(f"DELETE FROM {table} WHERE note = ?", (note,))
    db.execute("DELETE FROM links WHERE source = ?", (note,))


def _put_details(db: Connection, note: int, record: NoteRecord) -> None:
    db.executemany(
        "INSERT INTO names(key, kind, text, note) VALUES(?, ?, ?, ?)",
        [(name.key, name.kind, name.text, note) for name in record.names],
    )
    db.executemany(
        f"INSERT INTO headings(note, ordinal, level, text, slug, section_start, section_end, {PLACE}) "
        f"VALUES(?, ?, ?, ?, ?, ?, ?, {_PLACE_MARKS})",
        [
            (note, i, h.level, h.text, h.slug, h.section.start, h.section.end, *place(h.range))
            for i, h in enumerate(record.headings)
        ],
    )
    db.executemany(
        f"INSERT OR IGNORE INTO blocks(note, id, {PLACE}) VALUES(?, ?, {_PLACE_MARKS})",
        [(note, block, *place(where)) for block, where in record.blocks],
    )
    db.executemany(
        "INSERT INTO tags(note, name, folded) VALUES(?, ?, ?)", [(note, tag, fold(tag)) for tag in record.tags]
    )
    db.executemany(
        f"INSERT INTO links(source, kind, target, fragment, label, key, other_key, {PLACE}) "
        f"VALUES(?, ?, ?, ?, ?, ?, ?, {_PLACE_MARKS})",
        [(note, k.kind, k.target, k.fragment, k.label, k.key, k.other_key, *place(k.range)) for k in record.links],
    )
    symbols: list[tuple[str, str, int | None]] = [("note", record.title, None)]
    symbols += [("alias", alias, None) for alias in record.aliases]
    symbols += [("heading", heading.text, i) for i, heading in enumerate(record.headings)]
    symbols += [("tag", tag, None) for tag in record.tags]
    db.executemany(
        "INSERT INTO symbols(kind, name, folded, note, heading) VALUES(?, ?, ?, ?, ?)",
        [(kind, name, fold(name), note, heading) for kind, name, heading in symbols if name],
    )


def _put_chunks(db: Connection, note: int, record: NoteRecord) -> tuple[int, int]:
    """Write the chunks that changed, move those that did not; returns how many were written and kept."""
    old = db.execute(
        "SELECT id, key, input_key, text, vector FROM chunks WHERE note = ? ORDER BY ordinal", (note,)
    ).fetchall()
    by_keys: dict[tuple[bytes, bytes], list[int]] = defaultdict(list)
    by_text: dict[str, list[tuple[int, int | None]]] = defaultdict(list)
    for chunk_id, key, input_key, text, vector in reversed(old):
        by_keys[key, input_key].append(chunk_id)
        by_text[text].append((chunk_id, vector))
    # Ordinals are unique a note: the old rows step aside before the kept ones take their new places.
    if old:
        db.execute("UPDATE chunks SET ordinal = -1 - ordinal WHERE note = ?", (note,))
    used: set[int] = set()
    fresh: list[ChunkRecord] = []
    for chunk in record.chunks:
        same = by_keys.get((chunk.key, chunk.input_key))
        if not same:
            fresh.append(chunk)
            continue
        kept = same.pop()
        used.add(kept)
        db.execute(
            f"UPDATE chunks SET ordinal = ?, span_start = ?, span_end = ?, {_PLACE_SET} WHERE id = ?",
            (chunk.ordinal, chunk.span.start, chunk.span.end, *place(chunk.range), kept),
        )
    for chunk in fresh:
        # The same words under another title or heading: their old vector answers until the new one is made.
        vector = vectors.adopt(db, chunk.input_key)
        stale = False
        if vector is None:
            heir = next(((c, v) for c, v in by_text.get(chunk.text, ()) if c not in used and v is not None), None)
            if heir is not None:
                vector, stale = heir[1], True
        _insert_chunk(db, note, record, chunk, vector, stale=stale)
    for chunk_id, _, _, _, vector in old:
        if chunk_id not in used:
            _drop_chunk(db, chunk_id, vector)
    return len(fresh), len(used)


def _insert_chunk(  # noqa: PLR0913 - a row is what it is
    db: Connection, note: int, record: NoteRecord, chunk: ChunkRecord, vector: int | None, *, stale: bool
) -> None:
    db.execute(
        f"INSERT INTO chunks(note, ordinal, span_start, span_end, {PLACE}, heading_path, text, key, "
        f"input_key, readable, vector, stale) VALUES(?, ?, ?, ?, {_PLACE_MARKS}, ?, ?, ?, ?, ?, ?, ?)",
        (
            note, chunk.ordinal, chunk.span.start, chunk.span.end, *place(chunk.range), "\n".join(chunk.heading_path),
            chunk.text, chunk.key, chunk.input_key, chunk.readable, vector, stale,
        ),
    )  # fmt: skip
    terms.put(db, db.last_insert_rowid(), record, chunk)


def _drop_chunk(db: Connection, chunk: Any, vector: Any) -> None:  # noqa: ANN401 - columns as SQLite gives them
    terms.delete(db, chunk)
    db.execute("DELETE FROM chunks WHERE id = ?", (chunk,))
    if vector is not None:
        vectors.release(db, vector)
