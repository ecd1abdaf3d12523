"""The parent's side of the parsing child process."""

import contextlib
import os
import pickle
import select
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from synapse_ls.indexer.worker import LENGTH, READ_SECONDS, Gone, Job, Outcome, Unchanged, Unreadable
from synapse_ls.store.records import NoteRecord

# Jobs on their way at once: enough to keep the child busy. Their bytes are fewer than any pipe holds, so that sending
# never waits for a child that waits for its outcomes to be read.
_AHEAD = 16
_BYTES_AHEAD = 8_192
_ATTEMPTS = 2
# The child ends itself when a note takes too long; this is for one that cannot, since it was stopped.
_PATIENCE = 180.0
# How often it is asked whether to go on.
_LOOK_SECONDS = 0.2
# How long a child may take to end when it is told to, and when it is made to.
_END_SECONDS = 1.0
_KILL_SECONDS = 5.0
# No outcome of a note of the greatest size is longer.
_LONGEST = 1 << 31
_COMMAND = "from synapse_ls.indexer.worker import main; main()"


@dataclass(frozen=True, slots=True)
class _Sent:
    """A job on its way, how often it was tried before, and how many bytes it takes."""

    job: Job
    attempts: int
    size: int


class ParserProcess:
    """Parses files in one low-priority child process, started when first needed and again if it dies.

    ``parse`` and ``close`` belong to one thread. A parse ends early, within a moment, once ``cancelled`` says so.
    """

    def __init__(self, cancelled: Callable[[], bool] = lambda: False) -> None:
        self._cancelled = cancelled
        self._process: subprocess.Popen[bytes] | None = None

    def parse(self, jobs: Iterable[Job]) -> Iterator[Outcome]:
        """Yield the outcome of each job in order.

        A file that ends the child twice comes out unreadable; one whose reading hung does so at once, as passing.
        """
        waiting = deque((job, 0) for job in jobs)
        sent: deque[_Sent] = deque()
        try:
            yield from self._outcomes(waiting, sent)
        finally:
            if sent:  # left early: what is still on its way belongs to nobody
                self._end(kill=True)

    def close(self) -> None:
        """End the child, if there is one."""
        with contextlib.suppress(OSError):
            self._end(kill=False)

    def _outcomes(self, waiting: deque[tuple[Job, int]], sent: deque[_Sent]) -> Iterator[Outcome]:
        while (waiting or sent) and not self._cancelled():
            try:
                process = self._running()
                _send(process, waiting, sent)
                outcome = self._receive(process, sent[0].job)
            except (OSError, EOFError, ValueError):
                ending = self._end(kill=True)
                waiting.extendleft((job.job, job.attempts) for job in reversed(sent))
                sent.clear()
                culprit, attempts = waiting.popleft()
                if ending == -signal.SIGALRM:
                    reason = f"cannot be read (no answer within {READ_SECONDS:.0f} seconds)"
                    yield Unreadable(culprit.path, reason, passing=True)
                elif attempts + 1 < _ATTEMPTS:
                    waiting.appendleft((culprit, attempts + 1))
                else:
                    yield Unreadable(culprit.path, "the parser stopped at this note")
                continue
            if outcome is None:
                return
            sent.popleft()
            yield outcome

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            # Isolated: nothing may be imported from the current folder, which may be a vault, nor by way of the
            # environment. Not -m: what the child sends has to bear the module's own name.
            paths = [path for path in sys.path if os.path.isabs(path)]  # noqa: PTH117 - entries are texts
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and our own words
                [sys.executable, "-I", "-c", f"import sys; sys.path[:] = {paths!r}; {_COMMAND}"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                bufsize=0,
            )
        return self._process

    def _receive(self, process: subprocess.Popen[bytes], job: Job) -> Outcome | None:
        """Return the outcome of a job, None if it is no longer wanted; ValueError if what comes is none."""
        assert process.stdout is not None  # noqa: S101 - opened as a pipe above
        end = time.monotonic() + _PATIENCE
        header = self._bytes(process.stdout.fileno(), LENGTH, end)
        if header is None:
            return None
        length = int.from_bytes(header, "little")
        if length > _LONGEST:
            raise ValueError("this is no length")
        data = self._bytes(process.stdout.fileno(), length, end)
        if data is None:
            return None
        try:
            outcome = pickle.loads(data)  # noqa: S301 - only our child writes here
        except Exception as error:  # garbage fails in every way there is
            raise ValueError("this is no outcome") from error
        if not isinstance(outcome, NoteRecord | Unchanged | Gone | Unreadable) or outcome.path != job.path:
            raise ValueError("this is the outcome of nothing that was asked for")
        return outcome

    def _bytes(self, pipe: int, count: int, end: float) -> bytes | None:
        """Read so many bytes; None if they are no longer wanted. Raises EOFError, and TimeoutError after ``end``."""
        poll = select.poll()
        poll.register(pipe, select.POLLIN)
        read = bytearray()
        while len(read) < count:
            if not poll.poll(_LOOK_SECONDS * 1000):
                if self._cancelled():
                    return None
                if time.monotonic() > end:
                    raise TimeoutError("the parser does not answer")
                continue
            part = os.read(pipe, min(count - len(read), 1 << 20))
            if not part:
                raise EOFError("the parser ended")
            read += part
        return bytes(read)

    def _end(self, *, kill: bool) -> int | None:
        """End the child and return how it ended; None if there was none.

        Raises OSError if the system does not let it end: there is never a second one beside it.
        """
        process = self._process
        if process is None:
            return None
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()
        if kill:
            process.kill()  # if it still lives: an ended one keeps its own way of ending
        else:
            try:
                process.wait(_END_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
        try:
            ending = process.wait(_KILL_SECONDS)
        except subprocess.TimeoutExpired as error:
            raise OSError("a file that hangs holds the parser up; it is tried again") from error
        self._process = None
        return ending


def _send(process: subprocess.Popen[bytes], waiting: deque[tuple[Job, int]], sent: deque[_Sent]) -> None:
    """Send as many of the jobs that wait as can be sent without waiting."""
    assert process.stdin is not None  # noqa: S101 - opened as a pipe above
    on_their_way = sum(job.size for job in sent)
    while waiting and len(sent) < _AHEAD:
        job, attempts = waiting[0]
        data = pickle.dumps(job, pickle.HIGHEST_PROTOCOL)
        if sent and on_their_way + len(data) > _BYTES_AHEAD:
            return
        waiting.popleft()
        sent.append(_Sent(job, attempts, len(data)))
        on_their_way += len(data)
        while data:
            data = data[os.write(process.stdin.fileno(), data) :]
