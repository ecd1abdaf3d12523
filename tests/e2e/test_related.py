"""``synapse/related``, ``textDocument/implementation`` and ``synapse-ls related`` with the bundled model."""

from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from tests.e2e.conftest import SMALL, Home
from tests.e2e.editor import Editor, paths, quiet, relative, run, serving, write

pytestmark = pytest.mark.asyncio(loop_scope="session")

HIT = {
    "uri", "range", "title", "headingPath", "snippet", "score", "band", "matchedBy", "trust", "reasons",
}  # fmt: skip
VAULT = {
    **SMALL,
    "Truck.md": "# Towing\n\nA breakdown lorry picked up the automobile with the flat battery. [[Car]]\n",
    "Plan.md": "# Plan\n\n## Food\n\nBake a loaf with yeast.\n\n## Ride\n\nThe vehicle stopped on the motorway.\n",
}


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    """A vault with a note that links and one of two sections."""
    return write(tmp_path / "vault", VAULT)


async def ask(editor: Editor, path: Path, **more: object) -> dict[str, Any]:
    """Ask ``synapse/related``."""
    answer: dict[str, Any] = await editor.ask("synapse/related", {"uri": path.as_uri(), **more})
    return answer


def reasons(root: Path, answer: dict[str, Any], path: str) -> list[str]:
    """Return why a note is related."""
    (found,) = (hit["reasons"] for hit in answer["hits"] if relative(root, hit["uri"]) == path)
    return list(found)


async def test_a_note_and_each_of_its_sections_have_relatives(vault: Path, cache: Path) -> None:
    """By meaning and by links, with reasons; the answer has the fields of the contract and no others."""
    async with serving([vault], cache) as editor:
        await editor.settled()
        car = await ask(editor, vault / "Car.md")
        food = await ask(editor, vault / "Plan.md", position={"line": 4, "character": 2}, limit=1)
        ride = await ask(editor, vault / "Plan.md", position={"line": 8, "character": 0}, limit=1)
    assert set(car) == {"generation", "hits", "legs", "elapsedMs"}
    assert all(set(hit) == HIT for hit in car["hits"])
    assert paths(vault, car)[0] == "Truck.md"
    assert reasons(vault, car, "Truck.md") == [
        "links to this note", "similar passage: Towing", "both speak of Car, battery"
    ]  # fmt: skip
    assert paths(vault, food) == ["Bread.md"]
    assert paths(vault, ride) == ["Car.md"]


async def test_implementation_is_go_to_related_notes(vault: Path, cache: Path) -> None:
    """The passages most related to the section under the cursor; nothing for documents of other kinds."""
    async with serving([vault], cache) as editor:
        await editor.settled()
        editor.open(vault / "Plan.md", VAULT["Plan.md"])
        asked = lsp.ImplementationParams(lsp.TextDocumentIdentifier((vault / "Plan.md").as_uri()), lsp.Position(4, 2))
        found = await editor.text_document_implementation_async(asked)
        foreign = lsp.ImplementationParams(lsp.TextDocumentIdentifier("untitled:Untitled-1"), lsp.Position(0, 0))
        assert not await editor.text_document_implementation_async(foreign)
    assert isinstance(found, list)
    first = found[0]
    assert isinstance(first, lsp.Location)
    assert (relative(vault, first.uri), first.range.start.line) == ("Bread.md", 0)


async def test_an_open_note_counts_as_it_is_on_the_screen(vault: Path, cache: Path) -> None:
    """Its words and links, before it is saved."""
    async with serving([vault], cache, options={"embedding": {"model": "none"}}) as editor:
        await editor.settled()
        editor.open(vault / "Cat.md", "# Cat\n\nShe wears [[Trips/Alps|crampons]] and carries a rope.\n")

        async def seen() -> bool:
            told = await ask(editor, vault / "Cat.md")
            return paths(vault, told)[:1] == ["Trips/Alps.md"]

        await editor.eventually(seen)
        answer = await ask(editor, vault / "Cat.md")
        assert reasons(vault, answer, "Trips/Alps.md")[0] == "this note links to it"
        assert any("crampons" in reason for reason in reasons(vault, answer, "Trips/Alps.md"))
        assert answer["legs"]["semantic"]["state"] == "unavailable"


async def test_what_cannot_be_answered_is_an_error(editor: Editor, life: Home) -> None:
    """A note that is not there, a document of another kind, a note of no vault: never an empty answer."""
    for uri, said in (
        ((life.root / "Gone.md").as_uri(), "no note Gone.md"),
        ("untitled:Untitled-1", "open the folder"),
        ("file:///no/such/folder/a.md", "open the folder"),
    ):
        with pytest.raises(JsonRpcException, match=said):
            await editor.ask("synapse/related", {"uri": uri})
    assert quiet(await editor.vault())


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A vault whose index is current."""
    folder = tmp_path_factory.mktemp("related")
    root = write(folder / "vault", VAULT)
    return Home(root, folder / "cache", run(folder / "cache", "index", root))


async def test_the_command_prints_title_place_and_reasons(home: Home) -> None:
    """For people; the vault may be the current folder."""
    ran = run(home.cache, "related", "Car.md", "-n", "1", cwd=home.root)
    assert (ran.code, ran.err) == (0, "")
    first, _, why = ran.out.rstrip("\n").split("\n")
    assert first == "1. Towing  Truck.md:1  (Towing)"
    assert why == "   links to this note; similar passage: Towing; both speak of Car, battery"


async def test_the_command_as_json_has_the_protocols_shape(home: Home) -> None:
    """With a path for a URI; a heading narrows it to a section."""
    answer = run(home.cache, "related", home.root, "Plan.md#Food", "--json", "-n", "1").json
    assert set(answer) == {"generation", "hits", "legs", "elapsedMs"}
    (hit,) = answer["hits"]
    assert set(hit) == HIT - {"uri"} | {"path"}
    assert (hit["path"], hit["reasons"]) == ("Bread.md", ["both speak of bake", "similar passage: Bread"])


@pytest.mark.parametrize(
    ("note", "said"),
    [("Gone.md", "there is no note Gone.md"), ("Plan.md#Fire", "Plan.md has no heading Fire; its first headings are")],
)
async def test_the_command_refuses_what_is_not_there(home: Home, note: str, said: str) -> None:
    """One line and exit code 2."""
    ran = run(home.cache, "related", home.root, note)
    assert (ran.code, ran.out) == (2, "")
    (line,) = ran.err.strip().split("\n")
    assert said in line
