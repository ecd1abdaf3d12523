"""Addresses that only this machine reaches, and the client among those who connect."""

import socket
import threading
from collections.abc import Iterator

import pytest

from synapse_ls.core.errors import SynapseError
from synapse_ls.lsp import tcp
from synapse_ls.lsp.tcp import Address, Client


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("127.0.0.1:7000", Address("127.0.0.1", 7000)),
        ("127.8.9.10:0", Address("127.8.9.10", 0)),
        ("[::1]:7000", Address("::1", 7000)),
        ("::1:7000", Address("::1", 7000)),
        ("127.0.0.1:65535", Address("127.0.0.1", 65535)),
    ],
)
def test_loopback_addresses(text: str, address: Address) -> None:
    """In both versions."""
    assert tcp.address(text) == address


@pytest.mark.parametrize(
    "text",
    [
        "", ":", "7000", ":7000", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:-1", "127.0.0.1:65536",
        "127.0.0.1:" + "9" * 5000, "127.0.0.1:٧", "0.0.0.0:7000", "0:7000", "127.1:7000", "[::]:7000", "10.0.0.1:7000",
        "192.168.1.2:0", "[fe80::1]:7000", "[::ffff:127.0.0.1]:7000", "example.org:7000", "localhost.example:7000",
        "127.0.0.1.example:7000",
    ],
)  # fmt: skip
def test_other_addresses_are_refused(text: str) -> None:
    """Those that other machines may reach, and those that are none; no name is looked up."""
    with pytest.raises(SynapseError, match="give"):
        tcp.address(text)


@pytest.mark.parametrize(
    ("resolved", "host"),
    [
        (["127.0.0.1"], "127.0.0.1"),
        (["::1", "127.0.0.1"], "127.0.0.1"),
        (["::1"], "::1"),
        (["127.0.0.1", "10.1.1.1"], None),
        ([], None),
    ],
)
def test_localhost_is_what_it_resolves_to(
    monkeypatch: pytest.MonkeyPatch, resolved: list[str], host: str | None
) -> None:
    """If all of that is loopback."""
    monkeypatch.setattr(tcp, "_resolved", lambda: resolved)
    if host is None:
        with pytest.raises(SynapseError, match="LocalHost is not a loopback"):
            tcp.address("LocalHost:7000")
    else:
        assert tcp.address("LocalHost:7000") == Address(host, 7000)


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """A socket that listens on any port."""
    with tcp.listening(Address("127.0.0.1", 0)) as listener:
        yield listener


def test_an_address_in_use_is_told(listener: socket.socket) -> None:
    """In one sentence that names it."""
    taken = tcp.bound(listener)
    with pytest.raises(SynapseError, match=f"{taken.port}.*in use"), tcp.listening(taken):
        pass


def connected(listener: socket.socket, data: bytes) -> socket.socket:
    """Return a connection that has sent something."""
    connection = socket.create_connection(listener.getsockname(), timeout=20)
    connection.sendall(data)
    return connection


def answer(connection: socket.socket) -> bytes:
    """Return what comes until the other side closes the connection, which it may do with what it has not read."""
    try:
        return connection.recv(100)
    except ConnectionResetError:
        return b""


def test_the_client_is_the_one_that_begins_with_a_header(
    listener: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others are closed without an answer, those that are silent after a while."""
    monkeypatch.setattr(tcp, "_SILENCE_SECONDS", 0.2)
    found: list[Client] = []
    waiting = threading.Thread(target=lambda: found.append(tcp.next_client(listener)))
    waiting.start()
    others = [
        b"GET / HTTP/1.1\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01",
        b"hello",
        b"\r\n",
        b"Content-Lettuce: 5",
        b"",
        b"Conte",
    ]
    for data in others:
        with connected(listener, data) as other:
            assert answer(other) == b""
    connected(listener, b"").close()
    with connected(listener, b"cont") as client:
        client.sendall(b"ent-LENGTH: 5\r\n\r\n")
        waiting.join(20)
        with found[0].connection as connection:
            client.close()
            assert found[0].first + connection.makefile("rb").read() == b"content-LENGTH: 5\r\n\r\n"


def test_a_silent_connection_keeps_nobody_waiting(listener: socket.socket) -> None:
    """The client behind it is found at once."""
    with connected(listener, b""), connected(listener, b"Content-Length: 5\r\n\r\n"):
        found = tcp.next_client(listener)
    with found.connection:
        assert found.first == b"Content-Length"
