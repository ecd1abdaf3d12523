"""A reranker behind an endpoint on loopback, good and bad."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from synapse_ls.core.config import HttpSettings
from synapse_ls.core.errors import ModelError
from synapse_ls.inference import rerank_endpoint
from synapse_ls.inference.rerank_endpoint import RerankEndpoint
from tests.support.web import Reranking, reranking

PASSAGES = ["bread", "a car", "cars and a car"]


def score(query: str, passage: str) -> float:
    """Return how often a passage has the query, of ten times."""
    return passage.count(query) / 10


@pytest.fixture
def state() -> Reranking:
    """Give what the endpoint answers."""
    return Reranking(score)


@pytest.fixture
def address(state: Reranking) -> Iterator[str]:
    """Serve it."""
    with reranking(state) as where:
        yield where


@pytest.fixture
def model(address: str) -> RerankEndpoint:
    """Give the reranker behind it."""
    return rerank_endpoint.connect(HttpSettings(address), "http")


def test_scores_come_in_the_order_of_the_passages(model: RerankEndpoint, state: Reranking, address: str) -> None:
    """However the endpoint orders them; it is asked for all at once."""
    assert model.scores("car", PASSAGES, 5) == [0, 0.1, 0.2]
    assert state.asked == [{"query": "car", "documents": PASSAGES, "top_n": 3}]
    assert (model.name, state.keys) == (f"{address}/rerank", [None])


@pytest.mark.parametrize(
    ("path", "asked"),
    [
        ("", "/rerank"),
        ("/v1/", "/v1/rerank"),
        ("/v2/rerank", "/v2/rerank"),
        ("/v1/rerank/?version=2", "/v1/rerank?version=2"),
    ],
)
def test_address_may_have_its_ending(address: str, state: Reranking, path: str, asked: str) -> None:
    """Or not."""
    rerank_endpoint.connect(HttpSettings(address + path), "http").scores("car", PASSAGES, 5)
    assert state.paths == [asked]


@pytest.mark.parametrize(
    ("model", "sent"), [("http", None), ("late-interaction", None), ("rerank-v3.5", "rerank-v3.5")]
)
def test_name_of_the_model_goes_along_unless_it_is_ours(
    address: str, state: Reranking, model: str, sent: str | None
) -> None:
    """An endpoint of one model needs none."""
    made = rerank_endpoint.connect(HttpSettings(address), model)
    made.scores("car", PASSAGES, 5)
    assert (state.asked[0].get("model"), made.name) == (sent, sent or f"{address}/rerank")


def test_fingerprint_holds_address_and_model(address: str) -> None:
    """Scores of two endpoints or of two models are never mixed."""
    places = [(address, "a"), (address, "b"), (f"{address}/v1", "a"), (f"{address}?v=1", "a"), (address, "a")]
    assert len({rerank_endpoint.connect(HttpSettings(url), name).fingerprint for url, name in places}) == 4


def test_key_comes_from_the_environment(address: str, state: Reranking, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is named, never written, and no message has it."""
    monkeypatch.setenv("A_KEY", "secret")
    made = rerank_endpoint.connect(HttpSettings(address, "A_KEY"), "http")
    state.status = 401
    with pytest.raises(ModelError, match="answers 401") as raised:
        made.scores("car", PASSAGES, 5)
    assert state.keys == ["Bearer secret"]
    assert "secret" not in str(raised.value)
    monkeypatch.delenv("A_KEY")
    with pytest.raises(ModelError, match=r"rerank\.http\.keyEnv names A_KEY, which holds no key"):
        rerank_endpoint.connect(HttpSettings(address, "A_KEY"), "http")


def test_what_is_secret_in_an_address_is_not_told(address: str, state: Reranking) -> None:
    """Neither a password nor a query."""
    url = address.replace("://", "://user:secret@") + "/rerank?key=secret"
    state.status = 500
    with pytest.raises(ModelError, match=f"{address}/rerank answers 500") as raised:
        rerank_endpoint.connect(HttpSettings(url), "http").scores("car", PASSAGES, 5)
    assert "secret" not in str(raised.value)


def test_other_names_for_the_same_are_tried_once(model: RerankEndpoint, state: Reranking) -> None:
    """As text-embeddings-inference has them; from then on they are used."""
    state.texts = True
    assert [model.scores("car", PASSAGES, 5) for _ in range(2)] == [[0, 0.1, 0.2]] * 2
    assert [sorted(asked) for asked in state.asked] == [
        ["documents", "query", "top_n"],
        ["query", "texts", "truncate"],
        ["query", "texts", "truncate"],
    ]


@pytest.mark.parametrize(
    "answer",
    [
        {"results": [{"index": 1, "score": 0.7}, {"index": 0, "score": 0.2}]},
        {"results": [{"index": 0, "relevance_score": 0.2, "document": {}}, {"index": 1, "relevance_score": 0.7}]},
        [{"index": 1, "score": 0.7}, {"index": 0, "score": 0.2, "text": "x"}],
    ],
)  # fmt: skip
def test_what_local_servers_answer_is_understood(model: RerankEndpoint, state: Reranking, answer: Any) -> None:  # noqa: ANN401 - of several shapes
    """Under either name, in an object or not, with the passages or without."""
    state.answer = answer
    assert model.scores("car", ["a", "b"], 5) == [0.2, 0.7]


def test_numbers_without_bounds_become_relevance(model: RerankEndpoint, state: Reranking) -> None:
    """Their order stays."""
    state.score = lambda query, passage: 20 * score(query, passage) - 2
    found = model.scores("car", PASSAGES, 5)
    assert found == [pytest.approx(0.1192, abs=1e-4), 0.5, pytest.approx(0.8808, abs=1e-4)]


