"""The YAML block at the very start of a note: title, aliases, tags and properties.

Values are read from YAML's node graph rather than from constructed objects, so that a title such as ``0.10`` or ``No``
keeps its spelling, a date stays text, and a template placeholder such as ``{{date}}`` is text instead of an error.
"""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import yaml

from synapse_ls.core.model import PropertyValue

_Loader: type[yaml.CSafeLoader | yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

# Far above what people write, low enough that nested YAML aliases cannot multiply without end.
_MAX_NODES = 20_000
_MAX_REPEATED = 100_000

_OPENING = re.compile(r"\ufeff?(---[ \t]*(?:\r\n|\n|\r))")
_CLOSING = re.compile(r"(?:---|\.\.\.)[ \t]*(?:\r\n|[\n\r]|\Z)")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|[\n\r]|\Z)")
_DATE = re.compile(r"(\d{4})-(\d\d?)-(\d\d?)\Z")
_SPLIT = re.compile(r"[,\s]+")


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What the front matter says; the body starts at offset ``body``, the YAML lies in ``start:end``."""

    body: int = 0
    start: int = 0
    end: int = 0
    title: str | None = None
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    properties: Mapping[str, PropertyValue] = field(default_factory=dict)
    problem: str | None = None


class _TooLargeError(ValueError):
    """The YAML expands to more values than a note can mean."""


def read(text: str) -> FrontMatter:
    """Read the front matter of a note; without one, only ``body`` is set, behind a byte order mark."""
    start, end, body = _split(text)
    absent = FrontMatter(body=1 if text.startswith("\ufeff") else 0)
    if not body:
        return absent
    source = text[start:end]
    try:
        root = yaml.compose(source, _Loader)
        if isinstance(root, yaml.ScalarNode):
            return absent  # prose between two thematic breaks
        if root is not None and not isinstance(root, yaml.MappingNode):
            return FrontMatter(body, start, end, problem="front matter is not a list of `name: value` lines")
        entries = dict(_entries(root, source)) if root is not None else {}
        properties = _Values(source).mapping(root) if root is not None else {}
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 2 if error.problem_mark else 1
        return FrontMatter(body, start, end, problem=f"front matter is not valid YAML: {error.problem} (line {line})")
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        reason = str(error).splitlines()[0] if str(error) else "it is nested too deeply"
        return FrontMatter(body, start, end, problem=f"front matter is not valid YAML: {reason}")
    lowered = {name.lower(): node for name, node in reversed(entries.items())}
    titles = _texts(lowered.get("title"))[:1]
    aliases = [alias for name in ("aliases", "alias") for alias in _texts(lowered.get(name))]
    tags = [part for name in ("tags", "tag") for tag in _texts(lowered.get(name)) for part in _SPLIT.split(tag)]
    return FrontMatter(
        body=body,
        start=start,
        end=end,
        title=" ".join(titles[0].split()) if titles else None,
        aliases=tuple(dict.fromkeys(aliases)),
        tags=tuple(dict.fromkeys(name for tag in tags if (name := tag.strip("#/")))),
        properties=properties,
    )


def _split(text: str) -> tuple[int, int, int]:
    """Return where the YAML starts and ends and where the body starts; zeros if there is no front matter."""
    opening = _OPENING.match(text)
    if not opening:
        return 0, 0, 0
    offset = opening.end()
    while offset < len(text):
        if closing := _CLOSING.match(text, offset):
            return opening.end(), offset, closing.end()
        line = _LINE.match(text, offset)
        offset = line.end() if line else len(text)
    return 0, 0, 0


def _entries(root: yaml.MappingNode, source: str) -> Iterator[tuple[str, yaml.Node]]:
    for key, value in root.value:
        yield _key(key, source), value


def _key(node: yaml.Node, source: str) -> str:
    return str(node.value) if isinstance(node, yaml.ScalarNode) else _written(node, source)


def _written(node: yaml.Node, source: str) -> str:
    """Return a node as it stands in the source."""
    return source[node.start_mark.index : node.end_mark.index]


def _texts(node: yaml.Node | None) -> list[str]:
    """Return the texts of a scalar or of a list of scalars, as written."""
    nodes = node.value if isinstance(node, yaml.SequenceNode) else [node]
    scalars = (item for item in nodes if isinstance(item, yaml.ScalarNode) and not item.tag.endswith(":null"))
    return [text for item in scalars if (text := str(item.value).strip())]


class _Values:
    """Turns YAML nodes into property values and counts them, for an alias may stand for a whole tree."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._count = 0
        self._room = len(source) + _MAX_REPEATED

    def mapping(self, node: yaml.MappingNode) -> dict[str, PropertyValue]:
        for key, _ in node.value:
            self._write(key)
        return {_key(key, self._source): self._value(value) for key, value in node.value}

    def _value(self, node: yaml.Node) -> PropertyValue:
        self._count += 1
        if self._count > _MAX_NODES:
            raise _TooLargeError("it holds too many values")
        if isinstance(node, yaml.ScalarNode):
            self._write(node)
            return _scalar(node)
        if isinstance(node, yaml.SequenceNode):
            return tuple(self._value(item) for item in node.value)
        if not isinstance(node, yaml.MappingNode) or any(not isinstance(key, yaml.ScalarNode) for key, _ in node.value):
            self._write(node)
            return _written(node, self._source)  # {{placeholder}}
        return self.mapping(node)

    def _write(self, node: yaml.Node) -> None:
        """Take the room of a text, which an alias writes again each time."""
        self._room -= node.end_mark.index - node.start_mark.index
        if self._room < 0:
            raise _TooLargeError("it repeats too much text")


def _scalar(node: yaml.ScalarNode) -> PropertyValue:
    """Return a scalar's value by YAML 1.2's rules: ``yes`` and ``12:30`` are text."""
    text = str(node.value)
    kind = node.tag.rpartition(":")[2]
    if kind == "null":
        return None
    if kind == "bool" and text.lower() in {"true", "false"}:
        return text.lower() == "true"
    if kind in {"int", "float"}:
        return _number(text, kind)
    if kind == "timestamp" and (date := _DATE.match(text)):
        return f"{date[1]}-{int(date[2]):02}-{int(date[3]):02}"
    return text


def _number(text: str, kind: str) -> int | float | str:
    """Return a decimal number, or the text of what JSON has no number for."""
    try:
        if kind == "int":
            return int(text)
        number = float(text)
    except ValueError:
        return text
    return number if math.isfinite(number) else text
