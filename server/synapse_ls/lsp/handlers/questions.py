"""Questions about the notes: asked on the event loop, answered off it."""

import asyncio
import threading
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar
from uuid import uuid4

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException, JsonRpcRequestCancelled

from synapse_ls.core.errors import SynapseError
from synapse_ls.core.model import SearchRequest
from synapse_ls.core.text import LineIndex
from synapse_ls.features import shapes
from synapse_ls.features.hover import Look, Place
from synapse_ls.features.hover import hover as hover_of
from synapse_ls.features.symbols import MAX_SYMBOLS, Symbol, workspace_symbols
from synapse_ls.lsp import convert
from synapse_ls.lsp.session import Folder, Session

_T = TypeVar("_T")


async def search(session: Session, params: object) -> dict[str, Any]:
    """Answer ``synapse/search``; a newer search of the same session cancels this one."""
    session.active()
    near = params.get("near") if isinstance(params, dict) else None
    anchor = session.folder_of(near) if isinstance(near, str) else None
    asked = convert.search_request(params, session.settings.search.limit, lambda _: anchor[1] if anchor else None)
    name = params.get("session") if isinstance(params, dict) else None
    token = session.supersede(name) if isinstance(name, str) else threading.Event()
    try:
        answer = await _off_loop(session, token, _search, session, asked, anchor[0] if anchor else None, token)
    finally:
        if isinstance(name, str):
            session.finished(name, token)
    if token.is_set():
        raise JsonRpcRequestCancelled("superseded by a newer search")
    return answer


async def workspace_symbol(session: Session, params: lsp.WorkspaceSymbolParams) -> list[lsp.WorkspaceSymbol]:
    """Answer ``workspace/symbol``."""
    session.active()
    token = threading.Event()
    found = await _off_loop(session, token, _symbols, session, params.query, token)
    return [convert.symbol(symbol, folder.path, session.encoding) for folder, symbol in found]


async def hover(session: Session, params: lsp.HoverParams) -> lsp.Hover | None:
    """Answer ``textDocument/hover``."""
    place = session.folder_of(params.text_document.uri)
    document = session.documents.get(params.text_document.uri)
    if place is None or document is None:
        return None
    capability = session.capabilities.text_document and session.capabilities.text_document.hover
    formats = (capability and capability.content_format) or [lsp.MarkupKind.Markdown]
    look = Look(markdown=formats[0] == lsp.MarkupKind.Markdown, max_lines=session.settings.hover.max_lines)
    token = threading.Event()
    return await _off_loop(session, token, _hover, session, place, document.text, params.position, look)


async def _off_loop(
    session: Session,
    token: threading.Event,
    work: Callable[..., _T],
    *arguments: Any,  # noqa: ANN401 - passes on
) -> _T:
    """Do work off the loop; sets ``token`` if the request is cancelled, turns errors into messages."""
    try:
        return await session.run(work, *arguments)
    except asyncio.CancelledError:
        token.set()
        raise
    except SynapseError as error:
        raise JsonRpcException(str(error), code=lsp.LSPErrorCodes.RequestFailed.value) from error


def _search(session: Session, request: SearchRequest, anchor: Folder | None, token: threading.Event) -> dict[str, Any]:
    """Search all vaults and merge their hits by score; ``near`` counts in the anchor's vault alone."""
    answers: list[dict[str, Any]] = []
    for folder in list(session.folders.values()):
        asked = request if folder is anchor else replace(request, near=None)
        answer = folder.vault.search(asked, token.is_set)
        answers.append(shapes.answer(answer, partial(convert.hit, root=folder.path, encoding=session.encoding)))
    if not answers:
        raise SynapseError("no folder is open; open the folder that holds your notes")
    hits = sorted((hit for answer in answers for hit in answer["hits"]), key=lambda hit: -hit["score"])
    first = answers[0]
    return {
        "searchId": uuid4().hex,
        **first,
        "generation": max(answer["generation"] for answer in answers),
        "hits": hits[: request.limit],
        "elapsedMs": sum(answer["elapsedMs"] for answer in answers),
    }


def _symbols(session: Session, query: str, token: threading.Event) -> list[tuple[Folder, Symbol]]:
    found: list[tuple[Folder, Symbol]] = []
    for folder in list(session.folders.values()):
        vault = folder.vault
        with vault.read() as db:
            named = workspace_symbols(db, query, partial(vault.search, cancelled=token.is_set))
        found += [(folder, symbol) for symbol in named]
    return found[:MAX_SYMBOLS]


def _hover(
    session: Session, place: tuple[Folder, str], text: str, position: lsp.Position, look: Look
) -> lsp.Hover | None:
    folder, path = place
    lines = LineIndex(text)
    where = Place(path, text, convert.offset(text, lines, position, session.encoding))
    semantic = folder.vault.semantic(wait=False)
    with folder.vault.read() as db:
        shown = hover_of(db, where, look, semantic.embed, lambda name: workspace_symbols(db, name, folder.vault.search))
    if shown is None:
        return None
    kind = lsp.MarkupKind.Markdown if look.markdown else lsp.MarkupKind.PlainText
    return lsp.Hover(lsp.MarkupContent(kind, shown.text), convert.lsp_range(lines.range(shown.span), session.encoding))
