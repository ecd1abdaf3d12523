"""The query language: words, ``"phrases"``, ``-without`` and a few filters; everything else is literal text."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from synapse_ls.core.model import SearchFilter
from synapse_ls.core.terms import Token, fold, tokens
from synapse_ls.search.stemming import stem
from synapse_ls.search.stopwords import ENGLISH, STOPWORDS, language

MAX_WORDS = 64

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
    def match(self) -> str:
        """The FTS5 expression of the notes that hold the word."""
        spellings = [" ".join(self.parts)] if self.parts else []
        spellings += [self.whole] if self.whole else []
        found = [_quoted(spelling) for spelling in spellings]
        # Beginnings stand beside the word itself, so that the exact word counts twice.
        if self.stem:
            found.append(_quoted(self.stem) + "*")
        elif self.prefix:
            found += [_quoted(spelling) + "*" for spelling in spellings]
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
    def english(self) -> bool:
        """Whether the query may be English: Latin letters, and no sign of another language."""
        letters = [c for c in fold(self.text) if c.isalpha()]
        latin = sum(c < _FIRST_NOT_LATIN for c in letters)
        if latin < _MOSTLY * len(letters) or self.language != ENGLISH:
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
    """Parse what a user typed; any text is a query.

    With ``prefix_last``, for search as you type, a word that ends where the text ends also matches as a prefix.
    """
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
    return Query(
        tuple(dict.fromkeys(words))[:MAX_WORDS],
        tuple(dict.fromkeys(phrases)),
        tuple(dict.fromkeys(excluded)),
        SearchFilter(folders=tuple(filters["path"]), tags=tuple(filters["tag"]), titles=tuple(filters["title"])),
        " ".join("".join(readable).split()),
    )


def all_words(query: Query) -> str:
    """Return the FTS5 expression of passages that hold all that is wanted; empty if nothing is."""
    return " AND ".join(word.match for word in query.wanted)


def any_words(query: Query) -> str:
    """Return the FTS5 expression of passages that hold anything that is wanted; empty if nothing is."""
    return " OR ".join(word.match for word in dict.fromkeys(query.wanted + query.units))


def _word(token: Token, *, prefix: bool) -> Word:
    if token.signed:
        return Word((), token.whole)
    first = token.parts[0]
    single = len(token.parts) == 1 and first >= _FIRST_UNSPACED and (len(first) == 1 or not first[0].isalnum())
    long_enough = len(token.parts) > 1 or len(first) >= _MIN_PREFIX
    # Pairs of characters start at every character, so one alone is found as the beginning of a pair.
    return Word(token.parts, token.whole, prefix=single or (prefix and long_enough))


def _stemmed(word: Word) -> Word:
    return replace(word, stem=stem(word.parts[0])) if len(word.parts) == 1 else word


def _phrase(text: str) -> Word | None:
    found = list(tokens(text))
    if len(found) == 1:
        return _word(found[0], prefix=False)
    parts = tuple(part for token in found for part in token.parts)
    return Word(parts) if parts else None


def _units(word: Word) -> Iterable[Word]:
    return (Word((pair,)) for pair in word.parts) if word.unspaced else (word,)


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'
