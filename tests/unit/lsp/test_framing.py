"""Header blocks: what is one, and what becomes of what is none."""

import io

import pytest

from synapse_ls.lsp import framing
from synapse_ls.lsp.framing import ForeignError, Frames, HeaderError

NEXT = b"Content-Length: 4\r\n\r\nnext"


def read(data: bytes, *, strict: bool = False) -> list[str]:
    """Return what comes of a stream: each body, each fault, and how it ends."""
    frames = Frames(io.BytesIO(data), strict=strict)
    read: list[str] = []
    while True:
        try:
            body = frames.next()
        except HeaderError as error:
            read.append(f"fault: {error}")
        except ForeignError:
            return [*read, "foreign"]
        else:
            if body is None:
                return read
            read.append(body.decode())


@pytest.mark.parametrize(
    "header",
    [
        b"Content-Length: 5\r\n\r\n",
        b"content-length: 5\r\n\r\n",
        b"CONTENT-LENGTH:5\r\n\r\n",
        b"Content-Length : 5 \r\n\r\n",
        b"Content-Length: 0005\r\n\r\n",
        b"Content-Length: 5\n\n",
        b"Content-Length: 5\r\nContent-Length: 5\r\n\r\n",
        b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: 5\r\n\r\n",
        b'Content-Length: 5\r\nContent-Type: application/vscode-jsonrpc; charset="UTF8"\r\n\r\n',
        b"Content-Length: 5\r\nContent-Type: x\r\nX-Other: a: b\r\n\r\n",
    ],
)
@pytest.mark.parametrize("strict", [False, True])
def test_a_header_may_be_written_in_many_ways(header: bytes, strict: bool) -> None:
    """In small letters, with other lines, with line feeds alone, with the same length twice."""
    assert read(header + b"hello" + NEXT, strict=strict) == ["hello", "next"]


LENGTH = "fault: the Content-Length must be a number of bytes"
MISSING = "fault: the header must give a Content-Length"
NONE = "fault: what came is not a header"


@pytest.mark.parametrize(
    ("data", "came"),
    [
        (b"Content-Length: -5\r\n\r\nhello", [LENGTH, "next"]),
        (b"Content-Length: five\r\n\r\nhello", [LENGTH, "next"]),
        (b"Content-Length: 5.0\r\n\r\nhello", [LENGTH, "next"]),
        (b"Content-Length: +5\r\n\r\nhello", [LENGTH, "next"]),
        (b"Content-Length:\r\n\r\nhello", [LENGTH, "next"]),
        (b"Content-Length: \xd9\xa5\r\n\r\nhello", [LENGTH, "next"]),
        (b"Content-Length: " + b"9" * 5000 + b"\r\n\r\nhello", [LENGTH, "next"]),
        (b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
         ["fault: the header gives more than one Content-Length", "next"]),
        (b"Content-Type: text/plain\r\n\r\nhello", [MISSING, "next"]),
        (b"hello\r\n", [NONE, "next"]),
        (b"hello\r\n\r\nworld\r\n\r\n{}", [NONE, "next"]),
        (b"\r\n\r\n", ["next"]),
        (b"X: " + b"x" * 100_000 + b"\r\n\r\n", [NONE, "next"]),
        (b"x" * 100_000, [NONE, "next"]),
        (b"x" * 2_000_000, [NONE, "foreign"]),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\n", [NONE, "next"]),
    ],
)  # fmt: skip
def test_after_what_is_no_header_the_next_one_is_found(data: bytes, came: list[str]) -> None:
    """With one word of it; only where too much has come is the sender given up."""
    assert read(data + NEXT) == came
    assert read(data + NEXT, strict=True) == ["foreign"]


@pytest.mark.parametrize("line", [b"GET / HTTP/1.1\r\n", b"POST /x?y=1 HTTP/1.0\n", b"OPTIONS * HTTP/2\r\n"])
@pytest.mark.parametrize("strict", [False, True])
def test_a_request_line_of_http_ends_the_connection(line: bytes, strict: bool) -> None:
    """Even if the next line is a header of ours: a browser can be made to send one."""
    assert read(line + NEXT, strict=strict) == ["foreign"]
    assert read(NEXT + line + NEXT, strict=strict) == ["next", "foreign"]


@pytest.mark.parametrize("charset", ["utf-16", "latin-1", "\u00fc"])
def test_a_message_in_another_encoding_is_refused(charset: str) -> None:
    """And read past."""
    header = f"Content-Type: x; charset={charset}\r\nContent-Length: 5\r\n\r\n".encode()
    refused = ["fault: messages must be in UTF-8"] if charset.isascii() else ["hello"]
    assert read(header + b"hello" + NEXT) == [*refused, "next"]


def test_a_message_that_is_too_long_is_read_past(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without being kept."""
    monkeypatch.setattr(framing, "MAX_BODY", 10)
    long = b"Content-Length: 200000\r\n\r\n" + b"x" * 200_000
    assert read(long + NEXT) == ["fault: a message of 200000 bytes is too long; the limit is 10", "next"]


@pytest.mark.parametrize("data", [b"", b"Content-Len", b"Content-Length: 5\r\n", b"Content-Length: 5\r\n\r\nhell"])
def test_what_is_cut_off_is_the_end(data: bytes) -> None:
    """Nothing is made of half a message."""
    assert read(NEXT + data) == ["next"]


def test_an_empty_message_is_one() -> None:
    """It is not JSON, but its sender is answered."""
    assert read(b"Content-Length: 0\r\n\r\n" + NEXT) == ["", "next"]
