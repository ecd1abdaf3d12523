"""Settings: good values are taken, bad ones leave one sentence and nothing else."""

import json
import re
from collections.abc import Mapping
from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synapse_ls.core import config
from synapse_ls.core.config import (
    KEYS,
    NOT_FROM_A_VAULT,
    EmbeddingSettings,
    HttpSettings,
    SearchSettings,
    Settings,
)

DOCUMENTATION = Path(__file__).parents[3] / "docs" / "configuration.md"

# key -> good values, bad values
VALUES: dict[str, tuple[list[Any], list[Any]]] = {
    "index.extensions": (
        [[".md"], [".md", ".txt"], [".tar.md"]],
        [[], ["md"], ["."], [". "], [".MD"], ["./x"], [".a\\b"], ".md", [3], [None], {}, [".m" * 501]],
    ),
    "index.exclude": (
        [[], ["drafts/**", "*.tmp"], ["日記 "], ["x"] * 1000],
        ["drafts", [""], [None], {"a": 1}, 3, ["x"] * 1001, ["x" * 1001], ["a\nb"], ["\ud800"], [["x"]]],
    ),
    "index.maxFileKiB": ([1, 65536], [0, 65537, 1.5, "1", True, 10**400, float("nan"), float("inf"), {}]),
    "embedding.model": (["bundled", "/models/mine"], ["", "  ", 3, "a\0b", "x" * 1001]),
    "embedding.threads": ([0, 256], [-1, 257, 1.0, True, "2", float("nan"), [1]]),
    "embedding.http.url": (["http://localhost:8080"], ["", " ", 3, {"a": 1}, False]),
    "embedding.http.keyEnv": (["MY_KEY"], ["", 3]),
    "rerank.enabled": ([True, False], [0, 1, "true"]),
    "rerank.model": (["late-interaction"], ["", {"name": "x"}]),
    "rerank.topK": ([1, 100], [0, 101, 2.5, False]),
    "rerank.deadlineMs": ([50, 60000], [49, 60001, "50"]),
    "rerank.http.url": (["http://localhost:8080"], ["", []]),
    "rerank.http.keyEnv": (["MY_KEY"], ["", 3]),
    "trust.property": (["reviewed"], ["", ["trust"]]),
    "trust.folders": (
        [{}, {"drafts": 0.5, "wiki": 1}],
        [{"a": 2}, {"a": -0.1}, {"a": "1"}, {"a": True}, [], "a", {str(key): 0 for key in range(1001)}, {"": 1}],
    ),
    "trust.values": ([{"verified": 1.0}], [{"a": float("nan")}, {"a": None}, {"a": {"b": 1}}, 1]),
    "search.limit": ([1, 100], [0, 101, "10"]),
    "hover.maxLines": ([1, 200], [0, 201, 1e9, 20.0]),
    "links.dialect": (["auto", "obsidian", "zk"], ["mixed", "Obsidian", "", 1, ["zk"]]),
}
GOOD = [(key, value) for key, (good, _) in VALUES.items() for value in good]
BAD = [(key, value) for key, (_, bad) in VALUES.items() for value in bad]
FIELDS = {"maxFileKiB": "max_file_kib", "keyEnv": "key_env", "topK": "top_k", "deadlineMs": "deadline_ms"}
FIELDS["maxLines"] = "max_lines"
# Keys, sections and their parts.
NAMES = sorted({part for key in KEYS for part in (key, *key.split("."), key.rpartition(".")[0])})


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


def test_every_key_is_documented_with_its_default() -> None:
    """In the table of the settings' page, with a star if a vault may not set it."""
    rows = [row.split("|")[1:3] for row in DOCUMENTATION.read_text(encoding="utf-8").splitlines() if row[:3] == "| `"]
    table: dict[str, tuple[bool, object]] = {}
    for names, defaults in rows:
        keys = re.findall(r"`(\w+\.[\w.]+)`(\*?)", names)
        values = [json.loads(default) for default in re.findall(r"`([^`]*)`", defaults)] or [None] * len(keys)
        table |= {key: (bool(star), value) for (key, star), value in zip(keys, values, strict=bool(keys))}
    assert table == {key: (key in NOT_FROM_A_VAULT, plain(found(Settings(), key))) for key in KEYS}


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
    assert warnings[0].endswith("; it is left out")


