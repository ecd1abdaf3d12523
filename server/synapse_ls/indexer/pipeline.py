"""The indexer: one thread that owns the writer connection and keeps the store equal to the disk.

Words first: files that changed are parsed in the child process and written. Vectors behind: while nothing else waits,
chunks without a vector are embedded. A change interrupts the embedding after the passages in work.
"""

import logging
import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from synapse_ls.core.config import Settings
from synapse_ls.core.model import Embedded
from synapse_ls.indexer import absence, record, walk, writing
from synapse_ls.indexer.change_queue import ChangeQueue, Changes
from synapse_ls.indexer.embedding import Embedding
from synapse_ls.indexer.parsing import ParserProcess
from synapse_ls.indexer.progress import Counters, Progress
from synapse_ls.indexer.watcher import Watcher
from synapse_ls.indexer.worker import Job, Outcome
from synapse_ls.links import dialects, resolver
from synapse_ls.store import links, meta, notes, vectors
from synapse_ls.store.database import Index
from synapse_ls.store.faults import fault_of

if TYPE_CHECKING:
    from synapse_ls.inference.pool import EmbeddingPool
    from synapse_ls.inference.registry import ModelSpec

_LOG = logging.getLogger(__name__)

_FILES_A_COMMIT = 200
_SECONDS_A_COMMIT = 0.5
SETTINGS_FILE = ".synapse.toml"
# After an error all is looked at again, sooner at first and then less often.
_RETRY_SECONDS = (2.0, 60.0)
# Beyond this many events in one burst the kernel may have dropped some without a word: everything is looked at.
_BURST = 500
# How often it is looked whether what was mounted still is, and what failed in a way that passes is tried again.
_LOOK_SECONDS = 15.0


def _nobody(_error: Exception) -> None:
    """Stand in for whoever is told of errors, once nobody is."""


