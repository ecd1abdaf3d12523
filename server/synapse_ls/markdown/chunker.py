"""Cuts a note into the passages that are indexed and embedded.

A short note is one chunk. Otherwise every heading starts a chunk, and a section that is too long is cut at places
that depend on its content. Chunks neither overlap nor leave anything out but white space.
"""

from collections.abc import Iterator, Sequence

from synapse_ls.core.model import Chunk, Note
from synapse_ls.core.text import Span
from synapse_ls.markdown.cuts import cuts, fingerprint
from synapse_ls.markdown.tokens import PIECE, estimate
from synapse_ls.markdown.units import Unit, units

__all__ = ["MAX_TOKENS", "chunks", "embedder_input", "estimate"]

MAX_TOKENS = 220
"""The most estimated tokens of a chunk; with its heading line it fits into the 256 of the smallest model."""

_HEADER_TOKENS = 32
# A path of headings is kept with every section: where many tiny sections lie under long headings, that would be most
# of what is kept. Characters, and times the length of the note.
_MAX_PATHS, _MAX_PATHS_SHARE = 50_000, 4


def chunks(text: str, note: Note) -> tuple[Chunk, ...]:
    """Return the chunks of a note in order, at least one; ``note`` was parsed from ``text``.

    Every character of the body that is not white space lies in exactly one chunk. A chunk has at most ``MAX_TOKENS``
    estimated tokens, unless it is one grapheme or one inlined file that cannot be cut.
    """
    body = _trimmed(text, note.body)
    sections = list(_sections(note))
    if sum(len(name) for _, path in sections for name in path) > _MAX_PATHS + _MAX_PATHS_SHARE * len(text):
        sections = [(span, path[-1:]) for span, path in sections]
    if _fits(text, body):
        first = note.headings[0] if note.headings else None
        path = (first.text,) if first and first.span.start <= body.start < first.span.end else ()
        return (Chunk(0, body, path, body.slice(text)),)
    found = [(part, path) for span, path in sections for part in _passages(text, _trimmed(text, span), bool(path))]
    return tuple(Chunk(ordinal, span, path, span.slice(text)) for ordinal, (span, path) in enumerate(found))


def embedder_input(title: str, chunk_heading_path: Sequence[str], plain_text: str) -> str:
    """Return what an embedder reads: a line ``title > heading > heading`` and the passage's readable text.

    The line is kept to about 32 tokens: headings between the title and the innermost one go first.
    """
    parts = [title, *chunk_heading_path]
    if len(parts) > 1 and parts[0] == parts[1]:
        del parts[1]
    while len(parts) > 2 and estimate(" > ".join(parts)) > _HEADER_TOKENS:  # noqa: PLR2004 - title and innermost
        del parts[1]
    if estimate(" > ".join(parts)) > _HEADER_TOKENS:
        parts = [_shortened(part, (_HEADER_TOKENS - 1) // len(parts)) for part in parts]
    return " > ".join(parts) + "\n" + plain_text


def _shortened(text: str, limit: int) -> str:
    """Return the first words of a text, as many as have at most ``limit`` tokens; a part of the first if it must be."""
    pieces = list(PIECE.finditer(text))
    if len(pieces) <= limit:
        return text
    end = pieces[limit].start()
    return (text[: text.rfind(" ", 0, end + 1)] if " " in text[: end + 1].strip() else text[:end]).rstrip()


def _trimmed(text: str, span: Span) -> Span:
    """Return a span without the blank lines around it; the first line keeps its indentation."""
    source = span.slice(text)
    start = len(source) - len(source.lstrip())
    if start == len(source):
        return Span(span.start, span.start)
    indented = max(source.rfind("\n", 0, start), source.rfind("\r", 0, start)) + 1
    return Span(span.start + indented, span.start + len(source.rstrip()))


def _fits(text: str, span: Span) -> bool:
    return span.end - span.start <= MAX_TOKENS or estimate(span.slice(text), MAX_TOKENS) <= MAX_TOKENS


def _sections(note: Note) -> Iterator[tuple[Span, tuple[str, ...]]]:
    """Yield what lies before the first heading and then each heading with what follows it, with its heading path."""
    starts = [heading.span.start for heading in note.headings]
    yield Span(note.body.start, starts[0] if starts else note.body.end), ()
    above: list[tuple[int, str]] = []
    for heading, end in zip(note.headings, [*starts[1:], note.body.end], strict=False):
        above = [entry for entry in above if entry[0] < heading.level]
        above.append((heading.level, heading.text))
        yield Span(heading.span.start, end), tuple(text for _, text in above)


def _passages(text: str, span: Span, headed: bool) -> Iterator[Span]:
    if span.start == span.end:
        return
    if _fits(text, span):
        yield span
        return
    pieces = list(units(text, span, MAX_TOKENS))
    if headed and len(pieces) > 1 and pieces[0].size + pieces[1].size <= MAX_TOKENS:
        # A heading alone says little: it goes with the first thing below it.
        joined = Span(pieces[0].span.start, pieces[1].span.end)
        pieces[:2] = [Unit(joined, pieces[0].size + pieces[1].size, pieces[1].key)]
    starts = cuts([p.size for p in pieces], [fingerprint(p.key) for p in pieces], MAX_TOKENS)
    for first, end in zip(starts, [*starts[1:], len(pieces)], strict=True):
        yield Span(pieces[first].span.start, pieces[end - 1].span.end)