@pytest.mark.parametrize(
    ("values", "warning"),
    [
        ({"colour": "red"}, "x: unknown setting colour; see docs/configuration.md for the list"),
        ({"index": {"colour": "red"}}, "x: unknown setting index.colour; see docs/configuration.md for the list"),
        ({"colour": {"of": {"the": "sky"}}}, "x: unknown setting colour; see docs/configuration.md for the list"),
        ({"": 1}, "x: unknown setting ; see docs/configuration.md for the list"),
        ({"a\nb": 1}, "x: unknown setting a?b; see docs/configuration.md for the list"),
        ({"k" * 61: 1}, f"x: unknown setting {'k' * 60}...; see docs/configuration.md for the list"),
        ({"index": 3}, "x: index must be a table of settings, not 3; it is left out"),
        ({"embedding": {"http": [1]}}, "x: embedding.http must be a table of settings, not [1]; it is left out"),
        ({"embedding.http": "y"}, "x: embedding.http must be a table of settings, not 'y'; it is left out"),
        ({"search.limit": "many"}, "x: search.limit must be a whole number from 1 to 100, not 'many'; it is left out"),
        (3, "x: settings must be a table, not 3; they are left out"),
        ("limit", "x: settings must be a table, not 'limit'; they are left out"),
        ([1], "x: settings must be a table, not [1]; they are left out"),
    ],
)
def test_what_is_no_setting_is_named(values: object, warning: str) -> None:
    """One warning each, whatever shape the value has."""
    assert config.apply(Settings(), values, "x") == (Settings(), [warning])


@pytest.mark.parametrize(
    "values", [{}, [], {"index": {}}, {"index": []}, {"embedding": {"http": {}}}, {"embedding.http": []}]
)
def test_empty_tables_say_nothing(values: object) -> None:
    """No value, no warning; Lua cannot tell an empty table from an empty list."""
    assert config.apply(Settings(), values, "x") == (Settings(), [])


@pytest.mark.parametrize("key", [*KEYS, "index", "embedding.http", "colour"])
@pytest.mark.parametrize("dotted", [False, True])
def test_null_means_not_set(key: str, *, dotted: bool) -> None:
    """For any key, whether or not it is known; what was set before stands."""
    before = Settings(embedding=EmbeddingSettings(model="mine", http=HttpSettings("http://localhost")))
    values = {key: None} if dotted else nested(key, None)
    assert config.apply(before, values, "x") == (before, [])


def test_null_in_place_of_all_settings_means_that_none_is_set() -> None:
    """As an editor answers that has none."""
    assert config.apply(Settings(), None, "x") == (Settings(), [])


@pytest.mark.parametrize(
    "values",
    [
        {"search": {"limit": 5}, "search.limit": 7},
        {"search.limit": "many", "search": {"limit": 7}},
        {"embedding.threads": 1, "search": {"limit": 5}, "search.limit": 7},
    ],
)
def test_a_key_that_is_dotted_and_nested_has_its_later_value(values: dict[str, Any]) -> None:
    """One warning; the value before it is not judged."""
    settings, warnings = config.apply(Settings(), values, "x")
    assert settings.search.limit == 7
    assert warnings == ["x: search.limit is set twice; the later value counts"]


def test_warnings_are_bounded_in_number_and_length() -> None:
    """However much is wrong; values are cut and kept on one line."""
    _, warnings = config.apply(Settings(), {f"k{number}": 1 for number in range(5000)}, "x")
    assert len(warnings) == 21
    assert warnings[-1] == "x: 4980 more settings are wrong or unknown and left out"
    wrong = {"search.limit": "y\n" * 9999, "hover.maxLines": [[[[1]]]] * 9999, "\ud800" * 9999: 1}
    _, warnings = config.apply(Settings(), wrong, "x")
    assert [len(warning) < 200 and warning.isprintable() for warning in warnings] == [True] * 3


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


def test_a_folder_may_choose_the_rest() -> None:
    """Nothing is said of what repeats the user's own values or what holds anyway, right or wrong."""
    base = Settings(embedding=EmbeddingSettings(model="mine"))
    own = {"embedding.model": "mine", "embedding.threads": "many", "rerank.model": None}
    values = {"embedding": {"model": "mine", "threads": "many", "http": {"url": None}}, "rerank.model": None}
    settings, warnings = config.apply(base, {**values, "search.limit": 5}, "x", repeats=own)
    assert (settings, warnings) == (Settings(embedding=base.embedding, search=SearchSettings(5)), [])
    assert config.apply(Settings(), {"embedding.model": "bundled"}, "x", repeats={}) == (Settings(), [])


@pytest.mark.parametrize("key", sorted(NOT_FROM_A_VAULT))
def test_a_folder_may_not_choose_what_is_loaded_or_called(key: str) -> None:
    """The client may have read it from a file in there."""
    values = nested(key, 7 if key == "embedding.threads" else "other")
    assert config.apply(Settings(), values, "x", repeats={key: "mine"}) == (
        Settings(),
        [f"x: {key} may not be set for one folder; set it in your user settings instead"],
    )


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=3), inner),
    max_leaves=12,
)


@given(JSON, st.booleans(), st.none() | st.just({"embedding.model": "x"}))
def test_no_value_is_too_strange(values: object, in_vault: bool, repeats: dict[str, object] | None) -> None:
    """Whatever JSON can hold: settings that differ from the base in good values only, and text for each that is not."""
    settings, warnings = config.apply(Settings(), values, "x", from_vault=in_vault, repeats=repeats)
    assert all(warning.startswith("x: ") and warning.isprintable() for warning in warnings)
    taken = {key: plain(found(settings, key)) for key in KEYS if found(settings, key) is not None}
    assert config.apply(Settings(), taken, "again") == (settings, [])


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
