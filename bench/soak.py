"""An hour's worth of edits and questions in two minutes: is every one answered, does anything leak, is all right then?

Usage: ``python bench/soak.py [--minutes M] [--seed N] [--vault FOLDER | --notes N] [--out FILE]``. Works on a generated
vault or on a copy; needs Linux. The real server with its real model is driven at random, with the command line and now
and then a second server beside it; the second is killed once, and once the first. In the end its answers are compared
with those of a new index of the same folder.

Exits 1 if a request was not answered once, an error came that should not, memory or open files grow, or answers differ.
"""

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Self

import generated
from processes import family
from restless import MODES, Editor, Restless
from serving import is_complete, machine, save, scratch, serve_command, vault_status, wait_for_status

_PATIENCE = 600.0
_PACE_SECONDS = 0.03
_SAMPLE_SECONDS = 2.0
_SHOWN_SECONDS = 10.0
_QUIET_SECONDS = 3.0
_SHELL_SECONDS = 1.0
# Python's memory is never quite flat; a leak of one answer or record a time would be far above this.
_MAX_MIB_A_MINUTE = 20.0
# Readers come and go with the threads that ask; a connection lost with each rebuild would be far above this.
_MAX_MORE_FILES = 12
# When the second server joins, leaves, is killed, and when the first is, as shares of the whole time.
_EVENTS = (
    (0.10, "join"), (0.20, "kill first"), (0.32, "leave"), (0.40, "join"), (0.48, "kill second"),
    (0.60, "join"), (0.72, "leave"), (0.80, "join"), (0.92, "leave"),
)  # fmt: skip


def main() -> int:
    """Soak, print what came of it, write JSON if asked."""
    options = _options()
    chance = random.Random(options.seed)  # noqa: S311 - what is done when, nothing secret
    with scratch() as (folder, environment):
        vault = folder / "vault"
        if options.vault is None:
            generated.write(vault, range(options.notes), options.seed)
        else:
            shutil.copytree(options.vault, vault, ignore=shutil.ignore_patterns(".git"), copy_function=shutil.copyfile)
        report = {"machine": machine(), "seed": options.seed, "minutes": options.minutes}
        report |= _soaked(vault, environment, options.minutes * 60, chance)
        report["differences"] = _differences(report.pop("state"), vault, folder)
    report["failures"] = _failures(report)
    report["samples"] = report["samples"][:: max(1, round(_SHOWN_SECONDS / _SAMPLE_SECONDS))]
    _show(report)
    save(report, options.out)
    return 1 if report["failures"] else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=2.0, help="how long (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="another seed does other things (%(default)s)")
    parser.add_argument("--vault", type=Path, help="a folder of notes to copy; without it one is generated")
    parser.add_argument("--notes", type=int, default=400, help="notes of the generated vault (%(default)s)")
    parser.add_argument("--out", type=Path, help="write the figures as JSON to this file")
    return parser.parse_args()


def _soaked(vault: Path, environment: dict[str, str], seconds: float, chance: random.Random) -> dict[str, Any]:
    """Be restless for a while, then wait for quiet; ``state`` is what the server answers in the end."""
    user = Restless(vault, chance)
    with ExitStack() as stack:
        servers = {"first": stack.enter_context(_serving(vault, environment))}
        user.use(servers["first"])
        wait_for_status(servers["first"], is_complete, _PATIENCE)
        watch = stack.enter_context(_Watch(servers["first"].pid))
        shell = stack.enter_context(_Shell(vault, environment))
        begin = time.monotonic()
        events = [(begin + share * seconds, event) for share, event in _EVENTS]
        while (now := time.monotonic()) < begin + seconds:
            if events and now > events[0][0]:
                _meet(events.pop(0)[1], servers, stack, vault, environment)
                if user.editor is not servers["first"]:
                    user.use(servers["first"])
                    watch.follow(servers["first"].pid)
            user.act()
            time.sleep(_PACE_SECONDS)
        user.rest()
        shell.end()
        user.tally.wrong += shell.wrong
        _settle(user.editor)
        state = _state(user.editor)
        user.account()
        after = {"at": round(time.monotonic() - begin, 1), **_sizes(user.editor.pid)}
    tally = user.tally
    return {
        "seconds": seconds,
        "done": dict(sorted(tally.done.items())),
        "questions": tally.questions,
        "lostWithAKill": tally.lost_with_a_kill,
        "refused": dict(tally.refused),
        "shellSearches": shell.count,
        "searchP50Ms": statistics.median(tally.searches) * 1000,
        "searchP95Ms": statistics.quantiles(tally.searches, n=20)[18] * 1000,
        "wrong": tally.wrong,
        "samples": watch.samples,
        "atRest": after,
        "state": state,
    }


