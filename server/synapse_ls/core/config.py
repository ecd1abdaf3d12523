"""The settings tree: one frozen dataclass a section, built from JSON-shaped values with a warning for each bad one."""

import os
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


def _number(low: float, high: float) -> Callable[[Any], bool]:
    def check(value: Any) -> bool:  # noqa: ANN401 - judges what JSON gives
        return isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high

    return check


def _whole(low: int, high: int) -> Callable[[Any], bool]:
    def check(value: Any) -> bool:  # noqa: ANN401 - judges what JSON gives
        return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high

    return check


def _table(value: Any) -> bool:  # noqa: ANN401 - judges what JSON gives
    return isinstance(value, Mapping) and all(isinstance(k, str) and _number(0, 1)(v) for k, v in value.items())


def _words(value: Any) -> bool:  # noqa: ANN401 - judges what JSON gives
    return isinstance(value, list | tuple) and all(isinstance(v, str) and v for v in value)


def _suffixes(value: Any) -> bool:  # noqa: ANN401 - judges what JSON gives
    return _words(value) and bool(value) and all(v.startswith(".") and v[1:] and v == v.lower() for v in value)


def _text(value: Any) -> bool:  # noqa: ANN401 - judges what JSON gives
    return isinstance(value, str) and bool(value.strip())


def _flag(value: Any) -> bool:  # noqa: ANN401 - judges what JSON gives
    return isinstance(value, bool)


def _dialect(value: Any) -> bool:  # noqa: ANN401 - judges what JSON gives
    return isinstance(value, str) and value in DIALECTS


def _optional_text(value: Any) -> bool:  # noqa: ANN401 - judges what JSON gives
    return value is None or _text(value)


# key -> (what a good value is, in words; the check)
_RULES: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "index.extensions": ('a list of endings in small letters such as ".md"', _suffixes),
    "index.exclude": ("a list of globs", _words),
    "index.maxFileKiB": ("a whole number from 1 to 65536", _whole(1, 65536)),
    "embedding.model": ("the name of a model or a folder", _text),
    "embedding.threads": ("a whole number from 0 to 256", _whole(0, 256)),
    "embedding.http.url": ("a URL or null", _optional_text),
    "embedding.http.keyEnv": ("the name of an environment variable or null", _optional_text),
    "rerank.enabled": ("true or false", _flag),
    "rerank.model": ("the name of a reranker", _text),
    "rerank.topK": ("a whole number from 1 to 100", _whole(1, 100)),
    "rerank.deadlineMs": ("a whole number from 50 to 60000", _whole(50, 60000)),
    "rerank.http.url": ("a URL or null", _optional_text),
    "rerank.http.keyEnv": ("the name of an environment variable or null", _optional_text),
    "trust.property": ("the name of a front-matter property", _text),
    "trust.folders": ("a table of folders and numbers from 0 to 1", _table),
    "trust.values": ("a table of words and numbers from 0 to 1", _table),
    "search.limit": ("a whole number from 1 to 100", _whole(1, 100)),
    "hover.maxLines": ("a whole number from 1 to 200", _whole(1, 200)),
    "links.dialect": (f"one of {', '.join(DIALECTS)}", _dialect),
}
KEYS = tuple(_RULES)
_SECTIONS = frozenset(key[:i] for key in KEYS for i, c in enumerate(key) if c == ".")


def apply(settings: Settings, values: object, source: str, *, from_vault: bool = False) -> tuple[Settings, list[str]]:
    """Return ``settings`` with JSON-shaped ``values`` on top, and one warning for each value left out.

    Keys may be nested (``{"index": {"exclude": []}}``), dotted (``{"index.exclude": []}``) or both. ``source`` names
    where the values come from in the warnings. With ``from_vault`` the keys of ``NOT_FROM_A_VAULT`` are refused.
    """
    if not isinstance(values, Mapping):
        return settings, [f"{source}: settings must be a table; the defaults stand"]
    warnings: list[str] = []
    for key, value in _leaves(values):
        rule = _RULES.get(key)
        if key in _SECTIONS:
            warnings.append(f"{source}: {key} must be a table of settings; the defaults stand")
        elif rule is None:
            warnings.append(f"{source}: unknown setting {key}; see docs/configuration.md for the list")
        elif from_vault and key in NOT_FROM_A_VAULT:
            warnings.append(f"{source}: {key} may not be set inside a vault; set it in your editor instead")
        elif not rule[1](value):
            warnings.append(f"{source}: {key} must be {rule[0]}; the default stands")
        else:
            settings = _with(settings, key.split("."), value)
    return settings, warnings


def _leaves(values: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for name, value in values.items():
        key = f"{prefix}{name}"
        if isinstance(value, Mapping) and key in _SECTIONS:
            found.extend(_leaves(value, f"{key}."))
        else:
            found.append((key, value))
    return found


def _snake(name: str) -> str:
    name = name.replace("KiB", "Kib")
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name)


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
