"""Between the domain and the protocol: the only code that knows URIs and the client's position units."""

import math
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from lsprotocol import types as lsp
from pygls import uris
from pygls.exceptions import JsonRpcInvalidParams

from synapse_ls.core.model import Hit, Mode, SearchFilter, SearchRequest
from synapse_ls.core.text import LineIndex, Position, Range, Span
from synapse_ls.features import shapes

if TYPE_CHECKING:
    from synapse_ls.features.backlinks import Backlinks
    from synapse_ls.features.cursor import Spot
    from synapse_ls.features.symbols import Symbol

Encoding = Literal["utf-8", "utf-16", "utf-32"]

MAX_LIMIT = 100
MAX_BACKLINKS = 1000
_LOCAL = "file://localhost/"
_FILTERS = ("folders", "excludeFolders", "tags", "properties", "modifiedAfter")
_KINDS = {
    "note": lsp.SymbolKind.File,
    "alias": lsp.SymbolKind.Constant,
    "heading": lsp.SymbolKind.String,
    "tag": lsp.SymbolKind.Key,
}


def path_of(uri: str) -> Path | None:
    """Return the absolute path of a ``file:`` URI; None for any other document."""
    if uri.lower().startswith(_LOCAL):
        uri = f"file:///{uri[len(_LOCAL) :]}"
    try:
        path = uris.to_fs_path(uri)
    except ValueError:  # no URI at all
        return None
    return Path(path) if path and "\0" not in path else None


def uri_of(root: Path, path: str = "") -> str:
    """Return the URI of a note, given its path relative to a root, or of the root."""
    return uris.from_fs_path(str(root / path)) or ""


def units(text: str, encoding: Encoding) -> int:
    """Return the length of a text in the client's units."""
    if encoding == "utf-32" or text.isascii():
        return len(text)
    if encoding == "utf-8":
        return len(text.encode("utf-8", "surrogatepass"))
    return len(text) + sum(char > "\uffff" for char in text)


def offset(text: str, lines: LineIndex, position: lsp.Position, encoding: Encoding) -> int:
    """Return the offset (code points) of a client's position, clamped to its line and to the text.

    A position inside a character goes to the character's start.
    """
    if position.line >= len(lines):
        return len(text)
    span = lines.line_span(max(position.line, 0))
    line = span.slice(text)
    wanted = max(position.character, 0)
    if encoding == "utf-32" or line.isascii():
        return span.start + min(wanted, len(line))
    count = 0
    for index, char in enumerate(line):
        count += units(char, encoding)
        if count > wanted:
            return span.start + index
    return span.end


def column(encoding: Encoding) -> Callable[[Position], int]:
    """Return what gives a position's column in the client's units."""
    return cast("Callable[[Position], int]", attrgetter(encoding.replace("-", "")))


def lsp_range(value: Range, encoding: Encoding) -> lsp.Range:
    """Return a range in the client's units."""
    get = column(encoding)
    return lsp.Range(lsp.Position(value.start.line, get(value.start)), lsp.Position(value.end.line, get(value.end)))


def span_range(text: str, span: Span, encoding: Encoding) -> lsp.Range:
    """Return the range of a span of a text in the client's units."""
    return lsp_range(LineIndex(text).range(span), encoding)


def symbol(value: "Symbol", root: Path, encoding: Encoding) -> lsp.WorkspaceSymbol:
    """Return a workspace symbol."""
    place = lsp.Location(uri_of(root, value.path), lsp_range(value.range, encoding))
    return lsp.WorkspaceSymbol(location=place, name=value.name, kind=_KINDS[value.kind], container_name=value.container)


def location(value: "Spot", root: Path, encoding: Encoding) -> lsp.Location:
    """Return a place in a note or file."""
    return lsp.Location(uri_of(root, value.path), lsp_range(value.range, encoding))


def hit(value: Hit, root: Path, encoding: Encoding) -> dict[str, Any]:
    """Return a search hit."""
    return shapes.hit(value, {"uri": uri_of(root, value.path)}, column(encoding), lambda text: units(text, encoding))


def backlinks(value: "Backlinks", generation: int, root: Path, encoding: Encoding) -> dict[str, Any]:
    """Return the links to a note."""
    return shapes.backlinks(
        value,
        generation,
        lambda path: {"uri": uri_of(root, path)},
        column(encoding),
        lambda text: units(text, encoding),
    )


