"""Settings from the editor, live, and from a vault's own file."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from lsprotocol import types as lsp
from pytest_lsp import ClientServerConfig

from tests.e2e.conftest import SMALL
from tests.e2e.editor import COMMAND, TIMEOUT, Editor, environment_of, paths, quiet, write
from tests.e2e.test_lifecycle import EMPTY, converse, notification, request, responses

pytestmark = pytest.mark.asyncio(loop_scope="session")

NO_MODEL = {"embedding": {"model": "none"}}
Answer = Callable[[str | None], Any]


class Configured(Editor):
    """An editor that is asked for its settings; ``answer`` gives those of a scope, an error where it raises.

    It answers when ``free`` is set.
    """

    def __init__(self, answer: Answer) -> None:
        super().__init__()
        self.answer = answer
        self.asked: list[list[str | None]] = []
        self.registered: list[lsp.Registration] = []
        self.free = asyncio.Event()
        self.protocol.fm.features[lsp.WORKSPACE_CONFIGURATION] = self._is_asked
        self.protocol.fm.features[lsp.CLIENT_REGISTER_CAPABILITY] = self._registers

    async def _is_asked(self, params: lsp.ConfigurationParams) -> list[Any]:
        self.asked.append([item.scope_uri for item in params.items])
        await self.free.wait()
        return [self.answer(item.scope_uri) for item in params.items]

    async def _registers(self, params: lsp.RegistrationParams) -> None:
        self.registered += params.registrations

    def change(self, answer: Answer) -> None:
        """Change the settings and say so."""
        self.answer = answer
        self.push(None)

    def push(self, settings: Any) -> None:  # noqa: ANN401 - whatever a client sends
        """Send settings."""
        self.workspace_did_change_configuration(lsp.DidChangeConfigurationParams(settings=settings))

    def told(self, key: str) -> int:
        """Return how often the user was told of a key."""
        return sum(key in message.message for message in self.messages)


def same(settings: Any) -> Answer:  # noqa: ANN401 - whatever a client answers
    """Return the same settings for every scope."""
    return lambda _scope: settings


@asynccontextmanager
async def configured(  # noqa: PLR0913 - a connection has that many sides
    folders: Sequence[Path],
    cache: Path,
    answer: Answer,
    *,
    options: dict[str, Any] | None = None,
    asks: bool = True,
    silent: bool = False,
) -> AsyncIterator[Configured]:
    """Give an editor with settings of its own, connected with a server."""
    config = ClientServerConfig(
        server_command=[*COMMAND, "serve"],
        client_factory=partial(Configured, answer),
        server_env=environment_of(cache),
    )
    editor = await config.start()
    assert isinstance(editor, Configured)
    if not silent:
        editor.free.set()
    changes = lsp.DidChangeConfigurationClientCapabilities(dynamic_registration=asks)
    workspace = lsp.WorkspaceClientCapabilities(configuration=asks, did_change_configuration=changes)
    try:
        async with asyncio.timeout(TIMEOUT):
            await editor.initialize_session(
                lsp.InitializeParams(
                    capabilities=lsp.ClientCapabilities(workspace=workspace),
                    workspace_folders=[lsp.WorkspaceFolder(folder.as_uri(), folder.name) for folder in folders],
                    initialization_options=options,
                )
            )
        yield editor
    finally:
        async with asyncio.timeout(TIMEOUT):
            await editor.shutdown_session()
            await editor.stop()  # type: ignore[no-untyped-call]  # the library's


async def notes(editor: Editor, *wanted: int) -> None:
    """Wait until the vaults are quiet and hold so many notes each."""

    async def met() -> bool:
        vaults = (await editor.status())["vaults"]
        return [vault["notes"] for vault in vaults] == list(wanted) and all(quiet(vault) for vault in vaults)

    await editor.eventually(met)


async def test_a_vault_is_opened_with_what_the_editor_says(small: Path, cache: Path) -> None:
    """The options give way, a folder's own settings win, its file over these; nothing is indexed to be thrown away."""
    other = write(small.parent / "other", {**SMALL, "one.txt": "x\n", ".synapse.toml": '[index]\nexclude = ["C*"]\n'})
    answers: dict[str | None, Any] = {
        None: {**NO_MODEL, "index": {"exclude": ["Bread.md"]}},
        other.as_uri(): {"index": {"exclude": ["*"], "extensions": [".md", ".txt"]}},
    }
    options = {"index": {"exclude": ["*"]}, "embedding.model": "no such model"}
    async with configured([small, other], cache, answers.get, options=options) as editor:
        await notes(editor, 3, 3)
        assert editor.asked == [[None, small.as_uri(), other.as_uri()]]
        assert [vault["counters"]["filesRead"] for vault in (await editor.status())["vaults"]] == [3, 3]
        assert editor.messages == []
        (wish,) = editor.registered
        assert wish.method == lsp.WORKSPACE_DID_CHANGE_CONFIGURATION


