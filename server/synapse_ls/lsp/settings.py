"""The settings of a connection: what its client says of them, layer over layer, and how it is asked."""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp

from synapse_ls.core import config
from synapse_ls.core.config import Settings

if TYPE_CHECKING:
    import asyncio
    from concurrent.futures import Future

    from synapse_ls.lsp.folders import Folder, Opener
    from synapse_ls.lsp.session import Session

_LOG = logging.getLogger(__name__)

_SECTION = "synapse"
# How long vaults wait to be opened for the client to say what holds for them.
_PATIENCE_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Layers:
    """What the client has said, each part as it came and None where it has said nothing; ``folders`` is by URI.

    They are kept apart, so that a value which leaves one of them gives way to those below.
    """

    base: Settings
    options: object = None
    editor: object = None
    folders: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Effective:
    """The settings that hold: ``shared`` for all, ``folders`` by URI where one has its own, and each warning once."""

    shared: Settings
    folders: Mapping[str, Settings]
    warnings: tuple[str, ...] = ()


def effective(layers: Layers) -> Effective:
    """Lay the options over the base, the editor's settings over these, and each folder's own over both.

    What a client says of one folder may come from a file in there, so keys of ``NOT_FROM_A_VAULT`` are not taken.
    """
    shared, warnings = config.apply(layers.base, _own(layers.options), "initializationOptions")
    source = lsp.WORKSPACE_CONFIGURATION
    shared, more = config.apply(shared, layers.editor, source)
    warnings += more
    repeats, folders = config.flat(layers.editor), {}
    for uri, values in layers.folders.items():
        folders[uri], more = config.apply(shared, values, source, repeats=repeats)
        warnings += more
    return Effective(shared, folders, tuple(dict.fromkeys(warnings)))


class Configuration:
    """Keeps the layers of a session, asks the client for its own and lets the vaults know. On the event loop."""

    def __init__(self, session: "Session", opener: "Opener", base: Settings) -> None:
        self._session = session
        self._opener = opener
        self._layers = Layers(base)
        self._now = Effective(base, {})
        self._told: tuple[str, ...] = ()
        self._waiting: dict[str, Folder] = {}
        # The number of the last question and of the last one that was answered.
        self._asked = self._answered = 0
        self._patience: asyncio.TimerHandle | None = None
        self._again = False

    @property
    def shared(self) -> Settings:
        """The settings that hold where no folder has its own; may be read from any thread."""
        return self._now.shared

    def of(self, uri: str) -> Settings:
        """Return the settings of a folder without those of its vault's file; may be called from any thread."""
        now = self._now
        return now.folders.get(uri, now.shared)

    def begin(self, options: object) -> None:
        """Take over the options of ``initialize``."""
        self._layers = replace(self._layers, options=options)
        self._now = effective(self._layers)

    def start(self, folders: Iterable["Folder"]) -> None:
        """Say what is wrong with the options, ask to hear of changes, and have the vaults of the folders opened."""
        self._warn()
        workspace = self._session.capabilities.workspace
        changes = workspace and workspace.did_change_configuration
        if changes and changes.dynamic_registration:
            method = lsp.WORKSPACE_DID_CHANGE_CONFIGURATION
            options = lsp.DidChangeConfigurationRegistrationOptions(section=_SECTION)
            wish = lsp.Registration(id=f"synapse-{method}", method=method, register_options=options)
            self._session.request(lsp.CLIENT_REGISTER_CAPABILITY, lsp.RegistrationParams([wish]))
        self.open(folders)
        if not self._waiting and self._can_ask():
            self.ask()

    def open(self, folders: Iterable["Folder"]) -> None:
        """Have vaults opened when the client has said what holds for them, or has let a second pass."""
        for folder in folders:
            if self._can_ask():
                self._waiting[folder.uri] = folder
            else:
                self._opener.open(folder)
        if self._waiting:
            self.ask()

    def change(self, values: object) -> None:
        """Take over changed settings: ask for them where the client can be asked, else they are ``values``."""
        if self._can_ask():
            self.ask()
        elif values:
            self._take(replace(self._layers, editor=_own(values)))

    def ask(self) -> None:
        """Ask the client for its settings; calls until the answer comes are merged into one more question."""
        if self._session.loop is None:
            return
        self._again = self._patience is not None
        if self._again:
            return
        self._asked += 1
        uris = list(self._session.folders)
        self._patience = self._session.loop.call_later(_PATIENCE_SECONDS, self._go_on, uris)
        items = [lsp.ConfigurationItem(scope_uri=uri, section=_SECTION) for uri in (None, *uris)]
        answer: Future[Any] = self._session.request(lsp.WORKSPACE_CONFIGURATION, lsp.ConfigurationParams(items))
        answer.add_done_callback(partial(self._hear, self._asked, uris))

    def stop(self) -> None:
        """Wait for no answer any more."""
        if self._patience is not None:
            self._patience.cancel()
        self._waiting.clear()

    def _can_ask(self) -> bool:
        workspace = self._session.capabilities.workspace
        return bool(workspace and workspace.configuration)

    def _hear(self, number: int, uris: list[str], answer: "Future[Any]") -> None:
        """Take an answer, in time or late, unless a later question was answered before."""
        if answer.cancelled():
            return  # the connection ends
        if number > self._answered:
            self._answered = number
            error = answer.exception()
            parts = None if error is not None else answer.result()
            if isinstance(parts, list | tuple):
                editor, scoped = next(iter(parts), None), dict(zip(uris, parts[1:], strict=False))
                self._take(replace(self._layers, editor=editor, folders=scoped))
            else:
                _LOG.info("the client does not tell its settings (%s)", error or "its answer is no list")
        if number == self._asked and self._patience is not None:
            self._patience.cancel()
            self._go_on(uris)

    def _go_on(self, uris: Iterable[str]) -> None:
        """Open the vaults that a question was about, whether or not it was answered."""
        self._patience = None
        for uri in uris:
            folder = self._waiting.pop(uri, None)
            if folder is not None and self._session.folders.get(uri) is folder:
                self._opener.open(folder)
        if self._again:
            self.ask()

    def _take(self, layers: Layers) -> None:
        before, self._layers, self._now = self._now, layers, effective(layers)
        self._warn()
        if (before.shared, before.folders) != (self._now.shared, self._now.folders):
            self._opener.configure()

    def _warn(self) -> None:
        """Show what is wrong since the last time; what was mended and is wrong again is shown again."""
        for sentence in self._now.warnings:
            if sentence not in self._told:
                self._session.show(sentence)
        self._told = self._now.warnings


def _own(values: object) -> object:
    """Return the section of ours where a client gives it under its name."""
    return values.get(_SECTION, values) if isinstance(values, Mapping) else values
