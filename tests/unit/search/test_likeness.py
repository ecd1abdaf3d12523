"""Copies are told from notes on the same subject."""

import pytest

from synapse_ls.search.likeness import nearly_same, shingles

LONG = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen"


@pytest.mark.parametrize(
    ("one", "other", "part", "expected"),
    [
        (LONG, LONG, False, True),
        (LONG, LONG + " fifteen", False, True),
        (LONG, " ".join(reversed(LONG.split())), False, False),
        (LONG, f"{LONG} {LONG[::-1]} and much more of other words that make it another text", False, False),
        (LONG, f"{LONG} {LONG[::-1]} and much more of other words that make it another text", True, True),
        ("too short to tell", "too short to tell", False, False),
        ("", LONG, True, False),
    ],
)
def test_nearly_the_same_text(one: str, other: str, *, part: bool, expected: bool) -> None:
    """Most runs of three words are common, or as a part, most of the one's; few words prove nothing."""
    assert nearly_same(shingles([one]), shingles([other]), part=part) is expected


def test_a_text_in_parts_is_one_text() -> None:
    """Where it was cut does not matter, and only the beginning of a long one is looked at."""
    assert shingles(["a b", "c d"]) == shingles(["a b c d"])
    assert len(shingles(f"word{i} " for i in range(100_000))) < 10_000
