"""Models end to end: a hub and an endpoint on loopback, real processes."""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types as lsp

from tests.e2e.editor import TIMEOUT, Editor, paths, run, run_beside, serving, write
from tests.support.tiny_model import build, build_cross_encoder
from tests.support.web import Embeddings, Hub, embeddings, hub

NAME, RERANKER = "bge-small-en-v1.5", "ms-marco-MiniLM-L-6-v2"
NOTES = {
    "Car.md": "# Car\n\nThe car is broken.\n",
    "Loaf.md": "# Loaf\n\nFlour and yeast make bread.\n",
    "Bill.md": "# Bill\n\nThe invoice costs money.\n",
}
PROGRESS = "ours"
GERMAN = "Der Motor ist kalt und springt nicht an, aber die Batterie ist neu.\n"


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a small encoder with the dimensions of the one it stands for."""
    return build(tmp_path_factory.mktemp("tiny"), 384)


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a small cross-encoder."""
    return build_cross_encoder(tmp_path_factory.mktemp("pairs"))


@pytest.fixture
def state(tiny: Path, pairs: Path) -> Hub:
    """Give what the hub has."""
    made = Hub()
    made.add("BAAI/bge-small-en-v1.5", tiny)
    made.add("Xenova/ms-marco-MiniLM-L-6-v2", pairs)
    return made


@pytest.fixture
def environment(state: Hub) -> Iterator[dict[str, str]]:
    """Serve it."""
    with hub(state) as address:
        yield {"HF_ENDPOINT": address}


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    """Give a few notes."""
    return write(tmp_path / "notes", NOTES)


def test_model_is_downloaded_used_and_removed(cache: Path, vault: Path, environment: dict[str, str]) -> None:
    """The vault keeps the model that it was indexed with."""
    refused = run(cache, "models", "pull", NAME, environment=environment)
    assert (refused.code, refused.out) == (2, "")
    assert "licence MIT" in refused.err
    assert f"synapse-ls models pull {NAME} --yes" in refused.err
    pulled = run(cache, "models", "pull", NAME, "--yes", "--json", environment=environment)
    assert (pulled.code, pulled.json["name"]) == (0, NAME)
    assert Path(pulled.json["path"]).is_relative_to(cache)
    found = {model["name"]: model["state"] for model in run(cache, "models", "list", "--json").json["models"]}
    assert (found["bundled"], found[NAME], found["bge-m3"]) == ("installed", "installed", "available")
    indexed = run(cache, "index", vault, "--json", "--set", f"embedding.model={NAME}")
    assert (indexed.code, indexed.json["embedded"]) == (0, 3)
    status = run(cache, "status", vault, "--json").json
    assert (status["model"]["name"], status["embedded"], status["pending"]) == (NAME, 3, 0)
    answer = run(cache, "search", vault, "automobile", "--json")
    assert (answer.err, answer.json["hits"][0]["path"]) == ("", "Car.md")
    assert NAME in run(cache, "doctor").out
    removed = run(cache, "models", "remove", NAME, "--json")
    assert (removed.code, removed.json["removed"]) == (0, True)
    assert run(cache, "models", "remove", NAME).code == 2


def test_reranker_is_downloaded_and_removed(cache: Path, environment: dict[str, str]) -> None:
    """As an encoder is; each says which setting chooses it."""
    pulled = run(cache, "models", "pull", RERANKER, "--yes", "--json", environment=environment)
    assert (pulled.code, pulled.json["name"], pulled.json["kind"]) == (0, RERANKER, "reranker")
    listed = {model["name"]: model for model in run(cache, "models", "list", "--json").json["models"]}
    told = {name: (listed[name]["kind"], listed[name]["setting"], listed[name]["state"]) for name in listed}
    assert told["bundled"] == ("encoder", "embedding.model", "installed")
    assert told["late-interaction"] == ("reranker", "rerank.model", "installed")
    assert told[RERANKER] == ("reranker", "rerank.model", "installed")
    assert told["bge-reranker-v2-m3"] == ("reranker", "rerank.model", "available")
    printed = run(cache, "models", "list").out
    assert printed.index("encoders, chosen with embedding.model") < printed.index("rerankers, chosen with rerank.model")
    assert run(cache, "models", "pull", RERANKER, "--yes", environment=environment).out.endswith(
        f"to use it, set rerank.model to {RERANKER}\n"
    )
    assert run(cache, "models", "remove", RERANKER, "--json").json["removed"] is True


