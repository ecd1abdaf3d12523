"""How much of a note is kept."""

from synapse_ls.indexer.limits import MOST, limited


def test_what_is_cut_is_named() -> None:
    """Up to the limit nothing is cut and nothing said."""
    problems: list[str] = []
    assert limited("tags", "t" * MOST["tags"], problems) == ("t",) * MOST["tags"]
    assert problems == []
    assert len(limited("tags", "t" * 1001, problems)) == MOST["tags"]
    assert problems == ["only the first 1,000 of its 1,001 tags are kept; split the note to keep all"]
