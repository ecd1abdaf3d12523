"""The server: the framework's loop with our documents, and the table of handlers."""

import logging
import os
import sys
from collections.abc import Callable, Generator
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import attrs
from lsprotocol import types as lsp
from pygls.exceptions import (
    FeatureNotificationError,
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
from synapse_ls.lsp import convert, logs, transport
from synapse_ls.lsp.handlers import changes, commands, documents, lifecycle, questions, status
from synapse_ls.lsp.parent import Watch
from synapse_ls.lsp.session import Session
from synapse_ls.lsp.streams import Input, write_all

if TYPE_CHECKING:
    import cattrs

    from synapse_ls.lsp import tcp

_LOG = logging.getLogger(__name__)


def serve(settings: Settings) -> int:
    """Serve one client over standard input and output until it ends the connection.

    Returns the exit code that the protocol asks for: 0 after ``shutdown``, else 1.
    """
    # Whatever else is printed in this process, by libraries too, goes to standard error.
    output = os.dup(1)
    os.dup2(2, 1)
    end, server = _served(settings, Input(0), partial(write_all, output))
    if end is transport.End.FOREIGN:
        _LOG.error("what came in is not the Language Server Protocol")
        return 1
    return server.exit_code


def serve_tcp(settings: Settings, address: "tcp.Address") -> int:
    """Serve one client at a time on a loopback address until one says ``exit``, or its process is gone.

    Returns the exit code as ``serve`` does.

    Raises:
        SynapseError: The address is in use or cannot be had.
    """
    from synapse_ls.lsp import tcp  # noqa: PLC0415 - few serve that way

    with tcp.listening(address) as listener:
        print(f"synapse-ls: listening on {tcp.bound(listener)}", file=sys.stderr, flush=True)  # noqa: T201 - for who waits
        while True:
            client = tcp.next_client(listener)
            with client.connection as connection:
                source = Input(connection.fileno(), client.first)
                end, server = _served(settings, source, connection.sendall, strict=True)
            if end is transport.End.EXIT or source.abandoned:
                return server.exit_code


def _served(
    settings: Settings, source: Input, send: Callable[[bytes], object], *, strict: bool = False
) -> tuple[transport.End, "SynapseServer"]:
    """Serve one connection."""
    server = SynapseServer(settings, source.abandon)
    try:
        with logs.telling(server.log), source:
            return transport.serve(server.protocol, source, send, strict=strict), server
    finally:
        server.close()


class SynapseServer(LanguageServer):
    """The language server of one client connection."""

    protocol: "_Protocol"

    def __init__(self, settings: Settings, abandon: Callable[[], None]) -> None:
        """Make a server; it calls ``abandon`` when the client's process is gone."""
        super().__init__("synapse-ls", __version__, protocol_cls=_Protocol, converter_factory=_converter)
        self.session = Session(settings, self.protocol.notify, self.protocol.send_request)
        self._abandon = abandon
        self._parent: Watch | None = None
        for method, handler, *options in _HANDLERS:
            self.feature(method, *options)(_bound(handler, self.session))

    @property
    def exit_code(self) -> int:
        """What the process ends with: 0 if the client has asked for the end, else 1."""
        return 0 if self.protocol.shut_down else 1

    def watch(self, process_id: int | None) -> None:
        """End the connection when the client's process is gone."""
        self._parent = Watch(process_id, self._abandon)

    def log(self, params: lsp.LogMessageParams) -> None:
        """Send a line to the client's log, between ``initialized`` and ``shutdown``; may be called from any thread."""
        loop = self.session.loop
        if loop is not None and not self.protocol.shut_down:
            with suppress(RuntimeError):  # the loop may have ended
                loop.call_soon_threadsafe(self.protocol.notify, lsp.WINDOW_LOG_MESSAGE, params)

    def close(self) -> None:
        """Let go of everything; the connection has ended."""
        if self._parent is not None:
            self._parent.close()
        self.session.close()

    def report_server_error(self, error: Exception, source: Any) -> None:  # noqa: ANN401 - as the framework types it
        """Log what went wrong with a notification; requests have their answer, and the framework has logged them."""
        if source is FeatureNotificationError:
            _LOG.error("a notification of the client failed", exc_info=error.__context__ or error)


_HANDLERS: tuple[tuple[Any, ...], ...] = (
    (lsp.INITIALIZE, lifecycle.initialize),
    (lsp.INITIALIZED, lifecycle.initialized),
    (lsp.SHUTDOWN, lifecycle.shutdown),
    (lsp.TEXT_DOCUMENT_DID_SAVE, changes.did_save),
    (lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES, changes.did_change_watched_files),
    (lsp.WORKSPACE_DID_RENAME_FILES, changes.did_rename_files, changes.RENAMES),
    (lsp.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS, changes.did_change_workspace_folders),
    (lsp.WORKSPACE_DID_CHANGE_CONFIGURATION, changes.did_change_configuration),
    (lsp.WORKSPACE_SYMBOL, questions.workspace_symbol),
    (lsp.TEXT_DOCUMENT_HOVER, questions.hover),
    (lsp.TEXT_DOCUMENT_DEFINITION, questions.definition),
    (lsp.TEXT_DOCUMENT_REFERENCES, questions.references),
    (lsp.TEXT_DOCUMENT_IMPLEMENTATION, questions.implementation),
    ("synapse/search", questions.search),
    ("synapse/backlinks", questions.backlinks),
    ("synapse/related", questions.related),
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

    def __init__(self, server: SynapseServer, converter: "cattrs.Converter") -> None:
        # The ids of our own requests that are not answered yet.
        self._asked: set[object] = set()
        super().__init__(server, converter)

    @property
    def shut_down(self) -> bool:
        """Whether the client has asked for the end."""
        return self._ending

    @lsp_method(lsp.INITIALIZE)
    def lsp_initialize(self, params: lsp.InitializeParams) -> Generator[Any, Any, lsp.InitializeResult]:
        # The framework fails over a URI that is none.
        root = params.root_uri if params.root_uri and convert.path_of(params.root_uri) else None
        folders = [folder for folder in params.workspace_folders or () if convert.path_of(folder.uri)]
        self._server.watch(params.process_id)
        result = yield from super().lsp_initialize(attrs.evolve(params, root_uri=root, workspace_folders=folders))
        result.capabilities.execute_command_provider = lsp.ExecuteCommandOptions(list(commands.NAMES))
        return result

    @lsp_method(lsp.WORKSPACE_EXECUTE_COMMAND)
    async def lsp_workspace__execute_command(self, params: lsp.ExecuteCommandParams) -> dict[str, Any] | None:  # type: ignore[override]  # the framework runs coroutines just as well
        return await commands.execute(self._server.session, params)

    @lsp_method(lsp.WINDOW_WORK_DONE_PROGRESS_CANCEL)
    def lsp_work_done_progress_cancel(self, params: lsp.WorkDoneProgressCancelParams) -> None:
        self._server.session.stop_progress(params.token)

    @lsp_method(lsp.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: lsp.DidOpenTextDocumentParams) -> None:
        documents.did_open(self._server.session, params)

    @lsp_method(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: lsp.DidChangeTextDocumentParams) -> None:
        documents.did_change(self._server.session, params)

    @lsp_method(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: lsp.DidCloseTextDocumentParams) -> None:
        documents.did_close(self._server.session, params)

    @lsp_method(lsp.SHUTDOWN)
    def lsp_shutdown(self, *args: Any) -> Generator[Any, Any, None]:  # noqa: ANN401 - as the framework types it
        yield self.fm.features[lsp.SHUTDOWN], args, None
        # The framework fails over a request that is gone as soon as it is cancelled.
        for number, future in list(self._request_futures.items()):
            if number != self.msg_id:
                future.cancel()
        self._shutdown = True

    def get_result_type(self, method: str) -> Any:  # type: ignore[override]  # noqa: ANN401 - the framework caches it
        # Whatever a client answers about settings is judged by us: as it is, not as the framework would have it.
        return None if method == lsp.WORKSPACE_CONFIGURATION else super().get_result_type(method)

    def structure_message(self, data: dict[str, Any]) -> Any:  # noqa: ANN401 - as the framework types it
        method, params = data.get("method"), data.get("params")
        if method is not None:
            data = {key: value for key, value in data.items() if key not in ("result", "error")}
        if method == lsp.INITIALIZE and isinstance(params, dict) and type(params.get("processId")) is not int:
            data = {**data, "params": {**params, "processId": None}}
        if method == lsp.INITIALIZED and params is None:
            data = {**data, "params": {}}  # they have no members, so that they may be left out
        if method == lsp.WORKSPACE_SYMBOL and isinstance(params, dict) and not isinstance(params.get("query"), str):
            raise JsonRpcInvalidParams("query must be a text")  # the framework would make it one
        message = super().structure_message(data)
        if method is not None and data.get("id") is not None and not hasattr(message, "id"):
            raise JsonRpcInvalidRequest("this method is a notification, which has no id")
        return message

    def handle_message(self, message: Any) -> None:  # noqa: ANN401 - as the framework types it
        method, number = getattr(message, "method", None), getattr(message, "id", None)
        if method is None:
            if not isinstance(number, str) or number not in self._asked:
                return  # the framework would look for it among the client's own requests
            self._asked.discard(number)
        elif number is not None:
            if self._ending:
                raise JsonRpcInvalidRequest("the server is shutting down")
            if self._ready and method == lsp.INITIALIZE:
                raise JsonRpcInvalidRequest("the server is initialized already")
            if not self._ready and method != lsp.INITIALIZE:
                raise JsonRpcServerNotInitialized("the first request must be initialize")
            self._ready = True
            self._ending = method == lsp.SHUTDOWN
        elif not self._ready:
            return  # as the protocol has it
        super().handle_message(message)

    def send_request(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - as the framework types it
        number = kwargs.setdefault("msg_id", str(uuid4()))
        self._asked.add(number)
        return super().send_request(*args, **kwargs)

    def _handle_cancel_notification(self, msg_id: Any) -> None:  # noqa: ANN401 - as the framework types it
        if msg_id not in self._asked:
            super()._handle_cancel_notification(msg_id)

    def _send_response(self, msg_id: Any, result: Any = None, error: lsp.ResponseError | None = None) -> None:  # noqa: ANN401 - as the framework types it
        if error is not None and error.code == lsp.ErrorCodes.InternalError:
            # The framework puts the error's own words and its trace there, which may quote notes.
            error = lsp.ResponseError(error.code, "Synapse failed over this request; its log says where")
        super()._send_response(msg_id, result, error)


def _converter() -> "cattrs.Converter":
    """Return the framework's converter, which leaves parameters of our own methods as plain JSON values."""
    converter: cattrs.Converter = default_converter()  # type: ignore[no-untyped-call]  # the framework has no types here
    for kind in (JsonRPCRequestMessage, JsonRPCNotification, JsonRPCResponseMessage):
        converter.register_structure_hook(kind, _plain)
    return converter


def _plain(message: dict[str, Any], kind: type[Any]) -> Any:  # noqa: ANN401 - one of the three kinds
    """Return a message with its members as they are; those left out are None, those unknown are passed over."""
    return kind(**{field.name: message.get(field.name) for field in attrs.fields(kind)})
