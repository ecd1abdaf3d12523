"""``synapse/status`` and ``synapse/statusChanged``."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from lsprotocol import types as lsp

from synapse_ls import __version__
from tests.e2e.conftest import Home
from tests.e2e.editor import NO_WEIGHTS, Editor, relative, serving, with_path, write

pytestmark = pytest.mark.asyncio(loop_scope="session")

VAULT = {
    "root", "state", "generation", "notes", "chunks", "embedded", "pending", "skipped", "model", "reranker", "counters",
    "cacheBytes",
}  # fmt: skip
Report = lsp.WorkDoneProgressBegin | lsp.WorkDoneProgressReport | lsp.WorkDoneProgressEnd
COUNTERS = {"filesRead", "chunksEmbedded", "chunksReused", "searches"}


async def test_a_status_has_the_fields_of_the_contract_and_no_others(editor: Editor, life: Home) -> None:
    """Of a vault whose index is current."""
    status = await editor.status()
    assert set(status) == {"version", "vaults"}
    assert status["version"] == __version__
    (vault,) = status["vaults"]
    assert set(vault) == VAULT
    assert vault["root"] == life.root.as_uri()
    assert (vault["state"], vault["pending"]) == ("ready", 0)
    assert vault["embedded"] == vault["chunks"] > vault["notes"]
    assert vault["model"] == {"name": "bundled", "dimensions": 384, "languages": "English", "state": "ready"}
    assert vault["reranker"] == {"name": None, "state": "off"}
    assert set(vault["counters"]) == COUNTERS
    assert vault["cacheBytes"] > 100_000


async def test_every_note_is_there_and_the_awkward_ones_are_named(editor: Editor, life: Home) -> None:
    """All but those in ignored folders; notes with a problem are indexed and named."""
    vault = await editor.vault()
    files = [path for path in life.root.rglob("*") if path.suffix in (".md", ".markdown")]
    hidden = [path for path in files if path.parent.name in ("private", ".obsidian")]
    assert len(hidden) >= 2
    assert vault["notes"] == len(files) - len(hidden)
    assert {skipped["path"] for skipped in vault["skipped"]} >= {"awkward/broken yaml.md", "awkward/latin-1.md"}
    assert all(set(skipped) == {"path", "reason"} and skipped["reason"] for skipped in vault["skipped"])


async def test_a_start_over_a_current_index_reads_and_embeds_nothing(editor: Editor) -> None:
    """The command line indexed the vault before this server started."""
    counters = (await editor.vault())["counters"]
    assert (counters["filesRead"], counters["chunksEmbedded"]) == (0, 0)


async def test_searches_are_counted_and_embed_no_chunks(editor: Editor) -> None:
    """A query's vector is not a chunk's."""
    before = (await editor.vault())["counters"]
    await editor.search("where is the boiler", mode="semantic")
    after = (await editor.vault())["counters"]
    assert after == {**before, "searches": before["searches"] + 1}


async def test_states_lead_from_starting_to_ready(small: Path, cache: Path) -> None:
    """Each change is told; the last one told is the one that stands; words are ready before all vectors are."""
    async with serving([small], cache) as editor:
        done = await editor.settled()
        assert (done["notes"], done["counters"]["filesRead"]) == (4, 4)
        assert done["counters"]["chunksEmbedded"] == done["chunks"]
        await editor.eventually(lambda: told(editor, done))
    states = [vault["state"] for status in editor.statuses for vault in status["vaults"]]
    assert set(states) <= {"starting", "indexing", "ready"}
    assert states == sorted(states, key=["starting", "indexing", "ready"].index)
    assert all(before != after for before, after in zip(editor.statuses, editor.statuses[1:], strict=False))


async def told(editor: Editor, vault: dict[str, object]) -> bool:
    """Return whether the last status told is this one."""
    return bool(editor.statuses) and editor.statuses[-1]["vaults"] == [vault]


async def test_progress_is_shown_to_clients_that_have_a_place_for_it(tmp_path: Path) -> None:
    """Begun and ended once for one piece of work."""
    root = write(tmp_path / "vault", {f"{number}.md": f"# Note {number}\n\nWords.\n" for number in range(60)})
    window = lsp.WindowClientCapabilities(work_done_progress=True)
    async with serving([root], tmp_path / "cache", capabilities=lsp.ClientCapabilities(window=window)) as editor:
        await editor.settled()
        await editor.eventually(lambda: ended(editor))
    kinds = [[shown.kind for shown in reports(all_)] for all_ in editor.progress_reports.values()]
    assert kinds
    assert all((shown[0], shown[-1]) == ("begin", "end") for shown in kinds)


async def ended(editor: Editor) -> bool:
    """Return whether some progress has come to its end."""
    return any(shown.kind == "end" for all_ in editor.progress_reports.values() for shown in reports(all_))


def reports(told: Sequence[object]) -> list[Report]:
    """Return what a client was told of one piece of work."""
    return [each for each in told if isinstance(each, Report)]


async def test_without_a_model_words_answer_and_the_status_says_why(small: Path, cache: Path) -> None:
    """The setting ``embedding.model`` is "none"."""
    async with serving([small], cache, options={"synapse": {"embedding": {"model": "none"}}}) as editor:
        vault = await editor.settled()
        assert vault["model"]["state"] == "missing"
        assert "none" in vault["model"]["note"]
        assert vault["pending"] == 0
        answer = await editor.search("radiator")
        assert relative(small, answer["hits"][0]["uri"]) == "Cat.md"
        assert answer["legs"]["semantic"]["state"] == "unavailable"
        assert "none" in answer["legs"]["semantic"]["note"]


async def test_a_bad_setting_is_told_once_and_its_default_stands(small: Path, cache: Path) -> None:
    """Unknown keys and values of the wrong kind, from the editor and from the vault's own file."""
    write(small, {".synapse.toml": '[search]\nlimit = 2\n[embedding]\nmodel = "none"\n'})
    options = {"search": {"limit": "many"}, "nonsense": 1}
    async with serving([small], cache, options=options) as editor:
        vault = await editor.settled()
        assert vault["model"]["name"] == "bundled"
        assert len((await editor.search("note", mode="semantic"))["hits"]) <= 2
        messages = [message.message for message in editor.messages]
    for key in ("search.limit", "nonsense", "embedding.model"):
        assert sum(key in message for message in messages) == 1, messages


async def test_a_missing_model_is_told_to_the_user_once(small: Path, cache: Path) -> None:
    """One sentence that says how to get it; words answer meanwhile."""
    shim = write(small.parent / "shim", NO_WEIGHTS)
    async with serving([small, small / "Trips"], cache, environment=with_path(shim)) as editor:
        vault = await editor.settled()
        assert (vault["model"]["state"], vault["notes"]) == ("missing", 4)
        (message,) = [message.message for message in editor.messages]
        assert "pip install" in message
        assert message.endswith(vault["model"]["note"])
        assert relative(small, (await editor.search("radiator"))["hits"][0]["uri"]) == "Cat.md"
