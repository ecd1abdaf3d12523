r"""Open documents and their edits.

The framework's own documents split lines where the protocol does not (U+2028, form feed, ...), so edits are applied
here: only ``\n``, ``\r\n`` and ``\r`` end a line, and positions beyond a line or the text are clamped.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from lsprotocol import types as lsp

from synapse_ls.core.text import LineIndex
from synapse_ls.lsp import convert


@dataclass(frozen=True, slots=True)
class Document:
    """An open document as the client sees it."""

    uri: str
    version: int
    text: str


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

    def change(
        self,
        uri: str,
        version: int,
        changes: Sequence[lsp.TextDocumentContentChangeEvent],
        encoding: convert.Encoding,
    ) -> Document | None:
        """Apply edits in their order, each to the result of the one before; None if the document is not open."""
        document = self._open.get(uri)
        if document is None:
            return None
        text = document.text
        for change in changes:
            if isinstance(change, lsp.TextDocumentContentChangePartial):
                lines = LineIndex(text)
                start = convert.offset(text, lines, change.range.start, encoding)
                end = convert.offset(text, lines, change.range.end, encoding)
                start, end = min(start, end), max(start, end)
                text = f"{text[:start]}{change.text}{text[end:]}"
            else:
                text = change.text
        document = self._open[uri] = Document(uri, version, text)
        return document

    def close(self, uri: str) -> None:
        """Let a document go."""
        self._open.pop(uri, None)
