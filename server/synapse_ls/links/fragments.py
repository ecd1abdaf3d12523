"""The place in a note that a link's fragment names: a heading by its text or slug, a block by its id."""

import re
from typing import TYPE_CHECKING

from synapse_ls.links.meaning import BlockMeant, FragmentMissing, HeadingMeant, InNote, NoteMeant
from synapse_ls.markdown.slug import slug
from synapse_ls.store import notes
from synapse_ls.store.database import Connection
from synapse_ls.store.records import HeadingRecord

if TYPE_CHECKING:
    from collections.abc import Callable

_HYPHENS = re.compile("-+")


def place(db: Connection, note: int, path: str, fragment: str | None) -> InNote:
    """Return the note, or the place in it that ``fragment`` (what follows the ``#``) names."""
    if not fragment:
        return NoteMeant(note, path)
    if fragment.startswith("^"):
        where = notes.blocks(db, note).get(fragment[1:])
        return FragmentMissing(note, path, fragment) if where is None else BlockMeant(note, path, fragment[1:], where)
    heading = _heading(notes.headings(db, note), fragment)
    return FragmentMissing(note, path, fragment) if heading is None else HeadingMeant(note, path, heading)


def _heading(headings: list[HeadingRecord], fragment: str) -> HeadingRecord | None:
    """Return the heading that a link names; in a path of headings (a#b) each lies under the one before.

    A path that leads nowhere means its last part.
    """
    for path in ([fragment], fragment.split("#"), [fragment.rpartition("#")[2]]):
        inside, found = headings, None
        for name in path:
            found = _named(inside, name)
            if found is None:
                break
            section = found.section
            inside = [heading for heading in headings if section.start < heading.section.start < section.end]
        if found is not None:
            return found
    return None


def _named(headings: list[HeadingRecord], name: str) -> HeadingRecord | None:
    """Return the first heading of a name: by its text, else its slug, else what its text alone would slug to.

    At last runs of hyphens count as one: punctuation between spaces is dropped by some and not by others.
    """
    if not name.strip():
        return None
    wanted = slug(name)
    alike: tuple[Callable[[HeadingRecord], bool], ...] = (
        lambda heading: heading.text.casefold() == name.strip().casefold(),
        lambda heading: heading.slug == wanted,
        lambda heading: slug(heading.text) == wanted,
        lambda heading: _HYPHENS.sub("-", slug(heading.text)) == _HYPHENS.sub("-", wanted),
    )
    return next((heading for same in alike for heading in headings if same(heading)), None)
