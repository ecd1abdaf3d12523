"""How long a text is for an embedder, by an estimate that needs no model.

Counted like a word-piece tokenizer does on average: words by their length, unspaced scripts by the character,
punctuation by the sign. Against the English MiniLM's tokenizer the estimate is within a fifth for nine passages of ten.
"""

import re
from itertools import islice

_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3040-\u30ff\u3130-\u318f\u3400-\u9fff\uac00-\ud7af"
    "\uf900-\ufaff\U00020000-\U0003ffff"
)
PIECE = re.compile(
    r"data:[\w/+.-]{1,80}(?:;[\w=-]{1,40}){0,4}?;base64,[\w+/=-]*+"
    rf"|[{_UNSPACED}]"
    rf"|[A-Za-z]{{1,6}}|[0-9]{{1,3}}|[^\W{_UNSPACED}A-Za-z0-9_]{{1,2}}"
    r"|[^\w\s]|_"
)
"""One estimated token; an inlined file (a ``data:`` URI) counts as one, for nobody reads it."""


def estimate(text: str, most: int | None = None) -> int:
    """Return about how many tokens an embedder makes of ``text``; never more than its length.

    With ``most``, only whether it is more matters: the count ends one above it, however long the text is.
    """
    # One by one, so that other threads get their turn while a long text is counted.
    return sum(1 for _ in islice(PIECE.finditer(text), None if most is None else most + 1))
