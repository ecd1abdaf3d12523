"""Which Synapse is measured: its version, its revision, and a digest of its sources as they are."""

import importlib.metadata
import importlib.util
import subprocess
from hashlib import blake2b
from pathlib import Path


def identity() -> dict[str, str]:
    """Return ``version``, ``revision`` (of git, "-dirty" if files differ; "unknown" without git) and ``sources``."""
    spec = importlib.util.find_spec("synapse_ls")
    if spec is None or spec.origin is None:
        raise SystemExit("synapse_ls is not installed: run `pip install --no-deps --no-build-isolation -e .` first")
    folder = Path(spec.origin).parent
    return {
        "version": importlib.metadata.version("synapse-ls"),
        "revision": _revision(folder),
        "sources": _digest(folder),
    }


def _revision(folder: Path) -> str:
    command = ["git", "-C", str(folder), "describe", "--always", "--dirty"]
    try:
        told = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return "unknown"
    return told.stdout.strip() or "unknown"


def _digest(folder: Path) -> str:
    digest = blake2b(digest_size=8)
    for path in sorted(folder.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            digest.update(str(path.relative_to(folder)).encode() + b"\0" + blake2b(path.read_bytes()).digest())
    return digest.hexdigest()
