"""The parsing child process: reads files, parses and cuts them at low priority, so that the server never does.

It runs ``main``; jobs come pickled on standard input, outcomes go to standard output in the same order. It ends when
its input does, so it never outlives its parent.
"""

import contextlib
import os
import pickle
import signal
import stat
import sys
from dataclasses import dataclass
from typing import BinaryIO

from synapse_ls.indexer.record import content_hash, note_record
from synapse_ls.store.records import FileStamp, NoteRecord


@dataclass(frozen=True, slots=True)
class Job:
    """A file to read: ``known`` is the hash of what the index holds of it."""

    path: str
    file: str
    known: bytes | None
    max_bytes: int


@dataclass(frozen=True, slots=True)
class Unchanged:
    """The file's bytes are those that the index holds."""

    path: str
    stamp: FileStamp


@dataclass(frozen=True, slots=True)
class Gone:
    """There is no such file, or what is there is no file."""

    path: str


@dataclass(frozen=True, slots=True)
class Unreadable:
    """The file is there but cannot be read or understood."""

    path: str
    reason: str


Outcome = NoteRecord | Unchanged | Gone | Unreadable


def outcome(job: Job) -> Outcome:
    """Read a file and return what became of it."""
    try:
        # Without waiting: a pipe that is called like a note has no end.
        with os.fdopen(os.open(job.file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                return Gone(job.path)
            data = file.read(job.max_bytes)
        size = max(status.st_size, len(data))
        hash_ = content_hash(data, size)
        if hash_ == job.known:
            return Unchanged(job.path, FileStamp(size, status.st_mtime_ns, hash_))
        return note_record(job.path, data, status.st_mtime_ns, job.max_bytes, size)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return Gone(job.path)
    except OSError as error:
        return Unreadable(job.path, f"cannot be read ({error.strerror or error})")
    except Exception as error:  # noqa: BLE001 - one note must never stop the others
        return Unreadable(job.path, f"cannot be parsed ({type(error).__name__}: {error})")


def serve(jobs: BinaryIO, outcomes: BinaryIO) -> None:
    """Answer jobs until the input ends."""
    while True:
        try:
            job: Job = pickle.load(jobs)  # noqa: S301 - only our parent writes here
        except EOFError:
            return
        pickle.dump(outcome(job), outcomes, pickle.HIGHEST_PROTOCOL)
        outcomes.flush()


def main() -> None:
    """Serve standard input and output."""
    with contextlib.suppress(OSError, AttributeError):
        os.nice(10)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when to end
    outcomes = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    sys.stdout = sys.stderr
    with contextlib.suppress(BrokenPipeError):
        serve(sys.stdin.buffer, outcomes)
