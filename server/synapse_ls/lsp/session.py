"""One connection: its folders and their vaults, its documents, its settings, its position encoding."""

import asyncio
import logging
import os
import tempfile
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from lsprotocol import types as lsp

from synapse_ls import __version__
from synapse_ls.core.config import Settings
from synapse_ls.core.errors import SynapseError
from synapse_ls.features import shapes
from synapse_ls.lsp import convert
from synapse_ls.lsp.convert import Encoding
from synapse_ls.lsp.documents import Documents
from synapse_ls.lsp.folders import Folder, Opener
from synapse_ls.lsp.progress import Reporter
from synapse_ls.lsp.settings import Configuration
from synapse_ls.vault.status import RerankerStatus, VaultStatus

if TYPE_CHECKING:
    from synapse_ls.vault.encoder import Encoder
    from synapse_ls.vault.reranking import Reranking

_LOG = logging.getLogger(__name__)
_T = TypeVar("_T")

# After this long without a key the text on screen is searchable by words, and after the second time by meaning.
_TYPED_SECONDS = 0.25
_MEANT_SECONDS = 1.0
# After this long without a sign of the user the indexer may use all cores.
_QUIET_SECONDS = 3.0


class Session:
    """The state of one connection. All methods but ``run``'s work belong to the event loop."""

    def __init__(self, settings: Settings, notify: Callable[[str, Any], None], request: Callable[..., Any]) -> None:
        self.documents = Documents()
        self.encoding: Encoding = "utf-16"
        self.capabilities = lsp.ClientCapabilities()
        self.folders: dict[str, Folder] = {}
        self.notify = notify
        self.request = request
        self.encoder: Encoder | None = None
        self.reranking: Reranking | None = None
        self.loop: asyncio.AbstractEventLoop | None = None
        self._threads = ThreadPoolExecutor(max_workers=4, thread_name_prefix="synapse-request")
        # One thread, so that a note is taken over and let go in the order of the editor.
        self._buffering = ThreadPoolExecutor(max_workers=1, thread_name_prefix="synapse-buffer")
        # One thread: it keeps both cores busy, and what was asked for last is what counts.
        self._reranks = ThreadPoolExecutor(max_workers=1, thread_name_prefix="synapse-rerank")
        # How many questions are being answered, and whether none is.
        self._asked = 0
        self.at_rest = threading.Event()
        self.at_rest.set()
        self._opener = Opener(self)
        self.configuration = Configuration(self, self._opener, settings)
        self._reporter = Reporter(self)
        self._searches: dict[str, threading.Event] = {}
        # What stops the work behind a progress, by its token.
        self.stoppers: dict[lsp.ProgressToken, threading.Event] = {}
        self._quiet: asyncio.TimerHandle | None = None
        # From then on what the vaults say is that they are closed, which nobody needs to be told.
        self.ending = False
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._keys = 0
        self._lone_told = False

    @property
    def settings(self) -> Settings:
        """The settings that hold where no folder has its own."""
        return self.configuration.shared

    def begin(self, params: lsp.InitializeParams, encoding: Encoding) -> None:
        """Take over what ``initialize`` says, without touching disk or model."""
        self.configuration.begin(params.initialization_options)
        self.capabilities = params.capabilities
        self.encoding = encoding
        folders = [folder.uri for folder in params.workspace_folders or ()]
        if not folders:
            root = params.root_uri or (convert.uri_of(Path(params.root_path)) if params.root_path else None)
            folders = [root] if root else []
        for uri in folders:
            path = convert.path_of(uri)
            if path is not None:
                self._declare(uri, path)

    def start(self) -> None:
        """Open the declared vaults in the background, once."""
        if self.loop is not None:
            _LOG.warning("the client says a second time that it is initialized, which is passed over")
            return
        self.loop = asyncio.get_running_loop()
        self.configuration.start(self.folders.values())

    def add(self, uri: str) -> None:
        """Open a vault for a folder that was added to the workspace."""
        path = convert.path_of(uri)
        if path is not None and (uri not in self.folders or self.folders[uri].lone):
            self.configuration.open([self._declare(uri, path)])

    def remove(self, uri: str) -> None:
        """Close the vault of a folder that left the workspace, unless another folder shares it."""
        folder = self.folders.pop(uri, None)
        if folder is not None:
            self._opener.close(folder)
            self.changed()

    def adopt(self, uri: str) -> None:
        """Serve a note that is opened without any workspace folder from its own folder.

        Folders that hold far more than notes are left alone: the user's home, that of temporary files, and those
        above them.
        """
        path = convert.path_of(uri)
        if path is None or not path.name.lower().endswith(self.settings.index.extensions):
            return
        if self.folder_of(uri) is not None or not all(folder.lone for folder in self.folders.values()):
            return
        parent = path.parent
        home = os.path.expanduser("~")  # noqa: PTH111 - that of Path fails where there is no home
        if any(Path(wide).is_relative_to(parent) for wide in (home, tempfile.gettempdir())):
            if not self._lone_told:
                self._lone_told = True
                self.show("open the folder that holds your notes; a lone note in this place is not searched")
            return
        folder = self._declare(convert.uri_of(parent), parent, lone=True)
        if self.loop is not None:
            self.configuration.open([folder])

    def abandon(self) -> None:
        """Close the folders of lone notes none of which is open any more."""
        places = [self.folder_of(uri) for uri in self.documents.uris()]
        used = [place[0] for place in places if place is not None]
        for folder in list(self.folders.values()):
            if folder.lone and folder not in used:
                self.remove(folder.uri)

    def stop(self) -> None:
        """Close the vaults; work that is not committed is taken up by the next start."""
        self.ending = True
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
        for stopper in self.stoppers.values():
            stopper.set()
        if self._quiet is not None:
            self._quiet.cancel()
        self.configuration.stop()
        self._buffering.shutdown(wait=False, cancel_futures=True)
        self._opener.stop()
        self.folders.clear()
        for search in self._searches.values():
            search.set()
        self._reranks.shutdown(wait=False, cancel_futures=True)
        if self.reranking is not None:
            self.reranking.close()
        if self.encoder is not None:
            self.encoder.close()

    def close(self) -> None:
        """Close what is still open when the connection has ended."""
        self._threads.shutdown(wait=True, cancel_futures=True)
        self.stop()

    async def run(self, work: Callable[..., _T], *arguments: Any) -> _T:  # noqa: ANN401 - whatever the work takes
        """Do work that may read, query or infer off the event loop."""
        self._asked += 1
        self.at_rest.clear()
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work, *arguments)
        finally:
            self._asked -= 1
            if not self._asked:
                self.at_rest.set()

    def rerank(self, work: Callable[[], _T]) -> "asyncio.Future[_T]":
        """Do work of a reranker off the event loop, one after the other."""
        return asyncio.get_running_loop().run_in_executor(self._reranks, work)

    def folder_of(self, uri: str) -> tuple[Folder, str] | None:
        """Return the innermost folder a document lies in and its path there; None if no vault has it."""
        path = convert.path_of(uri)
        if path is None:
            return None
        found = [(folder, rel) for folder in self.folders.values() if (rel := folder.relative(path)) is not None]
        return min(found, key=lambda pair: len(pair[1]), default=None)

    def changed(self) -> None:
        """Let the client know of a changed state soon; may be called from any thread."""
        with suppress(RuntimeError):  # the loop may close at any moment; then nobody listens
            if self.loop is not None:
                self.loop.call_soon_threadsafe(self._reporter.soon)

    def active(self) -> None:
        """Note that the user is at work: the indexer leaves half of the cores."""
        if self.encoder is None or self.loop is None:
            return
        if self._quiet is None:
            self.encoder.set_busy(busy=True)
        else:
            self._quiet.cancel()
        self._quiet = self.loop.call_later(_QUIET_SECONDS, self._idle)

    def typed(self, uri: str, *, at_once: bool = False) -> None:
        """Have the text of an open note indexed when the keys rest."""
        place = self.folder_of(uri)
        self._keys += 1
        if place is not None and self.loop is not None:
            self._later(uri, 0 if at_once else _TYPED_SECONDS, self._take_over, uri)

    def let_go(self, uri: str) -> None:
        """Let a closed note's file speak again."""
        timer = self._timers.pop(uri, None)
        if timer is not None:
            timer.cancel()
        place = self.folder_of(uri)
        if place is not None:
            self._buffering.submit(_let_go, *place)

    def supersede(self, session: str) -> threading.Event:
        """Cancel the running search of a search-as-you-type session and return the token of the next."""
        older = self._searches.get(session)
        if older is not None:
            older.set()
        token = self._searches[session] = threading.Event()
        return token

    def finished(self, session: str, token: threading.Event) -> None:
        """Forget a search that is answered."""
        if self._searches.get(session) is token:
            del self._searches[session]

    def stop_progress(self, token: lsp.ProgressToken) -> None:
        """Stop the work behind a progress that the user has cancelled."""
        stopper = self.stoppers.get(token)
        if stopper is not None:
            stopper.set()

    def model_arrived(self, name: str) -> None:
        """Use a model that was downloaded if it is the one that the settings name."""
        if name in (self.settings.embedding.model, self.settings.rerank.model):
            self._opener.reload()

    def prefer_open(self) -> None:
        """Let the open notes be embedded first."""
        for folder in self.folders.values():
            if folder.vault is None:
                continue
            places = [self.folder_of(uri) for uri in self.documents.uris()]
            folder.vault.prefer([place[1] for place in places if place is not None and place[0] is folder])

    def search_limit(self) -> int:
        """Return how many hits a search without a number gets: the most that a vault's settings say."""
        limits = [folder.vault.settings.search.limit for folder in self.folders.values() if folder.vault is not None]
        return max(limits, default=self.settings.search.limit)

    def take_warnings(self) -> list[str]:
        """Return what the vaults have to say to the user since the last time."""
        said: list[str] = []
        for folder in self.folders.values():
            if folder.vault is not None:
                new, folder.vault.warnings = folder.vault.warnings, []
                said += new
        return said

    def status(self, folders: Sequence[Folder] | None = None) -> dict[str, Any]:
        """Return the status of some vaults or of all; reads the indexes, so call it off the event loop."""
        if folders is None:
            folders = list(self.folders.values())
        return {
            "version": __version__,
            "vaults": [
                shapes.vault_status(self._status(folder), folder.uri, self._reranker(folder)) for folder in folders
            ],
        }

    def show(self, message: str, kind: lsp.MessageType = lsp.MessageType.Warning) -> None:
        """Show the user a sentence; may be called from any thread."""
        if self.loop is not None:
            params = lsp.ShowMessageParams(kind, f"Synapse: {message}")
            with suppress(RuntimeError):  # the loop may have ended
                self.loop.call_soon_threadsafe(self.notify, lsp.WINDOW_SHOW_MESSAGE, params)

    def _declare(self, uri: str, path: Path, *, lone: bool = False) -> Folder:
        folder = self.folders[uri] = Folder(uri, path, lone)
        return folder

    def _status(self, folder: Folder) -> VaultStatus:
        if folder.vault is not None:
            return folder.vault.status()
        return VaultStatus.starting(str(folder.path), self.settings.embedding.model)

    def _reranker(self, folder: Folder) -> RerankerStatus:
        enabled = (self.settings if folder.vault is None else folder.vault.settings).rerank.enabled
        return RerankerStatus() if self.reranking is None or not enabled else self.reranking.status()

    def ready(self) -> None:
        """Give the vaults the open notes: one may have been opened before its folder was."""
        for uri in self.documents.uris():
            self.typed(uri, at_once=True)
        self.prefer_open()

    def _later(self, key: str, seconds: float, work: Callable[..., None], *arguments: Any) -> None:  # noqa: ANN401 - passes on
        """Call ``work`` off the event loop after a pause; a later call with the same key comes in its place."""
        assert self.loop is not None  # noqa: S101 - the loop runs once documents can open
        if (timer := self._timers.pop(key, None)) is not None:
            timer.cancel()

        def due() -> None:
            self._timers.pop(key, None)
            self._buffering.submit(_logged, work, *arguments)

        self._timers[key] = self.loop.call_later(seconds, due)

    def _take_over(self, uri: str) -> None:
        """Index the text of an open note; then, after a longer pause, its new passages."""
        place, document = self.folder_of(uri), self.documents.get(uri)
        if place is None or document is None:
            return
        folder, path = place
        try:
            folder.ready().type(path, document.text, document.version)
        except SynapseError as error:
            _LOG.info("the buffer of %s is not indexed: %s", path, error)
            return
        if self.loop is not None:
            with suppress(RuntimeError):  # the loop may have ended
                self.loop.call_soon_threadsafe(
                    self._later, f"{folder.uri} meaning", _MEANT_SECONDS, self._embed, folder
                )

    def _embed(self, folder: Folder) -> None:
        """Embed what was typed, until the next key."""
        keys = self._keys
        if folder.vault is not None:
            folder.vault.embed_typed(lambda: self._keys != keys)

    def _idle(self) -> None:
        self._quiet = None
        if self.encoder is not None:
            self.encoder.set_busy(busy=False)


def _let_go(folder: Folder, path: str) -> None:
    if folder.vault is not None:
        folder.vault.let_go(path)


def _logged(work: Callable[..., None], *arguments: Any) -> None:  # noqa: ANN401 - whatever the work takes
    """Do work that nobody waits for, so that what goes wrong is told all the same."""
    try:
        work(*arguments)
    except Exception:  # noqa: BLE001 - logged; the next key tries again
        _LOG.exception("an open note cannot be taken over")
