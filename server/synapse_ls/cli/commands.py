"""The commands that work on one vault: index, search, related, status, forget."""

import argparse
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from synapse_ls.cli import show
from synapse_ls.cli.reranking import refined
from synapse_ls.cli.terminal import print_json, say
from synapse_ls.core import config
from synapse_ls.core.config import Settings
from synapse_ls.core.errors import IndexStateError, VaultError
from synapse_ls.core.model import Hit, SearchRequest
from synapse_ls.features import shapes
from synapse_ls.inference import catalogue
from synapse_ls.search.related import RelatedRequest
from synapse_ls.vault import location, model_use
from synapse_ls.vault.encoder import Encoder
from synapse_ls.vault.reranking import Reranking
from synapse_ls.vault.vault import Vault

# How often an index that another process makes is looked at.
_PATIENCE = 0.2
_UNKNOWN_MODEL = (
    "the index was made with a model that is not installed by a name here, such as an endpoint's or a folder's, and is "
    "left as it is: name that model (--set embedding.model=..., --set embedding.http.url=...), or make the index anew "
    "with --set embedding.model=bundled"
)
# How much of a name that means nothing is told.
_SHOWN = 200

_T = TypeVar("_T")


def index(options: argparse.Namespace) -> int:
    """Bring the index up to date and print what there is."""
    started = time.monotonic()
    with _opened(options, model=True, rebuild=options.rebuild) as vault:
        if vault.read_only:
            say("another Synapse keeps this index up to date; nothing to do")
        show.wait_with_progress(vault)
        status = vault.status()
    result = {
        "notes": status.notes,
        "chunks": status.chunks,
        "embedded": status.chunks_embedded,
        "reused": status.embedded - status.chunks_embedded,
        "skipped": len(status.skipped),
        "seconds": round(time.monotonic() - started, 2),
    }
    if options.json:
        print_json({**result, "skippedNotes": [{"path": path, "reason": why} for path, why in status.skipped]})
    else:
        print(", ".join(f"{value} {name}" for name, value in result.items()))
        for path, why in status.skipped:
            print(f"  {path}: {why}")
    if status.model.note is not None:
        say(status.model.note)
    return _trouble(vault, status.error)


def search(options: argparse.Namespace) -> int:
    """Index what is missing, then answer."""
    with _opened(options, model=options.mode != "lexical") as vault:
        _bring_up_to_date(vault)
        limit = options.limit or vault.settings.search.limit
        request = SearchRequest(
            query=options.asked,
            limit=limit,
            mode=options.mode,
            near=None if options.near is None else _note(vault, options.near),
            explain=options.explain,
            shortlist=max(limit, vault.settings.rerank.top_k) if options.rerank is not False else 0,
        )
        answer = _answered(vault, lambda: vault.search(request))
        found = refined(vault, options.asked, answer, limit, options.rerank)
        answer, trouble = found.answer, vault.status().error
    if options.json:
        shape = shapes.answer(answer, _hit, found.outcome)
        print_json({**shape, "model": found.model} if found.model is not None else shape)
    else:
        show.answer(answer)
    if answer.semantic.state == "unavailable":
        say(f"not searched by meaning: {answer.semantic.note}")
    return _trouble(vault, trouble)


def related(options: argparse.Namespace) -> int:
    """Index what is missing, then tell what is related to a note or to one of its sections."""
    with _opened(options, model=True) as vault:
        _bring_up_to_date(vault)
        path, heading = _section(vault, options.asked)
        request = RelatedRequest(path, heading=heading, limit=options.limit or vault.settings.search.limit)
        answer = _answered(vault, lambda: vault.related(request))
        trouble = vault.status().error
    if options.json:
        print_json(shapes.related(answer, _hit))
    else:
        show.related(answer)
    if answer.semantic.state == "unavailable":
        say(f"not compared by meaning: {answer.semantic.note}")
    return _trouble(vault, trouble)


