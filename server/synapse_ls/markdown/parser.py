"""A note from its text."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from synapse_ls.core.model import Block, Heading, Link, Note, Tag
from synapse_ls.core.text import LineIndex, Span
from synapse_ls.markdown import frontmatter, links
from synapse_ls.markdown.blocks import Passage, RawHeading, Structure, structure
from synapse_ls.markdown.headline import headline
from synapse_ls.markdown.plain import inline
from synapse_ls.markdown.slug import Slugger

_BLOCK_ID = re.compile(r"(?:(?<=[ \t\r\n>|])|^)\^([A-Za-z0-9-]+)[ \t]*$", re.MULTILINE)
_HEADING_ID = re.compile(r"[ \t]+\^[A-Za-z0-9-]+$")


@dataclass(frozen=True, slots=True)
class Parsed:
    """A note and what was wrong with its text, as sentences for a person; the note is usable either way."""

    note: Note
    problems: tuple[str, ...] = ()


def parse(text: str, stem: str) -> Parsed:
    """Parse the text of a note. Never raises.

    Args:
        text: any string.
        stem: the file's name without extension: the title of a note that names none.

    Returns:
        The note, its spans in code points of ``text``, and the problems found.
    """
    lines = LineIndex(text)
    front = frontmatter.read(text)
    problems = [front.problem] if front.problem else []
    try:
        found = structure(text, lines, front.body)
    except (RecursionError, RuntimeError, IndexError, ValueError) as error:
        # The block parser is not ours: whatever it stumbles over, the words stay findable.
        problems.append(f"its Markdown could not be read ({type(error).__name__}); it is found by its words only")
        found = Structure()
    headings = tuple(_headings(found.headings, len(text)))
    inlines = [item for passage in found.passages for item in links.scan(text, passage.span, found.definitions)]
    defined = [link for definition in found.definitions.values() if (link := links.definition_link(definition))]
    in_body = [item for item in inlines if isinstance(item, Link)] + defined
    in_front = list(links.wiki_links(text, Span(front.start, front.end)))
    note = Note(
        title=front.title or next((h.text for h in headings if h.level == 1 and h.text), stem),
        aliases=front.aliases,
        tags=(
            *(Tag(name, None) for name in front.tags),
            *sorted((item for item in inlines if isinstance(item, Tag) and item.span), key=_tag_start),
        ),
        headings=headings,
        links=tuple(sorted(in_front + in_body, key=lambda link: (link.span.start, -link.span.end))),
        blocks=tuple(_blocks(text, found.passages)),
        properties=front.properties,
        body=Span(front.body, len(text)),
    )
    return Parsed(note, tuple(problems))


def _tag_start(tag: Tag) -> int:
    return tag.span.start if tag.span else 0


def _headings(raws: list[RawHeading], end: int) -> Iterator[Heading]:
    """Yield headings with their anchors; a section ends where a heading of its level or above starts."""
    slugger = Slugger()
    ends = [end] * len(raws)
    open_: list[int] = []
    for number, raw in enumerate(raws):
        while open_ and raws[open_[-1]].level >= raw.level:
            ends[open_.pop()] = raw.span.start
        open_.append(number)
    for raw, section_end in zip(raws, ends, strict=True):
        text = inline(_HEADING_ID.sub("", raw.source))
        yield Heading(raw.level, headline(text), slugger.slug(text), raw.span, Span(raw.span.start, section_end))


def _blocks(text: str, passages: list[Passage]) -> Iterator[Block]:
    """Yield the blocks that carry an id, each id once."""
    seen: set[str] = set()
    for passage in passages:
        start, end = passage.span.start, passage.span.end
        if text.find("^", start, end) < 0:
            continue
        source = text[start:end]
        for match in _BLOCK_ID.finditer(source.replace("\r", "\n")):
            alone = not source[: match.start()].strip(" \t>") and match.end() == len(source)
            block = passage.previous if alone and passage.previous else passage.block
            if match[1] not in seen:
                seen.add(match[1])
                yield Block(match[1], block)
