"""Headings and titles of bounded length."""

import pytest

from synapse_ls.markdown.headline import MOST, headline
from synapse_ls.markdown.parser import parse


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("", ""),
        ("x" * MOST, "x" * MOST),
        ("x" * (MOST + 1), "x" * (MOST - 1) + "…"),
        ("word " * 100, ("word " * 40)[: MOST - 1].rstrip() + "…"),
        ("x" * (MOST - 2) + "e\u0301" * 9, "x" * (MOST - 2) + "…"),
        ("\u0301" * 999, "\u0301" * (MOST - 1) + "…"),
    ],
)
def test_a_headline_is_cut_between_characters(text: str, short: str) -> None:
    """A short one is itself; a cut is marked; what has no boundary is cut anyhow."""
    assert headline(text) == short
    assert headline(short) == short


def test_a_paragraph_above_a_rule_is_a_heading_with_a_short_text() -> None:
    """Markdown has it so; its anchor is still that of the whole."""
    (heading,) = parse("log line with words\n" * 500 + "---\n", "note").note.headings
    assert (heading.level, len(heading.text)) == (2, MOST)
    assert heading.slug == "-".join(["log-line-with-words"] * 500)
