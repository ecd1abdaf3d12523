"""The settings tree: one frozen dataclass a section, built from JSON-shaped values with a warning for each bad one."""

import os
import reprlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, cast


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """What belongs to the index."""

    extensions: tuple[str, ...] = (".md", ".markdown")
    exclude: tuple[str, ...] = ()
    max_file_kib: int = 1024


@dataclass(frozen=True, slots=True)
class HttpSettings:
    """An HTTP endpoint; ``key_env`` names the environment variable that holds its key."""

    url: str | None = None
    key_env: str | None = None


@dataclass(frozen=True, slots=True)
class EmbeddingSettings:
    """Which encoder makes the vectors; ``threads`` 0 means: all cores when idle, half while the user types."""

    model: str = "bundled"
    threads: int = 0
    http: HttpSettings = HttpSettings()


@dataclass(frozen=True, slots=True)
class RerankSettings:
    """The optional second look at the shortlist."""

    enabled: bool = False
    model: str = "late-interaction"
    top_k: int = 20
    deadline_ms: int = 1500
    http: HttpSettings = HttpSettings()


@dataclass(frozen=True, slots=True)
class TrustSettings:
    """Where a note's trust (0 to 1) comes from: a property, its folder, or words that stand for values."""

    property: str = "trust"
    folders: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    values: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """Defaults of a search."""

    limit: int = 10


@dataclass(frozen=True, slots=True)
class HoverSettings:
    """The size of a hover preview."""

    max_lines: int = 20


@dataclass(frozen=True, slots=True)
class LinkSettings:
    """How links are written: one of ``DIALECTS``, or ``auto`` to go by the vault's own marks."""

    dialect: str = "auto"


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that can be set."""

    index: IndexSettings = IndexSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    rerank: RerankSettings = RerankSettings()
    trust: TrustSettings = field(default_factory=TrustSettings)
    search: SearchSettings = SearchSettings()
    hover: HoverSettings = HoverSettings()
    links: LinkSettings = LinkSettings()


DIALECTS = ("auto", "obsidian", "foam", "dendron", "logseq", "zk", "markdown")

# A file inside a vault comes with the notes, perhaps from a stranger: it may not choose what is loaded or called.
NOT_FROM_A_VAULT = frozenset(
    {
        "embedding.model",
        "embedding.threads",
        "embedding.http.url",
        "embedding.http.keyEnv",
        "rerank.model",
        "rerank.http.url",
        "rerank.http.keyEnv",
    }
)


# No list or table of settings is longer, and no text in one: each note is held against them.
_MOST_ENTRIES = 1000
_MOST_CHARACTERS = 1000
# More warnings than these at once would bury each other.
_MOST_WARNINGS = 20


def _number(low: float, high: float) -> Callable[[Any], bool]:
    def check(value: Any) -> bool:  # noqa: ANN401 - judges what JSON gives
        return isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high

    return check


def _whole(low: int, high: int) -> Callable[[Any], bool]:
    def check(value: Any) -> bool:  # noqa: ANN401 - judges what JSON gives
        return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high

    return check


def _text(value: Any) -> bool:  # noqa: ANN401 - judges what JSON gives
    if not isinstance(value, str) or not value.strip() or len(value) > _MOST_CHARACTERS:
        return False
    return not any(char < " " or "\ud800" <= char <= "\udfff" for char in value)


def _table(value: Any) -> bool:  # noqa: ANN401 - judges what JSON gives
    if not isinstance(value, Mapping) or len(value) > _MOST_ENTRIES:
        return False
    return all(_text(key) and _number(0, 1)(number) for key, number in value.items())


def _words(value: Any) -> bool:  # noqa: ANN401 - judges what JSON gives
    return isinstance(value, list | tuple) and len(value) <= _MOST_ENTRIES and all(_text(word) for word in value)


def _suffixes(value: Any) -> bool:  # noqa: ANN401 - judges what JSON gives
    return _words(value) and bool(value) and all(_suffix(word) for word in value)


def _suffix(value: str) -> bool:
    return value.startswith(".") and bool(value[1:].strip()) and value == value.lower() and not set(value) & set("/\\")


def _flag(value: Any) -> bool:  # noqa: ANN401 - judges what JSON gives
    return isinstance(value, bool)


def _dialect(value: Any) -> bool:  # noqa: ANN401 - judges what JSON gives
    return isinstance(value, str) and value in DIALECTS


# key -> (what a good value is, in words; the check)
_RULES: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "index.extensions": ('a list of endings in small letters such as ".md"', _suffixes),
    "index.exclude": (f"a list of at most {_MOST_ENTRIES} globs", _words),
    "index.maxFileKiB": ("a whole number from 1 to 65536", _whole(1, 65536)),
    "embedding.model": ("the name of a model or a folder", _text),
    "embedding.threads": ("a whole number from 0 to 256", _whole(0, 256)),
    "embedding.http.url": ("a URL", _text),
    "embedding.http.keyEnv": ("the name of an environment variable", _text),
    "rerank.enabled": ("true or false", _flag),
    "rerank.model": ("the name of a reranker", _text),
    "rerank.topK": ("a whole number from 1 to 100", _whole(1, 100)),
    "rerank.deadlineMs": ("a whole number from 50 to 60000", _whole(50, 60000)),
    "rerank.http.url": ("a URL", _text),
    "rerank.http.keyEnv": ("the name of an environment variable", _text),
    "trust.property": ("the name of a front-matter property", _text),
    "trust.folders": (f"a table of at most {_MOST_ENTRIES} folders and numbers from 0 to 1", _table),
    "trust.values": (f"a table of at most {_MOST_ENTRIES} words and numbers from 0 to 1", _table),
    "search.limit": ("a whole number from 1 to 100", _whole(1, 100)),
    "hover.maxLines": ("a whole number from 1 to 200", _whole(1, 200)),
    "links.dialect": (f"one of {', '.join(DIALECTS)}", _dialect),
}
KEYS = tuple(_RULES)
_SECTIONS = frozenset(key[:i] for key in KEYS for i, c in enumerate(key) if c == ".")


def apply(
    settings: Settings,
    values: object,
    source: str,
    *,
    from_vault: bool = False,
    repeats: Mapping[str, object] | None = None,
) -> tuple[Settings, list[str]]:
    """Return ``settings`` with JSON-shaped ``values`` on top, and one warning for each value left out.

    Keys may be nested (``{"index": {"exclude": []}}``), dotted (``{"index.exclude": []}``) or both. Null means not
    set, whatever the key. ``source`` names where the values come from in the warnings, which tell the wrong value, so
    that equal ones are about the same thing; those beyond twenty are counted.

    With ``from_vault`` the keys of ``NOT_FROM_A_VAULT`` are refused. With ``repeats``, the ``flat`` values of the
    user's own settings that a client repeats for each vault, they are refused too, but silently if they say the same
    as those or as ``settings``.
    """
    if values is None:
        return settings, []
    if not _is_table(values):
        return settings, [f"{source}: settings must be a table, not {_shown(values)}; they are left out"]
    warnings: list[str] = []
    given = flat(values, lambda key: warnings.append(f"{source}: {_name(key)} is set twice; the later value counts"))
    if repeats is not None:
        given = {key: value for key, value in given.items() if not _repeated(settings, key, value, repeats)}
    for key, value in given.items():
        problem = _problem(key, value, in_vault=from_vault, in_folder=repeats is not None)
        if problem is None:
            settings = _with(settings, key.split("."), value)
        else:
            warnings.append(f"{source}: {problem}")
    if len(warnings) > _MOST_WARNINGS:
        more = len(warnings) - _MOST_WARNINGS
        warnings[_MOST_WARNINGS:] = [f"{source}: {more} more settings are wrong or unknown and left out"]
    return settings, warnings


def flat(values: object, twice: Callable[[str], None] = lambda _key: None) -> dict[str, object]:
    """Return JSON-shaped settings by dotted key, without those that are null; nothing if ``values`` is no table.

    Of a key that is both dotted and nested the later value counts; ``twice`` is told of it.
    """
    found: dict[str, object] = {}

    def take(table: Mapping[str, Any], prefix: str) -> None:
        for name, value in table.items():
            key = f"{prefix}{name}"
            if key in _SECTIONS and _is_table(value):
                take(value or {}, f"{key}.")
            elif value is not None:
                if key in found:
                    twice(key)
                found[key] = value

    if isinstance(values, Mapping):
        take(values, "")
    return found


def _problem(key: str, value: object, *, in_vault: bool, in_folder: bool) -> str | None:
    """Return why a value cannot be taken."""
    rule = _RULES.get(key)
    if key in _SECTIONS:
        return f"{key} must be a table of settings, not {_shown(value)}; it is left out"
    if rule is None:
        return f"unknown setting {_name(key)}; see docs/configuration.md for the list"
    if in_vault and key in NOT_FROM_A_VAULT:
        return f"{key} may not be set inside a vault; set it in your editor instead"
    if in_folder and key in NOT_FROM_A_VAULT:
        return f"{key} may not be set for one folder; set it in your user settings instead"
    if not rule[1](value):
        return f"{key} must be {rule[0]}, not {_shown(value)}; it is left out"
    return None


def _repeated(settings: Settings, key: str, value: object, repeats: Mapping[str, object]) -> bool:
    """Return whether a value that a folder may not choose is that of the user's own settings."""
    if key not in NOT_FROM_A_VAULT:
        return False
    return _shown(value) in (_shown(repeats.get(key)), _shown(_value(settings, key)))


