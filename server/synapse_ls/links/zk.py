"""How zk names notes: by the id at the start of a file's name."""

import re

_ID = re.compile(r"(?!\d{4}[_-]\d\d)(\d{8,17}|[a-z0-9]{4})(?=[ _-]|$)")
_ID_AND_TITLE = re.compile(r"(\d{8,17}|[a-z0-9]{4})[ _-]+\S")


def id_of(stem: str) -> str | None:
    """Return the id that a file's name starts with (``202401311200-a-title``, ``x7a2 A title``), if more follows."""
    match = _ID.match(stem)
    return match[1] if match and match[1] != stem else None


def id_in(target: str) -> str | None:
    """Return the id at the start of a link's target, if a title follows it."""
    match = _ID_AND_TITLE.match(target)
    return match[1] if match else None
