"""Settings: good values are taken, bad ones leave one sentence and nothing else."""

from collections.abc import Mapping
from dataclasses import FrozenInstanceError
from typing import Any

import pytest

from synapse_ls.core import config
from synapse_ls.core.config import KEYS, NOT_FROM_A_VAULT, EmbeddingSettings, Settings

# key -> good values, bad values
VALUES: dict[str, tuple[list[Any], list[Any]]] = {
    "index.extensions": ([[".md"], [".md", ".txt"]], [[], ["md"], ["."], [".MD"], ".md", [3], None]),
    "index.exclude": ([[], ["drafts/**", "*.tmp"]], ["drafts", [""], [None], {"a": 1}, 3]),
    "index.maxFileKiB": ([1, 65536], [0, 65537, 1.5, "1", True, None]),
    "embedding.model": (["bundled", "/models/mine"], ["", "  ", 3, None]),
    "embedding.threads": ([0, 256], [-1, 257, 1.0, True, "2"]),
    "embedding.http.url": (["http://localhost:8080", None], ["", " ", 3, {"a": 1}]),
    "embedding.http.keyEnv": (["MY_KEY", None], ["", 3]),
    "rerank.enabled": ([True, False], [0, 1, "true", None]),
    "rerank.model": (["late-interaction"], ["", None]),
    "rerank.topK": ([1, 100], [0, 101, 2.5, False]),
    "rerank.deadlineMs": ([50, 60000], [49, 60001, "50"]),
    "rerank.http.url": (["http://localhost:8080", None], ["", []]),
    "rerank.http.keyEnv": (["MY_KEY", None], ["", 3]),
    "trust.property": (["reviewed"], ["", None]),
    "trust.folders": ([{}, {"drafts": 0.5, "wiki": 1}], [{"a": 2}, {"a": -0.1}, {"a": "1"}, {"a": True}, [], "a"]),
    "trust.values": ([{"verified": 1.0}], [{"a": float("nan")}, {"a": None}, 1]),
    "search.limit": ([1, 100], [0, 101, "10", None]),
    "hover.maxLines": ([1, 200], [0, 201, 1e9]),
    "links.dialect": (["auto", "obsidian", "zk"], ["mixed", "Obsidian", "", None, 1, ["zk"]]),
}
GOOD = [(key, value) for key, (good, _) in VALUES.items() for value in good]
BAD = [(key, value) for key, (_, bad) in VALUES.items() for value in bad]
FIELDS = {"maxFileKiB": "max_file_kib", "keyEnv": "key_env", "topK": "top_k", "deadlineMs": "deadline_ms"}
FIELDS["maxLines"] = "max_lines"


def nested(key: str, value: object) -> dict[str, Any]:
    """Return a value at a dotted key as nested tables."""
    *sections, name = key.split(".")
    tree: dict[str, Any] = {name: value}
    for section in reversed(sections):
        tree = {section: tree}
    return tree


def found(settings: Settings, key: str) -> object:
    """Return what stands at a dotted key."""
    value: object = settings
    for name in key.split("."):
        value = getattr(value, FIELDS.get(name, name))
    return value


def plain(value: object) -> object:
    """Return a value as JSON would give it."""
    return list(value) if isinstance(value, tuple) else dict(value) if isinstance(value, Mapping) else value


def test_every_key_has_values_here() -> None:
    """A new setting needs a row in this file."""
    assert set(VALUES) == set(KEYS)
    assert set(KEYS) > NOT_FROM_A_VAULT


@pytest.mark.parametrize(("key", "value"), GOOD)
@pytest.mark.parametrize("dotted", [False, True])
def test_a_good_value_is_taken(key: str, value: object, *, dotted: bool) -> None:
    """Nested and dotted keys say the same."""
    settings, warnings = config.apply(Settings(), {key: value} if dotted else nested(key, value), "the editor")
    assert warnings == []
    assert plain(found(settings, key)) == value


@pytest.mark.parametrize(("key", "value"), BAD)
@pytest.mark.parametrize("dotted", [False, True])
def test_a_bad_value_is_left_out_with_a_warning(key: str, value: object, *, dotted: bool) -> None:
    """The warning names the source and the key, and everything stays as it was."""
    settings, warnings = config.apply(Settings(), {key: value} if dotted else nested(key, value), "the editor")
    assert settings == Settings()
    assert len(warnings) == 1
    assert warnings[0].startswith(f"the editor: {key} must be ")


