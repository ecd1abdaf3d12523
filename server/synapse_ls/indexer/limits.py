"""How much of a note's front matter and structure is kept: more than anyone writes, less than a generated file holds.

What is cut is named as a problem of the note; its words stay findable.
"""

from collections.abc import Sequence
from typing import TypeVar

MOST = {"aliases": 1_000, "tags": 1_000, "headings": 20_000, "block ids": 20_000, "links": 20_000}

Item = TypeVar("Item")


def limited(kind: str, found: Sequence[Item], problems: list[str]) -> tuple[Item, ...]:
    """Return the first ``MOST[kind]`` of what was found; a cut is added to the problems."""
    most = MOST[kind]
    if len(found) > most:
        problems.append(f"only the first {most:,} of its {len(found):,} {kind} are kept; split the note to keep all")
    return tuple(found[:most])
