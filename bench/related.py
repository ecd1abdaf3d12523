"""Do links that are taken out of a vault come back as related notes?

``python bench/related.py VAULT...`` takes one link a note out of the text that is indexed (all those of the note to the
same target; the vault itself is only read), asks for what is related to the section that the link stood in, and looks
where its target comes. Links whose target links back are left alone, and notes that are linked with the asking one
anyway are passed over in the answers. Each link is taken out in two ways: its label stays as plain words, or goes too.
Prints hit@1, recall@10 and MRR with bootstrap intervals of 95 %, for each kind of evidence and for all of them. The
weights were chosen by one half of the links; the other half tells how good they are.
"""

import argparse
import random
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inprocess import LARGEST_NOTE, build
from judging import estimates, judge
from serving import save

from synapse_ls.core.text import LineIndex, Span
from synapse_ls.indexer.record import note_record
from synapse_ls.inference import embedder
from synapse_ls.inference.embedder import Embedder
from synapse_ls.markdown.plain import plain
from synapse_ls.search.related import RelatedRequest, Weights, related
from synapse_ls.search.snapshot import Snapshot
from synapse_ls.store import notes, relations
from synapse_ls.store.database import Connection, Index

LEGS: dict[str, Weights] = {
    "passages": Weights(words=0, named=0, link=0, shared=0, tags=0),
    "words and names": Weights(passage=0, link=0, shared=0, tags=0),
    "links and tags": Weights(passage=0, words=0, named=0),
    "all": Weights(),
}
_MEASURES = ("hit@1", "recall@10", "mrr")
_DEEP = 100


@dataclass(frozen=True, slots=True)
class Held:
    """The links of one note to another, taken out: where they stood (code points), and whether as words of the text.

    ``line`` is the 0-based line of the first of these. Others are embedded notes and definitions of references.
    """

    source: str
    target: str
    spans: tuple[tuple[Span, bool], ...]
    line: int


