"""The rerankers of a process: which one judges, what is remembered, and what happens without one."""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest

from synapse_ls.core.config import HttpSettings, RerankSettings
from synapse_ls.core.errors import ModelError
from synapse_ls.core.model import Candidate, Hit, Snippet
from synapse_ls.core.text import Position, Range
from synapse_ls.inference import cross_encoder
from synapse_ls.vault.reranking import Reranking
from tests.support.web import Reranking as Endpoint
from tests.support.web import reranking as serving

NOWHERE = Range(Position(0, 0, 0, 0), Position(0, 0, 0, 0))
LATE = "late-interaction"
SHORTLIST = tuple(
    Candidate(Hit(f"{name}.md", NOWHERE, name, (), Snippet(""), 0.02, "good", ("lexical",)), f"About {name}.", Snippet)  # type: ignore[arg-type]  # never shown
    for name in ("garden", "battery", "bread")
)
QUERY = "the car does not start"


def order(found: object) -> list[int]:
    """Return the former places of an order."""
    assert found is not None
    return [place for place, _ in found.order]  # type: ignore[attr-defined]  # what rerank returns


@dataclass
class Judge:
    """A reranker that counts what it is asked; ``before`` is called with each batch."""

    name: str = "judge"
    fingerprint: str = "judge 1"
    batch: int = 2
    before: Callable[[], None] = lambda: None
    asked: list[list[str]] = field(default_factory=list)

    def scores(self, query: str, passages: Sequence[str], seconds: float) -> list[float]:
        """Return more for what is about batteries."""
        del query, seconds
        self.before()
        self.asked.append([passage.splitlines()[0] for passage in passages])
        return [0.9 if "battery" in passage else 0.1 for passage in passages]

    def close(self) -> None:
        """Hold nothing."""


def judged_by(judge: Judge, monkeypatch: pytest.MonkeyPatch) -> Reranking:
    """Return what reranks with a judge in place of a downloaded model."""
    monkeypatch.setattr(cross_encoder, "load", lambda *_: judge)
    monkeypatch.setattr(cross_encoder, "check", lambda *_: None)
    return Reranking(RerankSettings(model="judge"), lambda: None)


def test_the_bundled_encoder_reranks_without_a_download() -> None:
    """Its words are compared: batteries belong to cars that do not start."""
    reranking = Reranking(RerankSettings(), lambda: None)
    found = reranking.rerank("the accumulator of the engine is empty", SHORTLIST, 20, 60)
    reranking.close()
    assert found is not None
    assert (found.model, found.order[0][0]) == (LATE, 1)


def test_late_interaction_abstains_in_scripts_that_the_encoder_does_not_read() -> None:
    """The fused order stays."""
    reranking = Reranking(RerankSettings(), lambda: None)
    assert order(reranking.rerank("電池 battery が上がった", SHORTLIST, 20, 60)) == [0, 1, 2]
    reranking.close()


def test_only_the_first_notes_are_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many as asked for; the others stay behind them."""
    judge = Judge()
    assert order(judged_by(judge, monkeypatch).rerank(QUERY, SHORTLIST, 1, 60)) == [0, 1, 2]
    assert judge.asked == [["garden"]]


def test_a_pair_is_judged_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same query again asks nothing, another one all."""
    judge = Judge()
    reranking = judged_by(judge, monkeypatch)
    for query in (QUERY, QUERY, "another"):
        assert order(reranking.rerank(query, SHORTLIST, 20, 60))[0] == 1
    assert judge.asked == [["garden", "battery"], ["bread"]] * 2


