"""How soon the index knows: saves, typing, moves, and thousands of files changed by another program.

Usage: ``python bench/freshness.py VAULT [--saves N] [--files N] [--out FILE]``. Works on copies; needs Linux.
"""

import argparse
import random
import shutil
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from client import Client
from queries import note_paths, queries_of
from serving import is_complete, is_searchable, machine, save, scratch, serve_command, vault_status, wait_for_status

_PATIENCE = 3600.0
_PAUSE = 0.01
_SEED = 7
_QUERIES = 80
# What a saved paragraph says, and a question that shares no word with it.
_SAID = "The keeper of the lighthouse {} polishes the great lens at dusk."
_THINGS = ("whale", "violin", "volcano", "orchid", "glacier", "submarine", "beehive", "windmill")


def main() -> None:
    """Measure on copies of the vault, print the figures, write JSON if asked."""
    options = _options()
    report: dict[str, Any] = {"machine": machine(), "vault": options.vault.resolve().name}
    with scratch() as (folder, environment):
        vault = folder / options.vault.resolve().name
        shutil.copytree(options.vault, vault, ignore=shutil.ignore_patterns(".git"), copy_function=shutil.copyfile)
        with Client(serve_command(), environment) as client:
            client.initialize(vault)
            client.initialized()
            report["whileIndexing"] = _while_indexing(client, vault)
            _show("searches while vectors are made, against idle", report["whileIndexing"])
            report["saves"] = _saves(client, vault, options.saves)
            _show("from a save to the hit", report["saves"])
            report["moves"] = _moves(client, vault)
            _show("reuse", report["moves"])
        if options.files:
            report["burst"] = _burst(folder, environment, options.files)
            _show(f"{options.files} files rewritten by another program", report["burst"])
    save(report, options.out)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("vault", type=Path, help="a folder of notes; copies of it are worked on")
    parser.add_argument("--saves", type=int, default=40, help="how many saves to time")
    parser.add_argument("--files", type=int, default=10_000, help="how many files to rewrite at once; 0 leaves it out")
    parser.add_argument("--out", type=Path, help="write the figures there as JSON")
    return parser.parse_args()


def _while_indexing(client: Client, vault: Path) -> dict[str, Any]:
    """Search during the first index once words are current, then again when nothing is left to do."""
    queries = queries_of(vault)
    wait_for_status(client, is_searchable, _PATIENCE)
    busy = _times(client, queries[:_QUERIES])
    still = vault_status(client)["pending"] > 0
    wait_for_status(client, is_complete, _PATIENCE)
    time.sleep(2)
    idle = _times(client, queries[_QUERIES : 2 * _QUERIES])
    return {
        "stillIndexing": still,
        "busyP95Ms": _p95(busy),
        "idleP95Ms": _p95(idle),
        "ratio": _p95(busy) / _p95(idle),
        "busyP50Ms": statistics.median(busy),
        "idleP50Ms": statistics.median(idle),
    }


def _saves(client: Client, vault: Path, number: int) -> dict[str, Any]:
    """Append a paragraph to a note, save it, and ask until it is found; each note once."""
    notes = note_paths(vault)
    random.Random(_SEED).shuffle(notes)  # noqa: S311 - a repeatable order, nothing secret
    words: list[float] = []
    meaning: list[float] = []
    before = vault_status(client)["counters"]["chunksEmbedded"]
    for count, note in enumerate(notes[:number]):
        name = f"zq{count:03}x"
        thing = _THINGS[count % len(_THINGS)]
        said = f"\n\n## {name}\n\n{_SAID.format(name)} A {thing} watches.\n"
        with note.open("ab") as file:
            file.write(said.encode())
        saved = time.perf_counter()
        client.notify("textDocument/didSave", {"textDocument": {"uri": note.as_uri()}})
        words.append(_poll(client, {"query": name, "mode": "lexical"}, note) - saved)
        question = {
            "query": f"{thing} seen beside a maritime beacon in the evening {name}",
            "mode": "semantic",
            "limit": 100,
        }
        meaning.append(_poll(client, question, note, lambda hit, name=name: name in hit["snippet"]["text"]) - saved)
    wait_for_status(client, is_complete, _PATIENCE)
    embedded = vault_status(client)["counters"]["chunksEmbedded"] - before
    return {
        "wordsP50Ms": statistics.median(words) * 1000,
        "wordsP95Ms": _p95(words) * 1000,
        "meaningP50Ms": statistics.median(meaning) * 1000,
        "meaningP95Ms": _p95(meaning) * 1000,
        "saves": len(words),
        "chunksEmbedded": embedded,
    }