async def test_changed_settings_hold_at_once(small: Path, cache: Path) -> None:
    """What belongs to the vault, how many hits, and back again when the key is taken away."""
    async with configured([small], cache, same(NO_MODEL), options={"index.exclude": ["Bread.md"]}) as editor:
        await notes(editor, 3)
        editor.change(same({**NO_MODEL, "index": {"exclude": ["Trips/"]}, "search": {"limit": 1}}))

        async def changed() -> bool:
            return paths(small, await editor.search("bread")) == ["Bread.md"]

        await editor.eventually(changed)
        await editor.until(lambda vault: vault["notes"] == 3 and quiet(vault))
        assert len((await editor.search("radiator OR dough OR motorway"))["hits"]) == 1
        editor.change(same(NO_MODEL))
        await editor.until(lambda vault: vault["notes"] == 3 and vault["state"] == "ready")

        async def back() -> bool:
            return paths(small, await editor.search("crampons")) == ["Trips/Alps.md"]

        await editor.eventually(back)
        assert editor.messages == []


async def test_a_burst_of_changes_ends_with_the_last(small: Path, cache: Path) -> None:
    """And costs few questions."""
    async with configured([small], cache, same(NO_MODEL)) as editor:
        await notes(editor, 4)
        for number in range(50):
            editor.change(same({**NO_MODEL, "index.exclude": [] if number % 2 else ["Bread.md"]}))
        editor.change(same({**NO_MODEL, "index.exclude": ["Bread.md", "Trips"]}))
        await notes(editor, 2)
        assert len(editor.asked) <= 4


async def test_another_model_is_taken_up_and_let_go(small: Path, cache: Path) -> None:
    """The words answer all the time; the vectors come without a second start."""
    async with configured([small], cache, same(NO_MODEL)) as editor:
        await notes(editor, 4)
        editor.change(same({"embedding": {"model": "bundled", "threads": 1}}))
        await editor.until(lambda vault: vault["model"]["state"] == "ready" and quiet(vault))
        answer = await editor.search("puppy or kitten", mode="semantic")
        assert answer["legs"]["semantic"]["state"] == "ok"
        editor.change(same({"embedding": {"model": "bundled", "threads": 2}}))
        editor.change(same(NO_MODEL))
        await editor.until(lambda vault: vault["model"]["state"] == "missing")
        assert paths(small, await editor.search("radiator"))[0] == "Cat.md"
        assert [message.message for message in editor.messages] == []


async def test_a_file_in_the_workspace_chooses_no_model(small: Path, cache: Path) -> None:
    """The client passes on what it says of the folder; one warning, however often."""
    answers: dict[str | None, Any] = {None: NO_MODEL, small.as_uri(): {"embedding": {"model": "evil", "threads": 3}}}
    async with configured([small], cache, answers.get) as editor:
        await notes(editor, 4)
        assert (await editor.vault())["model"]["name"] == "none"
        editor.change(lambda scope: {**answers[scope], "hover.maxLines": 3})
        await editor.eventually(lambda: asked(editor, 2))
        assert (editor.told("embedding.model"), editor.told("embedding.threads"), len(editor.messages)) == (1, 1, 2)


async def asked(editor: Configured, count: int) -> bool:
    """Return whether the editor was asked so often, and is answered since."""
    await editor.status()
    return len(editor.asked) >= count


