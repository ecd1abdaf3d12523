"""Watching the folders of a vault, each by itself and none that is ignored."""

import logging
import threading
from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path

from watchfiles._rust_notify import RustNotify

from synapse_ls.indexer.sweep import Sweep

_LOG = logging.getLogger(__name__)

# A change is told after this long without another one, and at the latest after the second time.
_QUIET_MS = 50
_LATEST_MS = 400
# How soon a new watch takes over from the one before.
_TIMEOUT_MS = 200
_LAST_LOOK_MS = 10
_POLL_SECONDS = 2.0
# A watch that failed is armed again after this time.
_AGAIN_SECONDS = 1.0
# Folders that go while they are being armed are left out; this often, then the arming fails.
_ATTEMPTS = 5


class Watcher:
    """Tells of changes in the armed folders; ``told`` gets absolute paths, in a thread of the watcher.

    Where the system cannot watch that many folders, they are looked at every two seconds instead; ``polling`` then
    says so. A watch that fails is armed again, and the root is told, since what happened meanwhile is not known;
    until then ``error`` says so.
    """

    def __init__(self, root: Path, told: Callable[[set[str]], None]) -> None:
        self._root = root
        self._told = told
        self._lock = threading.Lock()
        # The watch in force comes last; those before it have not told yet what they saw until it took over.
        self._watches: deque[RustNotify | Sweep] = deque()
        self._folders: list[str] = []
        self._armed = threading.Event()
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None
        self.polling = False
        self.error: str | None = None

    def arm(self, folders: Iterable[str]) -> None:
        """Watch these folders (relative, "" is the root) instead of the former ones; from then on nothing is missed."""
        wanted = list(folders)
        watch = self._made(wanted)
        with self._lock:
            if self._closed.is_set():
                return
            self._folders = wanted
            self._watches.append(watch)
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
        self._watches.clear()

    def _made(self, folders: list[str]) -> RustNotify | Sweep:
        for _ in range(_ATTEMPTS):
            paths = [str(place) for folder in folders if (place := self._root / folder).is_dir()]
            try:
                watch = RustNotify(paths, False, False, 0, False, True)
            except FileNotFoundError:
                continue  # gone since it was looked at
            except (OSError, RuntimeError) as error:
                if not self.polling:
                    _LOG.warning("cannot watch %d folders (%s); looking at them every 2 s instead", len(paths), error)
                self.polling = True
                return Sweep(paths, _POLL_SECONDS)
            self.polling = False
            return watch
        raise OSError("the folders of the vault change too fast to be watched")

    def _run(self) -> None:
        self._armed.wait()
        while not self._closed.is_set():
            try:
                self._look()
            except Exception as error:  # noqa: BLE001 - a watcher that ended would leave the answers stale, without a word
                self.error = f"changes are not seen for now ({error}); the folders are watched again soon"
                _LOG.warning("watching failed (%s); the folders are watched again soon", error)
                self._closed.wait(_AGAIN_SECONDS)
                self._arm_again()

    def _look(self) -> None:
        """Wait a little for changes, and tell them."""
        watch, replaced = self._watches[0], len(self._watches) > 1
        paths: set[str] = set()
        if isinstance(watch, Sweep):
            if replaced or watch.due():
                paths = watch.changed()
            else:
                self._closed.wait(_TIMEOUT_MS / 1000)
        else:
            step, timeout = (_LAST_LOOK_MS, 1) if replaced else (_QUIET_MS, _TIMEOUT_MS)
            seen = watch.watch(_LATEST_MS, step, timeout, self._closed)
            if isinstance(seen, set):
                paths = {path for _, path in seen}
        if paths and not self._closed.is_set():
            self._told(paths)
        if replaced:
            self._watches.popleft()

    def _arm_again(self) -> None:
        """Watch the same folders anew in place of a watch that failed, unless others were armed meanwhile."""
        folders = self._folders
        try:
            watch = self._made(folders)
        except OSError:
            return  # the old watch fails once more, and so on
        with self._lock:
            if folders is self._folders:
                self._watches = deque([watch])
            elif len(self._watches) > 1:
                self._watches.popleft()
        self.error = None
        if not self._closed.is_set():
            self._told({str(self._root)})