def rows(*pairs: Any) -> dict[str, Any]:  # noqa: ANN401 - of any shape
    """Return an answer with these pairs of an index and a score."""
    return {"results": [{"index": index, "relevance_score": number} for index, number in pairs]}


@pytest.mark.parametrize(
    "answer",
    [
        b"", b"not JSON", b"[" * 100_000, "text", 1, [], {}, {"results": {}}, {"results": [1, 2]},
        rows((0, 0.1)), rows((0, 0.1), (0, 0.2)), rows((0, 0.1), (2, 0.2)), rows((-1, 0.1), (0, 0.2)),
        rows((0, 0.1), (1, 0.2), (1, 0.2)), rows((0, 0.1), ("1", 0.2)), rows((0, 0.1), (True, 0.2)),
        rows((0, 0.1), (1, None)), rows((0, 0.1), (1, "0.2")), rows((0, 0.1), (1, True)), rows((0, 0.1), (1, [0.2])),
        rows((0, 0.1), (1, float("nan"))), rows((0, 0.1), (1, float("inf"))), rows((0, 0.1), (1, 10**400)),
    ],
)  # fmt: skip
def test_answer_of_another_shape_is_refused(model: RerankEndpoint, state: Reranking, answer: Any) -> None:  # noqa: ANN401 - of any shape
    """Every passage must have one finite number; one sentence says so."""
    state.answer = answer
    with pytest.raises(ModelError, match=r"/rerank does not answer with one score for each passage.*see docs"):
        model.scores("car", ["a", "b"], 5)


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ({"error": {"message": "out of\nmemory"}}, r"answers 500 \(out of memory\);"),
        ({"error": "busy"}, r"answers 500 \(busy\);"),
        ({"message": "no such model"}, r"answers 500 \(no such model\);"),
        ({"detail": "not loaded"}, r"answers 500 \(not loaded\);"),
        ({"detail": [{"loc": []}]}, "answers 500;"),
        (b"<html>", "answers 500;"),
    ],
)
def test_error_of_the_endpoint_is_passed_on(model: RerankEndpoint, state: Reranking, answer: Any, told: str) -> None:  # noqa: ANN401 - of several shapes
    """Its own words, on one line, wherever it has them."""
    state.status, state.answer = 500, answer
    with pytest.raises(ModelError, match=told):
        model.scores("car", PASSAGES, 5)


def test_wrong_request_is_told_as_it_was_first(model: RerankEndpoint, state: Reranking) -> None:
    """If neither way of asking works."""
    state.status, state.answer = 422, {"detail": "model is required"}
    with pytest.raises(ModelError, match=r"answers 422 \(model is required\)"):
        model.scores("car", PASSAGES, 5)
    assert len(state.asked) == 2


def test_slow_endpoint_is_not_waited_for(model: RerankEndpoint, state: Reranking) -> None:
    """No longer than the asker waits."""
    state.gate = threading.Event()
    try:
        with pytest.raises(ModelError, match=r"is not there \(it did not answer in time\)"):
            model.scores("car", PASSAGES, 0.1)
    finally:
        state.gate.set()


def test_endpoint_that_is_not_there_is_told() -> None:
    """With its address."""
    with reranking(Reranking(score)) as gone:
        pass
    with pytest.raises(ModelError, match=rf"{gone}/rerank is not there \(it cannot be reached\)"):
        rerank_endpoint.connect(HttpSettings(gone), "http").scores("car", PASSAGES, 5)


def test_endpoint_in_a_blackout_is_asked_again_after_a_while(
    model: RerankEndpoint, state: Reranking, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until then nobody waits for it."""
    state.status = 503
    for _ in range(3):
        with pytest.raises(ModelError, match="answers 503"):
            model.scores("car", PASSAGES, 5)
    assert (len(state.asked), "answers 503" in (model.trouble or "")) == (1, True)
    monkeypatch.setattr(model, "_again", 0.0)
    state.status = 200
    assert model.scores("car", PASSAGES, 5) == [0, 0.1, 0.2]
    assert model.trouble is None


def test_redirect_is_not_followed(model: RerankEndpoint, state: Reranking) -> None:
    """What the user named is asked, and nobody else."""
    state.status = 307
    with pytest.raises(ModelError, match="answers 307"):
        model.scores("car", PASSAGES, 5)
    assert state.paths == ["/rerank"]


def test_endless_answer_is_refused(model: RerankEndpoint, state: Reranking) -> None:
    """No more is read than a list of scores can be."""
    state.answer = b" " * (9 << 20)
    with pytest.raises(ModelError, match="answers with more than it should"):
        model.scores("car", PASSAGES, 30)


@pytest.mark.parametrize("url", [None, "", "localhost:8080", "file:///etc/passwd", "http://", "http://[", "http://x:y"])
def test_address_that_is_none_is_told(url: str | None) -> None:
    """Before anything is called."""
    with pytest.raises(ModelError, match=r"rerank\.http\.url is '.*'; it must be an address such as http"):
        rerank_endpoint.connect(HttpSettings(url), "http")


def test_any_text_can_be_asked(model: RerankEndpoint, state: Reranking) -> None:
    """An empty one, half a surrogate pair, none at all."""
    model.scores("", ["", "\ud800 half", "\x00", "日本語"], 5)
    assert state.asked == [{"query": " ", "documents": [" ", "? half", "\x00", "日本語"], "top_n": 4}]
    assert model.scores("car", [], 5) == []
    assert len(state.asked) == 1
