"""The names under which a note can be linked, and the key under which a name is looked up."""

import unicodedata
from collections.abc import Iterable
from pathlib import PurePosixPath

from synapse_ls.store.records import NameRecord

_NOTE_ENDINGS = (".md", ".markdown")


def without_ending(name: str) -> str:
    """Return a name or path without the ending of a note; other dots belong to the name."""
    for ending in _NOTE_ENDINGS:
        if name.lower().endswith(ending) and len(name) > len(ending):
            return name[: -len(ending)]
    return name


def folded(name: str) -> str:
    """Return a name as it is compared when case does not decide: composed and case-folded, accents kept."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def key(name: str) -> str:
    """Return the look-up key of a note's name or of a link's target: its last component, folded.

    Any text has a key: half a surrogate pair, which a buffer can hold and the index cannot, becomes ``?``.
    """
    name = name.encode("utf-8", "replace").decode()
    return folded(without_ending(name.strip().rstrip("/")).rpartition("/")[2].strip())


def names_of(path: str, title: str, aliases: Iterable[str]) -> tuple[NameRecord, ...]:
    """Return the names of the note at ``path``: its path, then its aliases, then its title, without repeats."""
    named = [NameRecord("path", without_ending(path), key(PurePosixPath(path).name))]
    named += [NameRecord("alias", alias, key(alias)) for alias in aliases]
    named.append(NameRecord("title", title, key(title)))
    return tuple({(name.kind, name.text): name for name in named if name.key}.values())
