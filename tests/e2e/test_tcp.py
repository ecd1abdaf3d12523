"""Serving on a loopback address: one client, whoever else knocks."""

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.e2e.editor import COMMAND, TIMEOUT, environment_of, run
from tests.e2e.test_lifecycle import EMPTY, notification, request
from tests.e2e.test_malformed import encoded


@contextmanager
def listening(cache: Path, address: str = "127.0.0.1:0") -> Iterator[tuple[subprocess.Popen[bytes], tuple[str, int]]]:
    """Give a server that listens, and its address; it is killed if it is still there in the end."""
    command = [*COMMAND, "serve", "--tcp", address]
    with subprocess.Popen(
        command, env=environment_of(cache), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as server:
        try:
            assert server.stderr is not None
            line = server.stderr.readline().decode()
            match = re.fullmatch(r"synapse-ls: listening on \[?([\d.:]+?)\]?:(\d+)\n", line)
            assert match is not None, line
            yield server, (match[1], int(match[2]))
        finally:
            server.kill()


def talk(address: tuple[str, int], *messages: dict[str, object], until: bytes = b"") -> bytes:
    """Send messages and return what comes until the connection is closed, or until some bytes came."""
    return say(address, b"".join(map(encoded, messages)), until)


def say(address: tuple[str, int], data: bytes, until: bytes = b"") -> bytes:
    """Send bytes; as above."""
    came = b""
    with socket.create_connection(address, timeout=TIMEOUT) as connection:
        connection.sendall(data)
        try:
            while (more := connection.recv(65536)) and not (until and until in came + more):
                came += more
        except ConnectionResetError:
            return came
    return came + more


BEGIN = (request(1, "initialize", EMPTY), notification("initialized", {}))


@pytest.mark.parametrize("address", ["127.0.0.1:0", "[::1]:0", "localhost:0"])
def test_a_client_is_served_until_its_exit(cache: Path, address: str) -> None:
    """The process ends with it, as on standard input and output, which stays empty."""
    if address == "[::1]:0" and not has_ipv6():
        pytest.skip("this machine has no IPv6")
    with listening(cache, address) as (server, place):
        came = talk(place, *BEGIN, request(2, "shutdown"), notification("exit"))
        assert b'"id": 2' in came
        assert server.wait(TIMEOUT) == 0
        assert server.stdout is not None
        assert server.stdout.read() == b""


def has_ipv6() -> bool:
    """Return whether the loopback address of IPv6 is there."""
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            return True
    except OSError:
        return False


def test_an_exit_without_shutdown_is_an_error(cache: Path) -> None:
    """Exit code 1."""
    with listening(cache) as (server, place):
        talk(place, *BEGIN, notification("exit"))
        assert server.wait(TIMEOUT) == 1


def test_whoever_speaks_otherwise_is_not_answered(cache: Path) -> None:
    """A browser, TLS, garbage, a header that goes wrong later; the next client is served."""
    with listening(cache) as (server, place):
        for data in (
            b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
            b"POST / HTTP/1.1\r\n" + encoded(request(1, "initialize", EMPTY)),
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
            b"\x00" * 1000,
            b"Content-Type: text/plain\r\n\r\n{}",
            b"Content-Length: -1\r\n\r\n{}",
            b"Content-Length: 2\r\nhello\r\n",
        ):
            assert say(place, data) == b""
        talk(place, *BEGIN, request(2, "shutdown"), notification("exit"))
        assert server.wait(TIMEOUT) == 0


def test_a_request_of_http_in_the_middle_drops_the_connection(cache: Path) -> None:
    """What came before it was answered."""
    with listening(cache) as (_, place):
        data = encoded(request(1, "initialize", EMPTY)) + b"GET / HTTP/1.1\r\n\r\n"
        came = say(place, data + encoded(request(2, "synapse/status")))
        assert b'"id": 1' in came
        assert b'"id": 2' not in came


def test_after_a_dropped_connection_the_next_client_starts_anew(small: Path, cache: Path) -> None:
    """It has to initialize, and sees nothing of the one before."""
    folders = [{"uri": small.as_uri(), "name": "vault"}]
    with listening(cache) as (server, place):
        first = (
            request(1, "initialize", {**EMPTY, "workspaceFolders": folders}),
            BEGIN[1],
            request(2, "synapse/status"),
        )
        assert small.as_uri().encode() in talk(place, *first, until=b'"id": 2')
        came = talk(place, request(1, "synapse/status"), *BEGIN, request(3, "synapse/status"), until=b'"id": 3')
        assert b"-32002" in came
        assert b'"vaults": []' in came
        talk(place, *BEGIN, request(4, "shutdown"), notification("exit"))
        assert server.wait(TIMEOUT) == 0


def test_the_server_ends_with_its_clients_process(cache: Path) -> None:
    """Although the connection stays."""
    with (
        subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL) as client,
        listening(cache) as (server, place),
        socket.create_connection(place, timeout=TIMEOUT) as connection,
    ):
        connection.sendall(encoded(request(1, "initialize", {**EMPTY, "processId": client.pid})))
        assert connection.recv(10)
        client.kill()
        assert server.wait(TIMEOUT) == 1


@pytest.mark.parametrize(
    "address", ["0.0.0.0:0", "[::]:0", "10.1.2.3:0", "example.org:0", "127.0.0.1", "localhost:http"]
)
def test_other_addresses_are_refused(cache: Path, address: str) -> None:
    """In one line, before anything listens."""
    ran = run(cache, "serve", "--tcp", address)
    assert (ran.code, ran.out) == (2, "")
    assert len(ran.err.splitlines()) == 1
    assert "give" in ran.err


def test_a_port_in_use_is_told(cache: Path) -> None:
    """In one line."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ran = run(cache, "serve", "--tcp", f"127.0.0.1:{taken.getsockname()[1]}")
    assert ran.code == 2
    assert len(ran.err.splitlines()) == 1
    assert "in use" in ran.err


def test_one_way_to_serve_at_a_time(cache: Path) -> None:
    """Both together are a wrong call."""
    ran = run(cache, "serve", "--stdio", "--tcp", "127.0.0.1:0")
    assert ran.code == 2
    assert len(ran.err.splitlines()) == 1


def test_a_listening_server_can_be_interrupted(cache: Path) -> None:
    """Without a trace."""
    with listening(cache) as (server, _):
        os.kill(server.pid, signal.SIGINT)
        assert server.wait(TIMEOUT) > 0
        assert server.stderr is not None
        assert b"Traceback" not in server.stderr.read()