@pytest.mark.parametrize(
    ("values", "warning"),
    [
        ({"colour": "red"}, "x: unknown setting colour; see docs/configuration.md for the list"),
        ({"index": {"colour": "red"}}, "x: unknown setting index.colour; see docs/configuration.md for the list"),
        ({"colour": {"of": {"the": "sky"}}}, "x: unknown setting colour; see docs/configuration.md for the list"),
        ({"": 1}, "x: unknown setting ; see docs/configuration.md for the list"),
        ({"index": 3}, "x: index must be a table of settings; the defaults stand"),
        ({"index": None}, "x: index must be a table of settings; the defaults stand"),
        ({"embedding": {"http": []}}, "x: embedding.http must be a table of settings; the defaults stand"),
        ({"embedding.http": "y"}, "x: embedding.http must be a table of settings; the defaults stand"),
        (3, "x: settings must be a table; the defaults stand"),
        (None, "x: settings must be a table; the defaults stand"),
        ([], "x: settings must be a table; the defaults stand"),
    ],
)
def test_what_is_no_setting_is_named(values: object, warning: str) -> None:
    """One warning each, whatever shape the value has."""
    assert config.apply(Settings(), values, "x") == (Settings(), [warning])


@pytest.mark.parametrize("values", [{}, {"index": {}}, {"embedding": {"http": {}}}])
def test_empty_tables_say_nothing(values: dict[str, Any]) -> None:
    """No value, no warning."""
    assert config.apply(Settings(), values, "x") == (Settings(), [])


def test_a_bottomless_table_is_one_unknown_setting() -> None:
    """Its depth is not followed."""
    deep: dict[str, Any] = {}
    for _ in range(5000):
        deep = {"deeper": deep}
    assert len(config.apply(Settings(), deep, "x")[1]) == 1


@pytest.mark.parametrize("key", sorted(NOT_FROM_A_VAULT))
def test_a_vault_may_not_choose_what_is_loaded_or_called(key: str) -> None:
    """Its notes may come from a stranger; the same value from the editor is taken."""
    good = VALUES[key][0][0]
    settings, warnings = config.apply(Settings(), nested(key, good), ".synapse.toml", from_vault=True)
    assert settings == Settings()
    assert warnings == [f".synapse.toml: {key} may not be set inside a vault; set it in your editor instead"]


@pytest.mark.parametrize("key", sorted(set(KEYS) - NOT_FROM_A_VAULT))
def test_a_vault_may_choose_the_rest(key: str) -> None:
    """What concerns the notes themselves."""
    good = VALUES[key][0][0]
    settings, warnings = config.apply(Settings(), {key: good}, ".synapse.toml", from_vault=True)
    assert (plain(found(settings, key)), warnings) == (good, [])


def test_good_values_survive_bad_neighbours() -> None:
    """Each value is judged by itself, on top of what was there."""
    base, _ = config.apply(Settings(), {"search.limit": 5}, "one")
    settings, warnings = config.apply(
        base, {"index": {"exclude": ["x"], "maxFileKiB": 0}, "hover.maxLines": 3, "search": {"limit": "ten"}}, "two"
    )
    assert (settings.search.limit, settings.index.exclude, settings.hover.max_lines) == (5, ("x",), 3)
    assert len(warnings) == 2


def test_settings_are_frozen() -> None:
    """Neither fields nor tables can be changed, nor do they follow the caller's values."""
    folders = {"drafts": 0.5}
    settings, _ = config.apply(Settings(), {"trust.folders": folders}, "x")
    folders["drafts"] = 1.0
    assert settings.trust.folders == {"drafts": 0.5}
    with pytest.raises(TypeError):
        settings.trust.folders["drafts"] = 1.0  # type: ignore[index] # the attempt is the test
    with pytest.raises(FrozenInstanceError):
        settings.search.limit = 3  # type: ignore[misc] # the attempt is the test


def test_half_the_workers_while_the_user_types() -> None:
    """And never none."""
    four, one = EmbeddingSettings(threads=4), EmbeddingSettings(threads=1)
    assert [config.embedding_workers(s, busy=busy) for s in (four, one) for busy in (False, True)] == [4, 2, 1, 1]
    assert config.embedding_workers(EmbeddingSettings(), busy=True) >= 1
