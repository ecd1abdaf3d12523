"""Telling of the status."""

import asyncio
import logging
from typing import Any

import pytest
from lsprotocol import types as lsp

from synapse_ls.lsp.progress import Reporter


class Unsteady:
    """A session whose status can be computed from the second time on."""

    capabilities = lsp.ClientCapabilities()

    def __init__(self) -> None:
        self.asked = 0
        self.ending = False
        self.told: list[tuple[str, Any]] = []

    def take_warnings(self) -> list[str]:
        """Return nothing to say."""
        return []

    def status(self) -> dict[str, Any]:
        """Return the status of no vaults."""
        self.asked += 1
        if self.asked == 1:
            raise OSError("a file has gone")
        return {"vaults": []}

    async def run(self, work: Any) -> Any:  # noqa: ANN401 - as the session
        """Do work."""
        return work()

    def notify(self, method: str, params: Any) -> None:  # noqa: ANN401 - as the session
        """Note what is told."""
        self.told.append((method, params))


@pytest.mark.asyncio
async def test_a_status_that_cannot_be_computed_is_logged_and_the_next_is_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A change in between is not lost with the failure."""
    session = Unsteady()
    reporter = Reporter(session)  # type: ignore[arg-type]  # as much of a session as is used
    with caplog.at_level(logging.ERROR):
        reporter.soon()
        await asyncio.sleep(0)
        reporter.soon()
        (work,) = asyncio.all_tasks() - {asyncio.current_task()}
        await work
    assert session.told == [("synapse/statusChanged", {"vaults": []})]
    assert [record.message for record in caplog.records] == ["the status cannot be told"]
