"""What a user never sees: servers killed during the first index, ruined index files, several servers on one vault.

Drives the installed command as processes, with the real model, and compares every answer with that of a server that
nothing has happened to. Exits 1 if one differs, if an error is shown as an answer, or if a note changes.
"""

import argparse
import hashlib
import json
import os
import random
import shutil
import signal
import sqlite3  # noqa: TID251 - an index is ruined by hand
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from client import Client, ServerError
from serving import is_complete, machine, save, scratch, serve_command, wait_for_status

QUERIES = (
    "repeat a task every week", "how do links between notes work", "settings", "keyboard shortcuts", "what changed",
    "find notes about the past", "install", "colour of a theme", "a graph of everything", "error",
)  # fmt: skip
_PATIENCE = 600.0


def main() -> int:
    """Run what is asked for and print what came out."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "vaults", nargs="+", type=Path, help="folders of notes; the first is used for ruins and neighbours"
    )
    parser.add_argument("--kills", type=int, default=6, help="kills in a row of each first index (default 6)")
    parser.add_argument(
        "--seconds", type=float, default=60.0, help="how long several servers share a vault (default 60)"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there")
    options = parser.parse_args()
    chance = random.Random(options.seed)  # noqa: S311 - moments of kills, nothing secret
    report: dict[str, Any] = {"machine": machine(), "vaults": [vault.name for vault in options.vaults]}
    report["kills"] = [killed(vault, options.kills, chance) for vault in options.vaults]
    report["ruins"] = ruined(options.vaults[0])
    report["neighbours"] = neighbours(options.vaults[0], options.seconds, chance)
    save(report, options.json)
    good = all(run["same"] and run["untouched"] for run in report["kills"])
    good &= all(ruin["same"] for ruin in report["ruins"])
    good &= not report["neighbours"]["errors"] and report["neighbours"]["same"]
    print("all as undisturbed" if good else "SOMETHING DIFFERS")
    return 0 if good else 1


def killed(source: Path, kills: int, chance: random.Random) -> dict[str, Any]:
    """Kill a server again and again while it makes the first index of a vault, then compare."""
    with scratch() as (folder, environment):
        vault = _copy(source, folder)
        before = _fingerprint(vault)
        wanted = _undisturbed(vault, folder)
        moments, passages = [], []
        for _ in range(kills):
            with _serving(environment) as client:
                client.initialize(vault)
                client.initialized()
                moment = chance.uniform(0.3, 6.0)
                time.sleep(moment)
                os.kill(client.pid, signal.SIGKILL)
                client.gone = True
            moments.append(round(moment, 2))
            passages.append(_passages(folder / "cache"))
        found, status = _answers_of(vault, environment)
        run = {
            "vault": source.name,
            "killed after seconds": moments,
            "vectors kept": passages,
            "same": found == wanted,
            "untouched": _fingerprint(vault) == before,
            "notes": status["notes"],
            "embedded": status["embedded"],
            "chunks": status["chunks"],
        }
    print(f"{kills} kills during the first index: {run}")
    return run


def ruined(source: Path) -> list[dict[str, Any]]:
    """Ruin the index in many ways and see what the next server answers and says."""
    outcomes: list[dict[str, Any]] = []
    with scratch() as (folder, environment):
        vault = _copy(source, folder)
        wanted, _ = _answers_of(vault, environment)
        whole = folder / "whole"
        shutil.copytree(folder / "cache", whole)
        for name, ruin in RUINS.items():
            shutil.rmtree(folder / "cache")
            shutil.copytree(whole, folder / "cache")
            (current,) = (folder / "cache").glob("vaults/*/current")
            ruin(current.parent / current.read_text(encoding="ascii").strip())
            found, status = _answers_of(vault, environment, said := [])
            outcome = {
                "ruin": name,
                "same": found == wanted,
                "said": said,
                "embedded anew": status["counters"]["chunksEmbedded"],
                "files read": status["counters"]["filesRead"],
            }
            outcomes.append(outcome)
            print(f"ruined: {outcome}")
    return outcomes


def neighbours(source: Path, seconds: float, chance: random.Random) -> dict[str, Any]:
    """Let two servers and the shell work on one vault while notes change; then compare both with a fresh one."""
    errors: list[str] = []
    counts = {"searches": 0, "shell searches": 0, "edits": 0}
    with scratch() as (folder, environment):
        vault = _copy(source, folder)
        ended = threading.Event()

        def shell() -> None:
            while not ended.is_set():
                ran = subprocess.run(
                    [serve_command()[0], "search", str(vault), chance.choice(QUERIES), "--json"],
                    env={**os.environ, **environment},
                    capture_output=True,
                    check=False,
                )
                counts["shell searches"] += 1
                if ran.returncode or not json.loads(ran.stdout or b"{}").get("hits"):
                    errors.append(f"shell: {ran.returncode} {ran.stderr.decode()[-300:]}")

        with _serving(environment) as first, _serving(environment) as second:
            for client in (first, second):
                client.initialize(vault)
                client.initialized()
            wait_for_status(first, is_complete, _PATIENCE)
            beside = threading.Thread(target=shell)
            beside.start()
            until = time.monotonic() + seconds
            while time.monotonic() < until:
                _edit(vault, chance)
                counts["edits"] += 1
                for client in (first, second):
                    try:
                        if not client.request("synapse/search", {"query": chance.choice(QUERIES)})["hits"]:
                            errors.append("a search found nothing")
                    except ServerError as error:
                        errors.append(str(error))
                    counts["searches"] += 1
                time.sleep(0.2)
            ended.set()
            beside.join()
            wait_for_status(first, is_complete, _PATIENCE)
            answers = [_answers(client) for client in (first, second)]
        wanted = _undisturbed(vault, folder)
    outcome = {**counts, "seconds": seconds, "errors": errors, "same": answers == [wanted, wanted]}
    print(f"two servers and the shell: {outcome}")
    return outcome


def _zeroed(path: Path, first: float, last: float) -> None:
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(int(size * first))
        file.write(bytes(int(size * (last - first))))


def _sql(path: Path, statement: str) -> None:
    with sqlite3.connect(path) as db:
        db.execute(statement)
    db.close()


def _in_place(path: Path) -> None:
    path.unlink()
    path.mkdir()


RUINS: dict[str, Callable[[Path], object]] = {
    "empty": lambda path: path.write_bytes(b""),
    "gone": Path.unlink,
    "not a database": lambda path: path.write_bytes(b"shopping list\n" * 9000),
    "cut in half": lambda path: os.truncate(path, path.stat().st_size // 2),
    "zeroed head": lambda path: _zeroed(path, 0, 0.01),
    "zeroed middle": lambda path: _zeroed(path, 0.3, 0.6),
    "zeroed end": lambda path: _zeroed(path, 0.8, 1),
    "newer schema": lambda path: _sql(path, "PRAGMA user_version = 99"),
    "older schema": lambda path: _sql(path, "PRAGMA user_version = 1"),
    "another application's": lambda path: _sql(path, "PRAGMA application_id = 7"),
    "a table dropped": lambda path: _sql(path, "DROP TABLE chunks"),
    "a folder in its place": _in_place,
    "a foreign journal": lambda path: path.with_name(path.name + "-wal").write_bytes(os.urandom(90_000)),
    "no pointer to it": lambda path: (path.parent / "current").unlink(),
}


def _serving(environment: dict[str, str]) -> "_Server":
    return _Server(serve_command(), environment)


class _Server(Client):
    """A server that may be killed: then nothing is said in the end."""

    gone = False

    def __exit__(self, *problem: object) -> None:
        if self.gone:
            super().__exit__(ServerError, ServerError("killed"), None)
        else:
            super().__exit__(*problem)  # type: ignore[arg-type]  # what Python gives


def _copy(source: Path, folder: Path) -> Path:
    vault = folder / source.name
    shutil.copytree(source, vault, ignore=shutil.ignore_patterns(".git"))
    return vault


def _undisturbed(vault: Path, folder: Path) -> list[Any]:
    environment = {"SYNAPSE_CACHE_DIR": str(folder / "undisturbed"), "HF_HUB_OFFLINE": "1"}
    answers, _ = _answers_of(vault, environment)
    shutil.rmtree(folder / "undisturbed")
    return answers


def _answers_of(
    vault: Path, environment: dict[str, str], said: list[str] | None = None
) -> tuple[list[Any], dict[str, Any]]:
    """Return what a server answers once it is current, and its status; ``said`` collects its messages."""
    with _serving(environment) as client:
        client.initialize(vault)
        client.initialized()
        wait_for_status(client, is_complete, _PATIENCE)
        try:
            found = _answers(client)
        except ServerError:  # damage that shows only now: it was told and is being mended
            wait_for_status(client, is_complete, _PATIENCE)
            found = _answers(client)
        status = client.request("synapse/status", {})["vaults"][0]
        if said is not None:
            said += client.messages()
        return found, status


def _answers(client: Client) -> list[Any]:
    found = []
    for query in QUERIES:
        for mode in ("lexical", "hybrid"):
            hits = client.request("synapse/search", {"query": query, "mode": mode})["hits"]
            found.append([(hit["uri"], hit["range"], hit["snippet"], round(hit["score"], 6)) for hit in hits])
    return found


def _edit(vault: Path, chance: random.Random) -> None:
    notes = sorted(vault.rglob("*.md"))
    note = chance.choice(notes)
    match chance.randrange(4):
        case 0:
            (vault / f"new {chance.randrange(50)}.md").write_text(
                f"# New\n\n{chance.random()} shortcuts and settings\n"
            )
        case 1:
            note.write_text(note.read_text(errors="replace") + f"\n\nAdded {chance.random()} about links.\n")
        case 2 if len(notes) > 20:
            note.unlink()
        case _:
            note.rename(note.with_name(f"{note.stem} {chance.randrange(9)}.md"))


def _passages(cache: Path) -> int:
    """Return how many vectors the index in use holds."""
    for current in cache.glob("vaults/*/current"):
        with sqlite3.connect(current.parent / current.read_text(encoding="ascii").strip()) as db:
            return int(db.execute("SELECT count(*) FROM vectors").fetchone()[0])
    return 0


def _fingerprint(vault: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(vault.rglob("*")):
        if path.is_file():
            digest.update(f"{path.relative_to(vault)}\0{path.stat().st_mtime_ns}\0".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


if __name__ == "__main__":
    sys.exit(main())
