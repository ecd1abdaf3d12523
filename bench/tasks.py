"""What a bench of ranking asks: notes, queries, and the grade of each note that helps with one."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked, and the grade, above 0, of each note that helps; none for a query without an answer."""

    id: str
    text: str
    grades: Mapping[str, float]
    category: str = ""


@dataclass(frozen=True, slots=True)
class Task:
    """Queries over notes: their content by path from the vault's root, or the folder of a vault that is there.

    Tasks over the same notes share the name of their ``haystack``.
    """

    name: str
    haystack: str
    notes: Mapping[str, bytes] | Path
    queries: Sequence[Query]


class TaskError(Exception):
    """The files of a task are not what they should be; the message says what to do."""


def read_set(folder: Path, most: int) -> Task:
    """Read a retrieval set: ``corpus.jsonl``, ``queries.jsonl``, ``qrels.tsv``; at most so many queries, evenly spread.

    Raises:
        TaskError: a file is missing or a line is not as it should be.
    """
    relevant: dict[str, dict[str, float]] = {}
    for number, line in _lines(folder / "qrels.tsv"):
        try:
            query, note, grade = line.split("\t")
            relevant.setdefault(query, {})[f"{note}.md"] = float(grade)
        except ValueError as error:
            raise TaskError(
                f"{folder / 'qrels.tsv'}:{number} should be a query, a note and a grade: {error}"
            ) from error
    queries = [
        Query(row["id"], row["text"], relevant.get(row["id"], {}), row.get("category", ""))
        for row in _rows(folder / "queries.jsonl", "id", "text")
    ]
    return Task(folder.name, folder.name, corpus(folder), spread(queries, most))


def read_vault(folder: Path, queries: Path, most: int) -> Task:
    """Take a vault as it is with queries from a file, one a line: ``{id, query, relevant: {path: grade}, category}``.

    Raises:
        TaskError: a line is not as it should be.
    """
    return Task(folder.name, folder.name, folder, spread(read_queries(queries), most))


def read_queries(file: Path, prefix: str = "") -> list[Query]:
    """Return the queries of a file as for ``read_vault``, ``prefix`` put before the paths of notes."""
    return [
        Query(
            str(row["id"]),
            row["query"],
            {prefix + path: float(grade) for path, grade in row["relevant"].items() if grade},
            row.get("category", ""),
        )
        for row in _rows(file, "id", "query", "relevant")
    ]


def corpus(folder: Path) -> dict[str, bytes]:
    """Return the notes of a retrieval set, each with its title as a heading."""
    rows = _rows(folder / "corpus.jsonl", "id", "text")
    return {f"{row['id']}.md": _note(row.get("title", ""), row["text"]).encode() for row in rows}


def spread(queries: Sequence[Query], most: int) -> Sequence[Query]:
    """Return every so many-th query, so that at most ``most`` are left."""
    return queries[:: max(1, -(-len(queries) // most))]


def _note(title: str, text: str) -> str:
    return text if not title or text.lstrip().startswith("# ") else f"# {title}\n\n{text}"


def _rows(file: Path, *keys: str) -> Iterator[dict[str, Any]]:
    for number, line in _lines(file):
        try:
            row = json.loads(line)
        except ValueError as error:
            raise TaskError(f"{file}:{number} is not JSON: {error}") from error
        if missing := [key for key in keys if not isinstance(row, dict) or key not in row]:
            raise TaskError(f"{file}:{number} has no {', '.join(missing)}")
        yield row


def _lines(file: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not empty with their numbers; what splits lines is a line feed alone."""
    try:
        text = file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise TaskError(f"{file} cannot be read: {error}") from error
    return ((number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip())