class Indexer:
    """Keeps an index equal to a vault. ``changed`` is called after every commit and every step, in its thread.

    ``known`` gives vectors made elsewhere, by the input's key. ``stuck`` gets the error that ends the work: the index
    is damaged or cannot be written. ``configured`` is told of a changed settings file. ``counters`` are counted on.
    """

    def __init__(  # noqa: PLR0913 - what it keeps, of what, by which rules, and who is told
        self,
        index: Index,
        root: Path,
        settings: Settings,
        changed: Callable[[], None],
        *,
        watch: bool = True,
        known: Callable[[bytes], Embedded | None] = lambda _: None,
        stuck: Callable[[Exception], None] = lambda _: None,
        configured: Callable[[], None] = lambda: None,
        counters: Counters | None = None,
    ) -> None:
        self.progress = Progress()
        self.counters = counters or Counters()
        # Whether the index has ended the work: it is damaged or cannot be written, which was reported.
        self.ended = False
        self._error: str | None = None
        self._index = index
        self._root = root
        self._settings = settings
        self._changed = changed
        self._stuck = stuck
        self._configured = configured
        self._queue = ChangeQueue()
        self._closing = threading.Event()
        self._parser = ParserProcess(self._closing.is_set)
        self._watcher = Watcher(root, self._seen) if watch else None
        self._folders: set[str] = set()
        self._embedding = Embedding(index, self.counters, known)
        self._failures = 0
        # Files to read again: those of a step until it is done, and those that failed in a way that passes.
        self._again: set[str] = set()
        self._failed: set[str] = set()
        # What was last seen of the vault's folders: what the index remembers, and what is there and watched.
        self._places: absence.Places | None = None
        self._here: absence.Places | None = None
        self._away: frozenset[str] = frozenset()
        self._thread = threading.Thread(target=self._run, name="synapse-indexer", daemon=True)

    def start(self) -> None:
        """Begin with a walk over the vault."""
        self._queue.add(folders=[""])
        self._thread.start()

    def close(self) -> None:
        """Stop after the step in work; what is committed stays, the rest is taken up by the next start."""
        self._closing.set()
        self._queue.close()
        if self._watcher is not None:
            self._watcher.close()
        if self._thread.is_alive():
            self._thread.join()
        self._parser.close()
        # These hold it in turn, and what is closed must not wait for a search for garbage.
        self._stuck, self._watcher = _nobody, None

    def attach(self, pool: "EmbeddingPool", spec: "ModelSpec") -> None:
        """Give the indexer an embedder; vectors follow from now on."""
        self._embedding.attach(pool, spec)
        self._queue.wake()

    def detach(self) -> None:
        """Make no vectors any more; returns when the embedder is not used."""
        self._embedding.detach()

    def submit(self, files: Iterable[str] = (), folders: Iterable[str] = ()) -> None:
        """Tell of files or folders (relative, "" is all) that may have changed."""
        self._queue.add(filter(walk.possible, files), filter(walk.possible, folders))
        self._changed()

    def prefer(self, paths: Iterable[str]) -> None:
        """Embed the passages of these notes before all others."""
        self._embedding.prefer(paths)

    def retry(self) -> None:
        """Try again what could not be embedded."""
        self._embedding.retry()
        self.submit(folders=[""])

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until nothing is left to do; returns False if that took longer than ``timeout`` seconds."""
        return self._queue.wait_idle(timeout)

    @property
    def current(self) -> bool:
        """Whether words are current and no vector is missing that could be made."""
        return self.progress.words_ready and self._error is None and self.wait(0)

    @property
    def error(self) -> str | None:
        """What went wrong last and is not yet mended."""
        return self._error or self._embedding.error

    @property
    def files_pending(self) -> int:
        """How many files are queued or in work; at least 1 while a walk is due."""
        return len(self._queue) + self.progress.files_left

    @property
    def polling(self) -> bool:
        """Whether changes are looked for every two seconds because the system cannot watch the folders."""
        return self._watcher is not None and self._watcher.polling

    def _run(self) -> None:
        try:
            self._begin()
        except Exception as error:  # noqa: BLE001 - told in the status; the server goes on
            self.ended = True
            self._fail("the index cannot be written", error)
            self._queue.close()
            self._stuck(error)
            return
        busy = False
        while not self._closing.is_set():
            try:
                changes = self._queue.take(wait=not busy, timeout=self._until_retry())
                # What was taken before an error is not known to be written.
                files = tuple(dict.fromkeys((*changes.files, *self._again)))
                folders = ("",) if self._failures else (*changes.folders, *self._moved())
                changes = Changes(files, folders)
                self._again = set(files)
                if changes.folders or changes.files:
                    self._bring_up_to_date(changes)
                busy = self._embedding.step(self._interrupted)
                self._failures = 0
            except Exception as error:  # noqa: BLE001 - told in the status; the server goes on
                self._failures += 1
                self.ended = fault_of(error) in ("ruined", "unwritable")
                self._fail("indexing stopped and will be tried again soon", error)
                busy = False
                if self.ended:
                    self._queue.close()
                    self._stuck(error)
                    return
            if not busy:
                self._changed()

    def _until_retry(self) -> float | None:
        """Return after how many seconds to try again what failed; None if nothing did."""
        first, longest = _RETRY_SECONDS
        after = [min(longest, first * 2.0 ** min(self._failures - 1, 10))] if self._failures else []
        embedding = self._embedding.until_retry()
        look = [_LOOK_SECONDS] if self._again or (self._places is not None and self._places.mounts) else []
        return min([*after, *look, *([] if embedding is None else [embedding])], default=None)

    def _bring_up_to_date(self, changes: Changes) -> None:
        self.progress.files_left = max(1, len(changes.files))
        self._failed = set()
        files, folders = self._sorted(changes)
        # Before the walks: what was told of is read whatever its stamp says, and read once.
        self._update(self._root_files(files))
        for folder in folders:
            self._rescan(folder)
        found = [walk.attachment(self._root, path, self._settings.index) for path in files]
        self._put_attachments(found, links.sizes(self._index.writer, files))
        self.progress.files_left = 0
        if not self.progress.words_ready and not self._closing.is_set():
            with self._index.write() as db:
                meta.put(db, "words", "complete")
            self.progress.words_ready = True
        self._again = self._failed
        self._error = None
        self._changed()

    def _sorted(self, changes: Changes) -> tuple[list[str], list[str]]:
        """Return what was told of as (files, folders).

        A folder may be called like a note, and a path may have been one and become the other: then it is both.
        """
        told = [path for path in dict.fromkeys((*changes.files, *changes.folders)) if path]
        now = {path for path in told if os.path.isdir(self._root / path)}  # noqa: PTH112 - no folder if it cannot be told
        held = links.sizes(self._index.writer, told)
        extensions = self._settings.index.extensions
        files = [path for path in told if path not in now or path in held or path.lower().endswith(extensions)]
        return files, [*changes.folders, *(p for p in changes.files if p in now or p in self._folders)]

    def _moved(self) -> frozenset[str]:
        """Return the folders that were mounted or unmounted since the last walk: the watcher is not told of that."""
        away = absence.away_now(self._root, self._places)
        return away ^ self._away if "" not in away else frozenset(("",))

    def _begin(self) -> None:
        with self._index.write() as db:
            if meta.get(db, "rules") is None:
                meta.put(db, "rules", record.VERSION)
            settings = repr(self._settings.index)
            if meta.get(db, "settings") != settings:
                # Other settings make other notes of the same bytes: forget what tells that a file is unchanged.
                notes.forget_stamps(db)
                meta.put(db, "settings", settings)
            vectors.retry_failed(db)
            self._places = absence.from_text(meta.get(db, "places"))
        self._choose_dialect()

    def _choose_dialect(self) -> None:
        """Find out how links are written here; all are resolved anew if that is not what it was."""
        with self._index.write() as db:
            dialect = dialects.choose(db, self._root, self._settings.links.dialect)
            if resolver.speak(db, dialect):
                meta.bump_generation(db)

    def _fail(self, what: str, error: Exception) -> None:
        said = f"{what}: {error}"
        if said != self._error:
            _LOG.error("%s", said)
            _LOG.debug("where it happened", exc_info=error)
        self._error = said
        self.progress.files_left = 0
        self._changed()

    # -- changes seen

    def _seen(self, absolute: set[str]) -> None:
        """Sort what the watcher saw into files and folders."""
        if len(absolute) > _BURST:
            self.submit(folders=[""])  # and the files below: a walk does not see every edit
        files: list[str] = []
        folders: list[str] = []
        for path in absolute:
            relative = os.path.relpath(path, self._root).replace(os.sep, "/")
            if relative.startswith(".."):
                continue
            parent, _, name = relative.rpartition("/")
            if relative == SETTINGS_FILE:
                self._configured()
            elif relative == "." or name in walk.IGNORE_FILES:
                folders.append("" if relative == "." else parent)
            elif name.lower().endswith(self._settings.index.extensions) and not os.path.isdir(path):  # noqa: PTH112 - a stat, often
                files.append(relative)
            elif relative in self._folders or (not name.startswith(".") and os.path.isdir(path)):  # noqa: PTH112 - as above
                folders.append(relative)
            elif not name.startswith("."):
                files.append(relative)
        if files or folders:
            self.submit(files, folders)

    def _root_files(self, files: list[str]) -> list[tuple[str, bytes | None]]:
        """Return (path, known hash) of those files that belong to the vault; the others leave the index."""
        if not self._root.is_dir():
            raise OSError(f"the vault {self._root} is not there; its index is kept")
        away = absence.away_now(self._root, self._places)
        if "" in away:
            raise OSError(absence.sentence(self._root))
        closed = tuple(f"{folder}/" for folder in away)
        files = [path for path in files if not path.startswith(closed) or (self._root / path).exists()]
        belonging: list[tuple[str, bytes | None]] = []
        leaving: list[str] = []
        for path in files:
            belongs = walk.belongs(self._root, path, self._settings.index)
            stamp = notes.stamp(self._index.writer, path)
            if belongs:
                belonging.append((path, None if stamp is None else stamp.hash))
            elif stamp is not None:
                leaving.append(path)
        self._forget(sorted(leaving))
        return belonging

    def _rescan(self, folder: str) -> None:
        """Walk a folder and bring what differs up to date; watch the folders that are there now."""
        if not self._root.is_dir():
            raise OSError(f"the vault {self._root} is not there; its index is kept")
        scan = walk.walk(self._root, self._settings.index, folder, self._closing.is_set)
        if self._closing.is_set():
            return
        outside = {f for f in self._folders if folder and f != folder and not f.startswith(f"{folder}/")}
        folders = outside | set(scan.folders)
        # What is mounted or put in the place of a folder is another folder of the same name.
        here = absence.remember(self._here, scan, ())
        if self._watcher is not None and (folders != self._folders or here != self._here):
            self._watcher.arm(sorted(folders))
            # What changed between the walk and the watch is found by one more look.
            scan = walk.walk(self._root, self._settings.index, folder, self._closing.is_set)
            if self._closing.is_set():
                return
        self._folders, self._here = folders, here
        known = notes.stamps(self._index.writer, folder)
        held = links.attachments(self._index.writer, folder)
        away = absence.away(self._places, scan, [*known, *held])
        if "" in away:
            raise OSError(absence.sentence(self._root))
        seen = {found.path for found in scan.notes}
        closed = tuple(f"{path}/" for path in (*scan.unreadable, *away))
        gone = [p for p in known if p not in seen and not p.startswith(closed) and p not in scan.unreadable]
        changed = [
            (found.path, known[found.path].hash if found.path in known else None)
            for found in scan.notes
            if found.path not in known
            or (known[found.path].size, known[found.path].mtime_ns) != (found.size, found.mtime_ns)
        ]
        with self._index.write() as db:
            notes.replace_skipped(db, folder, scan.unreadable | dict.fromkeys(away, absence.AWAY))
        self._put_attachments(scan.attachments, {p: size for p, size in held.items() if not p.startswith(closed)})
        # New names first: a moved note finds its vectors still alive.
        self._update(changed)
        self._forget(gone)
        # Last: a crash before leaves the former places, by which less is deleted.
        places = absence.remember(self._places, scan, away)
        if places != self._places:
            with self._index.write() as db:
                meta.put(db, "places", absence.to_text(places))
            self._places = places
        self._away = absence.away_now(self._root, places)
        if not folder:
            self._choose_dialect()

    # -- words

    def _update(self, files: list[tuple[str, bytes | None]]) -> None:
        """Read files and write what changed, in commits of bounded size and time."""
        if not files:
            return
        self.progress.files_total = self.progress.files_left = len(files)
        limit = self._settings.index.max_file_kib * 1024
        jobs = (Job(path, str(self._root / path), known, limit) for path, known in files)
        batch: list[Outcome] = []
        since = time.monotonic()
        for outcome in self._parser.parse(jobs):
            if self._closing.is_set():
                break
            self.counters.files_read += 1
            batch.append(outcome)
            if len(batch) >= _FILES_A_COMMIT or time.monotonic() - since > _SECONDS_A_COMMIT:
                self._commit(batch)
                batch = []
                since = time.monotonic()
        self._commit(batch)

    def _commit(self, batch: list[Outcome]) -> None:
        if batch:
            self._failed |= writing.outcomes(self._index, batch, self.counters)
            self.progress.files_left = max(1, self.progress.files_left - len(batch))
            self._changed()

    def _put_attachments(self, found: Iterable[walk.Found | None], known: Mapping[str, int]) -> None:
        if writing.attachments(self._index, found, known):
            self._changed()

    def _forget(self, paths: list[str]) -> None:
        for start in range(0, len(paths), _FILES_A_COMMIT):
            if self._closing.is_set():
                return
            writing.forget(self._index, paths[start : start + _FILES_A_COMMIT])
            self._changed()

    # -- vectors

    def _interrupted(self) -> bool:
        return self._closing.is_set() or len(self._queue) > 0
