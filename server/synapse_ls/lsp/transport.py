"""Messages in from one stream and out to another.

The framework's own loop loses a message whose header is in lower case, and leaves the sender of one that is not JSON
without an answer.
"""

import asyncio
import json
import logging
from concurrent.futures import ThreadPoolExecutor
from typing import Any, BinaryIO

from lsprotocol.types import EXIT
from pygls.exceptions import JsonRpcException, JsonRpcInvalidRequest, JsonRpcParseError
from pygls.io_ import StdoutWriter
from pygls.protocol import JsonRPCProtocol

_LOG = logging.getLogger(__name__)

# More digits than any number that a client means; Python refuses to read thousands of them.
_DIGITS = 20
# How long answers under way are waited for in the end.
_LAST_SECONDS = 5.0


def serve(protocol: JsonRPCProtocol, source: BinaryIO, target: BinaryIO) -> None:
    """Hand the messages of ``source`` to a protocol, which answers to ``target``, until ``exit`` or the end."""
    writer = StdoutWriter(target)
    protocol.set_writer(writer)
    try:
        asyncio.run(_serve(protocol, source, writer))
    except BrokenPipeError:
        _LOG.warning("the client has gone")
    except KeyboardInterrupt:
        pass


async def _serve(protocol: JsonRPCProtocol, source: BinaryIO, writer: StdoutWriter) -> None:
    def refuse(number: object, error: JsonRpcException) -> None:
        told = {"code": error.code, "message": error.message}
        body = json.dumps({"jsonrpc": "2.0", "id": number, "error": told}).encode()
        writer.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="synapse-input") as reading:
        while (body := await asyncio.get_running_loop().run_in_executor(reading, _next, source)) is not None:
            try:
                message = _message(body)
                if message.get("method") == EXIT:
                    break
                protocol.handle_message(protocol.structure_message(message))
            except _MalformedError as error:
                refuse(error.number, error.answer)
            except JsonRpcException as error:
                if "id" in message and "method" in message:
                    refuse(message["id"], error)
    # What is under way may still be answered, the request to shut down above all.
    if tasks := asyncio.all_tasks() - {asyncio.current_task()}:
        await asyncio.wait(tasks, timeout=_LAST_SECONDS)
    await asyncio.sleep(0)


def _next(source: BinaryIO) -> bytes | None:
    """Return the body of the next message; None at the end of the input."""
    length = None
    while header := source.readline():
        name, _, value = header.partition(b":")
        digits = value.strip()
        if name.strip().lower() == b"content-length" and digits.isdigit() and len(digits) < _DIGITS:
            length = int(digits)
        elif not header.strip() and length is not None:
            body = source.read(length)
            return body if len(body) == length else None
    return None


class _MalformedError(Exception):
    """A body is no message; ``number`` is the id to answer to, if it has one."""

    def __init__(self, number: object, answer: JsonRpcException) -> None:
        super().__init__(answer.message)
        self.number = number
        self.answer = answer


def _message(body: bytes) -> dict[str, Any]:
    """Return a body as an object that can be a message: its method, if any, is a text and its id can be answered to."""
    try:
        message: Any = json.loads(body, parse_int=lambda text: int(text) if len(text) <= _DIGITS else float(text))
    except (ValueError, RecursionError):
        problem = JsonRpcParseError("the message is not JSON in UTF-8, or it is nested too deep")
        raise _MalformedError(None, problem) from None
    if not isinstance(message, dict):
        raise _MalformedError(None, JsonRpcInvalidRequest("a message must be an object"))
    number = message.get("id")
    if type(number) not in (int, str, type(None)):
        raise _MalformedError(None, JsonRpcInvalidRequest("an id must be a whole number or a text"))
    if message.get("jsonrpc") != "2.0" or not isinstance(message.get("method", ""), str):
        raise _MalformedError(number, JsonRpcInvalidRequest('a message must have "jsonrpc": "2.0" and a method'))
    return message
