"""Where a query's words stand in a readable text."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from synapse_ls.core.terms import Token, fold, tokens
from synapse_ls.core.text import Span
from synapse_ls.search.graphemes import boundary_after, boundary_before
from synapse_ls.search.query import Query, Word


@dataclass(frozen=True, slots=True)
class Match:
    """A place of a word; ``word`` counts the words of the query."""

    span: Span
    word: int


def matches(text: str, query: Query) -> list[Match]:
    """Return every place of every wanted word and phrase, by place.

    Places are whole tokens, of several in a row from the first to the last, and within unspaced scripts the run found;
    such a run that stands nowhere as a whole is looked for in pairs of its characters. No place begins or ends within
    what a reader takes for one character. Stop words have no places, unless the query has no other words.
    """
    held = _Held(text)
    places: list[Match] = []
    for number, word in enumerate(query.wanted):
        spans = list(_places(held, word))
        if not spans and word.unspaced:
            spans = [span for pair in word.parts if _telling(pair) for span in _places(held, Word((pair,)))]
        places += [Match(_widened(text, span), number) for span in spans]
    return sorted(set(places), key=lambda match: (match.span, match.word))


def merged(places: Sequence[Span]) -> list[Span]:
    """Return spans, given in ascending order, with those that overlap made one."""
    joined: list[Span] = []
    for span in places:
        if joined and span.start < joined[-1].end:
            joined[-1] = Span(joined[-1].start, max(joined[-1].end, span.end))
        else:
            joined.append(span)
    return joined


def _widened(text: str, span: Span) -> Span:
    return Span(boundary_before(text, span.start), boundary_after(text, span.end))


class _Held:
    """The tokens of a text, and where each of their parts stands in the row of all parts."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = list(tokens(text))
        self.parts = [(part, token.span) for token in self.tokens for part in token.parts]
        self.places: defaultdict[str, list[int]] = defaultdict(list)
        for i, (part, _) in enumerate(self.parts):
            self.places[part].append(i)


def _places(held: _Held, word: Word) -> Iterator[Span]:
    if word.unspaced or (len(word.parts) == 1 and _is_unspaced(word.parts[0])):
        run = word.parts[0] + "".join(part[-1] for part in word.parts[1:])
        for token in held.tokens:
            if token.parts and _is_unspaced(token.parts[0]):
                yield from _within(token, held.text, run)
        return
    whole = word.whole or (word.parts[0] if len(word.parts) == 1 else None)
    for token in held.tokens:
        if whole and (token.whole or word.whole) and _spells(token, whole, prefix=word.prefix):
            yield token.span
    if word.parts:
        yield from _in_a_row(held, word)


def _spells(token: Token, whole: str, *, prefix: bool) -> bool:
    spelling = token.whole or " ".join(token.parts)
    return spelling.startswith(whole) if prefix else spelling == whole


def _in_a_row(held: _Held, word: Word) -> Iterator[Span]:
    """Yield the places of tokens whose parts are those of the word, one after the other."""
    *body, last = word.parts
    beginning = word.stem or (last if word.prefix else None)
    if beginning is None:
        ends = held.places.get(last, [])
    else:
        longer = (places for part, places in held.places.items() if part == last or part.startswith(beginning))
        ends = [i for places in longer for i in places]
    for end in ends:
        start = end - len(body)
        if start >= 0 and [part for part, _ in held.parts[start:end]] == body:
            yield Span(held.parts[start][1].start, held.parts[end][1].end)


def _within(token: Token, text: str, run: str) -> Iterator[Span]:
    folded = fold(token.span.slice(text))
    place = folded.find(run)
    if place < 0:
        return
    written = _written(token, text)
    if len(written) != len(folded):  # characters that only together fold as they do
        yield token.span
        return
    while place >= 0:
        yield Span(written[place].start, written[place + len(run) - 1].end)
        place = folded.find(run, place + len(run))


def _written(token: Token, text: str) -> list[Span]:
    """Return, for each character of a folded token, what it was written with."""
    written: list[Span] = []
    start = token.span.start
    while start < token.span.end:
        end = boundary_after(text, start + 1)
        written += [Span(start, end)] * len(fold(text[start:end]))
        start = end
    return written


def _is_unspaced(part: str) -> bool:
    return part[0] >= "\u0e00" and part[0].isalpha() and not "\uac00" <= part[0] <= "\ud7a3"


def _telling(pair: str) -> bool:
    """Whether a pair of characters says something by itself: two hiragana are mostly grammar."""
    return not all("\u3040" <= c <= "\u309f" for c in pair)
