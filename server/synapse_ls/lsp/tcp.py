"""Listening on a loopback address for the one client that speaks the protocol."""

import ipaddress
import selectors
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from synapse_ls.core.errors import SynapseError

_SILENCE_SECONDS = 10.0
_HEADERS = (b"content-length", b"content-type")
_LONGEST = max(map(len, _HEADERS))


@dataclass(frozen=True, slots=True)
class Address:
    """A numeric loopback address, and a port; 0 is any that is free."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class Client:
    """A connection whose first bytes, which are read, begin a header."""

    connection: socket.socket
    first: bytes


def address(text: str) -> Address:
    """Return the address that ``HOST:PORT`` means.

    Raises:
        SynapseError: It is none, or other machines could reach it.
    """
    host, colon, port = text.rpartition(":")
    if not colon or not (port.isascii() and port.isdecimal()) or int(port[:6]) > 0xFFFF:  # noqa: PLR2004 - the last port
        raise SynapseError(f"{text} is no address; give HOST:PORT, such as 127.0.0.1:7000, or port 0 for any")
    if host.lower() == "localhost":
        names = _resolved()
    else:
        names = [host[1:-1] if host.startswith("[") and host.endswith("]") else host]
    if not names or not all(_is_loopback(name) for name in names):
        raise SynapseError(f"{host or text} is not a loopback address; give 127.0.0.1:{port} or [::1]:{port}")
    return Address(min(names, key=lambda name: ":" in name), int(port))


@contextmanager
def listening(where: Address) -> Iterator[socket.socket]:
    """Give a listening socket.

    Raises:
        SynapseError: The address is in use or cannot be had.
    """
    family = socket.AF_INET6 if ":" in where.host else socket.AF_INET
    with socket.socket(family) as listener:
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((where.host, where.port))
            listener.listen()
        except OSError as error:
            raise SynapseError(
                f"cannot listen on {where} ({error.strerror or error}); port 0 takes one that is free"
            ) from None
        yield listener


def bound(listener: socket.socket) -> Address:
    """Return the address that a socket listens on."""
    return Address(*listener.getsockname()[:2])


def next_client(listener: socket.socket) -> Client:
    """Wait for a connection that begins with a header; others are closed without an answer.

    Those that are silent for ten seconds are among the others, and nobody waits for them.
    """
    with selectors.DefaultSelector() as selector:
        selector.register(listener, selectors.EVENT_READ)
        waiting: dict[socket.socket, tuple[bytes, float]] = {}

        def forget(connection: socket.socket) -> bytes:
            selector.unregister(connection)
            return waiting.pop(connection)[0]

        try:
            while True:
                soonest = min((until for _, until in waiting.values()), default=None)
                ready = selector.select(None if soonest is None else max(0.0, soonest - time.monotonic()))
                for connection in [one for one, (_, until) in waiting.items() if until <= time.monotonic()]:
                    forget(connection)
                    connection.close()
                for key, _ in ready:
                    connection = key.fileobj  # type: ignore[assignment]  # only sockets are registered
                    if connection is listener:
                        with suppress(OSError):  # gone before it was accepted
                            connection, _ = listener.accept()
                            waiting[connection] = b"", time.monotonic() + _SILENCE_SECONDS
                            selector.register(connection, selectors.EVENT_READ)
                    elif connection in waiting:
                        begun, until = waiting[connection]
                        begun += _received(connection)
                        waiting[connection] = begun, until
                        if _begins(begun) is True:
                            return Client(connection, forget(connection))
                        if _begins(begun) is False:
                            forget(connection)
                            connection.close()
        finally:
            for connection in waiting:
                connection.close()


def _received(connection: socket.socket) -> bytes:
    """Return what has come, up to the longest name of a header; at the end, what begins none."""
    try:
        return connection.recv(_LONGEST) or b"\0"
    except OSError:
        return b"\0"


def _begins(data: bytes) -> bool | None:
    """Return whether bytes begin a header; None if that is not clear yet."""
    lowered = data.lower()
    if lowered.startswith(_HEADERS):
        return True
    return None if any(name.startswith(lowered) for name in _HEADERS) else False


def _resolved() -> list[str]:
    try:
        return [str(found[4][0]) for found in socket.getaddrinfo("localhost", None, type=socket.SOCK_STREAM)]
    except OSError:
        return []


def _is_loopback(name: str) -> bool:
    try:
        found = ipaddress.ip_address(name)
    except ValueError:
        return False
    return found == ipaddress.IPv6Address("::1") or (found.version == 4 and found.is_loopback)  # noqa: PLR2004 - of IP
