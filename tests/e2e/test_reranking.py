"""The second look at an answer: over the protocol and on the command line, with the bundled encoder and endpoints."""

import threading
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.e2e.conftest import Home
from tests.e2e.editor import Editor, paths, run, serving
from tests.support.web import Reranking as Endpoint
from tests.support.web import reranking as serving_endpoint

pytestmark = pytest.mark.asyncio(loop_scope="session")

QUESTION = "why does the chain jump under load"
OTHER = "keeping bread fresh for longer"
NAME = "Sourdough starter"

# Enough for a machine that does other things as well.
PATIENT = {"deadlineMs": 30_000}

Asked = tuple[Editor, Home]


async def current(editor: Editor) -> None:
    """Wait until words and vectors are current; another server may keep the sample vault's index."""
    await editor.until(
        lambda vault: (
            vault["state"] in {"ready", "readOnly"} and vault["model"]["state"] == "ready" and not vault["pending"]
        )
    )


@pytest_asyncio.fixture(loop_scope="session")
async def asked(life: Home) -> AsyncIterator[Asked]:
    """An editor without settings of its own."""
    async with serving([life.root], life.cache, options={"rerank": PATIENT}) as editor:
        await current(editor)
        yield editor, life


@pytest_asyncio.fixture(loop_scope="session")
async def enabled(life: Home) -> AsyncIterator[Asked]:
    """An editor whose user has chosen reranking."""
    async with serving([life.root], life.cache, options={"rerank": {**PATIENT, "enabled": True}}) as editor:
        await current(editor)
        yield editor, life


async def test_nothing_follows_an_answer_unless_asked_for(asked: Asked) -> None:
    """Reranking is off from the start."""
    editor, _ = asked
    answer = await editor.search(QUESTION)
    assert (answer["rerank"], (await editor.vault())["reranker"]) == ("off", {"name": None, "state": "off"})
    assert (await editor.search(QUESTION, rerank=False))["rerank"] == "off"
    assert editor.reranked == []


async def test_the_same_hits_follow_in_the_order_of_the_reranker(asked: Asked) -> None:
    """The shortlist is judged before the cut: every hit is one of it, and each is told its new rank."""
    editor, life = asked
    answer = await editor.search(QUESTION, rerank=True, limit=5, explain=True)
    (outcome,) = await editor.outcomes(1)
    assert set(outcome) == {"searchId", "generation", "outcome", "hits", "model", "elapsedMs"}
    assert (outcome["searchId"], outcome["generation"]) == (answer["searchId"], answer["generation"])
    assert (answer["rerank"], outcome["outcome"], outcome["model"]) == ("pending", "reranked", "late-interaction")
    assert [hit["ranks"]["rerank"] for hit in outcome["hits"]] == [1, 2, 3, 4, 5]
    wide = paths(life.root, await editor.search(QUESTION, limit=20))
    assert set(paths(life.root, outcome)) <= set(wide)
    assert all(hit["snippet"]["text"] for hit in outcome["hits"])
    assert [hit["trust"] for hit in outcome["hits"]] == [1.0] * 5


async def test_an_explicit_wish_is_never_skipped(asked: Asked) -> None:
    """Not for a name that is certain, nor where nothing is found or nothing is asked."""
    editor, life = asked
    answers = [await editor.search(query, rerank=True) for query in (NAME, "zzqqxxyy zzqqxxyz", "")]
    assert [answer["rerank"] for answer in answers] == ["pending"] * 3
    outcomes = {outcome["searchId"]: outcome for outcome in await editor.outcomes(3)}
    found = [paths(life.root, outcomes[answer["searchId"]]) for answer in answers]
    assert [len(hits) for hits in found] == [len(answer["hits"]) for answer in answers]
    assert found[0][0] == paths(life.root, answers[0])[0]


async def test_a_certain_answer_is_spared_where_the_settings_rerank(enabled: Asked) -> None:
    """An exact name needs no second look; a question gets one."""
    editor, _ = enabled
    assert (await editor.vault())["reranker"] == {"name": "late-interaction", "state": "ready"}
    assert (await editor.search(NAME))["rerank"] == "skipped"
    assert (await editor.search(OTHER))["rerank"] == "pending"
    assert [outcome["outcome"] for outcome in await editor.outcomes(1)] == ["reranked"]


async def test_a_newer_search_of_a_session_takes_the_place_of_the_older(enabled: Asked) -> None:
    """Of fifty searches in a row none has an outcome once a later one is answered; the last has one."""
    editor, _ = enabled
    sent: list[str] = []
    told_before: list[int] = []
    for n in range(50):
        answer = await editor.search(f"{OTHER} {n}", session="typed", rerank=True)
        sent.append(answer["searchId"])
        told_before.append(len(editor.reranked))
    while not editor.reranked or editor.reranked[-1]["searchId"] != sent[-1]:
        await editor.outcomes(len(editor.reranked) + 1)
    told = [outcome["searchId"] for outcome in editor.reranked]
    late = [sent[n] for n in range(49) if sent[n] in told[told_before[n + 1] :]]
    assert (late, told.count(sent[-1]), len(told)) == ([], 1, len(set(told)))


