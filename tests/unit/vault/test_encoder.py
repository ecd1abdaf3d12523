"""The encoder of a process."""

import threading

import pytest

from synapse_ls.core.config import EmbeddingSettings
from synapse_ls.core.errors import ModelError
from synapse_ls.inference import embedder
from synapse_ls.vault.encoder import Encoder
from tests.support.indexing import PATIENCE, HashEmbedder


def test_no_model_is_decided_at_once() -> None:
    """Listeners are called at once too, and nothing is loaded."""
    encoder = Encoder(EmbeddingSettings(model="none"))
    called: list[str] = []
    encoder.start(lambda: called.append("now"))
    assert called == ["now"]
    assert encoder.wait(0)
    assert (encoder.state, encoder.note, encoder.pool) == ("missing", 'no model: embedding.model is "none"', None)
    encoder.set_busy(busy=True)
    encoder.close()


def test_unknown_model_is_missing_and_the_note_lists_those_there_are() -> None:
    """One sentence says what to do."""
    encoder = Encoder(EmbeddingSettings(model="nonsense"))
    assert encoder.state == "missing"
    assert encoder.note is not None
    assert "nonsense" in encoder.note
    assert "bundled" in encoder.note


@pytest.mark.parametrize(
    ("error", "state"),
    [
        (ModelError("the model is not installed; run: x"), "missing"),
        (ModelError("its file is damaged; run: x"), "failed"),
        (RuntimeError("something nobody thought of"), "failed"),
    ],
)
def test_failing_load_is_told(monkeypatch: pytest.MonkeyPatch, error: Exception, state: str) -> None:
    """Whoever waits is told, whatever went wrong."""

    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(embedder, "load", fail)
    encoder = Encoder(EmbeddingSettings())
    called = threading.Event()
    encoder.start(called.set)
    assert encoder.wait(PATIENCE)
    assert called.is_set()
    assert (encoder.state, encoder.pool) == (state, None)
    assert str(error) in (encoder.note or "")
    encoder.close()


def test_listeners_are_called_once_the_model_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is loaded once, however many vaults ask; later ones hear at once."""
    go_on = threading.Event()
    loads: list[str] = []

    def load(name: str) -> HashEmbedder:
        loads.append(name)
        assert go_on.wait(PATIENCE)
        return HashEmbedder()

    monkeypatch.setattr(embedder, "load", load)
    encoder = Encoder(EmbeddingSettings(threads=2))
    heard: list[str] = []
    encoder.start(lambda: heard.append("first"))
    encoder.start(lambda: heard.append("second"))
    assert (encoder.state, heard, encoder.wait(0)) == ("loading", [], False)
    go_on.set()
    assert encoder.wait(PATIENCE)
    encoder.start(lambda: heard.append("third"))
    assert (encoder.state, encoder.note, heard, loads) == ("ready", None, ["first", "second", "third"], ["bundled"])
    assert encoder.pool is not None
    encoder.close()


def test_closing_while_it_loads_leaves_no_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """The model that comes too late is let go."""
    go_on = threading.Event()

    def load(*_: object) -> HashEmbedder:
        assert go_on.wait(PATIENCE)
        return HashEmbedder()

    monkeypatch.setattr(embedder, "load", load)
    encoder = Encoder(EmbeddingSettings(threads=1))
    encoder.start(lambda: None)
    encoder.close()
    go_on.set()
    assert encoder._thread is not None
    encoder._thread.join(PATIENCE)
    assert encoder.pool is None
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("embed-")]
