"""The bench of ranking against the real server."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

BENCH = Path(__file__).parents[2] / "bench" / "quality.py"

NOTES = {
    "Car": "The vehicle's battery died on the motorway and a tow truck came for it.",
    "Bread": "Knead the dough, let it rise for an hour, bake until the crust is brown.",
    "Cat": "She sleeps on the radiator all winter.",
}
QUESTIONS = {"dough": "Bread", "tow truck": "Car", "automobile breakdown": "Car"}


def retrieval_set(folder: Path) -> Path:
    """Write the notes and questions as a retrieval set."""
    folder.mkdir()
    corpus = [json.dumps({"id": name, "title": name, "text": text}) for name, text in NOTES.items()]
    queries = [json.dumps({"id": text, "text": text}) for text in QUESTIONS]
    qrels = [f"{text}\t{note}\t1" for text, note in QUESTIONS.items()]
    for file, lines in (("corpus.jsonl", corpus), ("queries.jsonl", queries), ("qrels.tsv", qrels)):
        (folder / file).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def run(place: Path, *arguments: str | Path) -> str:
    """Run the command with its kept files in a place of the test; return what it prints."""
    temporary = place / "temporary"
    temporary.mkdir(exist_ok=True)
    environment = {**os.environ, "TMPDIR": str(temporary), "HF_HUB_OFFLINE": "1"}
    command = [sys.executable, str(BENCH), *map(str, arguments), "--out", str(place / "results")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def result(place: Path, name: str) -> dict[str, Any]:
    """Return the figures that were written."""
    figures: dict[str, Any] = json.loads((place / "results" / f"quality-{name}.json").read_text("utf-8"))
    return figures


def test_an_interrupted_run_goes_on_and_a_finished_one_asks_nothing_again(tmp_path: Path) -> None:
    """Answers are kept: one that was cut off is asked again, those before it are not."""
    folder = retrieval_set(tmp_path / "tiny")
    run(tmp_path, folder)
    first = result(tmp_path, "tiny")
    assert first["legs"]["hybrid"]["all"]["hit@1"][0] == 1.0
    assert first["legs"]["lexical"]["all"]["hit@1"][0] == 0.6667
    (kept,) = (tmp_path / "temporary").rglob("answers-*.jsonl")
    whole = kept.read_bytes()
    kept.write_bytes(whole[:-20])
    told = run(tmp_path, folder, "--against", tmp_path / "results", "--changed", "3")
    assert "0 won, 0 lost, 3 alike" in told
    assert kept.read_bytes().startswith(whole[:-20])
    assert len(kept.read_bytes()) > len(whole)
    mended = kept.read_bytes()
    run(tmp_path, folder)
    assert kept.read_bytes() == mended
    assert result(tmp_path, "tiny")["each"] == first["each"]


def test_a_vault_with_queries_is_asked_where_it_is(tmp_path: Path) -> None:
    """Nothing is written into it."""
    vault = tmp_path / "vault"
    vault.mkdir()
    for name, text in NOTES.items():
        (vault / f"{name}.md").write_text(f"# {name}\n\n{text}\n", encoding="utf-8")
    asked = tmp_path / "asked.jsonl"
    rows = [
        {"id": text, "query": text, "relevant": {f"{note}.md": 3}, "category": text[:5]}
        for text, note in QUESTIONS.items()
    ]
    asked.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    run(tmp_path, vault, "--queries", asked)
    assert result(tmp_path, "vault")["legs"]["hybrid"]["dough"]["hit@1"][0] == 1.0
    assert sorted(path.name for path in vault.iterdir()) == ["Bread.md", "Car.md", "Cat.md"]


def test_what_cannot_be_measured_is_told_in_one_line(tmp_path: Path) -> None:
    """A vault without queries is no task."""
    command = [sys.executable, str(BENCH), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1
    assert (
        done.stderr
        == f"quality: {tmp_path} is no retrieval set (it has no corpus.jsonl); a vault needs --queries FILE\n"
    )
