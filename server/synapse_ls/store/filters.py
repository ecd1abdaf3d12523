"""Which notes a search may look at."""

import json

from synapse_ls.core.model import SearchFilter
from synapse_ls.core.terms import fold
from synapse_ls.store.database import Connection


def notes(db: Connection, wanted: SearchFilter) -> list[int] | None:
    """Return the ids of the notes that a filter leaves, ascending, or None if it leaves all."""
    conditions: list[str] = []
    values: list[str | float] = []
    if wanted.folders:
        conditions.append("(" + " OR ".join("path GLOB ?" for _ in wanted.folders) + ")")
        values += [_below(folder) for folder in wanted.folders]
    for folder in wanted.exclude_folders:
        conditions.append("path NOT GLOB ?")
        values.append(_below(folder))
    for tag in wanted.tags:
        conditions.append("id IN (SELECT note FROM tags WHERE folded = ? OR folded GLOB ?)")
        folded = fold(tag.lstrip("#").rstrip("/"))
        values += [folded, _escaped(folded) + "/*"]
    for title in wanted.titles:
        conditions.append("id IN (SELECT note FROM symbols WHERE kind IN ('note', 'alias') AND folded GLOB ?)")
        values.append(f"*{_escaped(fold(title))}*")
    if wanted.modified_after is not None:
        conditions.append("mtime_ns > ?")
        values.append(wanted.modified_after * 1e9)
    if not conditions and not wanted.properties:
        return None
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    rows = db.execute(f"SELECT id, properties FROM notes{where} ORDER BY id", values)
    return [note for note, properties in rows if _has(properties, wanted.properties)]


def _has(properties: str, wanted: tuple[tuple[str, str], ...]) -> bool:
    if not wanted:
        return True
    table = json.loads(properties)
    for key, value in wanted:
        found = table.get(key)
        texts = [fold(str(item)) for item in (found if isinstance(found, list) else [found]) if item is not None]
        if fold(value) not in texts:
            return False
    return True


def _below(folder: str) -> str:
    folder = folder.strip("/")
    return f"{_escaped(folder)}/*" if folder else "*"


def _escaped(text: str) -> str:
    return "".join(f"[{c}]" if c in "*?[" else c for c in text)
