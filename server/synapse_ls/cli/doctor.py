"""``synapse-ls doctor``: is everything there that Synapse needs, and what to do if not."""

import argparse
import importlib.util
import json
import platform
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from synapse_ls import __version__
from synapse_ls.core.errors import SynapseError
from synapse_ls.vault import location

_INOTIFY = Path("/proc/sys/fs/inotify/max_user_watches")
_FEW_WATCHES = 8_192


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at: ``advice`` says what to do if it is not ``ok``."""

    name: str
    ok: bool
    detail: str
    advice: str | None = None


def doctor(options: argparse.Namespace) -> int:
    """Print what was found; returns 2 if something has to be done."""
    findings = [check() for check in _CHECKS]
    if options.json:
        shown = [{"name": f.name, "ok": f.ok, "detail": f.detail, "advice": f.advice} for f in findings]
        print(json.dumps({"version": __version__, "checks": shown}, ensure_ascii=False, indent=2))
    else:
        print(f"synapse-ls {__version__}")
        for finding in findings:
            print(f"  {'ok ' if finding.ok else 'BAD'} {finding.name}: {finding.detail}")
            if finding.advice:
                print(f"      {finding.advice}")
    return 0 if all(finding.ok for finding in findings) else 2


def _python() -> Finding:
    return Finding("python", sys.version_info >= (3, 11), f"{platform.python_version()} at {sys.executable}")


def _sqlite() -> Finding:
    try:
        from synapse_ls.store import database

        found = database.versions()
    except Exception as error:  # noqa: BLE001 - whatever is wrong with the installation
        return Finding("database", False, str(error), "run: pip install --force-reinstall apsw sqlite-vec")
    return Finding("database", True, ", ".join(f"{name} {version}" for name, version in found.items()) + ", FTS5")


def _model() -> Finding:
    try:
        from synapse_ls.inference import embedder

        with tempfile.TemporaryDirectory() as nothing_is_kept:
            loaded = embedder.load("bundled", Path(nothing_is_kept))
        loaded.embed_query("ready")
    except SynapseError as error:
        return Finding("model", False, str(error), "until then search goes on by words and links")
    except Exception as error:  # noqa: BLE001 - whatever is wrong with the installation
        advice = "run: pip install --force-reinstall fastembed onnxruntime tokenizers"
        return Finding("model", False, str(error), advice)
    spec = loaded.spec
    return Finding("model", True, f"{spec.name}, {spec.dimensions} dimensions, {spec.languages}, checked and loaded")


def _watching() -> Finding:
    if importlib.util.find_spec("watchfiles") is None:
        return Finding("watching", False, "watchfiles is missing", "run: pip install --force-reinstall watchfiles")
    if not _INOTIFY.exists():
        return Finding("watching", True, "by the system's own notifications")
    limit = int(_INOTIFY.read_text())
    if limit < _FEW_WATCHES:
        advice = (
            "large vaults are looked at every 2 s instead; raise it with: sysctl fs.inotify.max_user_watches=524288"
        )
        return Finding("watching", True, f"inotify, at most {limit} folders", advice)
    return Finding("watching", True, f"inotify, at most {limit} folders")


def _cache() -> Finding:
    root = location.cache_root()
    try:
        root.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryFile(dir=root):
            pass
    except OSError as error:
        advice = "set SYNAPSE_CACHE_DIR to a folder you can write to"
        return Finding("cache", False, f"{root} cannot be written ({error.strerror or error})", advice)
    vaults = root / "vaults"
    held = len(list(vaults.iterdir())) if vaults.is_dir() else 0
    return Finding("cache", True, f"{root}, {location.size(root) / 2**20:.1f} MiB in {held} indexes")


_CHECKS: tuple[Callable[[], Finding], ...] = (_python, _sqlite, _model, _watching, _cache)
