"""``synapse/backlinks`` with a real server."""

from pathlib import Path

import pytest
from pygls.exceptions import JsonRpcException

from tests.e2e.editor import relative, serving, write

pytestmark = pytest.mark.asyncio(loop_scope="session")

VAULT = {
    "Boiler.md": "# Boiler\n\nIt is old.\n",
    "a.md": "# One\n\n🍋 see [[Boiler]] first\n",
    "b.md": "# Two\n\nand [[Boiler]]\n",
}


async def test_links_come_with_their_lines(cache: Path, tmp_path: Path) -> None:
    """The note need not be open; columns are in the negotiated units."""
    root = write(tmp_path / "vault", VAULT)
    async with serving([root], cache) as editor:
        await editor.settled()
        answer = await editor.ask("synapse/backlinks", {"uri": (root / "Boiler.md").as_uri()})
        first = await editor.ask("synapse/backlinks", {"uri": (root / "Boiler.md").as_uri(), "limit": 1})
        with pytest.raises(JsonRpcException, match="in no folder that is open"):
            await editor.ask("synapse/backlinks", {"uri": (tmp_path / "other.md").as_uri()})
    assert set(answer) == {"generation", "links", "total"}
    assert [(relative(root, link["uri"]), link["title"]) for link in answer["links"]] == [
        ("a.md", "One"),
        ("b.md", "Two"),
    ]
    link = answer["links"][0]
    assert link["line"] == {"text": "🍋 see [[Boiler]] first", "link": [7, 17]}
    assert link["range"] == {"start": {"line": 2, "character": 7}, "end": {"line": 2, "character": 17}}
    assert (len(first["links"]), first["total"]) == (1, 2)
