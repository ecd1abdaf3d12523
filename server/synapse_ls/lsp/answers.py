"""The work behind questions, done off the event loop.

Imported by the first question, not at start-up: it brings the database, the parser and the search.
"""

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import zip_longest
from typing import Any, TypeVar
from uuid import uuid4

from lsprotocol import types as lsp

from synapse_ls.core.config import RerankSettings
from synapse_ls.core.errors import SynapseError
from synapse_ls.core.model import Candidate, SearchAnswer, SearchRequest
from synapse_ls.core.text import LineIndex
from synapse_ls.features import shapes
from synapse_ls.features.backlinks import backlinks as backlinks_of
from synapse_ls.features.cursor import NOWHERE, Place, Spot, indexed
from synapse_ls.features.definition import definition as definition_of
from synapse_ls.features.hover import Look
from synapse_ls.features.hover import hover as hover_of
from synapse_ls.features.nearest import nearest
from synapse_ls.features.references import references as references_of
from synapse_ls.features.symbols import MAX_SYMBOLS, Symbol, workspace_symbols
from synapse_ls.lsp import convert
from synapse_ls.lsp.folders import Folder
from synapse_ls.lsp.reranking import Pending
from synapse_ls.lsp.session import Session
from synapse_ls.search.related import RelatedAnswer, RelatedRequest
from synapse_ls.search.reranking import is_certain
from synapse_ls.search.snapshot import Snapshot
from synapse_ls.store import meta
from synapse_ls.vault.vault import Vault

_LOG = logging.getLogger(__name__)
_T = TypeVar("_T")


def search(
    session: Session, request: SearchRequest, anchor: Folder | None, token: threading.Event
) -> tuple[dict[str, Any], Pending | None]:
    """Search all vaults and merge their hits by score; ``near`` counts in the anchor's vault alone.

    Returns the answer and, if it is to be reranked, what is to be judged.

    Raises:
        SynapseError: No folder is open, or no index can be read.
    """

    def ask(vault: Vault) -> tuple[SearchAnswer, RerankSettings]:
        near = request.near if anchor is not None and anchor.vault is vault else None
        settings = vault.settings.rerank
        wanted = settings.enabled if request.rerank is None else request.rerank
        shortlist = max(request.limit, settings.top_k) if wanted else 0
        return vault.search(replace(request, near=near, shortlist=shortlist), token.is_set), settings

    asked = _ask_all(session, ask, token)
    if not asked:
        raise SynapseError("no folder is open; open the folder that holds your notes")
    answers = [(folder, answer) for folder, (answer, _) in asked]
    hits = [
        (hit.score, convert.hit(hit, folder.path, session.encoding))
        for folder, answer in answers
        for hit in answer.hits
        if not _inner(folder, hit.path, answers)
    ]
    hits.sort(key=lambda pair: -pair[0])
    shape = {
        "searchId": uuid4().hex,
        **shapes.answer(answers[0][1], lambda _hit: {}),
        "generation": max(answer.generation for _, answer in answers),
        "hits": [shape for _, shape in hits[: request.limit]],
        "elapsedMs": round(sum(answer.elapsed_ms for _, answer in answers), 2),
    }
    wanted = [settings for _, (_, settings) in asked if settings.enabled or request.rerank]
    if not wanted or request.rerank is False:
        return shape, None
    shortlist = sorted(
        (
            (candidate, folder)
            for folder, answer in answers
            for candidate in answer.shortlist
            if not _inner(folder, candidate.hit.path, answers)
        ),
        key=lambda pair: -pair[0].hit.score,
    )
    return _to_rerank(session, request, shape, shortlist, wanted)


def _to_rerank(
    session: Session,
    request: SearchRequest,
    shape: dict[str, Any],
    shortlist: list[tuple[Candidate, Folder]],
    wanted: list[RerankSettings],
) -> tuple[dict[str, Any], Pending | None]:
    """Return an answer that says whether its shortlist is judged, and if so what that takes."""
    candidates = tuple(candidate for candidate, _ in shortlist)
    if session.reranking is None or session.reranking.trouble() is not None:
        return {**shape, "rerank": "unavailable"}, None
    if not request.rerank and is_certain(candidates):
        return {**shape, "rerank": "skipped"}, None

    def shaped(order: Sequence[tuple[int, Candidate]]) -> list[dict[str, Any]]:
        return [
            convert.hit(candidate.shown(), shortlist[place][1].path, session.encoding)
            for place, candidate in order[: request.limit]
        ]

    pending = Pending(
        search_id=shape["searchId"],
        generation=shape["generation"],
        query=request.query,
        shortlist=candidates,
        fused=shape["hits"],
        shape=shaped,
        top_k=max(settings.top_k for settings in wanted),
        seconds=max(settings.deadline_ms for settings in wanted) / 1000,
    )
    return {**shape, "rerank": "pending"}, pending


