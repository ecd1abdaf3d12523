"""The query language: words, ``"phrases"``, ``-without`` and a few filters; everything else is literal text."""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from itertools import accumulate

from synapse_ls.core.model import SearchFilter
from synapse_ls.core.terms import Token, fold, tokens
from synapse_ls.search.stemming import stem
from synapse_ls.search.stopwords import ENGLISH, STOPWORDS, language

MAX_WORDS = 64
"""The most words that are looked for."""

# Longer queries are pasted pages: their beginning is looked at.
_MAX_TEXT = 2_000
_MAX_PARTS = 16
_MAX_ALL_PARTS = 256
_MAX_PHRASES = 16
_MAX_EXCLUDED = 16
_MAX_FILTERS = 32

# A sign means something only where a word starts; quotes must come in pairs.
_PIECE = re.compile(
    r"""
      (?<!\S)-(?: "(?P<no_phrase>[^"]*)" | (?P<no_word>[^\W\d_][^\s"]*) )
    | (?<!\S)(?P<key>tag|path|title):(?: "(?P<quoted>[^"]*)" | (?P<value>[^\s"]\S*) )
    | (?<!\S)\#(?P<tag>[^\s\#"'.,;:!?()\[\]{}<>|\\+]+)(?=[\s.,;:!?)]|$)
    | (?<!\w)"(?P<phrase>[^"]*)"
    """,
    re.VERBOSE,
)
_FIRST_NOT_LATIN = "\u0250"
_MOSTLY = 0.9
_SENTENCE = 4
_FIRST_UNSPACED = "\u0e00"
_MIN_PREFIX = 2


@dataclass(frozen=True, slots=True)
class Word:
    """A word, or a phrase, in the terms of the index: ``parts`` in a row, or the joined spelling ``whole``.

    ``prefix`` lets the last part be the beginning of a longer term, ``stem`` lets any term count that begins so.
    ``corrected`` marks a word that stands for a misspelt one.
    """

    parts: tuple[str, ...]
    whole: str | None = None
    prefix: bool = False
    stem: str | None = None
    corrected: bool = False

    @property
    def unspaced(self) -> bool:
        """Whether this is a run of a script without spaces, held by the index as pairs of characters."""
        pairs = zip(self.parts, self.parts[1:], strict=False)
        return len(self.parts) > 1 and self.parts[0] >= _FIRST_UNSPACED and all(a[1:] == b[:1] for a, b in pairs)

    @property
    def spelling(self) -> str:
        """The folded word in one piece."""
        return self.whole or " ".join(self.parts)

    @property
    def phrases(self) -> tuple[str, ...]:
        """The FTS5 phrases of which any one stands for the word."""
        spellings = [" ".join(self.parts)] if self.parts else []
        spellings += [self.whole] if self.whole else []
        found = [_quoted(spelling) for spelling in spellings]
        # Beginnings stand beside the word itself, so that the exact word counts twice.
        if self.stem:
            found.append(_quoted(self.stem) + "*")
        elif self.prefix:
            found += [_quoted(spelling) + "*" for spelling in spellings]
        return tuple(found)

    @property
    def match(self) -> str:
        """The FTS5 expression of the passages that hold the word."""
        found = self.phrases
        return found[0] if len(found) == 1 else f"({' OR '.join(found)})"


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed query; ``text`` is what an embedder reads: words and phrases as typed."""

    words: tuple[Word, ...] = ()
    phrases: tuple[Word, ...] = ()
    excluded: tuple[Word, ...] = ()
    filter: SearchFilter = field(default_factory=SearchFilter)
    text: str = ""

    @property
    def wanted(self) -> tuple[Word, ...]:
        """Words and phrases without stop words, unless there is nothing else."""
        common = STOPWORDS[self.language]
        return tuple(w for w in self.words if w.spelling not in common) + self.phrases or self.words

    @property
    def latin(self) -> bool:
        """Whether the query is written in Latin letters, most of it."""
        letters = [c for c in fold(self.text) if c.isalpha()]
        return sum(c < _FIRST_NOT_LATIN for c in letters) >= _MOSTLY * len(letters)

    @property
    def english(self) -> bool:
        """Whether the query may be English: Latin letters, and no sign of another language."""
        if not self.latin or self.language != ENGLISH:
            return False
        spellings = [word.spelling for word in self.words]
        long = len(spellings) >= _SENTENCE and not STOPWORDS[ENGLISH].intersection(spellings)
        # A sentence without one English particle is judged by a single foreign word or letter.
        return not (long and (not self.text.isascii() or any(set(spellings) & words for words in STOPWORDS.values())))

    @property
    def language(self) -> str:
        """The language that the query's stop words give away (see ``search.stopwords``)."""
        return language(word.spelling for word in self.words)

    @property
    def units(self) -> tuple[Word, ...]:
        """The smallest pieces by which a note may answer in part: words, phrases, pairs of unspaced characters."""
        return tuple(dict.fromkeys(unit for word in self.wanted for unit in _units(word)))[:MAX_WORDS]


