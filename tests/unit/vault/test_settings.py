"""The settings file of a vault, which may come from a stranger."""

import os
from pathlib import Path

import pytest

from synapse_ls.core.config import IndexSettings, Settings
from synapse_ls.vault.settings import settings_of

BASE = Settings()


def test_no_file_changes_nothing(tmp_path: Path) -> None:
    """And warns of nothing."""
    assert settings_of(tmp_path, BASE) == (BASE, [])


def test_good_values_are_taken_over(tmp_path: Path) -> None:
    """Tables or dotted keys."""
    (tmp_path / ".synapse.toml").write_text('index.exclude = ["x/"]\n[search]\nlimit = 5\n')
    settings, warnings = settings_of(tmp_path, BASE)
    assert warnings == []
    assert settings.index == IndexSettings(exclude=("x/",))
    assert settings.search.limit == 5


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"[[[", ".synapse.toml cannot be read ("),
        (b"a = 1\na = 2", ".synapse.toml cannot be read ("),
        (b"\xff\xfe", ".synapse.toml cannot be read ("),
        (b"x = " + b"[" * 20_000, ".synapse.toml "),
        (b"# " + b"x" * 70_000, ".synapse.toml is larger than 64 KiB"),
        (b"[embedding]\nmodel = 'http'\nthreads = 64", ".synapse.toml: embedding."),
        (b"[embedding.http]\nurl = 'http://x'\nkeyEnv = 'SECRET'", ".synapse.toml: embedding.http."),
        (b"[rerank]\nmodel = 'x'", ".synapse.toml: rerank.model may not be set inside a vault"),
        (b"[search]\nlimit = 'many'", ".synapse.toml: search.limit must be"),
        (b"nonsense = 1", ".synapse.toml: unknown setting nonsense"),
    ],
)
def test_bad_values_are_left_out_with_a_warning(tmp_path: Path, content: bytes, said: str) -> None:
    """The settings stay as they were."""
    (tmp_path / ".synapse.toml").write_bytes(content)
    settings, warnings = settings_of(tmp_path, BASE)
    assert settings == BASE
    assert warnings
    assert all(warning.startswith(said) for warning in warnings)


@pytest.mark.parametrize("kind", ["folder", "pipe", "link", "dangling"])
def test_what_is_no_file_of_the_vault_is_not_read(tmp_path: Path, kind: str) -> None:
    """A link could lead to the server's own input, a pipe to a wait without end."""
    file = tmp_path / ".synapse.toml"
    if kind == "folder":
        file.mkdir()
    elif kind == "pipe":
        os.mkfifo(file)
    else:
        (tmp_path / "elsewhere.toml").write_text("[search]\nlimit = 5")
        file.symlink_to("nowhere" if kind == "dangling" else "elsewhere.toml")
    settings, warnings = settings_of(tmp_path, BASE)
    assert settings == BASE
    assert warnings == [".synapse.toml is not a file of the vault itself; its settings are left out"]