def test_no_batch_begins_after_a_newer_search_has_come(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was judged until then is known to the next search."""
    newer = threading.Event()
    judge = Judge(before=newer.set)
    reranking = judged_by(judge, monkeypatch)
    assert reranking.rerank(QUERY, SHORTLIST, 20, 60, newer.is_set) is None
    assert order(reranking.rerank(QUERY, SHORTLIST, 20, 60)) == [1, 0, 2]
    assert judge.asked == [["garden", "battery"], ["bread"]]


def test_no_time_is_no_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """And nothing is begun."""
    judge = Judge()
    assert judged_by(judge, monkeypatch).rerank(QUERY, SHORTLIST, 20, 0) is None
    assert judge.asked == []


def test_a_model_that_fails_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not shown as an order."""

    def fail() -> None:
        raise ModelError("it broke")

    with pytest.raises(ModelError, match="it broke"):
        judged_by(Judge(before=fail), monkeypatch).rerank(QUERY, SHORTLIST, 20, 60)


def test_a_model_that_is_not_there_is_told_before_anything_is_loaded() -> None:
    """With what to do."""
    reranking = Reranking(RerankSettings(enabled=True, model="ms-marco-MiniLM-L-6-v2"), lambda: None)
    assert "synapse-ls models pull ms-marco-MiniLM-L-6-v2" in (reranking.trouble() or "")
    assert reranking.look().state == "missing"
    done = threading.Event()
    reranking.start(done.set)
    assert done.wait(60)
    assert reranking.status().state == "missing"


def test_an_endpoint_without_an_address_is_told() -> None:
    """The setting is named, in the status too."""
    reranking = Reranking(RerankSettings(model="http"), lambda: None)
    status = reranking.status()
    assert "rerank.http.url" in (reranking.trouble() or "")
    assert (status.name, status.state, status.note) == ("http", "missing", reranking.trouble())


def test_an_endpoint_judges_and_is_named() -> None:
    """It is asked for all passages at once."""
    state = Endpoint(lambda _, passage: 0.9 if "battery" in passage else 0.1)
    with serving(state) as address:
        reranking = Reranking(RerankSettings(model="http", http=HttpSettings(address)), lambda: None)
        found = reranking.rerank(QUERY, SHORTLIST, 20, 60)
        reranking.close()
    assert found is not None
    assert (order(found), len(state.asked)) == ([1, 0, 2], 1)
    assert found.model != LATE


@pytest.mark.parametrize(
    "state",
    [
        Endpoint(lambda *_: 0.5, status=500),
        Endpoint(lambda *_: 0.5, answer={"results": [{"index": 0, "relevance_score": 0.5}]}),
        Endpoint(lambda *_: 0.5, answer=b"not JSON"),
    ],
    ids=["500", "one of three", "not JSON"],
)
def test_the_local_model_takes_the_place_of_an_endpoint_that_fails(state: Endpoint) -> None:
    """It is named in the answer, the endpoint is left alone for a while, and the status says why."""
    with serving(state) as address:
        reranking = Reranking(RerankSettings(enabled=True, model="http", http=HttpSettings(address)), lambda: None)
        models = [getattr(reranking.rerank(query, SHORTLIST, 20, 60), "model", None) for query in (QUERY, "again")]
        status = reranking.status()
        reranking.close()
    assert (models, len(state.asked)) == ([LATE, LATE], 1)
    assert (status.name, bool(status.note)) == (LATE, True)


def test_an_endpoint_that_is_slow_leaves_time_for_the_local_model() -> None:
    """A part of the time is kept for it."""
    gate = threading.Event()
    with serving(Endpoint(lambda *_: 0.5, gate=gate)) as address:
        reranking = Reranking(RerankSettings(model="http", http=HttpSettings(address)), lambda: None)
        started = time.monotonic()
        found = reranking.rerank(QUERY, SHORTLIST, 20, 8)
        took = time.monotonic() - started
        gate.set()
        reranking.close()
    assert found is not None
    assert (found.model, took < 8) == (LATE, True)


@pytest.mark.parametrize(
    ("url", "name"),
    [("http://me:secret@localhost:9/rerank?key=1", "http://localhost:9/rerank"), ("http://[", "what is no address")],
)
def test_an_endpoint_is_named_without_what_is_secret(url: str, name: str) -> None:
    """In the status as in answers."""
    reranking = Reranking(RerankSettings(enabled=True, model="http", http=HttpSettings(url)), lambda: None)
    assert (reranking.name, reranking.look().name) == (name, name)


def test_an_endpoint_that_is_back_is_used_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """After the pause, and the status is clean again."""
    state = Endpoint(lambda _, passage: float("battery" in passage), status=503)
    with serving(state) as address:
        reranking = Reranking(RerankSettings(model="http", http=HttpSettings(address)), lambda: None)
        reranking.rerank(QUERY, SHORTLIST, 20, 60)
        state.status = 200
        now = time.monotonic
        monkeypatch.setattr(time, "monotonic", lambda: now() + 60)
        found = reranking.rerank(QUERY, SHORTLIST, 20, 60)
        reranking.close()
    assert found is not None
    assert (found.model != LATE, reranking.status().note) == (True, None)
