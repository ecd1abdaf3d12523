"""Watching the folders of a vault, each by itself and none that is ignored."""

import logging
import threading
from collections.abc import Callable, Iterable
from pathlib import Path

from watchfiles._rust_notify import RustNotify

_LOG = logging.getLogger(__name__)

# A change is told after this long without another one, and at the latest after the second time.
_QUIET_MS = 50
_LATEST_MS = 400
_TIMEOUT_MS = 60_000
_POLL_MS = 2_000


class Watcher:
    """Tells of changes in the armed folders; ``told`` gets absolute paths, in a thread of the watcher.

    Where the system cannot watch that many folders, they are looked at every two seconds instead; ``polling`` then
    says so.
    """

    def __init__(self, root: Path, told: Callable[[set[str]], None]) -> None:
        self._root = root
        self._told = told
        self._lock = threading.Lock()
        self._notify: RustNotify | None = None
        self._again = threading.Event()
        self._closed = False
        self._thread: threading.Thread | None = None
        self.polling = False

    def arm(self, folders: Iterable[str]) -> None:
        """Watch these folders (relative, "" is the root) instead of the former ones; from then on nothing is missed."""
        paths = [str(self._root / folder) for folder in folders if (self._root / folder).is_dir()]
        notify = self._made(paths) if paths else None
        with self._lock:
            if self._closed:
                return
            self._notify = notify
            self._again.set()
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="synapse-watcher", daemon=True)
                self._thread.start()

    def close(self) -> None:
        """Stop watching."""
        with self._lock:
            self._closed = True
            self._again.set()
        if self._thread is not None:
            self._thread.join(timeout=2)

    def _made(self, paths: list[str]) -> RustNotify:
        try:
            notify = RustNotify(paths, False, False, _POLL_MS, False, True)
        except (OSError, RuntimeError) as error:
            _LOG.warning("cannot watch %d folders (%s); looking at them every 2 s instead", len(paths), error)
            self.polling = True
            return RustNotify(paths, False, True, _POLL_MS, False, True)
        self.polling = False
        return notify

    def _run(self) -> None:
        while True:
            self._again.clear()
            with self._lock:
                if self._closed:
                    return
                notify = self._notify
            if notify is None:
                self._again.wait()
                continue
            seen = notify.watch(_LATEST_MS, _QUIET_MS, _TIMEOUT_MS, self._again)
            if isinstance(seen, set) and seen:
                self._told({path for _, path in seen})
            elif seen == "signal":
                return
