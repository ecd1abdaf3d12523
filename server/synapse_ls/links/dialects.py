"""The dialects of wiki links, and which of them a vault speaks.

A vault says so by its marker files or the user by a setting; else the links that resolve tell.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from synapse_ls.store import links
from synapse_ls.store.database import Connection

_KINDS = ("path", "attachment", "alias", "title")
_MOST_OF_A_MARKER = 1 << 16
_FOAM = re.compile(rb"\bfoam\b")
# So few links decide nothing; of more, this share in the unexpected order makes the order uncertain.
_FEW = 3
_SHARE = 0.1


@dataclass(frozen=True, slots=True)
class Dialect:
    """How links are written.

    ``kinds`` are the kinds of names in the order in which they are tried. ``label_first`` means ``[[label|target]]``;
    with ``either_order`` the other order is tried where the first leads nowhere. With ``root_first`` a whole path from
    the root wins over a nearer note of the same name. With ``definitions`` a reference definition says which note a
    wiki link of its label means; with ``ids`` an id that a target starts with may stand for it.
    """

    name: str
    kinds: tuple[str, ...] = _KINDS
    label_first: bool = False
    either_order: bool = False
    root_first: bool = False
    definitions: bool = False
    ids: bool = False

    @property
    def second_kinds(self) -> tuple[str, ...]:
        """The kinds of names that a reading which is not the first may use: a label is often some note's title."""
        return tuple(kind for kind in self.kinds if kind in {"path", "attachment", "id"})


# "mixed" is not for people to choose: links of an unmarked vault that are written in both orders.
DIALECTS = {
    dialect.name: dialect
    for dialect in (
        Dialect("markdown", definitions=True),
        Dialect("mixed", definitions=True, either_order=True),
        Dialect("obsidian", root_first=True),
        Dialect("foam", definitions=True),
        Dialect("dendron", ("path", "attachment", "alias"), label_first=True, either_order=True),
        Dialect("logseq", ("path", "page", "alias", "journal", "attachment")),
        Dialect("zk", (*_KINDS, "id"), ids=True),
    )
}
DEFAULT = DIALECTS["markdown"]


def choose(db: Connection, root: Path, setting: str) -> Dialect:
    """Return the dialect of a vault: as set, as its marker files say, or as its links are seen to resolve."""
    if setting in DIALECTS:
        return DIALECTS[setting]
    return DIALECTS[_marked(root) or _seen(db)]


def _marked(root: Path) -> str | None:
    """Return the dialect that the marker files of a vault name; the more particular ones are asked first."""
    for name, marker in (
        ("dendron", "dendron.yml"),
        ("logseq", "logseq/config.edn"),
        ("zk", ".zk"),
        ("foam", ".foam"),
        ("obsidian", ".obsidian"),
    ):
        try:
            if (root / marker).exists():
                return name
        except OSError:
            continue
    return (
        "foam" if any(_names_foam(root / ".vscode" / file) for file in ("extensions.json", "settings.json")) else None
    )


def _names_foam(file: Path) -> bool:
    try:
        if not file.is_file():
            return False
        with file.open("rb") as opened:
            return _FOAM.search(opened.read(_MOST_OF_A_MARKER)) is not None
    except OSError:
        return False


def _seen(db: Connection) -> str:
    """Return the dialect in which the links of an unmarked vault resolve."""
    if links.has_journals(db):
        return "logseq"
    targets, labels = links.order_evidence(db)
    if labels >= _FEW and labels > targets:
        return "dendron"
    if links.id_evidence(db) >= _FEW:
        return "zk"
    return "mixed" if labels >= _FEW and labels > _SHARE * targets else DEFAULT.name
