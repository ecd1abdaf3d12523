"""How long the server's event loop is ever busy: its longest gaps beside those of a loop that does nothing else.

Usage: ``python bench/event_loop.py [--notes N] [--files N] [--megabytes N] [--out FILE]``. Both loops ask for a call
each millisecond, in the same minutes on the same cores, while a generated vault is opened, thousands of its files
change, a huge note is opened and typed into, and the index is damaged and rebuilt, with someone searching throughout.
Exits 1 if the server's 99.9th percentile is above three times the bare loop's.
"""

import argparse
import bisect
import itertools
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import generated
from client import Client
from serving import is_searchable, machine, save, scratch, vault_status
from ticking import moments_in

_MAX_RATIO = 3.0
_PATIENCE = 600.0
_KEY_SECONDS = 0.15
_THOUGHT_SECONDS = 1.0
_LINE = "The tide carries the lantern near the harbour, as it did before, {:07}.\n"
_TICKING = str(Path(__file__).with_name("ticking.py"))

Step = tuple[str, float, float]
"""A step's name, its begin and its end."""


def main() -> int:
    """Measure, print a table, write JSON if asked."""
    options = _options()
    with scratch() as (folder, environment):
        files = {kind: folder / f"{kind}.ticks" for kind in ("serve", "bare")}
        with (
            _bare(files["bare"]),
            Client([sys.executable, _TICKING, "serve", str(files["serve"])], environment) as client,
        ):
            steps = list(_scenario(client, folder, options))
        moments = {kind: list(moments_in(file)) for kind, file in files.items()}
    steps.append(("all of it", steps[0][1], steps[-1][2]))
    print(f"{'ms':28}{'loop':>8}{'ticks':>8}{'p50':>8}{'p99':>8}{'p99.9':>8}{'max':>8}")
    rows = {name: _row(name, moments, begin, end) for name, begin, end in steps}
    sizes = {key: getattr(options, key) for key in ("notes", "files", "megabytes")}
    save({"machine": machine(), **sizes, "maxRatio": _MAX_RATIO, "steps": rows}, options.out)
    return 0 if rows["all of it"]["ratio"]["p99.9"] <= _MAX_RATIO else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--notes", type=int, default=3000, help="notes of the vault (%(default)s)")
    parser.add_argument("--files", type=int, default=10_000, help="files written at once (%(default)s)")
    parser.add_argument("--megabytes", type=int, default=20, help="size of the huge note (%(default)s)")
    parser.add_argument("--out", type=Path, help="write the figures as JSON to this file")
    return parser.parse_args()


@contextmanager
def _bare(file: Path) -> Iterator[None]:
    process = subprocess.Popen([sys.executable, _TICKING, "bare", str(file)], stdin=subprocess.PIPE)
    try:
        yield
    finally:
        process.communicate()


def _scenario(client: Client, folder: Path, options: argparse.Namespace) -> Iterator[Step]:
    """Do one step after the other; each ends when the words of the vault are current."""
    vault = folder / "vault"
    generated.write(vault, range(options.notes), 1)
    client.initialize(vault)
    with _typist(client):

        def step(name: str, work: Callable[[], object]) -> Step:
            begin = time.monotonic()
            work()
            _settle(client)
            return name, begin, time.monotonic()

        yield step("vault opened", client.initialized)
        yield step("files changed", lambda: generated.write(vault, range(options.files), 2))
        note = vault / "huge.md"
        lines = options.megabytes * 1_000_000 // len(_LINE.format(0))
        yield step("huge note opened", lambda: _open_note(client, note, lines))
        yield step("huge note typed into", lambda: _type(client, note, lines))
        yield step("index damaged and rebuilt", lambda: _damage(client, folder / "cache"))


def _open_note(client: Client, note: Path, lines: int) -> None:
    text = "# Huge\n\n" + "".join(_LINE.format(number) for number in range(lines))
    document = {"uri": note.as_uri(), "languageId": "markdown", "version": 0, "text": text}
    client.notify("textDocument/didOpen", {"textDocument": document})


def _type(client: Client, note: Path, lines: int) -> None:
    """Type a hundred keys all over the note, at a typist's pace."""
    chance = random.Random(3)  # noqa: S311 - the same places each time, nothing secret
    for version in range(1, 101):
        place = {"line": chance.randrange(lines), "character": chance.randrange(40)}
        change = {"range": {"start": place, "end": place}, "text": chance.choice("etaoin \n")}
        document = {"uri": note.as_uri(), "version": version}
        client.notify("textDocument/didChange", {"textDocument": document, "contentChanges": [change]})
        time.sleep(_KEY_SECONDS)


def _damage(client: Client, cache: Path) -> None:
    """Write zeros over a third of the index, and wait until that is noticed."""
    (current,) = cache.glob("vaults/*/current")
    index = current.parent / current.read_text(encoding="ascii").strip()
    size = index.stat().st_size
    with index.open("r+b") as file:
        file.seek(size // 3)
        file.write(bytes(size // 3))
    client.wait_for("window/showMessage", lambda told: "is being rebuilt" in told["message"], _PATIENCE)


def _settle(client: Client) -> None:
    """Wait until the words of the vault are current for a second."""
    deadline = time.monotonic() + _PATIENCE
    quiet = time.monotonic()
    while time.monotonic() - quiet < 1:
        status = vault_status(client)
        # Chunks that wait for a vector are pending as well; they may wait.
        if not is_searchable(status):
            quiet = time.monotonic()
        if time.monotonic() > deadline:
            raise SystemExit(f"the index is not current within {_PATIENCE:.0f} s: {status}")
        time.sleep(0.2)


@contextmanager
def _typist(client: Client) -> Iterator[None]:
    """Let someone search as they type, key by key, with a thought after each query."""
    stop = threading.Event()

    def type_queries() -> None:
        for number, query in enumerate(itertools.cycle(generated.QUERIES)):
            for length in range(2, len(query) + 1):
                client.send("synapse/search", {"query": query[:length], "session": f"typist {number}"})
                if stop.wait(_KEY_SECONDS):
                    return
            if stop.wait(_THOUGHT_SECONDS):
                return

    thread = threading.Thread(target=type_queries, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _row(name: str, moments: dict[str, list[float]], begin: float, end: float) -> dict[str, Any]:
    """Print and return the gaps, in milliseconds, that ended within a step."""
    row: dict[str, Any] = {"seconds": round(end - begin, 1)}
    for kind, ticks in moments.items():
        part = ticks[max(0, bisect.bisect(ticks, begin) - 1) : bisect.bisect(ticks, end) + 1]
        row[kind] = percentiles([(after - before) * 1000 for before, after in itertools.pairwise(part)])
        print(f"{name:28}{kind:>8}{len(part):8}" + "".join(f"{row[kind][key]:8.2f}" for key in row[kind]))
    row["ratio"] = {key: row["serve"][key] / row["bare"][key] for key in row["bare"]}
    print(f"{name:28}{'ratio':>8}{'':8}" + "".join(f"{value:8.2f}" for value in row["ratio"].values()), flush=True)
    return row


def percentiles(gaps: list[float]) -> dict[str, float]:
    """Return the median, the 99th and 99.9th percentile, and the longest."""
    ordered = sorted(gaps)
    at = {"p50": 0.5, "p99": 0.99, "p99.9": 0.999, "max": 1.0}
    return {name: ordered[min(len(ordered) - 1, int(len(ordered) * share))] for name, share in at.items()}


if __name__ == "__main__":
    sys.exit(main())
