"""Streams of bytes that can be stopped, and writing that is complete."""

import os
import socket
import threading

from synapse_ls.lsp.streams import Input, write_all


def test_what_was_read_before_comes_first() -> None:
    """Then what is in the descriptor, to its end."""
    ours, theirs = socket.socketpair()
    with ours, theirs, Input(ours.fileno(), b"ab") as source:
        theirs.sendall(b"c\nd")
        theirs.close()
        assert source.readline() == b"abc\n"
        assert source.read(5) == b"d"
        assert source.read(5) == b""


def test_reading_that_waits_can_be_stopped_from_another_thread() -> None:
    """It is the end of the stream, then and later."""
    reader, writer = os.pipe()
    with os.fdopen(writer, "wb"), os.fdopen(reader, "rb"), Input(reader) as source:
        read: list[bytes] = []
        thread = threading.Thread(target=lambda: read.append(source.readline()))
        thread.start()
        source.stop()
        thread.join(20)
        assert read == [b""]
        assert source.read(1) == b""
        assert not source.abandoned


def test_a_connection_that_breaks_is_the_end() -> None:
    """Whoever reads learns no more than that."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        client = socket.create_connection(server.getsockname())
        connection, _ = server.accept()
        with connection, Input(connection.fileno()) as source:
            connection.sendall(b"x")  # unread by the other side, so that closing there breaks the connection
            client.close()
            assert source.read(1) == b""


def test_all_is_written_however_slowly_it_is_read() -> None:
    """Also to a pipe that takes a part at a time."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    data = os.urandom(500_000)
    thread = threading.Thread(target=write_all, args=(writer, data))
    thread.start()
    with os.fdopen(reader, "rb") as source:
        assert source.read(len(data)) == data
    thread.join(20)
    os.close(writer)
