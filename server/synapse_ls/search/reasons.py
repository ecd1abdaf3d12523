"""Why two notes are related, in short plain sentences."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from synapse_ls.core.model import Hit
from synapse_ls.core.terms import fold
from synapse_ls.search.highlight import matches, merged
from synapse_ls.search.query import Query
from synapse_ls.search.ties import Tie, Way

_MOST_WORDS = 3
_MOST_TAGS = 2
_SENTENCES: dict[Way, str] = {"to": "both link to {}", "from": "{} links to both", "over": "linked by way of {}"}


@dataclass(frozen=True, slots=True)
class Grounds:
    """What speaks for a note, each kind with what it is worth there; 0 if it says nothing."""

    same: bool
    tie: Tie
    passage: float
    words: float
    named: float
    link: float
    shared: float
    tags: float

    @property
    def worth(self) -> float:
        """What all that is worth together."""
        return self.passage + self.words + self.named + self.link + self.shared + self.tags


def reasons(grounds: Grounds, hit: Hit, query: Query, titles: Mapping[int, str], *, section: bool) -> list[str]:
    """Return the reasons, the most telling first; ``titles`` are those of notes, by note, ``query`` has the words."""
    tie = grounds.tie
    told = list(_certain(grounds, section=section))
    weighed = [
        (grounds.passage, _passage(hit)),
        (grounds.words, _words(hit, query)),
        (grounds.named, "is named here without a link"),
        (grounds.shared, _neighbour(tie, titles)),
        (grounds.tags, _tags(tie)),
    ]
    weighed.sort(key=lambda pair: -pair[0])
    told += [sentence for worth, sentence in weighed if worth > 0 and sentence]
    return told or ["shares words with this note"]  # such as no passage that is shown holds


def _certain(grounds: Grounds, *, section: bool) -> Iterator[str]:
    tie = grounds.tie
    if grounds.same:
        yield "nearly the same text"
    if tie.to:
        yield "this section links to it" if section and tie.here else "this note links to it"
    if tie.back:
        yield "links to this note"


def _passage(hit: Hit) -> str:
    return f"similar passage: {' › '.join(hit.heading_path) or hit.title}"


def _words(hit: Hit, query: Query) -> str:
    """Name the words that the passage shows, or else the title, those first that tell most."""
    words = _shown(hit.snippet.text, query) or _shown(hit.title, query)
    return f"both speak of {', '.join(words[:_MOST_WORDS])}" if words else ""


def _shown(text: str, query: Query) -> list[str]:
    """Return the words of a query in a text as written there, in the query's order; pieces that overlap make one."""
    found = matches(text, query)
    first: dict[str, tuple[int, str]] = {}
    for span in merged([match.span for match in found]):
        word = min(match.word for match in found if span.start <= match.span.start < span.end)
        written = span.slice(text)
        first[fold(written)] = min((word, written), first.get(fold(written), (word, written)))
    return [written for _, written in sorted(first.values())]


def _neighbour(tie: Tie, titles: Mapping[int, str]) -> str:
    # What both link to, or what links to both, says more than a chain of links.
    ways: tuple[Way, ...] = ("to", "from", "over")
    chosen = next(((w, n) for wanted in ways for _, w, n in tie.over if w == wanted and n in titles), None)
    if chosen is None:
        return ""
    return _SENTENCES[chosen[0]].format(titles[chosen[1]])


def _tags(tie: Tie) -> str:
    names = [f"#{name}" for _, name in tie.tags[:_MOST_TAGS]]
    return f"shares tag{'s' if len(names) > 1 else ''} {', '.join(names)}" if names else ""
