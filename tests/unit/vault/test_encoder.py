"""The encoder of a process."""

import threading
from pathlib import Path

import pytest

from synapse_ls.core.config import EmbeddingSettings, HttpSettings
from synapse_ls.core.errors import ModelError, ModelMissingError
from synapse_ls.inference import embedder
from synapse_ls.vault import encoder as module
from synapse_ls.vault.encoder import Encoder
from tests.support.indexing import PATIENCE, HashEmbedder
from tests.support.tiny_model import build
from tests.support.web import Embeddings, embeddings


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
        (ModelMissingError("the model is not installed; run: x"), "missing"),
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

    def load(name: str, _models: Path) -> HashEmbedder:
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


def endpoint_settings(address: str) -> EmbeddingSettings:
    """Return the settings of an endpoint."""
    return EmbeddingSettings("some-model", 1, HttpSettings(address))


def test_endpoint_is_an_encoder_whose_length_is_known_when_it_answers() -> None:
    """Nothing is called before it is started."""
    state = Embeddings(lambda text: [float(len(text)), 1.0])
    with embeddings(state) as address:
        encoder = Encoder(endpoint_settings(address))
        assert (encoder.state, encoder.spec, state.asked) == ("loading", None, [])
        encoder.start(lambda: None)
        assert encoder.wait(PATIENCE)
        assert (encoder.state, encoder.name) == ("ready", "some-model")
        assert encoder.spec is not None
        assert encoder.spec.dimensions == 2
        encoder.close()


def test_endpoint_that_is_not_there_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for it; the news comes when it answers, goes and comes back."""
    monkeypatch.setattr(module, "_RETRY_SECONDS", 0.01)
    state = Embeddings(lambda text: [float(len(text)), 1.0], status=503)
    news: list[str] = []
    heard = threading.Event()
    with embeddings(state) as address:
        encoder = Encoder(endpoint_settings(address))

        def follow() -> None:
            news.append(encoder.state)
            heard.set()

        encoder.follow(follow)
        encoder.start(lambda: None)
        assert encoder.wait(PATIENCE)
        assert encoder.state == "failed"
        assert "answers 503" in (encoder.note or "")
        state.status = 200
        assert heard.wait(PATIENCE)
        assert encoder.pool is not None
        state.status = 500
        with pytest.raises(ModelError, match="answers 500"):
            encoder.pool.query("one")
        assert (encoder.state, news) == ("failed", ["ready", "failed"])
        encoder.leave(follow)
        encoder.close()


def test_folder_is_an_encoder(tmp_path: Path) -> None:
    """Its fingerprint is known once its files were read."""
    encoder = Encoder(EmbeddingSettings(str(build(tmp_path / "model"))))
    assert encoder.spec is None
    encoder.start(lambda: None)
    assert encoder.wait(PATIENCE)
    assert encoder.state == "ready"
    assert encoder.spec is not None
    assert encoder.spec.fingerprint
    encoder.close()


@pytest.mark.parametrize("name", ["bge-m3", "BAAI/bge-base-en-v1.5"])
def test_model_that_is_not_downloaded_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """The note has the command."""
    monkeypatch.setenv("SYNAPSE_CACHE_DIR", str(tmp_path))
    encoder = Encoder(EmbeddingSettings(name))
    encoder.look()
    assert encoder.state == "missing"
    assert f"synapse-ls models pull {name}" in (encoder.note or "")
