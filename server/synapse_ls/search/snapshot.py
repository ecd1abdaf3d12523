"""One state of the notes: the index as committed, with open buffers in place of their files."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from synapse_ls.core.model import SearchFilter
from synapse_ls.core.terms import fold
from synapse_ls.links.names import folded, without_ending
from synapse_ls.search.dense import dense
from synapse_ls.search.late import late
from synapse_ls.search.lexical import FIELD_WEIGHTS, NoteHit, covered, lexical, scored, slices
from synapse_ls.search.query import Query, any_phrases, any_words
from synapse_ls.store import chunks, filters, meta, notes, symbols, terms, vectors
from synapse_ls.store.chunks import ChunkRow
from synapse_ls.store.database import Connection
from synapse_ls.store.notes import NoteRow
from synapse_ls.store.symbols import SymbolRow


class Snapshot:
    """What a search looks at: ``db`` inside a read transaction, and the buffers, an index of their own in memory.

    A note is told by its id in the index, one that only a buffer has by the negative of its id there; a chunk of a
    buffer by the negative of its id. A buffer whose content is that of its file is left to the index; the others are
    ``typed``, by their ids among the buffers, and the notes of the index that they hide are ``shadowed``.
    """

    def __init__(self, db: Connection, buffers: Connection | None = None) -> None:
        self.db = db
        self.buffers = buffers
        self._note_of: dict[int, int] = {}
        if buffers is not None:
            for buffer, path, hash_ in notes.hashes(buffers):
                stored = notes.content(db, path)
                if stored is None:
                    self._note_of[buffer] = -buffer
                elif stored[1] != hash_:
                    self._note_of[buffer] = stored[0]
        self._buffer_of = {note: buffer for buffer, note in self._note_of.items()}
        self.shadowed = frozenset(note for note in self._buffer_of if note > 0)
        self.typed = frozenset(self._note_of)

    def source(self, path: str) -> tuple[Connection, NoteRow] | None:
        """Return where the note at a path is to be read, a buffer or the index, and its row there."""
        if self.buffers is not None and (row := notes.by_path(self.buffers, path)) and row.id in self._note_of:
            return self.buffers, row
        stored = notes.by_path(self.db, path)
        return None if stored is None else (self.db, stored)

    def lexical(self, query: Query, limit: int, allowed: Sequence[int] | None) -> list[NoteHit]:
        """Return what ``lexical`` does; the chunks of buffers are scored by the index's statistics."""
        found = lexical(self.db, query, limit, self._stored(allowed), self.shadowed)
        if self.buffers is None or not self._note_of or not query.wanted:
            return found
        phrases = any_phrases(query)
        known = terms.statistics(self.db, phrases) or terms.statistics(self.buffers, phrases)
        if known is None:
            return found
        best: dict[int, NoteHit] = {}
        for chunk, buffer, score in terms.search_by(self.buffers, any_words(query), FIELD_WEIGHTS, known):
            if self._is_allowed(buffer, allowed):
                best.setdefault(buffer, NoteHit(buffer, chunk, score))
        typed = scored(covered(self.buffers, self.db, query, list(best.values())))
        return self._merged(found, typed, limit)

    def dense(self, vector: bytes, limit: int, allowed: Sequence[int] | None, floor: float) -> list[NoteHit]:
        """Return what ``dense`` does."""
        found = dense(self.db, vector, limit, self._stored(allowed), floor, self.shadowed)
        if self.buffers is None or not self._note_of or not vectors.has_model(self.buffers):
            return found
        buffers = [buffer for buffer in self._note_of if self._is_allowed(buffer, allowed)]
        return self._merged(found, dense(self.buffers, vector, limit, buffers, floor), limit)

    def late(self, query: bytes, chunks: Sequence[int]) -> dict[int, float]:
        """Return what ``late`` does."""
        dimensions = int(meta.get(self.db, "dimensions") or 0)
        found = late(self.db, query, dimensions, [chunk for chunk in chunks if chunk > 0])
        if self.buffers is not None and vectors.has_model(self.buffers):
            typed = late(self.buffers, query, dimensions, [-chunk for chunk in chunks if chunk < 0])
            found |= {-chunk: score for chunk, score in typed.items()}
        return found

    def called(self, text: str) -> list[int]:
        """Return the notes whose title, alias or file name is exactly this, whatever its case."""
        name = folded(without_ending(text.strip()))
        return self._both(lambda db: symbols.called(db, fold(text), name))

    def symbols(self, pattern: str, limit: int) -> Iterator[tuple[Connection, SymbolRow]]:
        """Yield what ``store.symbols.matching`` finds, each row with where it is from."""
        for row in symbols.matching(self.db, pattern, limit):
            if row.note not in self.shadowed:
                yield self.db, row
        if self.buffers is not None:
            for row in symbols.matching(self.buffers, pattern, limit):
                if row.note in self._note_of:
                    yield self.buffers, row

    def filtered(self, wanted: SearchFilter) -> list[int] | None:
        """Return the notes that a filter leaves, or None if it leaves all."""
        if filters.notes(self.db, wanted) is None:
            return None
        return self._both(lambda db: filters.notes(db, wanted) or [])

    def holding(self, match: str) -> set[int]:
        """Return the notes with a chunk that matches an FTS5 expression."""
        return set(self._both(lambda db: sorted(terms.notes_holding(db, match))))

    def rows(self, ids: Sequence[int]) -> dict[int, NoteRow]:
        """Return notes by id."""
        stored = [note for note in ids if note not in self._buffer_of]
        found = {n: row for some in slices(stored) for n, row in notes.by_ids(self.db, list(some or ())).items()}
        if self.buffers is not None:
            typed = {self._buffer_of[note]: note for note in ids if note in self._buffer_of}
            rows = notes.by_ids(self.buffers, list(typed))
            found |= {typed[buffer]: replace(row, id=typed[buffer]) for buffer, row in rows.items()}
        return found

    def passages(self, ids: Sequence[int]) -> dict[int, ChunkRow]:
        """Return chunks by id."""
        found = chunks.by_ids(self.db, [chunk for chunk in ids if chunk > 0])
        if self.buffers is not None:
            typed = chunks.by_ids(self.buffers, [-chunk for chunk in ids if chunk < 0])
            found |= {-chunk: row for chunk, row in typed.items()}
        return found

    def beginnings(self, ids: Sequence[int]) -> dict[int, int]:
        """Return the first chunk of each note that has one, by note."""
        found = chunks.first_of_notes(self.db, [note for note in ids if note not in self._buffer_of])
        if self.buffers is not None:
            typed = [self._buffer_of[note] for note in ids if note in self._buffer_of]
            first = chunks.first_of_notes(self.buffers, typed)
            found |= {self._note_of[buffer]: -chunk for buffer, chunk in first.items()}
        return found

    def text_after(self, note: int, ordinal: int) -> str:
        """Return the text of the chunk that follows one of a note's chunks; empty if it is the last."""
        buffer = self._buffer_of.get(note)
        if self.buffers is not None and buffer is not None:
            return chunks.text_at(self.buffers, buffer, ordinal + 1)
        return chunks.text_at(self.db, note, ordinal + 1)

    def _both(self, ask: Callable[[Connection], list[int]]) -> list[int]:
        """Ask the index and the buffers for notes, without those of the index that are shadowed."""
        found = [note for note in ask(self.db) if note not in self.shadowed]
        if self.buffers is not None:
            found += [self._note_of[buffer] for buffer in ask(self.buffers) if buffer in self._note_of]
        return found

    def _stored(self, allowed: Sequence[int] | None) -> list[int] | None:
        return None if allowed is None else [note for note in allowed if note > 0 and note not in self.shadowed]

    def _is_allowed(self, buffer: int, allowed: Sequence[int] | None) -> bool:
        note = self._note_of.get(buffer)
        return note is not None and (allowed is None or note in allowed)

    def _merged(self, stored: Sequence[NoteHit], typed: Sequence[NoteHit], limit: int) -> list[NoteHit]:
        mine = [replace(hit, note=self._note_of[hit.note], chunk=-hit.chunk) for hit in typed]
        return sorted([*stored, *mine], key=lambda hit: -hit.score)[:limit]
