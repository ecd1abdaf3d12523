"""How long the server takes to start and to answer: ``python bench/latency.py VAULT``."""

import argparse
import statistics
import sys
import time
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from client import Client
from queries import LinkPlace, links_of, queries_of
from serving import is_complete, machine, save, scratch, serve_command, vault_status, wait_for_status

_KEY_SECONDS = 0.06
_REST_SECONDS = 2.0
_INDEXING_SECONDS = 1800.0


def main() -> None:
    """Measure, print a table, write JSON if asked."""
    options = _options()
    with scratch() as (_, environment):
        report: dict[str, Any] = {
            "machine": machine(),
            "vault": options.vault.name,
            "startup": _startup(options.vault, environment, options.starts),
        }
        with Client(serve_command(), environment) as client:
            report |= _answers(client, options)
    save(report, options.out)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("vault", type=Path, help="a folder of notes; it is only read")
    parser.add_argument("--queries", type=Path, help="one query a line; without it, made from the vault's own text")
    parser.add_argument("--runs", type=int, default=100, help="requests of each kind (%(default)s)")
    parser.add_argument("--starts", type=int, default=11, help="starts of each server (%(default)s)")
    parser.add_argument("--out", type=Path, help="write the figures as JSON to this file")
    return parser.parse_args()


def _startup(vault: Path, environment: dict[str, str], starts: int) -> dict[str, float]:
    """Time process start to initialize response, Synapse and the bare framework in turns."""
    bare = [sys.executable, str(Path(__file__).with_name("bare_server.py"))]
    seconds: dict[str, list[float]] = {"synapse": [], "bare": []}
    for _ in range(starts):
        for name, command in (("bare", bare), ("synapse", serve_command())):
            with Client(command, environment) as client:
                seconds[name].append(client.initialize(vault).at - client.started)
    medians = {name: statistics.median(values) * 1000 for name, values in seconds.items()}
    ratio = medians["synapse"] / medians["bare"]
    print(
        f"start to initialize response, median of {starts}: synapse {medians['synapse']:.0f} ms, "
        f"bare pygls {medians['bare']:.0f} ms, ratio {ratio:.2f}\n"
    )
    return {"synapseMs": medians["synapse"], "bareMs": medians["bare"], "ratio": ratio}


def _answers(client: Client, options: argparse.Namespace) -> dict[str, Any]:
    """Time the requests of each kind on a complete index."""
    client.initialize(options.vault)
    client.initialized()
    wait_for_status(client, is_complete, _INDEXING_SECONDS)
    status = vault_status(client)
    print(f"{status['notes']} notes, {status['chunks']} chunks, model {status['model']['state']}\n")
    print(f"{'request':30}{'count':>7}{'p50 ms':>9}{'p95 ms':>9}{'p99 ms':>9}  answers with content")
    supply = iter(_queries(options))
    runs: int = options.runs
    keyed = max(1, runs // 8)
    table: dict[str, dict[str, float]] = {}
    for name, timings in (
        ("search, lexical", _searches(client, islice(supply, runs), "lexical")),
        ("search, hybrid", _searches(client, islice(supply, runs), "hybrid")),
        ("search, each key answered", _each_key(client, islice(supply, keyed))),
        ("search, last key of a burst", _bursts(client, islice(supply, keyed))),
        ("workspace/symbol", _symbols(client, islice(supply, runs))),
        ("hover on a link", _hovers(client, links_of(options.vault)[:runs])),
    ):
        if row := _row(timings):
            table[name] = row
            print(
                f"{name:30}{row['count']:7}{row['p50']:9.1f}{row['p95']:9.1f}{row['p99']:9.1f}  {row['filled']:.0%}",
                flush=True,
            )
    counts = {key: status[key] for key in ("notes", "chunks", "embedded", "model", "version") if key in status}
    return {"index": counts, "requests": table}


def _queries(options: argparse.Namespace) -> list[str]:
    if options.queries is None:
        return queries_of(options.vault)
    lines = options.queries.read_text(encoding="utf-8").splitlines()
    return list(dict.fromkeys(line.strip() for line in lines if line.strip()))


Timing = tuple[float, bool]
"""Seconds from request to answer, and whether the answer had content."""


def _searches(client: Client, queries: Iterable[str], mode: str) -> Iterator[Timing]:
    return (_timed(client, "synapse/search", {"query": query, "mode": mode}) for query in queries)


def _each_key(client: Client, queries: Iterable[str]) -> Iterator[Timing]:
    """Type each query and wait for the answer after every key."""
    for number, query in enumerate(queries):
        for length in range(2, len(query) + 1):
            yield _timed(client, "synapse/search", {"query": query[:length], "session": f"keys {number}"})


def _bursts(client: Client, queries: Iterable[str]) -> Iterator[Timing]:
    """Type each query at a typist's pace without waiting; time the answer to the last key alone."""
    for number, query in enumerate(queries):
        sent = 0.0
        ids: list[int] = []
        for length in range(2, len(query) + 1):
            time.sleep(_KEY_SECONDS)
            sent = time.perf_counter()
            ids.append(client.send("synapse/search", {"query": query[:length], "session": f"burst {number}"}))
        answers = [client.answer(request_id) for request_id in ids]
        if answers:
            yield answers[-1].at - sent, not answers[-1].failed and bool(answers[-1].value["hits"])


def _symbols(client: Client, queries: Iterable[str]) -> Iterator[Timing]:
    return (_timed(client, "workspace/symbol", {"query": query}) for query in queries)


def _hovers(client: Client, places: list[LinkPlace]) -> Iterator[Timing]:
    """Open the notes, let the server come to rest, then hover over the links."""
    for note in sorted({place.note for place in places}):
        text = note.read_bytes().decode("utf-8", errors="replace")
        document = {"uri": note.resolve().as_uri(), "languageId": "markdown", "version": 1, "text": text}
        client.notify("textDocument/didOpen", {"textDocument": document})
    time.sleep(_REST_SECONDS)
    for place in places:
        at = {"line": place.line, "character": place.character}
        params = {"textDocument": {"uri": place.note.resolve().as_uri()}, "position": at}
        yield _timed(client, "textDocument/hover", params)


def _timed(client: Client, method: str, params: dict[str, object]) -> Timing:
    sent = time.perf_counter()
    answer = client.ask(method, params)
    content = answer.value["hits"] if isinstance(answer.value, dict) and "hits" in answer.value else answer.value
    return answer.at - sent, bool(content)


def _row(timings: Iterable[Timing]) -> dict[str, float]:
    """Return count, share of answers with content and percentiles in milliseconds; nothing for no timing."""
    pairs = list(timings)
    if not pairs:
        return {}
    ordered = sorted(seconds * 1000 for seconds, _ in pairs)
    ranks = {f"p{percent}": ordered[min(len(ordered) - 1, len(ordered) * percent // 100)] for percent in (50, 95, 99)}
    return {"count": len(pairs), "filled": sum(content for _, content in pairs) / len(pairs), **ranks}


if __name__ == "__main__":
    main()