def search_request(params: object, default_limit: int, near: str | None) -> SearchRequest:
    """Return the search that the parameters of ``synapse/search`` ask for.

    ``near`` is the path of the note that the parameter of that name means, if a vault has it.

    Raises:
        JsonRpcInvalidParams: A parameter is missing or has a value it cannot have; the message names it.
    """
    if not isinstance(params, Mapping):
        raise _invalid("the parameters must be an object with a query")
    query = params.get("query")
    if not isinstance(query, str):
        raise _invalid("query must be a text")
    limit = _limit(params, default_limit)
    mode = params.get("mode", "hybrid")
    if mode not in ("hybrid", "lexical", "semantic"):
        raise _invalid('mode must be "hybrid", "lexical" or "semantic"')
    if not isinstance(params.get("near"), str | None):
        raise _invalid("near must be the URI of a note")
    if not isinstance(params.get("rerank"), bool | None):
        raise _invalid("rerank must be true or false")
    return SearchRequest(
        query=query,
        limit=limit,
        mode=cast("Mode", mode),
        near=near,
        filter=_filter(params.get("filter")),
        explain=params.get("explain") is True,
        rerank=params.get("rerank"),
    )


def related_params(params: object, default_limit: int) -> tuple[str, int | None, int]:
    """Return the URI, the line of the position if there is one, and the limit of the parameters of ``synapse/related``.

    Raises:
        JsonRpcInvalidParams: A parameter is missing or has a value it cannot have; the message names it.
    """
    if not isinstance(params, Mapping) or not isinstance(params.get("uri"), str):
        raise _invalid("uri must be the URI of a note")
    position = params.get("position")
    line = position.get("line") if isinstance(position, Mapping) else None
    if position is not None and (isinstance(line, bool) or not isinstance(line, int) or line < 0):
        raise _invalid("position must have a line and a character")
    return params["uri"], line, _limit(params, default_limit)


def backlinks_params(params: object) -> tuple[str, int]:
    """Return the URI and the limit of the parameters of ``synapse/backlinks``.

    Raises:
        JsonRpcInvalidParams: A parameter is missing or has a value it cannot have; the message names it.
    """
    if not isinstance(params, Mapping) or not isinstance(params.get("uri"), str):
        raise _invalid("uri must be the URI of a note")
    return params["uri"], _limit(params, MAX_BACKLINKS, MAX_BACKLINKS)


def _limit(params: Mapping[str, Any], default: int, most: int = MAX_LIMIT) -> int:
    limit = params.get("limit", default)
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= most:
        raise _invalid(f"limit must be a whole number from 1 to {most}")
    return limit


def _filter(value: object) -> SearchFilter:
    if value is None:
        return SearchFilter()
    if not isinstance(value, Mapping):
        raise _invalid("filter must be an object")
    unknown = next((key for key in value if key not in _FILTERS), None)
    if unknown is not None:  # passed over, it would let through what was to be left out
        raise _invalid(f"filter has no {str(unknown)[:40]!r}; it has {', '.join(_FILTERS)}")
    properties = value.get("properties")
    if properties is None:
        properties = {}
    if not isinstance(properties, Mapping):
        raise _invalid("filter.properties must be an object")
    return SearchFilter(
        folders=_texts(value, "folders"),
        exclude_folders=_texts(value, "excludeFolders"),
        tags=_texts(value, "tags"),
        properties=tuple((str(key), str(wanted)) for key, wanted in properties.items()),
        modified_after=_time(value.get("modifiedAfter")),
    )


def _texts(value: Mapping[str, Any], key: str) -> tuple[str, ...]:
    texts = value.get(key)
    if texts is None:
        return ()
    if not isinstance(texts, list | tuple) or not all(isinstance(text, str) for text in texts):
        raise _invalid(f"filter.{key} must be a list of texts")
    return tuple(texts)


def _time(value: object) -> float | None:
    """Return an ISO 8601 date or time as seconds since the epoch; without a zone it is UTC."""
    if value is None:
        return None
    try:
        moment = datetime.fromisoformat(str(value))
        seconds = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        seconds = math.nan
    if not math.isfinite(seconds):
        raise _invalid('filter.modifiedAfter must be a date such as "2026-01-31"')
    return seconds


def _invalid(message: str) -> JsonRpcInvalidParams:
    return JsonRpcInvalidParams(message)
