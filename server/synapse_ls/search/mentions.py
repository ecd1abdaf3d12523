"""Names without a link: the notes that a text calls by their title or an alias."""

import math
from collections.abc import Iterator, Sequence

from synapse_ls.core.terms import Token, fold, tokens
from synapse_ls.search.query import Word
from synapse_ls.search.seeds import id_of
from synapse_ls.search.snapshot import Snapshot
from synapse_ls.search.stopwords import STOPWORDS
from synapse_ls.store import chunks, notes, relations, terms
from synapse_ls.store.database import Connection

# Words of a name; characters of one in a script without spaces.
_MOST_WORDS, _MOST_CHARACTERS = 5, 10
_SHORTEST = 2
_MOST_TRIED = 4_000
_FIRST_UNSPACED = "\u0e00"
_COMMON = frozenset().union(*STOPWORDS.values())


def mentions(snapshot: Snapshot, texts: Sequence[str]) -> dict[int, float]:
    """Return how well some texts name other notes, 0 to 1 by the rarity of the name, by note."""
    names = list(dict.fromkeys(name for text in texts for name in _possible(text)))[:_MOST_TRIED]
    found: dict[int, float] = {}
    for note, name in _named(snapshot, names):
        found[note] = max(_rarity(snapshot.db, name), found.get(note, 0.0))
    return found


def _named(snapshot: Snapshot, names: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield (note, name) of the notes called so, open ones by what they are called on the screen."""
    yield from ((note, name) for note, name in relations.named(snapshot.db, names) if note not in snapshot.shadowed)
    if snapshot.buffers is not None and snapshot.typed:
        found = [
            (buffer, name) for buffer, name in relations.named(snapshot.buffers, names) if buffer in snapshot.typed
        ]
        rows = notes.by_ids(snapshot.buffers, [buffer for buffer, _ in found])
        yield from ((id_of(snapshot, snapshot.buffers, rows[buffer]), name) for buffer, name in found)


def _possible(text: str) -> Iterator[str]:
    """Yield the folded rows of a text's words, and the pieces of its unspaced runs, that could be names."""
    held = list(tokens(text))
    folded = [fold(token.span.slice(text)) for token in held]
    for first, token in enumerate(held):
        if _is_run(token):
            run = folded[first]
            for start in range(len(run)):
                yield from (run[start:end] for end in range(start + _SHORTEST, start + _MOST_CHARACTERS + 1))
            continue
        for last in range(first, min(first + _MOST_WORDS, len(held))):
            row = text[token.span.start : held[last].span.end]
            if "\n" in row or any(_is_run(other) for other in held[first : last + 1]):
                break
            name = " ".join(fold(row).split())
            if len(name) > _SHORTEST and name not in _COMMON and not name.isdigit():
                yield name


def _is_run(token: Token) -> bool:
    return bool(token.parts) and token.parts[0] >= _FIRST_UNSPACED and not token.whole


def _rarity(db: Connection, name: str) -> float:
    """Return how much a name tells: 1 if hardly any passage holds it, 0 if all do."""
    phrase, total = _phrase(name), chunks.number(db)
    if phrase is None or total < 2:  # noqa: PLR2004 - rarity among one is none
        return 0.0
    return max(0.0, 1 - math.log(max(1, terms.count(db, phrase))) / math.log(total))


def _phrase(name: str) -> str | None:
    parts = tuple(part for token in tokens(name) for part in token.parts)
    return Word(parts).match if parts else None
