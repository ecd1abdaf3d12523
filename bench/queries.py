"""Queries and links taken from a vault itself, the same ones in the same order each time."""

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_SEED = 20
_HEADING = re.compile(r"#{1,6}\s+(.+)")
_SENTENCE = re.compile(r"[^.!?。!?]{20,}")
_MARKUP = re.compile(r"\[\[|\]\]|\]\([^)]*\)|[`*_|>\[\]{}<$=#~\"\\-]+|https?:\S+")
_WIKI_LINK = re.compile(r"\[\[([^\]|#^\n]+)")


@dataclass(frozen=True, slots=True)
class LinkPlace:
    """Where a link to another note of the vault stands: ``line`` is 0-based, ``character`` in UTF-16 units."""

    note: Path
    line: int
    character: int


def note_paths(vault: Path) -> list[Path]:
    """Return the vault's notes, sorted, without those in dot folders."""
    paths = (path for suffix in ("*.md", "*.markdown") for path in vault.rglob(suffix))
    return sorted(path for path in paths if not any(part.startswith(".") for part in path.relative_to(vault).parts))


def queries_of(vault: Path) -> list[str]:
    """Return distinct queries: headings and the first words of paragraphs, shuffled with a fixed seed."""
    found = dict.fromkeys(query for path in note_paths(vault) for query in _queries_in(_text(path)))
    queries = list(found)
    random.Random(_SEED).shuffle(queries)  # noqa: S311 - a repeatable order, nothing secret
    return queries


def links_of(vault: Path) -> list[LinkPlace]:
    """Return the places of wiki links that lead to a note of the vault, shuffled with a fixed seed."""
    paths = note_paths(vault)
    names = {path.stem.lower() for path in paths}
    places = [
        LinkPlace(path, number, len(line[: match.start(1)].encode("utf-16-le")) // 2)
        for path in paths
        for number, line in enumerate(re.split(r"\r\n|\r|\n", _text(path)))
        for match in _WIKI_LINK.finditer(line)
        if match[1].strip().rpartition("/")[2].lower() in names
    ]
    random.Random(_SEED).shuffle(places)  # noqa: S311 - a repeatable order, nothing secret
    return places


def _queries_in(text: str) -> Iterator[str]:
    for block in re.split(r"\n\s*\n", text):
        first = block.strip().partition("\n")[0]
        heading = _HEADING.match(first)
        sentence = heading or _SENTENCE.match(first)
        if sentence is None or first.startswith(("```", "---", "%%", "|", "<")):
            continue
        words = _MARKUP.sub(" ", heading[1] if heading else sentence[0]).split()
        query = " ".join(words[:8])[:48].strip()
        if len(query) > 3:
            yield query


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")
