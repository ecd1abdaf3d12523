"""The server: the framework's loop with our documents, and the table of handlers."""

import logging
import re
import sys
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any

import attrs
from lsprotocol import types as lsp
from pygls.exceptions import (
    JsonRpcException,
    JsonRpcInvalidParams,
    JsonRpcInvalidRequest,
    JsonRpcServerNotInitialized,
)
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
from synapse_ls.lsp import convert, transport
from synapse_ls.lsp.handlers import changes, documents, lifecycle, questions, status
from synapse_ls.lsp.session import Session

if TYPE_CHECKING:
    import cattrs


def serve(settings: Settings) -> int:
    """Serve one client over standard input and output until it ends the connection.

    Returns the exit code that the protocol asks for: 0 after ``shutdown``, else 1.
    """
    terse = _Terse()
    for name in ("pygls.protocol.json_rpc", "pygls.protocol.language_server"):
        logging.getLogger(name).addFilter(terse)
    # The framework logs whole messages, that is the text of notes, at INFO.
    logging.getLogger("pygls").setLevel(logging.WARNING)
    server = SynapseServer(settings)
    try:
        transport.serve(server.protocol, sys.stdin.buffer, sys.stdout.buffer)
    finally:
        server.session.close()
    return 0 if server.protocol.shut_down else 1


class _Terse(logging.Filter):
    """Lets one short line of each kind through, without what the client sent, and each unexpected error once.

    Refusals are left out: the client has them as its answer, and each key of a search-as-you-type makes some.
    """

    def __init__(self) -> None:
        super().__init__()
        self._told: set[tuple[str, type[BaseException] | None]] = set()

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        kind = (str(record.msg), None if error is None else type(error))
        if isinstance(error, JsonRpcException) or kind in self._told:
            return False
        self._told.add(kind)
        record.msg, record.args = re.sub(r'"?%[sr]"?', "...", kind[0].partition("\n")[0]), ()
        return True


class SynapseServer(LanguageServer):
    """The language server of one client connection."""

    protocol: "_Protocol"

    def __init__(self, settings: Settings) -> None:
        super().__init__("synapse-ls", __version__, protocol_cls=_Protocol, converter_factory=_converter)
        self.session = Session(settings, self.protocol.notify, self.protocol.send_request)
        for method, handler, *options in _HANDLERS:
            self.feature(method, *options)(_bound(handler, self.session))

    def report_server_error(self, error: Exception, source: Any) -> None:  # noqa: ANN401 - as the framework types it
        """Say nothing: the framework has logged it, and here its message would hold what the client sent."""


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
    (lsp.TEXT_DOCUMENT_DEFINITION, questions.definition),
    (lsp.TEXT_DOCUMENT_REFERENCES, questions.references),
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
    """The framework's protocol with our own documents; what it refuses, it raises."""

    _server: SynapseServer
    _ready = False
    _ending = False

    @property
    def shut_down(self) -> bool:
        """Whether the client has asked for the end."""
        return bool(self._shutdown)

    @lsp_method(lsp.INITIALIZE)
    def lsp_initialize(self, params: lsp.InitializeParams) -> Generator[Any, Any, lsp.InitializeResult]:
        # The framework fails over a URI that is none.
        root = params.root_uri if params.root_uri and convert.path_of(params.root_uri) else None
        folders = [folder for folder in params.workspace_folders or () if convert.path_of(folder.uri)]
        return (yield from super().lsp_initialize(attrs.evolve(params, root_uri=root, workspace_folders=folders)))

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
        method, params = data.get("method"), data.get("params")
        if method == lsp.INITIALIZED and params is None:
            data = {**data, "params": {}}  # they have no members, so that they may be left out
        if method == lsp.WORKSPACE_SYMBOL and isinstance(params, dict) and not isinstance(params.get("query"), str):
            raise JsonRpcInvalidParams("query must be a text")  # the framework would make it one
        return super().structure_message(data)

    def handle_message(self, message: Any) -> None:  # noqa: ANN401 - as the framework types it
        method, number = getattr(message, "method", None), getattr(message, "id", None)
        if method is not None and number is not None:
            if self._ending:
                raise JsonRpcInvalidRequest("the server is shutting down")
            if self._ready and method == lsp.INITIALIZE:
                raise JsonRpcInvalidRequest("the server is initialized already")
            if not self._ready and method != lsp.INITIALIZE:
                raise JsonRpcServerNotInitialized("the first request must be initialize")
            self._ready = True
            self._ending = method == lsp.SHUTDOWN
        super().handle_message(message)


def _converter() -> "cattrs.Converter":
    """Return the framework's converter, which leaves parameters of our own methods as plain JSON values."""
    converter: cattrs.Converter = default_converter()  # type: ignore[no-untyped-call]  # the framework has no types here
    for kind in (JsonRPCRequestMessage, JsonRPCNotification, JsonRPCResponseMessage):
        converter.register_structure_hook(kind, _plain)
    return converter


def _plain(message: dict[str, Any], kind: type[Any]) -> Any:  # noqa: ANN401 - one of the three kinds
    """Return a message with its members as they are; those left out are None, those unknown are passed over."""
    return kind(**{field.name: message.get(field.name) for field in attrs.fields(kind)})
