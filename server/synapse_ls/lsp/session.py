"""One connection: its folders and their vaults, its documents, its settings, its position encoding."""

import asyncio
import logging
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from lsprotocol import types as lsp

from synapse_ls import __version__
from synapse_ls.core import config
from synapse_ls.core.config import Settings
from synapse_ls.core.errors import IndexStateError, SynapseError
from synapse_ls.features import shapes
from synapse_ls.lsp import convert
from synapse_ls.lsp.convert import Encoding
from synapse_ls.lsp.documents import Documents
from synapse_ls.lsp.progress import Reporter
from synapse_ls.vault.status import VaultStatus

if TYPE_CHECKING:
    from synapse_ls.vault.encoder import Encoder
    from synapse_ls.vault.vault import Vault

_LOG = logging.getLogger(__name__)
_T = TypeVar("_T")

# How long a question waits for a vault to be opened.
_OPENING_SECONDS = 10.0
# After this long without a sign of the user the indexer may use all cores.
_QUIET_SECONDS = 3.0


@dataclass(slots=True)
class Folder:
    """A workspace folder: ``path`` as the client calls it, and its vault once ``opened`` is set."""

    uri: str
    path: Path
    vault: "Vault | None" = None
    opened: threading.Event = field(default_factory=threading.Event)

    def relative(self, path: Path) -> str | None:
        """Return a path as the vault calls it, or None if it lies elsewhere."""
        for root in (self.path, self.vault.root if self.vault is not None else self.path):
            if path.is_relative_to(root):
                return path.relative_to(root).as_posix()
        return None

    def ready(self) -> "Vault":
        """Return the vault, waiting for its opening; off the event loop.

        Raises:
            SynapseError: It takes too long.
        """
        if not self.opened.wait(_OPENING_SECONDS) or self.vault is None:
            raise IndexStateError(f"{self.path.name} is still being opened; try again in a moment")
        return self.vault


class Session:
    """The state of one connection. All methods but ``run``'s work belong to the event loop."""

    def __init__(self, settings: Settings, notify: Callable[[str, Any], None], request: Callable[..., Any]) -> None:
        self.settings = settings
        self.documents = Documents()
        self.encoding: Encoding = "utf-16"
        self.capabilities = lsp.ClientCapabilities()
        self.folders: dict[str, Folder] = {}
        self.notify = notify
        self.request = request
        self.encoder: Encoder | None = None
        self.loop: asyncio.AbstractEventLoop | None = None
        self._threads = ThreadPoolExecutor(max_workers=4, thread_name_prefix="synapse-request")
        self._opening = ThreadPoolExecutor(max_workers=1, thread_name_prefix="synapse-open")
        self._reporter = Reporter(self)
        self._searches: dict[str, threading.Event] = {}
        self._quiet: asyncio.TimerHandle | None = None
        self._warnings: list[str] = []

    def begin(self, params: lsp.InitializeParams, encoding: Encoding) -> None:
        """Take over what ``initialize`` says, without touching disk or model."""
        options = params.initialization_options
        if isinstance(options, Mapping):
            own = options.get("synapse", options)
            self.settings, self._warnings = config.apply(self.settings, own, "initializationOptions")
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
        """Open the declared vaults in the background."""
        self.loop = asyncio.get_running_loop()
        for warning in self._warnings:
            self.show(warning)
        for folder in self.folders.values():
            self._opening.submit(self._open, folder)

    def add(self, uri: str) -> None:
        """Open a vault for a folder that was added to the workspace."""
        path = convert.path_of(uri)
        if path is not None and uri not in self.folders:
            self._opening.submit(self._open, self._declare(uri, path))

    def remove(self, uri: str) -> None:
        """Close the vault of a folder that left the workspace."""
        folder = self.folders.pop(uri, None)
        if folder is not None:
            self._opening.submit(_close, folder)
            self.changed()

    def stop(self) -> None:
        """Close the vaults; work that is not committed is taken up by the next start. Off the event loop."""
        self._opening.shutdown(cancel_futures=True)
        for folder in self.folders.values():
            _close(folder)
        self.folders.clear()
        if self.encoder is not None:
            self.encoder.close()

    def close(self) -> None:
        """Close what is still open when the connection has ended."""
        self._threads.shutdown(wait=True, cancel_futures=True)
        self.stop()

    async def run(self, work: Callable[..., _T], *arguments: Any) -> _T:  # noqa: ANN401 - whatever the work takes
        """Do work that may read, query or infer off the event loop."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work, *arguments)

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

    def prefer_open(self) -> None:
        """Let the open notes be embedded first."""
        for folder in self.folders.values():
            if folder.vault is None:
                continue
            places = [self.folder_of(uri) for uri in self.documents.uris()]
            folder.vault.prefer([place[1] for place in places if place is not None and place[0] is folder])

    def status(self) -> dict[str, Any]:
        """Return the status of all vaults; reads the indexes, so call it off the event loop."""
        folders = list(self.folders.values())
        return {
            "version": __version__,
            "vaults": [shapes.vault_status(self._status(folder), folder.uri) for folder in folders],
        }

    def show(self, message: str, kind: lsp.MessageType = lsp.MessageType.Warning) -> None:
        """Show the user a sentence; may be called from any thread."""
        if self.loop is not None:
            params = lsp.ShowMessageParams(kind, f"Synapse: {message}")
            self.loop.call_soon_threadsafe(self.notify, lsp.WINDOW_SHOW_MESSAGE, params)

    def _declare(self, uri: str, path: Path) -> Folder:
        folder = self.folders[uri] = Folder(uri, path)
        return folder

    def _status(self, folder: Folder) -> VaultStatus:
        if folder.vault is not None:
            return folder.vault.status()
        return VaultStatus.starting(str(folder.path), self.settings.embedding.model)

    def _open(self, folder: Folder) -> None:
        # Imported here, in a thread and after the answer to initialize: these bring the database and the parser.
        from synapse_ls.vault import location  # noqa: PLC0415 - see above
        from synapse_ls.vault.encoder import Encoder  # noqa: PLC0415 - see above
        from synapse_ls.vault.vault import Vault  # noqa: PLC0415 - see above

        first = self.encoder is None
        if self.encoder is None:
            self.encoder = Encoder(self.settings.embedding, location.cache_root() / "models")
        folder.vault = Vault(folder.path, self.settings, self.encoder, self.changed)
        try:
            folder.vault.open()
            if first:
                self.encoder.start(self._model_decided)
        except SynapseError as error:
            self.show(str(error), lsp.MessageType.Error)
        except Exception:  # noqa: BLE001 - logged and told; the other vaults go on
            _LOG.exception("cannot open %s", folder.path)
            self.show(f"{folder.path.name} cannot be opened; run synapse-ls doctor", lsp.MessageType.Error)
        folder.opened.set()
        for warning in folder.vault.warnings:
            self.show(warning)
        if self.loop is not None:
            self.loop.call_soon_threadsafe(self.prefer_open)
        self.changed()

    def _model_decided(self) -> None:
        note = None if self.encoder is None else self.encoder.note
        if note is not None and self.settings.embedding.model != "none":
            self.show(f"searching by words and links only: {note}")

    def _idle(self) -> None:
        self._quiet = None
        if self.encoder is not None:
            self.encoder.set_busy(busy=False)


def _close(folder: Folder) -> None:
    if folder.vault is not None:
        folder.vault.close()
