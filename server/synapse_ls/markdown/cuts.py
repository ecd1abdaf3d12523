"""Where a long section is cut: a rule that depends on content, so that an edit moves no cut but those beside it.

Every boundary between two units carries the hash of the unit behind it, and the section is split at its smallest
hash, then each side in the same way, until a side fits. That is a treap over the units: inserting one changes only
the path that leads to it. Units long enough to stand alone are split off first, so that what is inserted into a
passage that fits is either apart or small.
"""

from collections.abc import Sequence
from hashlib import blake2b
from itertools import accumulate


def fingerprint(text: str) -> bytes:
    """Return the hash that ranks the boundary before ``text``."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()


def cuts(sizes: Sequence[int], hashes: Sequence[bytes], maximum: int, alone: int) -> list[int]:
    """Return the indexes of the units that start a passage, ascending, the first one included.

    Args:
        sizes: tokens of each unit; a unit above ``maximum`` makes a passage of its own.
        hashes: the fingerprint of each unit.
        maximum: the most tokens of a passage.
        alone: a unit of more tokens shares its passage with no other.
    """
    total = [0, *accumulate(sizes)]
    starts = {0}
    for index, size in enumerate(sizes):
        if size > alone:
            starts.update((index, index + 1))
    starts.discard(len(sizes))
    bounds = [*sorted(starts), len(sizes)]
    pending = list(zip(bounds, bounds[1:], strict=False))
    while pending:
        first, end = pending.pop()
        if end - first < 2 or total[end] - total[first] <= maximum:  # noqa: PLR2004 - one unit has no inner boundary
            continue
        cut = _smallest(hashes[first + 1 : end]) + first + 1
        starts.add(cut)
        pending += [(first, cut), (cut, end)]
    return sorted(starts)


def _smallest(hashes: Sequence[bytes]) -> int:
    """Return the index of the smallest hash; of equal ones the one nearest the middle, which halves the work."""
    least = min(hashes)
    middle = len(hashes) // 2
    if hashes.count(least) == 1:
        return hashes.index(least)
    return min((i for i, value in enumerate(hashes) if value == least), key=lambda i: (abs(i - middle), i))
