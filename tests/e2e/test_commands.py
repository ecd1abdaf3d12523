"""Commands that the user runs by name."""

from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams

from tests.e2e.editor import Editor, paths, quiet, serving, write
from tests.e2e.test_folders import ready, until_all

pytestmark = pytest.mark.asyncio(loop_scope="session")

NO_MODEL = {"embedding": {"model": "none"}}


async def execute(editor: Editor, command: str, *arguments: object) -> Any:  # noqa: ANN401 - each command has its own
    """Execute a command."""
    return await editor.ask(
        lsp.WORKSPACE_EXECUTE_COMMAND, lsp.ExecuteCommandParams(command, list(arguments) if arguments else None)
    )


async def test_the_commands_that_are_announced_are_those_that_work(small: Path, cache: Path) -> None:
    """No more and no fewer."""
    async with serving([small], cache, options=NO_MODEL) as editor:
        await editor.settled()
        with pytest.raises(JsonRpcInvalidParams) as refused:
            await execute(editor, "synapse.forget")
        announced = ["synapse.reindex", "synapse.rebuildIndex", "synapse.status"]
        all_there_are = ", ".join([*announced, "synapse.pullModel"])
        assert refused.value.message == f"there is no such command; the commands are {all_there_are}"
        for command in announced:
            await execute(editor, command)


async def test_status_is_that_of_all_vaults_or_of_one(small: Path, cache: Path) -> None:
    """A note and a folder stand for the vault they lie in, the innermost."""
    inner, note = small / "Trips", small / "Cat.md"
    async with serving([small, inner], cache, options=NO_MODEL) as editor:
        await until_all(editor, ready(2, 4))
        assert await execute(editor, "synapse.status") == await editor.status()
        for uri, root in [
            (note.as_uri(), small),
            (small.as_uri(), small),
            (f"{small.as_uri()}/", small),
            (inner.as_uri(), inner),
            ((inner / "Alps.md").as_uri(), inner),
            ((inner / "not there").as_uri(), inner),
        ]:
            status = await execute(editor, "synapse.status", {"uri": uri})
            assert [vault["root"] for vault in status["vaults"]] == [root.as_uri()]


@pytest.mark.parametrize("command", ["synapse.reindex", "synapse.rebuildIndex", "synapse.status"])
async def test_a_wrong_argument_is_refused_with_a_sentence(command: str, editor: Editor) -> None:
    """One that is no object with a URI, more than one, and a place that no vault has."""
    uri = (await editor.vault())["root"]
    wrong: list[list[object]] = [[None], ["x"], [3], [{}], [[]], [{"uri": 3}], [{"uri": None}], [{"uri": uri}] * 2]
    for arguments in wrong:
        with pytest.raises(JsonRpcInvalidParams, match="a command takes no argument, or one"):
            await execute(editor, command, *arguments)
    for uri in ("file:///nowhere/at/all.md", "untitled:1", "", "file://[x"):
        with pytest.raises(JsonRpcInvalidParams, match="lies in no folder that is open"):
            await execute(editor, command, {"uri": uri})


async def test_reindex_reads_nothing_that_is_unchanged(small: Path, cache: Path) -> None:
    """It answers null; what changed is found, by the watcher or by the walk or by both."""
    async with serving([small], cache, options=NO_MODEL) as editor:
        before = await editor.settled()
        assert await execute(editor, "synapse.reindex", {"uri": small.as_uri()}) is None
        write(small, {"New.md": "# New\n\nA heron.\n"})
        assert await execute(editor, "synapse.reindex") is None
        after = await editor.until(lambda vault: vault["notes"] == 5 and quiet(vault))
        assert after["counters"]["filesRead"] - before["counters"]["filesRead"] in (1, 2)


async def test_rebuild_reads_all_and_answers_meanwhile(small: Path, cache: Path) -> None:
    """It answers null at once; the index in use speaks until the other is done."""
    async with serving([small], cache, options=NO_MODEL) as editor:
        before = await editor.settled()
        assert await execute(editor, "synapse.rebuildIndex") is None

        async def made() -> bool:
            assert paths(small, await editor.search("radiator"))[0] == "Cat.md"
            vault = await editor.vault()
            return vault["generation"] > before["generation"] and quiet(vault) and vault["notes"] == 4

        await editor.eventually(made)
        assert [message.message for message in editor.messages] == []


async def test_rebuild_is_refused_while_another_writes_the_index(small: Path, cache: Path) -> None:
    """In one sentence, as a failed request; the others are begun all the same."""
    own = write(small.parent / "own", {"Own.md": "# Own\n"})
    async with serving([small], cache, options=NO_MODEL) as writer:
        await writer.settled()
        async with serving([small, own], cache, options=NO_MODEL) as reader:
            both = ["readOnly", "ready"]
            await until_all(reader, lambda all_: [vault["state"] for vault in all_] == both and all_[1]["notes"] == 1)
            before = (await reader.status())["vaults"][1]["generation"]
            with pytest.raises(JsonRpcException, match="another Synapse is writing this index") as refused:
                await execute(reader, "synapse.rebuildIndex")
            assert refused.value.code == lsp.LSPErrorCodes.RequestFailed
            await until_all(reader, lambda all_: all_[1]["generation"] > before)
            assert await execute(reader, "synapse.reindex") is None


async def test_without_a_folder_commands_have_nothing_to_do(cache: Path) -> None:
    """No error."""
    async with serving([], cache) as editor:
        assert await execute(editor, "synapse.reindex") is None
        assert await execute(editor, "synapse.rebuildIndex") is None
        assert (await execute(editor, "synapse.status"))["vaults"] == []
