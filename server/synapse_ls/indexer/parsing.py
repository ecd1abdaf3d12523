"""The parent's side of the parsing child process."""

import os
import pickle
import subprocess
import sys
from collections import deque
from collections.abc import Iterable, Iterator

from synapse_ls.indexer.worker import Job, Outcome, Unreadable

# Jobs on their way at once: enough to keep the child busy, few enough that the pipe never fills up.
_AHEAD = 16
_ATTEMPTS = 2
_COMMAND = "from synapse_ls.indexer.worker import main; main()"


class ParserProcess:
    """Parses files in one low-priority child process, started when first needed and again if it dies."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def parse(self, jobs: Iterable[Job]) -> Iterator[Outcome]:
        """Yield the outcome of each job in order. A file that kills the child twice comes out unreadable."""
        waiting = deque((job, 0) for job in jobs)
        sent: deque[tuple[Job, int]] = deque()
        try:
            yield from self._outcomes(waiting, sent)
        finally:
            if sent:  # left early: what is still on its way belongs to nobody
                self.close()

    def _outcomes(self, waiting: deque[tuple[Job, int]], sent: deque[tuple[Job, int]]) -> Iterator[Outcome]:
        while waiting or sent:
            try:
                process = self._running()
                while waiting and len(sent) < _AHEAD:
                    self._send(process, waiting[0][0])
                    sent.append(waiting.popleft())
                outcome = self._receive(process)
            except (OSError, EOFError, pickle.UnpicklingError):
                self.close()
                culprit, attempts = sent.popleft() if sent else waiting.popleft()
                waiting.extendleft(reversed(sent))
                sent.clear()
                if attempts + 1 < _ATTEMPTS:
                    waiting.appendleft((culprit, attempts + 1))
                else:
                    yield Unreadable(culprit.path, "the parser stopped at this note")
                continue
            sent.popleft()
            yield outcome

    def close(self) -> None:
        """End the child, if there is one."""
        process, self._process = self._process, None
        if process is None:
            return
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except OSError:
                    continue  # the child is gone; nothing is left to flush to it
        try:
            process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            # Isolated: nothing may be imported from the current folder, which may be a vault, nor by way of the
            # environment. Not -m: what the child sends has to bear the module's own name.
            paths = [path for path in sys.path if os.path.isabs(path)]  # noqa: PTH117 - entries are texts
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and our own words
                [sys.executable, "-I", "-c", f"import sys; sys.path[:] = {paths!r}; {_COMMAND}"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
        return self._process

    def _send(self, process: subprocess.Popen[bytes], job: Job) -> None:
        assert process.stdin is not None  # noqa: S101 - opened as a pipe above
        pickle.dump(job, process.stdin, pickle.HIGHEST_PROTOCOL)
        process.stdin.flush()

    def _receive(self, process: subprocess.Popen[bytes]) -> Outcome:
        assert process.stdout is not None  # noqa: S101 - opened as a pipe above
        outcome: Outcome = pickle.load(process.stdout)  # noqa: S301 - only our child writes here
        return outcome
