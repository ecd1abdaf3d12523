"""One copy of the sample vault, its index and a server on it for all tests that only ask."""

import shutil
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio
from lsprotocol import types as lsp

from tests.e2e.editor import Editor, Ran, fingerprint, run, serving, write
from tests.support.queries import LIFE

SMALL = {
    "Car.md": "# Old car\n\nThe vehicle's battery died on the motorway and a tow truck came for it.\n",
    "Bread.md": "# Bread\n\nKnead the dough, let it rise for an hour, bake until the crust is brown. #kitchen\n",
    "Cat.md": "# Cat\n\nShe sleeps on the radiator all winter. See [[Bread]].\n",
    "Trips/Alps.md": "# Alps\n\nWe climbed three summits with rope and crampons.\n",
}

WIDE = {
    "Sun.md": "# Sun\n\n🌞🌞 Żółty 日 then sunflower 🌻 and sunflower again.\n",
    "A.md": "🪜🪜 日本 żółć [[B]] and more",
    "B.md": "# B\n",
}


@dataclass(frozen=True, slots=True)
class Home:
    """A vault and the cache that holds its index; ``indexed`` is what ``synapse-ls index`` said."""

    root: Path
    cache: Path
    indexed: Ran


@pytest.fixture(scope="session")
def life(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """A copy of the sample vault, indexed by the command line; nothing may have touched it in the end."""
    folder = tmp_path_factory.mktemp("life")
    root = folder / "life"
    shutil.copytree(LIFE, root)
    before = fingerprint(root)
    yield Home(root, folder / "cache", run(folder / "cache", "index", root, "--json"))
    assert fingerprint(root) == before


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def editor(life: Home) -> AsyncIterator[Editor]:
    """An editor on the sample vault, its index current."""
    async with serving([life.root], life.cache) as editor:
        await editor.settled()
        yield editor


@dataclass(frozen=True, slots=True)
class Encoded:
    """An editor that counts positions in one of the units, and its vault."""

    editor: Editor
    encoding: str
    root: Path


@pytest_asyncio.fixture(scope="session", loop_scope="session", params=["utf-8", "utf-16", "utf-32"])
async def encoded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Encoded]:
    """An editor for each of the units, on a vault with characters of every width."""
    folder = tmp_path_factory.mktemp("wide")
    root = write(folder / "vault", WIDE)
    general = lsp.GeneralClientCapabilities(position_encodings=[lsp.PositionEncodingKind(request.param)])
    capabilities = lsp.ClientCapabilities(general=general)
    options = {"embedding": {"model": "none"}}
    async with serving([root], folder / "cache", capabilities=capabilities, options=options) as editor:
        await editor.settled()
        yield Encoded(editor, request.param, root)


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A vault of a few short notes."""
    return write(tmp_path / "vault", SMALL)


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """An empty cache."""
    return tmp_path / "cache"
