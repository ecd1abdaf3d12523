"""Boundaries between what readers take for characters."""

import pytest

from synapse_ls.search.graphemes import boundary_after, boundary_before


@pytest.mark.parametrize(
    ("text", "offset", "before", "after"),
    [
        ("abc", 1, 1, 1),
        ("e\u0301a", 1, 0, 2),
        ("👩\u200d👧!", 1, 0, 3),
        ("👍🏽!", 1, 0, 2),
        ("🇵🇱🇫🇮", 1, 0, 2),
        ("🇵🇱🇫🇮", 2, 2, 2),
        ("कि", 1, 0, 2),
        ("e\u0301", 0, 0, 0),
        ("e\u0301", 2, 2, 2),
    ],
)
def test_boundaries(text: str, offset: int, before: int, after: int) -> None:
    """An offset inside an accent, a joined emoji, a flag or a syllable moves out of it."""
    assert (boundary_before(text, offset), boundary_after(text, offset)) == (before, after)
