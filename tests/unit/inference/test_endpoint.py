"""An encoder behind an endpoint on loopback, good and bad."""

import math
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np  # noqa: TID253 - the rule is for start-up, which a test has not
import pytest

from synapse_ls.core.config import HttpSettings
from synapse_ls.core.errors import ModelError
from synapse_ls.inference import endpoint
from tests.support.web import Embeddings, embeddings


def vector(text: str) -> list[float]:
    """Return three numbers for a text."""
    return [float(len(text)), 1.0, 2.0]


@pytest.fixture
def state() -> Embeddings:
    """Give what the endpoint answers."""
    return Embeddings(vector)


@pytest.fixture
def address(state: Embeddings) -> Iterator[str]:
    """Serve it."""
    with embeddings(state) as where:
        yield where


def settings(address: str, key: str | None = None) -> HttpSettings:
    """Return the settings of an endpoint."""
    return HttpSettings(f"{address}/v1", key)


def test_vectors_are_of_length_one_and_as_long_as_the_first(address: str, state: Embeddings) -> None:
    """The name of the model goes along, the length is found out, token vectors there are none."""
    model = endpoint.connect(settings(address), "nomic-embed-text")
    made = model.embed_passage("words")
    assert (made.shape, made.dtype.name, model.spec.dimensions, model.spec.english_only) == (
        (1, 3),
        "float32",
        3,
        False,
    )
    assert float(np.linalg.norm(made)) == pytest.approx(1)
    assert [asked.get("model") for asked in state.asked] == ["nomic-embed-text"] * 2
    assert state.keys == [None, None]


def test_whole_address_is_taken_as_it_is_and_our_own_name_is_not_sent(address: str, state: Embeddings) -> None:
    """An endpoint of one model needs no name."""
    endpoint.connect(HttpSettings(f"{address}/v1/embeddings/"), "bundled")
    assert "model" not in state.asked[0]


def test_key_comes_from_the_environment(address: str, state: Embeddings, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is named, never written."""
    monkeypatch.setenv("A_KEY", "abc")
    endpoint.connect(settings(address, "A_KEY"), "m")
    assert state.keys == ["Bearer abc"]
    monkeypatch.delenv("A_KEY")
    with pytest.raises(ModelError, match="keyEnv names A_KEY, which holds no key"):
        endpoint.connect(settings(address, "A_KEY"), "m")


def test_fingerprint_holds_address_model_and_dimensions(address: str, state: Embeddings) -> None:
    """Two endpoints, two models or two lengths are never compared."""
    prints = {endpoint.connect(settings(address), name).spec.fingerprint for name in ("a", "b", "a")}
    state.vector = lambda _: [1.0, 2.0]
    prints.add(endpoint.connect(settings(address), "a").spec.fingerprint)
    assert len(prints) == 3


@pytest.mark.parametrize(
    "answer",
    [
        [], {}, "text", {"data": []}, {"data": {}}, {"data": [1]}, {"data": [{"embedding": "text"}]},
        {"data": [{"embedding": []}]}, {"data": [{"embedding": [[1, 2]]}]}, {"data": [{"embedding": [0, 0]}]},
        {"data": [{"embedding": [math.nan, 1]}]}, {"data": [{"embedding": [1e999]}]}, {"data": [{"embedding": [None]}]},
    ],
)  # fmt: skip
def test_answer_of_another_shape_is_refused(address: str, state: Embeddings, answer: Any) -> None:  # noqa: ANN401 - of any shape
    """Whatever it is, one sentence says so."""
    state.answer = answer
    with pytest.raises(ModelError, match="does not answer with vectors"):
        endpoint.connect(settings(address), "m")


def test_error_of_the_endpoint_is_passed_on(address: str, state: Embeddings) -> None:
    """Its own words, on one line."""
    state.status, state.answer = 500, {"error": {"message": "out of\nmemory"}}
    with pytest.raises(ModelError, match=r"answers 500 \(out of memory\); search goes on by words and links"):
        endpoint.connect(settings(address), "m")


@pytest.mark.parametrize("url", ["", "localhost:8080", "file:///etc/passwd", "http://", "http://[", "http://x:y"])
def test_address_that_is_none_is_told(url: str) -> None:
    """Before anything is called."""
    with pytest.raises(ModelError, match=r"embedding\.http\.url is"):
        endpoint.connect(HttpSettings(url), "m")


def test_endpoint_that_goes_and_comes_back(address: str, state: Embeddings, monkeypatch: pytest.MonkeyPatch) -> None:
    """The trouble is told once; for a while nobody waits for another call; then it works again, told once too."""
    told: list[str | None] = []
    model = endpoint.connect(settings(address), "m", lambda: told.append(model.trouble))
    state.status = 503
    for _ in range(3):
        with pytest.raises(ModelError, match="answers 503"):
            model.embed_query("words")
    assert len(state.asked) == 2
    monkeypatch.setattr(model, "_again", 0.0)
    state.status = 200
    assert model.embed_query("words").shape == (1, 3)
    assert [trouble is None for trouble in told] == [False, True]


def test_slow_endpoint_does_not_hold_a_search(address: str, state: Embeddings, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a time it counts as not there."""
    model = endpoint.connect(settings(address), "m")
    monkeypatch.setattr(endpoint, "_QUERY_SECONDS", 0.1)
    state.gate = threading.Event()
    with pytest.raises(ModelError, match="did not answer in time"):
        model.embed_query("words")
    state.gate.set()


def test_other_length_is_refused(address: str, state: Embeddings) -> None:
    """Another model behind the same address is not compared with the first."""
    model = endpoint.connect(settings(address), "m")
    state.vector = lambda _: [1.0]
    with pytest.raises(ModelError, match="gives vectors of 1 numbers now, not 3"):
        model.embed_passage("words")


def test_endpoint_that_is_not_there_is_told() -> None:
    """With its address."""
    with embeddings(Embeddings(vector)) as gone:
        pass
    with pytest.raises(ModelError, match=f"{gone}/v1/embeddings is not there .it cannot be reached"):
        endpoint.connect(settings(gone), "m")


@pytest.mark.parametrize("text", ["", "\ud800 half", "\x00", "日本語"])
def test_any_text_has_a_vector(address: str, text: str) -> None:
    """Nothing a note contains is without one."""
    assert endpoint.connect(settings(address), "m").embed_passage(text).shape == (1, 3)
