"""How Logseq names pages: in the file's name, in the properties that open a page, and by day."""

import datetime as dt
import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from urllib.parse import unquote

_PROPERTY = re.compile(r"(?:-[ \t]+)?([A-Za-z][\w.-]*)::(?:[ \t]+(.*))?")
_LINE_END = re.compile(r"\r\n|\n|\r")
# Page properties stand in the first block; nobody writes more of them than this.
_MAX_PROPERTIES = 50
_ESCAPED = re.compile(r"%[0-9A-Fa-f]{2}")
_DAY = re.compile(r"(\d{4})[_-](\d\d)[_-](\d\d)")
_REFERENCE = re.compile(r"\[\[([^\[\]]+)\]\]")
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Page:
    """What the properties of a page (``title::``, ``alias::``) say about its names."""

    title: str | None = None
    aliases: tuple[str, ...] = ()


def page(text: str, start: int = 0) -> Page:
    """Read the page properties at offset ``start`` of a text: the lines ``name:: value`` before anything else."""
    found: dict[str, str] = {}
    place = start
    for _ in range(_MAX_PROPERTIES):
        end = _LINE_END.search(text, place)
        line = _PROPERTY.fullmatch(text[place : end.start() if end else len(text)].strip(" \t\ufeff"))
        if not line:
            break
        found.setdefault(line[1].lower(), (line[2] or "").strip())
        if not end:
            break
        place = end.end()
    return Page(found.get("title") or None, tuple(_listed(found.get("alias", "") or found.get("aliases", ""))))


def page_of(stem: str) -> str | None:
    """Return the page name that a file's name stands for (``a___b``, ``a%2Fb``), if it is not the name itself."""
    name = stem.replace("___", "/")
    if _ESCAPED.search(name):
        name = unquote(name)
    return name if name != stem else None


def days(path: str) -> tuple[str, ...]:
    """Return the names of the day whose journal lies at ``path`` (``journals/2024_01_31.md``), if one does."""
    file = PurePosixPath(path)
    match = _DAY.fullmatch(file.stem)
    if not match or file.parent.name != "journals":
        return ()
    try:
        day = dt.date(int(match[1]), int(match[2]), int(match[3]))
    except ValueError:
        return ()
    month, number = _MONTHS[day.month - 1], f"{day.day}{_ordinal(day.day)}"
    return (f"{month[:3]} {number}, {day:%Y}", f"{month} {number}, {day:%Y}", f"{day:%Y-%m-%d}")


def _listed(value: str) -> list[str]:
    """Return the names in a list of names, some of them perhaps written as links."""
    linked = _REFERENCE.findall(value)
    plain = [part.strip(" \t#") for part in _REFERENCE.sub("", value).split(",")]
    return [name for name in dict.fromkeys((*linked, *plain)) if name.strip()]


def _ordinal(day: int) -> str:
    return "th" if day in {11, 12, 13} else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
