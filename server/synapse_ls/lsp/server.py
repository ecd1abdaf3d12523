"""The server: the framework's loop with our documents, and the table of handlers."""

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException, JsonRpcInvalidRequest, JsonRpcServerNotInitialized
from pygls.lsp.server import LanguageServer
from pygls.protocol import (
    JsonRPCNotification,
    JsonRPCRequestMessage,
    JsonRPCResponseMessage,
    LanguageServerProtocol,
    default_converter,
    lsp_method,
)

from synapse_ls import __version__
from synapse_ls.core.config import Settings
from synapse_ls.lsp.handlers import changes, documents, lifecycle, questions, status
from synapse_ls.lsp.session import Session

if TYPE_CHECKING:
    import cattrs

_REFUSED = "synapse/refused"


def serve(settings: Settings) -> int:
    """Serve one client over standard input and output until it ends the connection.

    Returns the exit code that the protocol asks for: 0 after ``shutdown``, else 1.
    """
    # The framework logs whole messages, that is the text of notes, at INFO.
    logging.getLogger("pygls").setLevel(logging.WARNING)
    logging.getLogger("pygls.protocol.json_rpc").addFilter(_unexpected)
    server = SynapseServer(settings)
    try:
        server.start_io()
    finally:
        server.session.close()
    return 0 if server.protocol.shut_down else 1


def _unexpected(record: logging.LogRecord) -> bool:
    """Leave out refusals: the client has them as its answer, and each key of a search-as-you-type makes some."""
    return record.exc_info is None or not isinstance(record.exc_info[1], JsonRpcException)


class SynapseServer(LanguageServer):
    """The language server of one client connection."""

    protocol: "_Protocol"

    def __init__(self, settings: Settings) -> None:
        super().__init__("synapse-ls", __version__, protocol_cls=_Protocol, converter_factory=_converter)
        self.session = Session(settings, self.protocol.notify, self.protocol.send_request)
        for method, handler, *options in _HANDLERS:
            self.feature(method, *options)(_bound(handler, self.session))
        self.feature(_REFUSED)(_refuse)


_HANDLERS: tuple[tuple[Any, ...], ...] = (
    (lsp.INITIALIZE, lifecycle.initialize),
    (lsp.INITIALIZED, lifecycle.initialized),
    (lsp.SHUTDOWN, lifecycle.shutdown),
    (lsp.TEXT_DOCUMENT_DID_SAVE, changes.did_save),
    (lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES, changes.did_change_watched_files),
    (lsp.WORKSPACE_DID_RENAME_FILES, changes.did_rename_files, changes.RENAMES),
    (lsp.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS, changes.did_change_workspace_folders),
    (lsp.WORKSPACE_SYMBOL, questions.workspace_symbol),
    (lsp.TEXT_DOCUMENT_HOVER, questions.hover),
    ("synapse/search", questions.search),
    ("synapse/status", status.status),
)


def _bound(handler: Callable[..., Any], session: Session) -> Callable[..., Any]:
    """Return a handler with its session, of the same kind (plain or async) as the framework tells them apart."""
    if handler.__code__.co_flags & 0x80:  # a coroutine function

        async def asked(params: Any = None) -> Any:  # noqa: ANN401 - each handler knows its own types
            return await handler(session, params)

        return asked

    def told(params: Any = None) -> Any:  # noqa: ANN401 - each handler knows its own types
        return handler(session, params)

    return told


class _Protocol(LanguageServerProtocol):
    """The framework's protocol with our own documents and with an answer to every request."""

    _server: SynapseServer
    _ready = False

    @property
    def shut_down(self) -> bool:
        """Whether the client has asked for the end."""
        return bool(self._shutdown)

    @lsp_method(lsp.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: lsp.DidOpenTextDocumentParams) -> None:
        documents.did_open(self._server.session, params)

    @lsp_method(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: lsp.DidChangeTextDocumentParams) -> None:
        documents.did_change(self._server.session, params)

    @lsp_method(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: lsp.DidCloseTextDocumentParams) -> None:
        documents.did_close(self._server.session, params)

    def structure_message(self, data: dict[str, Any]) -> Any:  # noqa: ANN401 - as the framework types it
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            if "id" not in data or "method" not in data:
                raise
            # The framework would log this and leave the client waiting for ever.
            return JsonRPCRequestMessage(id=data["id"], method=_REFUSED, jsonrpc="2.0", params=error)

    def handle_message(self, message: Any) -> None:  # noqa: ANN401 - as the framework types it
        method, number = getattr(message, "method", None), getattr(message, "id", None)
        if method is not None and number is not None and method != _REFUSED:
            refusal: JsonRpcException | None = None
            if self._shutdown:
                refusal = JsonRpcInvalidRequest("the server is shutting down")
                message = JsonRPCRequestMessage(id=number, method=_REFUSED, jsonrpc="2.0", params=refusal)
                self._handle_request(number, _REFUSED, refusal)
                return
            if not self._ready and method != lsp.INITIALIZE:
                refusal = JsonRpcServerNotInitialized("the first request must be initialize")
                message = JsonRPCRequestMessage(id=number, method=_REFUSED, jsonrpc="2.0", params=refusal)
            self._ready = self._ready or method == lsp.INITIALIZE
        super().handle_message(message)


def _refuse(error: JsonRpcException) -> None:
    raise error


def _converter() -> "cattrs.Converter":
    """Return the framework's converter, which leaves parameters of our own methods as plain JSON values."""
    converter: cattrs.Converter = default_converter()  # type: ignore[no-untyped-call]  # the framework has no types here
    for kind in (JsonRPCRequestMessage, JsonRPCNotification, JsonRPCResponseMessage):
        converter.register_structure_hook(kind, lambda data, cls: cls(**data))
    return converter
