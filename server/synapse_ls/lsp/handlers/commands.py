"""Commands that the user runs by name, on all vaults or on one."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams

from synapse_ls.core.errors import IndexStateError
from synapse_ls.lsp.folders import Folder
from synapse_ls.lsp.handlers import models
from synapse_ls.lsp.session import Session

if TYPE_CHECKING:
    from synapse_ls.vault.vault import Vault


async def execute(session: Session, params: lsp.ExecuteCommandParams) -> dict[str, Any] | None:
    """Answer ``workspace/executeCommand``; work on an index is begun and not waited for, a model is.

    Raises:
        JsonRpcInvalidParams: There is no such command, or its argument chooses no vault.
        JsonRpcException: The command cannot be carried out now.
    """
    if params.command == PULL_MODEL:
        return await models.pull(session, params)
    command = COMMANDS.get(params.command)
    if command is None:
        raise JsonRpcInvalidParams(f"there is no such command; the commands are {', '.join(NAMES)}")
    return await command(session, _chosen(session, params.arguments or ()))


async def _reindex(session: Session, folders: list[Folder]) -> None:
    """Look at every file's stamp again and retry what could not be embedded."""

    def work() -> None:
        for vault in _vaults(folders):
            vault.retry()

    await session.run(work)


async def _rebuild(session: Session, folders: list[Folder]) -> None:
    """Begin new indexes beside the old ones; one that cannot be begun does not keep the others from it."""

    def work() -> list[str]:
        problems = [f"{folder.path.name} is still being opened" for folder in folders if folder.vault is None]
        for vault in _vaults(folders):
            try:
                vault.rebuild()
            except IndexStateError as error:
                problems.append(str(error))
        return problems

    problems = await session.run(work)
    if problems:
        raise JsonRpcException("; ".join(dict.fromkeys(problems)), code=lsp.LSPErrorCodes.RequestFailed.value)


async def _status(session: Session, folders: list[Folder]) -> dict[str, Any]:
    """Tell the state of the vaults, as ``synapse/status`` does."""
    return await session.run(session.status, folders)


COMMANDS: dict[str, Callable[[Session, list[Folder]], Awaitable[dict[str, Any] | None]]] = {
    "synapse.reindex": _reindex,
    "synapse.rebuildIndex": _rebuild,
    "synapse.status": _status,
}
PULL_MODEL = "synapse.pullModel"
NAMES = (*COMMANDS, PULL_MODEL)


def _chosen(session: Session, arguments: Sequence[object]) -> list[Folder]:
    """Return the folders that a command is about: all, or the one that holds the document or folder named."""
    if not arguments:
        return list(session.folders.values())
    argument, *more = arguments
    uri = argument.get("uri") if isinstance(argument, Mapping) else None
    if more or not isinstance(uri, str):
        raise JsonRpcInvalidParams('a command takes no argument, or one: { "uri": ... } of a note or folder')
    place = session.folder_of(uri)
    if place is None:
        raise JsonRpcInvalidParams("the uri lies in no folder that is open")
    return [place[0]]


def _vaults(folders: list[Folder]) -> list["Vault"]:
    """Return the vaults of folders, each once."""
    return list({id(folder.vault): folder.vault for folder in folders if folder.vault is not None}.values())
