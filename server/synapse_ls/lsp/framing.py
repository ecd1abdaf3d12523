"""Where a message starts and ends in a stream: the header block, which gives the length of the body."""

import re
from typing import BinaryIO

MAX_BODY = 256 * 1024 * 1024
"""The longest body in bytes; longer ones are read past."""

_MAX_LINE = 8 * 1024
# This much of what is no header is read past in search of the next one.
_MAX_LOST = 1024 * 1024
_DRAINED = 64 * 1024
# More digits than the length of anything has.
_DIGITS = 20
_HTTP = re.compile(rb"[A-Z]{1,20} \S+ HTTP/\d")
_LENGTH = b"content-length"
_LINE = re.compile(rb"[ \t]*([\w-]+)[ \t]*:(.*)\n")
_CHARSET = re.compile(rb"charset\s*=\s*\"?([\w.:-]+)", re.IGNORECASE)


class ForeignError(Exception):
    """The sender does not speak the protocol."""


class HeaderError(Exception):
    """A message cannot be taken for its header; the sentence is for its sender, and the next one may be asked for."""


class Frames:
    """The bodies of the messages in a stream."""

    def __init__(self, source: BinaryIO, *, strict: bool) -> None:
        self._source = source
        self._strict = strict
        self._lost = 0
        self._told = False

    def next(self) -> bytes | None:
        """Return the body of the next message; None at the end of the input.

        Raises:
            HeaderError: A message is too long, is not in UTF-8, or has no header that tells its length. What else of
                this kind comes before the next message is passed over.
            ForeignError: An HTTP request line came, too much that is no header or, if strict, anything of that kind.
        """
        header = _Header()
        while line := self._source.readline(_MAX_LINE):
            if not line.endswith(b"\n") and len(line) < _MAX_LINE:
                return None
            if _HTTP.match(line):
                raise ForeignError
            if self._told:
                # The body of a message whose length was not understood does not end its line before the next header.
                line = line[max(line.lower().rfind(_LENGTH), 0) :]
            if line.strip():
                if not header.take(line):
                    header = _Header()
                    self._lose(line, "what came is not a header")
            elif header.fault is None:
                return self._body(header)
            else:
                self._lose(line, header.fault if header.lines else None)
                header = _Header()
        return None

    def _lose(self, line: bytes, fault: str | None) -> None:
        """Pass over a line that belongs to no header."""
        self._lost += len(line)
        if self._strict or self._lost > _MAX_LOST:
            raise ForeignError
        if fault is not None and not self._told:
            self._told = True
            raise HeaderError(fault)

    def _body(self, header: "_Header") -> bytes | None:
        self._lost, self._told = 0, False
        (length,) = header.lengths
        if length > MAX_BODY:
            for at in range(0, length, _DRAINED):
                wanted = min(_DRAINED, length - at)
                if len(self._source.read(wanted)) < wanted:
                    return None
            raise HeaderError(f"a message of {length} bytes is too long; the limit is {MAX_BODY}")
        body = self._source.read(length)
        if len(body) < length:
            return None
        if header.charset not in ("", "utf-8", "utf8"):
            raise HeaderError("messages must be in UTF-8")
        return body


class _Header:
    """The lines before a message; a length of -1 is none."""

    def __init__(self) -> None:
        self.lines = 0
        self.lengths: set[int] = set()
        self.charset = ""

    def take(self, line: bytes) -> bool:
        """Take over a line; returns whether it belongs to a header."""
        match = _LINE.fullmatch(line)
        if match is None:
            return False
        self.lines += 1
        name, value = match[1].lower(), match[2].strip()
        if name == b"content-length":
            self.lengths.add(int(value) if value.isdigit() and len(value) < _DIGITS else -1)
        elif name == b"content-type" and (found := _CHARSET.search(value)):
            self.charset = found[1].decode("ascii", "replace").lower()
        return True

    @property
    def fault(self) -> str | None:
        """What keeps the header from telling the length of a message."""
        if not self.lengths:
            return "the header must give a Content-Length"
        if -1 in self.lengths:
            return "the Content-Length must be a number of bytes"
        return "the header gives more than one Content-Length" if len(self.lengths) > 1 else None