def main() -> None:
    """Measure each vault; with ``--out`` write the figures of each into that folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("vaults", nargs="+", type=Path, metavar="VAULT", help="a folder of notes; it is only read")
    parser.add_argument("--most", type=int, default=300, help="at most so many links of a vault (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="which links are taken (%(default)s)")
    parser.add_argument("--no-model", action="store_true", help="without passages compared by meaning")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="write related-VAULT.json there")
    options = parser.parse_args()
    model = None if options.no_model else embedder.load("bundled")
    for vault in options.vaults:
        report = measure(vault, options.most, options.seed, model)
        show(report)
        if options.out is not None:
            save(report, options.out / f"related-{vault.name}.json")


def measure(vault: Path, most: int, seed: int, model: Embedder | None) -> dict[str, Any]:
    """Return the figures of one vault, as mean, low and high, by what became of labels, half, evidence and measure."""
    files = files_of(vault)
    held = held_out(files, most, seed)
    report: dict[str, Any] = {"vault": vault.name, "notes": len(files), "links": len(held), "seed": seed}
    for variant in ("labels kept", "labels removed"):
        with indexed(without(files, held, keep=variant == "labels kept"), model) as db:
            found = {leg: [judged(db, link, weights) for link in held] for leg, weights in LEGS.items()}
            found["all, whole note"] = [judged(db, link, Weights(), whole=True) for link in held]
        report[variant] = {
            half: {leg: _figures(rows[start::2]) for leg, rows in found.items()}
            for start, half in enumerate(("tuning", "held"))
        }
    return report


def files_of(vault: Path) -> dict[str, str]:
    """Return the texts of the notes of a vault by path, without those in dot folders."""
    files = {path.relative_to(vault): path for path in sorted(vault.rglob("*.md"))}
    return {
        path.as_posix(): file.read_bytes().decode("utf-8", "replace")
        for path, file in files.items()
        if not any(part.startswith(".") for part in path.parts)
    }


def held_out(files: Mapping[str, str], most: int, seed: int) -> list[Held]:
    """Return links to take out, at most one pair of notes for each source, chosen by chance but always the same."""
    by_source: defaultdict[str, list[Held]] = defaultdict(list)
    with indexed(files, None) as db:
        for note, path, _ in notes.hashes(db):
            edges = set(relations.edges(db, [note]))
            lines = LineIndex(files[path])
            spans: defaultdict[int, list[tuple[Span, bool]]] = defaultdict(list)
            for link, target in relations.outgoing(db, note):
                if target is not None and target != note and (target, note) not in edges:
                    start, end = link.range.start, link.range.end
                    where = Span(lines.line_start(start.line) + start.utf32, lines.line_start(end.line) + end.utf32)
                    spans[target].append((where, link.kind in {"wiki", "markdown"}))
            rows = notes.by_ids(db, list(spans))
            for target, places in spans.items():
                read = [span for span, is_read in places if is_read]
                if read:
                    line = lines.line_of(min(read).start)
                    by_source[path].append(Held(path, rows[target].path, tuple(sorted(places)), line))
    chance = random.Random(seed)  # noqa: S311 - samples, nothing secret
    chosen = [chance.choice(links) for _, links in sorted(by_source.items()) if links]
    return chance.sample(chosen, min(most, len(chosen)))


def without(files: Mapping[str, str], held: Sequence[Held], *, keep: bool) -> dict[str, str]:
    """Return the texts without the links; with ``keep``, what a reader sees of them stays as words."""
    left = dict(files)
    for link in held:
        text = left[link.source]
        for span, is_read in reversed(link.spans):
            words = " ".join(plain(span.slice(text)).split()) if keep and is_read else ""
            text = text[: span.start] + words + text[span.end :]
        left[link.source] = text
    return left


class indexed:  # noqa: N801 - reads as a function
    """Give a reader of an index of notes by path, in a temporary folder that goes away."""

    def __init__(self, files: Mapping[str, str], model: Embedder | None) -> None:
        self._place = tempfile.TemporaryDirectory()
        self._index = Index(Path(self._place.name) / "index" / "index.db")
        records = [note_record(path, text.encode(), 0, LARGEST_NOTE) for path, text in files.items()]
        build(self._index, records, model)
        self._reading = self._index.read()

    def __enter__(self) -> Connection:
        return self._reading.__enter__()

    def __exit__(self, *_: object) -> None:
        self._reading.__exit__(None, None, None)
        self._index.close()
        self._place.cleanup()


def judged(db: Connection, link: Held, weights: Weights, *, whole: bool = False) -> tuple[float, float, float]:
    """Return the figures of one link, in the order of the measures."""
    request = RelatedRequest(link.source, None if whole else link.line, limit=_DEEP)
    answer = related(Snapshot(db), request, weights=weights)
    known = set(_linked(db, link.source))
    found = [found.hit.path for found in answer.hits if found.hit.path not in known]
    hit, recall, _, mrr = judge(found, {link.target: 1.0})
    return hit, recall, mrr


def _linked(db: Connection, path: str) -> Iterator[str]:
    note = notes.by_path(db, path)
    if note is not None:
        ends = {end for edge in relations.edges(db, [note.id]) for end in edge}
        yield from (row.path for row in notes.by_ids(db, sorted(ends)).values())


def _figures(rows: Sequence[tuple[float, float, float]]) -> dict[str, Any]:
    told = estimates(rows)
    return {measure: [round(value, 4) for value in one] for measure, one in zip(_MEASURES, told, strict=True)}


def show(report: Mapping[str, Any]) -> None:
    """Print the figures of the half that nothing was chosen by."""
    print(f"\n{report['vault']}: {report['notes']} notes, {report['links']} links taken out")
    for variant in ("labels kept", "labels removed"):
        print(f"  {variant:18}" + "".join(f"{measure:22}" for measure in _MEASURES).rstrip())
        for leg, row in report[variant]["held"].items():
            print(f"    {leg:16}" + "".join(f"{m:.3f} [{low:.3f}, {high:.3f}]  " for m, low, high in row.values()))


if __name__ == "__main__":
    main()
