"""Questions about the notes: asked on the event loop, answered off it."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from types import ModuleType
from typing import Any

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException, JsonRpcRequestCancelled

from synapse_ls.core.errors import SynapseError
from synapse_ls.lsp import convert
from synapse_ls.lsp.folders import Folder
from synapse_ls.lsp.reranking import Pending, follow
from synapse_ls.lsp.session import Session

# The loop itself keeps no task alive.
_UNDER_WAY: set[asyncio.Task[None]] = set()


async def search(session: Session, params: object) -> dict[str, Any]:
    """Answer ``synapse/search``; a newer search of the same session cancels this one, and its reranking."""
    session.active()
    given = params if isinstance(params, dict) else {}
    near, name = given.get("near"), given.get("session")
    place = session.folder_of(near) if isinstance(near, str) else None
    asked = convert.search_request(params, session.search_limit(), None if place is None else place[1])
    token = session.supersede(name) if isinstance(name, str) else threading.Event()
    anchor = None if place is None else place[0]
    pending: Pending | None = None
    try:
        answer, pending = await _off_loop(session, token, lambda: _answers().search(session, asked, anchor, token))
        if token.is_set():
            pending = None
            raise JsonRpcRequestCancelled("superseded by a newer search")
    finally:
        if pending is None and isinstance(name, str):
            session.finished(name, token)
    if pending is not None:
        _after_the_answer(_reranked(session, pending, token, name))
    result: dict[str, Any] = answer
    return result


async def _reranked(session: Session, pending: Pending, token: threading.Event, name: object) -> None:
    try:
        assert session.reranking is not None  # noqa: S101 - nothing is pending without it
        await follow(session, session.reranking, pending, token)
    finally:
        if isinstance(name, str):
            session.finished(name, token)


def _after_the_answer(work: Coroutine[Any, Any, None]) -> None:
    """Do work once the request at hand is answered: what is told of an answer may not come before it."""
    request = asyncio.current_task()
    assert request is not None  # noqa: S101 - handlers run in tasks

    def answered(_request: object) -> None:
        task = asyncio.get_running_loop().create_task(work)
        _UNDER_WAY.add(task)
        task.add_done_callback(_UNDER_WAY.discard)

    # The framework has asked for the same, and earlier: its answer goes first.
    request.add_done_callback(answered)


async def backlinks(session: Session, params: object) -> dict[str, Any]:
    """Answer ``synapse/backlinks``."""
    session.active()
    uri, limit = convert.backlinks_params(params)
    place = _place(session, uri)
    answer: dict[str, Any] = await _off_loop(
        session, threading.Event(), lambda: _answers().backlinks(session, place, limit)
    )
    return answer


async def related(session: Session, params: object) -> dict[str, Any]:
    """Answer ``synapse/related``."""
    session.active()
    uri, line, limit = convert.related_params(params, session.search_limit())
    place = _place(session, uri)
    token = threading.Event()
    answer: dict[str, Any] = await _off_loop(
        session, token, lambda: _answers().related(session, place, line, limit, token)
    )
    return answer


def _place(session: Session, uri: str) -> tuple[Folder, str]:
    """Return the folder of a document and its path there."""
    place = session.folder_of(uri)
    if place is None:
        raise JsonRpcException(
            "this document is in no folder that is open; open the folder that holds it",
            code=lsp.LSPErrorCodes.RequestFailed.value,
        )
    return place


async def implementation(session: Session, params: lsp.ImplementationParams) -> list[lsp.Location]:
    """Answer ``textDocument/implementation``: what is related to the section under the cursor."""
    place = session.folder_of(params.text_document.uri)
    if place is None or session.documents.get(params.text_document.uri) is None:
        return []
    token = threading.Event()
    found: list[lsp.Location] = await _off_loop(
        session, token, lambda: _answers().implementation(session, place, params.position.line, token)
    )
    return found


async def workspace_symbol(session: Session, params: lsp.WorkspaceSymbolParams) -> list[lsp.WorkspaceSymbol]:
    """Answer ``workspace/symbol``."""
    session.active()
    token = threading.Event()
    found: list[lsp.WorkspaceSymbol] = await _off_loop(
        session, token, lambda: _answers().symbols(session, params.query, token)
    )
    return found


async def hover(session: Session, params: lsp.HoverParams) -> lsp.Hover | None:
    """Answer ``textDocument/hover``."""
    place = session.folder_of(params.text_document.uri)
    document = session.documents.get(params.text_document.uri)
    if place is None or document is None:
        return None
    capability = session.capabilities.text_document and session.capabilities.text_document.hover
    formats = (capability and capability.content_format) or [lsp.MarkupKind.Markdown]
    markdown = formats[0] == lsp.MarkupKind.Markdown
    shown: lsp.Hover | None = await _off_loop(
        session,
        threading.Event(),
        lambda: _answers().hover(session, place, document.text, params.position, markdown=markdown),
    )
    return shown


async def definition(session: Session, params: lsp.DefinitionParams) -> list[lsp.Location]:
    """Answer ``textDocument/definition``."""
    return await _spots(session, params, "definition")


async def references(session: Session, params: lsp.ReferenceParams) -> list[lsp.Location]:
    """Answer ``textDocument/references``: links, whether or not their target is asked for as well."""
    return await _spots(session, params, "references")


async def _spots(
    session: Session, params: lsp.DefinitionParams | lsp.ReferenceParams, question: str
) -> list[lsp.Location]:
    place = session.folder_of(params.text_document.uri)
    document = session.documents.get(params.text_document.uri)
    if place is None or document is None:
        return []
    found: list[lsp.Location] = await _off_loop(
        session,
        threading.Event(),
        lambda: getattr(_answers(), question)(session, place, document.text, params.position),
    )
    return found


async def _off_loop(session: Session, token: threading.Event, work: Callable[[], Any]) -> Any:  # noqa: ANN401 - passes on
    """Do work off the loop; sets ``token`` if the request is cancelled, turns errors into messages."""
    try:
        return await session.run(work)
    except asyncio.CancelledError:
        token.set()
        raise
    except Exception as error:
        if token.is_set():
            raise JsonRpcRequestCancelled("superseded by a newer search") from error
        if isinstance(error, SynapseError):
            raise JsonRpcException(str(error), code=lsp.LSPErrorCodes.RequestFailed.value) from error
        raise


def _answers() -> ModuleType:
    from synapse_ls.lsp import answers  # noqa: PLC0415 - the first question pays for it, not the start

    return answers
