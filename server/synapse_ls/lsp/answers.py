"""The work behind questions, done off the event loop.

Imported by the first question, not at start-up: it brings the database, the parser and the search.
"""

import threading
from dataclasses import replace
from functools import partial
from typing import Any
from uuid import uuid4

from lsprotocol import types as lsp

from synapse_ls.core.errors import SynapseError
from synapse_ls.core.model import SearchRequest
from synapse_ls.core.text import LineIndex
from synapse_ls.features import shapes
from synapse_ls.features.hover import Look, Place
from synapse_ls.features.hover import hover as hover_of
from synapse_ls.features.symbols import MAX_SYMBOLS, workspace_symbols
from synapse_ls.lsp import convert
from synapse_ls.lsp.session import Folder, Session


def search(session: Session, request: SearchRequest, anchor: Folder | None, token: threading.Event) -> dict[str, Any]:
    """Search all vaults and merge their hits by score; ``near`` counts in the anchor's vault alone.

    Raises:
        SynapseError: No folder is open, or an index cannot be read.
    """
    answers: list[dict[str, Any]] = []
    for folder in list(session.folders.values()):
        asked = request if folder is anchor else replace(request, near=None)
        answer = folder.ready().search(asked, token.is_set)
        answers.append(shapes.answer(answer, partial(convert.hit, root=folder.path, encoding=session.encoding)))
    if not answers:
        raise SynapseError("no folder is open; open the folder that holds your notes")
    hits = sorted((hit for answer in answers for hit in answer["hits"]), key=lambda hit: -hit["score"])
    return {
        "searchId": uuid4().hex,
        **answers[0],
        "generation": max(answer["generation"] for answer in answers),
        "hits": hits[: request.limit],
        "elapsedMs": sum(answer["elapsedMs"] for answer in answers),
    }


def symbols(session: Session, query: str, token: threading.Event) -> list[lsp.WorkspaceSymbol]:
    """Return the symbols of all vaults, at most 200."""
    found: list[lsp.WorkspaceSymbol] = []
    for folder in list(session.folders.values()):
        vault = folder.ready()
        with vault.read() as db:
            named = workspace_symbols(db, query, partial(vault.search, cancelled=token.is_set))
        found += [convert.symbol(symbol, folder.path, session.encoding) for symbol in named]
    return found[:MAX_SYMBOLS]


def hover(
    session: Session, place: tuple[Folder, str], text: str, position: lsp.Position, *, markdown: bool
) -> lsp.Hover | None:
    """Return the preview of the link at a position of an open document."""
    folder, path = place
    vault = folder.ready()
    lines = LineIndex(text)
    where = Place(path, text, convert.offset(text, lines, position, session.encoding))
    look = Look(markdown=markdown, max_lines=vault.settings.hover.max_lines)
    semantic = vault.semantic(wait=False)
    with vault.read() as db:
        shown = hover_of(db, where, look, semantic.embed, lambda name: workspace_symbols(db, name, vault.search))
    if shown is None:
        return None
    kind = lsp.MarkupKind.Markdown if markdown else lsp.MarkupKind.PlainText
    content = lsp.MarkupContent(kind, shown.text)
    return lsp.Hover(content, convert.lsp_range(lines.range(shown.span), session.encoding))
