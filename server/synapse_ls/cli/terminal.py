"""The standard streams: any text goes out, whatever the terminal can show, and no stream can stop a command."""

import io
import json
import logging
import os
import sys
from contextlib import suppress


def prepare() -> None:
    """Let the standard streams take any text; those that are closed lead nowhere.

    What a stream cannot show is replaced. A closed one would leave its number to the next file that is opened, which
    might be the index.
    """
    handle = os.open(os.devnull, os.O_RDWR)
    while handle <= 2:  # noqa: PLR2004 - the number of standard error
        handle = os.open(os.devnull, os.O_RDWR)
    os.close(handle)
    sys.stdin = sys.stdin or os.fdopen(0, "r")
    sys.stdout = sys.stdout or os.fdopen(1, "w")
    sys.stderr = sys.stderr or os.fdopen(2, "w")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def finish(code: int) -> int:
    """Write out what is still held back and return the exit code: 2 in place of 0 if that failed."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _drop_output()
    except OSError as error:
        _drop_output()
        if code == 0:
            say(f"the answer cannot be written ({error.strerror or error})")
            return 2
    return code


def say(sentence: str) -> None:
    """Tell the user something beside the answer, in one line."""
    with suppress(OSError):
        print(_line(sentence), file=sys.stderr)


def print_json(value: object) -> None:
    """Print one JSON document, escaped where the output cannot show every character."""
    print(json.dumps(value, ensure_ascii=not shows_everything(), indent=2))


def shows_everything() -> bool:
    """Return whether standard output takes every character."""
    return sys.stdout.encoding.lower().replace("-", "") == "utf8"


class OneLine(logging.Formatter):
    """Formats a record of the log for a terminal: one line, without the trace of an error."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        return _line(record.getMessage())


def _line(text: str) -> str:
    return f"synapse-ls: {' '.join(text.splitlines())}"


def _drop_output() -> None:
    """Lead standard output nowhere: the interpreter would complain of it once more in the end."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
