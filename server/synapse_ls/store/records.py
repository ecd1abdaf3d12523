"""What the indexer hands to the store: a note with everything derived from its text, ready to be written."""

from dataclasses import dataclass

from synapse_ls.core.text import Range, Span


@dataclass(frozen=True, slots=True)
class ChunkRecord:
    """A chunk and what the index keeps of it.

    ``input_key`` (16 bytes) names the exact input of the embedder; with an equal ``key`` (16 bytes) besides, a chunk
    need not be written again. ``terms`` and ``heading_terms`` are folded terms joined by spaces. ``readable`` is false
    for a chunk without a word to embed.
    """

    ordinal: int
    span: Span
    range: Range
    heading_path: tuple[str, ...]
    text: str
    key: bytes
    input_key: bytes
    terms: str
    heading_terms: str
    readable: bool


@dataclass(frozen=True, slots=True)
class HeadingRecord:
    """A heading; ``range`` is its line, ``section`` the span of what stands under it, itself included."""

    level: int
    text: str
    slug: str
    range: Range
    section: Span


@dataclass(frozen=True, slots=True)
class LinkRecord:
    """A link as written; ``key`` is the name under which its target is looked up (see ``links.names``).

    ``other_key`` is that of its second reading, if it has one (see ``links.readings``).
    """

    kind: str
    target: str
    fragment: str | None
    label: str | None
    key: str
    range: Range
    other_key: str | None = None


@dataclass(frozen=True, slots=True)
class NameRecord:
    """A name by which links can mean the note.

    ``kind`` is ``path``, ``alias``, ``title``, ``page``, ``journal`` or ``id``; ``key`` is the look-up key.
    """

    kind: str
    text: str
    key: str


@dataclass(frozen=True, slots=True)
class NoteRecord:
    """One note as the index keeps it. ``hash`` (16 bytes) is of the file's bytes; ``properties`` is JSON."""

    path: str
    size: int
    mtime_ns: int
    hash: bytes
    title: str
    aliases: tuple[str, ...]
    tags: tuple[str, ...]
    properties: str
    problem: str | None
    names: tuple[NameRecord, ...]
    headings: tuple[HeadingRecord, ...]
    blocks: tuple[tuple[str, Range], ...]
    links: tuple[LinkRecord, ...]
    chunks: tuple[ChunkRecord, ...]
    title_terms: str
    alias_terms: str
    tag_terms: str


@dataclass(frozen=True, slots=True)
class FileStamp:
    """What tells without reading whether a file changed, and the hash that tells for certain."""

    size: int
    mtime_ns: int
    hash: bytes