def _moves(client: Client, vault: Path) -> dict[str, Any]:
    """Move a folder; put a paragraph on top of a long note with headings and of one without, both under 1 MiB."""
    long = {"headed.md": "\n\n".join(f"## Part {i}\n\n{_prose(i)}" for i in range(1000))}
    long["bare.md"] = "\n\n".join(_prose(i) for i in range(1500))
    moved = vault / "zz-moved"
    moved.mkdir()
    for name, text in long.items():
        (moved / name).write_text(f"# {name}\n\n{text}\n", "utf-8")
    _settle(client, lambda status: status["chunks"] > 0)
    found: dict[str, Any] = {}
    for name in long:
        note = moved / name
        title, _, rest = note.read_text("utf-8").partition("\n\n")
        new = vault.parent / name
        new.write_text(f"{title}\n\nOn top.\n\n{rest}", "utf-8")
        # As editors save: a file that is read while it is written would count for more.
        found[f"paragraphOnTop {name}"] = _embedded_by(client, lambda new=new, note=note: new.replace(note))
    found["folderMoved"] = _embedded_by(client, lambda: moved.rename(vault / "yy-moved"))
    return found


def _burst(folder: Path, environment: dict[str, str], number: int) -> dict[str, Any]:
    """Rewrite many files at once, without a model, and ask for a word of the last one."""
    vault = folder / "many"
    for i in range(number):
        note = vault / f"{i % 100:02}" / f"{i:05}.md"
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_text(f"# Note {i}\n\n{_prose(i)}\n", "utf-8")
    with Client(serve_command(), environment) as client:
        client.initialize(vault, {"embedding": {"model": "none"}})
        client.initialized()
        wait_for_status(client, is_complete, _PATIENCE)
        start = time.perf_counter()
        for i in range(number):
            (vault / f"{i % 100:02}" / f"{i:05}.md").write_text(
                f"# Note {i}\n\nrewritten{i} {_prose(i + 1)}\n", "utf-8"
            )
        written = time.perf_counter()
        last = vault / f"{(number - 1) % 100:02}" / f"{number - 1:05}.md"
        _poll(client, {"query": f"rewritten{number - 1}", "mode": "lexical"}, last)
        _settle(client, lambda _: True)
        current = time.perf_counter()
        stale = sum(
            not client.request("synapse/search", {"query": f"rewritten{i}", "mode": "lexical"})["hits"]
            for i in range(0, number, max(1, number // 100))
        )
    return {
        "writingSeconds": written - start,
        "currentSeconds": current - start,
        "currentAfterTheLastWriteSeconds": current - written,
        "missingInASampleOf100": stale,
    }


def _embedded_by(client: Client, change: Callable[[], object]) -> int:
    before = vault_status(client)
    change()
    _settle(client, lambda status: status["generation"] > before["generation"])
    return int(vault_status(client)["counters"]["chunksEmbedded"] - before["counters"]["chunksEmbedded"])


def _settle(client: Client, accept: Callable[[dict[str, Any]], bool]) -> None:
    """Wait until nothing is left to do for a second, so that nothing is on its way any more."""
    quiet = time.perf_counter()
    while time.perf_counter() - quiet < 1:
        status = vault_status(client)
        if not (is_complete(status) and accept(status)):
            quiet = time.perf_counter()
        time.sleep(0.05)


def _times(client: Client, queries: list[str]) -> list[float]:
    times: list[float] = []
    for query in queries:
        start = time.perf_counter()
        times.append((client.ask("synapse/search", {"query": query}).at - start) * 1000)
    return times


def _poll(
    client: Client, params: dict[str, object], note: Path, accept: Callable[[Any], bool] = lambda _: True
) -> float:
    deadline = time.perf_counter() + 60
    while time.perf_counter() < deadline:
        answer = client.ask("synapse/search", params)
        if any(hit["uri"] == note.as_uri() and accept(hit) for hit in answer.value["hits"]):
            return answer.at
        time.sleep(_PAUSE)
    raise SystemExit(f"{note.name} is not found by {params} within a minute")


def _prose(seed: int) -> str:
    chance = random.Random(seed)  # noqa: S311 - repeatable text, nothing secret
    words = [f"{chance.choice(_THINGS)}{chance.randrange(400)}" for _ in range(60)]
    return " ".join(words).capitalize() + "."


def _p95(times: list[float]) -> float:
    return statistics.quantiles(times, n=20)[18]


def _show(title: str, figures: dict[str, Any]) -> None:
    print(title)
    for name, value in figures.items():
        print(f"  {name:34}{value:>10.2f}" if isinstance(value, float) else f"  {name:34}{value:>7}", flush=True)


if __name__ == "__main__":
    main()
