"""Which index of a vault is in use, who writes it, and what comes in its place.

All that changes this happens in one thread of its own, one step after the other, whoever asks for it.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from synapse_ls.core.config import Settings
from synapse_ls.core.errors import IndexStateError
from synapse_ls.core.model import Embedded
from synapse_ls.indexer import record
from synapse_ls.indexer.pipeline import Indexer
from synapse_ls.indexer.progress import Counters
from synapse_ls.store import database, files, meta, notes
from synapse_ls.store.database import Connection, Index
from synapse_ls.store.faults import (
    IndexClosedError,
    IndexFormatError,
    IndexLostError,
    IndexRuinedError,
    IndexUnwritableError,
    fault_of,
)
from synapse_ls.store.inheritance import Known, vectors_of
from synapse_ls.vault import index_files, location, opening
from synapse_ls.vault.kept import Kept
from synapse_ls.vault.lock import WriterLock
from synapse_ls.vault.steps import Steps

if TYPE_CHECKING:
    from synapse_ls.inference.pool import EmbeddingPool
    from synapse_ls.inference.registry import ModelSpec

_LOG = logging.getLogger(__name__)

# How often a server that reads along looks whether the writer has gone.
_TAKEOVER_SECONDS = 1.0
# How often an index that had to go into memory tries to get back to disk.
_DISK_SECONDS = 30.0
# How often it is looked whether the files of the index are still those that are open.
_PLACE_SECONDS = 2.0
# How often an index that is made beside the other is looked at.
_SWAP_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Hooks:
    """Whom a keeper tells, in some thread.

    Of a changed state, in sentences for the user, of a changed settings file, of an index that took another's place;
    ``known`` gives vectors that were made elsewhere.
    """

    changed: Callable[[], None]
    say: Callable[[str], None]
    known: Known
    configured: Callable[[], None]
    swapped: Callable[[], None]


class Keeper:
    """Keeps the index of one vault, with the right to do so where it is free.

    Whoever comes first writes; others read along and take over when the writer ends. An index that has to be made
    anew is made beside the one in use, which goes on answering, and takes its place in one step. Where the disk
    cannot be written the index lives in memory until it can be.
    """

    def __init__(self, root: Path, settings: Settings, hooks: Hooks, *, watch: bool) -> None:
        self.root = root
        self.folder = location.index_folder(root)
        self.active: Kept | None = None
        self.coming: Kept | None = None
        # Why the index is in memory or cannot be made, as long as it is so.
        self.trouble: str | None = None
        self.counters = Counters()
        self._settings = settings
        self._hooks = hooks
        self._watch = watch
        self._model: tuple[EmbeddingPool, ModelSpec] | None = None
        self._lock = WriterLock(self.folder)
        self._reads_along = False
        # Whether it is still open which model there will be: no index is complete before that is known.
        self._undecided = True
        self._said: set[str] = set()
        self._inherits: str | None = None
        self._looking = False
        self._steps = Steps(self._look_around, self._pause, self._failed, hooks.changed)

    @property
    def read_only(self) -> bool:
        """Whether another process writes the index."""
        return self._reads_along

    @property
    def in_memory(self) -> bool:
        """Whether the index is in memory because the disk cannot be written."""
        return self.active is not None and self.active.index.path is None

    def open(self, *, model: bool) -> bool:
        """Open the index and begin to bring it up to date, or read along; returns whether there was one.

        With ``model``, ``attach`` or ``go_without`` will be called once that is decided.

        Raises:
            IndexStateError: Not even an index in memory can be made.
        """
        self._undecided = model
        self._open()
        self._steps.start()
        return self.active is None or not self.active.index.made

    def close(self) -> None:
        """Stop the work and let the index go; what is committed stays."""
        self._steps.close()
        for kept in (self.coming, self.active):
            if kept is not None:
                kept.close()
        self.active = self.coming = None
        self._lock.release()

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Give a reader of the index in use inside one transaction.

        Raises:
            IndexStateError: There is none at this moment.
        """
        kept = self.active
        try:
            with ExitStack() as stack:
                kept, db = self._entered(stack)
                yield db
        except Exception as error:
            if kept is None:
                raise
            if isinstance(error, IndexLostError):
                raise IndexStateError(f"{error}; {self._advice(kept)}") from error
            if not _is_ruin(error, kept):
                raise
            if kept.indexer is None:
                raise IndexStateError(
                    "the index is damaged; the Synapse that writes it rebuilds it as soon as it meets the damage"
                ) from error
            self._report(kept, error)
            raise IndexStateError("the index was damaged and is being rebuilt; try again in a moment") from error

    def attach(self, pool: "EmbeddingPool", spec: "ModelSpec") -> None:
        """Make vectors with this model from now on, in a new index if the one in use has those of another."""
        self._steps.ask(partial(self._attach, pool, spec))

    def go_without(self) -> None:
        """Make no vectors: there is no model."""
        self._steps.ask(self._go_without)

    def detach(self) -> None:
        """Make no vectors any more; returns when the pool is not used."""
        self._steps.ask_and_wait(self._detach)

    def configure(self, settings: Settings) -> None:
        """Go by other settings from now on."""
        self._steps.ask(partial(self._configure, settings))

    def rebuild(self) -> None:
        """Make the index anew beside the one in use.

        Raises:
            IndexStateError: Another process writes it.
        """
        self.check_writable()
        self._steps.ask(partial(self._begin_coming, inherit=False))

    def check_writable(self) -> None:
        """Raise IndexStateError if another process writes the index."""
        if self.read_only:
            raise IndexStateError("another Synapse is writing this index; close it, or let it rebuild the index itself")

    def wait(self, timeout: float | None) -> bool:
        """Wait until nothing is left to do here; returns False if that took longer than ``timeout`` seconds."""
        return self._steps.wait_until(self._is_settled, timeout)

    def look(self) -> bool:
        """Read the index that is there without ever writing; returns whether somebody writes it."""
        self._follow()
        return self._lock.is_taken()

    def writer_is_gone(self) -> bool:
        """Return whether the process that wrote the index, which this one reads along, has ended."""
        return self._reads_along and not self._lock.is_taken()

    def _failed(self, error: Exception) -> None:
        _LOG.error("the index of %s: %s", self.root.name, error)
        _LOG.debug("where it happened", exc_info=error)
        self.trouble = str(error)

    def _pause(self) -> float | None:
        if self._reads_along:
            return _TAKEOVER_SECONDS
        if self.coming is not None or self._inherits is not None:
            return _SWAP_SECONDS
        if self.trouble is None or (self.active is not None and not self.active.index.in_place()):
            return _PLACE_SECONDS
        return _DISK_SECONDS

    def _is_settled(self) -> bool:
        active = self.active
        return self.coming is None and (active is None or active.indexer is None or active.indexer.wait(0))

    def _noticed(self) -> None:
        """Take note that an indexer has got on."""
        self._hooks.changed()
        self._steps.tell()
        if not self._looking and (self.coming is not None or self._inherits is not None):
            self._looking = True
            self._steps.ask(self._look)

    # -- steps, in the keeper's thread

    def _open(self) -> None:
        """Find the index to use; whoever holds the lock writes it."""
        try:
            database.private_folder(self.folder)
            with suppress(OSError):
                location.keep_private(self.folder)
                location.remember(self.folder, self.root)
            if not self._lock.take():
                self._read_along()
            elif self.active is None:
                self._write_on_disk()
            else:
                self._put_back(self.active)
        except (IndexUnwritableError, OSError) as error:
            self._go_to_memory(str(error))

    def _look_around(self) -> bool:
        """Do what is due from time to time; returns whether anything was."""
        active, coming = self.active, self.coming
        if self._reads_along:
            if self._lock.take():
                self._take_over()
            else:
                self._follow()
        elif active is not None and not (active.index.in_place() and self._lock.in_place()):
            self._restore(active)
        elif active is not None and active.index.is_emptied():
            self._mend(active, IndexRuinedError("the index was damaged (its file was emptied)"))
        elif coming is not None and not coming.index.in_place():
            self._mend(coming, IndexLostError("its files were removed or replaced"))
        elif coming is not None or self._inherits is not None:
            self._look()
        elif self.in_memory:
            self._return_to_disk()
        elif self.trouble is not None:
            self.trouble = None
            self._fit()
        else:
            return False
        return True

    def _restore(self, lost: Kept) -> None:
        """Find an index to use in place of one whose files, or whose lock, others cannot find any more."""
        if lost.indexer is not None:
            lost.indexer.close()
        self._drop_coming()
        self._lock.release()
        self._open()
        if self.active is None or self.active.index is not lost.index:
            lost.index.close()
        self._fit()

    def _put_back(self, lost: Kept) -> None:
        """Write an index that is open to the disk once more, or a new one if it cannot be read. Needs the lock."""
        self.trouble = None
        if lost.index.in_place():
            self.active = self._kept(lost.index)  # the lock alone was gone
            return
        what = "the files of the index were removed or replaced"
        try:
            index = opening.again(self.folder, lost.index)
            self._hooks.say(f"{what}; they were written again")
        except IndexRuinedError as error:
            index = opening.anew(self.folder)
            self._hooks.say(f"{what}, so that it is being rebuilt ({error}); your notes are untouched")
        self.active = self._kept(index)
        self._clear()

    def _read_along(self) -> None:
        """Leave the writing to the process that has the lock."""
        self._reads_along, self.active, self.trouble = True, None, None
        self._follow()
        self._hooks.say("another Synapse is writing this index; reading along")

    def _take_over(self) -> None:
        """Write the index that was read along until now."""
        reader = self.active
        try:
            self._write_on_disk()
        except IndexUnwritableError as error:
            self._go_to_memory(str(error))
            reader = None
        self._reads_along = False
        if reader is not None:
            reader.close()
        self._fit()

    def _look(self) -> None:
        """Put the coming index in its place once it is complete."""
        self._looking = False
        coming, active = self.coming, self.active
        if coming is not None and coming.indexer is not None:
            if coming.indexer.current and not self._undecided:
                self._swap(coming)
        elif self._inherits is None or active is None or active.indexer is None or self._model is None:
            return
        elif active.indexer.current:
            self._inherits = None
            active.index.amend(lambda db: meta.drop(db, "inherits"))
            self._clear()

    def _fit(self) -> None:
        """See to it that the index in use is one for the model there is."""
        if self._model is not None:
            self._attach(*self._model)

    def _attach(self, pool: "EmbeddingPool", spec: "ModelSpec") -> None:
        self._model = pool, spec
        self._undecided = False
        active = self.active
        if active is None or active.indexer is None:
            return
        with self.read() as db:
            held, rules = meta.get(db, "model"), meta.get(db, "rules")
        if held in (None, spec.fingerprint):
            active.indexer.attach(pool, spec)
        if self.coming is not None and self.coming.indexer is not None:
            if _is_of(spec, self.coming.index):
                self.coming.indexer.attach(pool, spec)
                return
            self._drop_coming()
        if held not in (None, spec.fingerprint):
            self._say_once(f"the index is being made anew for the model {spec.name}; until then words and links answer")
            self._begin_coming(inherit=True)
        elif rules not in (None, record.VERSION):
            self._say_once("the index is being made anew by the rules of this version; the old one answers until then")
            self._begin_coming(inherit=True)
        elif not self.in_memory:
            self._clear()

    def _go_without(self) -> None:
        """Bring an index made by the rules of another version up to date in place: it awaits no vectors."""
        self._undecided = False
        active = self.active
        if active is None or active.indexer is None:
            return
        with self.read() as db:
            rules = meta.get(db, "rules")
        if rules not in (None, record.VERSION):
            active.indexer.close()
            active.index.amend(_renew)
            self.active = self._kept(active.index)

    def _detach(self) -> None:
        self._model = None
        self._undecided = True
        for kept in (self.active, self.coming):
            if kept is not None and kept.indexer is not None:
                kept.indexer.detach()

    def _configure(self, settings: Settings) -> None:
        before, self._settings = self._settings, settings
        if (before.index, before.links) == (settings.index, settings.links):
            return
        active, coming = self.active, self.coming
        if active is not None and active.indexer is not None:
            active.indexer.close()
            self.active = self._kept(active.index)
        if coming is not None and coming.indexer is not None:
            coming.indexer.close()
            self.coming = self._kept(coming.index, None if active is None else self._vectors_of(active))

    def _begin_coming(self, *, inherit: bool) -> None:
        """Begin an index beside the one in use, or go on with one that an earlier run has left."""
        active = self.active
        if active is None or active.indexer is None:
            return
        if not active.index.in_place():
            self._restore(active)
            active = self.active
            if active is None or active.indexer is None:
                return
        self._drop_coming()
        fingerprint = None if self._model is None else self._model[1].fingerprint
        left = opening.beside(self.folder, fingerprint) if inherit and not self.in_memory else None
        index = left or Index(None if self.in_memory else index_files.fresh(self.folder))
        with self.read() as db:
            generation = meta.generation(db)
            held = meta.get(db, "model")
        if left is None:
            index.amend(lambda db: meta.put(db, "generation", str(generation)))
        inherited = inherit and fingerprint is not None and held == fingerprint
        self.coming = self._kept(index, self._vectors_of(active) if inherited else None)

    def _swap(self, coming: Kept) -> None:
        """Let the coming index take the place of the one in use, in one step."""
        with self.read() as db:
            generation = meta.generation(db)
        coming.index.amend(lambda db: meta.put(db, "generation", str(max(generation, meta.generation(db)) + 1)))
        if coming.index.path is not None:
            opening.put_to_use(self.folder, coming.index)
            self.trouble = None
        former, self.active, self.coming = self.active, coming, None
        coming.inherited.clear()
        if former is not None:
            former.close()
        if coming.index.path is not None:
            self._clear()
        self._hooks.swapped()

    def _drop_coming(self) -> None:
        coming, self.coming = self.coming, None
        if coming is not None:
            coming.close()
            if coming.index.path is not None and coming.index.path != location.current_index(self.folder):
                files.remove(coming.index.path)

    def _write_on_disk(self) -> None:
        """Open the index to write, or begin a new one where it cannot be used. Needs the lock."""
        index, self._inherits = opening.to_write(self.folder, self._hooks.say)
        self.active = self._kept(index)

    def _report(self, kept: Kept, error: Exception) -> None:
        """Have a damaged or unwritable index seen to; called in any thread."""
        self._steps.ask(partial(self._mend, kept, error))

    def _mend(self, kept: Kept, error: Exception) -> None:
        if kept is self.coming:
            self._drop_coming()
            self.trouble = f"the new index cannot be made ({error})"
        elif kept is not self.active:
            return  # it is seen to already
        elif kept.indexer is None:
            self._follow()
        elif not kept.index.in_place():
            self._restore(kept)
        elif _is_ruin(error, kept):
            damaged = str(error) if isinstance(error, IndexRuinedError) else f"the index was damaged ({error})"
            _LOG.warning("%s: %s and is being rebuilt", self.root.name, damaged)
            self._hooks.say(f"{damaged} and is being rebuilt")
            self._drop_coming()
            self.active, self.trouble = None, f"{damaged} and is being rebuilt; try again in a moment"
            kept.close()
            try:
                self.active, self.trouble = self._kept(opening.anew(self.folder)), None
                self._clear()
            except IndexUnwritableError as trouble:
                self._go_to_memory(str(trouble))
        elif fault_of(error) == "unwritable":
            self._go_to_memory(f"the index cannot be written ({error})")

    def _go_to_memory(self, reason: str) -> None:
        """Go on in memory with what the index holds."""
        self.trouble = f"{reason}; the index is kept in memory meanwhile"
        self._hooks.say(self.trouble)
        self._drop_coming()
        self._lock.release()  # who can write shall
        former = self.active
        if former is not None and former.indexer is not None:
            former.indexer.close()
        self.active = self._kept(opening.in_memory(None if former is None else former.index))
        if former is not None:
            former.index.close()
        self._fit()

    def _return_to_disk(self) -> None:
        """Make the index on disk current again, if it can be written now."""
        active = self.active
        if active is None:
            return
        try:
            database.private_folder(self.folder)
            if not self._lock.take():
                self._follow()
                if self.active is not active:
                    self._reads_along, self.trouble = True, None
                    active.close()
                return
            with active.index.read() as db:
                size = database.size(db)
            index = opening.back_on_disk(self.folder, size)
        except (IndexStateError, OSError) as error:
            _LOG.info("the index of %s stays in memory: %s", self.root.name, error)
            index = None
        if index is None:
            self._lock.release()
        else:
            self.coming = self._kept(index, self._vectors_of(active))

    def _follow(self) -> None:
        """Read the index that the writing process has in use."""
        path = index_files.in_use(self.folder)
        active = self.active
        if path is None or (active is not None and active.index.path == path and active.index.in_place()):
            return
        self.active = Kept(Index(path, read_only=True))
        if active is not None and active.indexer is None:
            active.close()

    # -- parts of steps

    def _say_once(self, sentence: str) -> None:
        if sentence not in self._said:
            self._said.add(sentence)
            self._hooks.say(sentence)

    def _entered(self, stack: ExitStack) -> tuple[Kept, Connection]:
        told = False
        while True:
            kept = self.active
            if kept is None and self._reads_along:
                self._steps.ask_and_wait(self._follow)
                kept = self.active
            if kept is None:
                raise IndexStateError(self._absence())
            try:
                return kept, stack.enter_context(kept.index.read())
            except IndexClosedError:
                if self.active is kept:  # closed with the vault
                    raise IndexStateError(self._absence()) from None
            except IndexLostError as error:
                if told or self._steps.here:
                    raise
                told = True
                self._steps.ask_and_wait(partial(self._mend, kept, error))

    def _absence(self) -> str:
        if self._steps.closing:
            return f"the vault {self.root.name} is closed"
        if self._reads_along:
            return "another Synapse is making this index; try again in a moment"
        return self.trouble or "the index is being opened; try again in a moment"

    def _advice(self, kept: Kept) -> str:
        """Return what to do about an index that no reader can open, though it was seen to."""
        if kept.indexer is None and not self._reads_along:
            return "run synapse-ls index"
        if self._reads_along:
            return "the Synapse that writes it makes it anew as soon as it notices"
        return "try again in a moment"

    def _kept(self, index: Index, inherited: Known | None = None) -> Kept:
        """Return an index with an indexer at work on it."""
        sources = [] if inherited is None else [inherited]
        bequest: list[Known] = []

        def known(input_key: bytes) -> Embedded | None:
            if not bequest and self._inherits is not None and self._model is not None:
                bequest.append(vectors_of(self.folder / self._inherits, self._model[1].fingerprint))
            asked = (self._hooks.known, *sources, *bequest)
            return next((vector for source in asked if (vector := source(input_key)) is not None), None)

        def stuck(error: Exception) -> None:
            self._report(kept, error)

        indexer = Indexer(
            index,
            self.root,
            self._settings,
            self._noticed,
            watch=self._watch,
            known=known,
            stuck=stuck,
            configured=self._hooks.configured,
            counters=self.counters,
        )
        kept = Kept(index, indexer, sources)
        indexer.start()
        if self._model is not None and _is_of(self._model[1], index):
            indexer.attach(*self._model)
        return kept

    def _vectors_of(self, kept: Kept) -> Known:
        """Return what gives the vectors of another index that is open."""
        return kept.vectors(lambda: None if self._model is None else self._model[1].fingerprint)

    def _clear(self) -> None:
        """Remove what is left of other indexes."""
        kept = {path.name for path in (location.current_index(self.folder),) if path is not None}
        kept |= {name for name in (self._inherits,) if name is not None}
        kept |= {k.index.path.name for k in (self.coming,) if k is not None and k.index.path is not None}
        index_files.clear(self.folder, kept)


def _is_of(spec: "ModelSpec", index: Index) -> bool:
    """Return whether an index holds vectors of this model, or none yet."""
    with index.read() as db:
        return meta.get(db, "model") in (None, spec.fingerprint)


def _is_ruin(error: Exception, kept: Kept) -> bool:
    """Return whether an error says that an index is damaged; the one that is written here has no other format."""
    return fault_of(error) == "ruined" or (kept.indexer is not None and isinstance(error, IndexFormatError))


def _renew(db: Connection) -> None:
    notes.forget_stamps(db)
    meta.put(db, "rules", record.VERSION)
