"""What a link can mean: one value for each outcome. None of them is an error."""

from dataclasses import dataclass

from synapse_ls.core.text import Range
from synapse_ls.store.records import HeadingRecord


@dataclass(frozen=True, slots=True)
class NoteMeant:
    """A whole note."""

    note: int
    path: str


@dataclass(frozen=True, slots=True)
class HeadingMeant:
    """What stands under a heading of a note."""

    note: int
    path: str
    heading: HeadingRecord


@dataclass(frozen=True, slots=True)
class BlockMeant:
    """A block of a note, by its id (without ``^``)."""

    note: int
    path: str
    id: str
    range: Range


@dataclass(frozen=True, slots=True)
class FragmentMissing:
    """A note that is there, without the heading or block that the link names."""

    note: int
    path: str
    fragment: str


@dataclass(frozen=True, slots=True)
class AttachmentMeant:
    """A file of the vault that is no note; ``size`` in bytes."""

    path: str
    size: int


@dataclass(frozen=True, slots=True)
class Unresolved:
    """Nothing: no note and no file has the name ``target``, which is the reading of the link that was tried first."""

    target: str


InNote = NoteMeant | HeadingMeant | BlockMeant | FragmentMissing
Certain = InNote | AttachmentMeant


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """One of several that fit equally well but for their place: ``chosen`` is the nearest.

    ``candidates`` are the paths of all of them, the chosen one first, the others by path.
    """

    chosen: Certain
    candidates: tuple[str, ...]


Meaning = Certain | Ambiguous | Unresolved


def certain(meaning: Meaning) -> Certain | None:
    """Return what a link is taken to mean: the chosen one of several, None if nothing."""
    match meaning:
        case Ambiguous():
            return meaning.chosen
        case Unresolved():
            return None
        case _:
            return meaning