def symbols(session: Session, query: str, token: threading.Event) -> list[lsp.WorkspaceSymbol]:
    """Return the symbols of all vaults, at most 200: the first of each vault, then the second of each, and so on.

    Raises:
        SynapseError: There are folders, but no index can be read.
    """

    def ask(vault: Vault) -> list[Symbol]:
        with vault.snapshot() as now:
            search = partial(vault.search, cancelled=token.is_set)
            return workspace_symbols(now.db, query, search, buffers=now.buffers)

    answers = _ask_all(session, ask, token)
    lists = [
        [
            convert.symbol(symbol, folder.path, session.encoding)
            for symbol in named
            if not _inner(folder, symbol.path, answers)
        ]
        for folder, named in answers
    ]
    return [symbol for row in zip_longest(*lists) for symbol in row if symbol is not None][:MAX_SYMBOLS]


def _ask_all(session: Session, ask: Callable[[Vault], _T], token: threading.Event) -> list[tuple[Folder, _T]]:
    """Ask every vault once, leaving out those that cannot answer, unless none can."""
    answers: dict[Vault, tuple[Folder, _T]] = {}
    problem: Exception | None = None
    for folder in list(session.folders.values()):
        try:
            vault = folder.ready()
            if vault not in answers:
                answers[vault] = folder, ask(vault)
        except Exception as error:
            if token.is_set():
                raise
            if not isinstance(error, SynapseError):
                _LOG.exception("%s does not answer", folder.path)
            problem = problem or error
    if problem is not None and not answers:
        raise problem
    return list(answers.values())


def _inner(folder: Folder, path: str, answers: list[tuple[Folder, _T]]) -> bool:
    """Return whether a note is a matter of another vault that answered: of a folder inside this one."""
    outer = folder.ready().root
    roots = [other.ready().root for other, _ in answers]
    return any(root != outer and root.is_relative_to(outer) and (outer / path).is_relative_to(root) for root in roots)


def hover(
    session: Session, place: tuple[Folder, str], text: str, position: lsp.Position, *, markdown: bool
) -> lsp.Hover | None:
    """Return the preview of the link at a position of an open document."""
    folder, path = place
    vault = folder.ready()
    where, lines = _place(session, vault, path, text, position)
    look = Look(markdown=markdown, max_lines=vault.settings.hover.max_lines)
    semantic = vault.semantic(wait=False)
    with vault.snapshot() as now:
        near = partial(nearest, now, search=vault.search)
        shown = hover_of(now.db, where, look, semantic, near, now.buffers)
    if shown is None:
        return None
    kind = lsp.MarkupKind.Markdown if markdown else lsp.MarkupKind.PlainText
    content = lsp.MarkupContent(kind, shown.text)
    return lsp.Hover(content, convert.lsp_range(lines.range(shown.span), session.encoding))


def definition(session: Session, place: tuple[Folder, str], text: str, position: lsp.Position) -> list[lsp.Location]:
    """Return where the link at a position of an open document leads."""
    return _spots(session, place, text, position, definition_of)


def references(session: Session, place: tuple[Folder, str], text: str, position: lsp.Position) -> list[lsp.Location]:
    """Return the links that mean what is at a position of an open document."""
    return _spots(session, place, text, position, references_of)


def related(
    session: Session, place: tuple[Folder, str], line: int | None, limit: int, token: threading.Event
) -> dict[str, Any]:
    """Return the notes related to one, or to its section at a line.

    Raises:
        SynapseError: The note is not in the index, or that cannot be read.
    """
    root = place[0].path
    return shapes.related(_related(place, line, limit, token), lambda hit: convert.hit(hit, root, session.encoding))


def backlinks(session: Session, place: tuple[Folder, str], limit: int) -> dict[str, Any]:
    """Return the links to a note.

    Raises:
        SynapseError: The index cannot be read.
    """
    folder, path = place
    with folder.ready().snapshot() as now:
        found = backlinks_of(now, path, limit)
        return convert.backlinks(found, meta.generation(now.db), folder.path, session.encoding)


def implementation(
    session: Session, place: tuple[Folder, str], line: int, token: threading.Event
) -> list[lsp.Location]:
    """Return the passages of other notes most related to the section at a line of an open document."""
    found = _related(place, line, session.search_limit(), token)
    spots = [Spot(one.hit.path, one.hit.range) for one in found.hits]
    return [convert.location(spot, place[0].path, session.encoding) for spot in spots]


def _related(place: tuple[Folder, str], line: int | None, limit: int, token: threading.Event) -> RelatedAnswer:
    folder, path = place
    return folder.ready().related(RelatedRequest(path, line, limit=limit), token.is_set)


def _spots(
    session: Session,
    place: tuple[Folder, str],
    text: str,
    position: lsp.Position,
    find: Callable[[Snapshot, Place], list[Spot]],
) -> list[lsp.Location]:
    folder, path = place
    vault = folder.ready()
    where, _ = _place(session, vault, path, text, position)
    with vault.snapshot() as now:
        found = find(now, where)
    return [convert.location(spot, folder.path, session.encoding) for spot in found]


def _place(session: Session, vault: Vault, path: str, text: str, position: lsp.Position) -> tuple[Place, LineIndex]:
    """Return a place in an open note and the lines of its text, as far as the note is indexed."""
    known = indexed(text, vault.settings.index.max_file_kib * 1024)
    lines = LineIndex(known)
    offset = convert.offset(known, lines, position, session.encoding)
    beyond = offset == len(known) < len(text)
    return Place(path, known, NOWHERE if beyond else offset), lines
