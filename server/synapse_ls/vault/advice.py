"""The right model for a vault: what to say to somebody whose notes are in languages that the model does not read."""

import threading
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Final

from synapse_ls.inference.registry import ModelSpec
from synapse_ls.store import chunks
from synapse_ls.store.database import Connection
from synapse_ls.vault.languages import NAMES, language

_SAMPLE: Final = 200
# Fewer passages than this whose language shows say nothing of a vault.
_ENOUGH: Final = 3
_WHAT_TO_DO: Final = (
    'pip install "synapse-ls[multilingual]" and set embedding.model to multilingual, or run synapse-ls models pull '
    "multilingual-e5-small and set it to multilingual-e5-small"
)


class Advisor:
    """Judges a vault when it is first indexed, and again when it has doubled. May be asked from any thread."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._lock = threading.Lock()
        self._judged: tuple[str, int] | None = None
        self._advice: str | None = None
        self._said: set[str] = set()

    def advice(self, db: Connection, count: int, spec: ModelSpec) -> str | None:
        """Return what to do if most of the ``count`` passages are not for this model; says it the first time."""
        if spec.reads is None or not count:
            return None
        with self._lock:
            judged = (spec.name, count.bit_length())
            if judged != self._judged:
                self._judged = judged
                foreign = unread(chunks.sample(db, _SAMPLE), spec.reads)
                self._advice = None if foreign is None else _advice(foreign, spec)
                if self._advice is not None and spec.name not in self._said:
                    self._said.add(spec.name)
                    self._say(self._advice)
            return self._advice


def unread(texts: Iterable[str], reads: frozenset[str]) -> str | None:
    """Return the commonest language of most texts if it is none of those that a model ``reads``, by code."""
    found = Counter(code for text in texts if (code := language(text)) is not None)
    foreign = Counter({code: number for code, number in found.items() if code not in reads})
    if foreign.total() < _ENOUGH or 2 * foreign.total() <= found.total():
        return None
    return min(foreign, key=lambda code: (-foreign[code], code))


def _advice(foreign: str, spec: ModelSpec) -> str:
    return (
        f"most of the notes are in {NAMES[foreign]}, and the model {spec.name} reads {spec.languages} only: words and "
        f"links find them, meaning does not; for a model of many languages {_WHAT_TO_DO}"
    )
