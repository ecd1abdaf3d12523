"""Where a query's words stand."""

import pytest

from synapse_ls.core.text import Span
from synapse_ls.search.highlight import matches, merged
from synapse_ls.search.query import parse


@pytest.mark.parametrize(
    ("text", "query", "found"),
    [
        ("bleed the boilers", "boiler bleed", [("bleed", 1), ("boilers", 0)]),
        ("C++ or c", "c", [("C++", 0), ("c", 0)]),
        ("email and e-mail", "e-mail", [("email", 0), ("e-mail", 0)]),
        ("梅雨の前、梅雨の後", "梅雨", [("梅雨", 0), ("梅雨", 0)]),
        ("nothing", "else", []),
    ],
)
def test_matches(text: str, query: str, found: list[tuple[str, int]]) -> None:
    """Each place is told with the number of the word it belongs to, in the order of the text."""
    assert [(match.span.slice(text), match.word) for match in matches(text, parse(query))] == found


def test_merged_joins_what_overlaps() -> None:
    """Touching spans stay apart, overlapping ones become one."""
    assert merged([Span(0, 2), Span(1, 4), Span(4, 5)]) == [Span(0, 4), Span(4, 5)]