@contextmanager
def _serving(vault: Path, environment: dict[str, str]) -> Iterator[Editor]:
    with Editor(serve_command(), environment) as editor:
        editor.initialize(vault)
        editor.initialized()
        yield editor


def _meet(event: str, servers: dict[str, Editor], stack: ExitStack, vault: Path, environment: dict[str, str]) -> None:
    """Let a server come or go. The stack ends in turn whatever is left."""
    match event:
        case "join":
            servers["second"] = stack.enter_context(_serving(vault, environment))
        case "leave":
            servers.pop("second").end()
        case "kill second":
            servers.pop("second").kill()
        case "kill first":
            servers["first"].kill()
            servers["first"] = stack.enter_context(_serving(vault, environment))


class _Watch:
    """Samples a server's resident memory (MiB), with and without its children, its open files, threads and children."""

    def __init__(self, pid: int) -> None:
        self.samples: list[dict[str, float]] = []
        self._pid = pid
        self._begin = time.monotonic()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def follow(self, pid: int) -> None:
        """Watch another process from now on; what was seen of the former one is left out."""
        self._pid = pid
        self.samples.clear()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.wait(_SAMPLE_SECONDS):
            try:
                sizes = _sizes(self._pid)
            except OSError:
                continue  # it has just been killed
            self.samples.append({"at": round(time.monotonic() - self._begin, 1), **sizes})


def _sizes(pid: int) -> dict[str, float]:
    children = family(pid)[1:]
    return {
        "mib": _resident(pid),
        "childrenMib": sum(map(_resident, children)),
        "files": len(os.listdir(f"/proc/{pid}/fd")),  # noqa: PTH208 - names only
        "threads": int(_line(pid, "Threads")),
        "children": len(children),
    }


def _resident(pid: int) -> float:
    return int(_line(pid, "VmRSS").split()[0]) / 1024


