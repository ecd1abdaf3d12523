"""From a file's bytes to the record that the store keeps: decode, parse, cut into chunks, fold into terms."""

import codecs
import json
from collections.abc import Mapping
from dataclasses import replace
from hashlib import blake2b
from pathlib import PurePosixPath

from synapse_ls.core.model import Chunk, Heading, Note, PropertyValue
from synapse_ls.core.terms import index_terms
from synapse_ls.core.text import LineIndex
from synapse_ls.indexer.limits import limited
from synapse_ls.links import logseq, names, readings
from synapse_ls.markdown.chunker import chunks, embedder_input
from synapse_ls.markdown.headline import headline
from synapse_ls.markdown.parser import parse
from synapse_ls.markdown.plain import plain
from synapse_ls.store.records import ChunkRecord, HeadingRecord, LinkRecord, NoteRecord
from synapse_ls.store.terms import beginning, shared

# Raised whenever parsing, cutting or folding changes what it makes of the same bytes: notes are then read again.
VERSION = "4"


def note_record(path: str, data: bytes, mtime_ns: int, max_bytes: int, size: int | None = None) -> NoteRecord:
    """Return the record of the note at ``path`` (relative, with ``/``) whose file starts with ``data``.

    ``data`` beyond ``max_bytes`` is left out and named as a problem; ``size`` is the file's whole size if ``data`` is
    only its beginning. Never fails.
    """
    size = len(data) if size is None else size
    text, problems = _decode(data[:max_bytes])
    if size > max_bytes:
        problems.append(
            f"only the first {max_bytes // 1024} KiB are indexed; raise index.maxFileKiB to index all of it"
        )
    parsed = parse(text, PurePosixPath(path).stem)
    note = parsed.note
    problems += parsed.problems
    lines = LineIndex(text)
    page = logseq.page(text, note.body.start)
    title = headline(_clean(page.title if page.title and not note.properties.get("title") else note.title))
    aliases = tuple(dict.fromkeys(_clean(alias) for alias in (*note.aliases, *page.aliases) if alias.strip()))
    tags = tuple(dict.fromkeys(_clean(tag.name) for tag in note.tags if tag.name))
    note = replace(
        note,
        headings=limited("headings", note.headings, problems),
        links=limited("links", note.links, problems),
        blocks=limited("block ids", note.blocks, problems),
    )
    fields = (_terms(f"{title} {PurePosixPath(path).stem}"), _terms(" ; ".join(aliases)), _terms(" ".join(tags)))
    aliases, tags = limited("aliases", aliases, problems), limited("tags", tags, problems)
    return NoteRecord(
        path=path,
        size=size,
        mtime_ns=mtime_ns,
        hash=content_hash(data, size),
        title=title,
        aliases=aliases,
        tags=tags,
        properties=json.dumps(_json(note.properties)),
        problem="; ".join(problems) or None,
        names=names.names_of(path, title, aliases, title if page.title or note.properties.get("title") else None),
        headings=tuple(_heading(heading, lines) for heading in note.headings),
        blocks=tuple((_clean(block.id), lines.range(block.span)) for block in note.blocks),
        links=_links(note, lines),
        chunks=tuple(_chunk(chunk, title, fields, lines) for chunk in chunks(text, note)),
        title_terms=fields[0],
        alias_terms=fields[1],
        tag_terms=fields[2],
    )


def content_hash(data: bytes, size: int) -> bytes:
    """Return the 16 bytes that name a file's content; ``data`` may be only the beginning of ``size`` bytes."""
    return blake2b(data, digest_size=16, salt=size.to_bytes(8, "little")).digest()


def _decode(data: bytes) -> tuple[str, list[str]]:
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return _clean(data.decode("utf-16", "replace")), []
    try:
        return data.decode("utf-8"), []
    except UnicodeDecodeError as error:
        if error.reason == "unexpected end of data" and len(data) - error.start < 4:  # noqa: PLR2004 - a cut character
            return data.decode("utf-8", "ignore"), []
        return data.decode("utf-8", "replace"), [
            f"not valid UTF-8 (byte {error.start}); unreadable characters replaced"
        ]


def _heading(heading: Heading, lines: LineIndex) -> HeadingRecord:
    return HeadingRecord(
        heading.level, _clean(heading.text), _clean(heading.slug), lines.range(heading.span), heading.section
    )


def _links(note: Note, lines: LineIndex) -> tuple[LinkRecord, ...]:
    return tuple(
        LinkRecord(
            link.kind,
            _clean(link.target),
            None if link.fragment is None else _clean(link.fragment),
            None if link.label is None else _clean(link.label),
            _clean(readings.first_key(link)),
            lines.range(link.span),
            readings.other_key(link),
        )
        for link in note.links
    )


def _chunk(chunk: Chunk, title: str, fields: tuple[str, str, str], lines: LineIndex) -> ChunkRecord:
    readable = plain(chunk.text)
    headings = tuple(_clean(heading).replace("\n", " ") for heading in chunk.heading_path)
    heading_terms = beginning(_terms(" ; ".join(headings)))
    embedded = embedder_input(title, headings, readable)
    return ChunkRecord(
        ordinal=chunk.ordinal,
        span=chunk.span,
        range=lines.range(chunk.span),
        heading_path=headings,
        text=_clean(chunk.text),
        key=_digest(chunk.text, *headings, *shared(chunk.ordinal, *fields)),
        input_key=_digest(embedded),
        terms=_terms(readable),
        heading_terms=heading_terms,
        readable=any(map(str.isalnum, embedded)),
    )


def _terms(text: str) -> str:
    return " ".join(index_terms(text))


def _digest(*parts: str) -> bytes:
    return blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _clean(text: str) -> str:
    """Return text that a database can hold: escapes in front matter can spell half a surrogate pair."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _json(value: PropertyValue) -> object:
    if isinstance(value, Mapping):
        return {str(key): _json(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [_json(item) for item in value]
    return value
