"""Ranking over six fictional people's vaults, in one haystack or in growing ones.

Usage: ``python bench/personas/personas.py [--half tuning|held|both] [--tiers] [--against FILE] [--json FILE]``. The
notes of one to six personas are indexed in this process; each query is judged by the notes graded for it. Queries are
told apart by a hash of their id: one half is for choosing weights, the other for the figure at the end. Figures come
with a bootstrap interval of 95 %, and with ``--against`` (a file that an earlier run wrote) as a difference, query by
query.
"""

import argparse
import json
import random
import statistics
import sys
import tempfile
import zlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

import inprocess as quality  # noqa: E402 - the folder above is no package

from synapse_ls.core.model import Mode, SearchRequest  # noqa: E402 - as above
from synapse_ls.indexer.record import note_record  # noqa: E402 - as above
from synapse_ls.inference import embedder  # noqa: E402 - as above
from synapse_ls.search import searcher  # noqa: E402 - as above
from synapse_ls.search.searcher import Semantic  # noqa: E402 - as above
from synapse_ls.store.database import Index  # noqa: E402 - as above

PERSONAS = ("engineer", "gardener", "gamemaster", "historian", "nurse", "phd")
MODES: tuple[Mode, ...] = ("lexical", "semantic", "hybrid")
RIGHT = 3
_RESAMPLES = 1000


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked and the grade, 1 to 3, of each note that helps; none for a query without an answer."""

    id: str
    category: str
    text: str
    grades: dict[str, float]

    @property
    def held(self) -> bool:
        """Whether it is kept for the final figure."""
        return zlib.crc32(self.id.encode()) % 2 == 1


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half", choices=("tuning", "held", "both"), default="tuning")
    parser.add_argument("--tiers", action="store_true", help="one to six personas in the haystack, not only all six")
    parser.add_argument("--against", type=Path, metavar="FILE", help="compare with an earlier run, query by query")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write each query's figures there")
    options = parser.parse_args()
    model = embedder.load("bundled")
    report: dict[str, Any] = {"half": options.half, "tiers": {}}
    for count in range(1, 7) if options.tiers else (6,):
        people = PERSONAS[:count]
        asked = [q for q in queries(people) if options.half == "both" or q.held == (options.half == "held")]
        report["tiers"][str(count)] = measured(people, asked, model)
        show(count, asked, report["tiers"][str(count)])
    if options.against is not None:
        compare(json.loads(options.against.read_text()), report)
    if options.json is not None:
        options.json.write_text(json.dumps(report, indent=0) + "\n")


def queries(people: Iterable[str]) -> list[Query]:
    """Return the queries of some personas, paths told from the haystack's root."""
    found = []
    for person in people:
        for line in (HERE / "queries" / f"{person}.jsonl").read_text("utf-8").splitlines():
            row = json.loads(line)
            grades = {f"{person}/{path}": float(grade) for path, grade in row["relevant"].items()}
            found.append(Query(row["id"], row["category"], row["query"], grades))
    return found


def measured(
    people: Sequence[str], asked: Sequence[Query], model: embedder.Embedder
) -> dict[str, dict[str, list[float]]]:
    """Return (hit@1, recall@10, nDCG@10) of each query with an answer, by mode and id."""
    records = [
        note_record(f"{person}/{path.relative_to(root).as_posix()}", path.read_bytes(), 0, quality.LARGEST_NOTE)
        for person in people
        for root in (HERE / "vaults" / person,)
        for path in sorted(root.rglob("*.md"))
    ]
    semantic = Semantic(quality.embedding(model), "ok")
    figures: dict[str, dict[str, list[float]]] = {mode: {} for mode in MODES}
    with tempfile.TemporaryDirectory() as place:
        index = Index(Path(place) / "index" / "index.db")
        quality.build(index, records, model)
        with index.read() as db:
            for query in asked:
                for mode in MODES:
                    hits = searcher.search(db, SearchRequest(query.text, 10, mode), semantic).hits
                    if query.grades:
                        figures[mode][query.id] = _judged([hit.path for hit in hits], query.grades)
        index.close()
    return figures


def _judged(found: Sequence[str], grades: dict[str, float]) -> list[float]:
    right = {path for path, grade in grades.items() if grade == RIGHT}
    return [
        float(bool(found) and found[0] in right),
        float(bool(right.intersection(found))),
        quality.judge(found, grades)[2],
    ]


def show(count: int, asked: Sequence[Query], figures: dict[str, dict[str, list[float]]]) -> None:
    """Print the figures of each category and of all, by leg and fused."""
    category = {query.id: query.category for query in asked}
    for mode, found in figures.items():
        groups: dict[str, list[list[float]]] = defaultdict(list)
        for number, row in found.items():
            groups[category[number]].append(row)
            groups["all"].append(row)
            if category[number] != "other-language":
                groups["same language"].append(row)
        print(f"\n{count} personas, {mode}: hit@1, recall@10, nDCG@10 (95 % of hit@1)")
        for name, rows in sorted(groups.items()):
            low, high = interval([row[0] for row in rows])
            means = "  ".join(f"{statistics.fmean(column):.3f}" for column in zip(*rows, strict=True))
            print(f"  {name:16} {len(rows):4}  {means}  ({low:.3f} to {high:.3f})")


def compare(before: dict[str, Any], after: dict[str, Any]) -> None:
    """Print how the figures of the same queries differ from an earlier run."""
    for count, modes in after["tiers"].items():
        for mode, found in modes.items():
            former = before["tiers"].get(count, {}).get(mode, {})
            both = [number for number in found if number in former]
            for column, name in enumerate(("hit@1", "recall@10", "nDCG@10")):
                differences = [found[number][column] - former[number][column] for number in both]
                low, high = interval(differences)
                mean = statistics.fmean(differences) if differences else 0.0
                print(f"{count} personas, {mode}, {name}: {mean:+.3f} ({low:+.3f} to {high:+.3f}), {len(both)} queries")


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Return the bootstrap interval, 95 %, of a mean."""
    if not values:
        return 0.0, 0.0
    chance = random.Random(1)  # noqa: S311 - samples, nothing secret
    means = sorted(statistics.fmean(chance.choices(values, k=len(values))) for _ in range(_RESAMPLES))
    return means[_RESAMPLES // 40], means[-_RESAMPLES // 40]


if __name__ == "__main__":
    main()
