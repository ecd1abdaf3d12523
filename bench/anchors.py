"""What anchor text is worth, without leaking: ``python bench/anchors.py VAULT... [--most N] [--out FILE]``.

Links whose label is none of the names of the note they mean are taken out, label and all, at most one a source note;
then their labels are asked for. So a label finds its note only by what other links call it, by its own text, or not at
all. Asked by words and by all legs, with and without the labels, in this process; the vaults are only read.
"""

import argparse
import json
import random
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import inprocess
from judging import MEASURES, Estimate, estimates, judge
from queries import note_paths

from synapse_ls.core.model import Mode, SearchRequest
from synapse_ls.core.terms import fold, index_terms
from synapse_ls.inference import embedder
from synapse_ls.inference.embedder import Embedder
from synapse_ls.search import fusion, lexical, searcher
from synapse_ls.search.searcher import Semantic
from synapse_ls.store.database import Connection, Index

MODES: tuple[Mode, ...] = ("lexical", "hybrid")

_LINKS = (
    "SELECT s.path, t.path, t.id, k.label, k.start_line, k.start_utf32, k.end_line, k.end_utf32 FROM links k "
    "JOIN notes s ON s.id = k.source JOIN notes t ON t.id = k.resolved "
    "WHERE k.label IS NOT NULL AND k.kind != 'reference' AND s.id != t.id ORDER BY k.id"
)
_NAMES = "SELECT folded FROM symbols WHERE note = ? AND kind != 'tag'"


@dataclass(frozen=True, slots=True)
class Held:
    """A link taken out of ``source``: ``label`` is asked for and ``target`` is right. Places are in code points."""

    source: str
    target: str
    label: str
    start: tuple[int, int]
    end: tuple[int, int]


def main() -> None:
    """Measure each vault and print a line for each way to ask."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("vaults", nargs="+", type=Path)
    parser.add_argument("--most", type=int, default=400, help="links held out of a vault (%(default)s)")
    parser.add_argument("--out", type=Path, help="write the figures as JSON to this file")
    options = parser.parse_args()
    model = embedder.load("bundled")
    report = {}
    for vault in options.vaults:
        held, figures = measure(vault, options.most, model)
        print(f"{vault.name}, {held} labels: {', '.join(MEASURES)}")
        for way, row in figures.items():
            print(f"  {way:26}" + "  ".join(f"{mean:.3f} ({low:.3f} to {high:.3f})" for mean, low, high in row))
        report[vault.name] = {"labels": held, "figures": figures}
    if options.out is not None:
        options.out.write_text(json.dumps(report, indent=1) + "\n")


def measure(vault: Path, most: int, model: Embedder) -> tuple[int, dict[str, list[Estimate]]]:
    """Return how many links were held out, and the figures in the order of ``MEASURES`` by how was asked."""
    files = {path.relative_to(vault).as_posix(): path.read_bytes() for path in note_paths(vault)}
    semantic = Semantic(inprocess.embedding(model), "ok")
    weights = lexical.ANCHOR_WEIGHT, fusion.CALLED_WEIGHT
    figures = {}
    with tempfile.TemporaryDirectory() as place:
        index = Index(Path(place) / "whole" / "index.db")
        inprocess.build(index, inprocess.records(files), None)
        with index.read() as db:
            held = _held(db, most)
        index.close()
        if not held:
            return 0, {}
        for link in held:
            files[link.source] = _without(files[link.source], link)
        index = Index(Path(place) / "held" / "index.db")
        inprocess.build(index, inprocess.records(files), model)
        with index.read() as db:
            for mode in MODES:
                for name, some in (("without labels", (0.0, 0.0)), ("with labels", weights)):
                    lexical.ANCHOR_WEIGHT, fusion.CALLED_WEIGHT = some
                    figures[f"{mode}, {name}"] = _asked(db, held, mode, semantic)
        index.close()
    return len(held), figures


def _held(db: Connection, most: int) -> list[Held]:
    """Return links to hold out, one a source, chosen by chance but always the same."""
    by_source: defaultdict[str, list[Held]] = defaultdict(list)
    for source, target, note, label, *where in db.execute(_LINKS):
        names = {name for (name,) in db.execute(_NAMES, (note,))}
        if fold(label) not in names and index_terms(label):
            by_source[source].append(Held(source, target, label, (where[0], where[1]), (where[2], where[3])))
    chance = random.Random(1)  # noqa: S311 - samples, nothing secret
    chosen = [chance.choice(links) for _, links in sorted(by_source.items())]
    return sorted(chance.sample(chosen, min(most, len(chosen))), key=lambda link: link.source)


def _without(data: bytes, link: Held) -> bytes:
    lines = data.decode("utf-8", "replace").splitlines(keepends=True)
    (first, start), (last, end) = link.start, link.end
    lines[first : last + 1] = [lines[first][:start] + lines[last][end:]]
    return "".join(lines).encode()


def _asked(db: Connection, held: Sequence[Held], mode: Mode, semantic: Semantic) -> list[Estimate]:
    answers = [searcher.search(db, SearchRequest(link.label, 10, mode), semantic).hits for link in held]
    return estimates(
        [judge([hit.path for hit in hits], {link.target: 1.0}) for hits, link in zip(answers, held, strict=True)]
    )


if __name__ == "__main__":
    main()
