"""What a change of settings does to the vaults and the encoder."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from synapse_ls.core.config import EmbeddingSettings, SearchSettings, Settings
from synapse_ls.lsp.folders import Folder, Opener

ONE, TWO = "file:///one", "file:///two"


class Encoder:
    """An encoder that tells what is done with it."""

    def __init__(self, settings: EmbeddingSettings, log: list[str]) -> None:
        self.name = settings.model
        self.note = None if settings.model == "bundled" else f"there is no {settings.model}"
        self._log = log

    def set_settings(self, settings: EmbeddingSettings) -> None:
        """Note a change of threads."""
        self._log.append(f"{self.name} has {settings.threads} threads")

    def start(self, then: Any) -> None:  # noqa: ANN401 - as the encoder
        """Be decided at once."""
        self._log.append(f"{self.name} starts")
        then()

    def close(self) -> None:
        """Note the end."""
        self._log.append(f"{self.name} is closed")


class Vault:
    """A vault that tells what is done with it, and perhaps fails."""

    def __init__(self, root: Path, log: list[str], *, fails: bool = False) -> None:
        self.root = root
        self._log = log
        self._fails = fails

    def use(self, encoder: Encoder) -> None:
        """Note another encoder."""
        self._log.append(f"{self.root.name} uses {encoder.name}")
        if self._fails:
            raise OSError("no")

    def configure(self, settings: Settings) -> None:
        """Note other settings."""
        self._log.append(f"{self.root.name} has limit {settings.search.limit}")
        if self._fails:
            raise OSError("no")


class Home:
    """As much of a session as an opener has to do with; three folders, two of them of one vault."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, fails: bool = False) -> None:
        self.log: list[str] = []
        self.settings = Settings()
        self.own: Mapping[str, Settings] = {}
        self.configuration = self
        self.loop = None
        self.reranking = None
        vaults = [Vault(Path("/one"), self.log, fails=fails), Vault(Path("/two"), self.log)]
        held = [(ONE, vaults[0]), (f"{ONE}/", vaults[0]), (TWO, vaults[1])]
        self.folders = {uri: Folder(uri, vault.root, vault=vault) for uri, vault in held}  # type: ignore[arg-type]  # as much as is used
        self.encoder = Encoder(EmbeddingSettings(), self.log)
        self.opener = Opener(self)  # type: ignore[arg-type]  # as much of a session as is used
        self.opener._vaults = {vault.root: vault for vault in vaults}  # type: ignore[misc]  # as above
        self.opener._given = {vault.root: Settings() for vault in vaults}
        monkeypatch.setattr(self.opener, "_new_encoder", lambda settings: Encoder(settings, self.log))

    def of(self, uri: str) -> Settings:
        """Return the settings of a folder."""
        return self.own.get(uri, self.settings)

    def changed(self) -> None:
        """Note that the status may have changed."""
        self.log.append("changed")

    def show(self, sentence: str) -> None:
        """Note what the user is shown."""
        self.log.append(sentence)

    def become(self, settings: Settings, own: Mapping[str, Settings] | None = None) -> list[str]:
        """Let other settings hold and return what is done."""
        self.log.clear()
        self.settings, self.own = settings, own or {}
        self.opener._configure()
        return self.log


def test_each_vault_whose_settings_change_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first of the folders that share a vault decides."""
    home = Home(monkeypatch)
    limited = Settings(search=SearchSettings(3))
    assert home.become(Settings(), {TWO: limited}) == ["two has limit 3", "changed"]
    assert home.become(Settings(), {TWO: limited}) == ["changed"]
    assert home.become(limited, {f"{ONE}/": Settings()}) == ["one has limit 3", "changed"]


def test_another_number_of_threads_keeps_the_encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    """The vaults are told of their settings all the same."""
    home = Home(monkeypatch)
    done = home.become(Settings(embedding=EmbeddingSettings(threads=3)))
    assert done == ["bundled has 3 threads", "one has limit 10", "two has limit 10", "changed"]


def test_the_former_encoder_ends_when_all_vaults_have_let_it_go(monkeypatch: pytest.MonkeyPatch) -> None:
    """And the user is told if there is no other."""
    home = Home(monkeypatch)
    assert home.become(Settings(embedding=EmbeddingSettings(model="other")))[:5] == [
        "one uses other",
        "two uses other",
        "other starts",
        "searching by words and links only: there is no other",
        "bundled is closed",
    ]
    assert home.encoder.name == "other"
    none = home.become(Settings(embedding=EmbeddingSettings(model="none")))
    assert not [said for said in none if said.startswith("searching")]


def test_a_vault_that_fails_does_not_keep_the_others_from_their_settings(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It is logged."""
    home = Home(monkeypatch, fails=True)
    home.become(Settings(embedding=EmbeddingSettings(model="none")))
    assert home.log == [
        "one uses none",
        "two uses none",
        "none starts",
        "bundled is closed",
        "one has limit 10",
        "two has limit 10",
        "changed",
    ]
    assert [record.message for record in caplog.records] == ["the settings cannot be changed"] * 2


def test_a_burst_of_changes_is_one_piece_of_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next one is another; after the end there is none."""
    home = Home(monkeypatch)
    begun: list[object] = []
    monkeypatch.setattr(home.opener, "_submit", begun.append)
    for _ in range(9):
        home.opener.configure()
    assert len(begun) == 1
    home.opener._configure()
    home.opener.configure()
    assert len(begun) == 2


def test_work_asked_for_after_the_end_is_left_undone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A late answer of the client raises nothing."""
    home = Home(monkeypatch)
    home.opener._vaults.clear()
    home.opener.stop()
    home.opener.configure()
    home.opener.open(home.folders[ONE])
    assert home.log == []
