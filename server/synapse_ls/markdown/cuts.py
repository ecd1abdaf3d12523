"""Where a long section is cut: a rule that depends on content, so that an edit moves no cut but those beside it.

Every boundary between two units has a rank: boundaries of longer units come first, and among units of about equal
length the hash of the unit behind decides. The section is split at its first boundary by rank, then each side in the
same way, until a side fits. That is a treap over the units: inserting one changes only the path that leads to it, and
a long one, which would not fit where it comes in, is split off by its very length.
"""

from collections.abc import Sequence
from hashlib import blake2b
from itertools import accumulate, pairwise

# Units whose tokens differ by less count as equally long.
_STEP = 20


def fingerprint(text: str) -> bytes:
    """Return the hash that ranks the boundary before ``text``."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()


def cuts(sizes: Sequence[int], hashes: Sequence[bytes], maximum: int) -> list[int]:
    """Return the indexes of the units that start a passage, ascending, the first one included.

    Args:
        sizes: tokens of each unit; a unit above ``maximum`` makes a passage of its own.
        hashes: the fingerprint of each unit.
        maximum: the most tokens of a passage.
    """
    total = [0, *accumulate(sizes)]
    steps = [-(size // _STEP) for size in sizes]
    ranks = [(min(pair), digest) for pair, digest in zip(pairwise([0, *steps]), hashes, strict=True)]
    starts = {0}
    pending = [(0, len(sizes))]
    while pending:
        first, end = pending.pop()
        if end - first > 1 and total[end] - total[first] > maximum:
            cut = _first_by_rank(ranks[first + 1 : end]) + first + 1
            starts.add(cut)
            pending += [(first, cut), (cut, end)]
    return sorted(starts)


def _first_by_rank(ranks: Sequence[tuple[int, bytes]]) -> int:
    """Return the index of the smallest rank; of equal ones the one nearest the middle, which halves the work."""
    least = min(ranks)
    if ranks.count(least) == 1:
        return ranks.index(least)
    middle = len(ranks) // 2
    return min((i for i, rank in enumerate(ranks) if rank == least), key=lambda i: (abs(i - middle), i))
