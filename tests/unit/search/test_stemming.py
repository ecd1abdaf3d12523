"""Forms of English words."""

import pytest

from synapse_ls.search.stemming import stem


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("variables", "variabl"),
        ("variable", "variabl"),
        ("running", "runn"),
        ("snapshotting", "snapshot"),
        ("process", "proces"),
        ("boxes", "boxe"),
        ("lodz", None),
        ("słowa", None),
        ("400px", None),
    ],
)
def test_stem(word: str, expected: str | None) -> None:
    """Endings go while four letters stay; short words and other alphabets have no stem."""
    assert stem(word) == expected
