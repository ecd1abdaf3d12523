"""Vectors behind the words: what fails is tried again."""

import threading
import time
from pathlib import Path

import pytest

from synapse_ls.indexer import embedding
from tests.support.indexing import PATIENCE, HashEmbedder, running, write


def test_what_could_not_be_embedded_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By itself after a pause; until then its words are found, and the error is told."""
    monkeypatch.setattr(embedding, "_RETRY_SECONDS", (0.2, 1.0))
    write(tmp_path / "vault", {"a.md": "the cistern", "b.md": "a rook"})
    embedder = HashEmbedder("cistern")
    with running(tmp_path / "vault", tmp_path / "index" / "index.db", embedder) as made:
        assert "refused" in (made.indexer.error or "")
        assert made.rows("SELECT count(*) FROM chunks WHERE vector IS NULL AND failed = 1") == [(1,)]
        embedder.refused = ()
        end = time.monotonic() + PATIENCE
        while made.rows("SELECT count(*) FROM chunks WHERE vector IS NULL") != [(0,)]:
            assert time.monotonic() < end, "it was not tried again"
            threading.Event().wait(0.02)
        made.settled()
        assert made.indexer.error is None


def test_the_pause_grows_while_it_goes_on_failing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A text that the model never takes does not keep it busy."""
    monkeypatch.setattr(embedding, "_RETRY_SECONDS", (0.02, 30.0))
    write(tmp_path / "vault", {"a.md": "the cistern"})
    embedder = HashEmbedder("cistern")
    with running(tmp_path / "vault", tmp_path / "index" / "index.db", embedder) as made:
        end = time.monotonic() + PATIENCE
        while len(embedder.seen) < 5:
            assert "refused" in (made.indexer.error or "")
            assert time.monotonic() < end, "it was not tried again"
            threading.Event().wait(0.02)
        assert made.indexer._embedding._pause >= 0.02 * 2**4