async def test_each_pending_answer_has_one_outcome(enabled: Asked) -> None:
    """Searches without a session do not supersede each other."""
    editor, _ = enabled
    sent = {(await editor.search(f"{QUESTION} {n}", rerank=True))["searchId"] for n in range(8)}
    outcomes = await editor.outcomes(8)
    assert {outcome["searchId"] for outcome in outcomes} == sent


async def test_an_unknown_reranker_is_told_and_the_answer_stands(life: Home) -> None:
    """A name that means nothing: unavailable, with the reason in the status."""
    options = {"rerank": {"enabled": True, "model": "no-such-model"}}
    async with serving([life.root], life.cache, options=options) as editor:
        await current(editor)
        answer = await editor.search(QUESTION, rerank=True)
        reranker = (await editor.until(lambda vault: vault["reranker"]["state"] != "loading"))["reranker"]
    assert (answer["rerank"], bool(answer["hits"])) == ("unavailable", True)
    assert (reranker["name"], reranker["state"]) == ("no-such-model", "failed")
    assert "no-such-model" in reranker["note"]


async def test_a_value_that_cannot_be_is_refused(asked: Asked) -> None:
    """The message names the parameter."""
    with pytest.raises(Exception, match="rerank must be true or false"):
        await asked[0].search(QUESTION, rerank="yes")


async def test_the_command_line_waits_for_the_reranker(life: Home) -> None:
    """One order is printed, that which counts."""
    ran = run(life.cache, "search", life.root, QUESTION, "--rerank", "--json", "-n", "5")
    assert (ran.code, ran.json["rerank"], ran.json["model"]) == (0, "reranked", "late-interaction")
    assert len(ran.json["hits"]) == 5
    shown = run(life.cache, "search", life.root, QUESTION, "--rerank", "--explain")
    assert "reranked 1" in shown.out


async def test_the_command_line_says_why_it_does_not_rerank(life: Home) -> None:
    """The fused answer is printed all the same."""
    ran = run(life.cache, "search", life.root, QUESTION, "--rerank", "--json", "--set", "rerank.model=nonesuch")
    assert (ran.code, ran.json["rerank"], bool(ran.json["hits"])) == (0, "unavailable", True)
    assert "nonesuch" in ran.err


async def test_the_command_line_goes_by_the_settings(life: Home) -> None:
    """With reranking on, a certain answer is spared, and --no-rerank leaves it out."""
    on = ("--set", "rerank.enabled=true", "--json")
    assert run(life.cache, "search", life.root, NAME, *on).json["rerank"] == "skipped"
    assert run(life.cache, "search", life.root, QUESTION, *on).json["rerank"] == "reranked"
    assert run(life.cache, "search", life.root, QUESTION, *on, "--no-rerank").json["rerank"] == "off"


async def test_the_deadline_brings_the_hits_that_are_known(life: Home) -> None:
    """An endpoint that does not answer in time: the fused hits again, and the server goes on."""
    gate = threading.Event()
    with serving_endpoint(Endpoint(lambda *_: 0.5, gate=gate)) as address:
        options = {"rerank": {"model": "http", "http": {"url": address}, "deadlineMs": 50}}
        async with serving([life.root], life.cache, options=options) as editor:
            await current(editor)
            answer = await editor.search(QUESTION, rerank=True)
            (outcome,) = await editor.outcomes(1)
            gate.set()
            again = await editor.search(QUESTION)
    assert (outcome["outcome"], outcome["hits"]) == ("deadline", answer["hits"])
    assert paths(life.root, again) == paths(life.root, answer)


async def test_an_endpoint_judges_and_the_local_model_when_it_is_gone(life: Home) -> None:
    """The outcome says which of them it was."""
    state = Endpoint(lambda _, passage: 0.9 if "Sourdough" in passage else 0.1)
    options = {"rerank": {**PATIENT, "enabled": True, "model": "http"}}
    with serving_endpoint(state) as address:
        options["rerank"]["http"] = {"url": address}
        async with serving([life.root], life.cache, options=options) as editor:
            await current(editor)
            await editor.search(OTHER, rerank=True)
            (first,) = await editor.outcomes(1)
            state.status = 500
            await editor.search(QUESTION, rerank=True)
            second = (await editor.outcomes(2))[1]
            reranker = (await editor.vault())["reranker"]
    assert (first["outcome"], first["model"]) == ("reranked", f"{address}/rerank")
    assert "Sourdough" in first["hits"][0]["title"]
    assert (second["outcome"], second["model"]) == ("reranked", "late-interaction")
    assert (reranker["name"], "500" in reranker["note"]) == ("late-interaction", True)


async def test_the_endpoint_hears_of_nothing_that_is_not_asked(life: Home) -> None:
    """Passages of the shortlist are sent, never whole notes, and nothing without a wish to rerank."""
    state = Endpoint(lambda *_: 0.5)
    with serving_endpoint(state) as address:
        options = {"rerank": {**PATIENT, "model": "http", "http": {"url": address}, "topK": 7}}
        async with serving([life.root], life.cache, options=options) as editor:
            await current(editor)
            await editor.search(QUESTION)
            assert state.asked == []
            await editor.search(QUESTION, rerank=True)
            await editor.outcomes(1)
    (asked,) = state.asked
    assert (asked["query"], len(asked["documents"])) == (QUESTION, 7)
    assert max(map(len, asked["documents"])) < 2500
