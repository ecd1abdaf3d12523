"""The words that tell what a text is about: those it repeats and few others use."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence

from synapse_ls.core.terms import Token, tokens
from synapse_ls.search.query import Query, Word
from synapse_ls.search.stopwords import ENGLISH, STOPWORDS, language
from synapse_ls.store import chunks, terms
from synapse_ls.store.database import Connection

MOST = 12
# How many different words are looked up, the most repeated ones.
_COUNTED = 120
_SHORTEST, _LONGEST = 3, 40
_MAX_PARTS = 4
_FIRST_UNSPACED = "\u0e00"
_HIRAGANA = ("\u3040", "\u309f")
# A word of the title says more than one of the text.
_TITLE_WORTH = 2


def telling(db: Connection, note: int, titles: Sequence[str], texts: Sequence[str], most: int = MOST) -> Query:
    """Return the query for the most telling words of some texts below some titles, the most telling first.

    ``db`` says how rare a word is, and ``note`` is the note there that the texts are from, if it is there: what no
    other note says tells nothing.
    """
    counted = Counter(word for text in texts for word in words(text))
    for title in titles:
        for word in words(title):
            counted[word] += _TITLE_WORTH
    common = STOPWORDS[language(word.spelling for word in counted)] | STOPWORDS[ENGLISH]
    tried = [(word, often) for word, often in counted.most_common() if word.spelling not in common][:_COUNTED]
    total = chunks.number(db)
    own = sorted(chunks.of_notes(db, [note]))
    worth: dict[Word, float] = {}
    for word, often in tried:
        number = terms.count(db, word.match)
        if number <= len(own):
            number -= len(terms.holding(db, word.match, own)) if number else 0
        if number:
            worth[word] = (1 + math.log(often)) * math.log(1 + (total - number + 0.5) / (number + 0.5))
    return Query(words=tuple(sorted(worth, key=lambda word: -worth[word])[:most]))


def english(text: str) -> bool:
    """Return whether a text may be English (see ``Query.english``)."""
    held = tuple(Word(token.parts, token.whole) for token in tokens(text))
    return Query(words=held, text=text).english


def words(text: str) -> Iterator[Word]:
    """Yield the words of a text that may tell something, in the order of the text; unspaced scripts give pairs."""
    for token in tokens(text):
        yield from _words(token)


def _words(token: Token) -> Iterator[Word]:
    if token.signed:
        yield Word((), token.whole)
    elif token.parts[0] >= _FIRST_UNSPACED and not token.whole and _is_run(token):
        yield from (Word((pair,)) for pair in token.parts if not all(_HIRAGANA[0] <= c <= _HIRAGANA[1] for c in pair))
    elif len(token.parts) > _MAX_PARTS:
        yield from (Word((part,)) for part in token.parts if _may_tell(part))
    elif _may_tell(token.whole or " ".join(token.parts)):
        yield Word(token.parts, token.whole)


def _is_run(token: Token) -> bool:
    return len(token.parts) > 1 and all(len(part) == 2 for part in token.parts)  # noqa: PLR2004 - pairs


def _may_tell(word: str) -> bool:
    return _SHORTEST <= len(word) <= _LONGEST and not word.isdigit()
