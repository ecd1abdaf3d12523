"""How the benchmarks start Synapse: the installed command, a cache that goes away, and waiting for a state."""

import json
import os
import platform
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from client import Client, ServerError


@contextmanager
def scratch() -> Iterator[tuple[Path, dict[str, str]]]:
    """Give a temporary folder and the environment that keeps the server's cache in it."""
    with tempfile.TemporaryDirectory(prefix="synapse-bench-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        yield folder, {"SYNAPSE_CACHE_DIR": str(folder / "cache"), "HF_HUB_OFFLINE": "1"}


def serve_command() -> list[str]:
    """Return the command that starts the server of this very Python environment."""
    found = shutil.which("synapse-ls", path=str(Path(sys.executable).parent)) or shutil.which("synapse-ls")
    if found is None:
        raise SystemExit("synapse-ls is not installed: run `pip install --no-deps --no-build-isolation -e .` first")
    return [found, "serve"]


def vault_status(client: Client) -> dict[str, Any]:
    """Return the status of the one open vault."""
    status: dict[str, Any] = client.request("synapse/status", {})["vaults"][0]
    return status


def wait_for_status(client: Client, accept: Callable[[dict[str, Any]], bool], timeout: float) -> float:
    """Wait until the one open vault's status is accepted; return the time at which that was told.

    Notifications decide; the status is asked for once in a while, in case it was so all along.
    """
    deadline = time.perf_counter() + timeout
    while True:
        try:
            told = client.wait_for("synapse/statusChanged", lambda status: any(map(accept, status["vaults"])), 0.5)
        except ServerError:
            if accept(vault_status(client)):
                return time.perf_counter()
            if time.perf_counter() > deadline:
                raise
        else:
            return told.at


def is_searchable(status: dict[str, Any]) -> bool:
    """Whether every word of the vault can be found."""
    return bool(status["state"] == "ready")


def is_complete(status: dict[str, Any]) -> bool:
    """Whether words and vectors are current."""
    return is_searchable(status) and status["pending"] == 0 and status["model"]["state"] != "loading"


def machine() -> dict[str, object]:
    """Return what figures depend on."""
    return {
        "python": platform.python_version(),
        "system": platform.system(),
        "architecture": platform.machine(),
        "cores": os.cpu_count(),
    }


def save(report: dict[str, Any], out: Path | None) -> None:
    """Write a report as JSON, if a place for it was named."""
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(json.dumps(report, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        print(f"\nwritten to {out}")
