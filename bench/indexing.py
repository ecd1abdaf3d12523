"""What indexing a vault costs, cold, warm and after a change: ``python bench/indexing.py VAULT`` (Linux)."""

import argparse
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from client import Client
from processes import MemoryWatch, processor_seconds
from queries import note_paths, queries_of
from serving import (
    is_complete,
    is_searchable,
    machine,
    save,
    scratch,
    serve_command,
    vault_status,
    wait_for_status,
)

_INDEXING_SECONDS = 3600.0
_IDLE_SECONDS = 10.0
_PAUSE = 0.02
_WORD = "vorrelbint"
_PARAGRAPH = f"The greenhouse tomatoes want water every morning before the sun stands high, says the {_WORD} almanac."
_PARAPHRASE = "how often should I irrigate vegetables grown under glass"


def main() -> None:
    """Measure on a copy of the vault, print the figures, write JSON if asked."""
    options = _options()
    with scratch() as (folder, environment):
        vault = folder / options.vault.resolve().name
        shutil.copytree(options.vault, vault, ignore=shutil.ignore_patterns(".git"), copy_function=shutil.copyfile)
        report: dict[str, Any] = {"machine": machine(), "vault": vault.name}
        with Client(serve_command(), environment) as client:
            report["cold"] = _cold(client, vault)
        _show("empty cache", report["cold"])
        with Client(serve_command(), environment) as client:
            report["warm"] = _warm(client, vault, queries_of(vault)[0])
            _show("restart", report["warm"])
            report["change"] = _change(client, vault)
            _show("a new paragraph in one note", report["change"])
            report["idle"] = _idle(client)
            _show(f"{_IDLE_SECONDS:g} s without work", report["idle"])
    save(report, options.out)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("vault", type=Path, help="a folder of notes; a copy of it is worked on")
    parser.add_argument("--out", type=Path, help="write the figures as JSON to this file")
    return parser.parse_args()


def _cold(client: Client, vault: Path) -> dict[str, Any]:
    """Index everything; seconds count from the start of the process."""
    with MemoryWatch(client.pid) as memory:
        answered = client.initialize(vault).at
        client.initialized()
        searchable = wait_for_status(client, is_searchable, _INDEXING_SECONDS)
        complete = wait_for_status(client, is_complete, _INDEXING_SECONDS)
        used = processor_seconds(client.pid)
    status = vault_status(client)
    return {
        "notes": status["notes"],
        "chunks": status["chunks"],
        "skipped": len(status["skipped"]),
        "initializeSeconds": answered - client.started,
        "wordsSeconds": searchable - client.started,
        "vectorsSeconds": complete - client.started,
        "chunksPerSecond": status["counters"]["chunksEmbedded"] / (complete - client.started),
        "processorSeconds": used,
        "peakMiB": memory.peak / 2**20,
        "highWaterMarksMiB": memory.highest / 2**20,
    }


def _warm(client: Client, vault: Path, query: str) -> dict[str, Any]:
    """Start again on a current index; the two counters say what was done over again."""
    client.initialize(vault)
    client.initialized()
    first = client.ask("synapse/search", {"query": query})
    hit = _poll(client, {"query": query}, lambda answer: bool(answer["hits"]))
    complete = wait_for_status(client, is_complete, _INDEXING_SECONDS)
    counters = vault_status(client)["counters"]
    return {
        "firstAnswerSeconds": first.at - client.started,
        "firstHitSeconds": hit - client.started,
        "completeSeconds": complete - client.started,
        "filesRead": counters["filesRead"],
        "chunksEmbedded": counters["chunksEmbedded"],
    }


def _change(client: Client, vault: Path) -> dict[str, Any]:
    """Add a paragraph to the note of middle length; the watcher has to notice. Seconds count from the write."""
    note = _middle_note(vault)
    uri = note.as_uri()
    before = vault_status(client)["counters"]["chunksEmbedded"]
    if uri in _found(client.request("synapse/search", {"query": _PARAPHRASE, "mode": "semantic"})):
        raise SystemExit(f"{note.name} already is among the answers to the test question: the change would not show")
    text = note.read_bytes()
    note.write_bytes(text.rstrip() + f"\n\n## Watering\n\n{_PARAGRAPH}\n".encode())
    written = time.perf_counter()
    words = _poll(client, {"query": _WORD, "mode": "lexical"}, lambda answer: uri in _found(answer))
    meaning = _poll(client, {"query": _PARAPHRASE, "mode": "semantic"}, lambda answer: uri in _found(answer))
    while not is_complete(status := vault_status(client)):
        time.sleep(_PAUSE)
    return {
        "wordsSeconds": words - written,
        "meaningSeconds": meaning - written,
        "chunksEmbedded": status["counters"]["chunksEmbedded"] - before,
    }


def _idle(client: Client) -> dict[str, Any]:
    """Let the server settle, then leave it alone."""
    time.sleep(2)
    before = processor_seconds(client.pid)
    time.sleep(_IDLE_SECONDS)
    return {"percentOfOneCore": (processor_seconds(client.pid) - before) / _IDLE_SECONDS * 100}


def _poll(client: Client, params: dict[str, object], accept: Callable[[Any], bool], timeout: float = 60) -> float:
    """Search again and again until the answer is accepted; return when that answer came."""
    deadline = time.perf_counter() + timeout
    while time.perf_counter() < deadline:
        answer = client.ask("synapse/search", params)
        if accept(answer.value):
            return answer.at
        time.sleep(_PAUSE)
    raise SystemExit(f"no acceptable answer to {params} within {timeout:g} s")


def _found(answer: Any) -> list[str]:  # noqa: ANN401 - any JSON value
    return [hit["uri"] for hit in answer["hits"]]


def _middle_note(vault: Path) -> Path:
    paths = sorted(note_paths(vault), key=lambda path: (path.stat().st_size, path))
    return paths[len(paths) // 2]


def _show(title: str, figures: dict[str, Any]) -> None:
    print(title)
    for name, value in figures.items():
        print(f"  {name:22}{value:>10.2f}" if isinstance(value, float) else f"  {name:22}{value:>7}", flush=True)


if __name__ == "__main__":
    if sys.platform != "linux":
        raise SystemExit("this benchmark reads memory and processor time from Linux's /proc")
    main()
