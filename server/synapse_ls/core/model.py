"""What notes are made of and what a search returns."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Literal, NamedTuple

from synapse_ls.core.text import Range, Span

PropertyValue = str | int | float | bool | None | tuple["PropertyValue", ...] | Mapping[str, "PropertyValue"]


class LinkKind(StrEnum):
    """How a link is written."""

    WIKI = "wiki"
    EMBED = "embed"
    MARKDOWN = "markdown"
    REFERENCE = "reference"


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading. ``span`` is its line(s), ``section`` reaches to the next heading of the same or a higher level."""

    level: int
    text: str
    slug: str
    span: Span
    section: Span


@dataclass(frozen=True, slots=True)
class Link:
    """A link as written: ``target`` without fragment, decoded; ``""`` means the note itself.

    ``fragment`` is what follows the ``#``: a heading's text or slug, or ``^id`` for a block; ``None`` if absent.
    """

    kind: LinkKind
    target: str
    fragment: str | None
    label: str | None
    span: Span


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag without its ``#``; ``span`` is None for a tag of the front matter."""

    name: str
    span: Span | None


@dataclass(frozen=True, slots=True)
class Block:
    """A block that carries an id (``^id``); ``span`` is the whole block."""

    id: str
    span: Span


@dataclass(frozen=True, slots=True)
class Note:
    """A parsed note; every span is in code points of the text it was parsed from, in ascending order."""

    title: str
    aliases: tuple[str, ...] = ()
    tags: tuple[Tag, ...] = ()
    headings: tuple[Heading, ...] = ()
    links: tuple[Link, ...] = ()
    blocks: tuple[Block, ...] = ()
    properties: Mapping[str, PropertyValue] = field(default_factory=dict)
    body: Span = field(default_factory=lambda: Span(0, 0))


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage of a note.

    ``span`` is its place in the source and ``text`` the source's slice as written; ``heading_path`` holds the texts of
    the headings above it, outermost first. ``ordinal`` counts from 0 in the order of the text.
    """

    ordinal: int
    span: Span
    heading_path: tuple[str, ...]
    text: str


Leg = Literal["lexical", "semantic", "graph"]
Mode = Literal["hybrid", "lexical", "semantic"]
Band = Literal["strong", "good", "weak"]


@dataclass(frozen=True, slots=True)
class Bands:
    """What the cosines of a model mean, each from 0 to 1 and larger than the one before.

    A passage below ``related`` has nothing to do with the query; from ``good`` and ``strong`` on a hit is called so.
    The defaults are those of the bundled model, on whose scale everything else is measured.
    """

    related: float = 0.2
    good: float = 0.45
    strong: float = 0.65

    def common(self, cosine: float) -> float:
        """Return a cosine on the bundled model's scale; order is kept."""
        return _moved(cosine, self, COMMON_BANDS)

    def own(self, cosine: float) -> float:
        """Return what this model says where the bundled one says ``cosine``."""
        return _moved(cosine, COMMON_BANDS, self)


COMMON_BANDS = Bands()


def _moved(cosine: float, here: Bands, there: Bands) -> float:
    """Return a cosine on another scale: between two bands, or beyond the last, in proportion."""
    if here == there:
        return cosine
    ours = (here.related, here.good, here.strong, 1.0)
    theirs = (there.related, there.good, there.strong, 1.0)
    step = sum(cosine >= band for band in ours[1:3])
    share = (cosine - ours[step]) / (ours[step + 1] - ours[step])
    return theirs[step] + share * (theirs[step + 1] - theirs[step])


class Embedded(NamedTuple):
    """What the index keeps of a passage's vectors.

    ``vector`` is that of the text, float32, little endian, of length 1. ``signs`` has, for each token of the text that
    is a word, the signs of its vector: one bit a dimension (1 for above zero, the first dimension in the highest bit),
    filled up to whole bytes. That is a thirtieth of the numbers, and ranks as well (docs/search.md).
    """

    vector: bytes
    signs: bytes = b""


@dataclass(frozen=True, slots=True)
class Snippet:
    """A short readable text and the spans in it that carry the query's words."""

    text: str
    highlights: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class Ranks:
    """1-based ranks of a note: in each leg that found it, after fusion, and after reranking."""

    fused: int
    lexical: int | None = None
    semantic: int | None = None
    graph: int | None = None
    rerank: int | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """One note of an answer with its winning chunk. ``path`` is relative to the vault, with ``/``."""

    path: str
    range: Range
    title: str
    heading_path: tuple[str, ...]
    snippet: Snippet
    score: float
    band: Band
    matched_by: tuple[Leg, ...]
    trust: float = 1.0
    ranks: Ranks | None = None


@dataclass(frozen=True, slots=True)
class LegState:
    """How one leg of a search fared; ``coverage`` is the share of chunks it could see, 0 to 1."""

    state: Literal["ok", "off", "empty", "unavailable"]
    coverage: float | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class SearchFilter:
    """Restricts the notes that may be found; empty fields restrict nothing. Folders are relative, with ``/``."""

    folders: tuple[str, ...] = ()
    exclude_folders: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    properties: tuple[tuple[str, str], ...] = ()
    modified_after: float | None = None
    titles: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A search as asked for; ``near`` is a note's path relative to the vault.

    ``shortlist`` is how many notes a reranker is to see. With ``rerank`` it looks at them, without it does not, and
    None leaves that to the settings.
    """

    query: str
    limit: int = 10
    mode: Mode = "hybrid"
    near: str | None = None
    filter: SearchFilter = SearchFilter()
    explain: bool = False
    rerank: bool | None = None
    shortlist: int = 0


@dataclass(frozen=True, slots=True)
class Candidate:
    """A note of the shortlist, as a reranker takes it.

    ``hit`` is what is answered, but for the snippet: that costs more than all the rest, so that ``snippet`` makes it
    when it is to be shown. ``passage`` is the text of the winning chunk as written. ``exact`` tells that the note is
    called what the query says, ``factor`` by how much trust and nearness move its score.
    """

    hit: Hit
    passage: str
    snippet: Callable[[], Snippet]
    exact: bool = False
    factor: float = 1.0

    def shown(self) -> Hit:
        """Return the hit with its snippet."""
        return replace(self.hit, snippet=self.snippet())


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """Hits, best first, with the state of each leg and the generation of the index they were read from.

    ``shortlist`` begins with the notes of the hits and is as long as was asked for, if there are so many.
    """

    generation: int
    hits: tuple[Hit, ...]
    lexical: LegState
    semantic: LegState
    graph: LegState
    elapsed_ms: float
    shortlist: tuple[Candidate, ...] = ()
