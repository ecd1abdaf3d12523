"""The notes of one to six personas in one haystack, filled up with notes that belong to nobody."""

import random
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path

from queries import note_paths
from tasks import Query, Task, TaskError, corpus, read_queries

PERSONAS = ("engineer", "gardener", "gamemaster", "historian", "nurse", "phd")
HALVES = ("tuning", "held", "both")

_HERE = Path(__file__).parent / "personas"
_ELSEWHERE = "elsewhere"
_SEED = 8000


def persona_task(people: Sequence[str], half: str) -> Task:
    """Return the notes of some personas with the queries of a half; each one's notes are in a folder of its name."""
    notes = {
        f"{person}/{path.relative_to(root).as_posix()}": path.read_bytes()
        for person in people
        for root in (_HERE / "vaults" / person,)
        for path in note_paths(root)
    }
    asked = [
        query
        for person in people
        for query in read_queries(_HERE / "queries" / f"{person}.jsonl", f"{person}/")
        if half in {"both", half_of(query)}
    ]
    some = "" if len(people) == len(PERSONAS) else f"-{len(people)}-people"
    return Task(f"personas-{half}{some}", f"personas{some}", notes, asked)


def half_of(query: Query) -> str:
    """Return whether a query is for choosing, "tuning", or for the figure at the end, "held"."""
    return "held" if zlib.crc32(query.id.encode()) % 2 else "tuning"


def filled(task: Task, total: int, sources: Iterable[Path]) -> Task:
    """Return the same queries in a haystack of ``total`` notes: the task's own, the rest from other folders.

    The order in which others come is fixed, so that a larger haystack holds all of a smaller one.

    Raises:
        TaskError: the folders hold too few notes.
    """
    if isinstance(task.notes, Path):
        raise TaskError(f"{task.name} is a vault in use and cannot be filled up")
    others = {f"{_ELSEWHERE}/{path}": note for source in sources for path, note in _from(source).items()}
    order = sorted(others)
    random.Random(_SEED).shuffle(order)  # noqa: S311 - the same order each time, nothing secret
    missing = total - len(task.notes)
    if missing > len(order):
        raise TaskError(
            f"{total} notes cannot be reached: {task.name} has {len(task.notes)} and the folders named with "
            f"--distractors-from {len(order)}; name more of them"
        )
    notes = {**task.notes, **{path: others[path] for path in order[: max(0, missing)]}}
    return Task(f"{task.name}-{total}-notes", f"{task.haystack}-{total}-notes", notes, task.queries)


def _from(source: Path) -> dict[str, bytes]:
    """Return the notes of a retrieval set, or of a folder of Markdown files, under the folder's name."""
    if (source / "corpus.jsonl").exists():
        notes = corpus(source)
    else:
        notes = {path.relative_to(source).as_posix(): path.read_bytes() for path in note_paths(source)}
    return {f"{source.name}/{path}": note for path, note in notes.items()}