def _is_table(value: object) -> bool:
    """Return whether a value is a table; Lua has one value for an empty table and an empty list."""
    return isinstance(value, Mapping) or value == []


def _shown(value: object) -> str:
    """Return a value on one line of bounded length."""
    shown = reprlib.Repr()
    shown.maxstring = shown.maxother = shown.maxlong = 60
    shown.maxlevel = 2
    return shown.repr(value)


def _name(key: str) -> str:
    """Return a key that may be any text on one line of bounded length."""
    plain = "".join(char if char.isprintable() else "?" for char in key[:60])
    return plain if len(key) <= len(plain) else f"{plain}..."


def _snake(name: str) -> str:
    name = name.replace("KiB", "Kib")
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name)


def _value(settings: Settings, key: str) -> object:
    tree: object = settings
    for name in key.split("."):
        tree = getattr(tree, _snake(name))
    return tree


def _with(tree: Any, path: list[str], value: Any) -> Settings:  # noqa: ANN401 - walks dataclasses of several kinds
    name = _snake(path[0])
    if len(path) == 1:
        if isinstance(value, list):
            value = tuple(value)
        elif isinstance(value, Mapping):
            value = MappingProxyType(dict(value))
        return cast("Settings", replace(tree, **{name: value}))
    return cast("Settings", replace(tree, **{name: _with(getattr(tree, name), path[1:], value)}))


def embedding_workers(settings: EmbeddingSettings, *, busy: bool) -> int:
    """Return how many passages may be embedded at once; ``busy`` while the user works in the editor."""
    cores = settings.threads or os.cpu_count() or 1
    return max(1, cores // 2) if busy else cores
