"""The readings of a link as written: which of its parts is the target, in the order in which they are tried."""

import re
from dataclasses import dataclass
from typing import Protocol

from synapse_ls.core.model import LinkKind
from synapse_ls.links import zk
from synapse_ls.links.dialects import Dialect
from synapse_ls.links.names import key

_DENDRON_VAULT = re.compile(r"dendron://[^/#]*/")
_DENDRON_RANGE = re.compile(r"(?:,\d+)?(?::#.*)?$", re.DOTALL)


class Written(Protocol):
    """A link as written, from a buffer or from the index."""

    @property
    def kind(self) -> str: ...  # noqa: D102 - as in core.model.Link
    @property
    def target(self) -> str: ...  # noqa: D102
    @property
    def fragment(self) -> str | None: ...  # noqa: D102
    @property
    def label(self) -> str | None: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class Reading:
    """A target with its fragment; ``""`` is the linking note itself."""

    target: str
    fragment: str | None


def readings(link: Written, dialect: Dialect) -> tuple[Reading, ...]:
    """Return the readings of a link in a dialect, the likeliest first."""
    first = _reading(link.target, link.fragment)
    if not _has_two(link):
        return (first,)
    other = _label(link)
    if other is not None:
        if dialect.label_first:
            return (other, first)
        return (first, other) if dialect.either_order else (first,)
    id_ = zk.id_in(link.target) if dialect.ids else None
    return (first,) if id_ is None else (first, Reading(id_, link.fragment))


def first_key(link: Written) -> str:
    """Return the look-up key of a link's target."""
    return key(_reading(link.target, link.fragment).target)


def other_key(link: Written) -> str | None:
    """Return the look-up key of a link's second reading in whichever dialect, or None if it has but one."""
    if not _has_two(link):
        return None
    other = _label(link)
    name = zk.id_in(link.target) if other is None else other.target
    return (key(name) or None) if name else None


def _has_two(link: Written) -> bool:
    """Return whether a link can be read in two ways. The text of an image, mostly in a folder, names nothing."""
    return link.kind == LinkKind.WIKI or (link.kind == LinkKind.EMBED and "/" not in link.target)


def _label(link: Written) -> Reading | None:
    if not link.label:
        return None
    target, mark, fragment = link.label.partition("#")
    return _reading(target.strip(), fragment.strip() if mark else None)


def _reading(target: str, fragment: str | None) -> Reading:
    """Return a reading without what Dendron writes around names: the vault before them, the range behind them."""
    vault = _DENDRON_VAULT.match(target)
    if vault:
        target = target[vault.end() :]
    if fragment and not fragment.startswith(("^", " ")) and ("," in fragment or ":#" in fragment):
        fragment = _DENDRON_RANGE.sub("", fragment, count=1)
    return Reading(target, fragment)
