"""What ties other notes to one besides what they say: links, neighbours in common, tags in common."""

import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Literal

from synapse_ls.links import resolver
from synapse_ls.links.meaning import certain
from synapse_ls.search.lexical import slices
from synapse_ls.search.seeds import Seed, id_of
from synapse_ls.search.snapshot import Snapshot
from synapse_ls.store import links, notes, relations
from synapse_ls.store.database import Connection

# How a note is reached over a neighbour: both link to it, it links to both, or a link leads on from it.
Way = Literal["to", "from", "over"]

# Neighbours with few links tell most; of those with many no more are asked than have so many links together.
_MOST_LINKS = 5_000
_MOST_TAGGED = 1_000
_MOST_TYPED_LINKS = 300
# What the rest of a note ties to says less of one of its sections.
_ELSEWHERE = 0.3


@dataclass(slots=True)
class Tie:
    """How one note is tied to the seed.

    ``here`` is set if the section that is asked for links to it, ``to`` if any part of the note does, ``back`` if it
    links to the note. ``over`` are the neighbours in common, the most telling first, and ``tags`` the common tags, the
    rarest first, each with its weight, 0 to 1.
    """

    here: bool = False
    to: bool = False
    back: bool = False
    over: list[tuple[float, Way, int]] = field(default_factory=list)
    tags: list[tuple[float, str]] = field(default_factory=list)

    @property
    def shared(self) -> float:
        """What the neighbours in common say, 0 to 1."""
        total = sum(weight for weight, _, _ in self.over)
        return total / (1 + total)

    @property
    def tagged(self) -> float:
        """What the tags in common say, 0 to 1."""
        return 1 - math.prod(1 - weight for weight, _ in self.tags)


def ties(snapshot: Snapshot, seed: Seed) -> dict[int, Tie]:
    """Return the ties of all notes that have one to the seed, by note. The links of open notes are those on screen."""
    found: defaultdict[int, Tie] = defaultdict(Tie)
    typed = list(_typed_edges(snapshot))
    out = _targets(snapshot, seed)
    back = [source for source, target in _edges(snapshot, [seed.note], typed) if target == seed.note]
    for target, here in out.items():
        found[target].to, found[target].here = True, here
    for source in back:
        found[source].back = True
    _share_neighbours(snapshot, seed, found, typed)
    _share_tags(snapshot, seed, found)
    found.pop(seed.note, None)
    return dict(found)


def _targets(snapshot: Snapshot, seed: Seed) -> dict[int, bool]:
    """Return the notes that the seed's note links to, and whether the section does."""
    found: dict[int, bool] = {}
    for line, target in _links_of(snapshot, seed.held, seed.row.id):
        found[target] = found.get(target, False) or seed.holds_line(line)
    found.pop(seed.note, None)
    return found


def _links_of(snapshot: Snapshot, held: Connection, note: int) -> Iterator[tuple[int, int]]:
    """Yield (line, note meant) of the links in a note; those of a buffer are resolved now."""
    if held is snapshot.db:
        yield from ((link.range.start.line, to) for link, to in relations.outgoing(held, note) if to is not None)
        return

    def read(path: str) -> tuple[Connection, int] | None:
        source = snapshot.source(path)
        return None if source is None else (source[0], source[1].id)

    for link, _ in islice(relations.outgoing(held, note), _MOST_TYPED_LINKS):
        meant = certain(resolver.resolve(snapshot.db, link.source_path, link, read))
        source = None if meant is None else snapshot.source(meant.path)
        if source is not None:
            yield link.range.start.line, id_of(snapshot, *source)


def _typed_edges(snapshot: Snapshot) -> Iterator[tuple[int, int]]:
    """Yield (source, target) of the links in buffers."""
    if snapshot.buffers is None:
        return
    for row in notes.by_ids(snapshot.buffers, sorted(snapshot.typed)).values():
        source = id_of(snapshot, snapshot.buffers, row)
        yield from ((source, target) for _, target in _links_of(snapshot, snapshot.buffers, row.id) if target != source)


def _edges(snapshot: Snapshot, ids: list[int], typed: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return (source, target) of the links from or to the given notes."""
    stored = [edge for some in slices(ids) for edge in relations.edges(snapshot.db, some or ())]
    wanted = set(ids)
    return sorted(
        {edge for edge in stored if edge[0] not in snapshot.shadowed} | {e for e in typed if wanted.intersection(e)}
    )


def _share_neighbours(snapshot: Snapshot, seed: Seed, found: dict[int, Tie], typed: list[tuple[int, int]]) -> None:
    """Add the neighbours in common; one with few links says more than one that is linked with everything."""
    direct = {note: tie for note, tie in found.items() if tie.to or tie.back}
    degrees = {n: d for some in slices(sorted(direct)) for n, d in links.degree(snapshot.db, some or ()).items()}
    near: list[int] = []
    room = _MOST_LINKS
    for neighbour in sorted(degrees, key=lambda n: (degrees[n], n)):
        room -= degrees[neighbour]
        if room < 0:
            break
        near.append(neighbour)
    for source, target in _edges(snapshot, near, typed):
        for neighbour, other, inwards in ((source, target, False), (target, source, True)):
            if neighbour not in direct or other in (neighbour, seed.note):
                continue
            tie = direct[neighbour]
            worth = 1 if seed.heading is None or tie.here else _ELSEWHERE
            way: Way = "to" if tie.to and inwards else "from" if tie.back and not inwards else "over"
            found[other].over.append((worth / math.log2(2 + degrees[neighbour]), way, neighbour))
    for tie in found.values():
        tie.over.sort(key=lambda entry: (-entry[0], entry[2]))


def _share_tags(snapshot: Snapshot, seed: Seed, found: dict[int, Tie]) -> None:
    """Add the tags in common, which say the more the rarer they are."""
    total = notes.counts(snapshot.db)[0] + 1
    for folded, name in relations.tags(seed.held, seed.row.id).items():
        tagged = [note for note in relations.tagged(snapshot.db, folded) if note not in snapshot.shadowed]
        if snapshot.buffers is not None:
            held = [buffer for buffer in relations.tagged(snapshot.buffers, folded) if buffer in snapshot.typed]
            rows = notes.by_ids(snapshot.buffers, held).values()
            tagged += [id_of(snapshot, snapshot.buffers, row) for row in rows]
        if len(tagged) > _MOST_TAGGED or len(tagged) >= total:
            continue
        weight = math.log(total / len(tagged)) / math.log(total) if tagged and total > 1 else 0.0
        for note in tagged:
            found[note].tags.append((weight, name))
    for tie in found.values():
        tie.tags.sort(key=lambda entry: (-entry[0], entry[1]))
