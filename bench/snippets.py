"""How often a hit's snippet holds the sentence that answers: six fictional people's vaults, judged by hand.

``python bench/snippets.py`` asks the queries of ``personas/snippets.jsonl``, each with the note that answers it and the
words there that do, and the quotations among the personas' queries, which are themselves the words looked for. Prints
two shares and writes them to ``results/snippets.json``: of answers whose hit for the note shows the words, and of
passages that hold the words whose snippet does, whichever passage won. Queries are told apart by whether they share a
word with the sentence. The figures of the first run stay in the file.
"""

import argparse
import json
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from inprocess import LARGEST_NOTE, build, embedding

from synapse_ls.core.model import SearchRequest
from synapse_ls.core.terms import index_terms
from synapse_ls.indexer.record import note_record
from synapse_ls.inference import embedder
from synapse_ls.markdown.plain import plain
from synapse_ls.search import searcher
from synapse_ls.search.query import parse
from synapse_ls.search.searcher import Semantic
from synapse_ls.search.snippet import snippet
from synapse_ls.store import chunks, notes
from synapse_ls.store.database import Connection, Index

HERE = Path(__file__).parent
PERSONAS = HERE / "personas"
RESULT = HERE / "results" / "snippets.json"
_RIGHT = 3


@dataclass(frozen=True, slots=True)
class Case:
    """A query, the note that answers it and the readable words there that do."""

    query: str
    note: str
    sentence: str
    quoted: bool

    @property
    def group(self) -> str:
        """A quotation, or a query with or without a word of the sentence."""
        if self.quoted:
            return "quotation"
        wanted = {word.stem or word.spelling for word in parse(self.query).wanted}
        terms = index_terms(self.sentence)
        return "shares words" if any(t.startswith(w) for w in wanted for t in terms) else "shares none"


def main() -> None:
    """Measure, print and write the result."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    asked = list(cases())
    with tempfile.TemporaryDirectory() as place:
        index = Index(Path(place) / "index" / "index.db")
        model = embedder.load("bundled")
        build(index, list(_records()), model)
        with index.read() as db:
            figures = measured(db, asked, Semantic(embedding(model), "ok"))
        index.close()
    for group, row in figures.items():
        print(f"{group:14} {json.dumps(row)}")
    kept = json.loads(RESULT.read_text()) if RESULT.exists() else {"first": figures}
    RESULT.write_text(json.dumps({"first": kept["first"], "now": figures}, indent=1) + "\n")


def cases() -> Iterator[Case]:
    """Yield the judged cases and the quotations."""
    for row in _lines(PERSONAS / "snippets.jsonl"):
        yield Case(row["query"], row["note"], row["sentence"], quoted=False)
    for path in sorted((PERSONAS / "queries").glob("*.jsonl")):
        for row in _lines(path):
            right = [note for note, grade in row["relevant"].items() if grade == _RIGHT]
            if row["category"] == "quote" and len(right) == 1:
                yield Case(row["query"], f"{path.stem}/{right[0]}", row["query"], quoted=True)


def measured(db: Connection, asked: Sequence[Case], semantic: Semantic) -> dict[str, dict[str, float]]:
    """Return the number of cases and the two shares, for each group and for all."""
    shown: defaultdict[str, list[tuple[bool, bool]]] = defaultdict(list)
    for case in asked:
        answer = searcher.search(db, SearchRequest(case.query), semantic)
        by_hit = any(_holds(hit.snippet.text, case) for hit in answer.hits if hit.path == case.note)
        note = notes.by_path(db, case.note)
        held = [row.text for row in chunks.of_note(db, note.id if note else 0) if _holds(plain(row.text), case)]
        if not held:
            raise SystemExit(f"no passage of {case.note} holds: {case.sentence}")
        by_passage = _holds(snippet(held[0], parse(case.query)).text, case)
        for group in (case.group, "all"):
            shown[group].append((by_hit, by_passage))
    return {
        group: {
            "cases": len(rows),
            "hit shows it": round(sum(row[0] for row in rows) / len(rows), 3),
            "passage shows it": round(sum(row[1] for row in rows) / len(rows), 3),
        }
        for group, rows in sorted(shown.items())
    }


def _holds(text: str, case: Case) -> bool:
    return " ".join(case.sentence.lower().split()) in " ".join(text.lower().split())


def _records() -> Iterator[notes.NoteRecord]:
    root = PERSONAS / "vaults"
    for path in sorted(root.rglob("*.md")):
        yield note_record(path.relative_to(root).as_posix(), path.read_bytes(), 0, LARGEST_NOTE)


def _lines(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8") as file:
        yield from map(json.loads, file)


if __name__ == "__main__":
    main()
