"""An index that turns out to be damaged while it is in use."""

from pathlib import Path

import pytest

from synapse_ls.core.config import EmbeddingSettings, Settings
from synapse_ls.core.errors import IndexStateError
from synapse_ls.core.model import SearchRequest
from synapse_ls.vault import location
from synapse_ls.vault.encoder import Encoder
from synapse_ls.vault.vault import Vault

PAGE = 4096
REQUEST = SearchRequest("number 100 of many", mode="lexical")


@pytest.mark.parametrize(("first", "last"), [(0.2, 0.9), (0.3, 0.5), (0.5, 0.9)])
def test_damaged_pages_are_told_once_and_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: float, last: float
) -> None:
    """Pages in the middle show their damage only when they are read; the notes bring everything back."""
    monkeypatch.setenv("SYNAPSE_CACHE_DIR", str(tmp_path / "cache"))
    root = tmp_path / "vault"
    root.mkdir()
    for i in range(300):
        text = f"# Note {i}\n\nThis is number {i} of many notes. {'More words. ' * 40}\n"
        (root / f"{i}.md").write_text(text, "utf-8")
    encoder = Encoder(EmbeddingSettings(model="none"))
    vault = Vault(root, Settings(), encoder, watch=False)
    vault.open()
    vault.wait()
    expected = vault.search(REQUEST).hits
    assert vault.folder is not None
    index = location.current_index(vault.folder)
    assert index is not None
    vault.close()

    data = bytearray(index.read_bytes())
    pages = len(data) // PAGE
    for page in range(int(pages * first), int(pages * last)):
        data[page * PAGE : (page + 1) * PAGE] = bytes(PAGE)
    index.write_bytes(data)

    again = Vault(root, Settings(), encoder, watch=False)
    again.open()
    again.wait()
    try:
        found = again.search(REQUEST).hits
    except IndexStateError as error:
        assert "being rebuilt" in str(error)  # noqa: PT017 - damage may show at opening or only now
        again.wait()
        found = again.search(REQUEST).hits
    assert found == expected
    assert any("damaged" in warning for warning in again.warnings)
    assert again.status().error is None
    again.close()