def _line(pid: int, name: str) -> str:
    """Return a value from what the kernel tells of a process; "0" of one that has just ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    except OSError:
        return "0"
    return next((line.partition(":")[2] for line in lines if line.startswith(f"{name}:")), "0")


class _Shell:
    """The command line beside the editor, searching again and again until ``ended``."""

    def __init__(self, vault: Path, environment: dict[str, str]) -> None:
        self.ended = threading.Event()
        self.count = 0
        self.wrong: list[str] = []
        self._command = [serve_command()[0], "search", str(vault)]
        self._environment = {**os.environ, **environment}
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> None:
        """Search no more; returns when the last search has ended."""
        self.ended.set()
        self._thread.join()

    def _run(self) -> None:
        while not self.ended.wait(_SHELL_SECONDS):
            query = generated.QUERIES[self.count % len(generated.QUERIES)]
            ran = subprocess.run(
                [*self._command, query, "--json"], env=self._environment, capture_output=True, check=False
            )
            self.count += 1
            if ran.returncode or "hits" not in json.loads(ran.stdout or b"{}"):
                self.wrong.append(f"synapse-ls search: {ran.returncode}, {ran.stderr.decode()[-300:]}")


def _settle(client: Editor) -> None:
    """Wait until nothing has been left to do for some seconds."""
    deadline = time.monotonic() + _PATIENCE
    quiet = time.monotonic()
    while time.monotonic() - quiet < _QUIET_SECONDS:
        status = vault_status(client)
        if not is_complete(status):
            quiet = time.monotonic()
        if time.monotonic() > deadline:
            raise SystemExit(f"the server does not come to rest: {status}")
        time.sleep(0.1)


def _state(client: Editor) -> dict[str, Any]:
    """Return what a server knows and answers, in a form that can be compared."""
    status = vault_status(client)
    found: dict[str, Any] = {key: status[key] for key in ("notes", "chunks", "embedded", "skipped")}
    found["all embedded"] = status["embedded"] == status["chunks"]
    for query in generated.QUERIES:
        for mode in MODES:
            hits = client.request("synapse/search", {"query": query, "mode": mode, "limit": 30})["hits"]
            found[f"{mode}: {query}"] = [
                (hit["uri"], hit["range"], hit["snippet"], hit["matchedBy"], round(hit["score"], 6)) for hit in hits
            ]
        found[f"symbols: {query}"] = client.request("workspace/symbol", {"query": query.split()[0]})
    return found


def _differences(state: dict[str, Any], vault: Path, folder: Path) -> list[str]:
    """Return what a server with a new index of the same folder answers otherwise."""
    with _serving(vault, {"SYNAPSE_CACHE_DIR": str(folder / "anew"), "HF_HUB_OFFLINE": "1"}) as client:
        _settle(client)
        wanted = _state(client)
    return [
        f"{key}: {state[key]} instead of {wanted[key]}"[:300].replace(folder.as_uri(), "")
        for key in wanted
        if state[key] != wanted[key]
    ]


def _trend(samples: list[dict[str, float]], at_rest: dict[str, float]) -> dict[str, float]:
    """Return how fast memory grew in the second half (MiB a minute), and how many more files are open in the end.

    An index that is made beside the other one holds files of its own meanwhile, so it is looked at when all is done.
    """
    half = len(samples) // 2
    late = samples[half:]
    slope, _ = statistics.linear_regression([s["at"] for s in late], [s["mib"] for s in late])
    before = statistics.median(s["files"] for s in samples[:half])
    return {"mibAMinute": slope * 60, "moreFiles": at_rest["files"] - before}


def _failures(report: dict[str, Any]) -> list[str]:
    found = [f"not as it should be: {sentence}" for sentence in report["wrong"]]
    found += [f"differs from a new index: {sentence}" for sentence in report["differences"]]
    report["trend"] = trend = _trend(report["samples"], report["atRest"])
    if trend["mibAMinute"] > _MAX_MIB_A_MINUTE:
        found.append(f"memory grows by {trend['mibAMinute']:.1f} MiB a minute")
    if trend["moreFiles"] > _MAX_MORE_FILES:
        found.append(f"{trend['moreFiles']:.0f} more files are open")
    return found


def _show(report: dict[str, Any]) -> None:
    print(", ".join(f"{count} x {what}" for what, count in report["done"].items()))
    print(
        f"{report['questions']} questions, each answered once but {report['lostWithAKill']} lost with a killed server; "
        f"refused: {report['refused']}; {report['shellSearches']} searches of the command line\n"
        f"search: median {report['searchP50Ms']:.0f} ms, 95th percentile {report['searchP95Ms']:.0f} ms\n"
    )
    columns = ("at", "mib", "childrenMib", "files", "threads", "children")
    print("".join(f"{name:>13}" for name in columns))
    for sample in [*report["samples"], report["atRest"]]:
        print("".join(f"{sample[name]:13.1f}" for name in columns))
    trend = report["trend"]
    print(f"\nsecond half: {trend['mibAMinute']:+.1f} MiB a minute; at rest {trend['moreFiles']:+.0f} files")
    for failure in report["failures"][:40]:
        print(failure)
    print("as it should be" if not report["failures"] else "NOT AS IT SHOULD BE")


if __name__ == "__main__":
    sys.exit(main())
