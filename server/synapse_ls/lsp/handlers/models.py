"""Downloading a model for the user who asked for it, with progress and a way to stop."""

import asyncio
import itertools
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams

from synapse_ls.core.errors import ModelError, SynapseError

if TYPE_CHECKING:
    from synapse_ls.inference.registry import AnySpec
    from synapse_ls.lsp.session import Session

_DOWNLOAD, _LEAVE = "Download", "Do not download"
_SECONDS_BETWEEN = 0.2
_TOKENS = itertools.count(1)


async def pull(session: "Session", params: lsp.ExecuteCommandParams) -> dict[str, Any]:
    """Download the model named by the command's argument; answers when it is there.

    The user is asked first, unless the argument says that they have agreed.

    Raises:
        JsonRpcInvalidParams: The argument names no model.
        JsonRpcException: The user does not agree or stops it, or it cannot be downloaded.
    """
    # Imported here: the libraries behind it are for few sessions.
    from synapse_ls.inference import catalogue, download  # noqa: PLC0415 - see above
    from synapse_ls.vault import location  # noqa: PLC0415 - see above

    name, agreed = _asked(params.arguments or ())
    folder = location.model_folder()
    try:
        spec = await session.run(catalogue.resolve_any, name, folder)
        terms = download.consent(spec, folder)
        if not agreed:
            await _ask(session, terms)
        manifest = await _pulled(session, spec, params.work_done_token)
    except SynapseError as error:
        raise JsonRpcException(str(error), code=lsp.LSPErrorCodes.RequestFailed.value) from error
    session.model_arrived(spec.name)
    return {
        "name": spec.name,
        "kind": spec.kind,
        "sizeBytes": manifest.size,
        "source": manifest.source,
        "revision": manifest.revision,
    }


def _asked(arguments: Sequence[object]) -> tuple[str, bool]:
    """Return the model's name and whether the user has agreed already."""
    argument = arguments[0] if len(arguments) == 1 else None
    if isinstance(argument, str):
        argument = {"name": argument}
    name = argument.get("name") if isinstance(argument, Mapping) else None
    if not isinstance(name, str) or not name.strip():
        raise JsonRpcInvalidParams('synapse.pullModel takes one argument: { "name": ..., "consent"?: true }')
    return name, isinstance(argument, Mapping) and argument.get("consent") is True


async def _ask(session: "Session", terms: str) -> None:
    """Ask the user; raises ModelError if they do not agree, or cannot be asked."""
    actions = [lsp.MessageActionItem(_DOWNLOAD), lsp.MessageActionItem(_LEAVE)]
    question = lsp.ShowMessageRequestParams(lsp.MessageType.Info, f"Synapse: {terms}", actions)
    try:
        answer = await asyncio.wrap_future(session.request(lsp.WINDOW_SHOW_MESSAGE_REQUEST, question))
    except JsonRpcException:
        answer = None
    title = answer.get("title") if isinstance(answer, Mapping) else getattr(answer, "title", None)
    if title != _DOWNLOAD:
        raise ModelError(f'nothing was downloaded ({terms}); to agree without being asked, give "consent": true')


async def _pulled(session: "Session", spec: "AnySpec", token: lsp.ProgressToken | None) -> Any:  # noqa: ANN401 - the list of its files
    """Download off the event loop; cancelling the request or its progress stops it."""
    from synapse_ls.inference import download  # noqa: PLC0415 - as in pull
    from synapse_ls.vault import location  # noqa: PLC0415 - as in pull

    loop, stop = asyncio.get_running_loop(), threading.Event()
    window = session.capabilities.window
    if token is None and window is not None and window.work_done_progress:
        token = f"synapse-model-{next(_TOKENS)}"
        with suppress(JsonRpcException):
            create = lsp.WorkDoneProgressCreateParams(token)
            await asyncio.wrap_future(session.request(lsp.WINDOW_WORK_DONE_PROGRESS_CREATE, create))

    def tell(value: Any) -> None:  # noqa: ANN401 - one of three kinds of the protocol
        if token is not None:
            session.notify(lsp.PROGRESS, lsp.ProgressParams(token, value))

    told = [0.0]

    def progress(done: int, total: int) -> None:
        if time.monotonic() - told[0] >= _SECONDS_BETWEEN:
            told[0] = time.monotonic()
            said = f"{download.size(done)} of {download.size(total)}"
            report = lsp.WorkDoneProgressReport(message=said, percentage=100 * done // max(1, total))
            with suppress(RuntimeError):  # the loop may have ended
                loop.call_soon_threadsafe(tell, report)

    tell(lsp.WorkDoneProgressBegin(f"Synapse: downloading {spec.name}", cancellable=True, percentage=0))
    if token is not None:
        session.stoppers[token] = stop
    end = "stopped"
    try:
        # A thread of its own, which nobody waits for when the connection ends.
        thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="synapse-download")
        work = loop.run_in_executor(thread, download.pull, spec, location.model_folder(), progress, stop.is_set)
        thread.shutdown(wait=False)
        manifest = await work
        end = f"{spec.name} is there"
    finally:
        stop.set()
        if token is not None:
            session.stoppers.pop(token, None)
        tell(lsp.WorkDoneProgressEnd(message=end))
    return manifest
