"""What the wiki links of vaults mean: ``python bench/links.py VAULT...``.

Each vault is indexed in a temporary folder. Every wiki link is resolved as an editor would ask for it, and the answer
is compared with what the index holds.
"""

import argparse
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from serving import save

from synapse_ls.core.config import DIALECTS, LinkSettings, Settings
from synapse_ls.core.model import Link
from synapse_ls.indexer.pipeline import Indexer
from synapse_ls.links import resolver
from synapse_ls.links.meaning import (
    Ambiguous,
    AttachmentMeant,
    BlockMeant,
    FragmentMissing,
    HeadingMeant,
    Meaning,
    Unresolved,
    certain,
)
from synapse_ls.markdown.parser import parse
from synapse_ls.store.database import Connection, Index

_MOST_FREQUENT = 10


@dataclass(frozen=True, slots=True)
class Asked:
    """A link as written in a note, what it means, and the path that the index holds for it."""

    source: str
    written: str
    link: Link
    meaning: Meaning
    held: str | None


def main() -> int:
    """Print the figures of each vault; returns 1 if the index and an answer ever disagree."""
    options = _options()
    reports = []
    for vault in options.vaults:
        with tempfile.TemporaryDirectory() as place:
            index = Index(Path(place) / "index" / "index.db")
            try:
                indexed = _index(index, vault.resolve(), options.dialect)
                with index.read() as db:
                    asked = list(_ask(db, vault.resolve()))
                    report = {
                        "vault": vault.resolve().name,
                        "dialect": resolver.spoken(db).name,
                        **indexed,
                        **_count(asked),
                    }
                    reports.append(report)
                    _show(report)
                    _sample(db, asked, options.sample, options.seed)
            finally:
                index.close()
    save({"vaults": reports}, options.out)
    return int(any(report["disagreements"] for report in reports))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("vaults", type=Path, nargs="+", metavar="VAULT", help="a folder of notes; it is only read")
    parser.add_argument("--dialect", choices=DIALECTS, default="auto", help="how links are written")
    parser.add_argument("--sample", type=int, default=0, help="print so many resolved links with their targets")
    parser.add_argument("--seed", type=int, default=1, help="which links the sample takes")
    parser.add_argument("--out", type=Path, help="write the figures as JSON to this file")
    return parser.parse_args()


def _index(index: Index, vault: Path, dialect: str) -> dict[str, Any]:
    indexer = Indexer(index, vault, Settings(links=LinkSettings(dialect)), lambda: None, watch=False)
    indexer.start()
    try:
        indexer.wait()
    finally:
        indexer.close()
    if indexer.error:
        sys.exit(indexer.error)
    return {"filesRead": indexer.counters.files_read}


def _ask(db: Connection, vault: Path) -> Iterator[Asked]:
    """Yield the wiki links of the notes as they are on the disk, in order."""
    rows: list[tuple[str, int]] = list(db.execute("SELECT path, id FROM notes ORDER BY path"))
    for source, note in rows:
        text = (vault / source).read_bytes().decode("utf-8", "replace")
        held = [
            path
            for (path,) in db.execute(
                "SELECT coalesce(n.path, k.attachment) FROM links k LEFT JOIN notes n ON n.id = k.resolved "
                "WHERE k.source = ? ORDER BY k.id",
                (note,),
            )
        ]
        links = parse(text, Path(source).stem).note.links
        for link, path in zip(links, held, strict=True):
            written = link.span.slice(text)
            if written.startswith(("[[", "![[")):
                yield Asked(source, written, link, resolver.resolve(db, source, link), path)


def _count(asked: list[Asked]) -> dict[str, Any]:
    kinds = Counter(_kind(one.meaning) for one in asked)
    resolved = sum(kinds.values()) - kinds["unresolved"]
    unresolved = Counter(one.meaning.target for one in asked if isinstance(one.meaning, Unresolved))
    return {
        "links": len(asked),
        "notes": resolved - kinds["attachment"],
        "headingsAndBlocks": kinds["place"],
        "fragmentsMissing": kinds["fragment missing"],
        "attachments": kinds["attachment"],
        "ambiguous": sum(isinstance(one.meaning, Ambiguous) for one in asked),
        "unresolved": kinds["unresolved"],
        "percentResolved": round(100 * resolved / len(asked), 1) if asked else None,
        "mostFrequentUnresolved": unresolved.most_common(_MOST_FREQUENT),
        "disagreements": sum(_path(one.meaning) != one.held for one in asked),
    }


def _path(meaning: Meaning) -> str | None:
    chosen = certain(meaning)
    return None if chosen is None else chosen.path


def _kind(meaning: Meaning) -> str:
    match certain(meaning):
        case None:
            return "unresolved"
        case AttachmentMeant():
            return "attachment"
        case HeadingMeant() | BlockMeant():
            return "place"
        case FragmentMissing():
            return "fragment missing"
        case _:
            return "note"


def _show(report: dict[str, Any]) -> None:
    print(f"{report['vault']} ({report['dialect']})")
    for name, value in report.items():
        if isinstance(value, int | float):
            print(f"  {name:20} {value:>8}")
    for target, number in report["mostFrequentUnresolved"]:
        print(f"  {number:6} x {target}")


def _sample(db: Connection, asked: list[Asked], size: int, seed: int) -> None:
    resolved = [one for one in asked if certain(one.meaning) is not None]
    for one in random.Random(seed).sample(resolved, min(size, len(resolved))):  # noqa: S311 - a repeatable sample
        path = _path(one.meaning)
        row = db.execute("SELECT title FROM notes WHERE path = ?", (path,)).fetchone()
        written = " ".join(one.written.split())
        print(f"  {written}  in  {one.source}\n      -> {path} ({row[0] if row else ''}) {_kind(one.meaning)}")


if __name__ == "__main__":
    sys.exit(main())
