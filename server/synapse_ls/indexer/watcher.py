"""Watching the folders of a vault, each by itself and none that is ignored."""

import logging
import threading
from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path

from watchfiles._rust_notify import RustNotify

_LOG = logging.getLogger(__name__)

# A change is told after this long without another one, and at the latest after the second time.
_QUIET_MS = 50
_LATEST_MS = 400
# How soon a new watch takes over from the one before.
_TIMEOUT_MS = 200
_LAST_LOOK_MS = 10
_POLL_MS = 2_000
# Folders that go while they are being armed are left out; this often, then the arming fails.
_ATTEMPTS = 5


class Watcher:
    """Tells of changes in the armed folders; ``told`` gets absolute paths, in a thread of the watcher.

    Where the system cannot watch that many folders, they are looked at every two seconds instead; ``polling`` then
    says so.
    """

    def __init__(self, root: Path, told: Callable[[set[str]], None]) -> None:
        self._root = root
        self._told = told
        self._lock = threading.Lock()
        # The watch in force comes last; those before it have not told yet what they saw until it took over.
        self._watches: deque[RustNotify] = deque()
        self._armed = threading.Event()
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None
        self.polling = False

    def arm(self, folders: Iterable[str]) -> None:
        """Watch these folders (relative, "" is the root) instead of the former ones; from then on nothing is missed."""
        notify = self._made([self._root / folder for folder in folders])
        with self._lock:
            if self._closed.is_set():
                return
            self._watches.append(notify)
            self._armed.set()
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="synapse-watcher", daemon=True)
                self._thread.start()

    def close(self) -> None:
        """Stop watching."""
        with self._lock:
            self._closed.set()
            self._armed.set()
        if self._thread is not None:
            self._thread.join(timeout=2)

    def _made(self, folders: list[Path]) -> RustNotify:
        for _ in range(_ATTEMPTS):
            paths = [str(folder) for folder in folders if folder.is_dir()]
            try:
                self.polling = False
                return RustNotify(paths, False, False, _POLL_MS, False, True)
            except FileNotFoundError:
                continue  # gone since it was looked at
            except (OSError, RuntimeError) as error:
                _LOG.warning("cannot watch %d folders (%s); looking at them every 2 s instead", len(paths), error)
                self.polling = True
                return RustNotify(paths, False, True, _POLL_MS, False, True)
        raise OSError("the folders of the vault change too fast to be watched")

    def _run(self) -> None:
        self._armed.wait()
        while not self._closed.is_set():
            replaced = len(self._watches) > 1
            step, timeout = (_LAST_LOOK_MS, 1) if replaced else (_QUIET_MS, _TIMEOUT_MS)
            seen = self._watches[0].watch(_LATEST_MS, step, timeout, self._closed)
            if isinstance(seen, set) and not self._closed.is_set():
                self._told({path for _, path in seen})
            elif seen == "signal":
                return
            if replaced:
                self._watches.popleft()