def status(options: argparse.Namespace) -> int:
    """Print the state of an index without changing it."""
    root = location.vault_root(options.vault)
    settings = _settings(options)
    encoder = Encoder(settings.embedding)
    encoder.look()
    vault = Vault(root, settings, encoder, watch=False)
    if not vault.look():
        raise VaultError(f"{options.vault} has no index yet; run: synapse-ls index {options.vault}")
    reranker = Reranking(vault.settings.rerank, lambda: encoder).look()
    shape = shapes.vault_status(vault.status(), str(root), reranker)
    vault.close()
    if options.json:
        print_json(shape)
    else:
        show.status(shape)
    return 0


def forget(options: argparse.Namespace) -> int:
    """Remove the index of a vault."""
    root = location.real_path(options.vault)
    if root.is_file():
        raise VaultError(f"{options.vault} is a file; give the folder that held your notes")
    removed = location.forget(root)
    if options.json:
        print_json({"removed": removed})
    else:
        print("the index is removed; your notes are untouched" if removed else "there was no index")
    return 0


@contextmanager
def _opened(options: argparse.Namespace, *, model: bool, rebuild: bool = False) -> Iterator[Vault]:
    settings = _settings(options)
    encoder = Encoder(settings.embedding)
    vault = Vault(options.vault, settings, encoder, watch=False)
    try:
        vault.open(rebuild=rebuild, model=model)
        for warning in vault.warnings:
            say(warning)
        if model:
            encoder.wait()
        if vault.read_only and not vault.has_words():
            say("another Synapse is still making this index; waiting for it")
            while not vault.has_words():
                if vault.writer_is_gone():
                    raise IndexStateError("the other Synapse ended before the index was made; run the command again")
                time.sleep(_PATIENCE)
        yield vault
    finally:
        vault.close()
        encoder.close()


def _settings(options: argparse.Namespace) -> Settings:
    """Return the settings given on the command line.

    Where none names a model, it is the one that the vault's index was made with: an editor may have chosen it, and
    another one would make the index anew. If it is not installed, there is none.
    """
    settings, warnings = config.apply(Settings(), dict(options.set), "--set")
    for warning in warnings:
        say(warning)
    if not any(key.startswith("embedding") for key, _ in options.set):
        with suppress(VaultError):
            held = model_use.model_of(location.index_folder(location.vault_root(options.vault)))
            if held is not None:
                name = catalogue.by_fingerprint(held, location.model_folder())
                if name is None:
                    say(_UNKNOWN_MODEL)
                settings = replace(settings, embedding=replace(settings.embedding, model=name or "none"))
    return settings


def _bring_up_to_date(vault: Vault) -> None:
    if not (vault.read_only or vault.warnings or vault.has_words()):
        say(f"indexing {vault.root} for the first time")
    show.wait_with_progress(vault)


def _answered(vault: Vault, ask: Callable[[], _T]) -> _T:
    try:
        return ask()
    except IndexStateError as error:
        # Damage that shows only now: the index is made anew, and that is waited for.
        say(str(error))
        show.wait_with_progress(vault)
        return ask()


def _trouble(vault: Vault, error: str | None) -> int:
    """Say what is wrong with an index, unless it was said when it was opened; returns the exit code."""
    if error is None:
        return 0
    if not any(error in warning for warning in vault.warnings):
        say(error)
    return 2


def _note(vault: Vault, name: str) -> str:
    """Return the path in the vault of a note given as a path from here or from the vault's root."""
    for path in (Path(name).absolute(), vault.root / name):
        with suppress(OSError, ValueError):  # no file can be called so
            if path.is_file() and path.is_relative_to(vault.root):
                return path.relative_to(vault.root).as_posix()
    shown = name if len(name) <= _SHOWN else f"{name[:_SHOWN]}…"
    raise VaultError(f"there is no note {shown} in {vault.root}; give its path from the vault's folder")


def _section(vault: Vault, name: str) -> tuple[str, str | None]:
    """Return the path of a note and the heading behind its ``#``; a note's name may have a ``#`` of its own."""
    try:
        return _note(vault, name), None
    except VaultError:
        note, mark, heading = name.partition("#")
        if not mark:
            raise
        return _note(vault, note), heading


def _hit(hit: Hit) -> dict[str, Any]:
    return shapes.hit(hit, {"path": hit.path}, lambda position: position.utf32, len)
