"""One open vault: its numbers in each phase, several processes, closing."""

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from synapse_ls.core.config import EmbeddingSettings, Settings
from synapse_ls.core.errors import IndexStateError, VaultError
from synapse_ls.core.model import SearchRequest
from synapse_ls.indexer.pipeline import Indexer
from synapse_ls.inference import embedder, registry
from synapse_ls.vault import keeper, location
from synapse_ls.vault.encoder import Encoder
from synapse_ls.vault.vault import Vault
from tests.support.indexing import PATIENCE, SPEC, HashEmbedder, write

NONE = Settings(embedding=EmbeddingSettings(model="none"))
ONE = Settings(embedding=EmbeddingSettings(threads=1))


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a vault of three notes, and keep its index below the test's own folder."""
    monkeypatch.setenv("SYNAPSE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(keeper, "_TAKEOVER_SECONDS", 0.02)
    folder = tmp_path / "vault"
    write(folder, {"a.md": "the cistern", "b.md": "see [[a]]", "c.md": ""})
    return folder


@pytest.fixture
def hashed(monkeypatch: pytest.MonkeyPatch) -> HashEmbedder:
    """Put an embedder in the place of the bundled one."""
    made = HashEmbedder()
    monkeypatch.setattr(embedder, "load", lambda *_: made)
    monkeypatch.setattr(registry, "find", lambda _: SPEC)
    return made


@pytest.fixture
def closing() -> Iterator[Callable[..., Vault]]:
    """Give what makes vaults that are closed afterwards."""
    made: list[tuple[Vault, Encoder]] = []

    def make(root: Path, settings: Settings, *, watch: bool = False) -> Vault:
        encoder = Encoder(settings.embedding)
        vault = Vault(root, settings, encoder, watch=watch)
        made.append((vault, encoder))
        return vault

    yield make
    for vault, encoder in made:
        vault.close()
        encoder.close()


def until(holds: Callable[[], bool]) -> None:
    """Wait for what another thread brings about."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, "it never came true"
        threading.Event().wait(0.01)


def found(vault: Vault, query: str) -> list[str]:
    """Return the paths of a search by words."""
    return [hit.path for hit in vault.search(SearchRequest(query, mode="lexical")).hits]


def _index_of(vault: Vault) -> Path:
    assert vault.folder is not None
    path = location.current_index(vault.folder)
    assert path is not None
    return path


def test_vault_without_a_model_waits_for_no_vector(root: Path, closing: Callable[..., Vault]) -> None:
    """It is ready with words alone: no vectors are pending that nobody makes."""
    vault = closing(root, NONE)
    vault.open()
    assert vault.wait(PATIENCE)
    status = vault.status()
    assert (status.state, status.notes, status.pending, status.error) == ("ready", 3, 0, None)
    assert (status.model.state, status.model.dimensions) == ("missing", 0)
    assert status.embedded < status.chunks
    assert (status.files_read, status.chunks_embedded, status.searches) == (3, 0, 0)
    assert status.cache_bytes > 0
    assert found(vault, "cistern") == ["a.md"]
    answer = vault.search(SearchRequest("cistern"))
    assert answer.semantic.state == "unavailable"
    assert answer.semantic.note == 'no model: embedding.model is "none"'
    assert vault.status().searches == 2


def test_numbers_while_vectors_are_made_and_after(
    root: Path, hashed: HashEmbedder, closing: Callable[..., Vault]
) -> None:
    """Pending and embedded together are all chunks, and in the end all are embedded."""
    hashed.may_go.clear()
    vault = closing(root, ONE)
    vault.open()
    try:
        assert hashed.began.wait(PATIENCE)
        status = vault.status()
        assert found(vault, "cistern") == ["a.md"]
    finally:
        hashed.may_go.set()
    assert (status.state, status.notes, status.embedded) == ("ready", 3, 0)
    assert status.pending == status.chunks > 0
    assert vault.wait(PATIENCE)
    status = vault.status()
    assert (status.pending, status.embedded, status.chunks_embedded) == (0, status.chunks, status.chunks)
    assert vault.search(SearchRequest("the cistern")).semantic.state == "ok"


def test_vault_that_is_not_open_says_so(root: Path, closing: Callable[..., Vault]) -> None:
    """Before, after a failure, and after the end."""
    vault = closing(root, NONE)
    assert vault.status().state == "starting"
    with pytest.raises(IndexStateError, match="try again in a moment"):
        found(vault, "x")
    assert vault.wait(0)
    vault.open()
    vault.close()
    with pytest.raises(IndexStateError, match="closed"):
        found(vault, "x")
    vault.close()
    missing = closing(root / "none", NONE)
    with pytest.raises(VaultError, match="there is no folder"):
        missing.open()
    status = missing.status()
    assert status.state == "failed"
    assert status.error is not None
    assert "there is no folder" in status.error


def test_second_vault_reads_along_and_takes_over(root: Path, closing: Callable[..., Vault]) -> None:
    """Nobody else writes while the first one is there; then the other goes on."""
    first, second = closing(root, NONE), closing(root, NONE, watch=True)
    first.open()
    assert first.wait(PATIENCE)
    second.open()
    assert second.read_only
    assert second.status().state == "readOnly"
    assert second.warnings == ["vault: another Synapse is writing this index; reading along"]
    assert found(second, "cistern") == ["a.md"]
    write(root, {"new.md": "a skylight"})
    first.submit(["new.md"])
    assert first.wait(PATIENCE)
    assert found(second, "skylight") == ["new.md"]
    first.close()
    until(lambda: not second.read_only)
    assert second.wait(PATIENCE)
    write(root, {"newer.md": "a trapdoor"})
    second.submit(["newer.md"])
    assert second.wait(PATIENCE)
    assert found(second, "trapdoor") == ["newer.md"]
    assert second.status().state == "ready"


def test_rebuild_needs_the_right_to_write(root: Path, closing: Callable[..., Vault]) -> None:
    """Else two would write at once."""
    first, second = closing(root, NONE), closing(root, NONE)
    first.open()
    with pytest.raises(IndexStateError, match="another Synapse is writing this index"):
        second.open(rebuild=True)
    second.close()  # it would take over when the first one ends
    assert first.wait(PATIENCE)
    first.close()
    third = closing(root, NONE)
    third.open(rebuild=True)
    assert third.wait(PATIENCE)
    assert third.status().files_read == 3


def test_closing_and_taking_over_wait_for_questions_under_way(root: Path, closing: Callable[..., Vault]) -> None:
    """A reader never loses its index in the middle of an answer."""
    vault = closing(root, NONE)
    vault.open()
    assert vault.wait(PATIENCE)
    inside, go_on = threading.Event(), threading.Event()
    seen: list[int] = []

    def ask() -> None:
        with vault.read() as db:
            inside.set()
            assert go_on.wait(PATIENCE)
            seen.append(db.execute("SELECT count(*) FROM notes").get)

    reader = threading.Thread(target=ask)
    reader.start()
    assert inside.wait(PATIENCE)
    ender = threading.Thread(target=vault.close)
    ender.start()
    until(vault._closing.is_set)
    go_on.set()
    reader.join(PATIENCE)
    ender.join(PATIENCE)
    assert seen == [3]
    assert not ender.is_alive()


def test_damaged_index_is_made_anew_and_told(root: Path, closing: Callable[..., Vault]) -> None:
    """The notes are untouched."""
    vault = closing(root, NONE)
    vault.open()
    vault.wait(PATIENCE)
    vault.close()
    _index_of(vault).write_bytes(b"no database" * 1000)
    again = closing(root, NONE)
    again.open()
    assert again.wait(PATIENCE)
    assert again.status().notes == 3
    assert len(again.warnings) == 1
    assert "rebuilt" in again.warnings[0]


def test_look_changes_nothing(root: Path, closing: Callable[..., Vault]) -> None:
    """It reads what is there, and says if nothing is."""
    vault = closing(root, NONE)
    assert not vault.look()
    assert not (root.parent / "cache").exists()
    first = closing(root, NONE)
    first.open()
    first.wait(PATIENCE)
    assert vault.look()
    assert vault.status().notes == 3
    assert vault.status().state == "readOnly"


def test_vault_is_not_written_to(root: Path, hashed: HashEmbedder, closing: Callable[..., Vault]) -> None:
    """Not one byte, not one file."""
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in root.rglob("*")}
    vault = closing(root, ONE, watch=True)
    vault.open()
    assert vault.wait(PATIENCE)
    vault.close()
    assert {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in root.rglob("*")} == before
    assert hashed.seen


def test_settings_file_of_the_vault_counts(root: Path, closing: Callable[..., Vault]) -> None:
    """Its warnings are passed on."""
    write(root, {".synapse.toml": 'index.exclude = ["b.md"]\nembedding.model = "none"'})
    vault = closing(root, NONE)
    vault.open()
    assert vault.wait(PATIENCE)
    assert vault.status().notes == 2
    assert len(vault.warnings) == 1


def test_a_vault_that_cannot_be_watched_says_so_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Polling is told in one sentence that says what to do."""
    monkeypatch.setenv("SYNAPSE_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "vault").mkdir(exist_ok=True)
    encoder = Encoder(EmbeddingSettings(model="none"))
    vault = Vault(tmp_path / "vault", Settings(), encoder, watch=False)
    vault.open()
    vault.wait()
    monkeypatch.setattr(Indexer, "polling", True)
    vault.status()
    vault.status()
    assert len(vault.warnings) == 1
    assert "max_user_watches" in vault.warnings[0]
    vault.close()


def test_a_vault_that_goes_away_is_told_once(root: Path, closing: Callable[..., Vault]) -> None:
    """Its notes are still found; when it is back there is nothing to say."""
    vault = closing(root, NONE)
    vault.open()
    assert vault.wait(PATIENCE)
    root.rename(root.parent / "elsewhere")
    vault.submit(folders=[""])
    until(lambda: "is not there" in (vault.status().error or ""))
    assert found(vault, "cistern") == ["a.md"]
    vault.status()
    assert [warning for warning in vault.warnings if "is not there" in warning] == vault.warnings
    assert len(vault.warnings) == 1
    (root.parent / "elsewhere").rename(root)
    until(lambda: vault.status().error is None)
    assert len(vault.warnings) == 1
