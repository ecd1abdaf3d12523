"""Heading anchors as GitHub makes them."""

import re

_DROPPED = re.compile(r"[^\w\- ]")


def slug(text: str) -> str:
    """Return the anchor of a heading's readable text: lower case, punctuation dropped, spaces to hyphens."""
    return _DROPPED.sub("", text.strip().lower()).replace(" ", "-")


class Slugger:
    """Gives every heading of a note an anchor of its own: the second ``x`` is ``x-1``, the third ``x-2``."""

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}

    def slug(self, text: str) -> str:
        """Return the anchor of the note's next heading."""
        base = anchor = slug(text)
        while anchor in self._seen:
            self._seen[base] += 1
            anchor = f"{base}-{self._seen[base]}"
        self._seen[anchor] = 0
        return anchor
