"""The state of one connection."""

import asyncio
import logging

import pytest
from lsprotocol import types as lsp

from synapse_ls.core.config import Settings
from synapse_ls.lsp.session import Session


def test_a_second_start_is_passed_over(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """The vaults would be opened a second time, one process in its own way; the log says so."""
    session = Session(Settings(), lambda *_: None, lambda *_: None)
    session.begin(lsp.InitializeParams(lsp.ClientCapabilities()), "utf-16")
    begun: list[int] = []
    monkeypatch.setattr(session.configuration, "start", lambda folders: begun.append(len(list(folders))))

    async def started() -> None:
        session.start()
        session.start()

    with caplog.at_level(logging.WARNING):
        asyncio.run(started())
    assert begun == [0]
    assert "a second time" in caplog.text
    session.close()