def test_reranker_is_no_encoder_and_that_is_told(cache: Path, vault: Path) -> None:
    """Words answer meanwhile."""
    ran = run(cache, "search", vault, "invoice", "--json", "--set", f"embedding.model={RERANKER}")
    assert (ran.code, ran.json["hits"][0]["path"]) == (0, "Bill.md")
    assert f"{RERANKER} is a reranker, which rerank.model chooses" in ran.err


def test_model_that_is_not_there_is_told_and_words_answer(cache: Path, vault: Path) -> None:
    """With the command that brings it."""
    ran = run(cache, "search", vault, "invoice", "--json", "--set", f"embedding.model={NAME}")
    assert (ran.code, ran.json["hits"][0]["path"]) == (0, "Bill.md")
    assert f"synapse-ls models pull {NAME}" in ran.err


def test_index_of_a_model_that_is_not_named_is_left_as_it_is(cache: Path, vault: Path, tiny: Path) -> None:
    """Words answer, and what to do is told: an editor's endpoint or folder is not known to the command line."""
    chosen = ("--set", f"embedding.model={tiny}")
    assert run(cache, "index", vault, "--json", *chosen).json["embedded"] == 3
    write(vault, {"New.md": "# New\n\nA broken vehicle.\n"})
    answer = run(cache, "search", vault, "broken", "--json")
    assert {hit["path"] for hit in answer.json["hits"]} == {"Car.md", "New.md"}
    assert answer.json["legs"]["semantic"]["state"] == "unavailable"
    assert "--set embedding.model=bundled" in answer.err
    again = run(cache, "index", vault, "--json", *chosen).json
    assert (again["embedded"], again["reused"]) == (1, 3)


@pytest.mark.asyncio(loop_scope="session")
async def test_command_downloads_with_progress_and_the_server_uses_it(
    cache: Path, vault: Path, environment: dict[str, str]
) -> None:
    """The user is asked, sees progress, and need not start anything again; in use, it is not removed."""
    asked: list[str] = []
    options = {"embedding": {"model": NAME}}
    async with serving([vault], cache, options=options, environment=environment) as editor:
        answering(editor, asked, "Download")
        missing = await editor.until(lambda found: found["model"]["state"] == "missing" and not found["pending"])
        assert f"models pull {NAME}" in missing["model"]["note"]
        result = await execute(editor, {"name": NAME})
        assert result["name"] == NAME
        await editor.until(lambda found: found["model"]["state"] == "ready" and found["embedded"] == 3)
        answer = await editor.search("automobile")
        kept = await run_beside(cache, "models", "remove", NAME)
        told = [[kind(report) for report in reports] for reports in editor.progress_reports.values()]
    assert paths(vault, answer)[0] == "Car.md"
    assert "licence MIT" in asked[0]
    assert any((kinds[0], kinds[-1]) == ("begin", "end") for kinds in told)
    assert kept.code == 2
    assert "is in use for" in kept.err


@pytest.mark.asyncio(loop_scope="session")
async def test_command_downloads_a_reranker(cache: Path, vault: Path, environment: dict[str, str]) -> None:
    """With the same question, and its kind in the answer."""
    asked: list[str] = []
    async with serving([vault], cache, environment=environment) as editor:
        answering(editor, asked, "Download")
        result = await execute(editor, {"name": RERANKER})
    assert (result["name"], result["kind"]) == (RERANKER, "reranker")
    assert "licence Apache-2.0" in asked[0]


@pytest.mark.asyncio(loop_scope="session")
async def test_command_downloads_nothing_without_consent(
    cache: Path, vault: Path, state: Hub, environment: dict[str, str]
) -> None:
    """Neither if the user says no nor if they cannot be asked."""
    asked: list[str] = []
    async with serving([vault], cache, environment=environment) as editor:
        with pytest.raises(Exception, match="consent"):
            await execute(editor, {"name": NAME})
        answering(editor, asked, "Do not download")
        with pytest.raises(Exception, match="nothing was downloaded"):
            await execute(editor, NAME)
        with pytest.raises(Exception, match="takes one argument"):
            await execute(editor, {"name": 1})
        with pytest.raises(Exception, match="no model"):
            await execute(editor, {"name": "nonsense", "consent": True})
    assert len(asked) == 1
    assert state.seen == []


