"""The names under one look-up key, arranged so that a link is looked up among them, not compared with each."""

import posixpath
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from synapse_ls.links.names import composed, folded
from synapse_ls.store.links import NameRow

# (kind, name as compared) -> the names
_Table = dict[tuple[str, str], list[NameRow]]
_CASES: tuple[Callable[[str], str], ...] = (composed, folded)


@dataclass(frozen=True, slots=True)
class Choice:
    """The name that is meant, and the names that are like it but for their place, itself among them."""

    name: NameRow
    alike: tuple[Sequence[NameRow], ...] = ()

    @property
    def ambiguous(self) -> bool:
        """Whether another note or file could as well have been meant."""
        return any(row.path != self.name.path for rows in self.alike for row in rows)

    @property
    def others(self) -> tuple[str, ...]:
        """The paths that could as well have been meant, in order."""
        return tuple(sorted({row.path for rows in self.alike for row in rows} - {self.name.path}))


class Candidates:
    """All names of one key. Paths are found whole and by their ends, other names whole; by exact and by any case.

    A note has two paths: that of its file, which wins, and that without the ending.
    """

    def __init__(self, rows: Iterable[NameRow]) -> None:
        self._whole: tuple[_Table, ...] = (defaultdict(list), defaultdict(list))
        self._ends: tuple[_Table, ...] = (defaultdict(list), defaultdict(list))
        for row in rows:
            match row.kind:
                case "path":
                    self._add_path(row, "file", row.path)
                    self._add_path(row, "path", row.text)
                case "attachment":
                    self._add_path(row, "attachment", row.path)
                case _:
                    for number, same in enumerate(_CASES):
                        self._whole[number][row.kind, same(row.text)].append(row)

    def _add_path(self, row: NameRow, kind: str, path: str) -> None:
        for number, same in enumerate(_CASES):
            form = same(path)
            self._whole[number][kind, form].append(row)
            while (cut := form.find("/")) >= 0:
                form = form[cut + 1 :]
                self._ends[number][kind, form].append(row)

    def at(self, paths: Sequence[str]) -> Choice | None:
        """Return the note or file at one of the paths (from the root), the first in exact case before any case."""
        for number, same in enumerate(_CASES):
            for path in paths:
                for kind in ("file", "path", "attachment"):
                    found = self._whole[number].get((kind, same(path)))
                    if found:
                        return Choice(found[0])
        return None

    def called(self, name: str, folder: str, kinds: Sequence[str], *, root_first: bool) -> Choice | None:
        """Return what is called ``name``, seen from ``folder``.

        The kinds of names are tried in order, exact case before any case. A whole path wins over the end of one if
        the name has folders or ``root_first`` is set; of several the nearest folder wins, then the higher one.
        """
        for kind in kinds:
            for number, same in enumerate(_CASES):
                for form in ("file", "path") if kind == "path" else (kind,):
                    whole = self._whole[number].get((form, same(name)), [])
                    if whole and (root_first or "/" in name):
                        return Choice(_nearest(whole, folder), (whole,))
                    ends = self._ends[number].get((form, same(name)), [])
                    if whole or ends:
                        # Every folder may have a note of this name: what lies beside the link is not searched for.
                        here = self._whole[number].get((form, same(posixpath.join(folder, name))), [])
                        beside = here if "/" not in name else []
                        return Choice(_nearest(beside or [*whole, *ends], folder), (whole, ends))
        return None


def _nearest(rows: Sequence[NameRow], folder: str) -> NameRow:
    if len(rows) == 1:
        return rows[0]
    return min(rows, key=lambda row: (_distance(folder, posixpath.dirname(row.path)), row.path.count("/"), row.path))


def _distance(one: str, other: str) -> int:
    """Return the number of steps between two folders."""
    a, b = (folder.split("/") if folder else [] for folder in (one, other))
    shared = 0
    for x, y in zip(a, b, strict=False):
        if x != y:
            break
        shared += 1
    return len(a) + len(b) - 2 * shared