def parse(text: str, *, prefix_last: bool = False) -> Query:
    """Parse what a user typed; any text is a query, and of a very long one the beginning counts.

    With ``prefix_last``, for search as you type, a word that ends where the text ends also matches as a prefix.
    """
    if len(text) > _MAX_TEXT:
        text, prefix_last = _beginning(text), False
    text = text.encode("utf-8", "replace").decode()  # half a surrogate pair, which JSON can carry, is no text
    filters: dict[str, list[str]] = {"path": [], "tag": [], "title": []}
    phrases: list[Word] = []
    excluded: list[Word] = []
    rest = list(text)
    readable = list(text)

    for piece in _PIECE.finditer(text):
        without = piece["no_phrase"] or piece["no_word"]
        value = piece["quoted"] or piece["value"]
        if without and (word := _phrase(without)):
            excluded.append(word)
        elif piece["key"] and value and value.strip():
            filters[piece["key"]].append(value.strip())
        elif piece["tag"] and any(c.isalpha() or c > "\x7f" for c in piece["tag"]):
            filters["tag"].append(piece["tag"])
        elif piece["phrase"] and (word := _phrase(piece["phrase"])):
            phrases.append(word)
            rest[piece.start() : piece.end()] = " " * len(piece.group())
            readable[piece.start()] = readable[piece.end() - 1] = " "
            continue
        else:
            continue
        rest[piece.start() : piece.end()] = readable[piece.start() : piece.end()] = " " * len(piece.group())

    words = [_stemmed(_word(t, prefix=prefix_last and t.span.end == len(text))) for t in tokens("".join(rest))]
    folders, tags, titles = (tuple(dict.fromkeys(filters[key]))[:_MAX_FILTERS] for key in ("path", "tag", "title"))
    return Query(
        _few(dict.fromkeys(words)),
        tuple(dict.fromkeys(phrases))[:_MAX_PHRASES],
        tuple(dict.fromkeys(excluded))[:_MAX_EXCLUDED],
        SearchFilter(folders=folders, tags=tags, titles=titles),
        " ".join("".join(readable).split()),
    )


def all_words(query: Query) -> str:
    """Return the FTS5 expression of passages that hold all that is wanted; empty if nothing is."""
    return " AND ".join(word.match for word in query.wanted)


def any_words(query: Query) -> str:
    """Return the FTS5 expression of passages that hold anything that is wanted; empty if nothing is."""
    return " OR ".join(word.match for word in _anything(query))


def any_phrases(query: Query) -> list[str]:
    """Return the phrases of ``any_words`` in their order."""
    return [phrase for word in _anything(query) for phrase in word.phrases]


def _anything(query: Query) -> Iterable[Word]:
    return dict.fromkeys(query.wanted + query.units)


def _beginning(text: str) -> str:
    """Return the beginning of a text, up to the end of a word where there is one."""
    beginning = text[:_MAX_TEXT]
    return beginning if text[_MAX_TEXT].isspace() else (beginning.rsplit(None, 1)[0] if beginning.strip() else "")


def _few(words: Collection[Word]) -> tuple[Word, ...]:
    """Return the first words, as many as may be and as have few enough parts together."""
    total = accumulate(len(word.parts) for word in words)
    return tuple(word for word, parts in zip(words, total, strict=True) if parts <= _MAX_ALL_PARTS)[:MAX_WORDS]


def _word(token: Token, *, prefix: bool) -> Word:
    if token.signed:
        return Word((), token.whole)
    if len(token.parts) > _MAX_PARTS:
        return _shortened(token)
    first = token.parts[0]
    single = len(token.parts) == 1 and first >= _FIRST_UNSPACED and (len(first) == 1 or not first[0].isalnum())
    long_enough = len(token.parts) > 1 or len(first) >= _MIN_PREFIX
    # Pairs of characters start at every character, so one alone is found as the beginning of a pair.
    return Word(token.parts, token.whole, prefix=single or (prefix and long_enough))


def _shortened(token: Token) -> Word:
    """Return the beginning of an address or the like; a sentence written without spaces keeps more of itself."""
    sentence = Word(token.parts[:MAX_WORDS])
    return sentence if sentence.unspaced else Word(token.parts[:_MAX_PARTS])


def _stemmed(word: Word) -> Word:
    return replace(word, stem=stem(word.parts[0])) if len(word.parts) == 1 else word


def _phrase(text: str) -> Word | None:
    found = list(tokens(text))
    if len(found) == 1:
        return _word(found[0], prefix=False)
    parts = tuple(part for token in found for part in token.parts)[:MAX_WORDS]
    return Word(parts) if parts else None


def _units(word: Word) -> Iterable[Word]:
    return (Word((pair,)) for pair in word.parts) if word.unspaced else (word,)


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'