@pytest.mark.asyncio(loop_scope="session")
async def test_download_is_stopped_by_its_progress(
    cache: Path, vault: Path, state: Hub, environment: dict[str, str]
) -> None:
    """It ends soon, says so, and what came is no model."""
    state.gate = threading.Event()
    async with serving([vault], cache, environment=environment) as editor:
        editor.progress_reports[PROGRESS] = []
        download = asyncio.create_task(execute(editor, {"name": NAME, "consent": True}, token=PROGRESS))
        assert await asyncio.to_thread(state.reached.wait, TIMEOUT)
        editor.window_work_done_progress_cancel(lsp.WorkDoneProgressCancelParams(PROGRESS))
        await editor.status()  # what comes after it is answered after it
        state.gate.set()
        with pytest.raises(Exception, match="is kept, and goes on with"):
            await download
        kinds = [kind(report) for report in editor.progress_reports[PROGRESS]]
    assert (kinds[0], kinds[-1]) == ("begin", "end")
    assert not (cache / "models" / NAME).exists()


@pytest.mark.asyncio(loop_scope="session")
async def test_vault_of_another_language_is_told_once(cache: Path, tmp_path: Path) -> None:
    """In the status for as long as it is so, and in one message that says what to do."""
    notes = write(tmp_path / "notes", {f"Notiz {i}.md": f"# Notiz {i}\n\n{GERMAN}" for i in range(5)})
    async with serving([notes], cache) as editor:
        await editor.settled()
        status = await editor.until(lambda found: "note" in found["model"])
        await editor.eventually(lambda: heard(editor, "German"))
        write(notes, {"Neu.md": f"# Neu\n\n{GERMAN}"})
        await editor.until(lambda found: found["notes"] == 6)
        said = [message.message for message in editor.messages if "German" in message.message]
    assert "the model bundled reads English only" in status["model"]["note"]
    assert "models pull multilingual-e5-small" in status["model"]["note"]
    assert len(said) == 1


@pytest.mark.asyncio(loop_scope="session")
async def test_endpoint_embeds_and_its_blackout_is_told(cache: Path, vault: Path) -> None:
    """Meaning finds what words do not; while it is away words and links answer, and the status says why."""
    state = Embeddings(meaning)
    with embeddings(state) as address:
        options = {"embedding": {"model": "some-model", "http": {"url": f"{address}/v1"}}}
        async with serving([vault], cache, options=options) as editor:
            await editor.until(lambda found: found["embedded"] == 3 and not found["pending"])
            answer = await editor.search("automobile", mode="semantic")
            state.status = 503
            dark = await editor.search("invoice")
            status = await editor.until(lambda found: found["model"]["state"] == "failed")
    assert paths(vault, answer)[0] == "Car.md"
    assert paths(vault, dark)[0] == "Bill.md"
    assert dark["legs"]["semantic"]["state"] == "unavailable"
    assert "answers 503" in dark["legs"]["semantic"]["note"]
    assert "answers 503" in status["model"]["note"]
    assert (status["model"]["name"], status["model"]["dimensions"]) == ("some-model", 4)


@pytest.mark.asyncio(loop_scope="session")
async def test_endpoint_that_was_never_there_is_told_and_words_answer(cache: Path, vault: Path) -> None:
    """Nothing waits for it."""
    with embeddings(Embeddings(meaning)) as gone:
        pass
    options = {"embedding": {"http": {"url": gone}}}
    async with serving([vault], cache, options=options) as editor:
        status = await editor.until(lambda found: found["model"]["state"] == "failed" and found["notes"] == 3)
        answer = await editor.search("invoice")
    assert "is not there" in status["model"]["note"]
    assert paths(vault, answer)[0] == "Bill.md"


def meaning(text: str) -> list[float]:
    """Return how much of three things a text has."""
    lowered = text.lower()
    return [
        1.0 * any(word in lowered for word in ("car", "automobile")),
        1.0 * any(word in lowered for word in ("bread", "loaf")),
        1.0 * any(word in lowered for word in ("invoice", "bill")),
        0.1,
    ]


async def execute(editor: Editor, argument: object, token: str | None = None) -> Any:  # noqa: ANN401 - the command's answer
    """Run the command."""
    params = lsp.ExecuteCommandParams("synapse.pullModel", [argument], work_done_token=token)
    return await editor.workspace_execute_command_async(params)


async def heard(editor: Editor, part: str) -> bool:
    """Return whether a message with a text in it came."""
    return any(part in message.message for message in editor.messages)


def answering(editor: Editor, asked: list[str], title: str) -> None:
    """Let the user choose an action of every question."""

    def ask(params: lsp.ShowMessageRequestParams) -> lsp.MessageActionItem:
        asked.append(params.message)
        return lsp.MessageActionItem(title)

    editor.feature(lsp.WINDOW_SHOW_MESSAGE_REQUEST)(ask)


def kind(value: Any) -> str:  # noqa: ANN401 - as the client's library gives it
    """Return the kind of a progress."""
    return str(value["kind"] if isinstance(value, dict) else value.kind)
