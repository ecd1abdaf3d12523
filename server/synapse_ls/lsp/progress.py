"""Telling the client how the index does: ``synapse/statusChanged`` and work-done progress."""

import asyncio
import itertools
import logging
from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp

if TYPE_CHECKING:
    from synapse_ls.lsp.session import Session

_LOG = logging.getLogger(__name__)

# Statuses are told at most this often; the last of a burst is always told.
_SECONDS_BETWEEN = 0.1
# Less work than this is done before a progress bar could be read.
_WORTH_SHOWING = 20


class Reporter:
    """Watches the status of a session and tells the client what changed. Belongs to the event loop."""

    def __init__(self, session: "Session") -> None:
        self._session = session
        self._last: dict[str, Any] | None = None
        self._task: asyncio.Task[None] | None = None
        self._again = False
        self._tokens = itertools.count(1)
        self._token: str | None = None
        self._total = 0

    def soon(self) -> None:
        """Tell the client soon; calls in between are merged."""
        self._again = True
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._run())

    async def _run(self) -> None:
        while self._again:
            self._again = False
            try:
                await self._tell()
            except Exception:  # noqa: BLE001 - nobody waits for this task; the next change tells again
                _LOG.exception("the status cannot be told")
            await asyncio.sleep(_SECONDS_BETWEEN)

    async def _tell(self) -> None:
        for sentence in self._session.take_warnings():
            self._session.show(sentence)
        status = await self._session.run(self._session.status)
        if status != self._last and not self._session.ending:
            self._last = status
            self._session.notify("synapse/statusChanged", status)
            self._show(sum(vault["pending"] for vault in status["vaults"]))

    def _show(self, pending: int) -> None:
        """Move the client's progress bar; only for clients that announced that they have one."""
        window = self._session.capabilities.window
        if window is None or not window.work_done_progress:
            return
        if self._token is None:
            if pending < _WORTH_SHOWING:
                return
            self._total = pending
            self._token = f"synapse-index-{next(self._tokens)}"
            self._session.request(lsp.WINDOW_WORK_DONE_PROGRESS_CREATE, lsp.WorkDoneProgressCreateParams(self._token))
            self._progress(lsp.WorkDoneProgressBegin("Synapse: indexing notes", cancellable=False, percentage=0))
        elif pending == 0:
            self._progress(lsp.WorkDoneProgressEnd(message="index is current"))
            self._token = None
        else:
            self._total = max(self._total, pending)
            done = 100 * (self._total - pending) // self._total
            self._progress(lsp.WorkDoneProgressReport(message=f"{pending} left", percentage=done))

    def _progress(self, value: Any) -> None:  # noqa: ANN401 - one of three kinds of the protocol
        if self._token is not None:
            self._session.notify(lsp.PROGRESS, lsp.ProgressParams(self._token, value))
