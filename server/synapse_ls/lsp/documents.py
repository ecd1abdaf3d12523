r"""Open documents and their edits.

The framework's own documents split lines where the protocol does not (U+2028, form feed, ...), so edits are applied
here: only ``\n``, ``\r\n`` and ``\r`` end a line, and positions beyond a line or the text are clamped.

An edit of a long text takes its time, so the event loop only notes it; the first who reads the text applies it.
"""

import re
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lsprotocol import types as lsp

from synapse_ls.core.text import LineIndex
from synapse_ls.lsp import convert

_Changes = Sequence[lsp.TextDocumentContentChangeEvent]

_LINE_END = re.compile(r"\r\n|\n|\r")
# After this many notifications that nobody has read, a thread does, so that they do not pile up.
_MAX_UNREAD = 256


@dataclass(frozen=True, slots=True)
class _Edited:
    """A text that is the one of ``before`` after ``edits``; ``unread`` counts the notifications since a known text."""

    before: "Document"
    edits: Sequence[lsp.TextDocumentContentChangePartial]
    encoding: convert.Encoding
    unread: int


class Document:
    """An open document as the client sees it. It never changes; it may be read in any thread."""

    __slots__ = ("__weakref__", "_lock", "_source", "uri", "version")

    def __init__(self, uri: str, version: int, source: str | _Edited) -> None:
        self.uri = uri
        self.version = version
        self._source = source
        self._lock = threading.Lock()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Document):
            return NotImplemented
        return (self.uri, self.version, self.text) == (other.uri, other.version, other.text)

    __hash__ = None  # type: ignore[assignment]  # as of other things that are compared by a text

    @property
    def text(self) -> str:
        """The text; it may take a while after edits of a long one, so ask off the event loop."""
        with self._lock:
            edits: list[_Edited] = []
            # Another thread may be reading one that came before; what it has by now is taken.
            source = self._source
            while isinstance(source, _Edited):
                edits.append(source)
                source = source.before._source  # noqa: SLF001 - another one of ours
            if edits:
                self._source = source = _applied(source, reversed(edits))
            return source

    def edited(self, version: int, changes: _Changes, encoding: convert.Encoding) -> "Document":
        """Return the document after edits in their order, each of the text that the one before left; takes no time."""
        edits: list[lsp.TextDocumentContentChangePartial] = []
        before = self
        for change in changes:
            if isinstance(change, lsp.TextDocumentContentChangePartial):
                edits.append(change)
            else:
                # Nothing of what was before is left, and nothing of it is kept.
                before = Document(self.uri, version, change.text)
                edits.clear()
        source = before._source
        if not edits:
            return Document(self.uri, version, source)
        unread = source.unread + 1 if isinstance(source, _Edited) else 1
        edited = Document(self.uri, version, _Edited(before, edits, encoding, unread))
        if unread % _MAX_UNREAD == 0:
            threading.Thread(target=lambda: edited.text, name="synapse-edits", daemon=True).start()
        return edited


class Documents:
    """The documents that are open, by URI."""

    def __init__(self) -> None:
        self._open: dict[str, Document] = {}

    def get(self, uri: str) -> Document | None:
        """Return an open document."""
        return self._open.get(uri)

    def uris(self) -> list[str]:
        """Return the URIs of all open documents, in the order of their opening."""
        return list(self._open)

    def open(self, item: lsp.TextDocumentItem) -> Document:
        """Take over a document."""
        document = self._open[item.uri] = Document(item.uri, item.version, item.text)
        return document

    def change(self, uri: str, version: int, changes: _Changes, encoding: convert.Encoding) -> Document | None:
        """Take over edits, each of the text that the one before left; None if the document is not open."""
        document = self._open.get(uri)
        if document is None:
            return None
        document = self._open[uri] = document.edited(version, changes, encoding)
        return document

    def close(self, uri: str) -> None:
        """Let a document go."""
        self._open.pop(uri, None)


def _applied(text: str, edits: Iterable[_Edited]) -> str:
    """Return a text after edits of ranges, the oldest first."""
    lines = _lines(text)
    for edit in edits:
        for change in edit.edits:
            _apply(lines, change, edit.encoding)
    return "".join(lines)


def _lines(text: str) -> list[str]:
    """Return the lines of a text with their ends; the last one has none and may be empty."""
    lines, start = [], 0
    # One by one, so that other threads get their turn while a long text is cut.
    for match in _LINE_END.finditer(text):
        lines.append(text[start : match.end()])
        start = match.end()
    lines.append(text[start:])
    return lines


def _apply(lines: list[str], change: lsp.TextDocumentContentChangePartial, encoding: convert.Encoding) -> None:
    """Apply an edit to the lines of a text."""
    places = (_place(lines, change.range.start, encoding), _place(lines, change.range.end, encoding))
    (first, column), (last, last_column) = sorted(places)
    # With the lines around: what was an end of a line may become half of one, and the other way round.
    above, below = max(first - 1, 0), min(last + 1, len(lines) - 1)
    head, tail = lines[above:first], lines[last + 1 : below + 1]
    new = _lines("".join((*head, lines[first][:column], change.text, lines[last][last_column:], *tail)))
    if below < len(lines) - 1:
        del new[-1]  # it is empty: the text ends with the end of a line
    lines[above : below + 1] = new


def _place(lines: list[str], position: lsp.Position, encoding: convert.Encoding) -> tuple[int, int]:
    """Return the line and the column (code points) of a client's position, clamped."""
    if position.line >= len(lines):
        return len(lines) - 1, len(lines[-1])
    number = max(position.line, 0)
    line = lines[number]
    return number, convert.offset(line, LineIndex(line), lsp.Position(0, position.character), encoding)
