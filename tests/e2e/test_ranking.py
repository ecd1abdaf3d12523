"""What moves a note up or down besides its text: trust, and what other notes call it."""

from pathlib import Path
from typing import Any

import pytest

from tests.e2e.editor import paths, run, write
from tests.e2e.test_settings import NO_MODEL, configured, notes, same

pytestmark = pytest.mark.asyncio(loop_scope="session")

VAULT = {
    "Archive/soup.md": "# Soup\n\nLentils, cumin, lemon. The old way.\n",
    "soup.md": "# Soup\n\nLentils, cumin, chilli. The new way.\n",
    "drafts.md": "---\nstatus: Draft\n---\n# Lentils\n\nlentils, lentils, lentils\n",
}


def _trusted(root: Path, answer: dict[str, Any]) -> dict[str, float]:
    return dict(zip(paths(root, answer), (hit["trust"] for hit in answer["hits"]), strict=True))


async def test_trust_moves_notes_and_is_told(tmp_path: Path, cache: Path) -> None:
    """By folder and by a word of the front matter, from the moment that the settings say so; no note is hidden."""
    root = write(tmp_path / "vault", VAULT)
    async with configured([root], cache, same(NO_MODEL)) as editor:
        await notes(editor, 3)
        before = await editor.search("lentils")
        assert set(_trusted(root, before).values()) == {1}
        assert paths(root, before).index("Archive/soup.md") < paths(root, before).index("soup.md")
        trust = {"property": "status", "values": {"draft": 0.5}, "folders": {"Archive": 0}}
        editor.change(same({**NO_MODEL, "trust": trust}))

        async def moved() -> bool:
            found = _trusted(root, await editor.search("lentils"))
            return found == {"drafts.md": 0.5, "soup.md": 1, "Archive/soup.md": 0}

        await editor.eventually(moved)
        after = paths(root, await editor.search("lentils"))
        assert after.index("soup.md") < after.index("Archive/soup.md")
        assert editor.messages == []


async def test_command_line_goes_by_the_vaults_own_trust(tmp_path: Path, cache: Path) -> None:
    """Trust chooses nothing that is loaded, so a vault may set it."""
    root = write(tmp_path / "vault", {**VAULT, ".synapse.toml": "[trust]\nfolders = {Archive = 0.25}\n"})
    hits = run(cache, "search", root, "lemon", "--mode", "lexical", "--json").json["hits"]
    assert [(hit["path"], hit["trust"]) for hit in hits] == [("Archive/soup.md", 0.25)]


async def test_what_other_notes_call_a_note_finds_it(tmp_path: Path, cache: Path) -> None:
    """The label of a link finds its target as well as the note it stands in, until the link is gone."""
    root = write(
        tmp_path / "vault",
        {
            "plants/Quercus.md": "# Quercus robur\n\nAcorns in autumn.\n",
            "walk.md": "We met under [[Quercus|the grumpy giant]] and went home.\n",
            "other.md": "A giant of a fish. Nothing grumpy about it.\n",
        },
    )
    async with configured([root], cache, same(NO_MODEL)) as editor:
        await notes(editor, 3)
        assert paths(root, await editor.search("grumpy giant"))[0] == "plants/Quercus.md"
        write(root, {"walk.md": "We met under a tree and went home.\n"})

        async def forgotten() -> bool:
            return "plants/Quercus.md" not in paths(root, await editor.search("grumpy giant"))

        await editor.eventually(forgotten)
