"""Answers of the server to the queries of a task, kept so that an interrupted run goes on where it was.

What is kept lies in ``synapse-bench-cache`` in the system's folder for temporary files, a folder for each task: the
vault, the server's index, and the answers given so far by the very same product over the very same notes.
"""

import json
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from client import Client
from queries import note_paths
from serving import is_complete, serve_command, vault_status, wait_for_status
from tasks import Task, TaskError

MODES = ("lexical", "semantic", "hybrid")
LIMIT = 10

_INDEXING_SECONDS = 7200.0
_ANSWER_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Answer:
    """The hits of one search, best first: path and band of each; its ranks by leg for a hybrid search.

    ``ms`` is from writing the request to reading the whole answer.
    """

    paths: Sequence[str]
    bands: Sequence[str]
    ranks: Sequence[Mapping[str, int] | None]
    ms: float


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers of a task by mode and query text, over an index of so many notes and chunks."""

    notes: int
    chunks: int
    found: Mapping[tuple[str, str], Answer]


def answers(task: Task, sources: str, *, fresh: bool = False) -> Answers:
    """Ask the server every query of a task in each mode, those left out that were answered before.

    ``sources`` names the product's state. ``fresh`` forgets what was answered.

    Raises:
        TaskError: not all notes were indexed, or a leg could not vote.
        ServerError: the server failed.
    """
    home = Path(tempfile.gettempdir()) / "synapse-bench-cache" / task.haystack
    home.mkdir(parents=True, exist_ok=True)
    file = home / f"answers-{_digest(task, sources)}.jsonl"
    for old in home.glob("answers-*.jsonl"):
        if fresh or old != file:
            old.unlink()
    size, found = _kept(file)
    wanted = dict.fromkeys((mode, query.text) for query in task.queries for mode in MODES)
    missing = [pair for pair in wanted if pair not in found]
    if missing or size is None:
        vault = task.notes if isinstance(task.notes, Path) else write_notes(home / "vault", task.notes)
        with _server(vault, home / "index", task) as (client, size), file.open("a", encoding="utf-8") as kept:
            kept.write("\n" + json.dumps({"size": size}) + "\n")  # the last line may have been cut off
            for mode, text in _shown(missing, task.name):
                found[mode, text] = answer = _ask(client, vault, mode, text)
                kept.write(json.dumps({"mode": mode, "query": text, "answer": asdict(answer)}) + "\n")
                kept.flush()
    return Answers(*size, {pair: found[pair] for pair in wanted})


def write_notes(vault: Path, notes: Mapping[str, bytes]) -> Path:
    """Make a folder hold these notes and no others; a file that is as it should be is not touched."""
    vault.mkdir(parents=True, exist_ok=True)
    for path in [path for path in vault.rglob("*") if path.is_file()]:
        if path.relative_to(vault).as_posix() not in notes:
            path.unlink()
    for name, note in notes.items():
        path = vault / name
        if not path.is_file() or path.read_bytes() != note:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(note)
    return vault


@contextmanager
def _server(vault: Path, cache: Path, task: Task) -> Iterator[tuple[Client, tuple[int, int]]]:
    """Give a server whose index of a vault is complete, with the number of its notes and chunks."""
    environment = {"SYNAPSE_CACHE_DIR": str(cache), "HF_HUB_OFFLINE": "1"}
    with Client(serve_command(), environment) as client:
        client.initialize(vault)
        client.initialized()
        with _bar(f"{task.name}: indexing") as tell:

            def complete(status: dict[str, Any]) -> bool:
                tell(status["embedded"], status["chunks"])
                return is_complete(status)

            wait_for_status(client, complete, _INDEXING_SECONDS)
        status = vault_status(client)
        if status["model"]["state"] != "ready":
            raise TaskError(
                f"the model is {status['model']['state']}: {status['model'].get('note')}; ask synapse-ls doctor"
            )
        if not isinstance(task.notes, Path) and status["notes"] != len(task.notes):
            raise TaskError(f"{status['notes']} of {len(task.notes)} notes of {task.name} were indexed: see {vault}")
        yield client, (status["notes"], status["chunks"])


def _ask(client: Client, vault: Path, mode: str, text: str) -> Answer:
    params = {"query": text, "mode": mode, "limit": LIMIT, "explain": mode == "hybrid"}
    sent = time.perf_counter()
    arrival = client.ask("synapse/search", params, _ANSWER_SECONDS)
    for leg, state in arrival.value["legs"].items():
        if state["state"] == "unavailable":
            raise TaskError(f"the {leg} leg did not vote: {state.get('note')}")
    hits = arrival.value["hits"]
    root = vault.resolve()
    return Answer(
        [Path(unquote(urlsplit(hit["uri"]).path)).relative_to(root).as_posix() for hit in hits],
        [hit["band"] for hit in hits],
        [hit.get("ranks") for hit in hits],
        round((arrival.at - sent) * 1000, 2),
    )


def _kept(file: Path) -> tuple[tuple[int, int] | None, dict[tuple[str, str], Answer]]:
    """Return what earlier runs wrote; a line that was cut off does not count."""
    size: tuple[int, int] | None = None
    found: dict[tuple[str, str], Answer] = {}
    for line in file.read_bytes().split(b"\n") if file.exists() else ():
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if "size" in row:
            size = (row["size"][0], row["size"][1])
        else:
            found[row["mode"], row["query"]] = Answer(**row["answer"])
    return size, found


def _digest(task: Task, sources: str) -> str:
    """Return what tells apart answers over other notes, from another product or another place."""
    if isinstance(task.notes, Path):
        root = task.notes
        notes = {path.relative_to(root).as_posix(): path.read_bytes() for path in note_paths(root)}
    else:
        notes = dict(task.notes)
    digest = blake2b(sources.encode(), digest_size=8)
    for path in sorted(notes):
        digest.update(path.encode() + b"\0" + blake2b(notes[path]).digest())
    return digest.hexdigest()


def _shown(pairs: Sequence[tuple[str, str]], name: str) -> Iterator[tuple[str, str]]:
    """Yield what there is, with a progress bar on a terminal."""
    with _bar(f"{name}: asking") as tell:
        for done, pair in enumerate(pairs):
            tell(done, len(pairs))
            yield pair


@contextmanager
def _bar(name: str) -> Iterator[Callable[[int, int], None]]:
    """Give what moves a progress bar to (done, all); on a terminal alone, and gone in the end."""
    from tqdm import tqdm

    with tqdm(desc=name, disable=None, leave=False) as bar:

        def tell(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        yield tell
