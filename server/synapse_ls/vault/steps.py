"""Steps done one after the other in a thread of their own, whoever asks for them."""

import queue
import threading
import time
from collections.abc import Callable

# How often a condition is looked at that nobody tells of.
_LOOK_SECONDS = 0.05


class Steps:
    """Runs what is asked for in order, and ``idle`` when nothing was for as many seconds as ``pause()`` says.

    An error goes to ``failed`` and ends only the step. ``done`` is called after each step, and where ``idle`` says that
    it has done something.
    """

    def __init__(
        self,
        idle: Callable[[], bool],
        pause: Callable[[], float | None],
        failed: Callable[[Exception], None],
        done: Callable[[], None],
    ) -> None:
        self._idle = idle
        self._pause = pause
        self._failed = failed
        self._done = done
        self._asked: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._waiting = 0
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="synapse-keeper", daemon=True)
        self.closing = False

    @property
    def here(self) -> bool:
        """Whether this is the thread of the steps, which cannot wait for a step."""
        return threading.current_thread() is self._thread

    def start(self) -> None:
        """Begin with what has been asked for so far."""
        self._thread.start()

    def close(self) -> None:
        """End after the step in work; what is asked for is not done any more."""
        self.closing = True
        if self._thread.is_alive():
            self.ask(lambda: None)
            self._thread.join()

    def ask(self, step: Callable[[], None]) -> None:
        """Have a step done."""
        with self._changed:
            self._waiting += 1
        self._asked.put(step)

    def ask_and_wait(self, step: Callable[[], None]) -> None:
        """Have a step done and wait for it."""
        done = threading.Event()

        def and_tell() -> None:
            try:
                step()
            finally:
                done.set()

        self.ask(and_tell)
        while not done.wait(_LOOK_SECONDS) and self._thread.is_alive():
            continue

    def wait_until(self, holds: Callable[[], bool], timeout: float | None) -> bool:
        """Wait until no step is left to do and ``holds()``; returns False if that took longer than ``timeout``."""
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            pause = _LOOK_SECONDS if end is None else max(0.0, min(_LOOK_SECONDS, end - time.monotonic()))
            with self._changed:
                if self._changed.wait_for(lambda: self.closing or (not self._waiting and holds()), pause):
                    return True
            if end is not None and time.monotonic() >= end:
                return False

    def tell(self) -> None:
        """Have those who wait look again."""
        with self._changed:
            self._changed.notify_all()

    def _run(self) -> None:
        while not self.closing:
            try:
                step = self._asked.get(timeout=self._pause())
            except queue.Empty:
                step = None
                with self._changed:
                    self._waiting += 1
            something = True
            if not self.closing:
                try:
                    if step is None:
                        something = self._idle()
                    else:
                        step()
                except Exception as error:  # noqa: BLE001 - whoever keeps the steps tells of it
                    self._failed(error)
            with self._changed:
                self._waiting -= 1
                self._changed.notify_all()
            if something:
                self._done()