async def test_wrong_values_are_told_once_until_they_are_mended(small: Path, cache: Path) -> None:
    """From each of the three sources, named with the key; null is no value."""
    write(small, {".synapse.toml": "[hover]\nmaxLines = 0\n"})
    wrong = {**NO_MODEL, "search": {"limit": "many"}, "index": None, "links": {"dialect": None}}
    async with configured([small], cache, same(wrong), options={"rerank": {"topK": 0}, "trust": None}) as editor:
        await notes(editor, 4)
        editor.change(same({**wrong, "index": {"exclude": ["Bread.md"]}}))
        await notes(editor, 3)
        told = [message.message.partition(" must")[0] for message in editor.messages]
        assert sorted(told) == [
            "Synapse: .synapse.toml: hover.maxLines",
            "Synapse: initializationOptions: rerank.topK",
            "Synapse: workspace/configuration: search.limit",
        ]
        editor.change(same(NO_MODEL))
        await notes(editor, 4)
        editor.change(same({**wrong, "index": {"exclude": ["Bread.md"]}}))
        await notes(editor, 3)
        assert (editor.told("search.limit"), len(editor.messages)) == (2, 4)


@pytest.mark.parametrize("answer", [None, 3, [], {"index": 3}])
async def test_a_wrong_answer_hinders_nothing(small: Path, cache: Path, answer: object) -> None:
    """Null, or no table, or tables of something else."""
    async with configured([small], cache, same(answer), options=NO_MODEL) as editor:
        await notes(editor, 4)
        assert len(editor.messages) == (1 if answer else 0)


async def test_an_error_in_place_of_an_answer_hinders_nothing(small: Path, cache: Path) -> None:
    """The options hold."""

    def refuse(_scope: str | None) -> None:
        raise LookupError("no settings here")

    async with configured([small], cache, refuse, options=NO_MODEL) as editor:
        await notes(editor, 4)
        assert editor.messages == []


async def test_a_client_that_does_not_answer_is_not_waited_for(small: Path, cache: Path) -> None:
    """The vault is opened after a second; what the client says at last counts then."""
    async with configured(
        [small], cache, same({"index.exclude": ["Bread.md"]}), options=NO_MODEL, silent=True
    ) as editor:
        assert [vault["state"] for vault in (await editor.status())["vaults"]] == ["starting"]
        await notes(editor, 4)
        editor.push(None)
        assert paths(small, await editor.search("dough"))[0] == "Bread.md"
        editor.free.set()
        await notes(editor, 3)


async def test_the_end_waits_for_no_answer(small: Path, cache: Path) -> None:
    """A client that never answers gets its exit at once."""
    workspace = {"workspaceFolders": [{"uri": small.as_uri(), "name": "vault"}]}
    params = {**EMPTY, **workspace, "capabilities": {"workspace": {"configuration": True}}}
    began = monotonic()
    code, received, err = converse(
        cache,
        request(1, "initialize", params),
        notification("initialized", {}),
        request(2, "shutdown"),
        notification("exit"),
    )
    assert (code, err, responses(received)[2]["result"]) == (0, "", None)
    assert [message["method"] for message in received if "id" in message and "method" in message] == [
        "workspace/configuration"
    ]
    assert monotonic() - began < 5


async def test_a_client_that_cannot_be_asked_sends_its_settings(small: Path, cache: Path) -> None:
    """Under our name or as they are; what says nothing changes nothing, an empty section takes all back."""
    async with configured([small], cache, same(None), options=NO_MODEL, asks=False) as editor:
        await notes(editor, 4)
        editor.push({"synapse": {"index": {"exclude": ["Bread.md"]}}})
        await notes(editor, 3)
        empty: list[object] = [None, {}, []]
        for settings in empty:
            editor.push(settings)
        assert (await editor.vault())["notes"] == 3
        editor.push({"index": {"exclude": ["Bread.md", "Cat.md"]}})
        await notes(editor, 2)
        editor.push({"synapse": {}})
        await notes(editor, 4)
        assert (editor.asked, editor.registered, editor.messages) == ([], [], [])
