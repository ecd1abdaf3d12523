"""The names under which a note can be linked, and the key under which a name is looked up."""

import unicodedata
from collections.abc import Iterable
from pathlib import PurePosixPath

from synapse_ls.links import logseq, zk
from synapse_ls.store.records import NameRecord

_NOTE_ENDINGS = (".md", ".markdown")


def without_ending(name: str) -> str:
    """Return a name or path without the ending of a note; other dots belong to the name."""
    for ending in _NOTE_ENDINGS:
        if name.lower().endswith(ending) and len(name) > len(ending):
            return name[: -len(ending)]
    return name


def composed(name: str) -> str:
    """Return a name as it is compared when case decides."""
    return unicodedata.normalize("NFC", name)


def folded(name: str) -> str:
    """Return a name as it is compared when case does not decide: composed and case-folded, accents kept."""
    return composed(composed(name).casefold())


def key(name: str) -> str:
    """Return the look-up key of a note's name or of a link's target: its last component, folded, without endings.

    Names that differ in the endings of notes share a key: ``a.markdown`` may be a file or the name of another. Any
    text has a key: half a surrogate pair, which a buffer can hold and the index cannot, becomes ``?``.
    """
    name = name.encode("utf-8", "replace").decode()
    last = name.strip().rstrip("/").rpartition("/")[2].strip()
    while (shorter := without_ending(last)) != last:
        last = shorter
    return folded(last.strip())


def names_of(path: str, title: str, aliases: Iterable[str], page: str | None = None) -> tuple[NameRecord, ...]:
    """Return the names of the note at ``path`` without repeats; ``page`` is a page name that the note gives itself.

    Its path, its aliases and its title count everywhere; names of the kinds ``page``, ``journal`` and ``id`` are only
    looked at in vaults whose dialect knows them.
    """
    stem = without_ending(PurePosixPath(path).name)
    found = [("path", without_ending(path)), *(("alias", alias) for alias in aliases), ("title", title)]
    found += [("page", name) for name in (page, logseq.page_of(stem)) if name]
    found += [("journal", name) for name in logseq.days(path)]
    found += [("id", name) for name in (zk.id_of(stem),) if name]
    return tuple(NameRecord(kind, text, key(text)) for kind, text in dict.fromkeys(found) if key(text))
