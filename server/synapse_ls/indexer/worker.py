"""The parsing child process: reads files, parses and cuts them at low priority, so that the server never does.

It runs ``main``; jobs come pickled on standard input, outcomes go to standard output in the same order, each after its
length (8 bytes, little-endian). It ends when its input does, so it never outlives its parent.
"""

import contextlib
import os
import pickle
import signal
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import BinaryIO

from synapse_ls.indexer.faults import passes
from synapse_ls.indexer.record import content_hash, note_record
from synapse_ls.store.records import FileStamp, NoteRecord

# Seconds until the child ends itself. Reading goes by the clock, for a network folder can hang; parsing by the time
# of the processor, which is little when the machine is busy and the child is of low priority.
READ_SECONDS = 30.0
PARSE_SECONDS = 60.0
# The bytes of an outcome's length.
LENGTH = 8
# A file that is written all the time is read this often; then what was read last has to do.
_READINGS = 4


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
    """The file is there but cannot be read or understood.

    If that is ``passing``, what the index holds of it is kept, and it should be tried again.
    """

    path: str
    reason: str
    passing: bool = False


Outcome = NoteRecord | Unchanged | Gone | Unreadable


# What ends the process if something lasts longer: (one of the signal module's timers, seconds) to a context.
Limit = Callable[[int, float], AbstractContextManager[None]]


def _unlimited(_timer: int, _seconds: float) -> AbstractContextManager[None]:
    return contextlib.nullcontext()


def outcome(job: Job, limit: Limit = _unlimited) -> Outcome:
    """Read a file and return what became of it.

    Content and stamp belong together: no stamp is newer than what was read, so that a walk finds what was written
    since.
    """
    try:
        with limit(signal.ITIMER_REAL, READ_SECONDS):
            read = _read(job)
        if read is None:
            return Gone(job.path)
        data, size, mtime_ns = read
        hash_ = content_hash(data, size)
        if hash_ == job.known:
            return Unchanged(job.path, FileStamp(size, mtime_ns, hash_))
        with limit(signal.ITIMER_VIRTUAL, PARSE_SECONDS):
            return note_record(job.path, data, mtime_ns, job.max_bytes, size)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return Gone(job.path)
    except OSError as error:
        return Unreadable(job.path, f"cannot be read ({error.strerror or error})", passes(error))
    except Exception as error:  # noqa: BLE001 - one note must never stop the others
        return Unreadable(job.path, f"cannot be parsed ({type(error).__name__}: {error})")


def serve(jobs: BinaryIO, outcomes: BinaryIO, limit: Limit = _unlimited) -> None:
    """Answer jobs until the input ends."""
    while True:
        try:
            job: Job = pickle.load(jobs)  # noqa: S301 - only our parent writes here
        except EOFError:
            return
        data = pickle.dumps(outcome(job, limit), pickle.HIGHEST_PROTOCOL)
        outcomes.write(len(data).to_bytes(LENGTH, "little") + data)
        outcomes.flush()


def main() -> None:
    """Serve standard input and output; a job that takes too long ends the process by SIGALRM or SIGVTALRM."""
    with contextlib.suppress(OSError, AttributeError):
        os.nice(10)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when to end
    for ending in (signal.SIGALRM, signal.SIGVTALRM):
        signal.signal(ending, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGALRM, signal.SIGVTALRM))
    outcomes = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    sys.stdout = sys.stderr
    with contextlib.suppress(BrokenPipeError):
        serve(sys.stdin.buffer, outcomes, _deadly)


@contextlib.contextmanager
def _deadly(timer: int, seconds: float) -> Iterator[None]:
    signal.setitimer(timer, seconds)
    try:
        yield
    finally:
        signal.setitimer(timer, 0)


def _read(job: Job) -> tuple[bytes, int, int] | None:
    """Return a file's first ``max_bytes`` bytes, its size and time (ns); None if what is there is no file."""
    if not stat.S_ISREG(os.stat(job.file).st_mode):  # noqa: PTH116 - a name as it was sent
        return None
    # Without waiting, if it becomes something else at this moment: a pipe that is called like a note has no end.
    file = os.open(job.file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    try:
        after = os.fstat(file)
        if not stat.S_ISREG(after.st_mode):
            return None
        for _ in range(_READINGS):
            before = after
            data = _beginning(file, job.max_bytes)
            after = os.fstat(file)
            if (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns):
                break
    finally:
        os.close(file)
    # Of a file that was read whole nothing else is believed: it may have been longer before.
    size = len(data) if len(data) < job.max_bytes else max(before.st_size, len(data))
    return data, size, before.st_mtime_ns


def _beginning(file: int, most: int) -> bytes:
    parts: list[bytes] = []
    length = 0
    while length < most and (part := os.pread(file, most - length, length)):
        parts.append(part)
        length += len(part)
    return b"".join(parts)
