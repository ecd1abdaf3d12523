"""The folders of a connection, and the opening and closing of their vaults."""

import logging
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from synapse_ls.core.config import EmbeddingSettings, RerankSettings, Settings
from synapse_ls.core.errors import IndexStateError, SynapseError

if TYPE_CHECKING:
    from synapse_ls.lsp.session import Session
    from synapse_ls.vault.encoder import Encoder
    from synapse_ls.vault.reranking import Reranking
    from synapse_ls.vault.vault import Vault

_LOG = logging.getLogger(__name__)

# How often a folder that cannot be opened is tried again.
_RETRY_SECONDS = 2.0
# How long a question waits for a vault to be opened.
_OPENING_SECONDS = 10.0


@dataclass(slots=True)
class Folder:
    """A workspace folder: ``path`` as the client calls it, and its vault once ``opened`` is set.

    Folders with one real path share a vault. ``lone`` are those of notes that were opened without a workspace;
    ``told`` is the error that the user has been shown.
    """

    uri: str
    path: Path
    lone: bool = False
    vault: "Vault | None" = None
    told: str | None = None
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
            raise IndexStateError(self.told or f"{self.path.name} is still being opened; try again in a moment")
        return self.vault


class Opener:
    """Opens, configures and closes the vaults of a session's folders, one after the other in a thread of its own."""

    def __init__(self, session: "Session") -> None:
        self._session = session
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="synapse-open")
        # The open vaults by their real path, and the settings that each was given.
        self._vaults: dict[Path, Vault] = {}
        self._given: dict[Path, Settings] = {}
        self._embedding = EmbeddingSettings()
        self._loading: Encoder | None = None
        self._configuring = False

    def open(self, folder: Folder) -> None:
        """Open the vault of a folder; one that cannot be opened is tried again as long as it is in the workspace."""
        self._submit(self._open, folder)

    def close(self, folder: Folder) -> None:
        """Close the vault of a folder that has left, unless another folder shares it."""
        self._submit(self._close, folder)

    def configure(self) -> None:
        """Bring the encoder and the vaults to the settings that hold now; a burst of calls is one piece of work."""
        if not self._configuring:
            self._configuring = True
            self._submit(self._configure)

    def reload(self) -> None:
        """Load the model of the settings once more: its files have come."""
        self._submit(self._reload)

    def stop(self) -> None:
        """Close all vaults."""
        self._thread.shutdown(cancel_futures=True)
        for vault in self._vaults.values():
            vault.close()
        self._vaults.clear()

    def _submit(self, work: Callable[..., None], *arguments: Folder) -> None:
        with suppress(RuntimeError):  # the work may have ended
            self._thread.submit(work, *arguments)

    def _open(self, folder: Folder) -> None:
        try:
            # Imported here, in a thread and after the answer to initialize: it brings the database and the parser.
            from synapse_ls.vault.vault import Vault  # noqa: PLC0415 - see above

            if self._session.encoder is None:
                self._session.encoder = self._new_encoder(self._session.settings.embedding)
                self._session.reranking = self._new_reranking(self._session.settings.rerank)
        except Exception as error:  # noqa: BLE001 - logged and told; whatever is wrong with the installation
            _LOG.exception("cannot open %s", folder.path)
            self._complain(folder, f"the installation is broken ({error}); run: synapse-ls doctor")
            folder.opened.set()
            self._session.changed()
            return
        settings = self._session.configuration.of(folder.uri)
        if folder.vault is not None:
            folder.vault.close()  # it could not be opened before, but may hold the right to write
        vault = Vault(folder.path, settings, self._session.encoder, self._session.changed)
        works = False
        try:
            shared = self._vaults.get(Path(os.path.realpath(folder.path)))
            if shared is not None:
                vault = shared
            else:
                vault.open()
                self._vaults[vault.root], self._given[vault.root] = vault, settings
            self._load(self._session.encoder)
            self._rerank()
            works, folder.told = True, None
        except SynapseError as error:
            self._complain(folder, str(error))
            self._soon_again(folder)
        except Exception:  # noqa: BLE001 - logged and told; the other vaults go on
            _LOG.exception("cannot open %s", folder.path)
            self._complain(folder, f"{folder.path.name} cannot be opened; run synapse-ls doctor")
        folder.vault = vault
        if works or not folder.opened.is_set():
            folder.opened.set()
            if self._session.loop is not None:
                with suppress(RuntimeError):  # the loop may have ended
                    self._session.loop.call_soon_threadsafe(self._session.ready)
            self._session.changed()

    def _complain(self, folder: Folder, message: str) -> None:
        """Show an error, once for each folder as long as it stays the same."""
        if folder.told != message:
            folder.told = message
            self._session.show(message, lsp.MessageType.Error)

    def _soon_again(self, folder: Folder) -> None:
        """Try again to open a folder, as long as it is in the workspace."""

        def due() -> None:
            if self._session.folders.get(folder.uri) is folder:
                self.open(folder)

        loop = self._session.loop
        if loop is not None:
            with suppress(RuntimeError):  # the loop may have ended
                loop.call_soon_threadsafe(loop.call_later, _RETRY_SECONDS, due)

    def _close(self, folder: Folder) -> None:
        vault = folder.vault
        if vault is not None and all(other.vault is not vault for other in list(self._session.folders.values())):
            if self._vaults.get(vault.root) is vault:
                del self._vaults[vault.root], self._given[vault.root]
            vault.close()

    def _configure(self) -> None:
        self._configuring = False  # before anything is read: what changes from here on is another piece of work
        with _logged():
            self._encode(self._session.settings.embedding)
            self._choose_reranker(self._session.settings.rerank)
        given: set[Path] = set()
        for folder in list(self._session.folders.values()):
            vault, settings = folder.vault, self._session.configuration.of(folder.uri)
            if vault is None or self._vaults.get(vault.root) is not vault or vault.root in given:
                continue  # it is opened with them, or has those of the first folder that shares it
            given.add(vault.root)
            if self._given[vault.root] != settings:
                self._given[vault.root] = settings
                with _logged():
                    vault.configure(settings)
        with _logged():
            self._rerank()
        self._session.changed()

    def _encode(self, wanted: EmbeddingSettings) -> None:
        """Bring the encoder to its settings: another model takes another one, which all vaults take over."""
        before, self._embedding = self._embedding, wanted
        old = self._session.encoder
        if old is None or wanted == before:
            return
        if (wanted.model, wanted.http) == (before.model, before.http):
            old.set_settings(wanted)
        else:
            self._replace(old, wanted)

    def _reload(self) -> None:
        old = self._session.encoder
        if old is not None and old.pool is None:
            with _logged():
                self._replace(old, self._session.settings.embedding)
            self._session.changed()
        if self._session.reranking is not None:
            with _logged():
                self._replace_reranking(self._session.settings.rerank)

    def _replace(self, old: "Encoder", wanted: EmbeddingSettings) -> None:
        """Give all vaults another encoder."""
        new = self._session.encoder = self._new_encoder(wanted)
        if self._session.reranking is not None:  # it may have used the former one
            self._replace_reranking(self._session.settings.rerank)
        for vault in self._vaults.values():
            with _logged():
                vault.use(new)
        if self._vaults:
            self._load(new)
        old.close()

    def _new_encoder(self, settings: EmbeddingSettings) -> "Encoder":
        from synapse_ls.vault.encoder import Encoder  # noqa: PLC0415 - as in _open

        self._embedding = settings
        return Encoder(settings)

    def _choose_reranker(self, wanted: RerankSettings) -> None:
        old = self._session.reranking
        if old is not None and (wanted.model, wanted.http) != (old.settings.model, old.settings.http):
            self._replace_reranking(wanted)

    def _replace_reranking(self, wanted: RerankSettings) -> None:
        old, self._session.reranking = self._session.reranking, self._new_reranking(wanted)
        if old is not None:
            old.close()
        self._rerank()

    def _new_reranking(self, settings: RerankSettings) -> "Reranking":
        from synapse_ls.vault.reranking import Reranking  # noqa: PLC0415 - as in _open

        return Reranking(settings, lambda: self._session.encoder)

    def _rerank(self) -> None:
        """Load the reranker as soon as a vault is to be reranked, and say if there is none to load."""
        reranking = self._session.reranking
        if reranking is not None and any(vault.settings.rerank.enabled for vault in self._vaults.values()):
            reranking.start(partial(self._reranker_decided, reranking))

    def _reranker_decided(self, reranking: "Reranking") -> None:
        trouble = reranking.trouble()
        if reranking is self._session.reranking and trouble is not None:
            self._session.show(f"searches are not reranked: {trouble}")
        self._session.changed()

    def _load(self, encoder: "Encoder") -> None:
        """Load the model behind the first vault that is open, and say if there is none to load."""
        if self._loading is not encoder:
            self._loading = encoder
            encoder.start(partial(self._model_decided, encoder))

    def _model_decided(self, encoder: "Encoder") -> None:
        if encoder is self._session.encoder and encoder.note is not None and encoder.name != "none":
            self._session.show(f"searching by words and links only: {encoder.note}")


@contextmanager
def _logged() -> Iterator[None]:
    """Log what goes wrong in work that nobody waits for."""
    try:
        yield
    except Exception:  # noqa: BLE001 - logged; the other vaults go on
        _LOG.exception("the settings cannot be changed")
