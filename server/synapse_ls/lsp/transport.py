"""Messages in from one stream and out to another.

The framework's own loop loses a message whose header is in lower case, leaves the sender of one that is not JSON
without an answer, decodes on the event loop and writes on it. Here one thread reads and decodes, another writes.
"""

import asyncio
import enum
import json
import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any, NoReturn

from lsprotocol.types import EXIT
from pygls.exceptions import JsonRpcException, JsonRpcInternalError, JsonRpcInvalidRequest, JsonRpcParseError
from pygls.protocol import JsonRPCProtocol

from synapse_ls.lsp.framing import ForeignError, Frames, HeaderError
from synapse_ls.lsp.streams import Input

_LOG = logging.getLogger(__name__)

# More digits than any number that a client means; Python refuses to read thousands of them.
_DIGITS = 20
# How long answers under way are waited for in the end.
_LAST_SECONDS = 5.0


class End(enum.Enum):
    """How a connection ended: by ``exit``, with its input, or because the client does not speak the protocol."""

    EXIT = enum.auto()
    CLOSED = enum.auto()
    FOREIGN = enum.auto()


@dataclass(frozen=True, slots=True)
class _Received:
    """A message as the framework has it, which asks for an answer to ``number`` unless that is None."""

    message: Any
    number: object


@dataclass(frozen=True, slots=True)
class _Refused:
    """What came is no message, or not of the shape that its method wants; ``number`` is the id to answer to."""

    number: object
    error: JsonRpcException


class _Ignored:
    """Of what came, nothing is left to do."""


_Next = _Received | _Refused | _Ignored | End


def serve(protocol: JsonRPCProtocol, source: Input, send: Callable[[bytes], object], *, strict: bool = False) -> End:
    """Hand the messages of ``source`` to a protocol, whose answers go to ``send``, until the connection ends.

    ``send`` is called in a thread of its own, so that a client that does not read holds up nothing; an ``OSError`` in
    it ends the connection. With ``strict`` a header that is none ends it too, else the next one is looked for.
    """
    writer = _Writer(send, source.stop)
    protocol.set_writer(writer)
    try:
        return asyncio.run(_serve(protocol, source, Frames(source, strict=strict), writer))
    finally:
        writer.close()


async def _serve(protocol: JsonRPCProtocol, source: Input, frames: Frames, writer: "_Writer") -> End:
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(_unexpected)

    def refuse(number: object, error: JsonRpcException) -> None:
        told = {"code": error.code, "message": error.message}
        body = json.dumps({"jsonrpc": "2.0", "id": number, "error": told}).encode()
        writer.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="synapse-input") as reading:
        try:
            while not isinstance(came := await loop.run_in_executor(reading, _next, protocol, frames), End):
                if isinstance(came, _Received):
                    came = _handled(protocol, came)
                if isinstance(came, _Refused):
                    refuse(came.number, came.error)
        finally:
            source.stop()  # else the thread would be waited for until the client says something more
    # What is under way may still be answered, the request to shut down above all.
    if not source.abandoned and (tasks := asyncio.all_tasks() - {asyncio.current_task()}):
        await asyncio.wait(tasks, timeout=_LAST_SECONDS)
    await asyncio.sleep(0)
    return came


def _handled(protocol: JsonRPCProtocol, came: _Received) -> _Refused | _Ignored:
    """Hand a message to the protocol; returns what it refuses."""
    try:
        protocol.handle_message(came.message)
    except JsonRpcException as error:
        problem = error
    except Exception:  # noqa: BLE001 - logged and answered; the connection goes on
        _LOG.exception("a message cannot be handled")
        problem = JsonRpcInternalError("the message cannot be handled")
    else:
        return _Ignored()
    return _Ignored() if came.number is None else _Refused(came.number, problem)


def _unexpected(_loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Log an error that nobody caught; the loop's own words would hold arguments, that is texts of notes."""
    _LOG.error("an error on the event loop", exc_info=context.get("exception"))


class _Writer:
    """Sends what it is given, in order, in a thread of its own."""

    def __init__(self, send: Callable[[bytes], object], failed: Callable[[], None]) -> None:
        self._send = send
        self._failed = failed
        self._waiting: SimpleQueue[bytes | None] = SimpleQueue()
        # A daemon, for a client may have stopped reading for good.
        self._thread = threading.Thread(target=self._run, name="synapse-output", daemon=True)
        self._thread.start()

    def write(self, data: bytes) -> None:
        """Send data soon."""
        self._waiting.put(data)

    def close(self) -> None:
        """Send what is waiting, if the client takes it within some seconds."""
        self._waiting.put(None)
        self._thread.join(_LAST_SECONDS)

    def _run(self) -> None:
        try:
            while (data := self._waiting.get()) is not None:
                self._send(data)
        except OSError:
            _LOG.info("the client does not listen any more")
            self._failed()


def _next(protocol: JsonRPCProtocol, frames: Frames) -> _Next:
    """Return what comes next, decoded and in the shape that its method wants; runs in the reading thread."""
    try:
        body = frames.next()
        if body is None:
            return End.CLOSED
        data = _message(body)
    except ForeignError:
        return End.FOREIGN
    except HeaderError as error:
        return _Refused(None, JsonRpcInvalidRequest(str(error)))
    except _MalformedError as error:
        return _Refused(error.number, error.answer)
    return End.EXIT if data.get("method") == EXIT else _structured(protocol, data)


def _structured(protocol: JsonRPCProtocol, data: dict[str, Any]) -> _Next:
    number = data.get("id") if "method" in data else None
    try:
        return _Received(protocol.structure_message(data), number)
    except JsonRpcException as error:
        problem = error
    except Exception:  # noqa: BLE001 - logged and answered; the next message may be better
        _LOG.exception("a message cannot be read")
        problem = JsonRpcInternalError("the message cannot be read")
    return _Ignored() if number is None else _Refused(number, problem)


class _MalformedError(Exception):
    """A body is no message; ``number`` is the id to answer to, if it has one."""

    def __init__(self, number: object, answer: JsonRpcException) -> None:
        super().__init__(answer.message)
        self.number = number
        self.answer = answer


def _message(body: bytes) -> dict[str, Any]:
    """Return a body as an object that can be a message: a request, a notification or a response."""
    try:
        message: Any = json.loads(body.decode("utf-8"), parse_int=_whole, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        problem = JsonRpcParseError("the message is not JSON in UTF-8, or it is nested too deep")
        raise _MalformedError(None, problem) from None
    if not isinstance(message, dict):
        raise _MalformedError(None, JsonRpcInvalidRequest("a message must be an object"))
    number, is_response = message.get("id"), "method" not in message and bool({"result", "error"} & message.keys())
    if is_response:
        number = None  # one of ours, and no answer is answered
    elif "id" in message and type(number) not in (int, str):
        raise _MalformedError(None, JsonRpcInvalidRequest("an id must be a whole number or a text"))
    if message.get("jsonrpc") != "2.0":
        raise _MalformedError(number, JsonRpcInvalidRequest('a message must have "jsonrpc": "2.0"'))
    if not is_response and not isinstance(message.get("method"), str):
        raise _MalformedError(number, JsonRpcInvalidRequest("a message must have a method or be a response"))
    return message


def _whole(text: str) -> int | float:
    return int(text) if len(text) <= _DIGITS else float(text)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
